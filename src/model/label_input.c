// train.label_input: labels of training nodes are input of layer 0, beside the features (masked
// label prediction: Shi et al., Masked Label Prediction, IJCAI 2021; SuperGCN has it, too).
//
//   Z^0 = A_X W + A_Y W_Y + ...    A_Y = L·M·R·Y, Y: one-hot labels, 0 of nodes that are no input
//   dW_Y = A_Yᵀ G
//
// An epoch draws which training nodes are inputs; the others count in its loss, so no node's own
// label ever reaches its loss. Evaluation gives the labels of all training nodes. No message has
// them: those of the halo are sent once, and both ends draw by node id, as for kept features.
#include "internal.h"

typedef struct LabelRule {
    const char *name;
} LabelRule;
static const LabelRule rules[] = {{"none"}, {"masked:RATE"}};
const Family label_input_family = FAMILY("train.label_input", NULL, rules);

// ---- shape

static bool read_rate(ModelShape *shape, const char *word, Error *err) {
    const char *argument;
    char *end = NULL;
    const LabelRule *rule = family_find(&label_input_family, word, &argument, err);
    if (rule == NULL || rule == rules)
        return rule != NULL;
    shape->label_rate = strtod(argument, &end);
    return (*end == 0 && shape->label_rate > 0 && shape->label_rate < 1) ||
           error_config(
               err, "train.label_input: expected a share between 0 and 1 in '%s', as in masked:0.5",
               word);
}

bool read_label_input(ModelShape *shape, const Config *config, LabelKind labels, Error *err) {
    if (!read_rate(shape, config->train.label_input, err))
        return false;
    if (shape->label_rate == 0)
        return true;
    if (!shape->kind->may_transform_first || shape->stages > 1 || !shape->weights[0] ||
        !shape->aggregates[0])
        return error_config(err,
                            "train.label_input: labels enter where a first layer multiplies the "
                            "aggregate of its neighbours, and that of model.layer=%s does not; use "
                            "gcn, sage-mean or sage-gcn, or train.label_input=none",
                            shape->kind->name);
    if (labels == LABEL_NUMBERS)
        return error_config(err, "train.label_input: it is for labels that are classes, and these "
                                 "are numbers; use train.label_input=none");
    if (strcmp(config->train.sample, "all") != 0)
        return error_config(
            err,
            "train.label_input: it draws which training nodes count in an epoch, and so does "
            "train.sample=%s; use train.sample=all, or train.label_input=none",
            config->train.sample);
    shape->weighs_rows = true;
    return true;
}

void label_parameter(ModelShape *shape) {
    parameter_matrix(shape, 0, ROLE_LABEL, "label.weight", shape->width[shape->layers],
                     shape->width[1]);
}

// ---- memory

static const HaloPlan *plan_of(const Model *m) { return &m->parts.patterns->labels->plan; }

enum { BLOCK_ROWS = 4096 }; // that the host makes at once
static const char what[] = "labels as input";

void alloc_label_input(Model *m, const Allocator *allocator) {
    LabelInput *in = &m->label;
    if (m->shape.label_rate == 0)
        return;
    int64_t n = own_rows(m, 0), halo = plan_of(m)->halo_count, classes = classes_of(m);
    in->own = alloc_rows(allocator, n, classes, what);
    in->halo = alloc_rows(allocator, halo, classes, what);
    in->a = alloc_rows(allocator, n, classes, what);
    if (allocator->forecast != NULL) { // of make_label_input, which gives it back
        int64_t sent = plan_of(m)->send_offset[plan_of(m)->size - 1];
        forecast_add(allocator->forecast, what,
                     (size_t)((sent + halo) * (classes + (int64_t)sizeof(float))) +
                         (size_t)(BLOCK_ROWS * classes) * sizeof(float));
    }
    if (m->shape.inference)
        return;
    in->own_drawn = alloc_rows(allocator, n, classes, what);
    in->halo_drawn = alloc_rows(allocator, halo, classes, what);
    in->host = alloc_mirrored(allocator, &in->drawn, (size_t)n * sizeof(float), what);
    in->host_too = alloc_mirrored(allocator, &in->drawn_too, (size_t)halo * sizeof(float), what);
    in->row = alloc_pinned(allocator, (size_t)n * sizeof(float), what);
}

// ---- labels

static bool is_training(const Model *m, int64_t row) {
    const Shard *shard = m->parts.shard;
    return (shard->label != NULL || shard->labels != NULL) && shard->split[row] == SPLIT_TRAIN;
}

// Which classes a training node has, a byte each.
static void put_classes(const Model *m, unsigned char *out, int64_t row) {
    const Shard *shard = m->parts.shard;
    int64_t classes = classes_of(m);
    memset(out, 0, (size_t)classes);
    if (is_training(m, row) && shard->labels != NULL)
        memcpy(out, shard->labels + row * classes, (size_t)classes);
    else if (is_training(m, row) && shard->label[row] >= 0)
        out[shard->label[row]] = 1;
}

