// Numbers in ascending order, in place.
#pragma once

#include <stdint.h>

void sort_int64(int64_t *value, int64_t count);
// The place of a value in ascending numbers; -1: it is not there.
int64_t sort_find(const int64_t *sorted, int64_t count, int64_t value);
// How many of ascending numbers are below a value: the place of the first that is not.
int64_t sort_below(const int32_t *sorted, int64_t count, int64_t value);
void sort_double(double *value, int64_t count);   // none may be NaN
void sort_float(float *value, int64_t count);     // none may be NaN
void sort_falling(double *value, int64_t count);  // the largest first; none may be NaN
double sort_median(double *value, int64_t count); // sorts them; count > 0; value[count / 2]
