// ranks: 1 2 3 4
// If this failed, a message would be left out that its rule sends, or sent that it leaves out; a
// reader would compute with other rows than those it was sent last; or an evaluation or a resume
// would change which ones these are.
#include "../skipping.h"
#include "memories.h"

// Messages of the way forward are those of the first LAYERS channels.

static const char *const of_sources[4] = {"lossless.cover=sources"};

static CodecOptions skipping(const char *codec, const char *rule) {
    CodecOptions options = flight_options(codec, NULL, NULL);
    skip_by(&options, rule);
    return options;
}

// Weights of the next epoch: `by` of the last ones more.
static void move_weights(Ground *ground, float by) {
    for (int64_t k = 0; k < ground->shape.parameter_count; k++)
        ground->parameters[1][k] *= 1 + by;
}

static int64_t messages_of(const Channel *channel) {
    const HaloPlan *p = channel_halo_plan(channel);
    int64_t count = 0;
    for (int g = 0; g + 1 < p->size; g++)
        count += p->send_offset[g + 1] > p->send_offset[g];
    return count;
}

// What the channels [first, end) have sent.
typedef struct Traffic {
    int64_t messages, skipped, bytes;
} Traffic;

static Traffic traffic_of(const Flight *f, int first, int end) {
    Traffic sum = {0};
    for (int i = first; i < end; i++) {
        ChannelCount count = channel_count(channel_of(f, i));
        sum.messages += count.messages;
        sum.skipped += count.skipped;
        sum.bytes += count.bytes_sent;
    }
    return sum;
}

// ---- rules that leave nothing out

static void assert_as_blocking(const char *codec, const char *rule) {
    CLEARED(ground_clear) Ground ground = ground_as(of_sources);
    OWNED(Flight) skip = flight_as(&ground, skipping(codec, rule), "skip");
    OWNED(Flight) exact = flight_of(&ground, codec, "blocking", NULL);
    for (int epoch = 0; epoch < 5; epoch++) {
        fly_alike(&skip, &exact);
        move_weights(&ground, 0.01F);
    }
    assert_int_equal(bytes_sent(&skip), bytes_sent(&exact));
}

TEST(what_sends_all_is_blocking) {
    static const char *const codecs[] = {"fp32", "bf16", "integer"};
    for (int i = 0; i < 3; i++) {
        assert_as_blocking(codecs[i], "fixed:1");
        if (UNDER_SANITIZERS(i == 2, true))
            assert_as_blocking(codecs[i], "hybrid:100,1");
    }
}

// The rows of the features never move: theirs are left out, and are the same.
TEST(nothing_moved_is_blocking) {
    CLEARED(ground_clear) Ground ground = ground_as(of_sources);
    OWNED(Flight) skip = flight_as(&ground, skipping("fp32", "var:0"), "skip");
    OWNED(Flight) exact = flight_of(&ground, "fp32", "blocking", NULL);
    for (int epoch = 0; epoch < 5; epoch++) {
        fly_alike(&skip, &exact);
        for (int i = 0; i < LAYERS; i++)
            assert_int_equal(channel_count(channel_of(&skip, i)).skipped,
                             i == 0 ? epoch * messages_of(channel_of(&skip, i)) : 0);
        move_weights(&ground, 0.01F);
    }
}

// Weights change once, after the first epoch.
TEST(frozen_weights_send_headers_alone) {
    CLEARED(ground_clear) Ground ground = ground_as(of_sources);
    OWNED(Flight) skip = flight_as(&ground, skipping("fp32", "var:0.001"), "skip");
    OWNED(Flight) exact = flight_of(&ground, "fp32", "blocking", NULL);
    for (int epoch = 1; epoch <= 5; epoch++) {
        Traffic before = traffic_of(&skip, 0, LAYERS), back = traffic_of(&skip, LAYERS, CHANNELS);
        fly_alike(&skip, &exact);
        Traffic after = traffic_of(&skip, 0, LAYERS);
        if (epoch > 2) {
            int64_t messages = after.messages - before.messages;
            assert_int_equal(after.skipped - before.skipped, messages);
            assert_int_equal(after.bytes - before.bytes, 64 * messages);
        }
        assert_int_equal(traffic_of(&skip, LAYERS, CHANNELS).skipped, back.skipped);
    }
    assert_int_equal(traffic_of(&skip, LAYERS, CHANNELS).bytes,
                     traffic_of(&exact, LAYERS, CHANNELS).bytes);
}

