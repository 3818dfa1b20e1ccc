// Which kernels run: vectors and the precision of dense products.
//
// Vectors are chosen once, at run time, by what the CPU says of itself: the program is built for
// the plainest x86-64 and carries each vector kernel three times (lanes.h).
#include "cpu.h"

#if defined(HAVE_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

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

// Whether the CPU has AMX and the kernel lets this process use its registers, for good.
static bool cpu_has_amx(void) {
#if defined(HAVE_AMX)
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18, BF16 = 1 << 22, TILES = 1 << 24 };
    static int has = -1;
    unsigned a, b, c, d;
    if (has < 0)
        has = cpu_has(LANES_AVX512) && __builtin_cpu_supports("avx512bf16") &&
              __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & BF16) != 0 && (d & TILES) != 0 &&
              syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
    return has;
#else
    return false;
#endif
}

static bool takes_amx;
bool cpu_has_tiles(void) { return takes_amx; }

static int place_of(const char *word, const char *const *names, int count) {
    int i = 0;
    while (i < count && strcmp(word, names[i]) != 0)
        i++;
    return i;
}

bool cpu_choose_lanes(const char *vectors, Error *err) {
    bool amx = strcmp(vectors, "amx") == 0, wide = amx || strcmp(vectors, "auto") == 0;
    enum Lanes lanes =
        wide ? widest() : (enum Lanes)place_of(vectors, cpu_lanes_names, LANES_COUNT);
    if (lanes == LANES_COUNT)
        return error_config(err, "vectors '%s' is not known; take auto, plain, avx2, avx512 or amx",
                            vectors);
    if (!cpu_has(lanes) || (amx && !cpu_has_amx()))
        return error_set(err, EXIT_UNAVAILABLE,
                         "vectors '%s' cannot be used here, the widest are %s; take "
                         "auto",
                         vectors, cpu_lanes_names[widest()]);
    chosen = lanes;
    is_chosen = true;
    takes_amx = wide && cpu_has_amx();
    return true;
}

bool cpu_converts_bf16(void) {
#if defined(HAVE_AVX512BF16)
    return cpu_lanes() == LANES_AVX512 && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

// ---- dense products

static CpuProducts products;
CpuProducts cpu_products(void) { return products; }

static const char *const inputs_names[PRODUCT_INPUTS] = {"fp32", "bf16", "bf16x3"};
const char *const cpu_sums_names[SUM_ORDERS] = {"pairs", "tiles"};

bool cpu_choose_products(const BackendStart *how, Error *err) {
    const char *precision = how->precision != NULL ? how->precision : "fp32";
    const char *sums = how->sums != NULL ? how->sums : "auto";
    bool names_vectors = how->vectors != NULL && strcmp(how->vectors, "auto") != 0;
    int inputs = place_of(precision, inputs_names, PRODUCT_INPUTS);
    int order = takes_amx ? SUMS_TILES : SUMS_PAIRS;
    if (strcmp(sums, "auto") != 0)
        order = place_of(sums, cpu_sums_names, SUM_ORDERS);
    if (inputs == PRODUCT_INPUTS || order == SUM_ORDERS)
        return error_config(err, "precision '%s' with sums '%s' is not known", precision, sums);
    if (inputs == PRODUCTS_BF16X3 && !takes_amx && !names_vectors)
        return error_set(err, EXIT_UNAVAILABLE,
                         "run.precision 'bf16x3': three products of bf16 for one of fp32 are "
                         "faster than fp32 with AMX alone, which cannot be used here; take fp32 or "
                         "bf16, or name vectors (run.simd=%s) to have the same bits all the same",
                         cpu_lanes_names[widest()]);
    products.inputs = (ProductInputs)inputs;
    products.order = inputs == PRODUCTS_BF16X3 ? SUMS_TILES : (SumOrder)order;
    return true;
}
