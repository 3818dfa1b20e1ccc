// Without it: a step of Adam, AdamW or SGD could differ from PyTorch's, or depend on the number of
// threads or the vector width.
#include "kernels.h"

static const int64_t counts[] = {
    0, 1, 15, 16, 17, 4095, 4096, 4097, UNDER_SANITIZERS(12291, 100003)};
enum { COUNTS = sizeof counts / sizeof *counts, STEPS = 6 };

typedef struct State {
    float *w, *m, *v;
} State;
static State state_new(int64_t count) {
    return (State){random_floats(count, 1), TEST_ARRAY(float, count), TEST_ARRAY(float, count)};
}

static AdamStep adam_step(int t, bool decoupled) {
    return (AdamStep){.rate = 0.01f,
                      .beta1 = 0.9f,
                      .beta2 = 0.999f,
                      .epsilon = 1e-8f,
                      .rest1 = decoupled ? 0.1f : 1 - 0.9f,
                      .rest2 = decoupled ? 0.001f : 1 - 0.999f,
                      .correction1 = 1 - powf(0.9f, (float)t),
                      .correction2 = 1 - powf(0.999f, (float)t),
                      .decoupled = decoupled};
}

// One element through the steps, in double, from torch.optim.Adam's and SGD's documentation.
static double true_adam(double w, const float *g, double decay) {
    double m = 0, v = 0;
    for (int t = 1; t <= STEPS; t++) {
        double grad = (double)g[t - 1] + decay * w;
        m = 0.9 * m + 0.1 * grad;
        v = 0.999 * v + 0.001 * grad * grad;
        double mean = m / (1 - pow(0.9, t)), spread = v / (1 - pow(0.999, t));
        w -= 0.01 * mean / (sqrt(spread) + 1e-8);
    }
    return w;
}
// torch.optim.AdamW's.
static double true_adamw(double w, const float *g, double decay) {
    double m = 0, v = 0;
    for (int t = 1; t <= STEPS; t++) {
        double grad = (double)g[t - 1];
        w *= 1 - 0.01 * decay;
        m = 0.9 * m + 0.1 * grad;
        v = 0.999 * v + 0.001 * grad * grad;
        w -= 0.01 * (m / (1 - pow(0.9, t))) / (sqrt(v / (1 - pow(0.999, t))) + 1e-8);
    }
    return w;
}
static double true_sgd(double w, const float *g, double decay, double momentum) {
    double velocity = 0;
    for (int t = 1; t <= STEPS; t++) {
        double grad = (double)g[t - 1] + decay * w;
        velocity = t == 1 ? grad : momentum * velocity + grad;
        w -= 0.1 * velocity;
    }
    return w;
}

enum Kind { ADAM, ADAMW, SGD, MOMENTUM };

static void run(State *s, enum Kind kind, float *const g[STEPS], const float *decay,
                int64_t count) {
    for (int t = 1; t <= STEPS; t++)
        if (kind <= ADAMW)
            cpu_adam(on_device(s->w), on_device(s->m), on_device(s->v), on_device(g[t - 1]),
                     on_device(decay), count, adam_step(t, kind == ADAMW));
        else
            cpu_sgd(on_device(s->w), on_device(s->m), on_device(g[t - 1]), on_device(decay), count,
                    0.1f, kind == MOMENTUM ? 0.9f : 0.0f);
}

static void matches(const State *s, const float *start, enum Kind kind, float *const g[STEPS],
                    const float *decay, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        float own[STEPS];
        for (int t = 0; t < STEPS; t++)
            own[t] = g[t][i];
        double w = (double)start[i], factor = decay == NULL ? 0 : (double)decay[i];
        double truth = kind == ADAM    ? true_adam(w, own, factor)
                       : kind == ADAMW ? true_adamw(w, own, factor)
                                       : true_sgd(w, own, factor, kind == MOMENTUM ? 0.9 : 0);
        // Adam: float 1 - 0.999^t has 3e-5 of error at t = 1, half of it in a step of 0.01;
        // SGD: six roundings of numbers up to 5
        assert_near((double)s->w[i], truth, 2e-6);
    }
}

TEST(steps_are_pytorchs) {
    for (int n = 0; n < COUNTS; n++)
        for (int kind = ADAM; kind <= MOMENTUM; kind++)
            for (int with_decay = 0; with_decay < 2; with_decay++) {
                int64_t count = counts[n];
                float *g[STEPS], *decay = random_floats(count, 99),
                                 *start = random_floats(count, 1);
                State first = state_new(count);
                for (int t = 0; t < STEPS; t++)
                    g[t] = random_floats(count, 10 + t);
                for (int64_t i = 0; i < count; i++)
                    decay[i] = i % 3 == 0 ? 0.01f : 0.0f;
                for (Way way = {0}; way_next(&way);) {
                    State s = state_new(count);
                    run(way_is_first(&way) ? &first : &s, (enum Kind)kind, g,
                        with_decay ? decay : NULL, count);
                    if (!way_is_first(&way)) {
                        assert_memory_equal(s.w, first.w, (size_t)count * 4);
                        assert_memory_equal(s.m, first.m, (size_t)count * 4);
                        assert_memory_equal(s.v, first.v, (size_t)count * 4);
                    }
                }
                matches(&first, start, (enum Kind)kind, g, with_decay ? decay : NULL, count);
            }
}

