// ranks: 1 2 3
// If this failed, sums of low rank would be others than their definition says, would forget what
// they leave out, die of a gradient that is zero, or send other bytes and take other memory than
// plans foresee.
#include "gradsync/internal.h"
#include "sums.h"

enum { COUNT = 37 * 23 + 23 + 9 * 50 + 3 * 40, SPANS = 4, RANKS_MOST = 3, LONGEST = 37 * 23 };
static const GradSpan span[SPANS] = {{"first", 0, 37, 23},
                                     {"bias", 37 * 23, 1, 23},
                                     {"second", 38 * 23, 9, 50},
                                     {"flat", 38 * 23 + 450, 3, 40}};

static GradForm form_of(int rank, bool remembers) {
    return (GradForm){.count = COUNT,
                      .rank = rank,
                      .remembers = remembers,
                      .spans = span,
                      .span_count = SPANS,
                      .seed = 5};
}

// ---- gradients

static float uniform(int rank, int64_t i, uint32_t round) {
    RandomKey key = random_key(9, RANDOM_GENERATE, round, 1, 0);
    return (float)(random_uniform32(key, i, 0, rank) - 0.5);
}

// Of rank 2 in each parameter, also the sum over ranks, in the same rows and columns always.
static float thin(int rank, int64_t i, uint32_t round) {
    int s = SPANS - 1;
    while (span[s].begin > i)
        s--;
    int64_t row = (i - span[s].begin) / span[s].columns;
    int64_t column = (i - span[s].begin) % span[s].columns;
    return (1 + uniform(rank, 0, round)) * uniform(5, row, 0) * uniform(6, column, 0) +
           (1 + uniform(rank, 1, round)) * uniform(7, row, 0) * uniform(8, column, 0);
}

static float nothing_first(int rank, int64_t i, uint32_t round) {
    return round == 0 ? 0 : thin(rank, i, round);
}

// ---- the definition, in double, for one parameter

typedef struct Oracle {
    int rank;
    bool remembers;
    double q[SPANS][50 * RANK_MOST];
    double error[SPANS][RANKS_MOST][LONGEST];
} Oracle;

static void oracle_init(Oracle *o, const GradForm *form) {
    RandomKey key = random_key(form->seed, RANDOM_GRADIENT, 0, 1, 0);
    memset(o, 0, sizeof *o);
    o->rank = form->rank;
    o->remembers = form->remembers;
    for (int s = 0; s < SPANS; s++)
        for (int64_t j = 0; j < span[s].columns; j++)
            for (int k = 0; k < o->rank; k++)
                o->q[s][j * o->rank + k] = random_normal(key, j, s, k);
}

// Gram-Schmidt; the columns of these gradients are far from each other.
static void orthonormalise(double *p, int64_t rows, int rank) {
    for (int k = 0; k < rank; k++)
        for (int j = 0; j <= k; j++) {
            double part = 0;
            for (int64_t i = 0; i < rows; i++)
                part += p[i * rank + j] * p[i * rank + k];
            for (int64_t i = 0; i < rows; i++)
                p[i * rank + k] =
                    j < k ? p[i * rank + k] - part * p[i * rank + j] : p[i * rank + k] / sqrt(part);
        }
}

// y [columns, rank] = m^T p
static void transposed_times(double *y, const double *m, const double *p, const GradSpan *w,
                             int rank) {
    memset(y, 0, (size_t)(w->columns * rank) * sizeof *y);
    for (int64_t i = 0; i < w->rows * w->columns; i++)
        for (int k = 0; k < rank; k++)
            y[i % w->columns * rank + k] += m[i] * p[i / w->columns * rank + k];
}

static double at(const double *p, const double *q, int64_t i, const GradSpan *w, int rank) {
    double value = 0;
    for (int k = 0; k < rank; k++)
        value += p[i / w->columns * rank + k] * q[i % w->columns * rank + k];
    return value;
}

// What is remembered and what there is, of each rank, and their sum.
static void oracle_shares(const Oracle *o, int s, Element of, uint32_t round,
                          double share[RANKS_MOST][LONGEST], double *sum) {
    for (int64_t i = 0; i < span[s].rows * span[s].columns; i++) {
        sum[i] = 0;
        for (int r = 0; r < test_comm.size; r++) {
            share[r][i] = (double)of(r, span[s].begin + i, round) + o->error[s][r][i];
            sum[i] += share[r][i];
        }
    }
}

static void oracle_sum(Oracle *o, int s, Element of, uint32_t round, float *out) {
    static double share[RANKS_MOST][LONGEST], sum[LONGEST], p[37 * RANK_MOST], q[50 * RANK_MOST];
    const GradSpan *w = &span[s];
    int64_t floats = w->rows * w->columns;
    oracle_shares(o, s, of, round, share, sum);
    memset(p, 0, sizeof p);
    for (int64_t i = 0; i < floats; i++)
        for (int k = 0; k < o->rank; k++)
            p[i / w->columns * o->rank + k] += sum[i] * o->q[s][i % w->columns * o->rank + k];
    orthonormalise(p, w->rows, o->rank);
    for (int r = 0; r < test_comm.size && o->remembers; r++) {
        transposed_times(q, share[r], p, w, o->rank);
        for (int64_t i = 0; i < floats; i++)
            o->error[s][r][i] = share[r][i] - at(p, q, i, w, o->rank);
    }
    transposed_times(o->q[s], sum, p, w, o->rank);
    for (int64_t i = 0; i < floats; i++)
        out[w->begin + i] = (float)at(p, o->q[s], i, w, o->rank);
}

