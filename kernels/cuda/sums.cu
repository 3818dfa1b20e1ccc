// Sums over rows and over flat arrays, in the CPU's blocks and its order.
//
// The one idea: every sum is cut into blocks by the number of its terms alone, blocks are summed
// side by side, and their sums are added in order. So the bits are the CPU's, and the same each
// time.
#include "pointwise.h"

// ---- columns of rows

static constexpr int COLUMN_THREADS = 64;

__global__ static void sum_columns(DeviceRows g, float *partial, int64_t block, int tiles) {
    const int64_t b = blockIdx.x / tiles;
    const int64_t c = (int64_t)(blockIdx.x % tiles) * COLUMN_THREADS + threadIdx.x;
    if (c >= g.columns)
        return;
    float sum = 0;
    const int64_t end = least((b + 1) * block, g.count);
    for (int64_t r = b * block; r < end; r++)
        sum += g.at[r * g.stride + c];
    partial[b * g.stride + c] = sum;
}

int64_t cuda_column_sums_scratch(int64_t rows, int64_t columns) {
    return sum_blocks(rows) * rows_stride_of(columns);
}

void cuda_column_sums(DeviceFloat *db, Rows g, DeviceFloat *scratch) {
    const int64_t blocks = sum_blocks(g.count), tiles = divide_up(g.columns, COLUMN_THREADS);
    LAUNCH(sum_columns, blocks * tiles, COLUMN_THREADS, 0, cuda_stream(STREAM_COMPUTE),
           device_rows(g), floats_of(scratch), sum_block_rows(g.count), (int)tiles);
    add_partials(floats_of(db), floats_of(scratch), blocks, g.stride, g.columns);
}

// ---- products and squares: 16 double lanes a block, added as a tree; at most 256 blocks

static constexpr int BLOCKS = 256;

// The sum of 16 lanes, in lane 0. All of them call it.
__device__ static inline double lanes_sum_double(double value) {
    for (int half = LANES / 2; half > 0; half /= 2)
        value += __shfl_down_sync(lanes_mask(), value, half, LANES);
    return value;
}

// part[b] = the sum of block b; a thread block of 16 lanes each.
__global__ static void dot_blocks(double *part, DeviceRows x, DeviceRows y, int64_t block) {
    const int64_t begin = blockIdx.x * block * x.stride;
    const int64_t end = least((blockIdx.x + 1) * block, x.count) * x.stride;
    double sum = 0;
    for (int64_t i = begin + lane_of(); i < end; i += LANES)
        sum += (double)x.at[i] * (double)y.at[i];
    sum = lanes_sum_double(sum);
    if (lane_of() == 0)
        part[blockIdx.x] = sum;
}

// Into a double or a float, whichever is there.
__global__ static void add_blocks(double *out, float *rounded, const double *part, int64_t blocks) {
    double sum = 0;
    for (int64_t b = 0; b < blocks; b++)
        sum += part[b];
    if (out != NULL)
        *out = sum;
    else
        *rounded = (float)sum;
}

static double *parts(void) { return (double *)cuda_scratch(SCRATCH_SUMS, BLOCKS * sizeof(double)); }

void cuda_dot(DeviceFloat *out, Rows x, Rows y) {
    int64_t block = divide_up(x.count, BLOCKS);
    block = block < 64 ? 64 : block;
    const int64_t blocks = divide_up(x.count, block);
    double *part = parts();
    LAUNCH(dot_blocks, blocks, LANES, 0, cuda_stream(STREAM_COMPUTE), part, device_rows(x),
           device_rows(y), block);
    LAUNCH(add_blocks, 1, 1, 0, cuda_stream(STREAM_COMPUTE), (double *)NULL, floats_of(out), part,
           blocks);
}

__global__ static void square_blocks(double *part, const float *x, int64_t count, int64_t block) {
    const int64_t begin = blockIdx.x * block, end = least(begin + block, count);
    double sum = 0;
    for (int64_t i = begin + lane_of(); i < end; i += LANES)
        sum += (double)x[i] * (double)x[i];
    sum = lanes_sum_double(sum);
    if (lane_of() == 0)
        part[blockIdx.x] = sum;
}

void cuda_square_sum(DeviceDouble *out, const DeviceFloat *x, int64_t count) {
    static constexpr int64_t PIECE = 4096;
    int64_t block = divide_up(count, BLOCKS);
    block = block < PIECE ? PIECE : block;
    const int64_t blocks = divide_up(count, block);
    double *part = parts();
    LAUNCH(square_blocks, blocks, LANES, 0, cuda_stream(STREAM_COMPUTE), part, floats_of(x), count,
           block);
    LAUNCH(add_blocks, 1, 1, 0, cuda_stream(STREAM_COMPUTE), doubles_of(out), (float *)NULL, part,
           blocks);
}