// 50 steps of AdamW from the same gradients; the corrections as the trainer has them.
TEST(many_steps_of_adamw_are_pytorchs) {
    enum { COUNT = 21, MANY = 50 };
    float *g = random_floats(COUNT * MANY, 3), *start = random_floats(COUNT, 1), decay[COUNT],
          truth[COUNT];
    State s = state_new(COUNT);
    for (int i = 0; i < COUNT; i++)
        decay[i] = 0.05f;
    for (int t = 1; t <= MANY; t++) {
        AdamStep step = adam_step(t, true);
        step.correction1 = (float)(1 - pow(0.9, t));
        step.correction2 = (float)(1 - pow(0.999, t));
        cpu_adam(on_device(s.w), on_device(s.m), on_device(s.v), on_device(g + (t - 1) * COUNT),
                 on_device(decay), COUNT, step);
    }
    for (int i = 0; i < COUNT; i++) {
        double w = (double)start[i], m = 0, v = 0;
        for (int t = 1; t <= MANY; t++) {
            double grad = (double)g[(t - 1) * COUNT + i];
            w *= (double)(float)(1 - 0.01 * (double)decay[i]); // torch rounds the factor once
            m = 0.9 * m + 0.1 * grad;
            v = 0.999 * v + 0.001 * grad * grad;
            w -= 0.01 / (1 - pow(0.9, t)) * m / (sqrt(v / (1 - pow(0.999, t))) + 1e-8);
        }
        truth[i] = (float)w;
    }
    assert_close(s.w, truth, COUNT, 1e-6);
}

TEST(squares_are_summed) {
    for (int n = 0; n < COUNTS; n++) {
        float *x = random_floats(counts[n] + 1, 5);
        long double truth = 0;
        for (int64_t i = 0; i < counts[n]; i++)
            truth += (long double)x[i] * (long double)x[i];
        double first = 0;
        for (Way way = {0}; way_next(&way);) {
            double sum = 0;
            cpu_square_sum(on_device(&sum), on_device(x), counts[n]);
            if (way_is_first(&way))
                first = sum;
            assert_memory_equal(&sum, &first, sizeof sum);
            assert_near(sum, (double)truth, 1e-13 * (double)truth); // 1e5 roundings of 1e-16
        }
    }
}

// Of what messages remember: how far it has moved, and how large it was.
TEST(distances_are_summed) {
    for (int n = 0; n < COUNTS; n++) {
        float *a = random_floats(counts[n], 4), *b = random_floats(counts[n], 5);
        long double moved = 0, size = 0;
        for (int64_t i = 0; i < counts[n]; i++) {
            moved += ((long double)a[i] - b[i]) * ((long double)a[i] - b[i]);
            size += (long double)b[i] * b[i];
        }
        double first[2] = {0};
        for (Way way = {0}; way_next(&way);) {
            double two[2] = {-1, -1};
            cpu_message_distance(on_device(two), on_device(a), on_device(b), counts[n], NULL);
            if (way_is_first(&way))
                memcpy(first, two, sizeof first);
            assert_memory_equal(two, first, sizeof two);
            assert_near(two[0], (double)moved, 1e-13 * (double)moved); // 1e5 roundings of 1e-16
            assert_near(two[1], (double)size, 1e-13 * (double)size);
        }
    }
}

TEST(huge_gradients_do_not_overflow_their_sum) {
    float x[3] = {1e30f, -1e30f, 1e30f};
    double truth = 3 * (double)1e30f * (double)1e30f;
    double sum = 0;
    cpu_square_sum(on_device(&sum), on_device(x), 3);
    assert_near(sum, truth, 1e-15 * truth);
}

TEST(a_flat_array_is_scaled) {
    int64_t many = (1 << 20) + 77; // beyond what one thread does
    float *start = random_floats(many, 6), *x = TEST_ARRAY(float, many),
          *y = TEST_ARRAY(float, many);
    for (int64_t i = 0; i < many; i++)
        y[i] = start[i] * (i < many - 1 ? 0.3f : 1);
    for (Way way = {0}; way_next(&way);) {
        memcpy(x, start, (size_t)many * sizeof *x);
        cpu_scale(on_device(x), many - 1, 0.3f);
        assert_memory_equal(x, y, (size_t)many * sizeof *x);
    }
}
