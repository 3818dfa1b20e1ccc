// Activations by themselves, the maximum of sets of rows, and norms of columns: kernels/cpu's
// activation.c and columns.c have the formulas and the order of the sums.
#include "pointwise.h"

#include "../activations.h"

static constexpr int EACH_LANES = 16;

// Neighbouring threads do the columns of a row, one at a time.
#define EACH_VALUE(rows, begin, end, r, c)                                                         \
    for (int64_t r = (begin) + (int64_t)blockIdx.x * (ROW_THREADS / EACH_LANES) +                  \
                     threadIdx.x / EACH_LANES;                                                     \
         r < (end); r += (int64_t)gridDim.x * (ROW_THREADS / EACH_LANES))                          \
        for (int c = (int)(threadIdx.x % EACH_LANES); c < (int)(rows).columns; c += EACH_LANES)
#define LAUNCH_VALUES(kernel, rows, ...)                                                           \
    LAUNCH(kernel, cuda_blocks((rows)*EACH_LANES, ROW_THREADS), ROW_THREADS, 0,                    \
           cuda_stream(STREAM_COMPUTE), __VA_ARGS__)

template <typename Number>
__global__ __launch_bounds__(ROW_THREADS) static void activate_rows(RowsOf<Number> out,
                                                                    RowsOf<Number> u, int function,
                                                                    float slope, int64_t begin,
                                                                    int64_t end) {
    EACH_VALUE(u, begin, end, r, c)
    put(out.at + r * out.stride + c,
        activation_of(function, slope, value_of(u.at[r * u.stride + c])));
}

template <typename Number>
static void activate(Rows out, Range range, Rows u, uint8_t function, float slope) {
    LAUNCH_VALUES(activate_rows<Number>, range.end - range.begin, rows_of<Number>(out),
                  rows_of<Number>(u), (int)function, slope, range.begin, range.end);
}

void cuda_activate(Rows out, Range range, Rows u, uint8_t function, float slope, const Poll *) {
    EACH_TYPE(u.type, activate, out, range, u, function, slope);
}

template <typename Number>
__global__ __launch_bounds__(ROW_THREADS) static void activate_back_rows(
    RowsOf<Number> d, RowsOf<Number> u, int function, float slope, int64_t begin, int64_t end) {
    EACH_VALUE(u, begin, end, r, c) {
        Number *at = d.at + r * d.stride + c;
        put(at,
            value_of(*at) * activation_slope(function, slope, value_of(u.at[r * u.stride + c])));
    }
}

template <typename Number>
static void activate_back(Rows d, Range range, Rows u, uint8_t function, float slope) {
    LAUNCH_VALUES(activate_back_rows<Number>, range.end - range.begin, rows_of<Number>(d),
                  rows_of<Number>(u), (int)function, slope, range.begin, range.end);
}

void cuda_activate_back(Rows d, Range range, Rows u, uint8_t function, float slope, const Poll *) {
    EACH_TYPE(u.type, activate_back, d, range, u, function, slope);
}

// ---- the maximum

template <typename Number>
__global__ __launch_bounds__(ROW_THREADS) static void larger_rows(RowsOf<Number> out,
                                                                  unsigned char *which,
                                                                  RowsOf<Number> x, int place,
                                                                  int64_t begin, int64_t end) {
    EACH_VALUE(x, begin, end, r, c) {
        const float value = value_of(x.at[r * x.stride + c]);
        Number *at = out.at + r * out.stride + c;
        if (place == 0 || value > value_of(*at)) {
            put(at, value);
            which[r * out.stride + c] = (unsigned char)place;
        }
    }
}

template <typename Number>
static void take_larger(Rows out, DeviceByte *which, Range range, Rows x, uint8_t place) {
    LAUNCH_VALUES(larger_rows<Number>, range.end - range.begin, rows_of<Number>(out),
                  bytes_of(which), rows_of<Number>(x), (int)place, range.begin, range.end);
}

void cuda_take_larger(Rows out, DeviceByte *which, Range range, Rows x, uint8_t place,
                      const Poll *) {
    EACH_TYPE(x.type, take_larger, out, which, range, x, place);
}

template <typename Number>
__global__
__launch_bounds__(ROW_THREADS) static void chosen_rows(RowsOf<Number> out, RowsOf<Number> g,
                                                       const unsigned char *which, int place,
                                                       int64_t begin, int64_t end) {
    EACH_VALUE(g, begin, end, r, c) {
        Number *at = out.at + r * out.stride + c;
        if (which[r * out.stride + c] == place)
            put(at, value_of(*at) + value_of(g.at[r * g.stride + c]));
    }
}

template <typename Number>
static void add_chosen(Rows out, Range range, Rows g, const DeviceByte *which, uint8_t place) {
    LAUNCH_VALUES(chosen_rows<Number>, range.end - range.begin, rows_of<Number>(out),
                  rows_of<Number>(g), bytes_of(which), (int)place, range.begin, range.end);
}

void cuda_add_chosen(Rows out, Range range, Rows g, const DeviceByte *which, uint8_t place,
                     const Poll *) {
    EACH_TYPE(g.type, add_chosen, out, range, g, which, place);
}

// ---- norms of columns

template <typename Number> struct ColumnsOf {
    RowsOf<Number> u;
    const float *middle, *factor; // NULL: xhat is u
};

template <typename Number>
__device__ static inline float xhat_at(const ColumnsOf<Number> &of, int64_t r, int64_t c) {
    const float u = value_of(of.u.at[r * of.u.stride + c]);
    return of.middle != nullptr ? (u - of.middle[c]) * of.factor[c] : u;
}

