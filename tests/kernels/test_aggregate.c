// ranks: 1
// If this failed, a node would get the wrong sum of its neighbours, or one that depends on threads,
// vector width, column panels or the order in which messages arrive.
#include "kernels.h"
#include <math.h>
#include <stdio.h>

static const char *const vectors[] = {"plain", "avx2", "avx512"};
static const char *const panels[] = {"rows", "128", "64", "32", "16", "auto"};
enum { VECTORS = 3, PANELS = 6 };

static bool vectors_start(const char *name) {
    Error err = {0};
    return backend_cpu.start(name, &err);
}

// ---- a graph and its numbers

// In [-0.5, 0.5), from a hash of where it stands (lowbias32, C. Wellons).
static float number(int64_t row, int64_t column, uint32_t what) {
    uint32_t x = (uint32_t)row * 0x9e3779b9U ^ (uint32_t)column * 0x85ebca6bU ^ what << 28;
    x = (x ^ x >> 16) * 0x7feb352dU;
    x = (x ^ x >> 15) * 0x846ca68bU;
    return (float)((x ^ x >> 16) >> 8) * 0x1p-24F - 0.5F;
}

// degree[i] ascending columns, spread over `sources`.
static Csr csr_make(int64_t rows, const int64_t *degree, int64_t sources, bool weighted) {
    Csr csr = {.rows = rows, .offset = ALLOC(int64_t, rows + 1, "offsets")};
    for (int64_t i = 0; i < rows; i++)
        csr.offset[i + 1] = csr.offset[i] + degree[i];
    csr.column = ALLOC(int32_t, csr.offset[rows], "columns");
    for (int64_t i = 0; i < rows; i++) {
        int64_t e = csr.offset[i], need = degree[i];
        for (int64_t j = 0; j < sources && need > 0; j++) // selection sampling: need of sources - j
            if ((number(i, j, 1) + 0.5) * (double)(sources - j) < (double)need) {
                csr.column[e++] = (int32_t)j;
                need--;
            }
        assert_int_equal(e, csr.offset[i + 1]);
    }
    if (weighted) {
        csr.weight = ALLOC(float, csr.offset[rows], "weights");
        for (int64_t e = 0; e < csr.offset[rows]; e++)
            csr.weight[e] = number(e, 0, 2);
    }
    return csr;
}

static void csr_clear(Csr *csr) {
    memory_free(csr->offset);
    memory_free(csr->column);
    memory_free(csr->weight);
}

static Rows rows_make(int64_t count, int64_t columns, uint32_t what) {
    Rows x = rows_alloc(device(), count, columns, "rows of a test");
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < columns; c++)
            floats(x)[i * x.stride + c] = number(i, c, what);
    return x;
}

static float *factors_make(int64_t count, uint32_t what) {
    float *factor = ALLOC(float, count, "factors of a test");
    for (int64_t i = 0; i < count; i++)
        factor[i] = number(i, 0, what) + 1;
    return factor;
}

typedef struct Problem {
    Csr csr;
    Rows x;
    const float *left, *right;
    bool self;
} Problem;

// The promise of backend.h, written down: the same additions in the same order.
static void plain_reference(Rows out, const Problem *p) {
    for (int64_t i = 0; i < p->csr.rows; i++)
        for (int64_t c = 0; c < out.columns; c++) {
            float sum = 0;
            if (p->self)
                sum = (p->right != NULL ? p->right[i] : 1) * floats(p->x)[i * p->x.stride + c];
            for (int64_t e = p->csr.offset[i]; e < p->csr.offset[i + 1]; e++) {
                int64_t j = p->csr.column[e];
                float term =
                    (p->right != NULL ? p->right[j] : 1) * floats(p->x)[j * p->x.stride + c];
                sum += (p->csr.weight != NULL ? p->csr.weight[e] : 1) * term;
            }
            floats(out)[i * out.stride + c] = (p->left != NULL ? p->left[i] : 1) * sum;
        }
}

