// Single entries of rows (kernels/cpu/entries.c): dropout, a thread an entry, and padding of rows.
#include "pointwise.h"

static constexpr int ENTRY_THREADS = 256;

__device__ static inline int64_t first_of(void) {
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ static void drop_entries(float *out, const float *value, int64_t count,
                                    const int32_t *row, const int32_t *column, DropoutKey key,
                                    const int64_t *gid) {
    for (int64_t k = first_of(); k < count; k += (int64_t)gridDim.x * blockDim.x) {
        uint32_t word[4];
        philox_block(word, key.random, gid[row[k]], 0, (uint32_t)column[k] / 8);
        const bool kept = philox_half(word, column[k] % 8) < key.threshold;
        const float scaled = value[k] * key.scale;
        out[k] = kept ? scaled : 0.0f;
    }
}

void cuda_dropout_entries(DeviceFloat *out, const DeviceFloat *value, int64_t count,
                          const DeviceInt32 *row, const DeviceInt32 *column, float keep,
                          RandomKey key, const DeviceInt64 *gid, const Poll *) {
    if (keep >= 1) { // nothing is dropped
        if (count > 0)
            cuda_copy(out, value, (size_t)count * sizeof(float));
        return;
    }
    LAUNCH(drop_entries, cuda_blocks(count, ENTRY_THREADS), ENTRY_THREADS, 0,
           cuda_stream(STREAM_COMPUTE), floats_of(out), floats_of(value), count, int32s_of(row),
           int32s_of(column), dropout_key(keep, key), int64s_of(gid));
}

template <typename Number> __global__ static void pad(RowsOf<Number> out, const float *w) {
    const int64_t all = out.count * out.stride, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = first_of(); i < all; i += step) {
        const int64_t r = i / out.stride, c = i % out.stride;
        put(out.at + i, c < out.columns ? w[r * out.columns + c] : 0.0f);
    }
}

template <typename Number> static void pad_rows(Rows out, const DeviceFloat *w) {
    LAUNCH(pad<Number>, cuda_blocks(out.count * out.stride, ENTRY_THREADS), ENTRY_THREADS, 0,
           cuda_stream(STREAM_COMPUTE), rows_of<Number>(out), floats_of(w));
}

void cuda_pad_rows(Rows out, const DeviceFloat *w) { EACH_TYPE(out.type, pad_rows, out, w); }

template <typename Number> __global__ static void unpad(float *w, RowsOf<Number> rows) {
    const int64_t all = rows.count * rows.columns, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = first_of(); i < all; i += step)
        w[i] = value_of(rows.at[i / rows.columns * rows.stride + i % rows.columns]);
}

template <typename Number> static void unpad_rows(DeviceFloat *w, Rows rows) {
    LAUNCH(unpad<Number>, cuda_blocks(rows.count * rows.columns, ENTRY_THREADS), ENTRY_THREADS, 0,
           cuda_stream(STREAM_COMPUTE), floats_of(w), rows_of<Number>(rows));
}

void cuda_unpad_rows(DeviceFloat *w, Rows rows) { EACH_TYPE(rows.type, unpad_rows, w, rows); }
