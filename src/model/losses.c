// Losses: what training makes smaller. They are words of train.loss, each for some kinds of labels;
// the gradient of one more comes from a callback, which code sets.
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

static void hinge(const LossInput *in, DeviceDouble *loss, Rows g, uint8_t which, float weight) {
    in->backend->hinge_loss(loss, g, in->logits, in->on->label, in->on->labels, in->on->split,
                            which, weight, in->row);
}

static void mse(const LossInput *in, DeviceDouble *loss, Rows g, uint8_t which, float weight) {
    in->backend->mse_loss(loss, g, in->logits, in->on->numbers, in->on->split, which, weight,
                          in->row);
}

static void count_right(const LossInput *in, DeviceInt64 *count) {
    (in->on->label != NULL ? count_classes : count_labels)(in, count);
}

// Numbers are not right or wrong: errors.c adds up how wrong they are.
static void count_nothing(const LossInput *in, DeviceInt64 *count) { (void)in, (void)count; }

enum { ONE = 1 << LABEL_CLASS, SEVERAL = 1 << LABEL_CLASSES, NUMBERS = 1 << LABEL_NUMBERS };
static const Loss losses[] = {
    {"softmax", ONE, softmax, count_classes},
    {"bce", SEVERAL, bce, count_labels},
    {"hinge", ONE | SEVERAL, hinge, count_right},
    {"mse", NUMBERS, mse, count_nothing},
};
static const Loss loss_of_callback = {.name = "callback", .make = callback};
const Family loss_family = FAMILY("train.loss", "auto", losses);

// What follows from the kind of labels alone.
static const struct {
    const char *what;  // for messages
    const char *judge; // the score of train.metric=auto, which people are shown
    void (*baseline)(const Shard *shard, const Comm *comm, double baseline[4]);
} kinds[] = {
    [LABEL_CLASS] = {"single-label labels", "accuracy", baseline_of_class},
    [LABEL_CLASSES] = {"multi-label labels", "micro-f1", baseline_of_classes},
    [LABEL_NUMBERS] = {"labels that are numbers", "rmse", baseline_of_mean},
};

static bool is_for(const Loss *loss, LabelKind kind) { return (loss->labels >> kind & 1) != 0; }

const Loss *loss_of_labels(LabelKind kind) {
    const Loss *loss = losses;
    while (!is_for(loss, kind))
        loss++;
    return loss;
}

const Loss *loss_find(const char *word, LabelKind kind, Error *err) {
    if (strcmp(word, loss_family.automatic) == 0)
        return loss_of_labels(kind);
    const Loss *named = family_find(&loss_family, word, NULL, err);
    if (named == NULL || is_for(named, kind))
        return named;
    error_set(err, EXIT_CONFIG, "train.loss: '%s' does not fit %s; use %s%s", word,
              kinds[kind].what, loss_family.automatic,
              kind == LABEL_CLASS && is_for(named, LABEL_NUMBERS)
                  ? ", or data.labels_are=numbers to predict them as numbers"
              : kind == LABEL_NUMBERS ? ", which is mse, or labels that are classes"
                                      : "");
    return NULL;
}

const Score *loss_score(const Loss *loss, const char *word, LabelKind kind, Error *err) {
    bool automatic = strcmp(word, score_family.automatic) == 0;
    const Score *score =
        family_find(&score_family, automatic ? kinds[kind].judge : word, NULL, err);
    if (score == NULL || score_is_of(score, loss))
        return score;
    error_set(err, EXIT_CONFIG, "train.metric: '%s' is no score of train.loss=%s; use auto", word,
              loss->name);
    return NULL;
}

const Score *score_of_labels(LabelKind kind) {
    return loss_score(loss_of_labels(kind), score_family.automatic, kind, &(Error){0});
}

const Score *score_shown(const char *metric, LabelKind kind) {
    const Score *named = loss_score(loss_of_labels(kind), metric, kind, &(Error){0});
    return named != NULL ? named : score_of_labels(kind);
}

void model_baseline(const Shard *shard, const Comm *comm, double baseline[4]) {
    kinds[shard_labels(shard)].baseline(shard, comm, baseline);
}

LossInput loss_input(const Model *m, Rows logits) {
    return (LossInput){.backend = m->parts.backend,
                       .logits = logits,
                       .on = &m->on.labels,
                       .callback = m->shape.callback,
                       .form = LOSS_PLAIN};
}

void model_shape_for_callback(ModelShape *shape, LossCallback by) {
    shape->loss = &loss_of_callback;
    shape->callback = by;
    shape->train_rows = false;
}
