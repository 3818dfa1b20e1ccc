// The CUDA backend's own header: every operation of struct Backend under the name cuda_<op> (their
// promises stand in fringe/backend.h), and what its files share. Only kernels/cuda opens it.
//
// The .cu files are C++ (nvcc; and g++ against the emulated device of the tests); table.c, which
// holds the Backend, is C. No fused multiply-add, no approximate division or root: the whole
// plug-in is compiled with --fmad=false, so that every operation but the dense products and the
// logarithm of the softmax loss gives the bits of the CPU's.
#ifndef FRINGE_KERNELS_CUDA_H
#define FRINGE_KERNELS_CUDA_H

#ifdef __cplusplus
#define _Noreturn [[noreturn]]
extern "C" {
#endif

#include "../plugin.h"

// ---- runtime.cu: the device, its two streams, events
void cuda_open(const PluginHost *host); // keeps the host's functions
bool cuda_start(const BackendStart *how, Error *err);
const char *cuda_describe(void);
const char *cuda_device_id(void);
DeviceEvent *cuda_event_new(void);
void cuda_event_free(DeviceEvent *event);
void cuda_event_record(DeviceEvent *event, DeviceStream stream);
bool cuda_event_reached(const DeviceEvent *event);
void cuda_event_wait(DeviceEvent *event, const Poll *poll);
double cuda_event_time(const DeviceEvent *event);
void cuda_stream_wait(DeviceStream stream, const DeviceEvent *event);
void cuda_finish(const Poll *poll);
void cuda_range_begin(const char *name);
void cuda_range_end(void);

// ---- memory.cu
size_t cuda_device_free(void);
void *cuda_alloc(size_t bytes, const char *what);
void *cuda_alloc_zeroed(size_t bytes, const char *what);
void cuda_free(void *device);
void *cuda_alloc_pinned(size_t bytes, const char *what);
void cuda_free_pinned(void *pinned);
void cuda_upload(void *device, const void *host, size_t bytes);
void cuda_download(void *host, const void *device, size_t bytes);
void cuda_copy(void *to, const void *from, size_t bytes);
void cuda_zero(void *device, size_t bytes);
void cuda_upload_rows(Rows to, const float *from);
void cuda_download_rows(float *to, Rows from);
void cuda_message_upload(void *device, const void *pinned, size_t bytes);
void cuda_message_download(void *pinned, const void *device, size_t bytes);
void cuda_message_zero(void *device, size_t bytes);

// ---- dense.cu
void cuda_dense(Rows out, Range range, Rows a, const DeviceFloat *w, const DeviceFloat *bias,
                bool add, const Poll *poll);
void cuda_dense_transposed(Rows out, Range range, Rows g, const DeviceFloat *w, bool add,
                           const Poll *poll);
void cuda_dense_gradient(DeviceFloat *dw, Rows a, Rows g, DeviceFloat *scratch, const Poll *poll);
int64_t cuda_dense_gradient_scratch(int64_t rows, int64_t a_columns, int64_t g_columns);

// ---- sums.cu: sums over rows and over flat arrays
void cuda_column_sums(DeviceFloat *db, Rows g, DeviceFloat *scratch);
int64_t cuda_column_sums_scratch(int64_t rows, int64_t columns);
void cuda_dot(DeviceFloat *out, Rows x, Rows y);
void cuda_square_sum(DeviceDouble *out, const DeviceFloat *x, int64_t count);

// ---- aggregate.cu
Aggregate *cuda_aggregate_new(const Csr *csr, int64_t sources, int64_t columns, const char *panels);
size_t cuda_aggregate_bytes(const Csr *csr, int64_t sources, int64_t columns, const char *panels);
void cuda_aggregate_tune(Aggregate *aggregate, Rows out, Rows x);
void cuda_aggregate_free(Aggregate *aggregate);
const char *cuda_aggregate_describe(const Aggregate *aggregate, int64_t columns);
void cuda_aggregate_prepare(Aggregate *aggregate, Rows x, const DeviceFloat *right,
                            const Poll *poll);
void cuda_aggregate_rows(Aggregate *aggregate, Rows out, Range range, bool self,
                         const DeviceFloat *left, const Poll *poll);
HaloAggregate *cuda_aggregate_halo_new(const Csr *csr, const int32_t *rows);
size_t cuda_aggregate_halo_bytes(const Csr *csr);
void cuda_aggregate_halo_free(HaloAggregate *aggregate);
void cuda_aggregate_halo_begin(HaloAggregate *aggregate);
void cuda_aggregate_halo(HaloAggregate *aggregate, Rows out, Rows halo, int64_t column_end,
                         const DeviceFloat *left, const Poll *poll);

const char *cuda_spmm(void);
void cuda_spmm_set(const char *name);

// ---- pointwise.cu
void cuda_post_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                       const DeviceInt64 *gid, const Poll *poll);
void cuda_post_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                        DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch,
                        const Poll *poll);
int64_t cuda_post_scratch(int64_t rows, int64_t columns);
void cuda_dropout(Rows out, Range range, Rows x, float keep, RandomStream stream,
                  const DeviceInt64 *gid, const Poll *poll);
void cuda_add_bias(Rows out, Range range, const DeviceFloat *bias, const Poll *poll);
void cuda_add_scaled(Rows out, Range range, Rows a, Rows x, const DeviceFloat *scalar,
                     const Poll *poll);
void cuda_scale_rows(Rows x, Range range, const DeviceFloat *factor, const Poll *poll);

// ---- results.cu: losses, metrics and the optimizer
void cuda_softmax_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceInt32 *label,
                       const DeviceByte *split, uint8_t which, float weight);
void cuda_bce_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceByte *labels,
                   const DeviceByte *split, uint8_t which, float weight);
void cuda_count_classes(DeviceInt64 *count, Rows logits, const DeviceInt32 *label,
                        const DeviceByte *split);
void cuda_count_labels(DeviceInt64 *count, Rows logits, const DeviceByte *labels,
                       const DeviceByte *split);
void cuda_adam(DeviceFloat *w, DeviceFloat *m, DeviceFloat *v, const DeviceFloat *g,
               const DeviceFloat *decay, int64_t count, AdamStep step);
void cuda_sgd(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g, const DeviceFloat *decay,
              int64_t count, float rate, float momentum);
void cuda_scale(DeviceFloat *x, int64_t count, float factor);

// ---- message.cu, quantize.cu, checksum.cu: on STREAM_MESSAGE
void cuda_pack_fp32(DeviceByte *out, const MessageSource *source, int64_t count, const Poll *poll);
void cuda_pack_bf16(DeviceByte *out, const MessageSource *source, int64_t count, DeviceInt64 *bad,
                    const Poll *poll);
void cuda_unpack_fp32(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                      const Poll *poll);
void cuda_unpack_bf16(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                      const Poll *poll);
void cuda_quantize(const Quantized *to, const MessageSource *source, DeviceInt64 *bad,
                   const Poll *poll);
void cuda_dequantize(Rows out, int64_t begin, const Quantized *from, const Poll *poll);
void cuda_message_combine(DeviceFloat *out, float a, const DeviceFloat *x, float b, int64_t count,
                          const Poll *poll);
void cuda_message_distance(DeviceDouble *two, const DeviceFloat *a, const DeviceFloat *b,
                           int64_t count, const Poll *poll);
void cuda_message_blend(Rows m, Rows x, const DeviceFloat *part, const Poll *poll);
void cuda_message_checksum(DeviceInt64 *sum, const DeviceByte *payload, size_t bytes,
                           const Poll *poll);

#ifdef __cplusplus
}
#endif

#endif
