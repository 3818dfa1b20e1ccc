// Sums over rows, and sums of products in double, in the order of the CPU's.
//
// The one idea: the order of the additions is fixed, so they are a chain, and all that can be fast
// is what feeds it. A column's thread asks for many rows at once before it adds the first; sums in
// double have 16 threads that add and a block of threads that brings the next products meanwhile.
#include "pointwise.h"

// ---- sums of columns

static constexpr int COLUMN_THREADS = 128, ROWS_AHEAD = 16;

// sum[c] of the rows begin .. end - 1 of one column, `stride` numbers apart.
template <typename Number>
__device__ static inline float add_rows(const Number *at, int64_t begin, int64_t end,
                                        int64_t stride) {
    float sum = 0;
    for (int64_t r = begin; r < end; r += ROWS_AHEAD) {
        Number some[ROWS_AHEAD];
#pragma unroll
        for (int a = 0; a < ROWS_AHEAD; a++)
            if (r + a < end)
                some[a] = at[(r + a) * stride];
#pragma unroll
        for (int a = 0; a < ROWS_AHEAD; a++)
            if (r + a < end)
                sum += value_of(some[a]);
    }
    return sum;
}

// partial[b, c] = the sum of column c over the rows of block b; `pitch` floats from block to block.
template <typename Number>
__global__ __launch_bounds__(COLUMN_THREADS) static void add_column_blocks(
    float *partial, int64_t pitch, const Number *at, int64_t rows, int64_t columns, int64_t stride,
    int64_t block) {
    const int64_t items = divide_up(rows, block) * columns;
    EACH_ITEM(i, items) {
        const int64_t b = i / columns, c = i % columns;
        partial[b * pitch + c] = add_rows(at + c, b * block, least((b + 1) * block, rows), stride);
    }
}

// Partial sums are few columns of many rows: a block of threads brings tiles of a panel of 16
// columns, and its first 16 threads add a tile while all others bring the next one.
static constexpr int PANEL = 16, BRING_THREADS = 256, BRING = 8, BROUGHT = BRING_THREADS * BRING;

// The floats first .. of the panel [rows, PANEL], `some` of them in use, up to a tile.
__device__ static inline void bring_tile(float *tile, const float *at, int64_t first, int64_t some,
                                         int64_t stride, int64_t columns) {
    float value[BRING];
#pragma unroll
    for (int i = 0; i < BRING; i++) {
        const int64_t k = first + i * BRING_THREADS + threadIdx.x, c = k % PANEL;
        value[i] = k < some && c < columns ? at[k / PANEL * stride + c] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < BRING; i++)
        tile[i * BRING_THREADS + threadIdx.x] = value[i];
}

__global__ __launch_bounds__(BRING_THREADS) static void add_blocks(float *sum, const float *at,
                                                                   int64_t blocks, int64_t stride,
                                                                   int64_t columns) {
    SHARED(float, tile); // two
    const int64_t begin = (int64_t)blockIdx.x * PANEL, some = blocks * PANEL;
    const int64_t here = columns - begin;
    float total = 0;
    bring_tile(tile, at + begin, 0, some, stride, here);
    __syncthreads();
    for (int64_t first = 0, turn = 0; first < some; first += BROUGHT, turn ^= 1) {
        if (first + BROUGHT < some)
            bring_tile(tile + (turn ^ 1) * BROUGHT, at + begin, first + BROUGHT, some, stride,
                       here);
        const int items = (int)least(BROUGHT, some - first);
        if (threadIdx.x < PANEL)
#pragma unroll 16
            for (int i = (int)threadIdx.x; i < items; i += PANEL)
                total += tile[turn * BROUGHT + i];
        __syncthreads();
    }
    if (threadIdx.x < PANEL && threadIdx.x < here)
        sum[begin + threadIdx.x] = total;
}

void add_partials(float *sum, const float *at, int64_t blocks, int64_t stride, int64_t columns) {
    LAUNCH(add_blocks, divide_up(columns, PANEL), BRING_THREADS, 2 * BROUGHT * sizeof(float),
           cuda_stream(STREAM_COMPUTE), sum, at, blocks, stride, columns);
}

int64_t cuda_column_sums_scratch(int64_t rows, int64_t columns) {
    return column_blocks(rows) * rows_stride(columns);
}

