// If this failed, dropout of sparse features would keep other numbers than dropout of the same rows
// of floats, or their product with weights would depend on threads or vectors.
#include "kernels.h"

enum { ROWS = 37, COLUMNS = 83, WIDTH = 21 };

// About a third of the numbers of x, row by row.
static Csr some_entries(Rows x) {
    Csr csr;
    csr_alloc(&csr, x.count, x.count * x.columns, true, "entries");
    int64_t at = 0;
    for (int64_t r = 0; r < x.count; r++) {
        for (int64_t c = 0; c < x.columns; c++)
            if ((r * 7 + c * c) % 3 == 0 && r != 5) { // a row has none
                csr.column[at] = (int32_t)c;
                csr.weight[at++] = floats(x)[r * x.stride + c];
            }
        csr.offset[r + 1] = at;
    }
    return csr;
}

TEST(drops_what_rows_drop) {
    Rows x = random_rows(ROWS, COLUMNS, 1), dropped = random_rows(ROWS, COLUMNS, 2);
    CLEARED(csr_free) Csr csr = some_entries(x);
    int64_t entries = csr_entries(&csr), kept = 0, id[ROWS];
    int32_t *row = TEST_ARRAY(int32_t, entries);
    float *out = TEST_ARRAY(float, entries);
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t e = csr.offset[r]; e < csr.offset[r + 1]; e++)
            row[e] = (int32_t)r;
    for (int64_t r = 0; r < ROWS; r++)
        id[r] = r * 1000003 + ((int64_t)r << 33);
    RandomKey key = random_key(5, RANDOM_DROPOUT, 9, 0, 0);
    backend_cpu.dropout(dropped, (Range){0, ROWS}, x, 0.7f, key, (void *)id, NULL);
    for (Way way = {0}; way_next(&way);) {
        memset(out, 0xff, (size_t)entries * sizeof *out);
        backend_cpu.dropout_entries((void *)out, (void *)csr.weight, entries, (void *)row,
                                    (void *)csr.column, 0.7f, key, (void *)id, NULL);
        for (int64_t e = 0; e < entries; e++) {
            const float *want = floats(dropped) + row[e] * dropped.stride + csr.column[e];
            assert_memory_equal(&out[e], want, sizeof *want);
            kept += out[e] != 0;
        }
    }
    assert_true(kept > 0);
}

// out[c] = the sum over entries in order, each product rounded, from +0.
static void want_row(float *out, const Csr *csr, int64_t r, Rows w) {
    for (int64_t c = 0; c < w.columns; c++) {
        volatile float sum = 0;
        for (int64_t e = csr->offset[r]; e < csr->offset[r + 1]; e++) {
            volatile float product = csr->weight[e] * floats(w)[csr->column[e] * w.stride + c];
            sum = sum + product;
        }
        out[c] = sum;
    }
}

// csr times rows whose padding comes from a tight matrix, and goes again.
static void check_product(const Csr *csr, int64_t columns, int which) {
    float *tight = random_floats(columns * WIDTH, which), want[WIDTH];
    float *back = TEST_ARRAY(float, csr->rows *WIDTH);
    Rows w = test_rows(columns, WIDTH);
    for (Way way = {0}; way_next(&way);) {
        Rows out = test_rows(csr->rows, WIDTH);
        rows_dirty(out);
        rows_dirty(w);
        Aggregate *a = backend_cpu.aggregate_new(csr, columns, WIDTH, ROWS_FP32, "rows");
        backend_cpu.pad_rows(w, (void *)tight);
        backend_cpu.aggregate_prepare(a, w, NULL, NULL);
        backend_cpu.aggregate_rows(a, out, (Range){0, csr->rows}, false, NULL, NULL);
        backend_cpu.unpad_rows((void *)back, out);
        backend_cpu.aggregate_free(a);
        assert_true(padding_is_zero(w) && padding_is_zero(out));
        for (int64_t r = 0; r < csr->rows; r++) {
            want_row(want, csr, r, w);
            assert_memory_equal(back + r * WIDTH, want, sizeof want);
        }
    }
}

TEST(products_have_one_order) {
    Rows x = random_rows(ROWS, COLUMNS, 1);
    Csr csr = some_entries(x), back;
    csr_transpose(&back, &csr, COLUMNS);
    check_product(&csr, COLUMNS, 3);
    check_product(&back, ROWS, 4);
    csr_free(&back);
    csr_free(&csr);
}
