// Activations by themselves, the maximum of sets of rows, and norms of columns: kernels/cpu's
// activation.c and columns.c have the formulas and the order of the sums.
#include "pointwise.h"

#include "../activations.h"

// The columns of rows; threads side by side do columns side by side.
#define EACH_VALUE(rows, begin, end, r, c)                                                         \
    for (int64_t r = (begin) + first_row(); r < (end); r += row_step())                            \
        for (int c = row_lane(); c < (int)(rows).columns; c += LANES)

template <typename Number>
ROW_KERNEL activate_rows(RowsOf<Number> out, RowsOf<Number> u, int function, float slope,
                         int64_t begin, int64_t end) {
    EACH_VALUE(u, begin, end, r, c)
        put(out.at + r * out.stride + c,
            activation_of(function, slope, value_of(u.at[r * u.stride + c])));
}

void cuda_activate(Rows out, Range range, Rows u, uint8_t function, float slope, const Poll *) {
    EACH_TYPE(u.type,
              LAUNCH_ROWS(activate_rows<Number>, range.end - range.begin, rows_of<Number>(out),
                          rows_of<Number>(u), (int)function, slope, range.begin, range.end));
}

template <typename Number>
ROW_KERNEL activate_back_rows(RowsOf<Number> d, RowsOf<Number> u, int function, float slope,
                              int64_t begin, int64_t end) {
    EACH_VALUE(u, begin, end, r, c) {
        Number *at = d.at + r * d.stride + c;
        put(at,
            value_of(*at) * activation_slope(function, slope, value_of(u.at[r * u.stride + c])));
    }
}

void cuda_activate_back(Rows d, Range range, Rows u, uint8_t function, float slope, const Poll *) {
    EACH_TYPE(u.type,
              LAUNCH_ROWS(activate_back_rows<Number>, range.end - range.begin, rows_of<Number>(d),
                          rows_of<Number>(u), (int)function, slope, range.begin, range.end));
}

// ---- the maximum

template <typename Number>
ROW_KERNEL larger_rows(RowsOf<Number> out, unsigned char *which, RowsOf<Number> x, int place,
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

void cuda_take_larger(Rows out, DeviceByte *which, Range range, Rows x, uint8_t place,
                      const Poll *) {
    EACH_TYPE(x.type,
              LAUNCH_ROWS(larger_rows<Number>, range.end - range.begin, rows_of<Number>(out),
                          bytes_of(which), rows_of<Number>(x), (int)place, range.begin, range.end));
}

template <typename Number>
ROW_KERNEL chosen_rows(RowsOf<Number> out, RowsOf<Number> g, const unsigned char *which, int place,
                       int64_t begin, int64_t end) {
    EACH_VALUE(g, begin, end, r, c) {
        Number *at = out.at + r * out.stride + c;
        if (which[r * out.stride + c] == place)
            put(at, value_of(*at) + value_of(g.at[r * g.stride + c]));
    }
}

void cuda_add_chosen(Rows out, Range range, Rows g, const DeviceByte *which, uint8_t place,
                     const Poll *) {
    EACH_TYPE(g.type,
              LAUNCH_ROWS(chosen_rows<Number>, range.end - range.begin, rows_of<Number>(out),
                          rows_of<Number>(g), bytes_of(which), (int)place, range.begin, range.end));
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
    return 2 * columns * column_blocks(rows);
}

template <typename Number>
ROW_KERNEL product_parts(double *part, ColumnsOf<Number> of, RowsOf<Number> g, int64_t block) {
    const int64_t columns = g.columns, items = divide_up(g.count, block) * columns;
    EACH_ITEM(i, items) {
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

void cuda_column_products(DeviceDouble *sums, Rows g, Rows u, const DeviceFloat *middle,
                          const DeviceFloat *factor, DeviceDouble *scratch, const Poll *) {
    const int64_t block = column_block(g.count), blocks = column_blocks(g.count);
    EACH_TYPE(u.type, LAUNCH_ITEMS(product_parts<Number>, blocks * g.columns, ROW_THREADS,
                                   doubles_of(scratch), columns_of<Number>(u, middle, factor),
                                   rows_of<Number>(g), block));
    LAUNCH_ITEMS(add_in_turn<double>, 2 * g.columns, ROW_THREADS, doubles_of(sums),
                 doubles_of(scratch), blocks, 2 * g.columns);
}

template <typename Number>
ROW_KERNEL norm_rows(RowsOf<Number> out, ColumnsOf<Number> of, const float *gamma,
                     const float *beta, int64_t begin, int64_t end) {
    EACH_VALUE(out, begin, end, r, c)
        put(out.at + r * out.stride + c, xhat_at(of, r, c) * gamma[c] + beta[c]);
}

void cuda_norm_columns(Rows out, Range range, Rows u, const DeviceFloat *middle,
                       const DeviceFloat *factor, const DeviceFloat *gamma, const DeviceFloat *beta,
                       const Poll *) {
    EACH_TYPE(u.type, LAUNCH_ROWS(norm_rows<Number>, range.end - range.begin, rows_of<Number>(out),
                                  columns_of<Number>(u, middle, factor), floats_of(gamma),
                                  floats_of(beta), range.begin, range.end));
}

template <typename Number>
ROW_KERNEL norm_back_rows(RowsOf<Number> d, ColumnsOf<Number> of, const float *gamma,
                          const float *mean) {
    const int64_t end = d.count;
    EACH_VALUE(d, 0, end, r, c) {
        Number *at = d.at + r * d.stride + c;
        put(at, (gamma[c] * of.factor[c]) *
                    (value_of(*at) - mean[c] - xhat_at(of, r, c) * mean[d.columns + c]));
    }
}

void cuda_norm_columns_back(Rows d, Rows u, const DeviceFloat *middle, const DeviceFloat *factor,
                            const DeviceFloat *gamma, const DeviceFloat *mean, const Poll *) {
    EACH_TYPE(u.type, LAUNCH_ROWS(norm_back_rows<Number>, d.count, rows_of<Number>(d),
                                  columns_of<Number>(u, middle, factor), floats_of(gamma),
                                  floats_of(mean)));
}
