// The clock.
#ifndef FRINGE_BASE_CLOCK_H
#define FRINGE_BASE_CLOCK_H

// Seconds on a monotonic clock.
double clock_seconds(void);

#endif
