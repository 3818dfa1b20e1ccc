// Dropout, LayerNorm and ReLU after a convolution, in any order (kernels/cpu/pointwise_lanes.c has
// the formulas); input dropout, a bias, a factor for each row, and a multiple of other rows.
//
// The one idea: what memory gives is the limit, so the second and third look at a row find it in
// the cache, and a kernel writes each result once. Work by elements takes four or eight
// neighbouring columns a thread: as many as one request, or one block of random numbers, holds.
#include "pointwise.h"

#include <cmath>

DropoutKey dropout_key(float keep, RandomKey key) {
    return DropoutKey{key, (uint32_t)lroundf(keep * 65536.0f), 1.0f / keep};
}

// ---- after a convolution

// The bits of a row: each lane makes whole bytes, and all lanes see them afterwards.
template <typename Number>
__device__ static inline void keep_row(unsigned char *kept, const PostTask<Number> &task,
                                       int64_t gid) {
    const int bytes = (int)(task.z.stride / 8);
    for (int b = row_lane(); b < bytes; b += LANES)
        kept[b] = (unsigned char)kept_byte(task.key, gid, b);
    __syncwarp(lanes_mask());
}

// Mean and inverse of the row's u = head(z).
template <typename Number>
__device__ static inline void row_norm(PostRow<Number> *row, int head, int columns) {
    float sum = 0, square = 0;
#pragma unroll 4
    for (int c = row_lane(); c < columns; c += LANES)
        sum += head_at(*row, head, c);
    row->middle = lanes_sum(sum) / (float)columns;
#pragma unroll 4
    for (int c = row_lane(); c < columns; c += LANES) {
        const float away = head_at(*row, head, c) - row->middle;
        square += away * away;
    }
    const float variance = lanes_sum(square) / (float)columns;
    row->factor = 1.0f / sqrtf(variance + NORM_EPSILON);
}

// Saves a bit of each of 16 columns. Two bytes are little to write, so a lane keeps those of one
// such call until there are 16 of them or the row ends.
__device__ static inline void save_positive(unsigned char *bits, unsigned *waiting, bool positive,
                                            int first, int padded) {
    const unsigned some =
        __ballot_sync(lanes_mask(), positive) >> (threadIdx.x / LANES % 2 * LANES);
    const int lane = row_lane(), turn = first / LANES % LANES;
    if (lane == turn)
        *waiting = some & 0xffff;
    if ((turn == LANES - 1 || first + LANES == padded) && lane <= turn)
        ((uint16_t *)bits)[first / LANES - turn + lane] = (uint16_t)*waiting;
}

// out = tail(norm(head(z)))
template <typename Number>
__device__ static inline void write_row(const PostTask<Number> &task, const PostRow<Number> &row,
                                        int order, bool save) {
    const int head = order_head(order), tail = order_tail(order);
    const int columns = (int)task.z.columns, padded = padded_columns(task.z);
    unsigned waiting = 0;
#pragma unroll 2
    for (int c = row_lane(); c < padded; c += LANES) {
        bool positive = false;
        float x = 0;
        if (c < columns) {
            x = steps_forward(head, value_of(row.z[c]), row, c, &positive);
            if (order_has(order, DO_NORM))
                x = ((x - row.middle) * row.factor) * task.gamma[c] + task.beta[c];
            x = steps_forward(tail, x, row, c, &positive);
        }
        put(row.out + c, x);
        if (save && order_has(order, DO_ACTIVATION))
            save_positive(row.positive, &waiting, positive, c - row_lane(), padded);
    }
}

template <int ORDER, bool SAVE, typename Number>
ROW_KERNEL forward_rows(PostTask<Number> task, int64_t begin, int64_t end) {
    const int order = ORDER == ANY_ORDER ? task.order : ORDER;
    const bool save = ORDER == ANY_ORDER ? task.save : SAVE;
    for (int64_t r = begin + first_row(); r < end; r += row_step()) {
        PostRow<Number> row = post_row(task, order, r);
        if (order_has(order, DO_DROPOUT))
            keep_row(row.kept, task, task.gid[r]);
        if (order_has(order, DO_NORM)) {
            row_norm(&row, order_head(order), (int)task.z.columns);
            if (save && row_lane() == 0) {
                task.mean[r] = row.middle;
                task.inverse[r] = row.factor;
            }
        }
        write_row(task, row, order, save);
    }
}

