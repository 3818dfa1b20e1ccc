// ranks: 1 2 3 4 8
// If this failed, the distributed loss or gradient would not be that of the formulas (a dense
// double-precision oracle), or would depend on the number of ranks or on the schedule.
#include "../oracle.h"
#include "../small_graph.h"
#include "../support.h"
#include "fringe/gradsync.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Case {
    const char *name, *layer, *gcn_norm;
    bool self_loops;
    WorldKind world;
    int layers;
    const char *post;
    double dropout, input_dropout;
    const char *order;
} Case;

#define SYMMETRIC                                                                                  \
    { .nodes = 97, .degree = 6, .features = 13, .classes = 5 }
#define DIRECTED                                                                                   \
    { .nodes = 97, .degree = 6, .directed = true, .features = 13, .classes = 5 }
#define WEIGHTED                                                                                   \
    { .nodes = 97, .degree = 6, .weighted = true, .features = 13, .classes = 5 }
#define DIRECTED_WEIGHTED                                                                          \
    { .nodes = 97, .degree = 6, .directed = true, .weighted = true, .features = 13, .classes = 5 }
#define MULTI                                                                                      \
    { .nodes = 97, .degree = 6, .multilabel = true, .features = 13, .classes = 5 }

static const Case cases[] = {
    {"gcn, AdaQP's order", "gcn", "both", false, SYMMETRIC, 3, "dropout,norm,activation", 0.5, 0,
     "aggregate-first"},
    {"gcn, OGB's order", "gcn", "both", false, SYMMETRIC, 3, "norm,activation,dropout", 0.5, 0.3,
     "aggregate-first"},
    {"gcn, no norm", "gcn", "both", false, SYMMETRIC, 2, "activation,dropout", 0.5, 0.5,
     "aggregate-first"},
    {"gcn, one layer", "gcn", "both", false, SYMMETRIC, 1, "", 0, 0, "aggregate-first"},
    // rows of gradients lie where an epoch before left more of them
    {"gcn, four layers", "gcn", "both", false, SYMMETRIC, 4, "norm,activation", 0, 0,
     "aggregate-first"},
    {"gcn, directed", "gcn", "both", false, DIRECTED, 3, "dropout,norm,activation", 0.5, 0,
     "aggregate-first"},
    {"gcn, directed, in-degrees", "gcn", "in", false, DIRECTED, 3, "activation", 0, 0,
     "aggregate-first"},
    {"gcn, directed, weighted", "gcn", "both", false, DIRECTED_WEIGHTED, 3, "norm,activation", 0, 0,
     "auto"},
    {"gcn, weighted", "gcn", "both", false, WEIGHTED, 2, "activation,dropout", 0.3, 0,
     "aggregate-first"},
    {"gcn, multi-label", "gcn", "both", false, MULTI, 2, "activation,dropout", 0.5, 0,
     "aggregate-first"},
    {"gcn, transform first", "gcn", "both", false, DIRECTED, 3, "dropout,norm,activation", 0.5, 0.3,
     "auto"},
    {"sage-mean", "sage-mean", "both", false, SYMMETRIC, 3, "dropout,norm,activation", 0.5, 0,
     "aggregate-first"},
    {"sage-mean, four layers", "sage-mean", "both", false, SYMMETRIC, 4, "norm,activation", 0, 0,
     "aggregate-first"},
    {"sage-mean, input dropout", "sage-mean", "both", false, SYMMETRIC, 2, "activation,dropout",
     0.5, 0.5, "aggregate-first"},
    {"sage-mean, directed", "sage-mean", "both", false, DIRECTED, 3, "norm,activation,dropout", 0.5,
     0, "aggregate-first"},
    {"sage-mean, weighted, transform first", "sage-mean", "both", false, DIRECTED_WEIGHTED, 3,
     "norm,activation", 0, 0.3, "auto"},
    {"sage-mean with self-loops", "sage-mean", "both", true, SYMMETRIC, 2, "activation", 0, 0,
     "aggregate-first"},
    {"sage-gcn, multi-label", "sage-gcn", "both", false, MULTI, 3, "dropout,norm,activation", 0.5,
     0, "aggregate-first"},
};
enum { CASES = sizeof cases / sizeof *cases };

