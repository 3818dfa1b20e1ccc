// If this fails, edges of a graph get lost, stand at the wrong end or in the wrong order.
#include "support.h"

enum { MOST = 12 };

// A matrix as a list: how often (and with which weights, in which order) row i names column j is
// what every answer is compared with.
typedef struct List {
    int64_t rows, columns, count;
    int32_t row[200], column[200];
    float weight[200];
} List;

static List list_random(int64_t rows, int64_t columns, int64_t count, uint64_t seed) {
    List list = {.rows = rows, .columns = columns, .count = count};
    RandomKey key = random_key(seed, RANDOM_GENERATE, 0, 11, 0);
    for (int64_t e = 0; e < count; e++) {
        list.row[e] = (int32_t)((double)rows * random_uniform32(key, e, 0, 0));
        list.column[e] = (int32_t)((double)columns * random_uniform32(key, e, 0, 1));
        list.weight[e] = (float)(e + 1); // tells entries of one place apart
    }
    return list;
}

static Csr csr_of(const List *list, bool weighted) {
    Csr csr;
    assert_true(csr_from_pairs(&csr, list->rows, list->count, list->row, list->column,
                               weighted ? list->weight : NULL, "test", &(Error){0}));
    return csr;
}

TEST(rows_keep_the_order_of_the_list) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        List list = list_random(1 + (int64_t)seed % MOST, 5, 10 * (int64_t)seed, seed);
        CLEARED(csr_free) Csr csr = csr_of(&list, seed % 2 == 0);
        int64_t at = 0;
        for (int64_t i = 0; i < list.rows; i++) {
            assert_int_equal(csr.offset[i], at);
            for (int64_t e = 0; e < list.count; e++) {
                if (list.row[e] != i)
                    continue;
                assert_int_equal(csr.column[at], list.column[e]);
                assert_true(csr.weight == NULL || csr.weight[at] == list.weight[e]);
                at++;
            }
        }
        assert_int_equal(csr_entries(&csr), list.count);
        assert_int_equal(csr.offset[list.rows], at);
    }
}

// Row c of the transpose: all entries of column c, by row, those of one place as the list has them.
TEST(a_transpose_lists_the_rows_of_each_column_ascending) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        List list = list_random(7, 1 + (int64_t)seed % MOST, 10 * (int64_t)seed, seed);
        Csr csr = csr_of(&list, seed % 2 == 0), turned;
        csr_transpose(&turned, &csr, list.columns);
        assert_int_equal(turned.rows, list.columns);
        int64_t at = 0;
        for (int64_t c = 0; c < list.columns; c++) {
            assert_int_equal(turned.offset[c], at);
            for (int64_t i = 0; i < list.rows; i++)
                for (int64_t e = 0; e < list.count; e++) {
                    if (list.row[e] != i || list.column[e] != c)
                        continue;
                    assert_int_equal(turned.column[at], i);
                    assert_true(turned.weight == NULL || turned.weight[at] == list.weight[e]);
                    at++;
                }
        }
        assert_int_equal(csr_entries(&turned), list.count);
        assert_true(csr_is_valid(&turned, list.rows));
        csr_free(&turned);
        csr_free(&csr);
    }
}

TEST(transposed_twice_is_sorted) {
    List list = list_random(9, 6, 80, 3);
    Csr csr = csr_of(&list, true), turned, sorted;
    assert_false(csr_is_ascending(&csr)); // 80 entries at random
    assert_false(csr_is_valid(&csr, list.columns));
    csr_transpose(&turned, &csr, list.columns);
    csr_transpose(&sorted, &turned, list.rows);
    assert_true(csr_is_valid(&sorted, list.columns));
    assert_memory_equal(sorted.offset, csr.offset, 10 * sizeof(int64_t));
    csr_free(&sorted);
    csr_free(&turned);
    csr_free(&csr);
}

// The answer by definition.
static bool equals_its_transpose(const Csr *csr) {
    CLEARED(csr_free) Csr turned = {0};
    csr_transpose(&turned, csr, csr->rows);
    bool same = memcmp(csr->offset, turned.offset, ((size_t)csr->rows + 1) * sizeof(int64_t)) == 0;
    for (int64_t e = 0; same && e < csr_entries(csr); e++)
        same = csr->column[e] == turned.column[e] &&
               (csr->weight == NULL || csr->weight[e] == turned.weight[e]);
    return same;
}

// Both directions of every entry, in one case of three with one entry changed or left out.
TEST(symmetric_is_what_equals_its_transpose) {
    int found[2] = {0};
    for (uint64_t seed = 0; seed < 60; seed++) {
        int64_t n = 1 + (int64_t)seed % MOST, half = 3 * (int64_t)(seed % 20);
        List list = list_random(n, n, half, seed);
        for (int64_t e = 0; e < half; e++) {
            list.row[half + e] = list.column[e];
            list.column[half + e] = list.row[e];
            list.weight[e] = list.weight[half + e] =
                (float)(list.row[e] * list.column[e] + list.row[e] + list.column[e]);
        }
        list.count = seed % 3 == 1 ? 2 * half - (half > 0) : 2 * half;
        if (seed % 3 == 2 && half > 0)
            list.weight[0] += 1;
        Csr csr = csr_of(&list, seed % 2 == 0), turned, sorted;
        csr_transpose(&turned, &csr, n);
        csr_transpose(&sorted, &turned, n);
        bool symmetric = csr_is_symmetric(&sorted);
        assert_int_equal(symmetric, equals_its_transpose(&sorted));
        found[symmetric]++;
        csr_free(&sorted);
        csr_free(&turned);
        csr_free(&csr);
    }
    assert_true(found[0] > 10 && found[1] > 10);
    int64_t offset[4] = {0, 1, 2, 3}; // a ring: each row has as many entries as its column
    int32_t column[3] = {1, 2, 0};
    assert_false(csr_is_symmetric(&(Csr){3, offset, column, NULL}));
}

TEST(what_breaks_a_law_is_not_valid) {
    int64_t offset[4] = {0, 2, 2, 4};
    int32_t column[4] = {0, 3, 1, 1};
    Csr csr = {.rows = 3, .offset = offset, .column = column};
    assert_true(csr_is_valid(&csr, 4));
    assert_false(csr_is_valid(&csr, 3)); // a column that is not there
    column[0] = -1;
    assert_false(csr_is_valid(&csr, 4));
    column[0] = 0, column[1] = 0, column[2] = 2;
    assert_false(csr_is_valid(&csr, 4)); // a row that falls
    column[2] = 1, offset[1] = 3;
    assert_false(csr_is_valid(&csr, 4)); // offsets that fall
    offset[1] = 2, offset[0] = 1;
    assert_false(csr_is_valid(&csr, 4));
}

TEST(bytes_are_those_that_are_counted) {
    for (int weighted = 0; weighted < 2; weighted++) {
        Csr csr;
        size_t before = memory_in_use();
        csr_alloc(&csr, 1000, 12345, weighted, "test");
        assert_int_equal(memory_in_use() - before, csr_bytes_of(1000, 12345, weighted));
        csr.offset[1000] = 12345;
        assert_int_equal(csr_bytes(&csr), csr_bytes_of(1000, 12345, weighted));
        csr_free(&csr);
        assert_int_equal(memory_in_use(), before);
        assert_null(csr.offset);
    }
}

TEST(what_does_not_fit_is_refused) {
    Csr csr;
    assert_refused(csr_try(&csr, 10, (int64_t)1 << 50, true, "edges of a test", &err), EXIT_MEMORY,
                   "edges of a test");
    assert_null(csr.offset);
}
