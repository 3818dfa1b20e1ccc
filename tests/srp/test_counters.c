// If this fails, the streaming partitioner counts replicas, cuts or loads that are not there, or a
// snapshot disturbs the stream.
#include "recount.h"

enum { EVENTS = UNDER_SANITIZERS(12000, 100000), MOMENTS = UNDER_SANITIZERS(50, 200) };
enum { SNAPSHOT_EVENTS = UNDER_SANITIZERS(1500, 4000), IDS = 400, PARTS = 7 };

static Srp *made(const char *score, int64_t window) {
    SrpOptions options = srp_defaults(PARTS);
    options.score = score;
    options.window = window;
    Srp *srp = srp_made(options);
    srp_live(srp)->strict = false;
    return srp;
}

// Random events: the counters equal a recount at random moments and at the end.
TEST(counters_equal_a_recount) {
    for (int i = 0; i < srp_score_family.count; i++) {
        Dice dice = {(uint64_t)i};
        RandomEvent event;
        CLEARED(srp_drop) Srp *srp = made(family_word(&srp_score_family, i), 64);
        for (int64_t n = 0; n < EVENTS; n++) {
            random_event(&event, &dice, IDS);
            srp_given(srp, &event.event);
            if (dice_below(&dice, EVENTS / MOMENTS) == 0)
                assert_counted(srp, PARTS);
        }
        assert_counted(srp, PARTS);
        assert_true(srp_live(srp)->skipped > EVENTS / 20 && srp_live(srp)->pins > 100);
        assert_true(srp_totals(srp).runs > 100);
    }
}

// Without phase 2, which may move others: what is added and deleted again leaves every counter as
// it was, bit for bit.
TEST(deleting_restores_every_counter) {
    Dice dice = {11};
    RandomEvent event;
    uint64_t other[3];
    CLEARED(srp_drop) Srp *srp = made("marginal", 0);
    for (int64_t n = 0; n < 3000; n++) {
        random_event(&event, &dice, IDS);
        srp_given(srp, &event.event);
        SrpPart before[PARTS];
        SrpTotals totals = srp_totals(srp);
        memcpy(before, srp_parts(srp), sizeof before);
        for (int i = 0; i < 3; i++) // nodes and hyperedges that are there nowhere else
            other[i] = 1000000 + (uint64_t)dice_below(&dice, 1000);
        srp_given(srp, &(Event){EVENT_HYPEREDGE, 1, 3, other, false, 1, ""});
        srp_given(srp, &(Event){EVENT_NODE, 2000000, 1, &(uint64_t){1}, false, 1, ""});
        srp_given(srp, &(Event){EVENT_PIN, 2, 1, other, false, 1, ""});
        srp_given(srp, &(Event){EVENT_NO_HYPEREDGE, 1, 0, NULL, false, 1, ""});
        srp_given(srp, &(Event){EVENT_NO_PIN, 2, 1, other, false, 1, ""});
        for (int i = 0; i < 3; i++)
            srp_given(srp, &(Event){EVENT_NO_NODE, other[i], 0, NULL, false, 1, ""});
        srp_given(srp, &(Event){EVENT_NO_NODE, 2000000, 0, NULL, false, 1, ""});
        SrpTotals after = srp_totals(srp);
        assert_memory_equal(before, srp_parts(srp), sizeof before);
        assert_int_equal(totals.replicas, after.replicas);
        assert_int_equal(totals.cut, after.cut);
        assert_int_equal(totals.connectivity, after.connectivity);
        assert_int_equal(totals.pins, after.pins);
    }
}

static void assert_same_homes(Srp *one, Srp *other) {
    for (int side = 0; side < LIVE_SIDES; side++) {
        assert_int_equal(srp_live(one)->side[side].slots, srp_live(other)->side[side].slots);
        for (int32_t slot = 0; slot < srp_live(one)->side[side].slots; slot++)
            assert_int_equal(srp_home(one, side, slot), srp_home(other, side, slot));
    }
    SrpTotals a = srp_totals(one), b = srp_totals(other);
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(srp_parts(one), srp_parts(other), PARTS * sizeof(SrpPart));
}