template <typename Number>
static ColumnsOf<Number> columns_of(Rows u, const DeviceFloat *middle, const DeviceFloat *factor) {
    return ColumnsOf<Number>{rows_of<Number>(u), floats_of(middle), floats_of(factor)};
}

int64_t cuda_column_products_scratch(int64_t rows, int64_t columns) {
    return 2 * columns * sum_blocks(rows);
}

template <typename Number>
__global__
__launch_bounds__(ROW_THREADS) static void product_parts(double *part, ColumnsOf<Number> of,
                                                         RowsOf<Number> g, int64_t block) {
    const int64_t columns = g.columns, items = divide_up(g.count, block) * columns;
    for (int64_t i = (int64_t)blockIdx.x * ROW_THREADS + threadIdx.x; i < items;
         i += (int64_t)gridDim.x * ROW_THREADS) {
        const int64_t b = i / columns, c = i % columns, end = least((b + 1) * block, g.count);
        double sum = 0, product = 0;
        for (int64_t r = b * block; r < end; r++) {
            const float d = value_of(g.at[r * g.stride + c]);
            sum += (double)d;
            product += (double)d * (double)xhat_at(of, r, c);
        }
        part[b * 2 * columns + c] = sum;
        part[b * 2 * columns + columns + c] = product;
    }
}

__global__ __launch_bounds__(ROW_THREADS) static void add_product_parts(double *sums,
                                                                        const double *part,
                                                                        int64_t blocks,
                                                                        int64_t both) {
    for (int64_t c = (int64_t)blockIdx.x * ROW_THREADS + threadIdx.x; c < both;
         c += (int64_t)gridDim.x * ROW_THREADS) {
        double sum = 0;
        for (int64_t b = 0; b < blocks; b++)
            sum += part[b * both + c];
        sums[c] = sum;
    }
}

template <typename Number>
static void column_products(DeviceDouble *sums, Rows g, Rows u, const DeviceFloat *middle,
                            const DeviceFloat *factor, DeviceDouble *scratch) {
    const int64_t block = sum_block_rows(g.count), blocks = sum_blocks(g.count);
    LAUNCH(product_parts<Number>, cuda_blocks(blocks * g.columns, ROW_THREADS), ROW_THREADS, 0,
           cuda_stream(STREAM_COMPUTE), doubles_of(scratch), columns_of<Number>(u, middle, factor),
           rows_of<Number>(g), block);
    LAUNCH(add_product_parts, cuda_blocks(2 * g.columns, ROW_THREADS), ROW_THREADS, 0,
           cuda_stream(STREAM_COMPUTE), doubles_of(sums), doubles_of(scratch), blocks,
           2 * g.columns);
}

void cuda_column_products(DeviceDouble *sums, Rows g, Rows u, const DeviceFloat *middle,
                          const DeviceFloat *factor, DeviceDouble *scratch, const Poll *) {
    EACH_TYPE(u.type, column_products, sums, g, u, middle, factor, scratch);
}

template <typename Number>
__global__
__launch_bounds__(ROW_THREADS) static void norm_rows(RowsOf<Number> out, ColumnsOf<Number> of,
                                                     const float *gamma, const float *beta,
                                                     int64_t begin, int64_t end) {
    EACH_VALUE(out, begin, end, r, c)
    put(out.at + r * out.stride + c, xhat_at(of, r, c) * gamma[c] + beta[c]);
}

template <typename Number>
static void norm_columns(Rows out, Range range, Rows u, const DeviceFloat *middle,
                         const DeviceFloat *factor, const DeviceFloat *gamma,
                         const DeviceFloat *beta) {
    LAUNCH_VALUES(norm_rows<Number>, range.end - range.begin, rows_of<Number>(out),
                  columns_of<Number>(u, middle, factor), floats_of(gamma), floats_of(beta),
                  range.begin, range.end);
}

void cuda_norm_columns(Rows out, Range range, Rows u, const DeviceFloat *middle,
                       const DeviceFloat *factor, const DeviceFloat *gamma, const DeviceFloat *beta,
                       const Poll *) {
    EACH_TYPE(u.type, norm_columns, out, range, u, middle, factor, gamma, beta);
}

template <typename Number>
__global__
__launch_bounds__(ROW_THREADS) static void norm_back_rows(RowsOf<Number> d, ColumnsOf<Number> of,
                                                          const float *gamma, const float *mean) {
    const int64_t end = d.count;
    EACH_VALUE(d, 0, end, r, c) {
        Number *at = d.at + r * d.stride + c;
        put(at, (gamma[c] * of.factor[c]) *
                    (value_of(*at) - mean[c] - xhat_at(of, r, c) * mean[d.columns + c]));
    }
}

template <typename Number>
static void norm_columns_back(Rows d, Rows u, const DeviceFloat *middle, const DeviceFloat *factor,
                              const DeviceFloat *gamma, const DeviceFloat *mean) {
    LAUNCH_VALUES(norm_back_rows<Number>, d.count, rows_of<Number>(d),
                  columns_of<Number>(u, middle, factor), floats_of(gamma), floats_of(mean));
}

void cuda_norm_columns_back(Rows d, Rows u, const DeviceFloat *middle, const DeviceFloat *factor,
                            const DeviceFloat *gamma, const DeviceFloat *mean, const Poll *) {
    EACH_TYPE(u.type, norm_columns_back, d, u, middle, factor, gamma, mean);
}