// Every element of out against the formula in double. The error of n additions and 3 products in
// any order is below (n + 4) * 2^-24 times the sum of the absolute terms.
static void assert_near_oracle(Rows out, const Problem *p) {
    for (int64_t i = 0; i < p->csr.rows; i++)
        for (int64_t c = 0; c < out.columns; c++) {
            double sum = 0, size = 0, left = p->left != NULL ? p->left[i] : 1;
            int64_t begin = p->csr.offset[i], end = p->csr.offset[i + 1];
            for (int64_t e = begin - (p->self ? 1 : 0); e < end; e++) {
                int64_t j = e < begin ? i : p->csr.column[e];
                double term = (double)floats(p->x)[j * p->x.stride + c];
                term *= p->right != NULL ? (double)p->right[j] : 1;
                term *= e >= begin && p->csr.weight != NULL ? (double)p->csr.weight[e] : 1;
                sum += term;
                size += fabs(term);
            }
            double bound = (double)(end - begin + 4) * ldexp(1, -24) * size * fabs(left);
            assert_true(fabs((double)floats(out)[i * out.stride + c] - left * sum) <= bound);
        }
}

static void assert_same_bits(Rows a, Rows b, const char *what) {
    if (!rows_equal(a, b))
        fail_msg("other bits: %s", what);
}

static Aggregate *aggregate_ready(const Problem *p, const char *width, Rows out) {
    Aggregate *aggregate = backend_cpu.aggregate_new(&p->csr, p->x.count, p->x.columns, width);
    if (strcmp(width, "auto") == 0) { // tuning may overwrite its rows
        Rows scratch = rows_alloc(device(), p->x.count, p->x.columns, "rows to tune with");
        backend_cpu.aggregate_tune(aggregate, out, scratch);
        rows_free(device(), &scratch);
    }
    backend_cpu.aggregate_prepare(aggregate, p->x, on_device(p->right), NULL);
    return aggregate;
}

static void run(Rows out, const Problem *p, const char *width) {
    Aggregate *aggregate = aggregate_ready(p, width, out);
    rows_dirty(out);
    backend_cpu.aggregate_rows(aggregate, out, (Range){0, p->csr.rows}, p->self, on_device(p->left),
                               NULL);
    backend_cpu.aggregate_free(aggregate);
}

enum { ROWS = 24, SOURCES = 1100 };
static const int64_t degrees[ROWS] = {0, 1, 1000, 3, 0,  0, 17, 2, 5, 40, 1, 8,
                                      9, 0, 70,   4, 11, 6, 30, 1, 7, 12, 0, 0};

// Problem number `combination` of 16: weights, left, right, self.
static Problem problem_make(int combination, int64_t columns) {
    return (Problem){.csr = csr_make(ROWS, degrees, SOURCES, combination & 1),
                     .x = rows_make(SOURCES, columns, 3),
                     .left = combination & 2 ? factors_make(ROWS, 4) : NULL,
                     .right = combination & 4 ? factors_make(SOURCES, 5) : NULL,
                     .self = combination & 8};
}

static void problem_clear(Problem *p) {
    csr_clear(&p->csr);
    rows_free(device(), &p->x);
    memory_free((void *)(uintptr_t)p->left);
    memory_free((void *)(uintptr_t)p->right);
}

// ---- tests

static void check_problem(int combination, int64_t columns, bool all_panels) {
    Problem p = problem_make(combination, columns);
    Rows expected = rows_alloc(device(), ROWS, columns, "expected"),
         out = rows_alloc(device(), ROWS, columns, "found");
    plain_reference(expected, &p);
    assert_near_oracle(expected, &p);
    for (int v = 0; v < VECTORS; v++)
        for (int w = 0; w < (all_panels ? PANELS : 1) && vectors_start(vectors[v]); w++) {
            char what[96];
            snprintf(what, sizeof what, "%s, %s, width %d, combination %d", vectors[v], panels[w],
                     (int)columns, combination);
            run(out, &p, panels[w]);
            assert_same_bits(expected, out, what); // padding is zero in both
        }
    rows_free(device(), &out);
    rows_free(device(), &expected);
    problem_clear(&p);
}

static void every_width_and_every_factor(void **state) {
    (void)state;
    static const int64_t wide[] = {128, 200, 256, 300, 602};
    omp_set_num_threads(1);
    for (int combination = 0; combination < 16; combination++) {
        for (int64_t columns = 1; columns <= 70; columns++)
            check_problem(combination, columns, columns % 16 == 1);
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
            check_problem(combination, wide[i], true);
    }
}

