// What metrics count: rows by what their logits say and what their labels are. Counts are integers,
// so the order in which threads add to them does not show.
#include "pointwise.h"

typedef unsigned long long Count;

// The counts of one split (backend.h); each split has `each` of them.
struct Counts {
    Count *rows, *right, *true_positive, *false_positive, *false_negative;
};
__device__ static inline Counts counts_of(DeviceInt64 *count, int split, int64_t classes,
                                          int64_t each) {
    Count *at = (Count *)int64s_of(count) + split * each, *by_class = at + 2;
    return Counts{at, at + 1, by_class, by_class + classes, by_class + 2 * classes};
}

__device__ static inline void add(Count *at, Count count) {
    if (count > 0)
        atomicAdd(at, count);
}

// ---- one label a row

// The first of the largest logits, in all lanes; -1 where one is not a number.
__device__ static inline int64_t said_class(const float *logit, int64_t classes) {
    float most = logit[0];
    int best = 0;
    bool nan = false;
    for (int64_t c = lane_of(); c < classes; c += LANES) {
        nan |= isnan(logit[c]);
        if (logit[c] > most) {
            most = logit[c];
            best = (int)c;
        }
    }
    for (int half = LANES / 2; half > 0; half /= 2) {
        const float other = __shfl_xor_sync(lanes_mask(), most, half, LANES);
        const int its = __shfl_xor_sync(lanes_mask(), best, half, LANES);
        if (other > most || (other == most && its < best)) {
            most = other;
            best = its;
        }
    }
    return __any_sync(lanes_mask(), nan) ? -1 : best;
}

__device__ static inline void count_class(const Counts &to, int64_t said, int32_t label) {
    add(to.rows, 1);
    if (said == label) {
        add(to.right, 1);
        add(to.true_positive + label, 1);
        return;
    }
    add(to.false_negative + label, 1);
    if (said >= 0)
        add(to.false_positive + said, 1);
}

__global__ static void count_class_rows(DeviceInt64 *count, DeviceRows logits, const int32_t *label,
                                        const unsigned char *split, int64_t each) {
    for (int64_t r = lanes_row(); r < logits.count; r += lanes_step()) {
        const int64_t said = said_class(logits.at + r * logits.stride, logits.columns);
        if (label[r] >= 0 && lane_of() == 0)
            count_class(counts_of(count, split[r], logits.columns, each), said, label[r]);
    }
}

void cuda_count_classes(DeviceInt64 *count, Rows logits, const DeviceInt32 *label,
                        const DeviceByte *split) {
    LAUNCH_LANES(count_class_rows, logits.count, count, device_rows(logits), int32s_of(label),
                 bytes_of(split), split_counts(logits.columns));
}

// ---- several labels a row

__global__ static void count_label_rows(DeviceInt64 *count, DeviceRows logits,
                                        const unsigned char *labels, const unsigned char *split,
                                        int64_t each) {
    for (int64_t r = lanes_row(); r < logits.count; r += lanes_step()) {
        bool all = true;
        for (int64_t c = lane_of(); c < logits.columns; c += LANES)
            all &= (logits.at[r * logits.stride + c] > 0) == (labels[r * logits.columns + c] != 0);
        all = __all_sync(lanes_mask(), all);
        if (lane_of() == 0) {
            const Counts to = counts_of(count, split[r], logits.columns, each);
            add(to.rows, 1);
            add(to.right, all);
        }
    }
}

static constexpr int COLUMN_THREADS = 64, COLUMN_ROWS = 512;

// A thread counts one class over some rows, and adds once for each split.
__global__ static void count_label_columns(DeviceInt64 *count, DeviceRows logits,
                                           const unsigned char *labels, const unsigned char *split,
                                           int64_t each, int tiles) {
    const int64_t c = (int64_t)(blockIdx.x % tiles) * COLUMN_THREADS + threadIdx.x;
    const int64_t begin = (int64_t)(blockIdx.x / tiles) * COLUMN_ROWS;
    const int64_t end = least(begin + COLUMN_ROWS, logits.count);
    if (c >= logits.columns)
        return;
    unsigned both[SPLITS] = {}, said_only[SPLITS] = {}, is_only[SPLITS] = {};
    for (int64_t r = begin; r < end; r++) {
        const bool said = logits.at[r * logits.stride + c] > 0;
        const bool is = labels[r * logits.columns + c] != 0;
        for (int s = 0; s < SPLITS; s++) { // no array is indexed by a variable
            const bool here = split[r] == s;
            both[s] += here && said && is;
            said_only[s] += here && said && !is;
            is_only[s] += here && !said && is;
        }
    }
    for (int s = 0; s < SPLITS; s++) {
        const Counts to = counts_of(count, s, logits.columns, each);
        add(to.true_positive + c, both[s]);
        add(to.false_positive + c, said_only[s]);
        add(to.false_negative + c, is_only[s]);
    }
}

void cuda_count_labels(DeviceInt64 *count, Rows logits, const DeviceByte *labels,
                       const DeviceByte *split) {
    LAUNCH_LANES(count_label_rows, logits.count, count, device_rows(logits), bytes_of(labels),
                 bytes_of(split), split_counts(logits.columns));
    const int64_t tiles = divide_up(logits.columns, COLUMN_THREADS);
    LAUNCH(count_label_columns, divide_up(logits.count, COLUMN_ROWS) * tiles, COLUMN_THREADS, 0,
           cuda_stream(STREAM_COMPUTE), count, device_rows(logits), bytes_of(labels),
           bytes_of(split), split_counts(logits.columns), (int)tiles);
}