static Config case_config(const Case *c) {
    Config config;
    Error err = {0};
    assert_true(config_load(&config, NULL, NULL, 0, &err));
    snprintf(config.model.layer, CONFIG_WORD, "%s", c->layer);
    snprintf(config.model.gcn_norm, CONFIG_WORD, "%s", c->gcn_norm);
    snprintf(config.lossless.order, CONFIG_WORD, "%s", c->order);
    snprintf(config.lossless.input_features, CONFIG_WORD, "exchange");
    snprintf(config.lossless.receptive_field, CONFIG_WORD, "all");
    snprintf(config.lossless.cover, CONFIG_WORD, "sources");
    config.model.self_loops = c->self_loops;
    config.model.layers = c->layers;
    config.model.hidden = (ConfigInts){1, {9}};
    config.model.dropout = c->dropout;
    config.model.input_dropout = c->input_dropout;
    config.model.post.count = 0;
    char words[128];
    snprintf(words, sizeof words, "%s", c->post);
    for (char *word = strtok(words, ","); word != NULL; word = strtok(NULL, ","))
        snprintf(config.model.post.word[config.model.post.count++], CONFIG_WORD, "%s", word);
    return config;
}

// A model and what it stands on.
typedef struct Made {
    ModelShape shape;
    ModelPatterns patterns;
    GradSync *sync;
    Model *model;
} Made;

static void make(Made *made, const World *w, const Config *config, const char *schedule) {
    Error err = {0};
    *made = (Made){0};
    assert_ok(model_shape(&made->shape, config, w->dataset.features, w->dataset.classes,
                          w->dataset.multilabel, &err),
              &err);
    model_patterns_init(&made->patterns, &made->shape, &w->shard, w->comm);
    ModelParts parts = {.shard = &w->shard,
                        .patterns = &made->patterns,
                        .comm = w->comm,
                        .backend = &backend_cpu,
                        .form = {.codec = codec_find("fp32", &err), .piece = 65280},
                        .schedule = schedule_find(schedule, &err)};
    made->sync = gradsync_new(&test_comm, made->shape.parameter_count);
    parts.sync = made->sync;
    made->model = model_new(&made->shape, &parts, config, &err);
    if (made->model == NULL)
        fail_msg("%s", err.text);
}

static void unmake(Made *made) {
    model_free(made->model);
    gradsync_free(made->sync);
    model_patterns_clear(&made->patterns);
}

// Parameters away from zero everywhere, so that no gradient hides.
static void some_parameters(const ModelShape *shape, float *p) {
    model_initial(shape, 7, p);
    for (int i = 0; i < shape->parameter_windows; i++)
        for (int64_t k = 0; !shape->parameter[i].matrix && k < shape->parameter[i].columns; k++)
            p[shape->parameter[i].begin + k] += 0.1f * (float)((k * 7 + i) % 5 - 2);
}

static double distributed(const Made *made, const float *p, float *gradient) {
    double loss = model_loss_and_gradient(made->model, p, gradient, 11, 3);
    gradsync_finish(made->sync, gradient);
    comm_sum_double(&test_comm, &loss, 1);
    return loss;
}

// 1e-5 relative to the tensor's norm: sums of at most a few hundred floats.
static void compare_windows(const Case *c, const ModelShape *shape, const float *got,
                            const double *want) {
    for (int i = 0; i < shape->parameter_windows; i++) {
        const Parameter *w = &shape->parameter[i];
        double error = 0, norm = 0;
        for (int64_t k = w->begin; k < w->begin + w->rows * w->columns; k++) {
            error += pow((double)got[k] - want[k], 2);
            norm += want[k] * want[k];
        }
        if (sqrt(error) > 1e-5 * sqrt(norm) + 1e-9)
            fail_msg("%s: gradient of %s is off by %g of its norm %g", c->name, w->name,
                     sqrt(error / norm), sqrt(norm));
    }
}

typedef struct Truth { // of the oracle
    double loss;
    double *gradient;
} Truth;

static void compare(const Case *c, const char *what, const ModelShape *shape, double loss,
                    const float *gradient, const Truth *want) {
    if (fabs(loss - want->loss) > 1e-5 * fabs(want->loss))
        fail_msg("%s, %s: loss %.9g, oracle %.9g", c->name, what, loss, want->loss);
    compare_windows(c, shape, gradient, want->gradient);
}

