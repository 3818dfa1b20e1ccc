// ranks: 1 2 4
// If this failed, mode=auto would send fp32 rows over slow links or pay for quantized rows where
// the link is fast, try fp32 where it cannot win, choose otherwise after a resume, or assign bit
// widths to exchanges that send fp32.
#include "cells.h"

#include "assigner/choice.h"
#include "exchange/channel.h"

// What an epoch of each exchange takes: seconds of packing and of waiting, by the codec and by
// fp32.
typedef struct Cost {
    double pack[2], wait[2];
} Cost;

static const Cost fast_link = {{3, 1}, {1, 1}};
static const Cost slow_link = {{3, 1}, {10, 40}};
static const Cost far_too_slow = {{3, 1}, {1, 20}};      // which the first epoch does not show
static const Cost hardly_differs = {{3, 1.04}, {1, 3}};  // fp32 takes 1 % more
static const Cost differs_a_little = {{3, 1.2}, {1, 3}}; // 5 %

static Chooser *chooser_of(const AssignerFixture *fixture, Config *config, const char *word) {
    Chooser *chooser = NULL;
    snprintf(config->quantization.exchanges, CONFIG_TEXT, "%s", word);
    snprintf(config->quantization.codec, CONFIG_WORD, "integer");
    assert_ok(chooser_new(&chooser, config, &test_comm, NULL, fixture->of, CHANNELS, &err));
    return chooser;
}

// As if the exchanges had taken that long. Later ranks wait for a slow one, not for the link.
static const CodecChoice *epoch_at(const AssignerFixture *fixture, Chooser *chooser, int64_t epoch,
                                   const Cost cost[CHANNELS], ExchangeSet *fp32) {
    ExchangeSet set = chooser_before(chooser, epoch);
    for (int i = 0; i < CHANNELS; i++) {
        Channel *channel = fixture->channel[i];
        bool full_precision = channel_is_full_precision(channel);
        assert_true(full_precision == ((set & exchange_set_of(fixture->of[i].id)) != 0));
        channel->seconds.pack += cost[i].pack[full_precision];
        channel->seconds.wait += cost[i].wait[full_precision];
        channel->ring.bytes_sent += // a quarter of the bytes of fp32
            channel->plan->send_offset[channel->plan->size - 1] * channel->columns;
    }
    if (fp32 != NULL)
        *fp32 = set;
    return chooser_after(chooser, epoch);
}

static ExchangeSet bit(const AssignerFixture *fixture, int i) {
    return exchange_set_of(fixture->of[i].id);
}

// The tests of one chooser that measures.
static AssignerFixture measured;
static Chooser *chooser;

static int make_chooser(void **state) {
    (void)state;
    Config config = config_of();
    fixture_init(&measured, &scenes[0], 8);
    chooser = chooser_of(&measured, &config, "measured");
    return 0;
}

static int drop_chooser(void **state) {
    (void)state;
    chooser_free(chooser);
    fixture_clear(&measured);
    return 0;
}
#define MEASURED_TEST(name) TEST_WITH(name, make_chooser, drop_chooser)

MEASURED_TEST(the_faster_is_chosen) {
    const Cost cost[CHANNELS] = {fast_link, slow_link, far_too_slow};
    bool sends = test_comm.size > 1; // else no bytes show that the link is slow
    const ExchangeSet all = bit(&measured, 0) | bit(&measured, 1) | bit(&measured, 2);
    const ExchangeSet first = sends ? all & ~bit(&measured, 1) : all;
    const ExchangeSet expected[] = {0, 0, first, 0, bit(&measured, 0), 0, bit(&measured, 0)};
    for (int64_t epoch = 1; epoch <= 7; epoch++) {
        ExchangeSet fp32;
        const CodecChoice *choice = epoch_at(&measured, chooser, epoch, cost, &fp32);
        assert_int_equal(fp32, expected[epoch - 1]);
        assert_true((choice != NULL) == (epoch == 7));
    }
    const CodecChoice *choice = chooser_choice(chooser);
    assert_int_equal(choice->epoch, 8);
    assert_int_equal(choice->count, CHANNELS);
    for (int i = 0; i < CHANNELS; i++)
        assert_true(choice->exchange[i].fp32 == (i == 0));
    assert_true(choice->exchange[0].codec_seconds == 4 && choice->exchange[0].fp32_seconds == 2);
    assert_true(choice->exchange[1].sent == !sends && choice->exchange[2].sent);
    assert_true(choice->exchange[1].fp32_seconds >= 40); // 10 seconds of waiting, four times
    ExchangeSet fp32;
    assert_null(epoch_at(&measured, chooser, 8, cost, &fp32)); // made once
    assert_int_equal(fp32, bit(&measured, 0));
}

