// ranks: 1 2 3 4; also on fenced
// If this failed, a reader that applies model.post to the halo rows itself would make other rows of
// them than their owner has: by another mask or scale, or by applying it twice; or, of rows of
// bf16, by rounding what it drops out of their features another time, or not at all.
#include "exchange/channel.h"
#include "gradients.h"

static bool is_of_first_hidden(const Channel *channel) {
    return channel->id.layer == 1 && channel->id.direction == FORWARD;
}

// Sends the rows of the first hidden layer once, and reads the same ones in every epoch.
static void kept(Channel *channel, const RowSource *rows, ExchangeContext context,
                 const ExchangeWork *work) {
    if (!is_of_first_hidden(channel) || !channel_has_rows(channel)) {
        channel_pack(channel, rows, context);
        channel_post(channel);
        channel_drain(channel);
    }
    channel_do_own(channel, work, OWN_ALL);
    channel_do_halo(channel, work, 0, channel_halo_plan(channel)->size - 1);
}

static const Schedule schedule_kept = {
    .name = "kept", .keeps_in_flight = true, .changes_result = true, .run = kept};
static const Schedule *const schedules[] = {&schedule_blocking, &schedule_overlap,
                                            &schedule_central, &schedule_kept, &schedule_skip};
const Family schedule_family = FAMILY_WITH_KEYS("comm.schedule", schedules, Schedule);

static const char *const orders[] = {"dropout,norm,activation",
                                     "dropout,activation,norm",
                                     "norm,dropout,activation",
                                     "activation,dropout,norm",
                                     "norm,activation,dropout",
                                     "activation,norm,dropout",
                                     "norm,activation",
                                     "dropout",
                                     ""};
enum { ORDERS = sizeof orders / sizeof *orders };

static const Case cases[] = {
    {"gcn", DIRECTED_WEIGHTED, 3, "", 0.4, 0, FIRST("")},
    {"gcn, features dropped out", SYMMETRIC, 2, "", 0.4, 0.3,
     FIRST("lossless.input_features=auto")},
    {"sage-mean", SYMMETRIC, 3, "", 0.4, 0, FIRST("")},
    {"gin", DIRECTED, 3, "", 0.4, 0, FIRST("model.gin_learn_epsilon=true")},
    {"hgnn", HYPER_DIRECTED_WEIGHTED, 2, "", 0.4, 0, FIRST("")},
    {"hnhn", HYPER, 2, "", 0.4, 0, FIRST("")},
};
enum { CASES = sizeof cases / sizeof *cases, EPOCHS = 2 };

// What some epochs make of the same weights.
typedef struct Seen {
    double loss[EPOCHS];
    float *gradient[EPOCHS];
    size_t bytes; // of one
} Seen;

static Config config_before(const Case *c, const char *before, int turn) {
    Config config = case_config(c);
    snprintf(config.quantization.before, CONFIG_WORD, "%s", before);
    snprintf(config.lossless.receptive_field, CONFIG_WORD, turn % 2 == 0 ? "all" : "auto");
    snprintf(config.lossless.input_features, CONFIG_WORD,
             c->input_dropout > 0 && strcmp(before, "post") == 0 ? "auto" : "exchange");
    return config;
}

static Seen tell(const Case *c, const TestGraph *w, const Config *config, const char *schedule) {
    Seen seen;
    CLEARED(unmake) Made made = {0};
    make(&made, c, w, config, schedule);
    seen.bytes = parameter_bytes(&made);
    float *p = TEST_ARRAY(float, made.shape.parameter_count);
    some_parameters(&made.shape, p);
    to_device(made.p, p, seen.bytes);
    for (uint32_t e = 0; e < EPOCHS; e++) {
        seen.gradient[e] = TEST_ARRAY(float, made.shape.parameter_count);
        seen.loss[e] = model_loss_and_gradient(made.model, made.p, made.gradient, 11, 3 + e);
        gradsync_finish(made.sync, made.gradient);
        from_device(seen.gradient[e], made.gradient, seen.bytes);
    }
    return seen;
}

static void assert_same(const Case *c, const Seen *post, const Seen *conv, const char *schedule) {
    for (int e = 0; e < EPOCHS; e++)
        if (memcmp(&post->loss[e], &conv->loss[e], sizeof(double)) != 0 ||
            memcmp(post->gradient[e], conv->gradient[e], post->bytes) != 0)
            fail_msg("%s, %s, %s, epoch %d: losses %.9g and %.9g, or gradients differ", c->name,
                     c->post, schedule, e, post->loss[e], conv->loss[e]);
}

static void compare_orders(Case c, int first, int step) {
    OWNED(TestGraph) w = test_graph(c.graph, 42, &test_comm);
    for (int i = first % step; i < ORDERS; i += step) {
        const char *schedule = i % 3 == 2 ? "central" : i % 3 == 1 ? "overlap" : "blocking";
        c.post = orders[i];
        Config before = config_before(&c, "conv", i), after = config_before(&c, "post", i);
        Seen post = tell(&c, &w, &after, "blocking"), conv = tell(&c, &w, &before, schedule);
        assert_same(&c, &post, &conv, schedule);
    }
}

// Every order with gcn, whose rows meet both diagonals, on two ranks; else some of them.
static int turn_of_orders(void) { return test_comm.size == 2 ? 1 : 3; }

TEST(readers_make_their_owners_rows) {
    for (int i = 0; i < CASES; i++)
        compare_orders(cases[i], (i + test_comm.size) % 3, (i > 0 ? 3 : 1) * turn_of_orders());
}

