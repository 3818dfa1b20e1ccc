// ranks: 1 2 3
// If this failed, rows of the epoch before would be those of another one, or smoothed wrongly;
// messages that fly beyond their epoch would be lost, mixed up or stand still, or a change of
// widths, an evaluation, a measurement or the end would meet them in flight.
#include "memories.h"
#include "wire/internal.h"

// Weights change once, after the first epoch. Then every layer needs one epoch more than the one
// below it to read rows of the new weights, and the way back one more for every layer.
TEST(frozen_weights_catch_up) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) late = flight_of(&ground, "fp32", "stale", NULL);
    OWNED(Flight) exact = flight_of(&ground, "fp32", "blocking", NULL);
    bool alone = test_comm.size == 1;
    for (int epoch = 0; epoch < 2 * LAYERS + 2; epoch++) {
        fly(&late);
        fly(&exact);
        bool first = epoch == 0;
        assert_int_equal(same_logits(&late, &exact), alone || first || epoch >= LAYERS);
        assert_int_equal(same_gradient(&late, &exact), alone || first || epoch >= 2 * LAYERS - 1);
    }
}

static CodecOptions stale_by(const char *setting) {
    return scheduled_options("stale", (const char *const[4]){setting});
}

static void freeze(Ground *ground) {
    memcpy(ground->parameters[0], ground->parameters[1],
           (size_t)ground->shape.parameter_count * sizeof(float));
}

static bool same_weights_gradient(const Flight *a, const Flight *b, int l) {
    const Parameter *p = a->model->layer[l].parameter[ROLE_WEIGHT];
    size_t bytes = (size_t)(p->rows * p->columns) * sizeof(float);
    return everywhere(memcmp(a->gradient + p->begin, b->gradient + p->begin, bytes) == 0);
}

// Weights never change, and the first epoch reads zeros: the epoch, from 0 on, from which logits
// and the gradient of each layer's weights are exact. A layer that multiplies first aggregates the
// gradient of its output before it reads it, which takes one more.
TEST(zeros_are_forgotten_in_time) {
    static const char *const settings[4][4] = {
        {NULL},
        {"lossless.input_features=auto"},
        {"lossless.order=auto", "model.hidden=[16, 8]"},
        {"lossless.order=auto", "model.hidden=[16, 8]", "lossless.input_features=auto"}};
    for (int i = 0; i < 4; i++) {
        CLEARED(ground_clear) Ground ground = ground_as(settings[i]);
        freeze(&ground);
        OWNED(Flight) late = flight_as(&ground, stale_by("comm.first=zero"), "stale");
        OWNED(Flight) exact = flight_of(&ground, "fp32", "blocking", NULL);
        int once = ground.shape.layer0 == LAYER0_ONCE;
        bool alone = test_comm.size == 1;
        assert_int_equal(once, i % 2);
        for (int t = 0; t <= 2 * LAYERS; t++) {
            fly(&late);
            fly(&exact);
            assert_int_equal(same_logits(&late, &exact), alone || t >= LAYERS - once);
            for (int l = 0; l < LAYERS; l++) {
                int first = ground.shape.transform_first[l];
                bool due = t >= 2 * LAYERS - 1 - l - once + first;
                assert_int_equal(ground.shape.transform_first[l], i >= 2 && (l > 0 || !once));
                assert_int_equal(same_weights_gradient(&late, &exact, l), alone || due);
            }
        }
    }
}

// Between the logits of two flights, or between their gradients of the first layer's weights.
static double distance(const Flight *a, const Flight *b, bool of_gradient) {
    const Parameter *p = a->model->layer[0].parameter[ROLE_WEIGHT];
    int64_t count = of_gradient ? p->rows * p->columns : logit_count(a);
    const float *x = of_gradient ? a->gradient + p->begin : a->logits;
    const float *y = of_gradient ? b->gradient + p->begin : b->logits;
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += pow((double)x[k] - (double)y[k], 2);
    if (!of_gradient) // which is the sum over ranks
        comm_sum_double(&test_comm, &sum, 1);
    return sqrt(sum);
}

// The distance to what is exact after twice as many epochs as before them, where there are two
// layers, of which the first is made once, so that one exchange goes each way.
static double nearer(const char *const settings[4], int epochs, bool of_gradient, bool frozen) {
    double at[2] = {0};
    CLEARED(ground_clear)
    Ground ground =
        ground_as((const char *const[4]){"model.layers=2", "lossless.input_features=auto"});
    if (frozen)
        freeze(&ground);
    OWNED(Flight) late = flight_as(&ground, scheduled_options("stale", settings), "stale");
    OWNED(Flight) exact = flight_of(&ground, "fp32", "blocking", NULL);
    for (int t = 0; t <= 2 * epochs; t++) {
        fly(&late);
        if (t < 2)
            fly(&exact);
        if (t > 0 && t % epochs == 0)
            at[t / epochs - 1] = distance(&late, &exact, of_gradient);
    }
    return at[1] / at[0];
}

