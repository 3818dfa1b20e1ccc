// What compares a distributed model with the dense oracle: the loss and every gradient of all
// schedules and savings, the logits, and the oracle itself with differences of its loss.
#pragma once

#include "../codec_values.h"
#include "../oracle.h"
#include "../rows.h"
#include "../small_graph.h"
#include "model/internal.h"

typedef struct Case {
    const char *name; // "gcn, directed": model.layer, and what is particular
    TestGraphKind graph;
    int layers;
    const char *post;
    double dropout, input_dropout;
    const char *order, *setting; // lossless.order; more of them, blanks between
    const LayerKind *kind;       // in place of the one that the name begins with, if not NULL
} Case;
#define FIRST(more) .order = "aggregate-first", .setting = (more)
#define LAST(more) .order = "transform-first", .setting = (more)
#define AUTO(more) .order = "auto", .setting = (more)

#define GRAPH(...)                                                                                 \
    { .nodes = 97, .degree = 6, .features = 13, .classes = 5, __VA_ARGS__ }
#define SYMMETRIC GRAPH()
#define DIRECTED GRAPH(.directed = true)
#define WEIGHTED GRAPH(.weighted = true)
#define DIRECTED_WEIGHTED GRAPH(.directed = true, .weighted = true)
#define SPARSE GRAPH(.sparse = true)
#define SPARSE_DIRECTED_WEIGHTED GRAPH(.sparse = true, .directed = true, .weighted = true)
#define MULTI GRAPH(.multilabel = true)
// Hypergraphs: roles, weights, nodes and hyperedges without pins (small_graph.h).
#define HYPERGRAPH(...)                                                                            \
    { .nodes = 89, .hyperedges = 61, .degree = 5, .features = 13, .classes = 5, __VA_ARGS__ }
#define HYPER HYPERGRAPH()
#define HYPER_DIRECTED_WEIGHTED HYPERGRAPH(.directed = true, .weighted = true)
#define SPARSE_HYPER HYPERGRAPH(.sparse = true)

static inline double number_of(int64_t node, int64_t column) {
    return (double)(node % 7) / 3 - (double)column;
}
#define NUMBERS GRAPH(.number = number_of)

static const LossCallback *case_loss; // in place of that of the labels; NULL: none

static bool weighs_rows; // model_set_row_weights may be called

static const char *layer_of(const Case *c) {
    return test_text("%.*s", (int)strcspn(c->name, ", "), c->name);
}

static Config case_config(const Case *c) {
    Config config;
    const char *settings[8];
    int count = 0;
    for (char *one = strtok(test_text("%s", c->setting), " "); one != NULL; one = strtok(NULL, " "))
        settings[count++] = one;
    config_learn_keys((const Family *const[]){&layer_family}, 1);
    assert_ok(config_load(&config, NULL, settings, count, &err));
    snprintf(config.model.layer, CONFIG_WORD, "%s", c->kind != NULL ? "" : layer_of(c));
    snprintf(config.lossless.order, CONFIG_WORD, "%s", c->order);
    snprintf(config.lossless.input_features, CONFIG_WORD, "exchange");
    snprintf(config.lossless.receptive_field, CONFIG_WORD, "all");
    snprintf(config.lossless.cover, CONFIG_WORD, "sources");
    config.model.layers = c->layers;
    config.model.hidden = (ConfigInts){1, {9}};
    config.model.dropout = c->dropout;
    config.model.input_dropout = c->input_dropout;
    config.model.post.count = 0;
    for (char *word = strtok(test_text("%s", c->post), ","); word != NULL; word = strtok(NULL, ","))
        snprintf(config.model.post.word[config.model.post.count++], CONFIG_WORD, "%s", word);
    return config;
}

