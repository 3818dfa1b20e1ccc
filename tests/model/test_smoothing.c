// ranks: 1 2 3
// If this failed, what only readers remember would be wrong, refreshes would not be, two residuals
// of a channel would disturb each other, or rows whose messages vary in length would get lost.
#include "../refreshed.h"
#include "../smoothing.h"
#include "../sparse.h"
#include "memories.h"

static CodecOptions sparse_options(const Residual *residual) {
    CodecOptions options = flight_options("fp32", NULL, residual);
    options.codec = &sparse;
    return options;
}

static void assert_only_readers_remember(const Flight *f, int slot) {
    for (int i = 0; i < CHANNELS; i++)
        for (int g = 0; g + 1 < test_comm.size; g++) {
            const Channel *channel = channel_of(f, i);
            bool rows = box_rows(&channel->box[INCOMING], g) > 0;
            assert_int_equal(memory_bytes(channel, OUTGOING, slot, g), 0);
            assert_int_equal(memory_bytes(channel, INCOMING, slot, g) > 0, rows);
        }
}

// The rows stay the same, so that their means become what they are.
TEST(smoothed_rows_become_exact) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) smooth_one = flight_of(&ground, "fp32", "overlap", &smoothing);
    OWNED(Flight) exact = flight_of(&ground, "fp32", "overlap", NULL);
    assert_only_readers_remember(&smooth_one, 1);
    for (int epoch = 0; epoch < UNDER_SANITIZERS(5, 36); epoch++) {
        fly(&smooth_one);
        fly(&exact);
        assert_true(test_comm.size == 1 || epoch > 2 ||
                    gradient_distance(&smooth_one, &exact) > 1e-2);
    }
    if (UNDER_SANITIZERS(false, true)) // after all epochs
        assert_near(gradient_distance(&smooth_one, &exact), 0, 1e-5);
}

TEST(readers_memories_outlive_evaluation_and_resume) {
    assert_evaluation_is_exact(flight_options("integer", NULL, &smoothing));
    assert_resumed(flight_options("integer", NULL, &smoothing), "overlap", 3);
    assert_resumed(flight_options("integer", NULL, &smoothing), "stale", 3);
}

// The third epoch and the sixth are those of fp32, to the bit and to the byte. Rows stay the same,
// so that what both ends remember of the third serves the next ones: their differences are 0.
TEST(refreshes_are_exact_and_remembered) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) coded = flight_of(&ground, "integer", "overlap", &refreshed);
    OWNED(Flight) exact = flight_of(&ground, "fp32", "overlap", NULL);
    set_all_widths(&coded, 2);
    for (int epoch = 1; epoch <= 7; epoch++) {
        int64_t of_coded = bytes_sent(&coded), of_exact = bytes_sent(&exact);
        fly(&coded);
        fly(&exact);
        of_coded = bytes_sent(&coded) - of_coded, of_exact = bytes_sent(&exact) - of_exact;
        assert_int_equal(exchanges_of(&coded), epoch);
        assert_true(both_ends_agree(&coded, 1));
        bool alone = test_comm.size == 1, same = same_gradient(&coded, &exact);
        assert_int_equal(same && same_logits(&coded, &exact), epoch >= 3 || alone);
        assert_int_equal(everywhere(of_coded == of_exact), epoch % 3 == 0 || alone);
    }
}

// After a refresh, and between two of them.
TEST(the_number_of_the_exchange_outlives_a_resume) {
    assert_evaluation_is_exact(flight_options("integer", NULL, &refreshed));
    assert_resumed(flight_options("integer", NULL, &refreshed), "overlap", 3);
    assert_resumed(flight_options("integer", NULL, &refreshed), "stale", 4);
}

// The schedule's smoothing of what the quantization's differences stand for.
TEST(two_residuals_do_both) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight)
    both = flight_as(&ground, flight_options("fp32", &smoothing, &difference), "overlap");
    OWNED(Flight) one = flight_as(&ground, flight_options("fp32", &smoothing, NULL), "overlap");
    assert_only_readers_remember(&both, 0);
    for (int epoch = 0; epoch < 5; epoch++) {
        fly(&both);
        fly(&one);
        assert_true(both_ends_agree(&both, 1));
        assert_near(gradient_distance(&both, &one), 0, 1e-5);
    }
}

// Also two of one kind, whose states have places of their own.
TEST(both_outlive_a_resume) {
    assert_evaluation_is_exact(flight_options("integer", &smoothing, &difference));
    assert_resumed(flight_options("integer", &smoothing, &difference), "overlap", 2);
    assert_resumed(flight_options("integer", &difference, &difference), "overlap", 2);
    assert_resumed(flight_options("integer", &refreshed, &smoothing), "stale", 4);
}

// To the bit. Chunks are shorter than most messages, and some messages have no byte.
TEST(messages_of_any_length_arrive) {
    static const char *const schedules_used[] = {"blocking", "overlap", "stale"};
    CLEARED(ground_clear) Ground ground = ground_made();
    for (int i = 0; i < 3; i++) {
        OWNED(Flight) coded = flight_as(&ground, sparse_options(NULL), schedules_used[i]);
        OWNED(Flight) exact = flight_of(&ground, "fp32", schedules_used[i], NULL);
        for (int epoch = 0; epoch < 3; epoch++) {
            fly_alike(&coded, &exact);
        }
    }
}

static int64_t bytes_of_features(const Flight *f) {
    return channel_count(channel_of(f, 0)).bytes_sent;
}

// Features never change, so that from the second epoch on their messages are headers.
TEST(rows_that_stay_take_no_byte) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) coded = flight_as(&ground, sparse_options(&difference), "overlap");
    fly(&coded);
    for (int epoch = 0; epoch < 3; epoch++) {
        int64_t before = bytes_of_features(&coded), messages = 0;
        for (int g = 0; g + 1 < test_comm.size; g++)
            messages += box_rows(&channel_of(&coded, 0)->box[OUTGOING], g) > 0;
        fly(&coded);
        assert_int_equal(bytes_of_features(&coded) - before, 64 * messages);
        assert_true(both_ends_agree(&coded, 1));
    }
}
