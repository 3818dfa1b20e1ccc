// ranks: 4
// If this failed, ranks that sum their weight gradients would not arrive at the optimum of a convex
// problem, which one weight matrix on smoothed features is.
#include "convex.h"

static const double rate = 4;

// ---- the program

typedef struct Sum {
    const char *how[3]; // settings
    int epochs;
    double at_most, at_least; // |W - W*| / |W*| after the last one
} Sum;

// Rounding of gradients that do not vanish, as those of one rank do not at the optimum, is noise
// that stays; what differs from a memory vanishes, and its rounding with it.
static const Sum sums[] = {
    {{"gradients.method=fp32"}, 300, 1e-5, 0},
    {{"gradients.method=diana"}, 300, 1e-5, 0},
    {{"gradients.method=diana-both"}, 300, 1e-5, 0},
    {{"gradients.method=ef21"}, 300, 1e-5, 0},
    {{"gradients.method=clpt"}, 200, 1e-5, 0},
    {{"gradients.codec=keys", "gradients.top=0.3", "gradients.memory=difference"}, 300, 1e-5, 0},
    {{"gradients.codec=max", "gradients.bits=4"}, 300, 1, 1e-2},
    {{"gradients.codec=log", "gradients.bits=5"}, 200, 1, 1e-2},
};
enum { SUMS = sizeof sums / sizeof *sums };

static void configure(const Sum *sum) {
    const char *settings[12] = {"model.layer=sgc",
                                "model.layers=2",
                                "model.bias=false",
                                "train.optimizer=sgd",
                                "train.eval_every=0",
                                "run.threads=1",
                                test_text("train.epochs=%d", UNDER_SANITIZERS(20, sum->epochs)),
                                test_text("train.lr=%g", rate),
                                test_text("train.weight_decay=[%g]", decay)};
    int count = 9;
    for (int i = 0; i < 3 && sum->how[i] != NULL; i++)
        settings[count++] = sum->how[i];
    assert_ok(config_load(&config, NULL, settings, count, &err));
}

static double distance(const double *optimum) {
    double weight[WEIGHTS];
    CLEARED(trainer_drop) Trainer *t = new_trainer();
    while (!trainer_finished(t))
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    assert_int_equal(t->shape.parameter_count, WEIGHTS);
    for (int k = 0; k < WEIGHTS; k++)
        weight[k] = (double)trainer_parameters(t, false)[k];
    return relative_error_double(weight, optimum, WEIGHTS);
}

TEST_WITH(sums_arrive_at_the_optimum_or_do_not, make_problem, NULL) {
    static double optimum[WEIGHTS], z[GRAPH_NODES * FEATURES];
    if (ARRIVES)
        find_optimum(optimum, z);
    for (int i = 0; i < SUMS; i++) {
        configure(&sums[i]);
        double apart = distance(optimum);
        if (ARRIVES && !(apart <= sums[i].at_most && apart >= sums[i].at_least))
            fail_msg("%s: the weights are %g from the optimum, outside of %g to %g", sums[i].how[0],
                     apart, sums[i].at_least, sums[i].at_most);
        if (test_comm.rank == 0)
            printf("%s: %.2g from the optimum\n", sums[i].how[0], apart);
    }
}