// Enough rows for several blocks of several threads, and for aggregate_tune to measure.
enum { MANY = 3000 };
static Problem large_problem(int64_t columns) {
    int64_t *degree = ALLOC(int64_t, MANY, "degrees");
    for (int64_t i = 0; i < MANY; i++)
        degree[i] = i % 5 * (i % 7);
    Problem p = {.csr = csr_make(MANY, degree, MANY, true),
                 .x = rows_make(MANY, columns, 3),
                 .left = factors_make(MANY, 4),
                 .right = factors_make(MANY, 5),
                 .self = true};
    memory_free(degree);
    return p;
}

static void threads_and_tuning_change_no_bit(void **state) {
    (void)state;
    enum { WIDE = 400 }; // a table that aggregate_tune does not take for small
    Problem p = large_problem(WIDE);
    Rows expected = rows_alloc(device(), MANY, WIDE, "expected"),
         out = rows_alloc(device(), MANY, WIDE, "found");
    plain_reference(expected, &p);
    for (int threads = 1; threads <= 3; threads++)
        for (int w = 0; w < PANELS; w++) {
            omp_set_num_threads(threads);
            run(out, &p, panels[w]);
            assert_same_bits(expected, out, panels[w]);
        }
    rows_free(device(), &out);
    rows_free(device(), &expected);
    problem_clear(&p);
}

static void ranges_leave_other_rows_alone(void **state) {
    (void)state;
    enum { WIDE = 48 };
    omp_set_num_threads(2);
    Problem p = large_problem(WIDE);
    Rows expected = rows_alloc(device(), MANY, WIDE, "expected"),
         out = rows_alloc(device(), MANY, WIDE, "found");
    plain_reference(expected, &p);
    for (int w = 0; w < PANELS; w++) {
        const int64_t bound[] = {0, 0, 1, 64, 200, 201, 2900, MANY};
        const int order[] = {5, 0, 3, 6, 1, 2, 4};
        Aggregate *aggregate = aggregate_ready(&p, panels[w], out);
        rows_dirty(out);
        for (int r = 0; r < 7; r++) {
            int64_t begin = bound[order[r]], end = bound[order[r] + 1];
            float after = end < MANY ? floats(out)[end * out.stride] : 0;
            float before = begin > 0 ? floats(out)[begin * out.stride - 1] : 0;
            backend_cpu.aggregate_rows(aggregate, out, (Range){begin, end}, p.self,
                                       on_device(p.left), NULL);
            if (end < MANY)
                assert_memory_equal(&after, floats(out) + end * out.stride, sizeof after);
            if (begin > 0)
                assert_memory_equal(&before, floats(out) + begin * out.stride - 1, sizeof before);
        }
        assert_same_bits(expected, out, panels[w]);
        backend_cpu.aggregate_free(aggregate);
    }
    rows_free(device(), &out);
    rows_free(device(), &expected);
    problem_clear(&p);
}

// ---- halo: own columns are the first OWN of p's, halo columns the rest

enum { OWN = 700, HALO = SOURCES - OWN };

typedef struct Parts {
    Csr own, halo;
    int32_t *rows;            // of halo's rows
    HaloAggregate *aggregate; // of halo: goes again with every pass
    Rows sent;                // right * x of the halo columns, as messages carry them
    Rows landed;              // those that have arrived; the others are NaN
} Parts;

// Splits the edges by column. Weights go along.
static Csr part_of(const Csr *csr, bool is_halo, int32_t *rows) {
    const int64_t edges = csr->offset[csr->rows];
    Csr part = {.offset = ALLOC(int64_t, csr->rows + 1, "offsets"),
                .column = ALLOC(int32_t, edges, "columns"),
                .weight = csr->weight != NULL ? ALLOC(float, edges, "weights") : NULL};
    int64_t count = 0;
    for (int64_t i = 0; i < csr->rows; i++) {
        int64_t before = count;
        for (int64_t e = csr->offset[i]; e < csr->offset[i + 1]; e++)
            if (is_halo == (csr->column[e] >= OWN)) {
                if (part.weight != NULL)
                    part.weight[count] = csr->weight[e];
                part.column[count++] = csr->column[e] - (is_halo ? OWN : 0);
            }
        if (is_halo && count == before)
            continue;
        if (is_halo)
            rows[part.rows] = (int32_t)i;
        part.offset[++part.rows] = count;
    }
    return part;
}

