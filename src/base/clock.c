// Monotonic seconds, and the time of day.

#include "fringe/base/clock.h"

#include <math.h>
#include <stddef.h>
#include <time.h>

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

double clock_wall(void) { return seconds_of(CLOCK_REALTIME); }

static const char utc_format[] = "%Y-%m-%dT%H:%M:%SZ";

const char *clock_utc(char out[CLOCK_UTC]) {
    time_t now = time(NULL);
    struct tm parts;
    strftime(out, CLOCK_UTC, utc_format, gmtime_r(&now, &parts));
    return out;
}

double clock_age(const char *utc) {
    struct tm parts = {0};
    const char *end = utc != NULL ? strptime(utc, utc_format, &parts) : NULL;
    return end != NULL && *end == 0 ? difftime(time(NULL), timegm(&parts)) : NAN;
}
