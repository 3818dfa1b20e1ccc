// Mean and sample standard deviation (n - 1) of a few runs.

#include "fringe/report.h"

#include <math.h>

Summary report_summary(const double *value, int count) {
    Summary summary = {.count = count};
    for (int i = 0; i < count; i++)
        summary.mean += value[i] / count;
    double squares = 0;
    for (int i = 0; i < count; i++)
        squares += (value[i] - summary.mean) * (value[i] - summary.mean);
    if (count > 1)
        summary.deviation = sqrt(squares / (count - 1));
    return summary;
}
