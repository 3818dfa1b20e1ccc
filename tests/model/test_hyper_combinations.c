// ranks: 1 3
// If this failed, some combination of layer, hypergraph, saving, schedule and codec would have
// another loss or gradient than the dense oracle, though each of them alone may be right.
#include "gradients.h"

// on each number of ranks; of every value of every factor
enum { COMBINATIONS = UNDER_SANITIZERS(16, 48), LEAST = COMBINATIONS / 5 + 1 };

typedef struct Factor {
    const char *name;
    int values;
} Factor;

// clang-format off
enum { LAYER, ROLES, WEIGHTS, LABELS, DEPTH, HIDDEN, POST, INPUT_DROPOUT,
       FEATURES_ONCE, TRANSFORM, FIELD, COVERS, SCHEDULE, CODEC, CUT, FACTORS };
static const Factor factors[FACTORS] = {
    {"layer", 3}, {"roles", 2}, {"weights", 2}, {"labels", 2}, {"depth", 3}, {"hidden", 2},
    {"post", 3}, {"input dropout", 2}, {"features once", 2}, {"transform first", 2},
    {"receptive field", 2}, {"cover", 4}, {"schedule", 3}, {"codec", 2}, {"cut", 2},
};
// clang-format on

static double draw(int what, int64_t row, int64_t column) {
    return random_uniform32(random_key(23, RANDOM_GENERATE, 0, what, 0), row, 0, column);
}

// The value of a factor: every `values` combinations in a row have each of them once, in an order
// of their own.
static int value_of(int factor, int combination) {
    int values = factors[factor].values, block = combination / values, rank = 0;
    double mine = draw(factor, block, combination % values);
    for (int k = 0; k < values; k++)
        rank += draw(factor, block, k) < mine;
    return rank;
}

static int all_on_one(int64_t node, int parts) {
    (void)node, (void)parts;
    return 0;
}

typedef struct Combination {
    int value[FACTORS];
    Case c;
    char name[256];
} Combination;

static void describe(Combination *all) {
    const char *layer = all->value[LAYER] == 2 ? "hnhn" : "hgnn";
    size_t used = (size_t)snprintf(all->name, sizeof all->name, "%s", layer);
    for (int f = 0; f < FACTORS; f++)
        used += (size_t)snprintf(all->name + used, sizeof all->name - used, ", %s %d",
                                 factors[f].name, all->value[f]);
}

static Combination combination_of(int number) {
    static const char *const posts[] = {"", "activation", "dropout,norm,activation"};
    Combination all = {0};
    for (int f = 0; f < FACTORS; f++)
        all.value[f] = value_of(f, number);
    const int *v = all.value;
    TestGraphKind graph = {.nodes = 53,
                           .hyperedges = 41,
                           .degree = 4,
                           .features = 11,
                           .classes = 5,
                           .directed = v[ROLES],
                           .weighted = v[WEIGHTS],
                           .multilabel = v[LABELS],
                           .cut = v[CUT] ? all_on_one : NULL};
    double of_input = v[INPUT_DROPOUT] ? 0.2 : 0;
    const char *norm = v[LAYER] == 1 ? "model.norm_hyper=row" : "model.norm_hyper=sym";
    all.c = (Case){"", graph, 1 + v[DEPTH], posts[v[POST]], 0.3, of_input, FIRST(norm)};
    describe(&all);
    return all;
}

// A unit of ReLU whose sum bf16 rounds to the other side of 0 has another gradient, so bf16 goes
// without.
static Config plain_config(const Combination *all) {
    const int *v = all->value;
    Config config = case_config(&all->c);
    config.model.hidden = (ConfigInts){1, {v[HIDDEN] ? 17 : 7}};
    snprintf(config.quantization.codec, CONFIG_WORD, "%s", v[CODEC] ? "bf16" : "fp32");
    if (v[CODEC])
        snprintf(config.model.activation, CONFIG_WORD, "none");
    return config;
}

static Config config_of(const Combination *all) {
    static const char *const covers[] = {"sources", "targets", "replicas", "min"};
    const int *v = all->value;
    int savings = (v[FEATURES_ONCE] ? LAYER0 : 0) | (v[TRANSFORM] ? ORDER : 0) |
                  (v[FIELD] ? TRAIN_ROWS : 0) | COVER;
    return with_savings(plain_config(all), savings, covers[v[COVERS]]);
}

static void compare_combination(const Combination *all, const ModelShape *shape, double loss,
                                const float *g, const Truth *want) {
    if (all->value[CODEC])
        compare_bf16(&all->c, shape, loss, g, want);
    else
        compare(&all->c, "fp32", shape, loss, g, want);
}

static void try_combination(const Combination *all, const TestGraph *w) {
    static const char *const schedules[] = {"blocking", "overlap", "central"};
    Config config = config_of(all), plain = plain_config(all);
    Truth want = truth_of(&all->c, w, &plain);
    CLEARED(unmake) Made made = {0};
    make(&made, &all->c, w, &config, schedules[all->value[SCHEDULE]]);
    float *g = TEST_ARRAY(float, made.shape.parameter_count);
    double loss = distributed(&made, want.p, g);
    compare_combination(all, &made.shape, loss, g, &want);
}

TEST(every_combination_equals_the_oracle) {
    int seen[FACTORS][8] = {{0}};
    for (int i = 0; i < COMBINATIONS; i++) {
        Combination all = combination_of(i);
        all.c.name = all.name;
        OWNED(TestGraph) w = test_graph(all.c.graph, 100 + (uint64_t)i, &test_comm);
        try_combination(&all, &w);
        for (int f = 0; f < FACTORS; f++)
            seen[f][all.value[f]]++;
    }
    for (int f = 0; f < FACTORS; f++)
        for (int v = 0; v < factors[f].values; v++)
            assert_true(seen[f][v] >= LEAST);
}
