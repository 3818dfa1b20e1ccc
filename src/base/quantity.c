// Quantities for people.

#include "fringe/base/quantity.h"

#include <math.h>
#include <stdio.h>

const char *quantity_seconds(char out[QUANTITY], double seconds) {
    if (isnan(seconds))
        snprintf(out, QUANTITY, "none");
    else if (seconds >= 99.95)
        snprintf(out, QUANTITY, "%.0f s", seconds);
    else if (seconds >= 9.995)
        snprintf(out, QUANTITY, "%.1f s", seconds);
    else if (seconds >= 0.9995)
        snprintf(out, QUANTITY, "%.2f s", seconds);
    else if (seconds >= 0.09995)
        snprintf(out, QUANTITY, "%.3f s", seconds);
    else
        snprintf(out, QUANTITY, seconds >= 0.009995 ? "%.1f ms" : "%.2f ms", 1000 * seconds);
    return out;
}

static const char *in_units(char out[QUANTITY], double amount, double step,
                            const char *const unit[5]) {
    int u = 0;
    for (; amount >= step && u < 4; u++)
        amount /= step;
    snprintf(out, QUANTITY, u == 0 ? "%.0f %s" : "%.1f %s", amount, unit[u]);
    return out;
}

const char *quantity_bytes(char out[QUANTITY], double bytes) {
    return in_units(out, bytes, 1000, (const char *const[]){"B", "kB", "MB", "GB", "TB"});
}

const char *quantity_memory(char out[QUANTITY], double bytes) {
    return in_units(out, bytes, 1024, (const char *const[]){"B", "KiB", "MiB", "GiB", "TiB"});
}

const char *quantity_clock(char out[QUANTITY], double seconds) {
    long s = (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, QUANTITY, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, QUANTITY, "%ld:%02ld", s / 60, s % 60);
    return out;
}

const char *quantity_age(char out[QUANTITY], double seconds) {
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}};
    if (isnan(seconds)) {
        snprintf(out, QUANTITY, "-");
        return out;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (seconds >= 2 * units[i].seconds) {
            snprintf(out, QUANTITY, "%.0f %s", floor(seconds / units[i].seconds), units[i].name);
            return out;
        }
    snprintf(out, QUANTITY, "%.0f s", seconds > 0 ? seconds : 0);
    return out;
}

const char *quantity_percent(char out[QUANTITY], double share) {
    if (isnan(share))
        snprintf(out, QUANTITY, "none");
    else
        snprintf(out, QUANTITY, "%.2f %%", 100 * share);
    return out;
}