void cuda_column_sums(DeviceFloat *db, Rows g, DeviceFloat *scratch) {
    const int64_t blocks = column_blocks(g.count), pitch = rows_stride(g.columns);
    EACH_TYPE(g.type, LAUNCH_ITEMS(add_column_blocks<Number>, blocks * g.columns, COLUMN_THREADS,
                                   floats_of(scratch), pitch, rows_of<Number>(g).at, g.count,
                                   g.columns, g.stride, column_block(g.count)));
    add_partials(floats_of(db), floats_of(scratch), blocks, pitch, g.columns);
}

// ---- sums of products, in double

static constexpr int PRODUCT_THREADS = 256, EACH = 8, TILE = PRODUCT_THREADS * EACH;

// The products of x and y from `begin` on, up to a tile of them.
template <typename Number>
__device__ static inline void make_products(double *product, const Number *x, const Number *y,
                                            int64_t begin, int64_t end) {
    float a[EACH], b[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int64_t at = begin + i * PRODUCT_THREADS + threadIdx.x;
        a[i] = at < end ? value_of(x[at]) : 0.0f;
        b[i] = at < end ? value_of(y[at]) : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
        product[i * PRODUCT_THREADS + threadIdx.x] = (double)a[i] * (double)b[i];
}

// part[b] = the sum of x y over block b: product i of the block is added by lane i % 16, in order,
// and the lanes as a tree. The first 16 threads add a tile while all others make the next one.
template <typename Number>
__global__ __launch_bounds__(PRODUCT_THREADS) static void product_blocks(
    double *part, const Number *x, const Number *y, int64_t count, int64_t block) {
    SHARED(double, product); // two tiles
    const int64_t first = (int64_t)blockIdx.x * block, end = least(first + block, count);
    double sum = 0;
    make_products(product, x, y, first, end);
    __syncthreads();
    for (int64_t begin = first, turn = 0; begin < end; begin += TILE, turn ^= 1) {
        if (begin + TILE < end)
            make_products(product + (turn ^ 1) * TILE, x, y, begin + TILE, end);
        const int here = (int)least(TILE, end - begin);
        if (threadIdx.x < LANES)
#pragma unroll 16
            for (int i = (int)threadIdx.x; i < here; i += LANES)
                sum += product[turn * TILE + i];
        __syncthreads();
    }
    if (threadIdx.x < LANES) {
        for (int half = LANES / 2; half > 0; half /= 2)
            sum += __shfl_down_sync(lanes_mask(), sum, half, LANES);
        if (threadIdx.x == 0)
            part[blockIdx.x] = sum;
    }
}

__global__ static void add_in_order(double *out, float *narrow, const double *part, int64_t parts) {
    SHARED(double, all);
    if (threadIdx.x < parts)
        all[threadIdx.x] = part[threadIdx.x];
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    double sum = 0;
    for (int64_t i = 0; i < parts; i++)
        sum += all[i];
    if (out != NULL)
        *out = sum;
    else
        *narrow = (float)sum;
}

void add_parts(double *out, float *narrow, const double *part, int64_t parts) {
    LAUNCH(add_in_order, 1, SUM_PARTS, SUM_PARTS * sizeof(double), cuda_stream(STREAM_COMPUTE), out,
           narrow, part, parts);
}

template <typename Number>
static void sum_of_products(double *out, float *narrow, const Number *x, const Number *y,
                            int64_t count, int64_t block) {
    double *part = (double *)cuda_scratch(SCRATCH_SUMS, SUM_PARTS * sizeof(double));
    const int64_t parts = divide_up(count, block);
    LAUNCH(product_blocks<Number>, parts, PRODUCT_THREADS, 2 * TILE * sizeof(double),
           cuda_stream(STREAM_COMPUTE), part, x, y, count, block);
    add_parts(out, narrow, part, parts);
}

// All columns of both, padding too, which is zero: rows lie one behind the other, and their stride
// is a multiple of 16.
void cuda_dot(DeviceFloat *out, Rows x, Rows y) {
    const int64_t rows = sum_block(x.count, LEAST_ROWS), stride = x.stride;
    EACH_TYPE(x.type,
              sum_of_products(NULL, floats_of(out), rows_of<Number>(x).at, rows_of<Number>(y).at,
                              x.count * stride, stride > 0 ? rows * stride : 1));
}

void cuda_square_sum(DeviceDouble *out, const DeviceFloat *x, int64_t count) {
    sum_of_products(doubles_of(out), NULL, floats_of(x), floats_of(x), count,
                    sum_block(count, LEAST_FLOATS));
}
