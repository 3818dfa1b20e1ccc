// ranks: 1 4; also on fenced
// If this failed, the training loss would not weigh classes, terms or rows as it says: it or its
// gradient would not be that of a dense double-precision oracle, or a metric would be weighed, too.
#include "../scores.h"
#include "gradients.h"

#define GCN(name, graph, setting)                                                                  \
    { "gcn, " name, graph, 3, "norm,activation", 0, 0, AUTO(setting) }
static const Case cases[] = {
    GCN("listed", SYMMETRIC, "train.class_weights=[0.5,2,1,0.25,3]"),
    GCN("balanced", DIRECTED, "train.class_weights=balanced"),
    GCN("smoothed", SYMMETRIC, "train.label_smoothing=0.2"),
    GCN("positive", MULTI, "train.positive_weight=2.5"),
};
enum { CASES = sizeof cases / sizeof *cases, CLASSES = 5, NODES_MOST = 97 };

static float row_weight(int64_t gid) { return gid % 3 == 0 ? 0 : (float)(gid % 5) / 2; }

// By the definitions, of the whole graph.
typedef struct Weighed {
    double classes[CLASSES], rows[NODES_MOST], sum;
    float own[NODES_MOST];
} Weighed;

static void balance(Weighed *w, const Dataset *d) {
    double train = 0, count[CLASSES] = {0};
    for (int64_t v = 0; v < d->nodes; v++)
        if (d->split[v] == SPLIT_TRAIN)
            train++, count[d->label[v]]++;
    for (int c = 0; c < CLASSES; c++)
        w->classes[c] = count[c] > 0 ? train / (CLASSES * count[c]) : 0;
}

static void weigh(Weighed *w, OracleGraph *graph, const Config *config, const TestGraph *of,
                  bool rows) {
    const Dataset *d = &of->dataset;
    bool balanced = strcmp(config->train.class_weights, "balanced") == 0;
    for (int c = 0; c < CLASSES; c++)
        w->classes[c] = 1;
    if (balanced)
        balance(w, d);
    else
        config_numbers(config->train.class_weights, w->classes, CLASSES);
    w->sum = 0;
    for (int64_t v = 0; v < d->nodes; v++) {
        w->rows[v] = rows ? (double)row_weight(v) : 1;
        if (d->split[v] == SPLIT_TRAIN)
            w->sum += d->label != NULL ? w->classes[d->label[v]] : 1;
    }
    for (int64_t r = 0; r < of->shard.set[NODES].own; r++)
        w->own[r] = row_weight(of->shard.set[NODES].gid[r]);
    graph->row = w->rows;
    graph->classes = w->classes;
    graph->smoothing = config->train.label_smoothing;
    graph->positive = config->train.positive_weight;
    graph->sum = w->sum;
}

static void compare_with(const Case *c, const TestGraph *w, const Config *config, const Truth *want,
                         const Weighed *weighed, bool rows) {
    CLEARED(unmake) Made made = {0};
    weighs_rows = rows;
    make(&made, c, w, config, "overlap");
    if (rows)
        model_set_row_weights(made.model, weighed->own, 0);
    float *g = TEST_ARRAY(float, made.shape.parameter_count);
    double loss = distributed(&made, want->p, g);
    compare(c, rows ? "rows" : "no rows", &made.shape, loss, g, want);
    weighs_rows = false;
}

TEST(gradients_equal_the_oracle) {
    static Weighed weighed;
    for (int i = 0; i < 2 * CASES; i++) {
        const Case *c = &cases[i / 2];
        OWNED(TestGraph) w = test_graph(c->graph, 42, &test_comm);
        Config config = with_savings(case_config(c), i % 3 == 0 ? ALL_SAVINGS : 0, "min");
        ModelShape shape = case_shape(c, &config, &w.dataset);
        OracleGraph graph = oracle_graph(&w.dataset);
        weigh(&weighed, &graph, &config, &w, i % 2 == 1);
        Truth want = truth_of_graph(&graph, &shape);
        compare_with(c, &w, &config, &want, &weighed, i % 2 == 1);
    }
}

// Another sum divides; without row weights all is as it was; metrics never change.
TEST(row_weights_come_and_go) {
    Metrics before[4], after[4];
    float own[NODES_MOST];
    OWNED(TestGraph) w = test_graph(cases[0].graph, 42, &test_comm);
    CLEARED(unmake) Made made = {0};
    Config config = case_config(&cases[0]);
    weighs_rows = true;
    make(&made, &cases[0], &w, &config, "overlap");
    weighs_rows = false;
    int64_t count = made.shape.parameter_count;
    float *p = TEST_ARRAY(float, count), *g = TEST_ARRAY(float, 3 * count);
    some_parameters(&made.shape, p);
    double first = distributed(&made, p, g);
    model_metrics(made.model, model_infer(made.model, made.p), before);
    for (int i = 0; i < NODES_MOST; i++)
        own[i] = 2;
    model_set_row_weights(made.model, own, 1e3);
    double twice = distributed(&made, p, g + count);
    model_metrics(made.model, model_infer(made.model, made.p), after);
    model_set_row_weights(made.model, NULL, 0);
    double last = distributed(&made, p, g + 2 * count);
    assert_memory_equal(&first, &last, sizeof first);
    assert_memory_equal(g, g + 2 * count, (size_t)count * sizeof *g);
    assert_memory_equal(before, after, sizeof before);
    assert_true(twice > 0 && twice < first);
}

TEST(what_does_not_fit_is_refused) {
    static const struct {
        const char *setting;
        LabelKind kind;
        const char *part;
    } wrong[] = {
        {"train.class_weights=[1,2,3]", LABEL_CLASS, "a factor of each of the 5 classes, found 3"},
        {"train.class_weights=balanced", LABEL_CLASSES, "use train.positive_weight"},
        {"train.label_smoothing=0.1", LABEL_CLASSES, "for nodes with one label"},
        {"train.positive_weight=2", LABEL_CLASS, "use train.class_weights"},
        {"train.label_smoothing=0.1", LABEL_NUMBERS, "this is mse; leave it out"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Config config;
        assert_ok(config_load(&config, NULL, &wrong[i].setting, 1, &err));
        assert_refused(loss_weights_fit(&config, CLASSES, wrong[i].kind, &err), EXIT_CONFIG,
                       wrong[i].part);
    }
}
