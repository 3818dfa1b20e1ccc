// ranks: 2 4, once; also on fenced
// If this failed, gradients from messages of few bits would be noisier than their widths say,
// biased where they must not be (ALGORITHMS A.4, A12), or would depend on the schedule; or
// evaluation would not be exact.
#include "../codec_values.h"
#include "../exchange/synthetic_halo.h"
#include "../small_graph.h"
#include "fringe/model.h"

// ---- a small model with messages of any form

typedef struct Small {
    TestGraph graph;
    Config config;
    ModelShape shape;
    ModelPatterns patterns;
    GradSync *sync;
    float *p;
    DeviceFloat *device_p, *gradient;
    Model *model; // of an experiment: messages of few bits,
    float *exact; // and the gradient of fp32 ones
} Small;

static size_t parameter_bytes(const Small *s) {
    return (size_t)s->shape.parameter_count * sizeof(float);
}

static void small_init(Small *s, TestGraphKind kind, const char *layer, const char *post,
                       double dropout, const char *order) {
    *s = (Small){.graph = test_graph(kind, 42, &test_comm)};
    s->config =
        CONFIGURED(test_text("model.layer=%s", layer), test_text("model.post=%s", post),
                   test_text("model.dropout=%g", dropout), test_text("lossless.order=%s", order),
                   "model.layers=2", "model.hidden=[12]", "model.input_dropout=0",
                   "lossless.input_features=exchange", "lossless.receptive_field=all",
                   "lossless.cover=sources");
    assert_ok(model_shape(&s->shape, &s->config, kind.features, kind.classes, false, &err));
    model_patterns_init(&s->patterns, &s->shape, &s->graph.shard, &test_comm);
    s->sync = gradsync_new(&test_comm, device(), &(GradForm){.count = s->shape.parameter_count});
    s->p = TEST_ARRAY(float, s->shape.parameter_count);
    model_initial(&s->shape, 7, s->p);
    s->device_p = device()->alloc(parameter_bytes(s), "test");
    s->gradient = device()->alloc(parameter_bytes(s), "test");
    to_device(s->device_p, s->p, parameter_bytes(s));
}

static void small_clear(Small *s) {
    model_free(s->model);
    device()->free(s->gradient);
    device()->free(s->device_p);
    gradsync_free(s->sync);
    model_patterns_clear(&s->patterns);
    test_graph_clear(&s->graph);
}

static Model *model_of(const Small *s, const char *codec, bool bf16, const char *schedule) {
    ModelParts parts = {.shard = &s->graph.shard,
                        .patterns = &s->patterns,
                        .comm = &test_comm,
                        .backend = device(),
                        .options = {.codec = assert_ok(codec_find(codec, &err)),
                                    .values = integer_values(bf16),
                                    .width = 8,
                                    .chunk = 65280},
                        .schedule = assert_ok(schedule_find(schedule, &err))};
    return assert_ok(model_new(&s->shape, &parts, &s->config, &err));
}

// The gradient of all ranks; takes no memory but for gradsync.
static double gradient_of(const Small *s, Model *model, float *g, uint32_t epoch) {
    int64_t takes = memory_allocs();
    double loss = model_loss_and_gradient(model, s->device_p, s->gradient, 11, epoch);
    assert_int_equal(takes, memory_allocs());
    gradsync_finish(s->sync, s->gradient);
    from_device(g, s->gradient, parameter_bytes(s));
    comm_sum_double(&test_comm, &loss, 1);
    return loss;
}

static int the_same(int64_t gid, int reader, int setting) {
    (void)gid, (void)reader;
    return setting;
}

static int of_all_kinds(int64_t gid, int reader, int setting) {
    static const int kinds[] = {2, 4, 8, 1, 3, 5, 6, 7, 16};
    return kinds[(gid * 31 + reader * 7 + setting) % 9];
}

static void set_direction(Model *model, int direction, int bits) {
    int channels = 0;
    for (int l = 0; l < 2; l++)
        if (model_channel(model, (ExchangeId){l, direction}) != NULL) {
            ring_set_widths(model_channel(model, (ExchangeId){l, direction}), the_same, bits);
            channels++;
        }
    assert_int_equal(channels, direction == FORWARD ? 2 : 1);
}

// ---- the experiment of A.4: noise and bias of the gradient over repetitions

// To see a bias takes more repetitions than to see how large the noise is.
enum { FOR_NOISE = 100, FOR_BIAS = 400 };

// The draws of another backend are the CPU's, bit for bit (test_backend_ops, test_fenced.sh).
static bool on_cpu(void) { return strcmp(device()->name, "cpu") == 0; }

static const TestGraphKind graph = {.nodes = 100, .degree = 6, .features = 8, .classes = 4};

typedef struct Experiment {
    double noise, bias; // of the weights' gradient, by its norm; what noise leaves of a mean is
                        // taken off the bias
    double z;           // largest of the first layer's weights (ALGORITHMS 0)
} Experiment;