// Rows to the device, a block at a time: bytes[count, K] times right[count]; NULL: those of own
// rows, and 1.
static void upload_classes(const Model *m, Rows to, const unsigned char *bytes,
                           const float *right) {
    const Backend *b = m->parts.backend;
    int64_t classes = classes_of(m);
    FREED float *block = ALLOC(float, BLOCK_ROWS *classes, what);
    FREED unsigned char *own = ALLOC(unsigned char, classes, what);
    for (int64_t begin = 0; begin < to.count; begin += BLOCK_ROWS) {
        int64_t count = to.count - begin < BLOCK_ROWS ? to.count - begin : BLOCK_ROWS;
        for (int64_t r = 0; r < count; r++) {
            if (bytes == NULL)
                put_classes(m, own, begin + r);
            const unsigned char *has = bytes != NULL ? bytes + (begin + r) * classes : own;
            for (int64_t c = 0; c < classes; c++)
                block[r * classes + c] = has[c] ? (right != NULL ? right[begin + r] : 1) : 0;
        }
        b->upload_rows(rows_range(to, (Range){begin, begin + count}), block);
        b->finish(NULL);
    }
}

void make_label_input(Model *m) {
    if (m->shape.label_rate == 0)
        return;
    const HaloPlan *p = plan_of(m);
    const float *right = m->forward[0].block.right;
    int64_t sent = p->send_offset[p->size - 1], classes = classes_of(m);
    FREED unsigned char *mine = ALLOC(unsigned char, sent *classes, what);
    FREED unsigned char *halo = ALLOC(unsigned char, p->halo_count *classes, what);
    FREED float *right_mine = ALLOC(float, sent, what);
    FREED float *right_halo = ALLOC(float, p->halo_count, what);
    for (int64_t k = 0; k < sent; k++) {
        put_classes(m, mine + k * classes, p->send_row[k]);
        right_mine[k] = right != NULL ? right[p->send_row[k]] : 1;
    }
    ring_to_readers(p, mine, halo, (size_t)classes);
    ring_to_readers(p, right_mine, right_halo, sizeof *right_mine);
    upload_classes(m, m->label.own, NULL, NULL);
    upload_classes(m, m->label.halo, halo, right_halo);
}

// ---- an epoch

// What a training node counts in the sum that the loss is divided by.
static double weight_of(const Model *m, int64_t row) {
    const int32_t *label = m->parts.shard->label;
    return label != NULL ? m->weigh.factor[label[row]] : 1;
}

static void draw(Model *m) {
    LabelInput *in = &m->label;
    const Backend *b = m->parts.backend;
    const int64_t *gid = m->parts.shard->set[NODES].gid, *halo_id = plan_of(m)->halo_id;
    RandomKey key = random_key(m->seed, RANDOM_LABEL_INPUT, m->epoch, 0, 0);
    double sum = 0;
    for (int64_t r = 0; r < in->own.count; r++) {
        bool drawn = random_uniform32(key, gid[r], 0, 0) < m->shape.label_rate;
        bool counts = is_training(m, r) && !drawn;
        in->host[r] = drawn;
        in->row[r] = counts;
        sum += counts ? weight_of(m, r) : 0;
    }
    for (int64_t h = 0; h < in->halo.count; h++)
        in->host_too[h] = random_uniform32(key, halo_id[h], 0, 0) < m->shape.label_rate;
    comm_sum_double(m->parts.comm, &sum, 1);
    b->upload(in->drawn, in->host, (size_t)in->own.count * sizeof(float));
    b->upload(in->drawn_too, in->host_too, (size_t)in->halo.count * sizeof(float));
    model_set_row_weights(m, in->row, sum);
}

static void keep_drawn(const Model *m, Rows out, Rows all, const DeviceFloat *drawn) {
    m->parts.backend->add_scaled(out, (Range){0, out.count}, (RowFactor){0}, all,
                                 (RowFactor){.times = 1, .at = drawn, .each = true}, all, NULL);
}

void draw_label_input(Model *m) {
    LabelInput *in = &m->label;
    bool all = !m->training;
    if (!all) {
        draw(m);
        keep_drawn(m, in->own_drawn, in->own, in->drawn);
        keep_drawn(m, in->halo_drawn, in->halo, in->drawn_too);
    }
    operator_run(&(OperatorRun){.schedule = m->blocking, .beside = gradient_poll(m)},
                 &(OperatorCall){.method = &operator_aggregate,
                                 .over = &in->over,
                                 .in = all ? in->own : in->own_drawn,
                                 .received = all ? in->halo : in->halo_drawn,
                                 .out = in->a});
}

void add_label_input(const Model *m, Range rows, const Poll *poll) {
    const Parameter *p = m->layer[0].parameter[ROLE_LABEL];
    m->parts.backend->dense(m->layer[0].z, rows, m->label.a, flat_at(m->parameters, p->begin), NULL,
                            true, poll);
}