MEASURED_TEST(nothing_is_tried_on_a_slow_link) {
    const Cost cost[CHANNELS] = {slow_link, slow_link, slow_link};
    if (test_comm.size > 1) {
        assert_null(epoch_at(&measured, chooser, 1, cost, NULL));
        const CodecChoice *choice = epoch_at(&measured, chooser, 2, cost, NULL);
        assert_non_null(choice);
        assert_int_equal(choice->epoch, 3);
        for (int i = 0; i < CHANNELS; i++)
            assert_true(!choice->exchange[i].fp32 && !choice->exchange[i].sent);
    }
}

// The last rank is late and its peers wait for it, not for the link, which bytes of fp32 would not
// change: fp32 is tried.
MEASURED_TEST(waiting_for_a_slow_rank_is_no_slow_link) {
    double wait = test_comm.rank == test_comm.size - 1 ? 0.1 : 10;
    const Cost late = {{3, 1}, {wait, wait}}, cost[CHANNELS] = {late, late, late};
    for (int64_t epoch = 1; epoch <= 7; epoch++)
        epoch_at(&measured, chooser, epoch, cost, NULL);
    for (int i = 0; i < CHANNELS; i++)
        assert_true(chooser_choice(chooser)->exchange[i].sent);
}

// fp32 wins up to 2 % above the codec, and no further.
MEASURED_TEST(only_hardly_slower_fp32_is_chosen) {
    const Cost cost[CHANNELS] = {hardly_differs, differs_a_little, hardly_differs};
    for (int64_t epoch = 1; epoch <= 7; epoch++)
        epoch_at(&measured, chooser, epoch, cost, NULL);
    for (int i = 0; i < CHANNELS; i++)
        assert_int_equal(chooser_choice(chooser)->exchange[i].fp32, i != 1);
}

// One epoch in which the machine was busy with something else.
MEASURED_TEST(one_slow_epoch_changes_nothing) {
    const Cost cost[CHANNELS] = {fast_link, hardly_differs, fast_link};
    const Cost busy[CHANNELS] = {{{30, 5}, {1, 1}}, {{30, 30}, {1, 1}}, {{30, 5}, {1, 1}}};
    for (int64_t epoch = 1; epoch <= 7; epoch++)
        epoch_at(&measured, chooser, epoch, epoch == 4 || epoch == 5 ? busy : cost, NULL);
    for (int i = 0; i < CHANNELS; i++)
        assert_true(chooser_choice(chooser)->exchange[i].fp32);
}

static void write_section(Chooser *of, const char *path) {
    Error said = {0};
    StateSection section = chooser_section(of);
    state_write(&section, &test_comm, path, &said);
    assert_true(comm_agree(&test_comm, &said));
}

TEST(a_resume_goes_on_with_the_trials) {
    const char *path = test_path("choice.safetensors");
    for (int64_t stop = 1; stop <= 9; stop++) {
        FIXTURE(&scenes[0], 8);
        CLEARED(chooser_drop) Chooser *a = chooser_of(&fixture, &config, "measured");
        CLEARED(chooser_drop) Chooser *b = chooser_of(&fixture, &config, "measured");
        const Cost cost[CHANNELS] = {fast_link, slow_link, far_too_slow};
        for (int64_t epoch = 1; epoch <= 10; epoch++) {
            ExchangeSet one, two;
            epoch_at(&fixture, a, epoch, cost, &one);
            if (epoch == stop) {
                write_section(a, path);
                StateSection section = chooser_section(b);
                assert_ok(state_read(&section, &test_comm, path, &err));
            }
            if (epoch > stop) {
                epoch_at(&fixture, b, epoch, cost, &two);
                assert_int_equal(one, two);
            }
        }
        assert_memory_equal(chooser_choice(a), chooser_choice(b), sizeof(CodecChoice));
    }
}

