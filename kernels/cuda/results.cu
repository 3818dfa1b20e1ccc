// What a forward pass ends in: losses with their gradients, and counts of what is right
// (kernels/cpu/loss_lanes.c and count.c have the formulas).
//
// The one idea: rows are independent, and 16 lanes do one; what is summed over rows is a double a
// row, which goes to shared memory, where one thread adds them in order. Counts are integers, whose
// order does not show: a block counts in shared memory and adds to the device's once.
#include "pointwise.h"

#include "../expressions.h"

// ---- losses: at most 256 blocks of rows, added in order; a block of threads does one of them

static constexpr int LOSS_THREADS = 512, LOSS_GROUPS = LOSS_THREADS / LANES;
static constexpr int PIECE = 2 * LOSS_GROUPS; // rows whose losses wait in shared memory

struct LossTask {
    DeviceRows g, logits; // g.at NULL: no gradient
    const int32_t *label;
    const unsigned char *labels, *split;
    unsigned char which;
    float weight;
    const float *row;     // NULL: 1
    const float *classes; // NULL: 1
    float smoothing, positive;
    int64_t block; // rows
    double *part;
};

// 2^n; `shifted` is n + 1.5 2^23. Unsigned, because a loss that diverges brings any bits.
__device__ static inline float power2(float shifted) {
    const unsigned n = __float_as_uint(shifted) - __float_as_uint(0x1.8p23f);
    return __uint_as_float((n + 127) << 23);
}
DEFINE_EXP(__device__ static inline, float, exp_near, power2)
DEFINE_LOG1P(__device__ static inline, float, log_1_and)
__device__ static inline float exp_below_0(float x) { return x < -87.0f ? 0.0f : exp_near(x); }

// The largest of a row, in all lanes; NaN if the first is.
__device__ static inline float row_max(const float *z, int columns) {
    float most = z[0];
    for (int c = row_lane(); c < columns; c += LANES)
        most = z[c] > most ? z[c] : most;
    for (int by = LANES / 2; by > 0; by /= 2) {
        const float other = __shfl_xor_sync(lanes_mask(), most, by, LANES);
        most = other > most ? other : most;
    }
    return most;
}

// The sum of exp(z - most), whose terms become the row of g, in all lanes. A lane writes only
// columns that it alone reads once the maximum is known, since g may be z.
__device__ static inline float exponentials(float *g, const float *z, int columns, float most) {
    float sum = 0;
    for (int c = row_lane(); c < columns; c += LANES) {
        const float e = exp_below_0(z[c] - most);
        sum += e;
        if (g != NULL)
            g[c] = e;
    }
    return lanes_sum(sum);
}

// log sum_c exp(z_c - m) + m - z_label, m = max z; g = (p - onehot) weight. In lane 0.
__device__ static inline double softmax_row(const LossTask &task, float *g, const float *z,
                                            int64_t r, float weight) {
    const int columns = (int)task.logits.columns, padded = padded_columns(task.logits);
    const int label = task.label[r];
    const float right = z[label], most = row_max(z, columns);
    __syncwarp(lanes_mask());
    const float total = exponentials(g, z, columns, most), scale = 1.0f / total;
    if (g != NULL)
        for (int c = row_lane(); c < padded; c += LANES) {
            float d = 0;
            if (c < columns) {
                const float p = g[c] * scale;
                d = (c == label ? p - 1.0f : p) * weight;
            }
            g[c] = d;
        }
    return log((double)total) + ((double)most - (double)right);
}

__device__ static inline float class_factor(const LossTask &task, int c) {
    return task.classes != NULL ? task.classes[c] : 1.0f;
}