static ModelShape case_shape(const Case *c, const Config *config, const Dataset *d) {
    ModelShape shape;
    LabelKind labels = d->numeric ? LABEL_NUMBERS : d->multilabel ? LABEL_CLASSES : LABEL_CLASS;
    assert_ok(c->kind != NULL ? model_shape_of(&shape, c->kind, config, d->features, d->classes,
                                               labels, false, &err)
                              : model_shape(&shape, config, d->features, d->classes, labels, &err));
    if (case_loss != NULL)
        model_shape_for_callback(&shape, *case_loss);
    return shape;
}

// A model and what it stands on.
typedef struct Made {
    ModelShape shape;
    ModelPatterns patterns;
    GradSync *sync;
    Model *model;
    DeviceFloat *p, *gradient;
} Made;

static size_t parameter_bytes(const Made *made) {
    return (size_t)made->shape.state_count * sizeof(float);
}

static void make_on(Made *made, const Backend *backend, const Case *c, const TestGraph *w,
                    const Config *config, const char *schedule) {
    *made = (Made){0};
    made->shape = case_shape(c, config, &w->dataset);
    if (w->shard.is_sparse)
        assert_ok(model_shape_of_shard(&made->shape, config, &w->shard, &err));
    made->shape.weighs_rows |= weighs_rows;
    model_patterns_init(&made->patterns, &made->shape, &w->shard, w->comm);
    ModelParts parts = {
        .shard = &w->shard,
        .patterns = &made->patterns,
        .comm = w->comm,
        .backend = backend,
        .options = {.codec = assert_ok(codec_find(config->quantization.codec, &err)),
                    .values = integer_values(false),
                    .width = 8,
                    .chunk = 65280,
                    .sample.probability = config->comm.sample < 1 ? config->comm.sample : 0},
        .schedule = assert_ok(schedule_find(schedule, &err))};
    assert_ok(schedule_configure(parts.schedule, config, &parts.options, &err));
    made->sync = gradsync_new(w->comm, device(), &(GradForm){.count = made->shape.parameter_count});
    parts.sync = made->sync;
    made->model = assert_ok(model_new(&made->shape, &parts, config, &err));
    made->p = device()->alloc(parameter_bytes(made), "p");
    made->gradient = device()->alloc(parameter_bytes(made), "gradient");
}

static inline void make(Made *made, const Case *c, const TestGraph *w, const Config *config,
                        const char *schedule) {
    make_on(made, device(), c, w, config, schedule);
}

static void unmake(Made *made) {
    device()->free(made->gradient);
    device()->free(made->p);
    model_free(made->model);
    gradsync_free(made->sync);
    model_patterns_clear(&made->patterns);
}

// Parameters away from zero everywhere, so that no gradient hides.
static void some_parameters(const ModelShape *shape, float *p) {
    model_initial(shape, 7, p);
    for (int i = 0; i < shape->parameter_spans; i++)
        for (int64_t k = 0; !shape->parameter[i].matrix && k < shape->parameter[i].columns; k++)
            p[shape->parameter[i].begin + k] += 0.1f * (float)((k * 7 + i) % 5 - 2);
}

static double distributed(const Made *made, const float *p, float *gradient) {
    to_device(made->p, p, parameter_bytes(made));
    double loss = model_loss_and_gradient(made->model, made->p, made->gradient, 11, 3);
    gradsync_finish(made->sync, made->gradient);
    from_device(gradient, made->gradient, (size_t)made->shape.parameter_count * sizeof(float));
    comm_sum_double(&test_comm, &loss, 1);
    return loss;
}

// Relative to the norm of the range.
static void compare_range(const Case *c, const char *name, const float *got, const double *want,
                          int64_t begin, int64_t end, double tolerance) {
    double error = 0, norm = 0;
    for (int64_t k = begin; k < end; k++) {
        double miss = (double)got[k] - want[k];
        error += miss * miss;
        norm += want[k] * want[k];
    }
    if (!(sqrt(error) <= tolerance * sqrt(norm) + 1e-9))
        fail_msg("%s: gradient of %s is off by %g of its norm %g", c->name, name,
                 sqrt(error / norm), sqrt(norm));
}

