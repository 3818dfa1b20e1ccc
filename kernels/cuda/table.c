// The CUDA backend: the table, and the door of the plug-in. The same file makes the plug-in
// "emulated" of the tests, which no config can name.
#include "cuda.h"

#ifndef FRINGE_PLUGIN_NAME
#define FRINGE_PLUGIN_NAME "cuda"
#endif

static const Backend table = {
    .name = FRINGE_PLUGIN_NAME,
    .start = cuda_start,
    .is_device = true,
    .describe = cuda_describe,
    .device_id = cuda_device_id,
    .device_free = cuda_device_free,
    .host_is_device = false,
    .alloc = cuda_alloc,
    .alloc_zeroed = cuda_alloc_zeroed,
    .free = cuda_free,
    .alloc_pinned = cuda_alloc_pinned,
    .free_pinned = cuda_free_pinned,
    .upload = cuda_upload,
    .download = cuda_download,
    .copy = cuda_copy,
    .zero = cuda_zero,
    .upload_rows = cuda_upload_rows,
    .download_rows = cuda_download_rows,
    .event_new = cuda_event_new,
    .event_free = cuda_event_free,
    .event_record = cuda_event_record,
    .event_reached = cuda_event_reached,
    .event_wait = cuda_event_wait,
    .event_time = cuda_event_time,
    .range_begin = cuda_range_begin,
    .range_end = cuda_range_end,
    .stream_wait = cuda_stream_wait,
    .finish = cuda_finish,
    .dense = cuda_dense,
    .dense_transposed = cuda_dense_transposed,
    .dense_gradient = cuda_dense_gradient,
    .dense_gradient_scratch = cuda_dense_gradient_scratch,
    .column_sums = cuda_column_sums,
    .column_sums_scratch = cuda_column_sums_scratch,
    .aggregate_new = cuda_aggregate_new,
    .aggregate_bytes = cuda_aggregate_bytes,
    .aggregate_tune = cuda_aggregate_tune,
    .aggregate_free = cuda_aggregate_free,
    .aggregate_describe = cuda_aggregate_describe,
    .aggregate_prepare = cuda_aggregate_prepare,
    .aggregate_rows = cuda_aggregate_rows,
    .spmm = cuda_spmm,
    .spmm_set = cuda_spmm_set,
    .aggregate_halo_new = cuda_aggregate_halo_new,
    .aggregate_halo_bytes = cuda_aggregate_halo_bytes,
    .aggregate_halo_free = cuda_aggregate_halo_free,
    .aggregate_halo_begin = cuda_aggregate_halo_begin,
    .aggregate_halo = cuda_aggregate_halo,
    .post_forward = cuda_post_forward,
    .post_backward = cuda_post_backward,
    .post_scratch = cuda_post_scratch,
    .dropout = cuda_dropout,
    .add_bias = cuda_add_bias,
    .add_scaled = cuda_add_scaled,
    .dot = cuda_dot,
    .softmax_loss = cuda_softmax_loss,
    .bce_loss = cuda_bce_loss,
    .count_classes = cuda_count_classes,
    .count_labels = cuda_count_labels,
    .message_upload = cuda_message_upload,
    .message_download = cuda_message_download,
    .message_zero = cuda_message_zero,
    .message_checksum = cuda_message_checksum,
    .message_combine = cuda_message_combine,
    .message_distance = cuda_message_distance,
    .message_blend = cuda_message_blend,
    .pack_fp32 = cuda_pack_fp32,
    .pack_bf16 = cuda_pack_bf16,
    .unpack_fp32 = cuda_unpack_fp32,
    .unpack_bf16 = cuda_unpack_bf16,
    .quantize = cuda_quantize,
    .dequantize = cuda_dequantize,
    .adam = cuda_adam,
    .sgd = cuda_sgd,
    .square_sum = cuda_square_sum,
    .scale = cuda_scale,
};

static const Backend *open_table(const PluginHost *host) {
    cuda_open(host);
    return &table;
}

__attribute__((visibility("default")))
const Plugin fringe_plugin = {.abi = FRINGE_ABI, .name = FRINGE_PLUGIN_NAME, .open = open_table};