template <typename Number> using ForwardKernel = void(PostTask<Number>, int64_t, int64_t);

#define FORWARD_SAVING(order)                                                                      \
    case order:                                                                                    \
        return forward_rows<order, true, Number>;
#define FORWARD_ONLY(order)                                                                        \
    case order:                                                                                    \
        return forward_rows<order, false, Number>;

template <typename Number>
static ForwardKernel<Number> *forward_kernel(const PostTask<Number> &task) {
    if (task.save)
        switch (task.order) { ORDERS_TRAINED(FORWARD_SAVING) }
    else
        switch (task.order) { ORDERS_EVALUATED(FORWARD_ONLY) }
    return forward_rows<ANY_ORDER, true, Number>;
}

template <typename Number>
static void post_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                         const DeviceInt64 *gid) {
    PostTask<Number> task = post_task<Number>(h, z, post, saved);
    task.gid = int64s_of(gid);
    LAUNCH_ROWS(forward_kernel(task), range.end - range.begin, task, range.begin, range.end);
}

void cuda_post_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                       const DeviceInt64 *gid, const Poll *) {
    EACH_TYPE(z.type, post_forward<Number>(h, range, z, post, saved, gid));
}

// ---- rows by themselves: `lanes` neighbouring threads do a row, each some columns at a time

static constexpr int OCTET = 8, QUAD = 4, MOST_LANES = 32;

// As many as a row has pieces, a power of two.
static int lanes_for(int64_t pieces) {
    int lanes = 2;
    while (lanes < MOST_LANES && lanes < pieces)
        lanes *= 2;
    return lanes;
}

struct Walk {
    int64_t row, step;
    int lane;
};
__device__ static inline Walk walk_of(int lanes) {
    const int groups = ROW_THREADS / lanes;
    return Walk{(int64_t)blockIdx.x * groups + (int)threadIdx.x / lanes,
                (int64_t)gridDim.x * groups, (int)threadIdx.x % lanes};
}

#define LAUNCH_PIECES(kernel, rows, lanes, ...)                                                    \
    LAUNCH_ITEMS(kernel, (rows) * (lanes), ROW_THREADS, __VA_ARGS__, (lanes))

__device__ static inline float4 drop_quad(float4 x, float scale, unsigned bits) {
    return make_float4(bits & 1 ? x.x * scale : 0.0f, bits & 2 ? x.y * scale : 0.0f,
                       bits & 4 ? x.z * scale : 0.0f, bits & 8 ? x.w * scale : 0.0f);
}

// A thread takes the eight columns of one block of random numbers.
template <typename Number>
ROW_KERNEL dropout_rows(RowsOf<Number> out, RowsOf<Number> x, DropoutKey key, const int64_t *gid,
                        int64_t begin, int64_t end, int lanes) {
    const Walk walk = walk_of(lanes);
    const int octets = padded_columns(x) / OCTET;
    for (int64_t r = begin + walk.row; r < end; r += walk.step)
        for (int o = walk.lane; o < octets; o += lanes) {
            const Number *from = x.at + r * x.stride + OCTET * o;
            Number *to = out.at + r * out.stride + OCTET * o;
            const float4 low = quad_of(from), high = quad_of(from + QUAD);
            const unsigned bits = kept_byte(key, gid[r], o);
            put(to, drop_quad(low, key.scale, bits));
            put(to + QUAD, drop_quad(high, key.scale, bits >> QUAD));
        }
}

template <typename Number>
static void dropout(Rows out, Range range, Rows x, float keep, RandomKey key,
                    const DeviceInt64 *gid) {
    const int64_t rows = range.end - range.begin;
    const RowsOf<Number> to = rows_of<Number>(out), from = rows_of<Number>(x);
    if (keep >= 1) { // nothing is dropped
        if (rows > 0)
            cuda_copy(to.at + range.begin * to.stride, from.at + range.begin * from.stride,
                      (size_t)(rows * from.stride) * sizeof(Number));
        return;
    }
    LAUNCH_PIECES(dropout_rows<Number>, rows, lanes_for(divide_up(x.columns, OCTET)), to, from,
                  dropout_key(keep, key), int64s_of(gid), range.begin, range.end);
}

