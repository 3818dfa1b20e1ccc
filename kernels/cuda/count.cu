// Counts of what is right (kernels/cpu/count.c): rows, right, and of each class true and false
// positives and false negatives, for each split.
//
// The one idea: counts are integers, whose order does not show. A block counts in shared memory and
// adds to the device's once.
#include "pointwise.h"

typedef unsigned long long Count;
static constexpr int MOST_SHARED = 32 << 10; // bytes of a block's counts; more are added one by one

struct CountTask {
    Count *count;
    DeviceRows logits;
    Labels on;
    int64_t of_split; // numbers of one split
    int numbers;      // in shared memory; 0: they do not fit
};
enum Kind { TRUE_POSITIVE, FALSE_POSITIVE, FALSE_NEGATIVE };

// One row's counts, in the block's numbers or in the device's.
struct Counter {
    Count *all;
    unsigned *some;
    int64_t at, classes; // `at`: the counts of the row's split
};
__device__ static inline void count_one(const Counter &to, int64_t which) {
    if (to.some != NULL)
        atomicAdd(to.some + to.at + which, 1u);
    else
        atomicAdd(to.all + to.at + which, (Count)1);
}
__device__ static inline void count_row(const Counter &to, bool right) {
    count_one(to, 0);
    if (right)
        count_one(to, 1);
}
__device__ static inline void count_kind(const Counter &to, Kind kind, int64_t c) {
    count_one(to, 2 + (int64_t)kind * to.classes + c);
}

// The first of the largest logits, in all lanes; -1 where one is not a number.
__device__ static inline int said_class(const float *logit, int columns) {
    float most = logit[0];
    int best = 0;
    bool bad = false;
    for (int c = row_lane(); c < columns; c += LANES) {
        bad |= isnan(logit[c]);
        if (logit[c] > most)
            most = logit[c], best = c;
    }
    for (int by = LANES / 2; by > 0; by /= 2) {
        const float other = __shfl_xor_sync(lanes_mask(), most, by, LANES);
        const int its = __shfl_xor_sync(lanes_mask(), best, by, LANES);
        if (other > most || (other == most && its < best))
            most = other, best = its;
    }
    return __any_sync(lanes_mask(), bad) ? -1 : best;
}

__device__ static inline void count_class(const CountTask &task, const Counter &to,
                                          const float *logit, int64_t r) {
    const int said = said_class(logit, (int)task.logits.columns),
              label = int32s_of(task.on.label)[r];
    if (label < 0 || row_lane() > 0)
        return;
    count_row(to, said == label);
    if (said == label) {
        count_kind(to, TRUE_POSITIVE, label);
        return;
    }
    count_kind(to, FALSE_NEGATIVE, label);
    if (said >= 0)
        count_kind(to, FALSE_POSITIVE, said);
}

__device__ static inline void count_labels(const CountTask &task, const Counter &to,
                                           const float *logit, int64_t r) {
    const int columns = (int)task.logits.columns;
    bool all = true;
    for (int c = row_lane(); c < columns; c += LANES) {
        const bool said = logit[c] > 0, is = bytes_of(task.on.labels)[r * columns + c] != 0;
        all = all && said == is;
        if (said || is)
            count_kind(to, said && is ? TRUE_POSITIVE : said ? FALSE_POSITIVE : FALSE_NEGATIVE, c);
    }
    all = __all_sync(lanes_mask(), all);
    if (row_lane() == 0)
        count_row(to, all);
}

template <bool CLASSES> ROW_KERNEL count_rows(CountTask task) {
    SHARED(unsigned, some);
    for (int i = (int)threadIdx.x; i < task.numbers; i += ROW_THREADS)
        some[i] = 0;
    __syncthreads();
    for (int64_t r = first_row(); r < task.logits.count; r += row_step()) {
        const Counter to = {task.count, task.numbers > 0 ? some : NULL,
                            bytes_of(task.on.split)[r] * task.of_split, task.logits.columns};
        const float *logit = task.logits.at + r * task.logits.stride;
        if (CLASSES)
            count_class(task, to, logit, r);
        else
            count_labels(task, to, logit, r);
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < task.numbers; i += ROW_THREADS)
        if (some[i] != 0)
            atomicAdd(task.count + i, (Count)some[i]);
}

template <bool CLASSES> static void run_count(CountTask task) {
    task.of_split = split_counts(task.logits.columns);
    const int64_t numbers = SPLITS * task.of_split, rows = task.logits.count;
    const int64_t bytes = numbers * (int64_t)sizeof(unsigned);
    task.numbers = bytes <= MOST_SHARED ? (int)numbers : 0;
    // few blocks, because each adds all its numbers to the device's at the end
    const int64_t most = 8 * (int64_t)cuda_processors();
    // a block of no shared memory has no address of it
    LAUNCH(count_rows<CLASSES>, least(cuda_blocks(rows * LANES, ROW_THREADS), most), ROW_THREADS,
           (size_t)(task.numbers > 0 ? bytes : 16), cuda_stream(STREAM_COMPUTE), task);
}

void cuda_count_right(DeviceInt64 *count, Rows logits, Labels on) {
    const CountTask task = {(Count *)int64s_of(count), device_rows(logits), on, 0, 0};
    on.label != NULL ? run_count<true>(task) : run_count<false>(task);
}
