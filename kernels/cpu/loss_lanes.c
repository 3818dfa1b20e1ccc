// Losses and their gradients, a row at a time.
//
//   softmax  loss = log sum_c exp(z_c - m) + m - z_label, m = max z;  g = (p - onehot) weight
//   bce      loss = sum_c max(x, 0) - x y + log(1 + exp(-|x|));       g = (sigmoid(x) - y) weight
//   hinge    loss = sum_c max(0, 1 - y x), y = 1 or -1;               g = -y weight, or 0
//   mse      loss = sum_c (x - y)^2 / K;                              g = 2 (x - y) weight / K
//
// With factors w of classes and smoothing e the label asks for a share of (1 - e) w_label and every
// class for one of e/K w_c (Shares):
//
//   softmax  loss = all log sum_c exp(z_c - m) + own (m - z_label) + each sum_c w_c (m - z_c)
//            g = (all p - own onehot - each w) weight
//
// The exponential and the logarithm are polynomials of our own (expressions.h), so they are the
// same in every vector width and on every machine.
#include "loss.h"
#include "masks_lanes.h"

#include "../expressions.h"

// 2^n for n = -126 .. 127; `shifted` is n + 1.5 2^23, whose low bits are n. Unsigned, because a
// loss that diverges brings any bits.
LANES_INLINE Vec vec_power2(Vec shifted) {
    VecBits n = (VecBits)shifted - (VecBits)vec_set(0x1.8p23f);
    return (Vec)((n + 127) << 23);
}

DEFINE_EXP(LANES_INLINE, Vec, vec_exp_near, vec_power2)
DEFINE_LOG1P(LANES_INLINE, Vec, vec_log1p)

// exp(x) for x <= 0; 0 below -87; NaN stays.
LANES_INLINE Vec vec_exp(Vec x) { return (Vec)((VecInt)vec_exp_near(x) & ~(VecInt)(x < -87.0f)); }

LANES_INLINE F16 f16_exp(F16 a) {
    F16_EACH(i) a.part[i] = vec_exp(a.part[i]);
    return a;
}

LANES_INLINE float row_max(const float *z, int64_t columns) {
    float most = z[0];
    for (int64_t c = 1; c < columns; c++) // a maximum does not depend on its order
        most = z[c] > most ? z[c] : most;
    return most;
}

// The sum of exp(z - most), whose terms become the row of g; g may be z.
LANES_INLINE float exponentials(float *g, const float *z, int64_t columns, float most) {
    F16 sum = f16_set(0), middle = f16_set(most);
    for (int64_t c = 0; c < columns; c += 16) {
        F16 e = f16_exp(f16_sub(f16_load(z + c), middle));
        e = f16_keep(e, mask_first(columns - c));
        sum = f16_add(sum, e);
        if (g != NULL)
            f16_store(g + c, e);
    }
    return f16_sum(sum);
}

LANES_INLINE double softmax_row(float *g, const LossCall *call, int64_t r, float weight) {
    const float *z = call->logits.at + r * call->logits.stride;
    int64_t columns = call->logits.columns;
    int32_t label = int32s_of(call->on.label)[r];
    float most = row_max(z, columns), right = z[label];
    float total = exponentials(g, z, columns, most);
    if (g != NULL) {
        F16 scale = f16_set(1.0f / total), factor = f16_set(weight);
        float p = g[label] * (1.0f / total);
        for (int64_t c = 0; c < columns; c += 16)
            f16_store(g + c, f16_mul(f16_mul(f16_load(g + c), scale), factor));
        g[label] = (p - 1.0f) * weight;
    }
    return log((double)total) + ((double)most - (double)right);
}

// Factors of 16 classes, 0 beyond the last.
LANES_INLINE F16 factors_of(const float *classes, int64_t c, int64_t columns) {
    if (classes == NULL)
        return f16_keep(f16_set(1), mask_first(columns - c));
    return columns - c >= 16 ? f16_load_loose(classes + c)
                             : f16_load_first(classes + c, columns - c);
}

