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
    Labels on;
    LossForm form;
    unsigned char which; // split
    float weight;
    const float *row; // NULL: 1
    int64_t block;    // rows
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
    const int label = int32s_of(task.on.label)[r];
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
    return task.form.classes != NULL ? floats_of(task.form.classes)[c] : 1.0f;
}

// all log sum_c exp(z_c - m) + own (m - z_label) + each sum_c w_c (m - z_c);
// g = (all p - own onehot - each w) weight. In lane 0.
__device__ static inline double softmax_row_of_shares(const LossTask &task, float *g,
                                                      const float *z, int64_t r, float weight) {
    const int columns = (int)task.logits.columns, padded = padded_columns(task.logits);
    const int label = int32s_of(task.on.label)[r];
    const float right = z[label], most = row_max(z, columns);
    float factors = 0, spread = 0;
    for (int c = row_lane(); c < columns; c += LANES) {
        factors += class_factor(task, c);
        spread += class_factor(task, c) * (most - z[c]);
    }
    const float own = (1.0f - task.form.smoothing) * class_factor(task, label);
    const float each = task.form.smoothing / (float)columns, all = own + each * lanes_sum(factors);
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

// ---- losses that are a sum over the columns

struct Term { // of a column
    float loss, d;
};

__device__ static inline bool has_class(const LossTask &task, int64_t r, int c) {
    return task.on.label != NULL ? int32s_of(task.on.label)[r] == c
                                 : bytes_of(task.on.labels)[r * task.logits.columns + c] != 0;
}

// max(x, 0) - x y + log(1 + exp(-|x|)); d = (sigmoid(x) - y) weight.
__device__ static inline Term bce_term(const LossTask &task, float x, bool has, float weight) {
    const float y = has ? 1.0f : 0.0f, factor = y * task.form.positive + (1.0f - y);
    const bool negative = x < 0.0f; // a NaN is taken as it is
    const float t = activation_exp(negative ? x : -x), above = negative ? 0.0f : x;
    return Term{(above - x * y + log_1_and(t)) * factor,
                ((negative ? t : 1.0f) / (t + 1.0f) - y) * factor * weight};
}

// max(0, 1 - y x), y = 1 or -1; d = -y weight, or 0.
__device__ static inline Term hinge_term(float x, bool has, float weight) {
    const float y = has ? 1.0f : -1.0f, missing = 1.0f - y * x;
    const bool beyond = missing <= 0.0f; // a NaN is taken as it is
    return Term{beyond ? 0.0f : missing, beyond ? 0.0f : -y * weight};
}

// (x - y)^2; d = 2 (x - y) weight / K.
__device__ static inline Term mse_term(const LossTask &task, float x, int64_t r, int c,
                                       float weight) {
    const float d = x - floats_of(task.on.numbers)[r * task.logits.columns + c];
    return Term{d * d, d * (2.0f * weight / (float)task.logits.columns)};
}

// The sum over the columns; of LOSS_MSE their mean. In all lanes.
template <LossKind KIND>
__device__ static inline double row_of_terms(const LossTask &task, float *g, const float *x,
                                             int64_t r, float weight) {
    const int columns = (int)task.logits.columns, padded = padded_columns(task.logits);
    float sum = 0;
    for (int c = row_lane(); c < padded; c += LANES) {
        Term term = {0, 0};
        if (c < columns)
            term = KIND == LOSS_MSE   ? mse_term(task, x[c], r, c, weight)
                   : KIND == LOSS_BCE ? bce_term(task, x[c], has_class(task, r, c), weight)
                                      : hinge_term(x[c], has_class(task, r, c), weight);
        sum += term.loss;
        if (g != NULL)
            g[c] = term.d;
    }
    const double all = (double)lanes_sum(sum);
    return KIND == LOSS_MSE ? all / (double)columns : all;
}

// The loss of a row that counts, in lane 0.
template <LossKind KIND>
__device__ static inline double counted_row(const LossTask &task, float *g, const float *z,
                                            int64_t r, float weight) {
    const bool plain = task.form.classes == NULL && task.form.smoothing == 0;
    return KIND != LOSS_SOFTMAX ? row_of_terms<KIND>(task, g, z, r, weight)
           : plain              ? softmax_row(task, g, z, r, weight)
                                : softmax_row_of_shares(task, g, z, r, weight);
}

// The loss of a row, in lane 0; nothing, and no gradient, of a row that does not count.
template <LossKind KIND> __device__ static inline double loss_row(const LossTask &task, int64_t r) {
    const float *z = task.logits.at + r * task.logits.stride;
    float *g = task.g.at == NULL ? NULL : task.g.at + r * task.g.stride;
    const float factor = bytes_of(task.on.split)[r] != task.which ? 0.0f
                         : task.row != NULL                       ? task.row[r]
                                                                  : 1.0f;
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
    task.block = sum_block(task.logits.count, LEAST_ROWS);
    task.part = (double *)cuda_scratch(SCRATCH_LOSS, SUM_PARTS * sizeof(double));
    const int64_t blocks = divide_up(task.logits.count, task.block);
    LAUNCH(loss_rows<KIND>, blocks, LOSS_THREADS, 2 * PIECE * sizeof(double),
           cuda_stream(STREAM_COMPUTE), task);
    add_parts(doubles_of(loss), NULL, task.part, blocks);
}

void cuda_loss(DeviceDouble *loss, Rows g, Rows logits, Labels on, uint8_t which, float weight,
               const DeviceFloat *row, LossForm form) {
    const LossTask task = {device_rows(g), device_rows(logits), on, form, which,
                           weight,         floats_of(row),      0,  NULL};
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