// Every schedule gives the same bits, and nothing is taken inside an epoch.
static void run_schedules(const Case *c, const World *w, const Config *config, const float *p,
                          const char *what, const Truth *want) {
    static const char *const names[] = {"blocking", "overlap", "central"};
    float *first = NULL;
    double first_loss = 0;
    for (int i = 0; i < 3; i++) {
        Made made;
        make(&made, w, config, names[i]);
        int64_t count = made.shape.parameter_count;
        float *g = TAKE(float, count, "g");
        distributed(&made, p, g);
        int64_t takes = memory_takes();
        double loss = distributed(&made, p, g);
        assert_int_equal(takes, memory_takes());
        compare(c, what, &made.shape, loss, g, want);
        if (first != NULL && (memcmp(&loss, &first_loss, sizeof loss) != 0 ||
                              memcmp(g, first, (size_t)count * sizeof *g) != 0))
            fail_msg("%s, %s: %s and %s differ", c->name, what, names[0], names[i]);
        unmake(&made);
        if (first == NULL) {
            first = g;
            first_loss = loss;
        } else {
            memory_give(g);
        }
    }
    memory_give(first);
}

enum { LAYER0 = 1, ORDER = 2, TRAIN_ROWS = 4, COVER = 8, ALL_SAVINGS = 15 };

static Config with_savings(Config config, int savings, const char *cover) {
    snprintf(config.lossless.input_features, CONFIG_WORD, savings & LAYER0 ? "auto" : "exchange");
    snprintf(config.lossless.order, CONFIG_WORD, savings & ORDER ? "auto" : "aggregate-first");
    snprintf(config.lossless.receptive_field, CONFIG_WORD, savings & TRAIN_ROWS ? "auto" : "all");
    snprintf(config.lossless.cover, CONFIG_WORD, "%s", savings & COVER ? cover : "sources");
    return config;
}

// Any savings together: the same loss and gradients.
static void run_savings(const Case *c, const World *w, const Config *config, const float *p,
                        const Truth *want) {
    for (int savings = 0; savings <= ALL_SAVINGS + 1; savings++) {
        char what[64];
        int which = savings & ALL_SAVINGS;
        const char *cover = savings > ALL_SAVINGS ? "targets" : "min";
        Config saving = with_savings(*config, savings > ALL_SAVINGS ? ALL_SAVINGS : which, cover);
        Made made;
        snprintf(what, sizeof what, "savings %d", savings);
        make(&made, w, &saving, "overlap");
        float *g = TAKE(float, made.shape.parameter_count, "g");
        double loss = distributed(&made, p, g);
        compare(c, what, &made.shape, loss, g, want);
        if (which & LAYER0)
            assert_null(model_channel(made.model, 0, FORWARD));
        memory_give(g);
        unmake(&made);
    }
}

static void run_case(const Case *c, int hidden) {
    World w;
    Error err = {0};
    world_init(&w, c->world, 42, &test_comm);
    assert_int_equal(w.shard.symmetric, !c->world.directed);
    Config config = case_config(c);
    config.model.hidden = (ConfigInts){1, {hidden}};
    ModelShape shape;
    assert_ok(model_shape(&shape, &config, w.dataset.features, w.dataset.classes,
                          w.dataset.multilabel, &err),
              &err);
    int64_t count = shape.parameter_count;
    float *p = TAKE(float, count, "p");
    double *p64 = TAKE(double, count, "p64");
    Truth want = {.gradient = TAKE(double, count, "want")};
    some_parameters(&shape, p);
    for (int64_t k = 0; k < count; k++)
        p64[k] = (double)p[k];
    OracleGraph graph = oracle_graph(&w.dataset);
    want.loss = oracle_loss(&graph, &shape, p64, true, 11, 3, want.gradient, NULL);
    Config saving = with_savings(config, ALL_SAVINGS, "min");
    run_schedules(c, &w, &config, p, "as published", &want);
    run_schedules(c, &w, &saving, p, "all savings", &want);
    run_savings(c, &w, &config, p, &want);
    oracle_clear(&graph);
    memory_give(want.gradient);
    memory_give(p64);
    memory_give(p);
    world_clear(&w);
}

