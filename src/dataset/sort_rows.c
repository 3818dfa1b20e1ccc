// Sorts the columns of every row in place: short rows by insertion, long ones by their bytes (least
// significant first).

#include "internal.h"

enum { SHORT = 48, DIGIT = 8, DIGITS = 1 << DIGIT };

static void insert_all(int32_t *row, int64_t count) {
    for (int64_t k = 1; k < count; k++) {
        int32_t value = row[k];
        int64_t place = k;
        for (; place > 0 && row[place - 1] > value; place--)
            row[place] = row[place - 1];
        row[place] = value;
    }
}

// One digit of all columns, from one array to the other.
static void sort_digit(int32_t *to, const int32_t *from, int64_t count, int shift) {
    int64_t place[DIGITS] = {0}, sum = 0;
    for (int64_t k = 0; k < count; k++)
        place[from[k] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        int64_t here = place[d];
        place[d] = sum;
        sum += here;
    }
    for (int64_t k = 0; k < count; k++)
        to[place[from[k] >> shift & (DIGITS - 1)]++] = from[k];
}

static void sort_row(int32_t *row, int64_t count, int bits, int32_t *scratch) {
    if (count <= SHORT) {
        insert_all(row, count);
        return;
    }
    int32_t *from = row, *to = scratch;
    for (int shift = 0; shift < bits; shift += DIGIT) {
        sort_digit(to, from, count, shift);
        int32_t *other = from;
        from = to;
        to = other;
    }
    if (from != row)
        memcpy(row, from, (size_t)count * sizeof *row);
}

static bool row_ascends(const int32_t *row, int64_t count) {
    for (int64_t k = 1; k < count; k++)
        if (row[k - 1] > row[k])
            return false;
    return true;
}

void csr_sort_columns(Csr *csr, int64_t columns) {
    int64_t longest = 0;
    int bits = 64 - __builtin_clzll((unsigned long long)columns | 1);
    assert(csr->weight == NULL);
    for (int64_t i = 0; i < csr->rows; i++) {
        int64_t count = csr->offset[i + 1] - csr->offset[i];
        longest = count > longest ? count : longest;
    }
#pragma omp parallel
    {
        FREED int32_t *scratch = ALLOC(int32_t, longest, "columns of a row");
#pragma omp for schedule(dynamic, 256)
        for (int64_t i = 0; i < csr->rows; i++) {
            int32_t *row = csr->column + csr->offset[i];
            int64_t count = csr->offset[i + 1] - csr->offset[i];
            if (!row_ascends(row, count))
                sort_row(row, count, bits, scratch);
        }
    }
}
