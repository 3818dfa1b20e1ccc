// The CPU backend: the table, and the choice of vectors.
//
// The choice is made once, at run time, by what the CPU says of itself: the program is built for
// the plainest x86-64 and carries each vector kernel three times (lanes.h).
#include "../timed.h"
#include "cpu.h"
#include <stdio.h>
#include <string.h>

const char *const cpu_lanes_names[LANES_COUNT] = {"plain", "avx2", "avx512"};

static enum Lanes chosen;
static bool is_chosen;

static bool cpu_has(enum Lanes lanes) {
    switch (lanes) {
#if defined(__x86_64__)
    case LANES_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("bmi2");
    case LANES_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    default:
        return lanes == LANES_PLAIN;
    }
}

static enum Lanes widest(void) {
    enum Lanes lanes = LANES_AVX512;
    while (!cpu_has(lanes))
        lanes--;
    return lanes;
}

enum Lanes cpu_lanes(void) {
    if (!is_chosen) {
        chosen = widest();
        is_chosen = true;
    }
    return chosen;
}

bool cpu_choose_lanes(const char *vectors, Error *err) {
    enum Lanes lanes = LANES_PLAIN;
    if (strcmp(vectors, "auto") == 0)
        lanes = widest();
    else
        while (lanes < LANES_COUNT && strcmp(vectors, cpu_lanes_names[lanes]) != 0)
            lanes++;
    if (lanes == LANES_COUNT)
        return error_set(err, EXIT_CONFIG,
                         "vectors '%s' is not known; take auto, plain, avx2 or avx512", vectors);
    if (!cpu_has(lanes))
        return error_set(err, EXIT_UNAVAILABLE,
                         "vectors '%s': this CPU does not have them, the widest here is %s; take "
                         "auto",
                         vectors, cpu_lanes_names[widest()]);
    chosen = lanes;
    is_chosen = true;
    return true;
}

static bool start(const BackendStart *how, Error *err) {
    return cpu_choose_lanes(how->vectors != NULL ? how->vectors : "auto", err);
}

const char *cpu_describe(void) {
    static char text[160];
    snprintf(text, sizeof text, "%s, %s", cpu_lanes_names[cpu_lanes()], cpu_dense_describe());
    return text;
}

#define FUNCTION(type, name, parameters)
#define OPERATION(name, ...) TIMED(cpu, name, __VA_ARGS__)
#include "fringe/operations.def"

const Backend backend_cpu = {
    .name = "cpu",
    .start = start,
    .describe = cpu_describe,
    .host_is_device = true,
#define FUNCTION(type, name, parameters) .name = cpu_##name,
#define OPERATION(name, ...) .name = timed_##name,
#include "fringe/operations.def"
};