// ---- which epochs send

// Frozen weights: the epochs of 1, 2, ... in which all messages of a channel travel.
static void assert_epochs(const char *rule, int channel, const char *sends) {
    CLEARED(ground_clear) Ground ground = ground_as(of_sources);
    OWNED(Flight) f = flight_as(&ground, skipping("fp32", rule), "skip");
    Channel *of = channel_of(&f, channel);
    for (const char *at = sends; *at != 0; at++) {
        int64_t skipped = channel_count(of).skipped;
        fly(&f);
        skipped = channel_count(of).skipped - skipped;
        if (skipped != (*at == '1' ? 0 : messages_of(of)))
            fail_msg("%s, channel %d: %d messages were left out in epoch %d", rule, channel,
                     (int)skipped, (int)(at - sends) + 1);
    }
}

TEST(rules_choose_epochs) {
    assert_epochs("fixed:3", 1, "101001001");
    assert_epochs("fixed:1", 1, "1111");
    assert_epochs("hybrid:0.001,3", 0, "1001001");
    assert_epochs("hybrid:0.001,3", 1, "11001001"); // its weights change after the first epoch
    assert_epochs("var:0.001", 1, "11000000");
    assert_epochs("var:1000", 1, "10000000");
    assert_epochs("code", 0, "1000");
    assert_epochs("code", 1, "1111");
}

// After fifty broadcasts the code sends in odd epochs.
TEST(the_code_sends_every_other_epoch) {
    CLEARED(ground_clear) Ground ground = ground_as(of_sources);
    OWNED(Flight) f = flight_as(&ground, skipping("fp32", "code"), "skip");
    Channel *of = channel_of(&f, 1);
    fly(&f);
    of->exchanges = f.epoch = 49;
    for (uint32_t epoch = 50; epoch < 56; epoch++) {
        int64_t skipped = channel_count(of).skipped;
        fly(&f);
        bool sends = epoch <= 51 || epoch % 2 == 1;
        assert_int_equal(channel_count(of).skipped - skipped, sends ? 0 : messages_of(of));
    }
}

// ---- what the reader computes with

static const float *remembered(const Channel *channel, int round) {
    const BoxResidual *of = &channel->box[OUTGOING].residual[SCHEDULE_MEMORY];
    return (const float *)(const void *)((const unsigned char *)of->memory + of->place[round]);
}

// The sum over all rows of what the senders remember, and of what the readers have; of fp32 rows.
static void assert_ends_agree(const Flight *f) {
    for (int i = 0; i < LAYERS; i++) {
        const Channel *channel = channel_of(f, i);
        const HaloPlan *p = channel_halo_plan(channel);
        Rows rows = channel_rows(channel);
        double sum[2] = {0};
        for (int g = 0; g + 1 < p->size; g++)
            for (int64_t k = p->send_offset[g]; k < p->send_offset[g + 1]; k++)
                for (int64_t c = 0; c < rows.columns; c++)
                    sum[0] +=
                        (double)remembered(channel, g)[(k - p->send_offset[g]) * rows.stride + c];
        for (int64_t h = 0; h < rows.count; h++)
            for (int64_t c = 0; c < rows.columns; c++)
                sum[1] += (double)floats(rows)[h * rows.stride + c];
        comm_sum_double(&test_comm, sum, 2);
        assert_near(sum[0], sum[1], 1e-9 * (1 + fabs(sum[1]))); // sums in another order
    }
}

// Weights move a little in every epoch: what is read is old, but never older than the rule allows.
TEST(rows_are_never_older_than_tau) {
    enum { TAU = 4 };
    CLEARED(ground_clear) Ground ground = ground_as(of_sources);
    OWNED(Flight) skip = flight_as(&ground, skipping("fp32", "hybrid:0.015,4"), "skip");
    OWNED(Flight) exact = flight_of(&ground, "fp32", "blocking", NULL);
    bool differed = false;
    for (int epoch = 0; epoch < 12; epoch++) {
        fly(&skip);
        fly(&exact);
        differed |= !same_logits(&skip, &exact);
        assert_ends_agree(&skip);
        for (int i = 0; i < LAYERS; i++)
            for (int g = 0; g + 1 < test_comm.size; g++) {
                assert_true(channel_of(&skip, i)->age[g] >= 1);
                assert_true(channel_of(&skip, i)->age[g] <= TAU);
            }
        move_weights(&ground, 0.002F);
    }
    assert_int_equal(differed, test_comm.size > 1);
}