typedef struct Shares { // what a row asks of the classes
    float own, each;    // of the label; of a class, times its factor
    float all;          // their sum
    float spread;       // sum_c w_c (m - z_c)
} Shares;

LANES_INLINE float factor_of(const float *classes, int32_t label) {
    return classes != NULL ? classes[label] : 1.0f;
}

LANES_INLINE Shares shares_of(const LossCall *call, const float *z, int32_t label, float most) {
    int64_t columns = call->logits.columns;
    const float *classes = floats_of(call->form.classes);
    F16 factors = f16_set(0), spread = f16_set(0), middle = f16_set(most);
    for (int64_t c = 0; c < columns; c += 16) {
        F16 w = factors_of(classes, c, columns);
        factors = f16_add(factors, w);
        spread = f16_add(spread, f16_mul(w, f16_sub(middle, f16_load(z + c))));
    }
    float own = (1.0f - call->form.smoothing) * factor_of(classes, label);
    float each = call->form.smoothing / (float)columns;
    return (Shares){own, each, own + each * f16_sum(factors), f16_sum(spread)};
}

LANES_INLINE double softmax_row_of_shares(float *g, const LossCall *call, int64_t r, float weight) {
    const float *z = call->logits.at + r * call->logits.stride;
    const float *classes = floats_of(call->form.classes);
    int64_t columns = call->logits.columns;
    int32_t label = int32s_of(call->on.label)[r];
    float most = row_max(z, columns), right = z[label];
    Shares s = shares_of(call, z, label, most);
    float total = exponentials(g, z, columns, most);
    if (g != NULL) {
        F16 all = f16_set(s.all * (1.0f / total)), each = f16_set(s.each), factor = f16_set(weight);
        float p = s.all * (1.0f / total) * g[label];
        for (int64_t c = 0; c < columns; c += 16) {
            F16 asked = f16_mul(each, factors_of(classes, c, columns));
            f16_store(g + c, f16_mul(f16_sub(f16_mul(all, f16_load(g + c)), asked), factor));
        }
        float asked = s.each * factor_of(classes, label);
        g[label] = (p - asked - s.own) * weight;
    }
    return (double)s.all * log((double)total) + (double)s.own * ((double)most - (double)right) +
           (double)s.each * (double)s.spread;
}

// The factor of a row's loss; 0: it does not count.
LANES_INLINE float row_factor(const LossCall *call, int64_t r) {
    return bytes_of(call->on.split)[r] != call->which ? 0 : call->row != NULL ? call->row[r] : 1;
}

// Of a row of the logits: writes g, if any, and returns its loss without its own factor.
typedef double RowLoss(float *g, const LossCall *call, int64_t r, float weight);

// Rows begin .. end - 1, each by its factor; a row that does not count has gradient 0.
LANES_INLINE double losses_of_rows(const LossCall *call, int64_t begin, int64_t end, RowLoss *row) {
    double loss = 0;
    for (int64_t r = begin; r < end; r++) {
        float *g = call->g.at == NULL ? NULL : call->g.at + r * call->g.stride;
        float factor = row_factor(call, r);
        if (factor != 0)
            loss += (double)factor * row(g, call, r, call->weight * factor);
        else if (g != NULL)
            floats_zero(g, call->logits.columns);
    }
    return loss;
}

// ---- losses that are a sum over the columns

// The losses of columns c .. c + 15 of row r, whose logits are x, and their gradients into *g.
typedef F16 Loss16(F16 *g, const LossCall *call, int64_t r, int64_t c, F16 x, float weight);

LANES_INLINE double sum_of_columns(float *g, const LossCall *call, int64_t r, float weight,
                                   Loss16 *losses) {
    const float *x = call->logits.at + r * call->logits.stride;
    F16 sum = f16_set(0);
    for (int64_t c = 0; c < call->logits.columns; c += 16) {
        Mask mask = mask_first(call->logits.columns - c);
        F16 d, loss = losses(&d, call, r, c, f16_load(x + c), weight);
        sum = f16_add(sum, f16_keep(loss, mask));
        if (g != NULL)
            f16_store(g + c, f16_keep(d, mask));
    }
    return (double)f16_sum(sum);
}