// all log sum_c exp(z_c - m) + own (m - z_label) + each sum_c w_c (m - z_c);
// g = (all p - own onehot - each w) weight. In lane 0.
__device__ static inline double softmax_row_of_shares(const LossTask &task, float *g,
                                                      const float *z, int64_t r, float weight) {
    const int columns = (int)task.logits.columns, padded = padded_columns(task.logits);
    const int label = task.label[r];
    const float right = z[label], most = row_max(z, columns);
    float factors = 0, spread = 0;
    for (int c = row_lane(); c < columns; c += LANES) {
        factors += class_factor(task, c);
        spread += class_factor(task, c) * (most - z[c]);
    }
    const float own = (1.0f - task.smoothing) * class_factor(task, label);
    const float each = task.smoothing / (float)columns, all = own + each * lanes_sum(factors);
    const float apart = lanes_sum(spread);
    __syncwarp(lanes_mask());
    const float total = exponentials(g, z, columns, most), scale = all * (1.0f / total);
    if (g != NULL)
        for (int c = row_lane(); c < padded; c += LANES) {
            float d = 0;
            if (c < columns) {
                d = scale * g[c] - each * class_factor(task, c);
                d = (c == label ? d - own : d) * weight;
            }
            g[c] = d;
        }
    return (double)all * log((double)total) + (double)own * ((double)most - (double)right) +
           (double)each * (double)apart;
}

// sum_c max(x, 0) - x y + log(1 + exp(-|x|)); g = (sigmoid(x) - y) weight. In all lanes.
__device__ static inline double bce_row(const LossTask &task, float *g, const float *x, int64_t r,
                                        float weight) {
    const int columns = (int)task.logits.columns, padded = padded_columns(task.logits);
    const unsigned char *labels = task.labels + r * columns;
    float sum = 0;
    for (int c = row_lane(); c < padded; c += LANES) {
        float d = 0;
        if (c < columns) {
            const float a = x[c], y = labels[c] != 0 ? 1.0f : 0.0f;
            const bool negative = a < 0.0f; // a NaN is taken as it is
            const float t = exp_below_0(negative ? a : -a), above = negative ? 0.0f : a;
            const float factor = y * task.positive + (1.0f - y);
            sum += (above - a * y + log_1_and(t)) * factor;
            d = ((negative ? t : 1.0f) / (t + 1.0f) - y) * factor * weight;
        }
        if (g != NULL)
            g[c] = d;
    }
    return (double)lanes_sum(sum);
}

// The loss of a row, in lane 0; nothing, and no gradient, of a row that does not count.
template <bool SOFTMAX> __device__ static inline double loss_row(const LossTask &task, int64_t r) {
    const float *z = task.logits.at + r * task.logits.stride;
    float *g = task.g.at == NULL ? NULL : task.g.at + r * task.g.stride;
    const float factor = task.split[r] != task.which ? 0.0f : task.row != NULL ? task.row[r] : 1.0f;
    const float weight = task.weight * factor;
    const bool plain = task.classes == NULL && task.smoothing == 0;
    if (factor != 0)
        return (double)factor * (!SOFTMAX ? bce_row(task, g, z, r, weight)
                                 : plain  ? softmax_row(task, g, z, r, weight)
                                          : softmax_row_of_shares(task, g, z, r, weight));
    if (g != NULL)
        for (int c = row_lane(); c < padded_columns(task.logits); c += LANES)
            g[c] = 0;
    return 0;
}

template <bool SOFTMAX>
__global__ __launch_bounds__(LOSS_THREADS) static void loss_rows(LossTask task) {
    SHARED(double, losses); // of two pieces: one is added while the next is made
    const int64_t first = (int64_t)blockIdx.x * task.block;
    const int64_t end = least(first + task.block, task.logits.count);
    double total = 0;
    for (int64_t begin = first, turn = 0; begin < end; begin += PIECE, turn ^= 1) {
        double *row_loss = losses + turn * PIECE;
        const int here = (int)least(PIECE, end - begin);
        for (int i = (int)threadIdx.x / LANES; i < here; i += LOSS_GROUPS) {
            const double loss = loss_row<SOFTMAX>(task, begin + i);
            if (row_lane() == 0)
                row_loss[i] = loss;
        }
        __syncthreads();
        if (threadIdx.x == 0)
#pragma unroll 8
            for (int i = 0; i < here; i++)
                total += row_loss[i];
    }
    if (threadIdx.x == 0)
        task.part[blockIdx.x] = total;
}

