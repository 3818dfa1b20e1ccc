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

static double distance(const Sum *sum, const double *optimum) {
    double weight[WEIGHTS];
    const char *more[4] = {test_text("train.lr=%g", rate)};
    memcpy(more + 1, sum->how, sizeof sum->how);
    configure_problem(sum->epochs, more, 4);
    trained(weight);
    return relative_error_double(weight, optimum, WEIGHTS);
}

TEST_WITH(sums_arrive_at_the_optimum_or_do_not, make_problem, NULL) {
    static double optimum[WEIGHTS], z[GRAPH_NODES * FEATURES];
    if (ARRIVES)
        find_optimum(optimum, z);
    for (int i = 0; i < SUMS; i++) {
        double apart = distance(&sums[i], optimum);
        if (ARRIVES && !(apart <= sums[i].at_most && apart >= sums[i].at_least))
            fail_msg("%s: the weights are %g from the optimum, outside of %g to %g", sums[i].how[0],
                     apart, sums[i].at_least, sums[i].at_most);
        if (test_comm.rank == 0)
            printf("%s: %.2g from the optimum\n", sums[i].how[0], apart);
    }
}
