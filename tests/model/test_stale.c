// ranks: 1 2 3
// If this failed, messages could not fly beyond their epoch: they would be lost, mixed up or stand
// still, or a change of widths, an evaluation, a measurement or the end would meet them in flight.
#include "../stale.h"
#include "flights.h"

// Weights change once, after the first epoch. Then every layer needs one epoch more than the one
// below it to read rows of the new weights, and the way back one more for every layer.
static void frozen_weights_catch_up(void **state) {
    (void)state;
    Ground ground;
    Flight late, exact;
    ground_init(&ground);
    flight_init(&late, &ground, "fp32", "stale", NULL);
    flight_init(&exact, &ground, "fp32", "blocking", NULL);
    bool alone = test_comm.size == 1;
    for (int epoch = 0; epoch < 2 * LAYERS + 2; epoch++) {
        fly(&late);
        fly(&exact);
        bool first = epoch == 0;
        assert_int_equal(same_logits(&late, &exact), alone || first || epoch >= LAYERS);
        assert_int_equal(same_gradient(&late, &exact), alone || first || epoch >= 2 * LAYERS - 1);
    }
    flight_clear(&exact);
    flight_clear(&late);
    ground_clear(&ground);
}

static void all_channels_fly_between_epochs(void **state) {
    (void)state;
    Ground ground;
    Flight late;
    ground_init(&ground);
    flight_init(&late, &ground, "fp32", "stale", NULL);
    assert_int_equal(wire_in_flight(), 0);
    for (int epoch = 0; epoch < 4; epoch++) {
        fly(&late);
        assert_int_equal(wire_in_flight(), CHANNELS);
        for (int i = 0; i < CHANNELS; i++)
            assert_true(channel_in_flight(channel_of(&late, i)));
    }
    flight_clear(&late);
    assert_int_equal(wire_in_flight(), 0);
    ground_clear(&ground);
}

static bool has_landed(const Channel *channel) {
    for (int g = 0; g < channel->ring.rounds; g++)
        if (channel->ring.transfer[g][INCOMING].done < channel->ring.transfer[g][INCOMING].pieces)
            return false;
    return true;
}

// Messages have more chunks than may be posted at once, so somebody must move them.
static void whoever_waits_moves_them(void **state) {
    (void)state;
    Ground ground;
    Flight late;
    ground_init(&ground);
    flight_init(&late, &ground, "fp32", "stale", NULL);
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
    flight_clear(&late);
    ground_clear(&ground);
}

// Rows in flight keep the widths that they were packed with.
static void widths_change_behind_what_flies(void **state) {
    (void)state;
    Ground ground;
    Flight late, twin;
    ground_init(&ground);
    flight_init(&late, &ground, "integer", "stale", NULL);
    flight_init(&twin, &ground, "integer", "stale", NULL);
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
    flight_clear(&twin);
    flight_clear(&late);
    ground_clear(&ground);
}

// What others do between two epochs changes nothing: evaluations are exact and have channels of
// their own; measurements find nothing in flight.
static void others_do_not_disturb_what_flies(void **state) {
    (void)state;
    Ground ground;
    Flight late, twin, exact;
    ground_init(&ground);
    flight_init(&late, &ground, "fp32", "stale", NULL);
    flight_init(&twin, &ground, "fp32", "stale", NULL);
    flight_init(&exact, &ground, "fp32", "blocking", NULL);
    size_t bytes = (size_t)logit_count(&late) * sizeof(float);
    float *want = memory_alloc(bytes, "test"), *got = memory_alloc(bytes, "test");
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
    memory_free(got);
    memory_free(want);
    flight_clear(&exact);
    flight_clear(&twin);
    flight_clear(&late);
    ground_clear(&ground);
}

typedef struct Sizes {
    size_t planned, taken;
} Sizes;

static Sizes sizes_of(const Ground *ground, const char *schedule) {
    MemoryPlan plan = {0};
    Flight f;
    flight_init(&f, ground, "fp32", schedule, NULL);
    size_t with = memory_in_use();
    model_plan(&plan, &ground->shape, &f.parts, &ground->config);
    model_free(f.model);
    size_t taken = with - memory_in_use();
    f.model = NULL;
    flight_clear(&f);
    return (Sizes){memory_plan_total(&plan), taken};
}

// Buffers of all channels add up.
static void their_memory_is_planned(void **state) {
    (void)state;
    Ground ground;
    ground_init(&ground);
    Sizes one = sizes_of(&ground, "blocking"), each = sizes_of(&ground, "stale");
    double planned = (double)each.planned - (double)one.planned;
    double taken = (double)each.taken - (double)one.taken;
    assert_true(test_comm.size == 1 || taken > 100000);
    assert_near(planned, taken, 20000); // channels, buffers and communicators themselves
    ground_clear(&ground);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(frozen_weights_catch_up),
    cmocka_unit_test(all_channels_fly_between_epochs),
    cmocka_unit_test(whoever_waits_moves_them),
    cmocka_unit_test(widths_change_behind_what_flies),
    cmocka_unit_test(others_do_not_disturb_what_flies),
    cmocka_unit_test(their_memory_is_planned),
};
TEST_MAIN(tests)