template <bool SOFTMAX> static void run_loss(DeviceDouble *loss, LossTask task) {
    const int64_t least_rows = 64, count = task.logits.count, even = divide_up(count, PARTS);
    task.block = even < least_rows ? least_rows : even;
    task.part = (double *)cuda_scratch(SCRATCH_LOSS, PARTS * sizeof(double));
    const int64_t blocks = divide_up(count, task.block);
    LAUNCH(loss_rows<SOFTMAX>, blocks, LOSS_THREADS, 2 * PIECE * sizeof(double),
           cuda_stream(STREAM_COMPUTE), task);
    add_parts(doubles_of(loss), NULL, task.part, blocks);
}

static LossTask loss_task(Rows g, Rows logits, const DeviceByte *split, uint8_t which, float weight,
                          const DeviceFloat *row, LossForm form) {
    LossTask task = {};
    task.g = device_rows(g);
    task.logits = device_rows(logits);
    task.split = bytes_of(split);
    task.which = which;
    task.weight = weight;
    task.row = floats_of(row);
    task.classes = floats_of(form.classes);
    task.smoothing = form.smoothing;
    task.positive = form.positive;
    return task;
}

void cuda_softmax_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceInt32 *label,
                       const DeviceByte *split, uint8_t which, float weight, const DeviceFloat *row,
                       LossForm form) {
    LossTask task = loss_task(g, logits, split, which, weight, row, form);
    task.label = int32s_of(label);
    run_loss<true>(loss, task);
}

void cuda_bce_loss(DeviceDouble *loss, Rows g, Rows logits, const DeviceByte *labels,
                   const DeviceByte *split, uint8_t which, float weight, const DeviceFloat *row,
                   LossForm form) {
    LossTask task = loss_task(g, logits, split, which, weight, row, form);
    task.labels = bytes_of(labels);
    run_loss<false>(loss, task);
}

// ---- counts (backend.h: rows, right, and of each class true and false positives and false
// negatives, for each split)

typedef unsigned long long Count;
static constexpr int MOST_SHARED = 32 << 10; // bytes of a block's counts; more are added one by one

struct CountTask {
    Count *count;
    DeviceRows logits;
    const int32_t *label;
    const unsigned char *labels, *split;
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
    const int said = said_class(logit, (int)task.logits.columns), label = task.label[r];
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
        const bool said = logit[c] > 0, is = task.labels[r * columns + c] != 0;
        all = all && said == is;
        if (said || is)
            count_kind(to, said && is ? TRUE_POSITIVE : said ? FALSE_POSITIVE : FALSE_NEGATIVE, c);
    }
    all = __all_sync(lanes_mask(), all);
    if (row_lane() == 0)
        count_row(to, all);
}

template <bool CLASSES>
__global__ __launch_bounds__(ROW_THREADS) static void count_rows(CountTask task) {
    SHARED(unsigned, some);
    for (int i = (int)threadIdx.x; i < task.numbers; i += ROW_THREADS)
        some[i] = 0;
    __syncthreads();
    for (int64_t r = first_row(); r < task.logits.count; r += row_step()) {
        const Counter to = {task.count, task.numbers > 0 ? some : NULL,
                            task.split[r] * task.of_split, task.logits.columns};
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

void cuda_count_classes(DeviceInt64 *count, Rows logits, const DeviceInt32 *label,
                        const DeviceByte *split) {
    run_count<true>(CountTask{(Count *)int64s_of(count), device_rows(logits), int32s_of(label),
                              NULL, bytes_of(split), 0, 0});
}

void cuda_count_labels(DeviceInt64 *count, Rows logits, const DeviceByte *labels,
                       const DeviceByte *split) {
    run_count<false>(CountTask{(Count *)int64s_of(count), device_rows(logits), NULL,
                               bytes_of(labels), bytes_of(split), 0, 0});
}