// Where z of a mean of m unbiased elements lies, but for one time in 1e9.
static double z_bound(int64_t elements) { return sqrt(2 * log(2 * (double)elements / 1e-9)); }

static Experiment experiment(const Small *s, int forward_bits, int backward_bits, int repeats) {
    int64_t n = s->shape.parameter_count;
    float *g = TEST_ARRAY(float, n);
    double *sum = TEST_ARRAY(double, n), *square = TEST_ARRAY(double, n);
    set_direction(s->model, FORWARD, forward_bits);
    set_direction(s->model, BACKWARD, backward_bits);
    for (int epoch = 1; epoch <= repeats; epoch++) {
        gradient_of(s, s->model, g, (uint32_t)epoch);
        for (int64_t k = 0; k < n; k++) {
            double d = (double)g[k] - (double)s->exact[k];
            sum[k] += d;
            square[k] += d * d;
        }
    }
    Experiment e = {0};
    double norm = 0, variance = 0, off = 0;
    for (int i = 0; i < s->shape.parameter_spans; i++) {
        const Parameter *w = &s->shape.parameter[i];
        for (int64_t k = w->begin; w->matrix && k < w->begin + w->rows * w->columns; k++) {
            double mean = sum[k] / repeats;
            double var = (square[k] - repeats * mean * mean) / (repeats - 1);
            norm += (double)s->exact[k] * (double)s->exact[k];
            variance += var;
            off += mean * mean - var / repeats;
            // where nothing but the rounding of floats is left, that is not judged
            double floor = 1e-7 * fabs((double)s->exact[k]) + 1e-12;
            if (w->layer == 0)
                e.z = fmax(e.z, fabs(mean) / (sqrt(var / repeats) + floor));
        }
    }
    e.noise = sqrt(variance / norm);
    e.bias = sqrt(fmax(off, 0) / norm);
    if (test_comm.rank == 0)
        print_message("forward %2d bits, backward %2d bits: noise %.2e, bias %.2e, z %.1f\n",
                      forward_bits, backward_bits, e.noise, e.bias, e.z);
    return e;
}

static void experiment_init(Small *s, const char *post, bool bf16) {
    small_init(s, graph, "gcn", post, 0, "aggregate-first");
    s->model = model_of(s, "integer", bf16, "blocking");
    s->exact = TEST_ARRAY(float, s->shape.parameter_count);
    CLEARED(model_drop) Model *fp32 = model_of(s, "fp32", false, "blocking");
    gradient_of(s, fp32, s->exact, 1);
}

// Noise at 2 to 8 bits for all messages.
static void noise_by_bits(const char *post, double noise[9]) {
    CLEARED(small_clear) Small s = {0};
    experiment_init(&s, post, true);
    for (int bits = 2; bits <= 8; bits++)
        noise[bits] = experiment(&s, bits, bits, FOR_NOISE).noise;
}

static double steps(int bits) { return (double)((1 << bits) - 1); } // of a row's range

TEST(noise_is_that_of_the_step) {
    if (!on_cpu())
        return;
    double noise[9];
    noise_by_bits("[]", noise); // no ReLU
    for (int bits = 2; bits < 8; bits++) {
        double ratio = noise[bits] / noise[bits + 1] * steps(bits) / steps(bits + 1);
        if (!(ratio > 0.8 && ratio < 1.25)) // where in a step values lie changes with it
            fail_msg("%d bits are %.2f times as noisy as %d by their steps", bits, ratio, bits + 1);
    }
    double ratio = noise[2] / noise[8] * steps(2) / steps(8);
    assert_true(ratio > 0.8 && ratio < 1.25);
}

// Units of ReLU that lie within a step of 0 change sides, and there are fewer or more of them in a
// step: only about 2 a bit. A.4 has 0.19 of the norm at 2 bits.
TEST(a_bit_more_halves_the_noise) {
    if (!on_cpu())
        return;
    double noise[9];
    noise_by_bits("activation", noise);
    for (int bits = 2; bits < 8; bits++) {
        double ratio = noise[bits] / noise[bits + 1];
        if (!(ratio > 1.3 && ratio < 2.7))
            fail_msg("%d bits are %.2f times as noisy as %d", bits, ratio, bits + 1);
    }
    assert_true(noise[2] / noise[8] > 25 && noise[2] / noise[8] < 110); // 85 without ReLU
    assert_true(noise[2] < 0.6 && noise[2] > 0.06);
}

TEST(noise_of_backward_messages_is_unbiased) {
    if (!on_cpu())
        return;
    CLEARED(small_clear) Small s = {0};
    static const int widths[] = {1, 2, 3, 4, 6, 8};
    experiment_init(&s, "activation", true);
    double bound = z_bound(s.shape.width[0] * s.shape.width[1]);
    for (int i = 0; i < 6; i++) {
        Experiment e = experiment(&s, 16, widths[i], FOR_BIAS);
        if (e.z > bound)
            fail_msg("%d bits: z %.1f, at most %.1f", widths[i], e.z, bound);
        assert_true(e.noise > 0.01 / (1 << widths[i])); // it was on
    }
}

