// Statistics of a few numbers.

#include "fringe/base/statistics.h"

#include <math.h>

MeanDeviation mean_deviation(const double *value, int count) {
    MeanDeviation of = {.count = count};
    for (int i = 0; i < count; i++)
        of.mean += value[i] / count;
    double squares = 0;
    for (int i = 0; i < count; i++)
        squares += (value[i] - of.mean) * (value[i] - of.mean);
    if (count > 1)
        of.deviation = sqrt(squares / (count - 1));
    return of;
}