// Settling for snapshots at random moments changes no later home and no counter.
TEST(a_snapshot_leaves_the_stream_as_it_was) {
    for (int i = 0; i < srp_score_family.count; i++) {
        Dice dice = {50 + (uint64_t)i};
        RandomEvent event;
        int64_t moved = 0;
        SrpOptions options = srp_defaults(PARTS);
        options.score = family_word(&srp_score_family, i);
        options.window = 32;
        options.passes = i % 2 == 0 ? 3 : 1;
        options.after = i % 3 != 2; // then the window alone is refined
        options.iterations = i == 2 ? 1 : 1 + i % 3;
        CLEARED(srp_drop) Srp *plain = srp_made(options), *settled = srp_made(options);
        srp_live(plain)->strict = srp_live(settled)->strict = false;
        for (int64_t n = 0; n < SNAPSHOT_EVENTS; n++) {
            random_event(&event, &dice, IDS);
            srp_given(plain, &event.event);
            srp_given(settled, &event.event);
            if (dice_below(&dice, 40) != 0)
                continue;
            int64_t before = srp_totals(settled).replicas;
            srp_settle(settled);
            assert_counted(settled, PARTS);
            moved += srp_totals(settled).replicas != before;
            srp_unsettle(settled);
            assert_same_homes(plain, settled);
        }
        assert_true(moved > 10); // there was something to take back
    }
}

// The same where a snapshot refines the window alone, nodes move in its last pass, and stay in the
// window for that.
TEST(a_snapshot_moves_nothing_in_the_window) {
    SrpOptions options = srp_defaults(PARTS);
    Planted planted = planted_new(2000, 1500, 28, 0.9, 3);
    uint64_t other[64];
    int moved = 0;
    options.score = "thesis";
    options.window = 60;
    options.iterations = 1;
    options.after = false;
    Srp *plain = srp_made(options), *settled = srp_made(options);
    for (int64_t h = 0; h < planted.hyperedges; h++) {
        int64_t count = planted.offset[h + 1] - planted.offset[h];
        for (int64_t i = 0; i < count; i++)
            other[i] = (uint64_t)planted.pin[planted.offset[h] + i];
        Event event = {EVENT_HYPEREDGE, (uint64_t)h, count, other, false, 1, ""};
        srp_given(plain, &event);
        srp_given(settled, &event);
        int64_t before = srp_totals(settled).replicas;
        srp_settle(settled);
        moved += srp_totals(settled).replicas != before;
        srp_unsettle(settled);
        assert_same_homes(plain, settled);
    }
    assert_true(moved > 100);
    srp_free(settled);
    srp_free(plain);
}

// A partitioner that is restored from its files goes on as the saved one, through phase 2 and
// deletions.
TEST(files_restore_everything) {
    for (int i = 0; i < srp_score_family.count; i++) {
        Dice dice = {90 + (uint64_t)i};
        RandomEvent event;
        const char *score = family_word(&srp_score_family, i);
        CLEARED(srp_drop) Srp *srp = made(score, 50), *again = made(score, 50);
        for (int64_t n = 0; n < 3000; n++) {
            random_event(&event, &dice, IDS);
            srp_given(srp, &event.event);
        }
        assert_ok(srp_write(srp, test_folder(), &err));
        assert_ok(srp_read(again, test_folder(), &err));
        assert_counted(again, PARTS);
        for (int64_t n = 0; n < 3000; n++) {
            random_event(&event, &dice, IDS);
            srp_given(srp, &event.event);
            srp_given(again, &event.event);
        }
        assert_same_homes(srp, again);
        assert_true(srp_totals(again).runs > 50);
    }
}

TEST(one_part_has_no_replicas) {
    SrpOptions options = srp_defaults(1);
    Planted planted = planted_new(300, 300, 10, 0.5, 1);
    CLEARED(srp_drop) Srp *srp = srp_made(options);
    planted_by_hyperedges(&planted, srp);
    srp_settle(srp);
    assert_int_equal(srp_totals(srp).replicas, 0);
    assert_int_equal(srp_totals(srp).cut, 0);
    assert_int_equal(srp_parts(srp)->pins, planted.pins);
    srp_unsettle(srp);
}
