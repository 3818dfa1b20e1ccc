// Single entries of rows (kernels/cpu/entries.c): dropout, a thread an entry, and padding of rows.
#include "pointwise.h"

static constexpr int ENTRY_THREADS = 256;

__global__ static void drop_entries(float *out, const float *value, int64_t count,
                                    const int32_t *row, const int32_t *column, DropoutKey key,
                                    const int64_t *gid) {
    EACH_ITEM(k, count) {
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
    LAUNCH_ITEMS(drop_entries, count, ENTRY_THREADS, floats_of(out), floats_of(value), count,
                 int32s_of(row), int32s_of(column), dropout_key(keep, key), int64s_of(gid));
}

void cuda_pad_rows(Rows out, const DeviceFloat *w) {
    EACH_TYPE(out.type, LAUNCH_ITEMS(pad_floats<Number>, out.count * out.stride, ENTRY_THREADS,
                                     rows_of<Number>(out), floats_of(w), out.columns));
}

template <typename Number> __global__ static void unpad(float *w, RowsOf<Number> rows) {
    EACH_ITEM(i, rows.count * rows.columns)
        w[i] = value_of(rows.at[i / rows.columns * rows.stride + i % rows.columns]);
}

void cuda_unpad_rows(DeviceFloat *w, Rows rows) {
    EACH_TYPE(rows.type, LAUNCH_ITEMS(unpad<Number>, rows.count * rows.columns, ENTRY_THREADS,
                                      floats_of(w), rows_of<Number>(rows)));
}
