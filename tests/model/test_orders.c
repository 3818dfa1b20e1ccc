// If this failed, a training or an evaluation with a config of configs/ would run the steps after
// its convolutions on kernels that have the order of the steps as a variable, a quarter slower.
#include "gradients.h"

#include "orders.h"
#include <glob.h>

// The CPU's operations, which note what they are asked for.
static const char *config_name;
static int forwards, backwards;

static bool order_is_compiled(int order, bool training) {
#define ORDER_IS(number) || order == (number)
    return training ? (false ORDERS_TRAINED(ORDER_IS)) : (false ORDERS_EVALUATED(ORDER_IS));
#undef ORDER_IS
}

static void assert_compiled(const Post *post) {
    int order = post_order(post);
    if (post->count > 0 && !order_is_compiled(order, post->training))
        fail_msg("%s: no kernel is compiled for order 0%o, %s; kernels/orders.h lists them",
                 config_name, (unsigned)order, post->training ? "training" : "evaluation");
}
static void noting_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                           const DeviceInt64 *gid, const Poll *poll) {
    assert_compiled(post);
    forwards++;
    device()->post_forward(h, range, z, post, saved, gid, poll);
}
static void noting_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                            DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch,
                            const Poll *poll) {
    assert_compiled(post);
    backwards++;
    device()->post_backward(dz, dh, z, post, saved, dgamma, dbeta, scratch, poll);
}

// A step of training and an evaluation of the config's model with narrower layers, on a small graph
// in place of its own.
static void run_model(const Config *config, const TestGraph *w) {
    Backend noting = *device();
    noting.post_forward = noting_forward;
    noting.post_backward = noting_backward;
    CLEARED(unmake) Made made = {0};
    make_on(&made, &noting, &(Case){0}, w, config, "overlap");
    float *p = TEST_ARRAY(float, made.shape.state_count),
          *g = TEST_ARRAY(float, made.shape.parameter_count);
    model_initial(&made.shape, 7, p);
    distributed(&made, p, g);
    model_infer(made.model, made.p);
}

static void run_config(const char *path, const TestGraph graphs[2]) {
    const Dataset *d = &graphs[0].dataset;
    Config config;
    ModelShape shape;
    config_name = strrchr(path, '/') + 1;
    assert_ok(config_load(&config, path, NULL, 0, &err));
    for (int i = 0; i < config.model.hidden.count; i++)
        config.model.hidden.value[i] = 16;
    assert_ok(model_shape(&shape, &config, d->features, d->classes, false, &err));
    run_model(&config, &graphs[shape.stages - 1]);
}

TEST(configs_run_compiled_orders) {
    static const TestGraphKind kinds[2] = {SYMMETRIC, HYPER};
    TestGraph graphs[2];
    glob_t found;
    config_learn_keys((const Family *const[]){&layer_family, &codec_family}, 2);
    for (int i = 0; i < 2; i++)
        graphs[i] = test_graph(kinds[i], 42, &test_comm);
    const char *pattern = test_text("%s/configs/*.json", getenv("FRINGE_SOURCE"));
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 40);
    for (size_t i = 0; i < found.gl_pathc; i++)
        run_config(found.gl_pathv[i], graphs);
    assert_true(forwards > 80 && backwards > 40); // most have a hidden layer, trained and evaluated
    globfree(&found);
    for (int i = 0; i < 2; i++)
        test_graph_clear(&graphs[i]);
}