// 1e-5: sums of at most a few hundred floats.
static void compare_windows(const Case *c, const ModelShape *shape, const float *got,
                            const double *want) {
    for (int i = 0; i < shape->parameter_spans; i++) {
        const Parameter *w = &shape->parameter[i];
        compare_range(c, w->name, got, want, w->begin, w->begin + w->rows * w->columns, 1e-5);
    }
}

typedef struct Truth { // what the oracle says
    float *p;          // of these parameters
    double loss;
    double *gradient;
} Truth;

static void compare_loss(const Case *c, const char *what, double loss, const Truth *want,
                         double tolerance) {
    if (!(fabs(loss - want->loss) <= tolerance * fabs(want->loss)))
        fail_msg("%s, %s: loss %.9g, oracle %.9g", c->name, what, loss, want->loss);
}

static void compare(const Case *c, const char *what, const ModelShape *shape, double loss,
                    const float *gradient, const Truth *want) {
    compare_loss(c, what, loss, want, 1e-5);
    compare_windows(c, shape, gradient, want->gradient);
}

// 1e-2 for the 8 bits of bf16, of the whole gradient: norms of layers enlarge what rounding does to
// small rows.
static void compare_bf16(const Case *c, const ModelShape *shape, double loss, const float *gradient,
                         const Truth *want) {
    compare_loss(c, "bf16", loss, want, 1e-2);
    compare_range(c, "all parameters", gradient, want->gradient, 0, shape->parameter_count, 1e-2);
}

// Every schedule gives the same bits, and nothing is taken inside an epoch.
static void run_schedules(const Case *c, const TestGraph *w, const Config *config, const char *what,
                          const Truth *want) {
    float *first = NULL;
    double first_loss = 0;
    for (int i = 0; i < schedule_family.count; i++) {
        const Schedule *schedule = family_member(&schedule_family, i);
        const char *name = schedule->name;
        if (schedule->changes_result)
            continue;
        CLEARED(unmake) Made made = {0};
        make(&made, c, w, config, name);
        int64_t count = made.shape.parameter_count;
        float *g = TEST_ARRAY(float, count);
        distributed(&made, want->p, g);
        int64_t takes = memory_allocs();
        double loss = distributed(&made, want->p, g);
        assert_int_equal(takes, memory_allocs());
        if (strcmp(config->quantization.codec, "bf16") == 0)
            compare_bf16(c, &made.shape, loss, g, want);
        else
            compare(c, what, &made.shape, loss, g, want);
        if (first != NULL && (memcmp(&loss, &first_loss, sizeof loss) != 0 ||
                              memcmp(g, first, (size_t)count * sizeof *g) != 0))
            fail_msg("%s, %s: %s and %s differ", c->name, what, family_word(&schedule_family, 0),
                     name);
        if (first == NULL) {
            first = g;
            first_loss = loss;
            g = NULL;
        }
    }
}

enum { LAYER0 = 1, ORDER = 2, TRAIN_ROWS = 4, COVER = 8, ALL_SAVINGS = 15 };

static Config with_savings(Config config, int savings, const char *cover) {
    snprintf(config.lossless.input_features, CONFIG_WORD, savings & LAYER0 ? "auto" : "exchange");
    snprintf(config.lossless.order, CONFIG_WORD, savings & ORDER ? "auto" : "aggregate-first");
    snprintf(config.lossless.receptive_field, CONFIG_WORD, savings & TRAIN_ROWS ? "auto" : "all");
    snprintf(config.lossless.cover, CONFIG_WORD, "%s", savings & COVER ? cover : "sources");
    return config;
}

// All sets of savings are compared on the CPU; where that takes long, and on other devices, four in
// which each of them is and is not.
static bool compares_all_savings(void) {
    return UNDER_SANITIZERS(false,
                            strcmp(device_name(), "cpu") == 0 && test_comm.size < test_turns(8, 9));
}