static void parts_make(Parts *made, const Problem *p) {
    Parts parts = {.rows = ALLOC(int32_t, p->csr.rows, "halo rows"),
                   .sent = rows_alloc(device(), HALO, p->x.columns, "sent rows"),
                   .landed = rows_alloc(device(), HALO, p->x.columns, "landed rows")};
    parts.own = part_of(&p->csr, false, NULL);
    parts.halo = part_of(&p->csr, true, parts.rows);
    for (int64_t j = 0; j < HALO; j++)
        for (int64_t c = 0; c < p->x.columns; c++)
            floats(parts.sent)[j * parts.sent.stride + c] =
                (p->right != NULL ? p->right[OWN + j] : 1) *
                floats(p->x)[(OWN + j) * p->x.stride + c];
    *made = parts;
    made->aggregate = backend_cpu.aggregate_halo_new(&made->halo, made->rows);
}

static void parts_clear(Parts *parts) {
    backend_cpu.aggregate_halo_free(parts->aggregate);
    csr_clear(&parts->own);
    csr_clear(&parts->halo);
    memory_free(parts->rows);
    rows_free(device(), &parts->sent);
    rows_free(device(), &parts->landed);
}

// Own part, then the halo part in `calls` calls that end at bound[0], bound[1], ... , HALO.
static void run_parts(Rows out, const Problem *p, Parts *parts, const int64_t *bound, int calls) {
    Aggregate *aggregate = backend_cpu.aggregate_new(&parts->own, OWN, p->x.columns, "32");
    rows_dirty(out);
    Rows own = rows_first(p->x, OWN);
    backend_cpu.aggregate_prepare(aggregate, own, on_device(p->right), NULL);
    backend_cpu.aggregate_rows(aggregate, out, (Range){0, p->csr.rows}, p->self, NULL, NULL);
    backend_cpu.aggregate_free(aggregate);
    backend_cpu.aggregate_halo_begin(parts->aggregate);
    rows_dirty(parts->landed);
    for (int i = 0; i < calls; i++) {
        memcpy(floats(parts->landed), floats(parts->sent), rows_bytes(bound[i], p->x.columns));
        backend_cpu.aggregate_halo(parts->aggregate, out, parts->landed, bound[i],
                                   i == calls - 1 ? on_device(p->left) : NULL, NULL);
    }
}

// What one pass over all edges gives: rows without halo edges keep their unscaled own sum.
static void expect_parts(Rows expected, Problem p, const Parts *parts) {
    const float *left = p.left;
    p.left = NULL;
    plain_reference(expected, &p);
    for (int64_t k = 0; k < parts->halo.rows && left != NULL; k++)
        for (int64_t c = 0; c < expected.columns; c++)
            floats(expected)[parts->rows[k] * expected.stride + c] *= left[parts->rows[k]];
}

static void halo_in_any_pieces_is_one_pass(void **state) {
    (void)state;
    static const int64_t widths[] = {5, 48, 130, 300};
    for (int combination = 0; combination < 16; combination++)
        for (int v = 0; v < VECTORS && vectors_start(vectors[v]); v++) {
            const int64_t columns = widths[(combination + v) % 4];
            Problem p = problem_make(combination, columns);
            Parts parts;
            parts_make(&parts, &p);
            Rows expected = rows_alloc(device(), ROWS, columns, "expected");
            Rows out = rows_alloc(device(), ROWS, columns, "found");
            expect_parts(expected, p, &parts);
            for (int64_t cut = 0; cut <= HALO; cut += combination == 15 ? 1 : 29) {
                omp_set_num_threads(1 + (int)cut % 3);
                int64_t two[] = {cut, HALO}, four[] = {cut / 3, cut, (cut + HALO) / 2, HALO};
                run_parts(out, &p, &parts, two, 2);
                assert_same_bits(expected, out, "halo part in two calls");
                run_parts(out, &p, &parts, four, 4);
                assert_same_bits(expected, out, "halo part in four calls");
            }
            rows_free(device(), &out);
            rows_free(device(), &expected);
            parts_clear(&parts);
            problem_clear(&p);
        }
}