// `has` of the classes that the row has, `others` of the others.
LANES_INLINE F16 classes_load(const LossCall *call, int64_t r, int64_t c, float has, float others) {
    int64_t columns = call->logits.columns;
    const int32_t *label = int32s_of(call->on.label);
    const uint8_t *labels = bytes_of(call->on.labels);
    float lane[16] __attribute__((aligned(64))) = {0};
    for (int64_t i = 0; i < 16 && c + i < columns; i++)
        lane[i] =
            (label != NULL ? label[r] == c + i : labels[r * columns + c + i] != 0) ? has : others;
    return f16_load(lane);
}

LANES_INLINE F16 bce_16(F16 *g, const LossCall *call, int64_t r, int64_t c, F16 x, float weight) {
    F16 loss, y = classes_load(call, r, c, 1, 0);
    F16_EACH(i) {
        Vec a = x.part[i], zero = vec_set(0), one = vec_set(1);
        VecInt negative = a < 0.0f;
        Vec t = vec_exp(vec_select(negative, a, -a));
        Vec above = vec_select(negative, zero, a); // a NaN is taken as it is
        Vec factor = y.part[i] * call->form.positive + (1.0f - y.part[i]);
        loss.part[i] = (above - a * y.part[i] + vec_log1p(t)) * factor;
        g->part[i] = (vec_select(negative, t, one) / (t + 1.0f) - y.part[i]) * factor * weight;
    }
    return loss;
}
LANES_INLINE double bce_row(float *g, const LossCall *call, int64_t r, float weight) {
    return sum_of_columns(g, call, r, weight, bce_16);
}

LANES_INLINE F16 hinge_16(F16 *g, const LossCall *call, int64_t r, int64_t c, F16 x, float weight) {
    F16 loss, y = classes_load(call, r, c, 1, -1);
    F16_EACH(i) {
        Vec missing = 1.0f - y.part[i] * x.part[i], zero = vec_set(0);
        VecInt beyond = missing <= 0.0f; // a NaN is taken as it is
        loss.part[i] = vec_select(beyond, zero, missing);
        g->part[i] = vec_select(beyond, zero, -y.part[i] * weight);
    }
    return loss;
}
LANES_INLINE double hinge_row(float *g, const LossCall *call, int64_t r, float weight) {
    return sum_of_columns(g, call, r, weight, hinge_16);
}

LANES_INLINE F16 mse_16(F16 *g, const LossCall *call, int64_t r, int64_t c, F16 x, float weight) {
    int64_t columns = call->logits.columns, left = columns - c;
    const float *y = floats_of(call->on.numbers) + r * columns + c;
    F16 d = f16_sub(x, left >= 16 ? f16_load_loose(y) : f16_load_first(y, left));
    *g = f16_mul(d, f16_set(2.0f * weight / (float)columns));
    return f16_mul(d, d);
}
LANES_INLINE double mse_row(float *g, const LossCall *call, int64_t r, float weight) {
    return sum_of_columns(g, call, r, weight, mse_16) / (double)call->logits.columns;
}

double LANES_NAME(loss_rows)(const void *of, int64_t begin, int64_t end) {
    const LossCall *call = (const LossCall *)of;
    const bool plain = call->form.classes == NULL && call->form.smoothing == 0;
    switch (call->form.kind) {
    case LOSS_BCE:
        return losses_of_rows(call, begin, end, bce_row);
    case LOSS_HINGE:
        return losses_of_rows(call, begin, end, hinge_row);
    case LOSS_MSE:
        return losses_of_rows(call, begin, end, mse_row);
    default:
        return plain ? losses_of_rows(call, begin, end, softmax_row)
                     : losses_of_rows(call, begin, end, softmax_row_of_shares);
    }
}