typedef struct SavingsSets {
    int first, step;
} SavingsSets;

// One rank has all sets; the cases of several ranks take a third of them each, by turns.
static SavingsSets savings_sets(void) {
    static int turn;
    if (!compares_all_savings())
        return (SavingsSets){1, 5};
    if (test_comm.size == 1)
        return (SavingsSets){0, 1};
    return (SavingsSets){turn++ % test_turns(3, 1), test_turns(3, 1)};
}

// Any savings together: the same loss and gradients.
static void run_savings(const Case *c, const TestGraph *w, const Config *config,
                        const Truth *want) {
    SavingsSets sets = savings_sets();
    for (int savings = sets.first; savings <= ALL_SAVINGS + 1; savings += sets.step) {
        char what[64];
        int which = savings & ALL_SAVINGS;
        const char *cover = savings > ALL_SAVINGS ? "targets" : "min";
        Config saving = with_savings(*config, savings > ALL_SAVINGS ? ALL_SAVINGS : which, cover);
        CLEARED(unmake) Made made = {0};
        snprintf(what, sizeof what, "savings %d", savings);
        make(&made, c, w, &saving, "overlap");
        float *g = TEST_ARRAY(float, made.shape.parameter_count);
        double loss = distributed(&made, want->p, g);
        compare(c, what, &made.shape, loss, g, want);
        if (which & LAYER0 && !made.shape.sparse) // those are sent as they were multiplied
            assert_null(model_channel(made.model, (ExchangeId){0, FORWARD}));
    }
}

static void from_first_rank(double *values, int64_t count) {
    if (values != NULL)
        comm_broadcast(&test_comm, values, (size_t)count * sizeof *values, 0);
}

// Of parameters in floats; returns the loss. The first rank asks for all: each would hear the same.
static double ask_oracle(const OracleGraph *graph, const ModelShape *shape, const float *p,
                         bool training, double *gradient, double *logits) {
    double loss = 0, *p64 = TEST_ARRAY(double, shape->state_count);
    for (int64_t k = 0; k < shape->state_count; k++)
        p64[k] = (double)p[k];
    if (test_comm.rank == 0)
        loss = oracle_loss(graph, shape, p64, training, 11, 3, gradient, logits);
    from_first_rank(&loss, 1);
    from_first_rank(gradient, shape->parameter_count);
    from_first_rank(logits, graph->n * shape->width[shape->layers]);
    return loss;
}

static Truth truth_of_graph(const OracleGraph *graph, const ModelShape *shape) {
    Truth want = {.p = TEST_ARRAY(float, shape->state_count),
                  .gradient = TEST_ARRAY(double, shape->parameter_count)};
    some_parameters(shape, want.p);
    want.loss = ask_oracle(graph, shape, want.p, true, want.gradient, NULL);
    return want;
}

static Truth truth_of(const Case *c, const TestGraph *w, const Config *config) {
    ModelShape shape = case_shape(c, config, &w->dataset);
    OracleGraph graph = oracle_graph(&w->dataset);
    return truth_of_graph(&graph, &shape);
}

static void run_bf16_messages(const Case *c, const TestGraph *w, const Config *config) {
    if (test_comm.size == 1 || w->dataset.hyperedges > 0) // those: test_hyper_combinations.c
        return;
    Truth want = truth_of(c, w, config);
    Config coded = with_savings(*config, ALL_SAVINGS, "min");
    snprintf(coded.quantization.codec, CONFIG_WORD, "bf16");
    run_schedules(c, w, &coded, "bf16", &want);
}

// With the widest vectors by name: bf16x3 then starts without AMX, too.
static void use_precision(const char *precision) {
    static const char *const vectors[] = {"amx", "avx512", "avx2"};
    BackendStart how = {.precision = precision};
    if (strcmp(precision, "bf16x3") == 0)
        for (int i = 0; i < 3; i++) {
            how.vectors = vectors[i];
            if (device()->start(&how, &(Error){0}))
                return;
            how.vectors = "plain";
        }
    assert_ok(device()->start(&how, &err));
}

