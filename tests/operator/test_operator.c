// ranks: 1 2 3 4; also on fenced
// If this failed, an operator could not be used without a model: a random walk would not be that of
// the dense matrix, or a method of its own would not get every edge once, with the rows of both its
// ends; or one that reads halo rows before they are there would go unnoticed.
#include "both_ends.h"
#include "random_walk.h"

// What an operator may be used for: a row for each.
typedef struct Use {
    const char *name;
    Rows (*run)(const Applied *a, const char *schedule);
    double *(*dense)(const Applied *a);
    bool transposed;
    Cover cover;
} Use;

static const Use uses[] = {
    {"random walk", random_walk, random_walk_dense, true, COVER_SOURCES},
    {"random walk, partial aggregates", random_walk, random_walk_dense, true, COVER_MIN},
    {"both ends", both_ends_run, both_ends_dense, false, COVER_SOURCES},
};

static const TestGraphKind graph = {
    .nodes = 97, .degree = 6, .directed = true, .weighted = true, .features = 2, .classes = 2};

static void check_use(const Use *use, const char *schedule) {
    CLEARED(applied_clear) Applied a = {0};
    applied_init(&a, graph, use->cover, "mean", use->transposed);
    Rows made = use->run(&a, schedule);
    double *dense = use->dense(&a);
    double off = distance_to(&a, made, dense);
    if (!(off <= 1e-4))
        fail_msg("%s, %s: off by %g", use->name, schedule, off);
}

TEST(operators_need_no_model) {
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        check_use(&uses[i], "blocking");
        check_use(&uses[i], "overlap");
        check_use(&uses[i], "central");
    }
}

// The aggregate, but all halo rows are read with those of the first round.
static void hasty_halo(const OperatorStep *step, Rows halo, int begin, int end, bool last,
                       const Poll *poll) {
    (void)end;
    operator_aggregate.halo(step, halo, begin, step->op->block.pattern->plan.size - 1, last, poll);
}

TEST(hasty_reads_are_noticed) {
    if (test_comm.size < 3) // one round: it cannot come too early
        return;
    CLEARED(applied_clear) Applied a = {0};
    applied_init(&a, graph, COVER_SOURCES, "mean", false);
    Operator hasty = operator_aggregate;
    hasty.halo = hasty_halo;
    Rows x = start_rows(&a), right = zeroed_rows(x.count, WIDTH),
         wrong = zeroed_rows(x.count, WIDTH);
    applied_run(&a, &hasty, "overlap", x, wrong);
    applied_run(&a, &operator_aggregate, "overlap", x, right);
    double *mean = oracle_aggregation(&a.dense, "mean"), *dense = oracle_matrix(a.dense.n, WIDTH);
    double *start = oracle_matrix(a.dense.n, WIDTH);
    for (int i = 0; i < a.dense.n * WIDTH; i++)
        start[i] = start_value(i / WIDTH, i % WIDTH);
    oracle_product(dense, mean, false, start, false, a.dense.n, a.dense.n, WIDTH);
    assert_true(distance_to(&a, right, dense) <= 1e-4);
    assert_true(distance_to(&a, wrong, dense) > 1e-2);
}