// ---- what it may take and whom it may call

static void memory_is_as_predicted_and_taken_once(void **state) {
    (void)state;
    enum { WIDE = 400 };
    Problem p = large_problem(WIDE);
    Rows out = rows_alloc(device(), MANY, WIDE, "found"),
         scratch = rows_alloc(device(), MANY, WIDE, "scratch");
    for (int w = 0; w < PANELS; w++) {
        size_t before = memory_in_use();
        Aggregate *aggregate = backend_cpu.aggregate_new(&p.csr, MANY, WIDE, panels[w]);
        assert_true(memory_in_use() - before <= backend_cpu.aggregate_bytes(MANY, WIDE, panels[w]));
        int64_t takes = memory_allocs();
        backend_cpu.aggregate_tune(aggregate, out, scratch);
        backend_cpu.aggregate_prepare(aggregate, p.x, on_device(p.right), NULL);
        backend_cpu.aggregate_rows(aggregate, out, (Range){0, MANY}, true, NULL, NULL);
        assert_int_equal(memory_allocs(), takes);
        char says[32];
        snprintf(says, sizeof says, w == 0 ? "whole rows" : "panels of %s", panels[w]);
        if (strcmp(panels[w], "auto") != 0)
            assert_string_equal(backend_cpu.aggregate_describe(aggregate, WIDE), says);
        assert_string_equal(backend_cpu.aggregate_describe(aggregate, 16), "whole rows");
        backend_cpu.aggregate_free(aggregate);
        assert_int_equal(memory_in_use(), before);
    }
    rows_free(device(), &scratch);
    rows_free(device(), &out);
    problem_clear(&p);
}

typedef struct Calls {
    int count, elsewhere; // by thread 0, by another
} Calls;
static void count_call(void *context) {
    Calls *calls = (Calls *)context;
    if (omp_get_thread_num() == 0)
        calls->count++;
    else
        calls->elsewhere++;
}

static void poll_is_called_from_thread_0_while_it_works(void **state) {
    (void)state;
    omp_set_num_threads(2);
    Problem p = large_problem(256);
    Rows out = rows_alloc(device(), MANY, 256, "found");
    for (int w = 0; w < PANELS; w++) {
        Aggregate *aggregate = aggregate_ready(&p, panels[w], out);
        Calls calls = {0, 0};
        Poll poll = {count_call, &calls};
        double begin = clock_seconds(); // on a loaded machine thread 0 may get few of the blocks
        for (int i = 0; i < 1000 && (calls.count < 5 || clock_seconds() - begin < 0.02); i++)
            backend_cpu.aggregate_rows(aggregate, out, (Range){0, MANY}, true, on_device(p.left),
                                       &poll);
        assert_true(calls.count >= 5);
        assert_int_equal(calls.elsewhere, 0);
        backend_cpu.aggregate_free(aggregate);
    }
    rows_free(device(), &out);
    problem_clear(&p);
}

static void names_are_checked(void **state) {
    (void)state;
    Error err = {0};
    assert_ptr_equal(backend_find("cpu", &err), &backend_cpu);
    assert_null(backend_find("abacus", &err));
    assert_non_null(strstr(err.text, "cpu"));
    err = (Error){0};
    assert_false(backend_cpu.start("avx1024", &err));
    assert_non_null(strstr(err.text, "avx512"));
    assert_int_equal(err.code, EXIT_CONFIG);
    assert_true(vectors_start("auto"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_width_and_every_factor),
    cmocka_unit_test(threads_and_tuning_change_no_bit),
    cmocka_unit_test(ranges_leave_other_rows_alone),
    cmocka_unit_test(halo_in_any_pieces_is_one_pass),
    cmocka_unit_test(memory_is_as_predicted_and_taken_once),
    cmocka_unit_test(poll_is_called_from_thread_0_while_it_works),
    cmocka_unit_test(names_are_checked),
};
TEST_MAIN(tests)