// A row that is not a number has moved, whatever EPS is.
TEST(what_is_not_a_number_is_sent) {
    CLEARED(ground_clear) Ground ground = ground_as(of_sources);
    OWNED(Flight) f = flight_as(&ground, skipping("fp32", "var:1000"), "skip");
    fly(&f);
    fly(&f);
    ground.parameters[1][0] = NAN; // of the first layer
    int64_t skipped = channel_count(channel_of(&f, 1)).skipped;
    fly(&f);
    assert_int_equal(channel_count(channel_of(&f, 1)).skipped, skipped);
}

// ---- what others do between two epochs

static uint64_t hash_of_ages(const Flight *f) {
    uint64_t hash = 0;
    for (int i = 0; i < LAYERS; i++)
        hash =
            31 * hash + hash_bytes(channel_of(f, i)->age, (size_t)test_comm.size * sizeof(int64_t));
    return hash;
}

TEST(evaluation_changes_nothing) {
    CLEARED(ground_clear) Ground ground = ground_as(of_sources);
    OWNED(Flight) skip = flight_as(&ground, skipping("fp32", "hybrid:0.5,3"), "skip");
    OWNED(Flight) twin = flight_as(&ground, skipping("fp32", "hybrid:0.5,3"), "skip");
    OWNED(Flight) exact = flight_of(&ground, "fp32", "blocking", NULL);
    size_t bytes = (size_t)logit_count(&skip) * sizeof(float);
    float *want = test_memory(bytes), *got = test_memory(bytes);
    for (int epoch = 0; epoch < 7; epoch++) {
        fly_alike(&skip, &twin);
        uint64_t before = hash_of_all(&skip), ages = hash_of_ages(&skip);
        const DeviceFloat *parameters = on_device(ground.parameters[1]);
        device()->download_rows(want, model_infer(exact.model, parameters));
        device()->download_rows(got, model_infer(skip.model, parameters));
        assert_memory_equal(got, want, bytes);
        assert_true(hash_of_all(&skip) == before && hash_of_ages(&skip) == ages);
        if (test_comm.size > 1)
            channel_time_round(channel_of(&skip, 1), 0, 64, 64);
        move_weights(&ground, 0.002F);
    }
}

// Stopped in the middle of an age, and at its end.
TEST(ages_outlive_a_resume) {
    static const char *const codecs[] = {"fp32", "integer"};
    for (int stop = 1; stop <= 5; stop += UNDER_SANITIZERS(3, 1)) {
        CodecOptions options = skipping(codecs[stop % 2], "hybrid:0.5,3");
        CLEARED(ground_clear) Ground ground = ground_as(of_sources);
        OWNED(Flight) whole = flight_as(&ground, options, "skip");
        OWNED(Flight) before = flight_as(&ground, options, "skip");
        OWNED(Flight) after = flight_as(&ground, options, "skip");
        for (int epoch = 0; epoch < stop; epoch++) {
            fly(&whole);
            fly(&before);
            move_weights(&ground, 0.002F);
        }
        hand_over_state(&before, &after);
        assert_true(hash_of_ages(&after) == hash_of_ages(&before));
        for (int epoch = 0; epoch < 4; epoch++) {
            fly_alike(&whole, &after);
            assert_true(hash_of_ages(&after) == hash_of_ages(&whole));
            move_weights(&ground, 0.002F);
        }
    }
}

TEST(its_memory_is_planned) {
    CLEARED(ground_clear) Ground ground = ground_as(of_sources);
    Sizes one = sizes_of(&ground, flight_options("fp32", NULL, NULL), "blocking");
    Sizes all = sizes_of(&ground, skipping("fp32", "var:0.1"), "skip");
    double planned = (double)all.planned - (double)one.planned;
    double taken = (double)all.taken - (double)one.taken;
    assert_true(test_comm.size == 1 || taken > 100000);
    assert_near(planned, taken, 0.05 * taken + 8000); // alone there are only the structs themselves
}
