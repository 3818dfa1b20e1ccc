// If this failed, the memory "difference" would be updated in another order than DIANA says: with
// the old memory in what the reader makes of a row. (Both ends would still agree, and steps that
// are small enough would arrive.)
//
// The law is ALGORITHMS D.3 (ii) for one worker: f(x) = x^2 / 2, C(u) = 2 xi u where xi is 0 or 1,
// alpha = 1/2, x -= s g. The mean of squares of (x, h) is multiplied by a matrix in each step,
// which keeps it bounded iff s < 0.457427. With the new memory in g that would be 0.321699.
#include "ends.h"

static float xi; // 0 or 1

static size_t dropout_encode(const Backend *backend, DeviceByte *out, const MessageLayout *layout,
                             const MessageSource *source, DeviceInt64 *bad, const Poll *poll) {
    size_t bytes = full_precision()->encode(backend, out, layout, source, bad, poll);
    for (size_t k = 0; k < bytes / sizeof(float); k++)
        ((float *)(void *)out)[k] *= 2 * xi;
    return bytes;
}

// What a step makes of (x, h) = (1, 0) and of (0, 1), but for the step: g, and the new h.
typedef struct Step {
    float g[2], h[2];
} Step;

static float *memory_of(const Pair *p, int flow) {
    return (float *)(void *)p->box[flow].residual[CODING_MEMORY].memory;
}

// Two rows of the first message hold the two; all their columns do.
static Step step_with(const Codec *dropout, float kept) {
    Step step;
    CLEARED(pair_clear) Pair p = {0};
    CodecOptions options = {.codec = dropout};
    options.residual[CODING_MEMORY].of =
        family_find(&residual_family, "difference", NULL, &(Error){0});
    residual_set(&options.residual[CODING_MEMORY].values, (ResidualOptions){.alpha = 0.5});
    pair_init(&p, options, options, COLUMNS);
    xi = kept;
    for (int k = 0; k < 2; k++) {
        floats(p.sent)[k * p.sent.stride] = k == 0;
        memory_of(&p, OUTGOING)[k * p.sent.stride] = memory_of(&p, INCOMING)[k * p.sent.stride] =
            k == 1;
    }
    encode(&p, 0, box_step(&options, 1));
    decode(&p, 0, box_step(&options, 1));
    assert_true(ends_agree(&p, 1));
    for (int k = 0; k < 2; k++) {
        step.g[k] = floats(p.received)[k * p.received.stride];
        step.h[k] = memory_of(&p, INCOMING)[k * p.sent.stride];
    }
    return step;
}

// The mean of x^2 + 2 h^2 after many steps, by the means of x^2, x h and h^2.
static double growth(const Step step[2], double s) {
    double square[3] = {1, 0.5, 1}, size = 0;
    for (int n = 0; n < 2000; n++) {
        double next[3] = {0};
        for (int k = 0; k < 2; k++) { // x' = a x + b h, h' = c x + d h
            double a = 1 - s * step[k].g[0], b = -s * step[k].g[1], c = step[k].h[0],
                   d = step[k].h[1];
            next[0] += (a * a * square[0] + 2 * a * b * square[1] + b * b * square[2]) / 2;
            next[1] += (a * c * square[0] + (a * d + b * c) * square[1] + b * d * square[2]) / 2;
            next[2] += (c * c * square[0] + 2 * c * d * square[1] + d * d * square[2]) / 2;
        }
        size = next[0] + 2 * next[2];
        for (int i = 0; i < 3; i++)
            square[i] = next[i] / size;
    }
    return size; // from step to step
}

TEST(a_difference_follows_the_law) {
    Codec dropout = *full_precision();
    dropout.name = "dropout";
    dropout.encode = dropout_encode;
    Step step[2] = {step_with(&dropout, 0), step_with(&dropout, 1)};
    double stays = 0.01, grows = 2;
    while (grows - stays > 1e-9) {
        double s = (stays + grows) / 2;
        *(growth(step, s) < 1 ? &stays : &grows) = s;
    }
    assert_near(stays, 0.457427, 1e-6);
}
