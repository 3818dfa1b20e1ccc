// Which kernels run: vectors and the precision of dense products.
//
// Vectors are chosen once, at run time, by what the CPU says of itself: the program is built for
// the plainest x86-64 and carries each vector kernel three times (lanes.h).
#include "cpu.h"

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
        return error_config(err, "vectors '%s' is not known; take auto, plain, avx2 or avx512",
                            vectors);
    if (!cpu_has(lanes))
        return error_set(err, EXIT_UNAVAILABLE,
                         "vectors '%s': this CPU does not have them, the widest here is %s; take "
                         "auto",
                         vectors, cpu_lanes_names[widest()]);
    chosen = lanes;
    is_chosen = true;
    return true;
}

bool cpu_converts_bf16(void) {
#if defined(HAVE_AVX512BF16)
    return cpu_lanes() == LANES_AVX512 && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

static bool bf16;
bool cpu_is_bf16(void) { return bf16; }

bool cpu_choose_precision(const char *precision, Error *err) {
    bf16 = precision != NULL && strcmp(precision, "bf16") == 0;
    if (bf16 || precision == NULL || strcmp(precision, "fp32") == 0)
        return true;
    return error_set(err, EXIT_UNAVAILABLE,
                     "run.precision '%s': three products of bf16 for one of fp32 are faster than "
                     "fp32 with AMX alone, for which there are no kernels yet; take fp32 or bf16",
                     precision);
}
