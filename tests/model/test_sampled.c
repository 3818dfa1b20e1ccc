// ranks: 1 2 4; also on fenced
// If this failed, an epoch with sampled halo rows would not have the loss of the rows that were
// drawn, or its gradient would be that of other rows, or of rows that count otherwise: the dense
// oracle has the same rows, drawn here by the formula of ALGORITHMS 0.
#include "gradients.h"

static const double probability = 0.4;

#define LOOPS "model.self_loops=true "
static const Case cases[] = {
    {"gcn", SYMMETRIC, 3, "activation,dropout", 0.3, 0, FIRST(LOOPS)},
    {"sage-mean", DIRECTED, 2, "activation", 0, 0.2, AUTO(LOOPS)},
    {"gin", WEIGHTED, 3, "activation", 0, 0, AUTO(LOOPS "model.gin_learn_epsilon=true")},
    {"gcn, features kept", DIRECTED_WEIGHTED, 3, "activation", 0, 0.3,
     AUTO(LOOPS "model.gcn_norm=in")},
    {"hgnn", HYPER, 2, "activation", 0, 0, FIRST(LOOPS)},
    {"hgnn, directed", HYPER_DIRECTED_WEIGHTED, 2, "activation", 0, 0, AUTO(LOOPS)},
    {"gcn", SYMMETRIC, 1, "", 0, 0, FIRST(LOOPS)},
};

typedef struct Sampled {
    const Case *of;
    const char *cover, *rows, *features;
} Sampled;

static const Sampled sampled[] = {
    {&cases[0], "sources", "all", "exchange"},  {&cases[1], "targets", "auto", "exchange"},
    {&cases[2], "min", "auto", "auto"},         {&cases[3], "min", "auto", "auto"},
    {&cases[4], "replicas", "all", "exchange"}, {&cases[5], "targets", "auto", "exchange"},
};

static Config config_of(const Sampled *s) {
    Config config = case_config(s->of);
    snprintf(config.lossless.cover, CONFIG_WORD, "%s", s->cover);
    snprintf(config.lossless.receptive_field, CONFIG_WORD, "%s", s->rows);
    snprintf(config.lossless.input_features, CONFIG_WORD, "%s", s->features);
    config.comm.sample = probability;
    return config;
}

// The rank of every node, or hyperedge.
static int64_t *owners(const TestGraph *w, int set, int64_t count) {
    int64_t *owner = TEST_ARRAY(int64_t, count);
    const RowSet *own = &w->shard.set[set];
    for (int64_t i = 0; i < own->own; i++)
        owner[own->gid[i]] = test_comm.rank;
    comm_sum_int64(&test_comm, owner, (int)count);
    return owner;
}

// [targets, sources]: 1 inside of a rank; between two, 1 / P if the row travels. It is that of the
// source, for whoever reads it, or the partial aggregate for the target, of whoever makes it.
static double *factors(const TestGraph *w, uint32_t epoch, int relation, int sources, int targets,
                       bool partial) {
    int64_t counts[2] = {w->dataset.nodes, w->dataset.hyperedges};
    int64_t n = counts[sources], m = counts[targets];
    int64_t *from = owners(w, sources, n), *to = owners(w, targets, m);
    double *factor = TEST_ARRAY(double, n *m);
    RandomKey key = random_key(11, RANDOM_SAMPLE, epoch, relation, 0);
    for (int64_t t = 0; t < m; t++)
        for (int64_t s = 0; s < n; s++) {
            double u = random_uniform32(key, partial ? t : s, (int)(partial ? from[s] : to[t]), 0);
            factor[t * n + s] = from[s] == to[t] ? 1 : u < probability ? 1 / probability : 0;
        }
    return factor;
}

static void run_sampled(const Sampled *s) {
    OWNED(TestGraph) w = test_graph(s->of->graph, 42, &test_comm);
    Config config = config_of(s), plain = with_savings(config, 0, "");
    ModelShape shape = case_shape(s->of, &plain, &w.dataset); // the oracle's
    OracleGraph graph = oracle_graph(&w.dataset);
    bool targets = strcmp(s->cover, "targets") == 0, replicas = strcmp(s->cover, "replicas") == 0;
    bool hyper = w.dataset.hyperedges > 0;
    double *first = factors(&w, 3, 0, NODES, hyper ? HYPEREDGES : NODES, targets);
    double *second = hyper ? factors(&w, 3, 1, HYPEREDGES, NODES, targets || replicas) : NULL;
    graph.factor[0] = first;
    graph.factor[1] = second;
    graph.factor_layer = strcmp(s->features, "auto") == 0; // then features do not travel
    Truth want = truth_of_graph(&graph, &shape);
    run_schedules(s->of, &w, &config, "sampled", &want);
}

TEST(its_gradient_is_that_of_the_rows_that_were_drawn) {
    for (size_t i = 0; i < sizeof sampled / sizeof *sampled; i++)
        run_sampled(&sampled[i]);
}

// One layer reads, in the third epoch, what was drawn in the second.
TEST(stale_rows_are_those_that_were_drawn_for_their_epoch) {
    Sampled one = {&cases[6], "sources", "all", "exchange"};
    OWNED(TestGraph) w = test_graph(one.of->graph, 42, &test_comm);
    CLEARED(unmake) Made made = {0};
    Config config = config_of(&one);
    make(&made, one.of, &w, &config, "stale");
    float gradient[100];
    assert_true(made.shape.parameter_count <= 100);
    OracleGraph graph = oracle_graph(&w.dataset);
    double *factor = factors(&w, 2, 0, NODES, NODES, false);
    graph.factor[0] = factor;
    Truth want = truth_of_graph(&graph, &made.shape);
    to_device(made.p, want.p, parameter_bytes(&made));
    model_loss_and_gradient(made.model, made.p, made.gradient, 11, 2);
    gradsync_finish(made.sync, made.gradient);
    double loss = distributed(&made, want.p, gradient);
    compare(one.of, "the epoch before", &made.shape, loss, gradient, &want);
}

// On the channels of training, too.
TEST(evaluation_is_exact) {
    Case some[2] = {cases[0], cases[4]};
    for (int i = 0; i < 2; i++)
        some[i].setting = LOOPS "comm.sample=0.4";
    compare_inference(some, 2);
}