TEST(a_device_does_too) {
    if (emulated_device(&(Error){0}) == NULL || strcmp(device_name(), "cpu") != 0 ||
        test_comm.size > 2)
        skip();
    setenv("FRINGE_TEST_BACKEND", "emulated", 1);
    compare_orders(cases[0], test_comm.size % 3, 6);
    setenv("FRINGE_TEST_BACKEND", "cpu", 1);
}

// Weights do not change, so neither do the rows; masks do.
TEST(rows_that_are_kept_meet_every_epochs_mask) {
    for (int i = test_comm.size % turn_of_orders(); i < ORDERS; i += turn_of_orders()) {
        Case c = cases[0];
        OWNED(TestGraph) w = test_graph(c.graph, 42, &test_comm);
        c.post = orders[i];
        c.layers = 2;
        Config before = config_before(&c, "conv", i), after = config_before(&c, "post", i);
        Seen post = tell(&c, &w, &after, "blocking"), conv = tell(&c, &w, &before, "kept");
        Seen left_out = tell(&c, &w, &before, "skip"); // the weights, and so the rows, stay
        assert_same(&c, &post, &conv, "kept");
        assert_same(&c, &post, &left_out, "skip");
        assert_int_equal(post.loss[0] == post.loss[1], strstr(c.post, "dropout") == NULL);
    }
}

TEST(kept_features_are_rounded_as_their_owner_rounds_them) {
    Case c = cases[1];
    OWNED(TestGraph) w = test_graph(c.graph, 42, &test_comm);
    use_precision("bf16");
    Config kept = config_before(&c, "post", 0);
    snprintf(kept.run.precision, CONFIG_WORD, "bf16");
    Config sent = kept;
    snprintf(sent.lossless.input_features, CONFIG_WORD, "exchange");
    Seen once = tell(&c, &w, &kept, "overlap"), each = tell(&c, &w, &sent, "overlap");
    assert_same(&c, &each, &once, "overlap");
    use_precision("fp32");
}

static ModelShape shape_of(const Case *c, const char *before, const char *order) {
    Config config = config_before(c, before, 0);
    snprintf(config.lossless.order, CONFIG_WORD, "%s", order);
    return case_shape(c, &config, &(Dataset){.features = 13, .classes = 5});
}

// Layer 0 and all that multiplies before its first message stay as they are.
TEST(readers_need_rows_that_no_layer_has_transformed) {
    Case gcn = cases[0], dropped = cases[1], hgnn = cases[4];
    hgnn.layers = 3;
    ModelShape shape = shape_of(&gcn, "conv", "auto"), post = shape_of(&gcn, "post", "auto");
    assert_true(shape.transform_first[0] && !shape.transform_first[1] && !shape.transform_first[2]);
    assert_true(post.transform_first[2]);
    assert_int_equal(model_exchanged(&shape, 2, FORWARD), 9);
    assert_int_equal(model_exchanged(&post, 2, FORWARD), 5);
    assert_true(!shape.before_post[0] && shape.before_post[1] && shape.before_post[2]);
    shape = shape_of(&dropped, "conv", "aggregate-first");
    assert_int_equal(shape.layer0, LAYER0_KEPT);
    shape = shape_of(&hgnn, "conv", "auto");
    assert_true(shape.transform_first[0] && shape.transform_first[1]);
    for (int l = 2; l < 6; l++)
        assert_true(!shape.transform_first[l] && shape.before_post[l] == (l % 2 == 0));
}

TEST(no_partial_aggregate_is_of_rows_before_post) {
    Config config = config_before(&cases[0], "conv", 0);
    snprintf(config.lossless.cover, CONFIG_WORD, "targets");
    OWNED(TestGraph) w = test_graph(cases[0].graph, 42, &test_comm);
    ModelShape shape = case_shape(&cases[0], &config, &w.dataset);
    CLEARED(model_patterns_clear) ModelPatterns patterns = {0};
    model_patterns_init(&patterns, &shape, &w.shard, &test_comm);
    int64_t partials[2] = {patterns.of[1][FORWARD]->plan.partials,
                           patterns.of[1][BACKWARD]->plan.partials};
    comm_sum_int64(&test_comm, partials, 2);
    assert_int_equal(partials[0], 0);
    assert_int_equal(partials[1] > 0, test_comm.size > 1);
}

// Planned, and taken.
static void sizes_of(double sizes[2], const TestGraph *w, const char *before) {
    Case c = cases[0];
    CLEARED(unmake) Made made = {0};
    MemoryForecast forecast = {0};
    c.post = orders[0];
    Config config = config_before(&c, before, 0);
    size_t without = memory_in_use();
    make(&made, &c, w, &config, "kept");
    sizes[1] = (double)(memory_in_use() - without);
    ModelParts parts = made.model->parts;
    model_forecast(&forecast, &made.shape, &parts, &config);
    sizes[0] = (double)forecast_total(&forecast);
}

TEST(what_readers_need_is_planned) {
    double post[2], conv[2];
    OWNED(TestGraph) w = test_graph(cases[0].graph, 42, &test_comm);
    sizes_of(post, &w, "post");
    sizes_of(conv, &w, "conv");
    assert_true(test_comm.size == 1 || conv[1] > post[1]);
    assert_near(conv[0] - post[0], conv[1] - post[1], 1000); // blocks are counted in cache lines
}
