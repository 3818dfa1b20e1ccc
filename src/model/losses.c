// Losses: what training makes smaller. They are words of train.loss, each for some kinds of labels;
// the gradient of one more comes from a callback, which code sets.
#include "internal.h"

enum { ONE = 1 << LABEL_CLASS, SEVERAL = 1 << LABEL_CLASSES, NUMBERS = 1 << LABEL_NUMBERS };
static const Loss losses[] = {
    {"softmax", ONE, LOSS_SOFTMAX},
    {"bce", SEVERAL, LOSS_BCE},
    {"hinge", ONE | SEVERAL, LOSS_HINGE},
    {"mse", NUMBERS, LOSS_MSE},
};
static const Loss loss_of_callback = {.name = "callback"};
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
    error_config(err, "train.loss: '%s' does not fit %s; use %s%s", word, kinds[kind].what,
                 loss_family.automatic,
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
    error_config(err, "train.metric: '%s' is no score of train.loss=%s; use auto", word,
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

void model_shape_for_callback(ModelShape *shape, LossCallback by) {
    shape->loss = &loss_of_callback;
    shape->callback = by;
    shape->train_rows = false;
}
