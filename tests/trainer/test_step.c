// ranks: 1 2
// If this failed, an epoch would step other than by the formulas of its optimizer, with decay,
// clipping, momentum or a rate that nobody asked for.
#include "fixture.h"

enum { STEPS = 4, PARAMETERS = 4096 };

static Trainer *trainer_with(const char *const *more, int count) {
    const char *settings[16] = {"model.layers=3", "model.hidden=[20]", "train.epochs=12",
                                "train.eval_every=3", "run.threads=1"};
    memcpy(settings + 5, more, (size_t)count * sizeof *more);
    assert_ok(config_load(&config, NULL, settings, 5 + count, &err));
    Trainer *t = new_trainer();
    assert_true(t->shape.parameter_count <= PARAMETERS);
    return t;
}

static EpochRecord epoch_of(Trainer *t) {
    EpochRecord record;
    assert_ok(trainer_epoch(t, &record, &err));
    return record;
}

// What the tests follow in double: w, and the moments of the optimizer.
typedef struct Followed {
    double w[PARAMETERS], m[PARAMETERS], v[PARAMETERS];
} Followed;

static void follow(Followed *f, const Trainer *t) {
    memset(f, 0, sizeof *f);
    for (int64_t k = 0; k < t->shape.parameter_count; k++)
        f->w[k] = (double)t->parameters[k];
}

// The factor of a parameter's decay: of its layer, for matrices; by the names that PyG gives them.
static double decay_at(const Trainer *t, int64_t k, const double *of_layer) {
    for (int i = 0; i < t->shape.parameter_spans; i++) {
        const Parameter *p = &t->shape.parameter[i];
        bool linear = strstr(p->name, ".lin") != NULL && strstr(p->name, ".bias") == NULL;
        if (k >= p->begin && k < p->begin + p->rows * p->columns)
            return linear ? of_layer[p->name[strlen("convs.")] - '0'] : 0;
    }
    fail_msg("no window holds parameter %lld", (long long)k);
    return 0;
}

// 1e-5 of the largest step: floats inside. What is followed goes on from the trainer's own floats.
static void assert_followed(Followed *f, const Trainer *t, double largest, const char *what) {
    for (int64_t k = 0; k < t->shape.parameter_count; k++) {
        double got = (double)t->parameters[k];
        if (!(fabs(got - f->w[k]) <= 1e-5 * largest + 1e-7 * fabs(got)))
            fail_msg("%s, epoch %lld: parameter %lld is %.9g, by the formula %.9g", what,
                     (long long)t->now.epoch, (long long)k, got, f->w[k]);
        f->w[k] = got;
    }
}

static void sgd_by_the_formula(Followed *f, const Trainer *t, double rate, double momentum,
                               const double *decay) {
    double largest = 0;
    for (int64_t k = 0; k < t->shape.parameter_count; k++) {
        double g = (double)t->gradient[k] + decay_at(t, k, decay) * f->w[k];
        f->m[k] = momentum * f->m[k] + g;
        f->w[k] -= rate * f->m[k];
        largest = fmax(largest, rate * fabs(f->m[k]));
    }
    assert_followed(f, t, largest, "sgd");
}

// The list of decays: one of each layer, the last one for those after it.
WORLD_TEST(sgd_steps_by_its_formula) {
    static Followed f;
    static const double none[3] = {0}, listed[3] = {0.5, 0.25, 0.25}, all[3] = {0.5, 0.5, 0.5};
    static const struct {
        const char *momentum, *decay;
        double value;
        const double *decays;
    } cases[] = {{"train.momentum=0", "train.weight_decay=[0]", 0, none},
                 {"train.momentum=0.9", "train.weight_decay=[0]", 0.9, none},
                 {"train.momentum=0.5", "train.weight_decay=[0.5,0.25]", 0.5, listed},
                 {"train.momentum=0", "train.weight_decay=[0.5]", 0, all}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Trainer) *t =
            TRAINER("train.optimizer=sgd", "train.lr=0.125", cases[i].momentum, cases[i].decay);
        follow(&f, t);
        for (int e = 0; e < STEPS; e++) {
            epoch_of(t);
            sgd_by_the_formula(&f, t, 0.125, cases[i].value, cases[i].decays);
        }
    }
}

