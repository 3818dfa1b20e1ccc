// Dropout, LayerNorm and ReLU after a convolution, in any order, and other work on rows by
// themselves. The formulas are those of kernels/cpu/pointwise_lanes.c.
//
// The one idea: 16 lanes do a row as the CPU's vector of 16 floats does, so that sums along it are
// the same tree. A row is read two or three times, all but the first time from the cache.
#include "philox.h"
#include "pointwise.h"

#include <cmath>

static const float norm_epsilon = 1e-5f;

// ---- a call

static uint32_t threshold_of(float keep) { return (uint32_t)lroundf(keep * 65536.0f); }

static int post_order(const Post *post) {
    int order = 0, place = 0;
    for (int i = 0; i < post->count; i++) {
        const PostStep step = post->step[i];
        if (step == POST_DROPOUT && (!post->training || post->keep >= 1))
            continue;
        const int digit = step == POST_DROPOUT ? DO_DROPOUT
                          : step == POST_NORM  ? DO_NORM
                                               : DO_ACTIVATION;
        order |= digit << place;
        place += 3;
    }
    return order;
}

PointwiseCall pointwise_call(Rows out, Rows z, const Post *post, PostSaved saved) {
    PointwiseCall call = {};
    call.order = post_order(post);
    call.save = post->training;
    call.out = device_rows(out);
    call.z = device_rows(z);
    call.mean = floats_of(saved.mean);
    call.inverse = floats_of(saved.inverse);
    call.kept = bytes_of(saved.kept);
    call.positive = bytes_of(saved.positive);
    call.gamma = floats_of(post->gamma);
    call.beta = floats_of(post->beta);
    if (order_has(call.order, DO_DROPOUT)) {
        call.stream = post->stream;
        call.threshold = threshold_of(post->keep);
        call.scale = 1.0f / post->keep;
    }
    return call;
}

// ---- dropout's bits

// Of the columns 8 block .. 8 block + 7.
__device__ static inline unsigned kept_byte(RandomStream stream, uint32_t threshold, int64_t row,
                                            uint32_t block) {
    uint32_t word[4];
    unsigned byte = 0;
    philox_block(word, stream, row, 0, block);
    for (int i = 0; i < 8; i++)
        byte |= (unsigned)(philox_half(word, i) < threshold) << i;
    return byte;
}

__device__ static inline void make_kept(const PointwiseCall &call, int64_t r) {
    const int64_t bytes = call.z.stride / 8;
    for (int64_t b = lane_of(); b < bytes; b += LANES)
        call.kept[r * bytes + b] =
            (unsigned char)kept_byte(call.stream, call.threshold, call.gid[r], (uint32_t)b);
    __syncwarp(lanes_mask()); // lanes read each other's bits
}

// ---- forward

struct Moments {
    float middle, factor; // mean and 1 / sqrt(variance + epsilon) of the norm's input
};

__device__ static inline Moments row_moments(const PointwiseCall &call, int head, int64_t r) {
    const float *z = call.z.at + r * call.z.stride;
    const float columns = (float)call.z.columns;
    float sum = 0, square = 0;
    for (int64_t c = lane_of(); c < call.z.columns; c += LANES)
        sum += steps_forward(call, head, z[c], r, c);
    const float middle = lanes_sum(sum) / columns;
    for (int64_t c = lane_of(); c < call.z.columns; c += LANES) {
        const float away = steps_forward(call, head, z[c], r, c) - middle;
        square += away * away;
    }
    return Moments{middle, 1.0f / sqrtf(lanes_sum(square) / columns + norm_epsilon)};
}

// As step_forward, and saves which inputs of the activation are positive: two bytes of 16 lanes.
__device__ static inline float step_and_save(const PointwiseCall &call, int step, float x,
                                             int64_t r, int64_t c) {
    if (step == DO_ACTIVATION && call.save) {
        const unsigned all = __ballot_sync(lanes_mask(), x > 0.0f && c < call.z.columns);
        const unsigned mine = all >> (threadIdx.x / LANES % 2 * LANES) & 0xffff;
        unsigned char *to = call.positive + r * (call.z.stride / 8) + c / LANES * 2;
        if (lane_of() < 2)
            to[lane_of()] = (unsigned char)(mine >> (8 * lane_of()));
    }
    return step_forward(call, step, x, r, c);
}
__device__ static inline float steps_and_save(const PointwiseCall &call, int steps, float x,
                                              int64_t r, int64_t c) {
    x = step_and_save(call, steps & 7, x, r, c);
    x = step_and_save(call, steps >> 3 & 7, x, r, c);
    return step_and_save(call, steps >> 6 & 7, x, r, c);
}

