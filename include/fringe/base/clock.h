// Clocks.
#pragma once

// Seconds on a monotonic clock.
double clock_seconds(void);

// The time of day as ISO 8601 in UTC, "2026-11-22T18:40:12Z". Returns out.
enum { CLOCK_UTC = 32 };
const char *clock_utc(char out[CLOCK_UTC]);
// The time of day in seconds since 1970, UTC.
double clock_wall(void);
// Seconds from such a time until now; NaN if the text is NULL or no such time.
double clock_age(const char *utc);
