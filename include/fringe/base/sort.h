// Numbers in ascending order, in place.
#ifndef FRINGE_BASE_SORT_H
#define FRINGE_BASE_SORT_H

#include <stdint.h>

void sort_int64(int64_t *value, int64_t count);
void sort_double(double *value, int64_t count);   // none may be NaN
double sort_median(double *value, int64_t count); // sorts them; count > 0; value[count / 2]

#endif
