// Single entries of rows (sparse features): what dropout leaves of them, and rows whose padding is
// taken away or given back.
#include "entries.h"

enum { CHUNK = 4096 }; // entries or floats of one piece of a loop: some ten microseconds

void cpu_dropout_entries(DeviceFloat *out, const DeviceFloat *value, int64_t count,
                         const DeviceInt32 *row, const DeviceInt32 *column, float keep,
                         RandomKey key, const DeviceInt64 *gid, const Poll *poll) {
    if (keep >= 1) { // nothing is dropped
        cpu_copy(out, value, (size_t)count * sizeof(float));
        return;
    }
    const EntriesCall call = {.out = floats_of(out),
                              .value = floats_of(value),
                              .row = int32s_of(row),
                              .column = int32s_of(column),
                              .gid = int64s_of(gid),
                              .key = dropout_key(keep, key)};
    EntriesLoop *drop = LANES_PICK(dropout_entries);
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < count; k += CHUNK) {
        drop(&call, k, least(k + CHUNK, count));
        pace_call(&pace);
    }
}

void cpu_pad_rows(Rows out, const DeviceFloat *w) {
    const CpuRows to = cpu_rows(out);
    const float *from = floats_of(w);
    const int64_t columns = to.columns, padding = rows_stride(columns) - columns;
#pragma omp parallel for schedule(static) if (to.count * columns > CHUNK)
    for (int64_t r = 0; r < to.count; r++) {
        float *row = to.at + r * to.stride;
        memcpy(row, from + r * columns, (size_t)columns * sizeof *row);
        memset(row + columns, 0, (size_t)padding * sizeof *row);
    }
}

void cpu_unpad_rows(DeviceFloat *w, Rows rows) {
    const CpuRows from = cpu_rows(rows);
    float *to = floats_of(w);
#pragma omp parallel for schedule(static) if (from.count * from.columns > CHUNK)
    for (int64_t r = 0; r < from.count; r++)
        memcpy(to + r * from.columns, from.at + r * from.stride, (size_t)from.columns * sizeof *to);
}
