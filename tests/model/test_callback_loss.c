// ranks: 1 2 3; also on fenced
// If this failed, a loss that code gives would reach the model wrongly: gradients would not be
// those of a dense double-precision oracle, or rows outside the training nodes' reach would be left
// out.
#include "gradients.h"

enum { NODES_MOST = 97, COLUMNS = 5 };

static double wanted_at(int64_t gid, int64_t column) {
    return (double)((gid * 31 + column * 17) % 13 - 6) / 8;
}

typedef struct Squares { // 1/2 |Z - wanted|^2 of the own rows
    const Shard *shard;
    float z[NODES_MOST * COLUMNS]; // logits, then the gradient
    double sum;
    int64_t calls;
} Squares;

static void squares(void *context, DeviceDouble *loss, Rows g, Rows logits) {
    Squares *s = context;
    const Backend *b = device();
    assert_int_equal(logits.count, s->shard->set[NODES].own);
    b->download_rows(s->z, logits);
    b->finish(NULL);
    s->sum = 0;
    for (int64_t i = 0; i < logits.count * COLUMNS; i++) {
        double d = (double)s->z[i] - wanted_at(s->shard->set[NODES].gid[i / COLUMNS], i % COLUMNS);
        s->z[i] = (float)d;
        s->sum += d * d / 2;
    }
    b->upload_rows(g, s->z);
    b->upload(loss, &s->sum, sizeof s->sum);
    b->finish(NULL);
    s->calls++;
}

static Squares state;
static const LossCallback by_squares = {squares, &state};

static const Case cases[] = {
    {"gcn", SYMMETRIC, 3, "dropout,norm,activation", 0.5, 0, FIRST("")},
    {"gcn, several labels, directed",
     {.nodes = 97, .degree = 6, .directed = true, .multilabel = true, .features = 13, .classes = 5},
     2,
     "activation",
     0,
     0,
     FIRST("")},
    {"sage-mean", DIRECTED, 2, "norm,activation", 0, 0, AUTO("")},
};

static Truth callback_truth(const TestGraph *w, const ModelShape *shape) {
    static double wanted[NODES_MOST * COLUMNS];
    for (int64_t i = 0; i < NODES_MOST * COLUMNS; i++)
        wanted[i] = wanted_at(i / COLUMNS, i % COLUMNS);
    OracleGraph graph = oracle_graph(&w->dataset);
    graph.wanted = wanted;
    return truth_of_graph(&graph, shape);
}

// All schedules and savings, the receptive field of the training nodes among them.
TEST(gradients_equal_the_oracle) {
    case_loss = &by_squares;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        OWNED(TestGraph) w = test_graph(c->graph, 42, &test_comm);
        state = (Squares){.shard = &w.shard};
        Config config = case_config(c), saving = with_savings(config, ALL_SAVINGS, "min");
        ModelShape shape = case_shape(c, &config, &w.dataset);
        Truth want = callback_truth(&w, &shape);
        run_schedules(c, &w, &config, "as published", &want);
        run_schedules(c, &w, &saving, "all savings", &want);
        run_savings(c, &w, &config, &want);
        assert_true(state.calls > 0);
    }
    case_loss = NULL;
}

// Nothing is measured of a split, and the callback is not asked.
TEST(it_has_no_scores) {
    Metrics metrics[4];
    case_loss = &by_squares;
    OWNED(TestGraph) w = test_graph(cases[0].graph, 42, &test_comm);
    state = (Squares){.shard = &w.shard};
    Config config = case_config(&cases[0]);
    CLEARED(unmake) Made made = {0};
    make(&made, &cases[0], &w, &config, "blocking");
    float *p = TEST_ARRAY(float, made.shape.parameter_count);
    some_parameters(&made.shape, p);
    to_device(made.p, p, parameter_bytes(&made));
    model_metrics(made.model, model_infer(made.model, made.p), metrics);
    for (int split = 0; split < 4; split++)
        assert_int_equal(metrics[split].rows, 0);
    assert_int_equal(state.calls, 0);
    case_loss = NULL;
}