// The gradient in a precision, with all savings: its error as a share of the whole gradient, and of
// each matrix.
static void run_precision(const Case *c, const TestGraph *w, const Config *config,
                          const char *precision, double loss, double whole, double matrix) {
    CLEARED(unmake) Made made = {0};
    Truth want = truth_of(c, w, config);
    Config rows = with_savings(*config, ALL_SAVINGS, "min");
    use_precision(precision);
    snprintf(rows.run.precision, CONFIG_WORD, "%s", precision);
    make(&made, c, w, &rows, "overlap");
    float *g = TEST_ARRAY(float, made.shape.parameter_count);
    compare_loss(c, precision, distributed(&made, want.p, g), &want, loss);
    compare_range(c, "all parameters", g, want.gradient, 0, made.shape.parameter_count, whole);
    for (int i = 0; i < made.shape.parameter_spans; i++) {
        const Parameter *of = &made.shape.parameter[i];
        if (of->matrix)
            compare_range(c, of->name, g, want.gradient, of->begin,
                          of->begin + of->rows * of->columns, matrix);
    }
    use_precision("fp32");
}

// Rows of bf16 and inputs of their products have 8 bits: 2e-2 of the whole gradient, 5e-2 of each
// matrix. Four times that for gin, whose own ReLU is not smooth: in double, rounding its weights
// alone to bf16 moves the gradient by up to 6.7e-2, and a matrix's by 8.8e-2.
static void run_bf16_rows(const Case *c, const TestGraph *w, const Config *config) {
    double times = strcmp(layer_of(c), "gin") == 0 ? 4 : 1;
    run_precision(c, w, config, "bf16", 1e-2, 2e-2 * times, 5e-2 * times);
    if (!device()->is_device) // inputs as sums of two bf16 have 16 bits
        run_precision(c, w, config, "bf16x3", 1e-4, 1e-4, 1e-4);
}

// A unit of ReLU whose sum bf16 rounds to the other side of 0 has another gradient, and so has a
// maximum of levels: bf16 goes with a smooth activation, and without the latter. A norm of nine
// columns has rows of little variance, which enlarge what rounding does: rows of bf16 are as wide
// as those of trainings.
static void run_bf16(const Case *c, const TestGraph *w, const Config *config) {
    Config smooth = *config;
    if (strcmp(config->model.jk, "max") == 0)
        return;
    snprintf(smooth.model.activation, CONFIG_WORD, "gelu");
    run_bf16_messages(c, w, &smooth);
    if (smooth.model.hidden.value[0] < 64)
        smooth.model.hidden.value[0] = 64;
    if (test_comm.size <= 4)
        run_bf16_rows(c, w, &smooth);
}

// The sanitizers see all schedules and bf16 in turn, with and without all savings.
static inline void run_case(const Case *c, int hidden) {
    static int turn;
    OWNED(TestGraph) w = test_graph(c->graph, 42, &test_comm);
    assert_int_equal(shard_is_symmetric(&w.shard), !c->graph.directed);
    Config config = case_config(c);
    config.model.hidden = (ConfigInts){1, {hidden}};
    Config saving = with_savings(config, ALL_SAVINGS, "min");
    Truth want = truth_of(c, &w, &config);
    if (UNDER_SANITIZERS(turn % 2 == 0, true))
        run_schedules(c, &w, &config, "as published", &want);
    if (UNDER_SANITIZERS(turn % 2 == 1, true))
        run_schedules(c, &w, &saving, "all savings", &want);
    run_savings(c, &w, &config, &want);
    if (UNDER_SANITIZERS(turn % 3 == 0, true))
        run_bf16(c, &w, &config);
    turn++;
}