template <int ORDER>
__global__ __launch_bounds__(POINTWISE_THREADS) static void forward_rows(PointwiseCall call,
                                                                         int64_t begin,
                                                                         int64_t end) {
    const int order = ORDER == ANY_ORDER ? call.order : ORDER;
    const int head = order_head(order), tail = order_tail(order);
    const bool norm = order_has(order, DO_NORM);
    for (int64_t r = begin + lanes_row(); r < end; r += lanes_step()) {
        if (order_has(order, DO_DROPOUT))
            make_kept(call, r);
        const Moments m = norm ? row_moments(call, head, r) : Moments{0, 1};
        for (int64_t c = lane_of(); c < call.z.stride; c += LANES) {
            const bool inside = c < call.z.columns;
            float x = inside ? call.z.at[r * call.z.stride + c] : 0.0f;
            x = steps_and_save(call, head, x, r, c);
            if (norm && inside)
                x = (x - m.middle) * m.factor * call.gamma[c] + call.beta[c];
            x = steps_and_save(call, tail, x, r, c);
            call.out.at[r * call.out.stride + c] = inside ? x : 0.0f;
        }
        if (norm && call.save && lane_of() == 0) {
            call.mean[r] = m.middle;
            call.inverse[r] = m.factor;
        }
    }
}

void cuda_post_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                       const DeviceInt64 *gid, const Poll *poll) {
    (void)poll;
    PointwiseCall call = pointwise_call(h, z, post, saved);
    call.gid = int64s_of(gid);
    void (*kernel)(PointwiseCall, int64_t, int64_t) = forward_rows<ANY_ORDER>;
    switch (call.order) { // those of the recipes
    case 0321:
        kernel = forward_rows<0321>;
        break;
    case 0132:
        kernel = forward_rows<0132>;
        break;
    case 032:
        kernel = forward_rows<032>;
        break;
    default:
        break;
    }
    LAUNCH_LANES(kernel, range.end - range.begin, call, range.begin, range.end);
}

// ---- rows by themselves

// A lane does octets: a block of random numbers each.
__global__ static void dropout_rows(DeviceRows out, DeviceRows x, int64_t begin, int64_t end,
                                    RandomStream stream, uint32_t threshold, float scale,
                                    const int64_t *gid) {
    for (int64_t r = begin + lanes_row(); r < end; r += lanes_step())
        for (int64_t c = 8 * lane_of(); c < x.stride; c += 8 * LANES) {
            const unsigned kept = kept_byte(stream, threshold, gid[r], (uint32_t)(c / 8));
            const float *from = x.at + r * x.stride + c;
            float *to = out.at + r * out.stride + c;
            for (int i = 0; i < 8; i++)
                to[i] = kept >> i & 1 ? from[i] * scale : 0.0f;
        }
}

void cuda_dropout(Rows out, Range range, Rows x, float keep, RandomStream stream,
                  const DeviceInt64 *gid, const Poll *poll) {
    (void)poll;
    DeviceRows to = device_rows(out), from = device_rows(x);
    if (keep >= 1) { // nothing is dropped
        cuda_copy(to.at + range.begin * to.stride, from.at + range.begin * from.stride,
                  (size_t)((range.end - range.begin) * to.stride) * sizeof(float));
        return;
    }
    LAUNCH_LANES(dropout_rows, range.end - range.begin, to, from, range.begin, range.end, stream,
                 threshold_of(keep), 1.0f / keep, int64s_of(gid));
}

__global__ static void bias_rows(DeviceRows out, int64_t begin, int64_t end, const float *bias) {
    for (int64_t r = begin + lanes_row(); r < end; r += lanes_step())
        for (int64_t c = lane_of(); c < out.columns; c += LANES)
            out.at[r * out.stride + c] += bias[c];
}

void cuda_add_bias(Rows out, Range range, const DeviceFloat *bias, const Poll *poll) {
    (void)poll;
    LAUNCH_LANES(bias_rows, range.end - range.begin, device_rows(out), range.begin, range.end,
                 floats_of(bias));
}

__global__ static void scaled_rows(DeviceRows out, DeviceRows a, DeviceRows x, int64_t begin,
                                   int64_t end, const float *scalar) {
    const float factor = *scalar;
    for (int64_t r = begin + lanes_row(); r < end; r += lanes_step())
        for (int64_t c = lane_of(); c < out.columns; c += LANES)
            out.at[r * out.stride + c] = a.at[r * a.stride + c] + factor * x.at[r * x.stride + c];
}

void cuda_add_scaled(Rows out, Range range, Rows a, Rows x, const DeviceFloat *scalar,
                     const Poll *poll) {
    (void)poll;
    LAUNCH_LANES(scaled_rows, range.end - range.begin, device_rows(out), device_rows(a),
                 device_rows(x), range.begin, range.end, floats_of(scalar));
}
