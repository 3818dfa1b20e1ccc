// Without it: the loss or its gradient could be wrong for large scores or odd numbers of classes,
// could touch rows outside the split, depend on the number of threads or the vector width, or not
// be torch's where classes or rows have factors, or labels are smoothed; that of support-vector
// machines and of squared errors likewise.
#include "kernels.h"

enum { TRAIN = 1, OTHER = 2 };

// ---- the truth, in double, from the definitions

// torch's cross_entropy with weight w (NULL: 1) and label_smoothing, reduction "none".
static double true_softmax(const double *z, int64_t columns, int64_t label, const float *w,
                           double smoothing) {
    double most = z[0], sum = 0, loss = 0;
    for (int64_t c = 1; c < columns; c++)
        most = fmax(most, z[c]);
    for (int64_t c = 0; c < columns; c++)
        sum += exp(z[c] - most);
    for (int64_t c = 0; c < columns; c++) {
        double share = (c == label ? 1 - smoothing : 0) + smoothing / (double)columns;
        loss += share * (w != NULL ? (double)w[c] : 1) * (log(sum) + most - z[c]);
    }
    return loss;
}

// torch's binary_cross_entropy_with_logits with pos_weight, summed over the classes.
static double true_bce(const double *x, int64_t columns, const uint8_t *labels, double positive) {
    double sum = 0; // -(y log s + (1 - y) log (1 - s)), s = 1 / (1 + exp(-x))
    for (int64_t c = 0; c < columns; c++) {
        double toward = labels[c] ? x[c] : -x[c]; // the loss is log(1 + exp(-toward))
        double loss = toward > 0 ? log1p(exp(-toward)) : -toward + log1p(exp(toward));
        sum += (labels[c] ? positive : 1) * loss;
    }
    return sum;
}

// A support-vector machine for each class: sum_c max(0, 1 - y_c z_c).
static double true_hinge(const double *z, int64_t columns, const uint8_t *labels, int64_t label) {
    double sum = 0;
    for (int64_t c = 0; c < columns; c++)
        sum += fmax(0, 1 - ((labels != NULL ? labels[c] != 0 : c == label) ? z[c] : -z[c]));
    return sum;
}

// torch's mse_loss of one row.
static double true_mse(const double *z, int64_t columns, const float *numbers) {
    double sum = 0;
    for (int64_t c = 0; c < columns; c++)
        sum += (z[c] - (double)numbers[c]) * (z[c] - (double)numbers[c]);
    return sum / (double)columns;
}

typedef enum LossOf { SOFTMAX, BCE, HINGE_ONE, HINGE_SEVERAL, MSE, LOSSES } LossOf;

typedef struct Case {
    LossOf of;
    Rows logits, g;
    int32_t *label;
    uint8_t *labels, *split;
    float *numbers;
    LossForm form;
    float *row, *classes; // NULL: 1
} Case;

static Case case_new(LossOf of, int64_t rows, int64_t columns, float spread) {
    Case c = {.of = of,
              .logits = random_rows(rows, columns, 1),
              .g = test_rows(rows, columns),
              .label = TEST_ARRAY(int32_t, rows),
              .labels = TEST_ARRAY(uint8_t, rows * columns),
              .split = TEST_ARRAY(uint8_t, rows),
              .numbers = random_floats(rows * columns, 2),
              .form = LOSS_PLAIN(LOSS_SOFTMAX)};
    RandomKey key = random_key(3, RANDOM_GENERATE, 0, 0, 0);
    for (int64_t r = 0; r < rows; r++) {
        c.split[r] = random_uniform16(key, r, 0, 0) < 0.6f ? TRAIN : OTHER;
        c.label[r] =
            c.split[r] == TRAIN ? (int32_t)(random_uniform32(key, r, 1, 0) * (double)columns) : -1;
        for (int64_t k = 0; k < columns; k++) {
            c.labels[r * columns + k] = random_uniform16(key, r, 2, k) < 0.3f;
            floats(c.logits)[r * c.logits.stride + k] *= spread;
        }
    }
    return c;
}

// Every fourth row does not count, and with three columns or more neither does class 2.
static void case_weigh(Case *c) {
    int64_t rows = c->logits.count, columns = c->logits.columns;
    c->row = TEST_ARRAY(float, rows);
    c->classes = TEST_ARRAY(float, columns);
    for (int64_t r = 0; r < rows; r++)
        c->row[r] = (float)(r % 4) / 2;
    for (int64_t k = 0; k < columns; k++)
        c->classes[k] = (float)((k + 1) % 3);
    c->form = (LossForm){0, on_device(c->classes), 0.1f, 2.5f};
}

static double case_run(Case *c, Rows g, float weight) {
    static const LossKind kinds[] = {[SOFTMAX] = LOSS_SOFTMAX,
                                     [BCE] = LOSS_BCE,
                                     [MSE] = LOSS_MSE,
                                     [HINGE_ONE] = LOSS_HINGE,
                                     [HINGE_SEVERAL] = LOSS_HINGE};
    double loss = 0;
    bool one = c->of == SOFTMAX || c->of == HINGE_ONE;
    Labels on = {.label = one ? on_device(c->label) : NULL,
                 .labels = one || c->of == MSE ? NULL : on_device(c->labels),
                 .numbers = c->of == MSE ? on_device(c->numbers) : NULL,
                 .split = on_device(c->split)};
    c->form.kind = kinds[c->of];
    cpu_loss(on_device(&loss), g, c->logits, on, TRAIN, weight, on_device(c->row), c->form);
    return loss;
}