static void gradients_equal_the_oracle(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++)
        run_case(&cases[i], 9);
}

// The oracle itself: its gradient against central differences of its loss. Kinks of ReLU lie rarely
// within 1e-6.
static void oracle_equals_finite_differences(void **state) {
    (void)state;
    if (test_comm.rank != 0)
        return;
    Comm alone;
    comm_self(&alone);
    for (int i = 0; i < CASES; i++) {
        World w;
        Error err = {0};
        WorldKind kind = cases[i].world;
        kind.nodes = 24;
        world_init(&w, kind, 5, &alone);
        Config config = case_config(&cases[i]);
        ModelShape shape;
        assert_true(
            model_shape(&shape, &config, kind.features, kind.classes, kind.multilabel, &err));
        float *p = TAKE(float, shape.parameter_count, "p");
        double *q = TAKE(double, shape.parameter_count, "q"),
               *g = TAKE(double, shape.parameter_count, "g");
        some_parameters(&shape, p);
        for (int64_t k = 0; k < shape.parameter_count; k++)
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
        oracle_clear(&graph);
        memory_give(g);
        memory_give(q);
        memory_give(p);
        world_clear(&w);
    }
}

// Evaluation has no dropout and gives every own row its logits.
static void inference_equals_the_oracle(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        World w;
        world_init(&w, cases[i].world, 42, &test_comm);
        Config config = case_config(&cases[i]);
        if (i % 2 == 0)
            config = with_savings(config, ALL_SAVINGS, "min");
        Made made;
        make(&made, &w, &config, "overlap");
        ModelShape shape = made.shape;
        int64_t k = w.dataset.classes;
        float *p = TAKE(float, shape.parameter_count, "p");
        double *q = TAKE(double, shape.parameter_count, "q"),
               *want = TAKE(double, w.dataset.nodes *k, "z");
        some_parameters(&shape, p);
        for (int64_t j = 0; j < shape.parameter_count; j++)
            q[j] = (double)p[j];
        OracleGraph graph = oracle_graph(&w.dataset);
        oracle_loss(&graph, &shape, q, false, 0, 0, NULL, want);
        float *g = TAKE(float, shape.parameter_count, "g");
        distributed(&made, p, g); // what training leaves behind is no input
        Rows z = model_infer(made.model, p);
        for (int64_t r = 0; r < w.shard.own; r++)
            for (int64_t c = 0; c < k; c++)
                if (fabs((double)z.at[r * z.stride + c] - want[w.shard.gid[r] * k + c]) > 2e-5)
                    fail_msg("%s: logit %lld of node %lld is %g, oracle %g", cases[i].name,
                             (long long)c, (long long)w.shard.gid[r],
                             (double)z.at[r * z.stride + c], want[w.shard.gid[r] * k + c]);
        memory_give(g);
        unmake(&made);
        oracle_clear(&graph);
        memory_give(want);
        memory_give(q);
        memory_give(p);
        world_clear(&w);
    }
}

// A gradient of many strips and chunks, which leave while others are made.
static void wide_gradients_equal_the_oracle(void **state) {
    (void)state;
    static const WorldKind many = {.nodes = 61, .degree = 5, .features = 290, .classes = 5};
    static const WorldKind few = {.nodes = 20, .degree = 4, .features = 3, .classes = 4};
    const Case wide[] = {
        {"gcn, wide", "gcn", "both", false, many, 3, "norm,activation", 0, 0, "aggregate-first"},
        {"gcn, wide, transform first", "gcn", "both", false, many, 3, "norm,activation", 0, 0,
         "auto"},
        {"sage-mean, wide", "sage-mean", "both", false, many, 2, "norm,activation", 0, 0, "auto"},
        {"gcn, wider than a strip has floats", "gcn", "both", false, few, 2, "activation", 0, 0,
         "aggregate-first"},
    };
    for (int i = 0; i < 4; i++)
        run_case(&wide[i], i < 3 ? 270 : 32800);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(oracle_equals_finite_differences),
    cmocka_unit_test(gradients_equal_the_oracle),
    cmocka_unit_test(wide_gradients_equal_the_oracle),
    cmocka_unit_test(inference_equals_the_oracle),
};
TEST_MAIN(tests)
