// The backend "fenced", for tests: the CPU's operations behind a fence. It shows that nobody
// outside kernels/ touches the memory of a device and that every wait is there, on machines without
// one.
//
// Memory (memory.c): what alloc returns is a handle, an address that nobody may read or write, the
// system included. Each block has a twin that can be read; operations alone know where it lies.
// Lateness (stream.c): a call puts a command on the queue of its stream and returns. Commands run
// only while somebody waits, and only as far as that wait needs.
#ifndef FRINGE_KERNELS_FENCED_H
#define FRINGE_KERNELS_FENCED_H

#include "../internal.h"

// ---- memory.c
void *fenced_alloc(size_t bytes, const char *what);
void *fenced_alloc_zeroed(size_t bytes, const char *what);
void fenced_free(void *handle);
// The twin of an address in a living block, or of its end; NULL for NULL. Any other address is an
// error of the caller and stops the program.
void *fenced_twin(const void *handle);
Rows fenced_rows(Rows rows); // the same rows at their twin
void fenced_upload(void *device, const void *host, size_t bytes);
void fenced_download(void *host, const void *device, size_t bytes);
void fenced_copy(void *to, const void *from, size_t bytes);
void fenced_zero(void *device, size_t bytes);
void fenced_upload_rows(Rows to, const float *from);
void fenced_download_rows(float *to, Rows from);
void fenced_message_upload(void *device, const void *pinned, size_t bytes);
void fenced_message_download(void *pinned, const void *device, size_t bytes);
void fenced_message_zero(void *device, size_t bytes);

// ---- stream.c: what a command does, with the arguments that were copied at its call and the Poll
// of the wait that runs it.
typedef void FencedRun(const void *arguments, const Poll *poll);
// Puts a command with a copy of its arguments on the stream. A queue that is full runs its oldest
// command first.
void fenced_put(DeviceStream stream, FencedRun *run, const void *arguments, size_t bytes);
#define FENCED_PUT(stream, run, type, ...)                                                         \
    fenced_put(stream, run, &(type){__VA_ARGS__}, sizeof(type))
DeviceEvent *fenced_event_new(void);
void fenced_event_free(DeviceEvent *event);
void fenced_event_record(DeviceEvent *event, DeviceStream stream);
bool fenced_event_reached(const DeviceEvent *event);
void fenced_event_wait(DeviceEvent *event, const Poll *poll);
double fenced_event_time(const DeviceEvent *event);
void fenced_stream_wait(DeviceStream stream, const DeviceEvent *event);
void fenced_finish(const Poll *poll);

// ---- aggregate.c
Aggregate *fenced_aggregate_new(const Csr *csr, int64_t sources, int64_t columns,
                                const char *panels);
size_t fenced_aggregate_bytes(const Csr *csr, int64_t sources, int64_t columns, const char *panels);
void fenced_aggregate_tune(Aggregate *aggregate, Rows out, Rows x);
void fenced_aggregate_free(Aggregate *aggregate);
const char *fenced_aggregate_describe(const Aggregate *aggregate, int64_t columns);
void fenced_aggregate_prepare(Aggregate *aggregate, Rows x, const DeviceFloat *right,
                              const Poll *poll);
void fenced_aggregate_rows(Aggregate *aggregate, Rows out, Range range, bool self,
                           const DeviceFloat *left, const Poll *poll);
HaloAggregate *fenced_aggregate_halo_new(const Csr *csr, const int32_t *rows);
size_t fenced_aggregate_halo_bytes(const Csr *csr);
void fenced_aggregate_halo_free(HaloAggregate *aggregate);
void fenced_aggregate_halo_begin(HaloAggregate *aggregate);
void fenced_aggregate_halo(HaloAggregate *aggregate, Rows out, Rows halo, int64_t column_end,
                           const DeviceFloat *left, const Poll *poll);

// ---- dense.c
void fenced_dense(Rows out, Range range, Rows a, const DeviceFloat *w, const DeviceFloat *bias,
                  bool add, const Poll *poll);
void fenced_dense_transposed(Rows out, Range range, Rows g, const DeviceFloat *w, bool add,
                             const Poll *poll);
void fenced_dense_gradient(DeviceFloat *dw, Rows a, Rows g, DeviceFloat *scratch, const Poll *poll);
int64_t fenced_dense_gradient_scratch(int64_t rows, int64_t a_columns, int64_t g_columns);
void fenced_column_sums(DeviceFloat *db, Rows g, DeviceFloat *scratch);
int64_t fenced_column_sums_scratch(int64_t rows, int64_t columns);

// ---- pointwise.c
void fenced_post_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                         const DeviceInt64 *gid, const Poll *poll);
void fenced_post_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                          DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch,
                          const Poll *poll);
int64_t fenced_post_scratch(int64_t rows, int64_t columns);
void fenced_dropout(Rows out, Range range, Rows x, float keep, RandomStream stream,
                    const DeviceInt64 *gid, const Poll *poll);
void fenced_add_bias(Rows out, Range range, const DeviceFloat *bias, const Poll *poll);
void fenced_add_scaled(Rows out, Range range, Rows a, Rows x, const DeviceFloat *scalar,
                       const Poll *poll);
void fenced_scale_rows(Rows x, Range range, const DeviceFloat *factor, const Poll *poll);
void fenced_dot(DeviceFloat *out, Rows x, Rows y);

// ---- results.c: losses, metrics and the optimizer
void fenced_softmax_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceInt32 *label,
                         const DeviceByte *split, uint8_t which, float weight);
void fenced_bce_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceByte *labels,
                     const DeviceByte *split, uint8_t which, float weight);
void fenced_count_classes(DeviceInt64 *count, Rows logits, const DeviceInt32 *label,
                          const DeviceByte *split);
void fenced_count_labels(DeviceInt64 *count, Rows logits, const DeviceByte *labels,
                         const DeviceByte *split);
void fenced_adam(DeviceFloat *w, DeviceFloat *m, DeviceFloat *v, const DeviceFloat *g,
                 const DeviceFloat *decay, int64_t count, AdamStep step);
void fenced_sgd(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g,
                const DeviceFloat *decay, int64_t count, float rate, float momentum);
void fenced_square_sum(DeviceDouble *out, const DeviceFloat *x, int64_t count);
void fenced_scale(DeviceFloat *x, int64_t count, float factor);

// ---- message.c
void fenced_message_combine(DeviceFloat *out, float a, const DeviceFloat *x, float b, int64_t count,
                            const Poll *poll);
void fenced_message_distance(DeviceDouble *two, const DeviceFloat *a, const DeviceFloat *b,
                             int64_t count, const Poll *poll);
void fenced_message_blend(Rows m, Rows x, const DeviceFloat *part, const Poll *poll);
void fenced_message_checksum(DeviceInt64 *sum, const DeviceByte *payload, size_t bytes,
                             const Poll *poll);
void fenced_pack_fp32(DeviceByte *out, const MessageSource *source, int64_t count,
                      const Poll *poll);
void fenced_pack_bf16(DeviceByte *out, const MessageSource *source, int64_t count, DeviceInt64 *bad,
                      const Poll *poll);
void fenced_unpack_fp32(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                        const Poll *poll);
void fenced_unpack_bf16(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                        const Poll *poll);
void fenced_quantize(const Quantized *to, const MessageSource *source, DeviceInt64 *bad,
                     const Poll *poll);
void fenced_dequantize(Rows out, int64_t begin, const Quantized *from, const Poll *poll);

#endif
