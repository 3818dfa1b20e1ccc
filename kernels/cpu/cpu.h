// The CPU backend's own header: its operations (their promises stand in fringe/operations.def), and
// what its files share. Only kernels/cpu opens it.
//
// A file X_lanes.c is compiled once per vector width (lanes.h), and once more for each if it reads
// or writes rows of any type (rows_lanes.h); X.c picks the version with LANES_PICK or ROWS_PICK at
// the beginning of an operation, outside its loops.
#pragma once

#include "../both.h"
#include "../internal.h"

#include <omp.h>

// What the memory of this backend holds, for its own files: rows as they lie.
typedef struct CpuRows {
    float *at; // of ROWS_BF16: not floats (cells.h, rows_lanes.h)
    int64_t count, columns, stride;
    RowsType type;
} CpuRows;
static inline CpuRows cpu_rows_of_any(Rows rows) {
    return (CpuRows){(float *)rows.at, rows.count, rows.columns, rows.stride, rows.type};
}
static inline CpuRows cpu_rows(Rows rows) {
    assert(rows.type == ROWS_FP32);
    return cpu_rows_of_any(rows);
}

// Where row r of what a message is made of lies, by its number in [own rows | partial aggregates];
// both have one type.
static inline const void *message_row(const MessageSource *source, int64_t r) {
    Rows rows = r < source->x.count ? source->x : source->partials;
    int64_t number = (r - (r < source->x.count ? 0 : source->x.count)) * rows.stride;
    return (const char *)rows.at + number * (int64_t)rows_number(rows.type);
}

// The vector width in use: chosen by cpu_choose_lanes, or the widest the CPU has before that.
enum Lanes { LANES_PLAIN, LANES_AVX2, LANES_AVX512, LANES_COUNT };
enum Lanes cpu_lanes(void);
extern const char *const cpu_lanes_names[LANES_COUNT]; // "plain", "avx2", "avx512"

// The version of f in use: LANES_PICK(f)(arguments) calls f_plain, f_avx2 or f_avx512, and
// ROWS_PICK(f, type), for files that know rows of any type, these or f_plain_bf16 and so on. Such a
// file declares its functions by EACH_ROWS_LANES.
#if defined(__x86_64__)
#define LANES_OF(f, suffix)                                                                        \
    (cpu_lanes() == LANES_AVX512 ? f##_avx512##suffix                                              \
     : cpu_lanes() == LANES_AVX2 ? f##_avx2##suffix                                                \
                                 : f##_plain##suffix)
#define EACH_ROWS_LANES(X)                                                                         \
    X(plain) X(avx2) X(avx512) X(plain_bf16) X(avx2_bf16) X(avx512_bf16) X(native_bf16)
#else
#define LANES_OF(f, suffix) (f##_plain##suffix)
#define EACH_ROWS_LANES(X) X(plain) X(plain_bf16)
#endif
#define LANES_PICK(f) LANES_OF(f, )
#if defined(HAVE_AVX512BF16)
#define BF16_PICK(f) (cpu_converts_bf16() ? f##_native_bf16 : LANES_OF(f, _bf16))
#else
#define BF16_PICK(f) LANES_OF(f, _bf16)
#endif
#define ROWS_PICK(f, type) ((type) == ROWS_BF16 ? BF16_PICK(f) : LANES_PICK(f))
bool cpu_converts_bf16(void); // AVX512-BF16 is there and allowed

bool cpu_choose_lanes(const char *vectors, Error *err);
bool cpu_has_tiles(void); // AMX is there and allowed

// Inputs of dense products, and the order of their sums (products.h).
typedef enum ProductInputs {
    PRODUCTS_FP32,
    PRODUCTS_BF16,
    PRODUCTS_BF16X3,
    PRODUCT_INPUTS
} ProductInputs;
typedef enum SumOrder { SUMS_PAIRS, SUMS_TILES, SUM_ORDERS } SumOrder;
typedef struct CpuProducts {
    ProductInputs inputs;
    SumOrder order;
} CpuProducts;
CpuProducts cpu_products(void);
extern const char *const cpu_sums_names[SUM_ORDERS]; // "pairs", "tiles"
// After cpu_choose_lanes. False with EXIT_UNAVAILABLE for bf16x3 without AMX, unless `how` names
// vectors, which is for comparisons.
bool cpu_choose_products(const BackendStart *how, Error *err);
const char *cpu_describe(void);
const char *cpu_dense_describe(void); // dense.c: the library and its version, "oneDNN 2.6.3"

// For loops that take a Poll: all threads call pace_call between pieces of work, and thread 0 calls
// the Poll: the first time, so that many short operations move messages, too, and then whenever
// half a millisecond has passed since the last time.
typedef struct Pace {
    const Poll *poll;
    double next; // clock_seconds() from which the next call is due
} Pace;
static inline Pace pace_start(const Poll *poll) { return (Pace){poll, 0}; }
static inline void pace_call(Pace *pace) {
    if (omp_get_thread_num() != 0 || pace->poll == NULL || clock_seconds() < pace->next)
        return;
    poll_call(pace->poll);
    pace->next = clock_seconds() + 0.5e-3;
}

// Rows of a piece that has about so many floats; at least one.
static inline int64_t piece_rows(int64_t floats, int64_t stride) {
    int64_t rows = floats / (stride > 0 ? stride : 1);
    return rows > 0 ? rows : 1;
}

// Lanes as a tree; they are used up.
static inline double lanes_sum(double lane[16]) {
    for (int half = 8; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

// Rows that a last-level cache cannot hold are stored around it: a cached store reads its line from
// memory first, half as much traffic again. The size is a constant because the C library's answer
// is not to be had (it takes all caches of a server for one).
static inline bool cpu_beyond_cache(int64_t rows, CpuRows like) {
    return rows * like.stride * (int64_t)rows_number(like.type) > 32 << 20;
}

// Every function and operation of the list, as cpu_<name>.
#define FUNCTION(type, name, parameters) type cpu_##name parameters;
#define OPERATION(name, stream, time, ...) void cpu_##name(OPERATION_PARAMETERS(__VA_ARGS__));
#include "fringe/operations.def"

// *bad becomes 1 + place if that is less or there is none; place -1: nothing.
static inline void cpu_note_bad(DeviceInt64 *bad, int64_t place) {
    int64_t *at = int64s_of(bad);
    if (place >= 0 && (*at == 0 || place + 1 < *at))
        *at = place + 1;
}