MEASURED_TEST(impossible_state_is_refused) {
    const char *path = test_path("choice.safetensors");
    StateSection section = chooser_section(chooser);
    chooser->candidate[1].turns[1] = CHOICE_TURNS + 1;
    write_section(chooser, path);
    assert_refused(state_read(&section, &test_comm, path, &err), EXIT_DATA, "measured 4 times");
}

TEST(exact_exchanges_are_exact_and_get_no_widths) {
    FIXTURE(&scenes[0], 16);
    int64_t rows[WIDTH_MOST + 1];
    CLEARED(assigner_drop) Assigner *a = assigner_of(&fixture, &config);
    channel_set_full_precision(fixture.channel[1], true);
    const Assignment *assignment = NULL;
    for (uint32_t epoch = 1; epoch <= PERIOD + 1 + DELAY; epoch++) {
        assert_ok(assigner_before(a, epoch, &err));
        exchange(&fixture, 0, epoch, false);
        int64_t sent = channel_count(fixture.channel[1]).bytes_sent;
        exchange(&fixture, 1, epoch, true); // checks that the rows arrive as they were
        const HaloPlan *p = channel_halo_plan(fixture.channel[1]);
        assert_true(channel_count(fixture.channel[1]).bytes_sent - sent >=
                    p->send_offset[p->size - 1] * 16 * (int64_t)sizeof(float));
        exchange(&fixture, 2, epoch, false);
        assignment = assigner_after(a, epoch);
    }
    assert_non_null(assignment);
    assert_int_equal(channel_ranges(fixture.channel[1])->exchanges, 0);
    census(&fixture, 1, rows);
    int64_t all = rows[16];
    for (int b = 0; b <= WIDTH_MOST; b++)
        assert_true(b == 16 || rows[b] == 0); // as they were
    census(&fixture, 0, rows);
    assert_true(rows[16] == 0); // quantization.bits has no 16
    if (test_comm.rank == 0) {
        assert_string_equal(assignment->part[1].by, "fp32");
        assert_string_not_equal(assignment->part[0].by, "fp32");
        for (int b = 0; b <= WIDTH_MOST; b++)
            assert_int_equal(assignment->part[1].rows[b], 0);
    }
    assert_true(all > 0 || test_comm.size == 1);
}

TEST(nothing_is_assigned_if_all_are_exact) {
    FIXTURE(&scenes[0], 8);
    CLEARED(assigner_drop) Assigner *a = assigner_of(&fixture, &config);
    for (int i = 0; i < CHANNELS; i++)
        channel_set_full_precision(fixture.channel[i], true);
    for (uint32_t epoch = 1; epoch <= 3 * PERIOD; epoch++) {
        assert_ok(assigner_before(a, epoch, &err));
        assert_null(assigner_after(a, epoch));
    }
    assert_true(all_have(&fixture, 8));
}

TEST(rules_without_a_choice_make_no_chooser) {
    FIXTURE(&scenes[0], 8);
    assert_null(chooser_of(&fixture, &config, "all"));
}

TEST(a_replay_repeats_and_then_stays) {
    FIXTURE(&scenes[0], 8);
    CLEARED(chooser_drop) Chooser *replaying = NULL;
    ExchangeSet full_precision[3] = {0, bit(&fixture, 0), bit(&fixture, 1) | bit(&fixture, 2)};
    Replay replay = {.epochs = 3, .full_precision = full_precision};
    snprintf(config.quantization.exchanges, CONFIG_TEXT, "replay:run");
    assert_ok(chooser_new(&replaying, &config, &test_comm, &replay, fixture.of, CHANNELS, &err));
    for (int epoch = 1; epoch <= 5; epoch++)
        assert_true(chooser_before(replaying, epoch) == full_precision[epoch < 3 ? epoch - 1 : 2]);
}