// After t rows that stay the same, a mean that begins with zero lacks decay^t of them; in one that
// begins with another row, that still has decay^(t-1) (1 - decay) / (1 - decay^t) of the weight.
TEST(means_forget_by_their_decay) {
    static const char *const ways[] = {"comm.smooth=features", "comm.smooth=gradients"};
    double decay = 0.8, five = pow(decay, 5);
    if (test_comm.size == 1)
        return;
    for (int back = 0; back < 2; back++) {
        const char *const from_zero[4] = {ways[back], "comm.first=zero"};
        const char *const from_rows[4] = {ways[back], "comm.smooth_decay=0.8"};
        assert_near(nearer(from_zero, 50, back, true), pow(0.95, 50), 1e-3);
        assert_near(nearer(from_rows, 5, back, false), five / (1 + five), 1e-3);
    }
}

// Means of rows that stay the same are these, from the first one on.
TEST(means_begin_with_the_first_rows) {
    CLEARED(ground_clear) Ground ground = ground_made();
    freeze(&ground);
    OWNED(Flight) late = flight_as(&ground, stale_by("comm.smooth=both"), "stale");
    OWNED(Flight) exact = flight_of(&ground, "fp32", "blocking", NULL);
    fly(&exact);
    for (int epoch = 0; epoch < 2 * LAYERS; epoch++) {
        fly(&late);
        assert_true(epoch > 1 || same_gradient(&late, &exact));
        assert_near(gradient_distance(&late, &exact), 0, 1e-5);
    }
}

// Each way by itself: what is not smoothed remembers nothing.
TEST(only_what_is_smoothed_is_remembered) {
    static const char *const ways[] = {"none", "features", "gradients", "both"};
    CLEARED(ground_clear) Ground ground = ground_made();
    for (int i = 0; i < 4; i++) {
        const char *smooth = test_text("comm.smooth=%s", ways[i]);
        CodecOptions options = stale_by(smooth);
        OWNED(Flight) late = flight_as(&ground, options, "stale");
        for (int k = 0; k < CHANNELS; k++) {
            const Channel *channel = channel_of(&late, k);
            bool smooths = channel->id.direction == FORWARD ? i & 1 : i & 2;
            assert_int_equal(channel->box[OUTGOING].rows.at != NULL, false);
            for (int g = 0; g + 1 < test_comm.size; g++) {
                bool rows = box_rows(&channel->box[INCOMING], g) > 0;
                assert_int_equal(memory_bytes(channel, OUTGOING, 0, g), 0);
                assert_int_equal(memory_bytes(channel, INCOMING, 0, g) > 0, rows && smooths);
            }
        }
    }
}

// Rows with the weight of nothing but the newest one are the rows.
TEST(smoothing_by_nothing_changes_nothing) {
    CLEARED(ground_clear) Ground ground = ground_made();
    CodecOptions options = scheduled_options(
        "stale", (const char *const[4]){"comm.smooth=both", "comm.smooth_decay=0"});
    OWNED(Flight) smooth = flight_as(&ground, options, "stale");
    OWNED(Flight) plain = flight_of(&ground, "fp32", "stale", NULL);
    for (int epoch = 0; epoch < 4; epoch++) {
        fly_alike(&smooth, &plain);
    }
}

// Also where an evaluation drains the messages in between: a message counts once.
TEST(means_outlive_a_resume) {
    static const char *const settings[2][4] = {{"comm.smooth=both", "comm.first=zero"},
                                               {"comm.smooth=both"}};
    for (int i = 0; i < 2; i++)
        assert_resumed(scheduled_options("stale", settings[i]), "stale", 3 - i);
}

TEST(all_channels_fly_between_epochs) {
    CLEARED(ground_clear) Ground ground = ground_made();
    Flight late = flight_of(&ground, "fp32", "stale", NULL);
    assert_int_equal(wire_in_flight(), 0);
    for (int epoch = 0; epoch < 4; epoch++) {
        fly(&late);
        assert_int_equal(wire_in_flight(), epoch > 0 ? CHANNELS : 0); // the first one waits
        for (int i = 0; i < CHANNELS; i++)
            assert_int_equal(channel_in_flight(channel_of(&late, i)), epoch > 0);
    }
    flight_clear(&late);
    assert_int_equal(wire_in_flight(), 0);
}

