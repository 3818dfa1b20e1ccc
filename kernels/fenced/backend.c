// The fenced backend: the table.
#include "fenced.h"

#include <stdio.h>

static bool start(const BackendStart *how, Error *err) { return backend_cpu.start(how, err); }

static const char *describe(void) {
    static char text[200];
    snprintf(text, sizeof text, "fenced, %s", backend_cpu.describe());
    return text;
}

static void *fenced_alloc_pinned(size_t bytes, const char *what) {
    return backend_cpu.alloc_pinned(bytes, what);
}

// Commands may still name it.
static void free_pinned(void *pinned) {
    if (pinned != NULL)
        fenced_finish(NULL);
    backend_cpu.free_pinned(pinned);
}

const Backend backend_fenced = {
    .name = "fenced",
    .start = start,
    .describe = describe,
    .host_is_device = false,
    .alloc = fenced_alloc,
    .alloc_zeroed = fenced_alloc_zeroed,
    .free = fenced_free,
    .alloc_pinned = fenced_alloc_pinned,
    .free_pinned = free_pinned,
    .upload = fenced_upload,
    .download = fenced_download,
    .copy = fenced_copy,
    .zero = fenced_zero,
    .upload_rows = fenced_upload_rows,
    .download_rows = fenced_download_rows,
    .event_new = fenced_event_new,
    .event_free = fenced_event_free,
    .event_record = fenced_event_record,
    .event_reached = fenced_event_reached,
    .event_wait = fenced_event_wait,
    .event_time = fenced_event_time,
    .stream_wait = fenced_stream_wait,
    .finish = fenced_finish,
    .dense = fenced_dense,
    .dense_transposed = fenced_dense_transposed,
    .dense_gradient = fenced_dense_gradient,
    .dense_gradient_scratch = fenced_dense_gradient_scratch,
    .column_sums = fenced_column_sums,
    .column_sums_scratch = fenced_column_sums_scratch,
    .aggregate_new = fenced_aggregate_new,
    .aggregate_bytes = fenced_aggregate_bytes,
    .aggregate_tune = fenced_aggregate_tune,
    .aggregate_free = fenced_aggregate_free,
    .aggregate_describe = fenced_aggregate_describe,
    .aggregate_prepare = fenced_aggregate_prepare,
    .aggregate_rows = fenced_aggregate_rows,
    .aggregate_halo_new = fenced_aggregate_halo_new,
    .aggregate_halo_bytes = fenced_aggregate_halo_bytes,
    .aggregate_halo_free = fenced_aggregate_halo_free,
    .aggregate_halo_begin = fenced_aggregate_halo_begin,
    .aggregate_halo = fenced_aggregate_halo,
    .post_forward = fenced_post_forward,
    .post_backward = fenced_post_backward,
    .post_scratch = fenced_post_scratch,
    .dropout = fenced_dropout,
    .add_bias = fenced_add_bias,
    .add_scaled = fenced_add_scaled,
    .scale_rows = fenced_scale_rows,
    .dot = fenced_dot,
    .softmax_loss = fenced_softmax_loss,
    .bce_loss = fenced_bce_loss,
    .count_classes = fenced_count_classes,
    .count_labels = fenced_count_labels,
    .message_upload = fenced_message_upload,
    .message_download = fenced_message_download,
    .message_zero = fenced_message_zero,
    .message_checksum = fenced_message_checksum,
    .message_combine = fenced_message_combine,
    .message_distance = fenced_message_distance,
    .message_blend = fenced_message_blend,
    .pack_fp32 = fenced_pack_fp32,
    .pack_bf16 = fenced_pack_bf16,
    .unpack_fp32 = fenced_unpack_fp32,
    .unpack_bf16 = fenced_unpack_bf16,
    .quantize = fenced_quantize,
    .dequantize = fenced_dequantize,
    .adam = fenced_adam,
    .sgd = fenced_sgd,
    .square_sum = fenced_square_sum,
    .scale = fenced_scale,
};