static void oracle_gradient(Oracle *o, Element of, uint32_t round, float *out) {
    for (int s = 0; s < SPANS; s++)
        if (span[s].rows > o->rank && span[s].columns > o->rank)
            oracle_sum(o, s, of, round, out);
        else
            for (int64_t i = 0; i < span[s].rows * span[s].columns; i++)
                out[span[s].begin + i] = sum_at(of, span[s].begin + i, round);
}

// ---- the tests

static void assert_same_on_all_ranks(const float *gradient) {
    uint64_t mine = hash_bytes(gradient, COUNT * sizeof(float)), first = mine;
    comm_broadcast(&test_comm, &first, sizeof first, 0);
    int64_t others = mine != first;
    comm_sum_int64(&test_comm, &others, 1);
    assert_int_equal(others, 0);
}

static void assert_is_its_definition(int rank, bool remembers) {
    static Oracle oracle;
    static float gradient[COUNT + 1], want[COUNT];
    GradForm form = form_of(rank, remembers);
    OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &form);
    oracle_init(&oracle, &form);
    gradient[COUNT] = 42;
    for (uint32_t round = 0; round < 4; round++) {
        int64_t takes = memory_allocs();
        gradsync_begin(sync, 1 + round);
        make_and_sum(sync, gradient, uniform, COUNT, round);
        assert_int_equal(memory_allocs(), takes);
        oracle_gradient(&oracle, uniform, round, want);
        for (int s = 0; s < SPANS; s++)
            assert_close(gradient + span[s].begin, want + span[s].begin,
                         span[s].rows * span[s].columns,
                         2e-6 /* factors travel as floats, four times */);
        assert_same_on_all_ranks(gradient);
        assert_true(gradient[COUNT] == 42);
    }
}

TEST(sums_are_their_definition) {
    for (int rank = 1; rank <= 4 && test_comm.size > 1; rank++)
        for (int remembers = 0; remembers < 2; remembers++)
            assert_is_its_definition(rank, remembers);
}

// From the second sum on at the latest; the first of all may be zero.
static void assert_reproduced(Element of, int rank) {
    static float gradient[COUNT], want[COUNT];
    GradForm form = form_of(rank, true);
    OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &form);
    for (uint32_t round = 0; round < 3; round++) {
        gradsync_begin(sync, 1 + round);
        make_and_sum(sync, gradient, of, COUNT, round);
        for (int64_t i = 0; i < COUNT; i++)
            want[i] = sum_at(of, i, round);
        if (round > 0)
            assert_close(gradient, want, COUNT, 1e-5);
    }
}

TEST(matrices_of_that_rank_are_reproduced) {
    for (int rank = 2; rank <= 4; rank++)
        assert_reproduced(thin, rank);
}

TEST(a_zero_gradient_kills_no_window) { assert_reproduced(nothing_first, 2); }

static void assert_orthonormal(const float *p, int64_t rows, int rank) {
    for (int a = 0; a < rank; a++)
        for (int b = 0; b <= a; b++) {
            double sum = 0;
            for (int64_t i = 0; i < rows; i++)
                sum += (double)p[i * rank + a] * (double)p[i * rank + b];
            assert_near(sum, a == b, 1e-6);
        }
}

// Columns that nearly agree; one that is the sum of two; one that is no number.
TEST(columns_become_orthonormal) {
    enum { ROWS = 40, RANK = 3 };
    float p[ROWS * RANK];
    double scratch[ROWS * RANK];
    for (int i = 0; i < ROWS; i++) {
        p[i * RANK] = uniform(0, i, 0);
        p[i * RANK + 1] = p[i * RANK] + 1e-3F * uniform(1, i, 0);
        p[i * RANK + 2] = uniform(2, i, 0);
    }
    assert_true(factors_orthonormal(p, ROWS, RANK, scratch));
    assert_orthonormal(p, ROWS, RANK);
    for (int i = 0; i < ROWS; i++) {
        p[i * RANK] = p[i * RANK + 1] = (float)i;
        p[i * RANK + 2] = 0;
    }
    assert_true(factors_orthonormal(p, ROWS, RANK, scratch));
    for (int i = 0; i < ROWS; i++)
        assert_true(p[i * RANK + 1] == 0 && p[i * RANK + 2] == 0);
    p[7 * RANK] = NAN;
    assert_false(factors_orthonormal(p, ROWS, RANK, scratch));
}

// GCN on reddit, with or without layer normalization: floats of factors, and of vectors.
static void assert_share_of_bytes(bool norms, double share) {
    static const int64_t width[] = {602, 256, 256, 41};
    GradSpan all[12];
    GradForm form = {.rank = 4, .spans = all};
    int64_t floats = 0;
    for (int l = 0; l < 3; l++) {
        const int64_t rows[] = {width[l], 1, 1, 1};
        int parameters = norms && l < 2 ? 4 : 2;
        for (int k = 0; k < parameters; k++) {
            all[form.span_count++] = (GradSpan){"", form.count, rows[k], width[l + 1]};
            form.count += rows[k] * width[l + 1];
        }
        floats += 4 * (width[l] + width[l + 1]) + (parameters - 1) * width[l + 1];
    }
    assert_int_equal(gradsync_bytes_most_of(&form, 4), 8 * 3 * floats);
    assert_near((double)floats / (double)form.count, share, 5e-5);
}

TEST(bytes_and_memory_are_foreseen) {
    assert_share_of_bytes(false, 0.0313);
    assert_share_of_bytes(true, 0.0356);
    for (int rank = 1; rank <= RANK_MOST; rank++)
        for (int remembers = 0; remembers < 2; remembers++) {
            GradForm form = form_of(rank, remembers);
            assert_plan_is_what_is_taken(&form);
        }
}
