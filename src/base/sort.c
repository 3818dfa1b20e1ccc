// Sorting numbers with the C library.

#include "fringe/base/sort.h"

#include <assert.h>
#include <stdlib.h>

static int compare_int64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_float(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int compare_falling(const void *a, const void *b) { return compare_double(b, a); }

void sort_int64(int64_t *value, int64_t count) {
    qsort(value, (size_t)count, sizeof *value, compare_int64);
}

int64_t sort_find(const int64_t *sorted, int64_t count, int64_t value) {
    const int64_t *at = bsearch(&value, sorted, (size_t)count, sizeof value, compare_int64);
    return at != NULL ? at - sorted : -1;
}

int64_t sort_below(const int32_t *sorted, int64_t count, int64_t value) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void sort_double(double *value, int64_t count) {
    qsort(value, (size_t)count, sizeof *value, compare_double);
}

void sort_float(float *value, int64_t count) {
    qsort(value, (size_t)count, sizeof *value, compare_float);
}

void sort_falling(double *value, int64_t count) {
    qsort(value, (size_t)count, sizeof *value, compare_falling);
}

double sort_median(double *value, int64_t count) {
    assert(count > 0);
    sort_double(value, count);
    return value[count / 2];
}
