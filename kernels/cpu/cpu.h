// The CPU backend's own header: every operation of struct Backend under the name cpu_<op> (their
// promises stand in fringe/backend.h), and what its files share. Only kernels/cpu opens it.
//
// A file X_lanes.c is compiled three times, once per vector width (lanes.h); X.c picks the version
// with LANES_PICK at the door of an operation, outside its loops.
#ifndef FRINGE_KERNELS_CPU_H
#define FRINGE_KERNELS_CPU_H

#include "../internal.h"

// What the memory of this backend holds, for its own files: rows and numbers as they lie.
typedef struct CpuRows {
    float *at;
    int64_t count, columns, stride;
} CpuRows;
static inline CpuRows cpu_rows(Rows rows) {
    return (CpuRows){(float *)rows.at, rows.count, rows.columns, rows.stride};
}
static inline float *cpu_floats(const DeviceFloat *at) { return (float *)at; }
static inline double *cpu_doubles(const DeviceDouble *at) { return (double *)at; }
static inline int32_t *cpu_int32s(const DeviceInt32 *at) { return (int32_t *)at; }
static inline int64_t *cpu_int64s(const DeviceInt64 *at) { return (int64_t *)at; }
static inline unsigned char *cpu_bytes(const DeviceByte *at) { return (unsigned char *)at; }

// Row r of what a message is made of, by its number in [own rows | partial sums].
static inline const float *message_row(const MessageSource *source, int64_t r) {
    return r < source->x.count
               ? cpu_floats(source->x.at) + r * source->x.stride
               : cpu_floats(source->sums.at) + (r - source->x.count) * source->sums.stride;
}
static inline float message_scale(const MessageSource *source, int64_t r) {
    return source->scale != NULL && r < source->x.count ? cpu_floats(source->scale)[r] : 1.0f;
}
static inline int message_peer(const MessageSource *source, int64_t r) {
    return r < source->x.count ? source->peer : source->sum_peer;
}

// The vector width in use: chosen by cpu_start, or the widest the CPU has before that.
enum Lanes { LANES_PLAIN, LANES_AVX2, LANES_AVX512, LANES_COUNT };
enum Lanes cpu_lanes(void);
extern const char *const cpu_lanes_names[LANES_COUNT]; // "plain", "avx2", "avx512"

// The version of f in use: LANES_PICK(f)(arguments) calls f_plain, f_avx2 or f_avx512.
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

// memory.c
void *cpu_alloc(size_t bytes, const char *what);
void *cpu_alloc_zeroed(size_t bytes, const char *what);
void cpu_free(void *block);
void cpu_copy(void *to, const void *from, size_t bytes);
void cpu_zero(void *block, size_t bytes);
void cpu_upload_rows(Rows to, const float *from);
void cpu_download_rows(float *to, Rows from);

// stream.c
DeviceEvent *cpu_event_new(void);
void cpu_event_free(DeviceEvent *event);
void cpu_event_record(DeviceEvent *event, DeviceStream stream);
bool cpu_event_reached(const DeviceEvent *event);
void cpu_event_wait(DeviceEvent *event, const Poll *poll);
double cpu_event_time(const DeviceEvent *event);
void cpu_stream_wait(DeviceStream stream, const DeviceEvent *event);
void cpu_finish(const Poll *poll);

// dense.c
void cpu_dense(Rows out, Range range, Rows a, const DeviceFloat *w, const DeviceFloat *bias,
               bool add, const Poll *poll);
void cpu_dense_transposed(Rows out, Range range, Rows g, const DeviceFloat *w, bool add,
                          const Poll *poll);
void cpu_dense_gradient(DeviceFloat *dw, Rows a, Rows g, DeviceFloat *scratch, const Poll *poll);
int64_t cpu_dense_gradient_scratch(int64_t rows, int64_t a_columns, int64_t g_columns);
void cpu_column_sums(DeviceFloat *db, Rows g, DeviceFloat *scratch);
int64_t cpu_column_sums_scratch(int64_t rows, int64_t columns);

// aggregate.c
Aggregate *cpu_aggregate_new(const Csr *csr, int64_t sources, int64_t columns, const char *panels);
size_t cpu_aggregate_bytes(const Csr *csr, int64_t sources, int64_t columns, const char *panels);
void cpu_aggregate_tune(Aggregate *aggregate, Rows out, Rows x);
void cpu_aggregate_free(Aggregate *aggregate);
const char *cpu_aggregate_describe(const Aggregate *aggregate, int64_t columns);
void cpu_aggregate_prepare(Aggregate *aggregate, Rows x, const DeviceFloat *right,
                           const Poll *poll);
