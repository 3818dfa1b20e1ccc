// Statistics of a few numbers, such as the results of several runs. The median is in sort.h.
#pragma once

typedef struct MeanDeviation {
    double mean, deviation; // deviation: of the sample (n - 1); 0 for one value
    int count;
} MeanDeviation;
MeanDeviation mean_deviation(const double *value, int count); // count > 0
