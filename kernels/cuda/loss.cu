// Losses with their gradients (kernels/cpu/loss_lanes.c has the formulas).
//
// The one idea: rows are independent, and 16 lanes do one; what is summed over rows is a double a
// row, which goes to shared memory, where one thread adds them in order.
#include "pointwise.h"

#include "../activations.h"

// A block of threads does one of the sum's blocks.
static constexpr int LOSS_THREADS = 512, LOSS_GROUPS = LOSS_THREADS / LANES;
static constexpr int PIECE = 2 * LOSS_GROUPS; // rows whose losses wait in shared memory

struct LossTask {
    DeviceRows g, logits; // g.at NULL: no gradient
    const int32_t *label;
    const unsigned char *labels, *split;
    const float *numbers;
    unsigned char which;
    float weight;
    const float *row;     // NULL: 1
    const float *classes; // NULL: 1
    float smoothing, positive;
    int64_t block; // rows
    double *part;
};

DEFINE_LOG1P(__device__ static inline, float, log_1_and)

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
        const float e = activation_exp(z[c] - most);
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
            const float t = activation_exp(negative ? a : -a), above = negative ? 0.0f : a;
            const float factor = y * task.positive + (1.0f - y);
            sum += (above - a * y + log_1_and(t)) * factor;
            d = ((negative ? t : 1.0f) / (t + 1.0f) - y) * factor * weight;
        }
        if (g != NULL)
            g[c] = d;
    }
    return (double)lanes_sum(sum);
}

// sum_c max(0, 1 - y x), y = 1 or -1; g = -y weight, or 0. In all lanes.
__device__ static inline double hinge_row(const LossTask &task, float *g, const float *x, int64_t r,
                                          float weight) {
    const int columns = (int)task.logits.columns, padded = padded_columns(task.logits);
    float sum = 0;
    for (int c = row_lane(); c < padded; c += LANES) {
        float d = 0;
        if (c < columns) {
            const bool has =
                task.label != NULL ? task.label[r] == c : task.labels[r * columns + c] != 0;
            const float y = has ? 1.0f : -1.0f, missing = 1.0f - y * x[c];
            const bool beyond = missing <= 0.0f; // a NaN is taken as it is
            sum += beyond ? 0.0f : missing;
            d = beyond ? 0.0f : -y * weight;
        }
        if (g != NULL)
            g[c] = d;
    }
    return (double)lanes_sum(sum);
}

// sum_c (x - y)^2 / K; g = 2 (x - y) weight / K. In all lanes.
__device__ static inline double mse_row(const LossTask &task, float *g, const float *x, int64_t r,
                                        float weight) {
    const int columns = (int)task.logits.columns, padded = padded_columns(task.logits);
    const float twice = 2.0f * weight / (float)columns;
    float sum = 0;
    for (int c = row_lane(); c < padded; c += LANES) {
        const float d = c < columns ? x[c] - task.numbers[r * columns + c] : 0.0f;
        sum += d * d;
        if (g != NULL)
            g[c] = d * twice;
    }
    return (double)lanes_sum(sum) / (double)columns;
}

// The loss of a row that counts, in lane 0.
template <LossKind KIND>
__device__ static inline double counted_row(const LossTask &task, float *g, const float *z,
                                            int64_t r, float weight) {
    const bool plain = task.classes == NULL && task.smoothing == 0;
    return KIND == LOSS_BCE     ? bce_row(task, g, z, r, weight)
           : KIND == LOSS_HINGE ? hinge_row(task, g, z, r, weight)
           : KIND == LOSS_MSE   ? mse_row(task, g, z, r, weight)
           : plain              ? softmax_row(task, g, z, r, weight)
                                : softmax_row_of_shares(task, g, z, r, weight);
}

// The loss of a row, in lane 0; nothing, and no gradient, of a row that does not count.
template <LossKind KIND> __device__ static inline double loss_row(const LossTask &task, int64_t r) {
    const float *z = task.logits.at + r * task.logits.stride;
    float *g = task.g.at == NULL ? NULL : task.g.at + r * task.g.stride;
    const float factor = task.split[r] != task.which ? 0.0f : task.row != NULL ? task.row[r] : 1.0f;
    if (factor != 0)
        return (double)factor * counted_row<KIND>(task, g, z, r, task.weight * factor);
    if (g != NULL)
        for (int c = row_lane(); c < padded_columns(task.logits); c += LANES)
            g[c] = 0;
    return 0;
}

template <LossKind KIND>
__global__ __launch_bounds__(LOSS_THREADS) static void loss_rows(LossTask task) {
    SHARED(double, losses); // of two pieces: one is added while the next is made
    const int64_t first = (int64_t)blockIdx.x * task.block;
    const int64_t end = least(first + task.block, task.logits.count);
    double total = 0;
    for (int64_t begin = first, turn = 0; begin < end; begin += PIECE, turn ^= 1) {
        double *row_loss = losses + turn * PIECE;
        const int here = (int)least(PIECE, end - begin);
        for (int i = (int)threadIdx.x / LANES; i < here; i += LOSS_GROUPS) {
            const double loss = loss_row<KIND>(task, begin + i);
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

template <LossKind KIND> static void run_loss(DeviceDouble *loss, LossTask task) {
    task.block = sum_block(task.logits.count, 64);
    task.part = (double *)cuda_scratch(SCRATCH_LOSS, SUM_PARTS * sizeof(double));
    const int64_t blocks = divide_up(task.logits.count, task.block);
    LAUNCH(loss_rows<KIND>, blocks, LOSS_THREADS, 2 * PIECE * sizeof(double),
           cuda_stream(STREAM_COMPUTE), task);
    add_parts(doubles_of(loss), NULL, task.part, blocks);
}

void cuda_loss(DeviceDouble *loss, Rows g, Rows logits, Labels on, uint8_t which, float weight,
               const DeviceFloat *row, LossForm form) {
    LossTask task = {};
    task.g = device_rows(g);
    task.logits = device_rows(logits);
    task.label = int32s_of(on.label);
    task.labels = bytes_of(on.labels);
    task.split = bytes_of(on.split);
    task.numbers = floats_of(on.numbers);
    task.which = which;
    task.weight = weight;
    task.row = floats_of(row);
    task.classes = floats_of(form.classes);
    task.smoothing = form.smoothing;
    task.positive = form.positive;
    switch (form.kind) {
    case LOSS_BCE:
        return run_loss<LOSS_BCE>(loss, task);
    case LOSS_HINGE:
        return run_loss<LOSS_HINGE>(loss, task);
    case LOSS_MSE:
        return run_loss<LOSS_MSE>(loss, task);
    default:
        return run_loss<LOSS_SOFTMAX>(loss, task);
    }
}
