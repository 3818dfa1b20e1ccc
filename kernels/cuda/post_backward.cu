// The way back through what follows a convolution: dz, and the sums dgamma and dbeta
// (kernels/cpu/pointwise_lanes.c has the formulas).
//
// The one idea: the sums over rows add in the order of rows, one thread a column, while dz wants 16
// lanes a row; so they are two kernels, and that of the sums runs first, because dz may take the
// place of dh. Columns ask for the rows of AHEAD steps at once before they add the first.
#include "pointwise.h"

static constexpr int SUM_THREADS = 128, AHEAD = 8;

// One element on its way back: the gradient of the norm's output, and xhat.
struct Back {
    float d, xhat;
};
template <typename Number>
__device__ static inline Back back_at(const PostRow<Number> &row, int head, int tail, int column) {
    return Back{steps_backward(tail, value_of(row.dh[column]), row, column),
                (head_at(row, head, column) - row.middle) * row.factor};
}

template <typename Number>
__device__ static inline PostRow<Number> back_row(const PostTask<Number> &task, int order,
                                                  int64_t r) {
    PostRow<Number> row = post_row(task, order, r);
    row.dh = task.dh.at + r * task.dh.stride;
    if (order_has(order, DO_NORM)) {
        row.middle = task.mean[r];
        row.factor = task.inverse[r];
    }
    return row;
}

// ---- dgamma = sum d xhat, dbeta = sum d: for each block of rows a row of each

template <int ORDER, typename Number>
__global__ __launch_bounds__(SUM_THREADS) static void back_sums(PostTask<Number> task,
                                                                float *partial, int64_t block) {
    const int order = ORDER == ANY_ORDER ? task.order : ORDER;
    const int head = order_head(order), tail = order_tail(order);
    const int64_t rows = task.z.count, columns = task.z.columns, stride = task.z.stride;
    const int64_t items = divide_up(rows, block) * columns;
    EACH_ITEM(i, items) {
        const int64_t b = i / columns, end = least((b + 1) * block, rows);
        const int c = (int)(i % columns);
        float dgamma = 0, dbeta = 0;
        for (int64_t r = b * block; r < end; r += AHEAD) {
            Back back[AHEAD];
#pragma unroll
            for (int a = 0; a < AHEAD; a++)
                if (r + a < end)
                    back[a] = back_at(back_row(task, order, r + a), head, tail, c);
#pragma unroll
            for (int a = 0; a < AHEAD; a++)
                if (r + a < end) {
                    dgamma += back[a].d * back[a].xhat;
                    dbeta += back[a].d;
                }
        }
        partial[2 * b * stride + c] = dgamma;
        partial[(2 * b + 1) * stride + c] = dbeta;
    }
}

// ---- dz

// s = gamma d; du = (s - mean(s) - xhat mean(s xhat)) factor; dz = head'(du)
template <typename Number>
__device__ static inline void back_norm(const PostTask<Number> &task, const PostRow<Number> &row,
                                        int order) {
    const int head = order_head(order), tail = order_tail(order);
    const int columns = (int)task.z.columns, padded = padded_columns(task.z);
    float sum = 0, product = 0;
#pragma unroll 4
    for (int c = row_lane(); c < columns; c += LANES) {
        const Back back = back_at(row, head, tail, c);
        const float s = task.gamma[c] * back.d;
        sum += s;
        product += s * back.xhat;
    }
    const float mean = lanes_sum(sum) / (float)columns;
    const float slope = lanes_sum(product) / (float)columns;
#pragma unroll 2
    for (int c = row_lane(); c < padded; c += LANES) {
        float dz = 0;
        if (c < columns) {
            const Back back = back_at(row, head, tail, c);
            const float s = task.gamma[c] * back.d - mean;
            const float du = (s - back.xhat * slope) * row.factor;
            dz = steps_backward(head, du, row, c);
        }
        put(row.out + c, dz);
    }
}

template <typename Number>
__device__ static inline void back_plain(const PostTask<Number> &task, const PostRow<Number> &row,
                                         int order) {
    const int columns = (int)task.z.columns, padded = padded_columns(task.z);
    for (int c = row_lane(); c < padded; c += LANES)
        put(row.out + c, c < columns ? steps_backward(order, value_of(row.dh[c]), row, c) : 0.0f);
}

template <int ORDER, typename Number> ROW_KERNEL backward_rows(PostTask<Number> task) {
    const int order = ORDER == ANY_ORDER ? task.order : ORDER;
    for (int64_t r = first_row(); r < task.z.count; r += row_step()) {
        const PostRow<Number> row = back_row(task, order, r);
        if (order_has(order, DO_NORM))
            back_norm(task, row, order);
        else
            back_plain(task, row, order);
    }
}

// ---- both

template <typename Number> struct BackwardKernels {
    void (*sums)(PostTask<Number>, float *, int64_t);
    void (*rows)(PostTask<Number>);
};
template <int ORDER, typename Number> static BackwardKernels<Number> kernels_of(void) {
    return BackwardKernels<Number>{back_sums<ORDER, Number>, backward_rows<ORDER, Number>};
}
#define BACKWARD(order)                                                                            \
    case order:                                                                                    \
        return kernels_of<order, Number>();

template <typename Number> static BackwardKernels<Number> backward_kernels(int order) {
    switch (order) { ORDERS_TRAINED(BACKWARD) }
    return kernels_of<ANY_ORDER, Number>();
}

// For each block of rows a row of dgamma, then a row of dbeta.
int64_t cuda_post_scratch(int64_t rows, int64_t columns) {
    return 2 * column_blocks(rows) * rows_stride(columns);
}

template <typename Number>
static void post_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                          DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch) {
    PostTask<Number> task = post_task<Number>(dz, z, post, saved);
    task.dh = rows_of<Number>(dh);
    const BackwardKernels<Number> kernels = backward_kernels<Number>(task.order);
    const int64_t blocks = column_blocks(z.count), stride = z.stride;
    float *partial = floats_of(scratch);
    if (order_has(task.order, DO_NORM)) {
        LAUNCH_ITEMS(kernels.sums, blocks * z.columns, SUM_THREADS, task, partial,
                     column_block(z.count));
        add_partials(floats_of(dgamma), partial, blocks, 2 * stride, z.columns);
        add_partials(floats_of(dbeta), partial + stride, blocks, 2 * stride, z.columns);
    }
    LAUNCH_ROWS(kernels.rows, z.count, task);
}

void cuda_post_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                        DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch,
                        const Poll *) {
    EACH_TYPE(z.type, post_backward<Number>(dz, dh, z, post, saved, dgamma, dbeta, scratch));
}
