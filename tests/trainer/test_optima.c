// ranks: 1 3
// If this failed, trainings of support-vector machines, of linear regression, or with l1 would not
// arrive at the optimum of their convex problem, or would on one number of ranks only; or proximal
// steps on sums from a memory would stall as plain rounding does.
#include "convex.h"

// How far an objective f is from its least value needs no other program: a subgradient s bounds it
// by |s|^2 / (2 decay), and a support-vector machine has a dual.

static const double l1 = 0.004;

static double number_of(int64_t node, int64_t column) {
    return sin((double)(3 * node + 50 * column)) + 2;
}

typedef struct Model1 { // of one layer without bias
    const char *settings[7];
    bool numbers;
    int epochs;
    double most, least; // bound of what the objective is above its least value
} Model1;

static const Model1 models[] = {
    {{"train.loss=hinge", "train.lr=50", "train.lr_schedule=inverse", "train.lr_step_size=1"},
     .epochs = 800,
     .most = 1e-4},
    {{"train.loss=mse", "train.lr=2"}, .numbers = true, .epochs = 300, .most = 1e-9},
    {{"train.lr=4", "train.l1=0.004"}, .epochs = 300, .most = 1e-9},
    {{"train.lr=0.8", "train.l1=0.004", "train.momentum=0.8"}, .epochs = 300, .most = 1e-9},
    {{"train.lr=4", "train.l1=0.004", "gradients.method=diana", "gradients.down=fp32"},
     .epochs = 300,
     .most = 1e-6},
    {{"train.lr=4", "train.l1=0.004", "gradients.method=terngrad", "gradients.down=fp32"},
     .epochs = 300,
     .most = 1e9,
     .least = 1e-4}, // of several ranks
};
enum { MODELS = sizeof models / sizeof *models };

// ---- bounds, in double

static double product(const double *z, const double *weight, int column) {
    double sum = 0;
    for (int f = 0; f < FEATURES; f++)
        sum += z[f] * weight[f * CLASSES + column];
    return sum;
}

// |s|^2 / (2 decay), s the shortest subgradient: of a weight at 0 what l1 cannot hold.
static double bound_of(const double *gradient, const double *weight, double of_l1) {
    double squares = 0;
    for (int k = 0; k < WEIGHTS; k++) {
        double s = weight[k] != 0 ? gradient[k] + (weight[k] > 0 ? of_l1 : -of_l1)
                                  : fmax(0, fabs(gradient[k]) - of_l1);
        squares += s * s;
    }
    return squares / (2 * decay);
}

static double smooth_bound(const Model1 *model, const double *weight, const double *z) {
    double gradient[WEIGHTS], error[CLASSES];
    for (int k = 0; k < WEIGHTS; k++)
        gradient[k] = decay * weight[k];
    for (int64_t i = 0; i < GRAPH_NODES; i++) {
        if (!model->numbers)
            error_of(error, weight, z + i * FEATURES, graph.dataset.label[i]);
        for (int c = 0; model->numbers && c < CLASSES; c++)
            error[c] = 2.0 / CLASSES *
                       (product(z + i * FEATURES, weight, c) -
                        (double)graph.dataset.numbers[i * CLASSES + c]);
        for (int k = 0; k < WEIGHTS; k++)
            gradient[k] += z[i * FEATURES + k / CLASSES] * error[k % CLASSES] / GRAPH_NODES;
    }
    return bound_of(gradient, weight, strstr(model->settings[1], "l1") != NULL ? l1 : 0);
}

// The least of one machine's objective by its dual: max sum_i a_i / n - |w|^2 decay / 2, w = sum_i
// a_i y_i z_i / (decay n), 0 <= a_i <= 1, one a_i after the other.
static double dual_value(const double *z, int column) {
    double a[GRAPH_NODES] = {0}, w[FEATURES] = {0}, value = 0;
    for (int pass = 0; pass < 2000; pass++)
        for (int64_t i = 0; i < GRAPH_NODES; i++) {
            const double *x = z + i * FEATURES;
            double y = graph.dataset.label[i] == column ? 1 : -1, at = 0, square = 0;
            for (int f = 0; f < FEATURES; f++)
                at += x[f] * w[f], square += x[f] * x[f];
            double next = fmin(1, fmax(0, a[i] + (1 - y * at) * decay * GRAPH_NODES / square));
            for (int f = 0; f < FEATURES; f++)
                w[f] += (next - a[i]) * y * x[f] / (decay * GRAPH_NODES);
            a[i] = next;
        }
    for (int64_t i = 0; i < GRAPH_NODES; i++)
        value += a[i] / GRAPH_NODES;
    for (int f = 0; f < FEATURES; f++)
        value -= decay / 2 * w[f] * w[f];
    return value;
}

static double hinge_bound(const double *weight, const double *z) {
    double gap = 0;
    for (int c = 0; c < CLASSES; c++) {
        for (int64_t i = 0; i < GRAPH_NODES; i++) {
            double y = graph.dataset.label[i] == c ? 1 : -1;
            gap += fmax(0, 1 - y * product(z + i * FEATURES, weight, c)) / GRAPH_NODES;
        }
        for (int f = 0; f < FEATURES; f++)
            gap += decay / 2 * weight[f * CLASSES + c] * weight[f * CLASSES + c];
        gap -= dual_value(z, c);
    }
    return gap;
}

// ---- the program

static int zeros_in(const double *weight) {
    int zeros = 0;
    for (int k = 0; k < WEIGHTS; k++)
        zeros += weight[k] == 0;
    return zeros;
}

TEST(models_arrive_at_their_optimum) {
    static double weight[WEIGHTS], z[GRAPH_NODES * FEATURES];
    for (int i = 0; i < MODELS; i++) {
        const Model1 *model = &models[i];
        use_problem(model->numbers ? number_of : NULL);
        memset(z, 0, sizeof z);
        smooth_features(z);
        configure_problem(model->epochs, model->settings, 7);
        trained(weight);
        double bound = !ARRIVES ? model->most
                       : i == 0 ? hinge_bound(weight, z)
                                : smooth_bound(model, weight, z);
        if (!ARRIVES)
            continue;
        if (!(bound <= model->most) || (test_comm.size > 1 && bound < model->least))
            fail_msg("%s: the objective is up to %g above its least value, outside of %g to %g",
                     model->settings[0], bound, model->least, model->most);
        assert_true((zeros_in(weight) > 5) == (config.train.l1 > 0));
        if (test_comm.rank == 0)
            printf("%s %s: %.2g, %d zeros\n", model->settings[0], model->settings[2], bound,
                   zeros_in(weight));
    }
}
