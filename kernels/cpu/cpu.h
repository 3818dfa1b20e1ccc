// The CPU backend's own header: every operation of struct Backend under the name cpu_<op> (their
// promises stand in fringe/backend.h), and what its files share. Only kernels/cpu opens it.
//
// A file X_lanes.c is compiled three times, once per vector width (lanes.h); X.c picks the compiled
// twin with LANES_PICK at the door of an operation, outside its loops.
#ifndef FRINGE_KERNELS_CPU_H
#define FRINGE_KERNELS_CPU_H

#include "fringe/backend.h"

// The vector width in use: chosen by cpu_start, or the widest the CPU has before that.
enum Lanes { LANES_PLAIN, LANES_AVX2, LANES_AVX512, LANES_COUNT };
enum Lanes cpu_lanes(void);
extern const char *const cpu_lanes_names[LANES_COUNT]; // "plain", "avx2", "avx512"

// The twin of f in use: LANES_PICK(f)(arguments) calls f_plain, f_avx2 or f_avx512.
#if defined(__x86_64__)
#define LANES_PICK(f)                                                                              \
    (cpu_lanes() == LANES_AVX512 ? f##_avx512 : cpu_lanes() == LANES_AVX2 ? f##_avx2 : f##_plain)
#else
#define LANES_PICK(f) (f##_plain)
#endif

bool cpu_start(const char *vectors, Error *err);
const char *cpu_describe(void);
const char *cpu_dense_describe(void); // dense.c: the library and its version, "oneDNN 2.6.3"

// For loops that take a Poll: thread 0 calls pace_call between pieces of work; the Poll is called
// the first time, so that many short operations move messages, too, and then whenever half a
// millisecond has passed since the last time.
typedef struct Pace {
    const Poll *poll;
    double next; // clock_seconds() from which the next call is due
} Pace;
static inline Pace pace_start(const Poll *poll) { return (Pace){poll, 0}; }
static inline void pace_call(Pace *pace) {
    if (pace->poll == NULL || clock_seconds() < pace->next)
        return;
    poll_call(pace->poll);
    pace->next = clock_seconds() + 0.5e-3;
}

// Rows that a last-level cache cannot hold are stored around it: a cached store reads its line from
// memory first, half as much traffic again. The size is a constant because the C library's answer
// is not to be had (it takes all caches of a server for one).
static inline bool cpu_beyond_cache(int64_t rows, int64_t stride) {
    return rows * stride * (int64_t)sizeof(float) > 32 << 20;
}

// dense.c
void cpu_dense(Rows out, Range range, Rows a, const float *w, const float *bias, bool add,
               const Poll *poll);
void cpu_dense_transposed(Rows out, Range range, Rows g, const float *w, bool add,
                          const Poll *poll);
void cpu_dense_gradient(float *dw, Rows a, Rows g, float *scratch, const Poll *poll);
int64_t cpu_dense_gradient_scratch(int64_t rows, int64_t a_columns, int64_t g_columns);
void cpu_column_sums(float *db, Rows g, float *scratch);
int64_t cpu_column_sums_scratch(int64_t rows, int64_t columns);

// aggregate.c
Aggregate *cpu_aggregate_new(const Csr *csr, int64_t sources, int64_t columns, const char *panels);
size_t cpu_aggregate_bytes(int64_t sources, int64_t columns, const char *panels);
void cpu_aggregate_tune(Aggregate *aggregate, Rows out, Rows x);
void cpu_aggregate_free(Aggregate *aggregate);
const char *cpu_aggregate_describe(const Aggregate *aggregate, int64_t columns);
void cpu_aggregate_prepare(Aggregate *aggregate, Rows x, const float *right, const Poll *poll);
void cpu_aggregate_rows(Aggregate *aggregate, Rows out, Range range, bool self, const float *left,
                        const Poll *poll);
void cpu_aggregate_halo(Rows out, const Csr *csr, const int32_t *rows, int64_t *cursor, Rows halo,
                        int64_t column_end, const float *left, const Poll *poll);

// bias.c
void cpu_add_bias(Rows out, Range range, const float *bias, const Poll *poll);

// scaled.c
void cpu_add_scaled(Rows out, Range range, Rows a, Rows x, const float *scalar, const Poll *poll);
void cpu_dot(float *out, Rows x, Rows y);

// pointwise*.c
void cpu_post_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                      const int64_t *gid, const Poll *poll);
void cpu_post_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved, float *dgamma,
                       float *dbeta, float *scratch, const Poll *poll);
int64_t cpu_post_scratch(int64_t rows, int64_t columns);
void cpu_dropout(Rows out, Range range, Rows x, float keep, RandomStream stream, const int64_t *gid,
                 const Poll *poll);

// loss*.c
double cpu_softmax_loss(Rows g, Rows logits, const int32_t *label, const uint8_t *split,
                        uint8_t which, float weight);
double cpu_bce_loss(Rows g, Rows logits, const uint8_t *labels, const uint8_t *split, uint8_t which,
                    float weight);

// quantize*.c
int64_t cpu_quantize(const Quantized *to, const MessageSource *source, const Poll *poll);
void cpu_dequantize(Rows out, int64_t begin, const Quantized *from, const Poll *poll);

// optimizer*.c
void cpu_adam(float *w, float *m, float *v, const float *g, const float *decay, int64_t count,
              AdamStep step);
void cpu_sgd(float *w, float *velocity, const float *g, const float *decay, int64_t count,
             float rate, float momentum);
double cpu_square_sum(const float *x, int64_t count);

#endif
