// The time that is left, from the last epochs: the first ones are slower than the others.

#include "internal.h"

static void keep(PaceTimes *times, double seconds) {
    times->last[times->count++ % PACE_LAST] = seconds;
}

static double median(const PaceTimes *times) {
    double last[PACE_LAST];
    int64_t count = times->count < PACE_LAST ? times->count : PACE_LAST;
    for (int64_t i = 0; i < count; i++)
        last[i] = times->last[i];
    return count > 0 ? sort_median(last, count) : 0;
}

void pace_add(Pace *pace, const EpochRecord *record) {
    keep(&pace->epoch, record->seconds);
    if (record->evaluated)
        keep(&pace->evaluation, record->eval_seconds);
    if (record->assign_seconds > 0)
        keep(&pace->assignment, record->assign_seconds);
}

// Evaluations and assignments go on as often as until now.
double pace_left(const Pace *pace, int64_t epochs) {
    double done = (double)pace->epoch.count;
    if (pace->epoch.count < 3)
        return NAN;
    return (double)epochs * (median(&pace->epoch) +
                             (double)pace->evaluation.count / done * median(&pace->evaluation) +
                             (double)pace->assignment.count / done * median(&pace->assignment));
}