// The oracle itself: its gradient against central differences of its loss. Kinks of ReLU lie rarely
// within 1e-6. The oracle knows no ranks.
static inline void compare_differences(const Case *cases, int count) {
    if (test_comm.size > 1 || UNDER_SANITIZERS(true, false)) // nothing of the product is in it
        return;
    for (int i = 0; i < count; i++) {
        TestGraphKind kind = cases[i].graph;
        kind.nodes = 24;
        OWNED(TestGraph) w = test_graph(kind, 5, &test_comm);
        Config config = case_config(&cases[i]);
        ModelShape shape = case_shape(&cases[i], &config, &w.dataset);
        float *p = TEST_ARRAY(float, shape.state_count);
        double *q = TEST_ARRAY(double, shape.state_count),
               *g = TEST_ARRAY(double, shape.parameter_count);
        some_parameters(&shape, p);
        for (int64_t k = 0; k < shape.state_count; k++)
            q[k] = (double)p[k];
        OracleGraph graph = oracle_graph(&w.dataset);
        oracle_loss(&graph, &shape, q, true, 11, 3, g, NULL);
        for (int64_t k = 0; k < shape.parameter_count; k += 7) {
            double at = q[k], h = 1e-6;
            q[k] = at + h;
            double above = oracle_loss(&graph, &shape, q, true, 11, 3, NULL, NULL);
            q[k] = at - h;
            double below = oracle_loss(&graph, &shape, q, true, 11, 3, NULL, NULL);
            q[k] = at;
            if (fabs((above - below) / (2 * h) - g[k]) > 1e-6 + 1e-5 * fabs(g[k]))
                fail_msg("%s: parameter %lld: difference %g, gradient %g", cases[i].name,
                         (long long)k, (above - below) / (2 * h), g[k]);
        }
    }
}

// 2e-5 of the largest logit: sums of gin are not divided by anything.
static void compare_logits(const Case *c, int64_t node, const float *got, const double *want,
                           int64_t classes) {
    double largest = 1;
    for (int64_t k = 0; k < classes; k++)
        largest = fmax(largest, fabs(want[k]));
    for (int64_t k = 0; k < classes; k++)
        if (fabs((double)got[k] - want[k]) > 2e-5 * largest)
            fail_msg("%s: logit %lld of node %lld is %g, oracle %g", c->name, (long long)k,
                     (long long)node, (double)got[k], want[k]);
}

// Evaluation has no dropout and gives every own row its logits.
static inline void compare_case_inference(const Case *c, bool saves) {
    OWNED(TestGraph) w = test_graph(c->graph, 42, &test_comm);
    Config config = case_config(c);
    ModelShape shape = case_shape(c, &config, &w.dataset); // the oracle's
    if (saves)
        config = with_savings(config, ALL_SAVINGS, "min");
    CLEARED(unmake) Made made = {0};
    make(&made, c, &w, &config, "overlap");
    int64_t k = w.dataset.classes;
    float *p = TEST_ARRAY(float, shape.state_count), *g = TEST_ARRAY(float, shape.parameter_count);
    double *want = TEST_ARRAY(double, w.dataset.nodes *k);
    some_parameters(&shape, p);
    distributed(&made, p, g); // what training leaves behind is no input, but statistics
    from_device(p, made.p, parameter_bytes(&made));
    OracleGraph graph = oracle_graph(&w.dataset);
    ask_oracle(&graph, &shape, p, false, NULL, want);
    float *z = host_rows(model_infer(made.model, made.p));
    for (int64_t r = 0; r < w.shard.set[NODES].own; r++)
        compare_logits(c, w.shard.set[NODES].gid[r], z + r * k,
                       want + w.shard.set[NODES].gid[r] * k, k);
}

static inline void compare_inference(const Case *cases, int count) {
    for (int i = 0; i < count; i++)
        compare_case_inference(&cases[i], i % 2 == 0);
}
