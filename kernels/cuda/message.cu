// Rows of a send list one behind the other, tight, as floats or as bf16, and back.
//
// The one idea: a warp does a row, and its lanes neighbouring columns, so that what is read at
// random are whole rows and what is written is one piece. Where rows are multiples of 16 bytes a
// lane moves four floats at a time.
#include "message.h"

#include "../bf16.h"

// ---- floats

__device__ static inline float4 scaled(float factor, float4 x) {
    return make_float4(factor * x.x, factor * x.y, factor * x.z, factor * x.w);
}

__global__ static void pack_floats(float *out, MessageSource source, int64_t count, bool by_four) {
    const int64_t columns = source.x.columns;
    const int lane = (int)(threadIdx.x % WARP);
    for (int64_t k = first_row(); k < count; k += row_step()) {
        const int64_t r = int32s_of(source.row)[k];
        const float *from = message_row(source, r);
        const float factor = message_scale(source, r);
        float *to = out + k * columns;
        if (by_four)
            for (int64_t c = 4 * lane; c < columns; c += 4 * WARP)
                *(float4 *)(to + c) = scaled(factor, *(const float4 *)(from + c));
        else
            for (int64_t c = lane; c < columns; c += WARP)
                to[c] = factor * from[c];
    }
}

static bool is_by_four(const void *tight, int64_t columns) {
    return columns % 4 == 0 && (uintptr_t)tight % sizeof(float4) == 0;
}

void cuda_pack_fp32(DeviceByte *out, const MessageSource *source, int64_t count, const Poll *poll) {
    (void)poll;
    LAUNCH_ROWS(pack_floats, count, 0, (float *)out, *source, count,
                is_by_four(out, source->x.columns));
}

// Rows are written whole, padding too.
__global__ static void unpack_floats(DeviceRows out, const float *in, int64_t count, bool by_four) {
    const int lane = (int)(threadIdx.x % WARP);
    for (int64_t k = first_row(); k < count; k += row_step()) {
        const float *from = in + k * out.columns;
        float *to = out.at + k * out.stride;
        if (by_four)
            for (int64_t c = 4 * lane; c < out.stride; c += 4 * WARP)
                *(float4 *)(to + c) =
                    c < out.columns ? *(const float4 *)(from + c) : make_float4(0, 0, 0, 0);
        else
            for (int64_t c = lane; c < out.stride; c += WARP)
                to[c] = c < out.columns ? from[c] : 0.0f;
    }
}

static DeviceRows rows_from(Rows out, int64_t first) {
    DeviceRows rows = device_rows(out);
    rows.at += first * rows.stride;
    return rows;
}

void cuda_unpack_fp32(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                      const Poll *poll) {
    (void)poll;
    LAUNCH_ROWS(unpack_floats, count, 0, rows_from(out, first), (const float *)in, count,
                is_by_four(in, out.columns));
}

// ---- bf16, two bytes, little-endian

__global__ static void pack_halves(uint16_t *out, MessageSource source, int64_t count,
                                   DeviceInt64 *first_bad) {
    const int64_t columns = source.x.columns;
    const int lane = (int)(threadIdx.x % WARP);
    for (int64_t k = first_row(); k < count; k += row_step()) {
        const int64_t r = int32s_of(source.row)[k];
        const float *from = message_row(source, r);
        const float factor = message_scale(source, r);
        bool bad = false;
        for (int64_t c = lane; c < columns; c += WARP) {
            const uint32_t bits = __float_as_uint(factor * from[c]);
            bad |= bf16_is_bad(bits);
            out[k * columns + c] = (uint16_t)bf16_rounded(bits);
        }
        if (__any_sync(WHOLE_WARP, bad) && lane == 0)
            note_bad(first_bad, k);
    }
}

void cuda_pack_bf16(DeviceByte *out, const MessageSource *source, int64_t count, DeviceInt64 *bad,
                    const Poll *poll) {
    (void)poll;
    LAUNCH_ROWS(pack_halves, count, 0, (uint16_t *)out, *source, count, bad);
}

__global__ static void unpack_halves(DeviceRows out, const uint16_t *in, int64_t count) {
    const int lane = (int)(threadIdx.x % WARP);
    for (int64_t k = first_row(); k < count; k += row_step())
        for (int64_t c = lane; c < out.stride; c += WARP)
            out.at[k * out.stride + c] =
                c < out.columns ? __uint_as_float((uint32_t)in[k * out.columns + c] << 16) : 0.0f;
}

void cuda_unpack_bf16(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                      const Poll *poll) {
    (void)poll;
    LAUNCH_ROWS(unpack_halves, count, 0, rows_from(out, first), (const uint16_t *)in, count);
}