static double case_truth(const Case *c, int64_t r, const double *z) {
    int64_t columns = c->logits.columns;
    double factor = c->row != NULL ? (double)c->row[r] : 1;
    const uint8_t *labels = c->labels + r * columns;
    switch (c->of) {
    case SOFTMAX:
        return factor *
               true_softmax(z, columns, c->label[r], c->classes, (double)c->form.smoothing);
    case BCE:
        return factor * true_bce(z, columns, labels, (double)c->form.positive);
    case MSE:
        return factor * true_mse(z, columns, c->numbers + r * columns);
    default:
        return factor * true_hinge(z, columns, c->of == HINGE_ONE ? NULL : labels, c->label[r]);
    }
}

// The row's gradient against central differences of the truth: 1e-6 of 1, the largest it can be,
// times the factors; of squares, whose error of 3 may be rounded, twice that.
static void gradient_matches(const Case *c, int64_t r, double *z, float weight) {
    const double step = 1e-4;
    for (int64_t k = 0; k < c->logits.columns; k++) {
        double was = z[k];
        z[k] = was + step;
        double above = case_truth(c, r, z);
        z[k] = was - step;
        double truth = (above - case_truth(c, r, z)) / (2 * step);
        z[k] = was;
        if (c->of != MSE && c->of > BCE && fabs(fabs(was) - 1) < 2 * step)
            continue; // at the kink
        assert_near((double)(floats(c->g)[r * c->g.stride + k] / weight), truth,
                    c->row != NULL || c->of == MSE ? 5e-6 : 1e-6);
    }
}

static void case_matches(LossOf of, bool weighed, int64_t rows, int64_t columns, float spread) {
    Case c = case_new(of, rows, columns, spread);
    if (weighed)
        case_weigh(&c);
    double truth = 0, size = 0, z[640];
    rows_dirty(c.g);
    double loss = case_run(&c, c.g, 0.125f);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t k = 0; k < columns; k++)
            z[k] = (double)floats(c.logits)[r * c.logits.stride + k];
        if (c.split[r] == TRAIN) {
            double row = case_truth(&c, r, z);
            truth += row, size += fabs(row) + 1;
            gradient_matches(&c, r, z, 0.125f);
        } else
            for (int64_t k = 0; k < columns; k++)
                assert_true(floats(c.g)[r * c.g.stride + k] == 0);
    }
    assert_near(loss, truth, 5e-7 * size); // roundings of sums of floats
    assert_true(padding_is_zero(c.g));
    assert_true(case_run(&c, (Rows){0}, 0.125f) == loss);
}

TEST(loss_and_gradient_are_right_at_every_width) {
    for (Way way = {0}; way_next(&way);)
        for (LossOf of = 0; of < LOSSES; of++) {
            for (int64_t columns = 1; columns <= UNDER_SANITIZERS(48, 70);
                 columns += UNDER_SANITIZERS(3, 1))
                case_matches(of, false, 9, columns, 2);
            for (int64_t columns = 1; columns <= 70; columns += columns % 16 < 2 ? 1 : 5)
                case_matches(of, true, 9, columns, 2);
            case_matches(of, false, 4, 256, 3);
            case_matches(of, true, 2, 602, 1);
        }
}

TEST(large_scores_neither_overflow_nor_vanish) {
    static const float spreads[] = {1e-20f, 1e-3f, 30, 1e3f, 1e6f};
    for (int s = 0; s < 5; s++)
        for (LossOf of = 0; of < LOSSES; of++)
            for (Way way = {0}; way_next(&way);) {
                Case c = case_new(of, 50, 11, spreads[s]);
                double loss = case_run(&c, c.g, 1), truth = 0, z[11];
                for (int64_t r = 0; r < 50; r++) {
                    for (int64_t k = 0; k < 11; k++) {
                        z[k] = (double)floats(c.logits)[r * c.logits.stride + k];
                        assert_true(of == MSE ||
                                    fabsf(floats(c.g)[r * c.g.stride + k]) <= 1.0f + 1e-6f);
                    }
                    truth += c.split[r] == TRAIN ? case_truth(&c, r, z) : 0;
                }
                assert_near(loss, truth, 1e-6 * truth);
            }
}

TEST(a_nan_score_gives_a_nan_loss) {
    for (LossOf of = 0; of < LOSSES; of++)
        for (Way way = {0}; way_next(&way);)
            for (int64_t k = 0; k < 20; k++) {
                Case c = case_new(of, 3, 20, 1);
                c.split[1] = TRAIN, c.label[1] = 4;
                floats(c.logits)[c.logits.stride + k] = NAN;
                assert_true(isnan(case_run(&c, c.g, 1)));
            }
}

TEST(bits_do_not_depend_on_threads_or_width) {
    static const int64_t sizes[][2] = {{0, 3}, {1, 1}, {1000, 41}, {20000, 7}, {300, 121}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (LossOf of = 0; of < LOSSES; of++) {
            Case c = case_new(of, sizes[s][0], sizes[s][1], 3);
            if (s % 2 == 0)
                case_weigh(&c);
            Rows first = test_rows(sizes[s][0], sizes[s][1]);
            double loss = 0;
            for (Way way = {0}; way_next(&way);) {
                double now = case_run(&c, way_is_first(&way) ? first : c.g, 0.01f);
                if (way_is_first(&way))
                    loss = now;
                else
                    assert_true(rows_equal(c.g, first));
                assert_memory_equal(&now, &loss, sizeof loss);
            }
        }
}
