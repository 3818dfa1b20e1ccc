// The CPU backend: the table, and the choice of vectors.
//
// The choice is made once, at run time, by what the CPU says of itself: the program is built for
// the plainest x86-64 and carries each vector kernel three times (lanes.h).
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

bool cpu_start(const char *vectors, Error *err) {
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
    return cpu_start(how->vectors != NULL ? how->vectors : "auto", err);
}

const char *cpu_describe(void) {
    static char text[160];
    snprintf(text, sizeof text, "%s, %s", cpu_lanes_names[cpu_lanes()], cpu_dense_describe());
    return text;
}

const Backend backend_cpu = {
    .name = "cpu",
    .start = start,
    .describe = cpu_describe,
    .host_is_device = true,
    .alloc = cpu_alloc,
    .alloc_zeroed = cpu_alloc_zeroed,
    .free = cpu_free,
    .alloc_pinned = cpu_alloc,
    .free_pinned = cpu_free,
    .upload = cpu_copy,
    .download = cpu_copy,
    .copy = cpu_copy,
    .zero = cpu_zero,
    .upload_rows = cpu_upload_rows,
    .download_rows = cpu_download_rows,
    .event_new = cpu_event_new,
    .event_free = cpu_event_free,
    .event_record = cpu_event_record,
    .event_reached = cpu_event_reached,
    .event_wait = cpu_event_wait,
    .event_time = cpu_event_time,
    .stream_wait = cpu_stream_wait,
    .finish = cpu_finish,
    .dense = cpu_dense,
    .dense_transposed = cpu_dense_transposed,
    .dense_gradient = cpu_dense_gradient,
    .dense_gradient_scratch = cpu_dense_gradient_scratch,
    .column_sums = cpu_column_sums,
    .column_sums_scratch = cpu_column_sums_scratch,
    .aggregate_new = cpu_aggregate_new,
    .aggregate_bytes = cpu_aggregate_bytes,
    .aggregate_tune = cpu_aggregate_tune,
    .aggregate_free = cpu_aggregate_free,
    .aggregate_describe = cpu_aggregate_describe,
    .aggregate_prepare = cpu_aggregate_prepare,
    .aggregate_rows = cpu_aggregate_rows,
    .aggregate_halo_new = cpu_aggregate_halo_new,
    .aggregate_halo_bytes = cpu_aggregate_halo_bytes,
    .aggregate_halo_free = cpu_aggregate_halo_free,
    .aggregate_halo_begin = cpu_aggregate_halo_begin,
    .aggregate_halo = cpu_aggregate_halo,
    .post_forward = cpu_post_forward,
    .post_backward = cpu_post_backward,
    .post_scratch = cpu_post_scratch,
    .dropout = cpu_dropout,
    .add_bias = cpu_add_bias,
    .add_scaled = cpu_add_scaled,
    .scale_rows = cpu_scale_rows,
    .dot = cpu_dot,
    .softmax_loss = cpu_softmax_loss,
    .bce_loss = cpu_bce_loss,
    .count_classes = cpu_count_classes,
    .count_labels = cpu_count_labels,
    .message_upload = cpu_copy,
    .message_download = cpu_copy,
    .message_zero = cpu_zero,
    .message_checksum = cpu_message_checksum,
    .message_combine = cpu_message_combine,
    .message_distance = cpu_message_distance,
    .message_blend = cpu_message_blend,
    .pack_fp32 = cpu_pack_fp32,
    .pack_bf16 = cpu_pack_bf16,
    .unpack_fp32 = cpu_unpack_fp32,
    .unpack_bf16 = cpu_unpack_bf16,
    .quantize = cpu_quantize,
    .dequantize = cpu_dequantize,
    .adam = cpu_adam,
    .sgd = cpu_sgd,
    .square_sum = cpu_square_sum,
    .scale = cpu_scale,
};