// Kingma & Ba 2015, Algorithm 1; decay is added to the gradient, as torch.optim.Adam does.
static void adam_by_the_formula(Followed *f, const Trainer *t, double rate, const double *decay) {
    const double beta1 = 0.75, beta2 = 0.5, epsilon = 0.001, epoch = (double)t->now.epoch;
    for (int64_t k = 0; k < t->shape.parameter_count; k++) {
        double g = (double)t->gradient[k] + decay_at(t, k, decay) * f->w[k];
        f->m[k] = beta1 * f->m[k] + (1 - beta1) * g;
        f->v[k] = beta2 * f->v[k] + (1 - beta2) * g * g;
        double first = f->m[k] / (1 - pow(beta1, epoch));
        f->w[k] -= rate * first / (sqrt(f->v[k] / (1 - pow(beta2, epoch))) + epsilon);
    }
    assert_followed(f, t, rate, "adam");
}

WORLD_TEST(adam_steps_by_its_formula) {
    static Followed f;
    static const double listed[3] = {0.5, 0.25, 0.25};
    OWNED(Trainer) *t = TRAINER("train.optimizer=adam", "train.lr=0.0625", "train.betas=[0.75,0.5]",
                                "train.eps=0.001", "train.weight_decay=[0.5,0.25]");
    follow(&f, t);
    for (int e = 0; e < STEPS; e++) {
        epoch_of(t);
        adam_by_the_formula(&f, t, 0.0625, listed);
    }
}

// A gradient longer than train.clip_norm is made that long; one that is not stays, bit for bit.
WORLD_TEST(gradients_are_clipped) {
    static Followed f;
    static const double none[3] = {0};
    OWNED(Trainer) *plain = TRAINER("train.optimizer=sgd", "train.lr=0.125");
    double norm = epoch_of(plain).gradient_norm, squares = 0;
    for (int64_t k = 0; k < plain->shape.parameter_count; k++)
        squares += pow((double)plain->gradient[k], 2);
    assert_near(norm, sqrt(squares), 1e-12 * norm);
    for (int i = 0; i < 2; i++) {
        const char *clip = test_text("train.clip_norm=%.17g", i == 0 ? norm / 4 : norm * 1.001);
        OWNED(Trainer) *t = TRAINER("train.optimizer=sgd", "train.lr=0.125", clip);
        follow(&f, t);
        assert_near(epoch_of(t).gradient_norm, norm, 0); // before it is clipped
        for (int64_t k = 0; k < t->shape.parameter_count; k++) {
            float want = plain->gradient[k] * (i == 0 ? 0.25F : 1);
            assert_near((double)t->gradient[k], (double)want, i * 1e-30 + (1 - i) * 1e-9 * norm);
        }
        sgd_by_the_formula(&f, t, 0.125, 0, none);
    }
}

