// ranks: 1
// If this fails, the streaming partitioner counts replicas, cuts or loads that are not there.
#include "recount.h"

enum { EVENTS = 100000, MOMENTS = 200, IDS = 400 };

// 10^5 random events: the counters equal a recount at 200 random moments and at the end.
static void counters_equal_a_recount(void **state) {
    (void)state;
    for (int i = 0; i < srp_score_family.count; i++) {
        SrpOptions options = srp_defaults(7);
        Dice dice = {(uint64_t)i};
        RandomEvent event;
        options.score = family_word(&srp_score_family, i);
        options.window = 64;
        Srp *srp = srp_made(options);
        srp_live(srp)->strict = false;
        for (int64_t n = 0; n < EVENTS; n++) {
            random_event(&event, &dice, IDS);
            srp_given(srp, &event.event);
            if (dice_below(&dice, EVENTS / MOMENTS) == 0)
                assert_counted(srp, 7);
        }
        assert_counted(srp, 7);
        assert_true(srp_live(srp)->skipped > EVENTS / 20 && srp_live(srp)->pins > 100);
        assert_true(srp_totals(srp).runs > 100);
        srp_free(srp);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(counters_equal_a_recount)};
TEST_MAIN(tests)
