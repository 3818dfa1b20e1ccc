// What the training loss weighs: classes, terms, and rows.
//
// The one idea: rows have factors. A sample of the training nodes, or labels that are hidden, are
// weights of rows, and nothing else of a loss changes. Factors w of classes are known to the loss
// itself, because label smoothing asks for all of them in every row. The loss is a weighted mean,
// as in torch: divided by the sum of w_y over the training nodes of all ranks.
#include "internal.h"

static const char none[] = "none", balanced[] = "balanced";

// hinge and mse have no factors.
static bool are_plain(const Config *config, const char *loss, Error *err) {
    const char *key = strcmp(config->train.class_weights, none) != 0 ? "class_weights"
                      : config->train.label_smoothing > 0            ? "label_smoothing"
                      : config->train.positive_weight != 1           ? "positive_weight"
                                                                     : NULL;
    return key == NULL ||
           error_config(
               err, "train.%s: it is for train.loss=softmax or bce, and this is %s; leave it out",
               key, loss);
}

bool loss_weights_fit(const Config *config, int64_t classes, LabelKind kind, Error *err) {
    const char *words = config->train.class_weights;
    const Loss *loss = loss_find(config->train.loss, kind, err);
    bool several = kind == LABEL_CLASSES;
    int64_t count = config_numbers(words, NULL, 0);
    if (loss == NULL || strcmp(loss->name, "hinge") == 0 || kind == LABEL_NUMBERS)
        return loss != NULL && are_plain(config, loss->name, err);
    if (several && strcmp(words, none) != 0)
        return error_config(err, "train.class_weights: nodes have several labels, so that no class "
                                 "is a node's own; use train.positive_weight");
    if (several && config->train.label_smoothing > 0)
        return error_config(err, "train.label_smoothing: it is for nodes with one label, and these "
                                 "have several; set it to 0");
    if (!several && config->train.positive_weight != 1)
        return error_config(err, "train.positive_weight: it is for nodes with several labels, and "
                                 "these have one; use train.class_weights");
    return count == 0 || count == classes ||
           error_config(
               err, "train.class_weights: expected a factor of each of the %ld classes, found %ld",
               classes, count);
}

void alloc_loss_weights(Model *m, const Allocator *allocator) {
    const char *what = "factors of the loss";
    size_t rows = (size_t)own_rows(m, 0), classes = (size_t)classes_of(m);
    m->weigh.classes = alloc_device(allocator, classes * sizeof(float), what);
    if (m->shape.label_rate > 0)
        m->weigh.factor = alloc_host(allocator, classes * sizeof(double), what);
    if (m->shape.weighs_rows)
        m->weigh.rows = alloc_device(allocator, rows * sizeof(float), what);
}

// Training nodes of each class, over all ranks. The caller frees them. Collective.
static int64_t *count_training(const Shard *shard, const Comm *comm) {
    int64_t *count = ALLOC(int64_t, shard->classes, "training nodes of a class");
    for (int64_t row = 0; row < shard->set[NODES].own; row++)
        if (shard->split[row] == SPLIT_TRAIN)
            count[shard->label[row]]++;
    comm_sum_int64(comm, count, (int)shard->classes);
    return count;
}

// balanced: N / (K N_c), and 0 of a class that no training node has.
static void fill_factors(double *factor, const char *words, const int64_t *count,
                         const Shard *shard) {
    if (strcmp(words, balanced) != 0)
        config_numbers(words, factor, shard->classes);
    for (int64_t c = 0; c < shard->classes && strcmp(words, balanced) == 0; c++)
        factor[c] = count[c] == 0
                        ? 0
                        : (double)shard->train_nodes / ((double)shard->classes * (double)count[c]);
}

// Factors of classes to the device, and their sum over the training nodes. Collective.
static void weigh_classes(Model *m, const char *words) {
    const Shard *shard = m->parts.shard;
    FREED int64_t *count = count_training(shard, m->parts.comm);
    FREED double *factor = ALLOC(double, shard->classes, "factors of classes");
    FREED float *single = ALLOC(float, shard->classes, "factors of classes");
    fill_factors(factor, words, count, shard);
    m->weigh.unweighted = 0;
    for (int64_t c = 0; c < shard->classes; c++) {
        single[c] = (float)factor[c];
        if (m->weigh.factor != NULL)
            m->weigh.factor[c] = factor[c];
        m->weigh.unweighted += factor[c] * (double)count[c];
    }
    m->parts.backend->upload(m->weigh.classes, single, (size_t)shard->classes * sizeof *single);
    m->parts.backend->finish(NULL);
    m->weigh.form.classes = m->weigh.classes;
}

void make_loss_weights(Model *m, const Config *config) {
    const char *words = config->train.class_weights;
    bool of_labels = m->shape.loss->labels != 0 && !m->shape.inference;
    m->weigh.unweighted = of_labels ? (double)m->parts.shard->train_nodes : 1;
    m->weigh.form = (LossForm){.kind = m->shape.loss->kind,
                               .smoothing = (float)config->train.label_smoothing,
                               .positive = (float)config->train.positive_weight};
    for (int64_t c = 0; m->weigh.factor != NULL && c < m->parts.shard->classes; c++)
        m->weigh.factor[c] = 1;
    if (of_labels && words[0] != 0 && strcmp(words, none) != 0)
        weigh_classes(m, words);
    m->weigh.sum = m->weigh.unweighted;
}

void model_set_row_weights(Model *m, const float *row, double sum) {
    assert(m->shape.weighs_rows || row == NULL);
    m->weigh.has_rows = row != NULL;
    m->weigh.sum = sum > 0 ? sum : m->weigh.unweighted;
    if (row != NULL)
        m->parts.backend->upload(m->weigh.rows, row, (size_t)own_rows(m, 0) * sizeof *row);
}

void training_loss(const Model *m, DeviceDouble *loss, Rows g, Rows logits, float weight,
                   const DeviceFloat *row) {
    const LossCallback *by = &m->shape.callback;
    if (by->make != NULL)
        by->make(by->context, loss, g, logits);
    else
        m->parts.backend->loss(loss, g, logits, m->on.labels, SPLIT_TRAIN, weight, row,
                               m->weigh.form);
}