void cuda_dropout(Rows out, Range range, Rows x, float keep, RandomKey key, const DeviceInt64 *gid,
                  const Poll *) {
    EACH_TYPE(x.type, dropout<Number>(out, range, x, keep, key, gid));
}

template <typename Number>
ROW_KERNEL add_bias_rows(RowsOf<Number> out, const float *bias, int64_t begin, int64_t end,
                         int lanes) {
    const Walk walk = walk_of(lanes);
    const int columns = (int)out.columns;
    for (int64_t r = begin + walk.row; r < end; r += walk.step)
        for (int c = QUAD * walk.lane; c < columns; c += QUAD * lanes) {
            Number *at = out.at + r * out.stride + c;
            float4 sum = quad_of(at);
            sum.x += bias[c];
            if (c + 1 < columns) // padding stays as it is
                sum.y += bias[c + 1];
            if (c + 2 < columns)
                sum.z += bias[c + 2];
            if (c + 3 < columns)
                sum.w += bias[c + 3];
            put(at, sum);
        }
}

void cuda_add_bias(Rows out, Range range, const DeviceFloat *bias, const Poll *) {
    EACH_TYPE(out.type, LAUNCH_PIECES(add_bias_rows<Number>, range.end - range.begin,
                                      lanes_for(divide_up(out.columns, QUAD)), rows_of<Number>(out),
                                      floats_of(bias), range.begin, range.end));
}

__device__ static inline float sum_of(float p, float a, float q, float x) {
    return p == 0 ? q * x : p * a + q * x;
}

// X: a number of x. Types mix where a sum in floats is rounded, or enters rows of bf16.
template <typename Number, typename X>
ROW_KERNEL add_scaled_rows(RowsOf<Number> out, RowFactor p, RowsOf<Number> a, RowFactor q,
                           RowsOf<X> x, int64_t begin, int64_t end, int lanes) {
    const Walk walk = walk_of(lanes);
    const int columns = (int)out.columns;
    for (int64_t r = begin + walk.row; r < end; r += walk.step) {
        const float f = factor_at(p, r), g = factor_at(q, r);
        for (int c = QUAD * walk.lane; c < columns; c += QUAD * lanes) {
            const float4 u = f == 0 ? make_float4(0, 0, 0, 0) : quad_of(a.at + r * a.stride + c);
            const float4 v = quad_of(x.at + r * x.stride + c);
            const float4 sum = make_float4(sum_of(f, u.x, g, v.x), sum_of(f, u.y, g, v.y),
                                           sum_of(f, u.z, g, v.z), sum_of(f, u.w, g, v.w));
            Number *to = out.at + r * out.stride + c;
            if (c + QUAD <= columns) {
                put(to, sum);
                continue;
            }
            const float some[] = {sum.x, sum.y, sum.z}; // padding stays as it is
            for (int i = 0; c + i < columns; i++)
                put(to + i, some[i]);
        }
    }
}

template <typename Number, typename X>
static void add_scaled_as(DeviceStream stream, Rows out, Range range, RowFactor p, Rows a,
                          RowFactor q, Rows x) {
    const int lanes = lanes_for(divide_up(out.columns, QUAD));
    LAUNCH((add_scaled_rows<Number, X>),
           cuda_blocks((range.end - range.begin) * lanes, ROW_THREADS), ROW_THREADS, 0,
           cuda_stream(stream), rows_of<Number>(out), p, rows_of<Number>(a), q, rows_of<X>(x),
           range.begin, range.end, lanes);
}

static void add_scaled_on(DeviceStream stream, Rows out, Range range, RowFactor p, Rows a,
                          RowFactor q, Rows x) {
    if (out.type == ROWS_FP32)
        add_scaled_as<float, float>(stream, out, range, p, a, q, x);
    else if (x.type == ROWS_FP32)
        add_scaled_as<Bf16, float>(stream, out, range, p, a, q, x);
    else
        add_scaled_as<Bf16, Bf16>(stream, out, range, p, a, q, x);
}

void cuda_add_scaled(Rows out, Range range, RowFactor p, Rows a, RowFactor q, Rows x,
                     const Poll *) {
    add_scaled_on(STREAM_COMPUTE, out, range, p, a, q, x);
}

void cuda_message_add_scaled(Rows out, RowFactor p, Rows a, RowFactor q, Rows x, const Poll *) {
    add_scaled_on(STREAM_MESSAGE, out, Range{0, out.count}, p, a, q, x);
}