// The rates of twelve epochs by their formulas, and that the step takes them.
WORLD_TEST(steps_take_the_rate_of_their_epoch) {
    static Followed f;
    static const double none[3] = {0};
    static const struct {
        const char *schedule, *warmup;
        double factor[12]; // cosine: of pi
    } cases[] = {
        {"train.lr_schedule=constant",
         "train.warmup=4",
         {0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
        {"train.lr_schedule=constant", "train.warmup=0", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
        {"train.lr_schedule=step",
         "train.warmup=2",
         {0.5, 1, 1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.001, 0.001, 0.001}},
        {"train.lr_schedule=cosine",
         "train.warmup=0",
         {0, 1 / 12.0, 2 / 12.0, 3 / 12.0, 4 / 12.0, 5 / 12.0, 6 / 12.0, 7 / 12.0, 8 / 12.0,
          9 / 12.0, 10 / 12.0, 11 / 12.0}},
        {"train.lr_schedule=cosine",
         "train.warmup=4",
         {0, 0, 0, 0, 0, 1 / 8.0, 2 / 8.0, 3 / 8.0, 4 / 8.0, 5 / 8.0, 6 / 8.0, 7 / 8.0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(Trainer) *t =
            TRAINER("train.optimizer=sgd", "train.lr=0.0625", "train.lr_step_size=3",
                    "train.lr_gamma=0.1", cases[i].schedule, cases[i].warmup);
        follow(&f, t);
        for (int e = 0; e < 12; e++) {
            double factor = cases[i].factor[e], ramp = e < 4 ? (e + 1) / 4.0 : 1;
            if (i >= 3)
                factor = 0.5 * (1 + cos(acos(-1.0) * factor)) * (i == 4 ? ramp : 1);
            EpochRecord record = epoch_of(t);
            assert_near(record.rate, 0.0625 * factor, 1e-15);
            sgd_by_the_formula(&f, t, record.rate, 0, none);
        }
    }
}

// An edge stored twice is an edge of weight 2: the same loss, the same gradient and so the same
// first step. The copies of weighted edges differ.
TEST(edges_stored_twice_weigh_twice) {
    for (int weighted = 0; weighted < 2; weighted++) {
        Trainer *t[2];
        int64_t edges[2];
        EpochRecord record[2];
        for (int i = 0; i < 2; i++) {
            use_graph((TestGraphKind){.nodes = 97,
                                      .degree = 6,
                                      .weighted = weighted,
                                      .directed = weighted,
                                      .features = 13,
                                      .classes = 5,
                                      .twice = i == 0 ? TWICE_STORED : TWICE_MERGED},
                      8);
            edges[i] = graph.dataset.edges;
            t[i] = TRAINER("train.optimizer=sgd", "train.lr=0.125");
            record[i] = epoch_of(t[i]);
        }
        assert_true(edges[0] > edges[1]);
        assert_near(record[0].loss, record[1].loss, 1e-6);
        assert_close(t[0]->gradient, t[1]->gradient, t[0]->shape.parameter_count, 1e-5);
        assert_close(t[0]->parameters, t[1]->parameters, t[0]->shape.parameter_count, 1e-6);
        for (int i = 0; i < 2; i++)
            trainer_free(t[i]);
    }
}

static void fill(Trainer *t, const char *layer, bool bias, float step) {
    for (int i = 0; i < t->shape.parameter_spans; i++) {
        const Parameter *p = &t->shape.parameter[i];
        if (strncmp(p->name, layer, strlen(layer)) == 0 &&
            (strstr(p->name, ".bias") != NULL) == bias)
            for (int64_t k = 0; k < p->rows * p->columns; k++)
                t->parameters[p->begin + k] = step * (float)(1 + k % 3);
    }
}

// The first layer gives its bias alone and so a finite loss; its gradient is the product of
// features and of the second layer's weights, 1e50.
WORLD_TEST(a_gradient_that_is_not_finite_ends_the_training) {
    EpochRecord record;
    int64_t count = graph.shard.set[NODES].own * graph.shard.features;
    const float *before = graph.shard.x;
    float *large = TEST_ARRAY(float, count);
    for (int64_t k = 0; k < count; k++)
        large[k] = 1e20f;
    graph.shard.x = large;
    Trainer *t = TRAINER("model.layers=2", "model.hidden=[20]", "model.post=[]");
    memset(t->parameters, 0, (size_t)t->shape.parameter_count * sizeof *t->parameters);
    fill(t, "convs.0", true, 1);
    fill(t, "convs.1", false, -1e30f);
    assert_refused(trainer_epoch(t, &record, &err), EXIT_DIVERGED, "is not finite in epoch 1");
    assert_true(isfinite(record.loss));
    trainer_free(t);
    graph.shard.x = before;
}