TEST(noise_of_forward_messages_is_biased) {
    if (!on_cpu())
        return;
    CLEARED(small_clear) Small s = {0};
    experiment_init(&s, "activation", false);
    double bound = z_bound(s.shape.width[0] * s.shape.width[1]);
    Experiment two = experiment(&s, 2, 16, FOR_BIAS);
    Experiment four = experiment(&s, 4, 16, FOR_BIAS);
    Experiment six = experiment(&s, 6, 16, FOR_BIAS);
    assert_true(two.z > bound);
    assert_true(two.bias > 0.01);
    assert_true(two.bias > 1.5 * four.bias);
    assert_true(four.bias > 1.5 * six.bias);
}

// ---- schedules and inference

typedef struct Case {
    const char *name, *layer, *post;
    double dropout;
    const char *order;
    bool directed, weighted, bf16;
} Case;

static const Case cases[] = {
    {"gcn", "gcn", "[\"dropout\",\"norm\",\"activation\"]", 0.5, "aggregate-first", false, false,
     true},
    {"gcn, directed, transform first", "gcn", "activation", 0, "auto", true, true, false},
    {"sage-mean, directed", "sage-mean", "[\"norm\",\"activation\",\"dropout\"]", 0.3,
     "aggregate-first", true, false, true},
    {"sage-gcn, weighted", "sage-gcn", "activation", 0, "auto", false, true, true},
};
enum { CASES = sizeof cases / sizeof *cases };

static void case_init(Small *s, const Case *c) {
    TestGraphKind kind = {.nodes = 83,
                          .degree = 6,
                          .directed = c->directed,
                          .weighted = c->weighted,
                          .features = 13,
                          .classes = 5};
    small_init(s, kind, c->layer, c->post, c->dropout, c->order);
}

// Widths of all kinds mixed, other ones in every channel.
static Model *mixed_model(const Small *s, const Case *c, const char *schedule) {
    Model *model = model_of(s, "integer", c->bf16, schedule);
    for (int l = 0; l < 2; l++)
        for (int d = 0; d < 2; d++)
            if (model_channel(model, (ExchangeId){l, d}) != NULL)
                ring_set_widths(model_channel(model, (ExchangeId){l, d}), of_all_kinds, 2 * l + d);
    return model;
}

TEST(schedules_give_the_same_bits) {
    static const char *const names[] = {"blocking", "overlap", "central"};
    for (int i = 0; i < CASES; i++) {
        CLEARED(small_clear) Small s = {0};
        case_init(&s, &cases[i]);
        size_t bytes = (size_t)s.shape.parameter_count * sizeof(float);
        float *g[3], *other = TEST_ARRAY(float, s.shape.parameter_count);
        Model *model[3];
        for (int k = 0; k < 3; k++) {
            model[k] = mixed_model(&s, &cases[i], names[k]);
            g[k] = TEST_ARRAY(float, s.shape.parameter_count);
        }
        for (uint32_t epoch = 1; epoch <= 4; epoch++) {
            double loss[3];
            for (int k = 0; k < 3; k++) {
                loss[k] = gradient_of(&s, model[k], g[k], epoch);
                if (memcmp(&loss[0], &loss[k], sizeof *loss) != 0 || memcmp(g[0], g[k], bytes) != 0)
                    fail_msg("%s: %s and blocking differ", cases[i].name, names[k]);
            }
            gradient_of(&s, model[0], other, epoch); // again: the same
            assert_memory_equal(g[0], other, bytes);
            gradient_of(&s, model[0], other, epoch + 100); // another draw
            assert_true(memcmp(g[0], other, bytes) != 0);
        }
        for (int k = 0; k < 3; k++) {
            model_free(model[k]);
        }
    }
}

static void same_logits(const Case *c, Rows a, const float *want) {
    float *got = host_rows(a);
    for (int64_t r = 0; r < a.count; r++)
        if (memcmp(got + r * a.columns, want + r * a.columns, (size_t)a.columns * sizeof(float)) !=
            0)
            fail_msg("%s: logits of row %lld differ from those of fp32", c->name, (long long)r);
}

TEST(inference_is_exact) {
    for (int i = 0; i < CASES; i++) {
        CLEARED(small_clear) Small s = {0};
        case_init(&s, &cases[i]);
        float *g = TEST_ARRAY(float, s.shape.parameter_count);
        CLEARED(model_drop) Model *fp32 = model_of(&s, "fp32", false, "overlap");
        CLEARED(model_drop) Model *model = mixed_model(&s, &cases[i], "overlap");
        for (uint32_t epoch = 1; epoch <= 3; epoch++) {
            gradient_of(&s, model, g, epoch);
            Rows exact = model_infer(fp32, s.device_p);
            assert_int_equal(exact.count, s.graph.shard.set[NODES].own);
            float *want = host_rows(exact);
            same_logits(&cases[i], model_infer(model, s.device_p), want);
        }
    }
}