static bool has_landed(const Channel *channel) {
    for (int g = 0; g < channel->ring.rounds; g++)
        if (channel->ring.transfer[g][INCOMING].done < channel->ring.transfer[g][INCOMING].pieces)
            return false;
    return true;
}

// Messages have more chunks than may be posted at once, so somebody must move them.
TEST(whoever_waits_moves_them) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) late = flight_of(&ground, "fp32", "stale", NULL);
    fly(&late);
    fly(&late);
    double begin = clock_seconds();
    int64_t missing = 1;
    while (missing > 0 && clock_seconds() - begin < 20) {
        missing = 0;
        for (int i = 0; i < CHANNELS; i++)
            missing += !has_landed(channel_of(&late, i));
        comm_sum_int64(&test_comm, &missing, 1);
    }
    assert_int_equal(missing, 0);
    assert_int_equal(wire_in_flight(), CHANNELS); // and nobody has received them
}

// Rows in flight keep the widths that they were packed with.
TEST(widths_change_behind_what_flies) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) late = flight_of(&ground, "integer", "stale", NULL);
    OWNED(Flight) twin = flight_of(&ground, "integer", "stale", NULL);
    for (int epoch = 0; epoch < 3; epoch++) {
        fly(&late);
        fly(&twin);
    }
    set_all_widths(&late, 2);
    assert_int_equal(wire_in_flight(), CHANNELS); // the twin's
    for (int i = 0; i < CHANNELS; i++)
        assert_true(channel_has_rows(channel_of(&late, i)));
    for (int epoch = 0; epoch < 2; epoch++) {
        fly(&late);
        fly(&twin);
        assert_int_equal(same_logits(&late, &twin), test_comm.size == 1 || epoch == 0);
        assert_int_equal(same_gradient(&late, &twin), test_comm.size == 1 || epoch == 0);
    }
}

// What others do between two epochs changes nothing: evaluations are exact and have channels of
// their own; measurements find nothing in flight.
TEST(others_do_not_disturb_what_flies) {
    CLEARED(ground_clear) Ground ground = ground_made();
    CodecOptions smooth = stale_by("comm.smooth=both");
    OWNED(Flight) late = flight_as(&ground, smooth, "stale");
    OWNED(Flight) twin = flight_as(&ground, smooth, "stale");
    OWNED(Flight) exact = flight_of(&ground, "fp32", "blocking", NULL);
    size_t bytes = (size_t)logit_count(&late) * sizeof(float);
    float *want = test_memory(bytes), *got = test_memory(bytes);
    const DeviceFloat *parameters = on_device(ground.parameters[0]);
    device()->download_rows(want, model_infer(exact.model, parameters));
    for (int epoch = 0; epoch < 5; epoch++) {
        fly(&twin);
        model_drain(twin.model);
        assert_int_equal(wire_in_flight(), 0);
        fly(&late);
        if (epoch % 2 == 0)
            device()->download_rows(got, model_infer(late.model, parameters));
        else if (test_comm.size > 1)
            channel_time_round(channel_of(&late, 1), 0, 64, 64);
        else
            model_drain(late.model);
        assert_int_equal(wire_in_flight(), 0);
        assert_memory_equal(got, want, bytes);
        assert_true(same_logits(&late, &twin) && same_gradient(&late, &twin));
    }
}

static size_t halo_bytes(const Flight *f) {
    size_t bytes = 0;
    for (int i = 0; i < CHANNELS; i++) {
        const Channel *channel = channel_of(f, i);
        bytes += rows_bytes(channel->plan->halo_count, channel->columns);
    }
    return bytes;
}

// Buffers of all channels add up, and a mean of each row that is received.
TEST(their_memory_is_planned) {
    CLEARED(ground_clear) Ground ground = ground_made();
    Sizes one = sizes_of(&ground, flight_options("fp32", NULL, NULL), "blocking");
    Sizes each = sizes_of(&ground, stale_by(NULL), "stale");
    Sizes smooth = sizes_of(&ground, stale_by("comm.smooth=both"), "stale");
    OWNED(Flight) f = flight_of(&ground, "fp32", "stale", NULL);
    double planned = (double)each.planned - (double)one.planned;
    double taken = (double)each.taken - (double)one.taken, means = (double)halo_bytes(&f);
    assert_true(test_comm.size == 1 || taken > 100000);
    assert_near(planned, taken, 20000); // channels, buffers and communicators themselves
    assert_near((double)smooth.planned - (double)each.planned, means, 64 * CHANNELS * 3);
    assert_near((double)smooth.taken - (double)each.taken, means, 64 * CHANNELS * 3);
}
