// If this failed, the sum of a node's neighbours would depend on the order in which messages
// arrive.
#include "aggregates.h"

// Own columns are the first OWN of p's, halo columns the rest.
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
    Csr part = {.offset = TEST_ARRAY(int64_t, csr->rows + 1),
                .column = TEST_ARRAY(int32_t, edges),
                .weight = csr->weight != NULL ? TEST_ARRAY(float, edges) : NULL};
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
    Parts parts = {.rows = TEST_ARRAY(int32_t, p->csr.rows),
                   .sent = test_rows(HALO, p->x.columns),
                   .landed = test_rows(HALO, p->x.columns)};
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

static void parts_clear(Parts *parts) { backend_cpu.aggregate_halo_free(parts->aggregate); }

// Own part, then the halo part in `calls` calls that end at bound[0], bound[1], ... , HALO. Halo
// rows are multiplied by their right before they are sent, or where they are added.
static void run_parts(Rows out, const Problem *p, Parts *parts, const int64_t *bound, int calls,
                      bool multiplied) {
    Rows sent = multiplied ? parts->sent : rows_range(p->x, (Range){OWN, OWN + HALO});
    const float *right = !multiplied && p->right != NULL ? p->right + OWN : NULL;
    Aggregate *aggregate =
        backend_cpu.aggregate_new(&parts->own, OWN, p->x.columns, ROWS_FP32, "32");
    rows_dirty(out);
    Rows own = rows_first(p->x, OWN);
    backend_cpu.aggregate_prepare(aggregate, own, on_device(p->right), NULL);
    backend_cpu.aggregate_rows(aggregate, out, (Range){0, p->csr.rows}, p->self, NULL, NULL);
    backend_cpu.aggregate_free(aggregate);
    backend_cpu.aggregate_halo_begin(parts->aggregate);
    rows_dirty(parts->landed);
    for (int i = 0; i < calls; i++) {
        memcpy(floats(parts->landed), floats(sent), rows_bytes(bound[i], p->x.columns));
        backend_cpu.aggregate_halo(parts->aggregate, out, parts->landed, on_device(right), bound[i],
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

TEST(halo_in_any_pieces_is_one_pass) {
    static const int64_t widths[] = {5, 48, 130, 300};
    for (int combination = 0; combination < 16; combination++)
        for (int v = 0; v < VECTORS && vectors_start(vectors[v]); v++) {
            const int64_t columns = widths[(combination + v) % 4];
            Problem p = problem_make(combination, columns);
            CLEARED(parts_clear) Parts parts = {0};
            parts_make(&parts, &p);
            Rows expected = test_rows(ROWS, columns);
            Rows out = test_rows(ROWS, columns);
            expect_parts(expected, p, &parts);
            const int64_t more =
                combination == 15 ? UNDER_SANITIZERS(25, 1) : UNDER_SANITIZERS(100, 29);
            for (int64_t cut = 0; cut <= HALO; cut += more) {
                omp_set_num_threads(1 + (int)cut % 3);
                int64_t two[] = {cut, HALO}, four[] = {cut / 3, cut, (cut + HALO) / 2, HALO};
                run_parts(out, &p, &parts, two, 2, true);
                assert_same_bits(expected, out, "halo part in two calls");
                run_parts(out, &p, &parts, four, 4, cut % 2 == 0);
                assert_same_bits(expected, out, "halo part in four calls");
            }
        }
}
