// If this failed, text ids would get other numbers than their places in ascending order of their
// bytes, or others with more threads.

#include "support.h"

#include "dataset/internal.h"

#include <omp.h>

// Enough distinct ids that the table has to grow, with 3 threads, too.
// In the first column threads find the same new ids at the same time.
enum { TOGETHER = 8192, ENDS = 150000, NAMES = 130000, MOST = 48, COLUMNS = 3 };

typedef struct End { // one id in the text
    const char *at;
    int64_t bytes, number; // number: its place among all ends
} End;

static char text[COLUMNS][ENDS * MOST];
static int64_t span[COLUMNS][ENDS], value[COLUMNS][ENDS];
static End end[COLUMNS * ENDS];

// Ids of 1 to 47 bytes, many of which begin with the same 8, 16 or 40 bytes; above 127, too.
static int64_t put_id(char *out, uint64_t name) {
    static const char *const before[] = {"",
                                         "",
                                         "\xc3\xa9-",
                                         "account:",
                                         "transactions-of-",
                                         "https://example.org/a/long/path/with-id/"};
    uint64_t mixed = (name + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return snprintf(out, MOST, name % 7 == 6 ? "%s%lu" : "%s%lx", before[name % 6],
                    name % 3 == 0 ? (unsigned long)name : (unsigned long)(mixed >> 36));
}

static int64_t count_of(int column) { return column == 2 ? 77 : ENDS; }

// Three pieces of consecutive ends have the same ids.
static int64_t together(int64_t e) { return e / (3 * TOGETHER) * TOGETHER + e % TOGETHER; }

static void make_columns(void) {
    for (int c = 0; c < COLUMNS; c++) {
        int64_t at = 0;
        for (int64_t e = 0; e < count_of(c); e++) {
            uint64_t name = (uint64_t)(c == 0 ? together(e) : e * 7 + 13) % NAMES;
            int64_t bytes = put_id(text[c] + at, name);
            span[c][e] = span_of(at, bytes);
            at += bytes;
        }
    }
}

static int compare(const void *a, const void *b) {
    const End *x = a, *y = b;
    int order = memcmp(x->at, y->at, (size_t)(x->bytes < y->bytes ? x->bytes : y->bytes));
    return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

// The plain way: all ends sorted. `expected` gets the place of each, `names` one end for each id.
static int64_t sort_all(int64_t *expected, const End **names) {
    int64_t ends = 0, count = 0;
    for (int c = 0; c < COLUMNS; c++)
        for (int64_t e = 0; e < count_of(c); e++, ends++)
            end[ends] = (End){text[c] + (span[c][e] >> SPAN_BITS), span_bytes(span[c][e]), ends};
    qsort(end, (size_t)ends, sizeof *end, compare);
    for (int64_t k = 0; k < ends; k++) {
        if (k == 0 || compare(&end[k - 1], &end[k]) != 0)
            names[count++] = &end[k];
        expected[end[k].number] = count - 1;
    }
    return count;
}

static void check(const NodeIds *ids, const int64_t *expected, const End *const *names,
                  int64_t count) {
    int64_t ends = 0;
    assert_int_equal(ids->count, count);
    for (int64_t k = 0; k < count; k++) {
        assert_int_equal(ids->offset[k + 1] - ids->offset[k], names[k]->bytes);
        assert_memory_equal(ids->bytes + ids->offset[k], names[k]->at, (size_t)names[k]->bytes);
    }
    for (int c = 0; c < COLUMNS; c++)
        for (int64_t e = 0; e < count_of(c); e++)
            if (value[c][e] != expected[ends++])
                fail_msg("end %lld of column %d is %lld, not %lld", (long long)e, c,
                         (long long)value[c][e], (long long)expected[ends - 1]);
}

TEST(any_number_of_threads) {
    static int64_t expected[COLUMNS * ENDS];
    static const End *names[COLUMNS * ENDS];
    make_columns();
    int64_t count = sort_all(expected, names);
    for (int round = 0; round < 5; round++) {
        int threads = round < 3 ? round + 1 : 3;
        IdColumns columns = {.noun = "node", .columns = COLUMNS};
        CLEARED(node_ids_clear) NodeIds ids = {0};
        omp_set_num_threads(threads);
        for (int c = 0; c < COLUMNS; c++) {
            memcpy(value[c], span[c], sizeof value[c]);
            columns.of[c] = (IdColumn){count_of(c), value[c], text[c]};
        }
        assert_ok(ids_number_text(&columns, &ids, &err));
        check(&ids, expected, names, count);
        for (int64_t k = 0; k < count; k += 97)
            assert_int_equal(ids_find_text(&ids, names[k]->at, names[k]->bytes), k);
        assert_int_equal(ids_find_text(&ids, "account;", 8), -1);
    }
}
