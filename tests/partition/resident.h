// Memory that a step takes, as the kernel counts it, against what was foreseen.
#pragma once

#include "partition/metis_process.h"
#include "support.h"

#include <malloc.h>

// A figure of /proc/self/status, in bytes.
static inline double status(const char *key) {
    char line[256];
    long long kibibytes = 0;
    FILE *file = fopen("/proc/self/status", "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), "%lld", &kibibytes);
    fclose(file);
    return 1024.0 * (double)kibibytes;
}

// Resident bytes now; the peak is counted from here. Skips the test where the kernel cannot do it.
static inline double begin(void) {
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (file == NULL || fputs("5", file) < 0 || fclose(file) != 0)
        skip();
    return status("VmRSS:");
}

// The most of this process since `before` or of METIS, which has its own.
static inline double taken_since(double before) {
    double own = status("VmHWM:") - before, metis = (double)metis_process_taken();
    return own > metis ? own : metis;
}

// Not less, and at most `times` as much.
static inline void assert_foreseen(const char *what, double foreseen, double taken, double times) {
    if (foreseen < taken || foreseen > times * taken)
        fail_msg("%s: %.0f bytes foreseen, %.0f taken", what, foreseen, taken);
}