void cpu_aggregate_rows(Aggregate *aggregate, Rows out, Range range, bool self,
                        const DeviceFloat *left, const Poll *poll);

// aggregate_halo.c
HaloAggregate *cpu_aggregate_halo_new(const Csr *csr, const int32_t *rows);
size_t cpu_aggregate_halo_bytes(const Csr *csr);
void cpu_aggregate_halo_free(HaloAggregate *aggregate);
void cpu_aggregate_halo_begin(HaloAggregate *aggregate);
void cpu_aggregate_halo(HaloAggregate *aggregate, Rows out, Rows halo, int64_t column_end,
                        const DeviceFloat *left, const Poll *poll);

// bias.c
void cpu_add_bias(Rows out, Range range, const DeviceFloat *bias, const Poll *poll);

// scaled.c
void cpu_add_scaled(Rows out, Range range, Rows a, Rows x, const DeviceFloat *scalar,
                    const Poll *poll);
void cpu_scale_rows(Rows x, Range range, const DeviceFloat *factor, const Poll *poll);
void cpu_dot(DeviceFloat *out, Rows x, Rows y);

// pointwise*.c
void cpu_post_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                      const DeviceInt64 *gid, const Poll *poll);
void cpu_post_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                       DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch,
                       const Poll *poll);
int64_t cpu_post_scratch(int64_t rows, int64_t columns);
void cpu_dropout(Rows out, Range range, Rows x, float keep, RandomStream stream,
                 const DeviceInt64 *gid, const Poll *poll);

// loss*.c
void cpu_softmax_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceInt32 *label,
                      const DeviceByte *split, uint8_t which, float weight);
void cpu_bce_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceByte *labels,
                  const DeviceByte *split, uint8_t which, float weight);

// count.c
void cpu_count_classes(DeviceInt64 *count, Rows logits, const DeviceInt32 *label,
                       const DeviceByte *split);
void cpu_count_labels(DeviceInt64 *count, Rows logits, const DeviceByte *labels,
                      const DeviceByte *split);

// gather.c
void cpu_pack_fp32(DeviceByte *out, const MessageSource *source, int64_t count, const Poll *poll);
void cpu_pack_bf16(DeviceByte *out, const MessageSource *source, int64_t count, DeviceInt64 *bad,
                   const Poll *poll);
void cpu_unpack_fp32(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                     const Poll *poll);
void cpu_unpack_bf16(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                     const Poll *poll);

void cpu_message_combine(DeviceFloat *out, float a, const DeviceFloat *x, float b, int64_t count,
                         const Poll *poll);
void cpu_message_distance(DeviceDouble *two, const DeviceFloat *a, const DeviceFloat *b,
                          int64_t count, const Poll *poll); // distance.c
void cpu_message_blend(Rows m, Rows x, const DeviceFloat *part, const Poll *poll);
void cpu_message_checksum(DeviceInt64 *sum, const DeviceByte *payload, size_t bytes,
                          const Poll *poll);

// quantize*.c
void cpu_quantize(const Quantized *to, const MessageSource *source, DeviceInt64 *bad,
                  const Poll *poll);
// *bad becomes 1 + place if that is less or there is none; place -1: nothing.
static inline void cpu_note_bad(DeviceInt64 *bad, int64_t place) {
    int64_t *at = cpu_int64s(bad);
    if (place >= 0 && (*at == 0 || place + 1 < *at))
        *at = place + 1;
}
void cpu_dequantize(Rows out, int64_t begin, const Quantized *from, const Poll *poll);

// optimizer*.c
void cpu_adam(DeviceFloat *w, DeviceFloat *m, DeviceFloat *v, const DeviceFloat *g,
              const DeviceFloat *decay, int64_t count, AdamStep step);
void cpu_sgd(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g, const DeviceFloat *decay,
             int64_t count, float rate, float momentum);
void cpu_square_sum(DeviceDouble *out, const DeviceFloat *x, int64_t count);
void cpu_scale(DeviceFloat *x, int64_t count, float factor);

#endif
