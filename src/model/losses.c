// Losses: what training makes smaller. Two follow from the labels and are words of train.loss; the
// gradient of the third comes from a callback, which code sets.
#include "internal.h"

#include <string.h>

static void softmax(const LossInput *in, DeviceDouble *loss, Rows g, uint8_t which, float weight) {
    in->backend->softmax_loss(loss, g, in->logits, in->on->label, in->on->split, which, weight,
                              in->row, in->form);
}

static void bce(const LossInput *in, DeviceDouble *loss, Rows g, uint8_t which, float weight) {
    in->backend->bce_loss(loss, g, in->logits, in->on->labels, in->on->split, which, weight,
                          in->row, in->form);
}

static void callback(const LossInput *in, DeviceDouble *loss, Rows g, uint8_t which, float weight) {
    (void)which, (void)weight;
    in->callback.make(in->callback.context, loss, g, in->logits);
}

static void count_classes(const LossInput *in, DeviceInt64 *count) {
    in->backend->count_classes(count, in->logits, in->on->label, in->on->split);
}

static void count_labels(const LossInput *in, DeviceInt64 *count) {
    in->backend->count_labels(count, in->logits, in->on->labels, in->on->split);
}

static const Loss losses[] = {
    {"softmax", "single-label", false, "accuracy", softmax, count_classes, baseline_of_class},
    {"bce", "multi-label", true, "micro-f1", bce, count_labels, baseline_of_classes},
};
static const Loss loss_of_callback = {.name = "callback", .make = callback};
const Family loss_family = FAMILY("train.loss", "auto", losses);

const Loss *loss_of_labels(bool several) {
    const Loss *loss = losses;
    while (loss->several != several)
        loss++;
    return loss;
}

const Score *score_of_labels(bool several) {
    return loss_score(loss_of_labels(several), score_family.automatic, &(Error){0});
}

bool loss_fits(const char *word, bool several, Error *err) {
    const Loss *labels = loss_of_labels(several);
    if (strcmp(word, loss_family.automatic) == 0)
        return true;
    const Loss *named = family_find(&loss_family, word, NULL, err);
    return named == labels || (named != NULL && error_set(err, EXIT_CONFIG,
                                                          "train.loss: '%s' does not fit %s "
                                                          "labels; use auto",
                                                          word, labels->labels));
}

void model_baseline(const Shard *shard, const Comm *comm, double baseline[4]) {
    loss_of_labels(shard->multilabel)->baseline(shard, comm, baseline);
}

void model_shape_for_callback(ModelShape *shape, LossCallback by) {
    shape->loss = &loss_of_callback;
    shape->callback = by;
    shape->train_rows = false;
}
