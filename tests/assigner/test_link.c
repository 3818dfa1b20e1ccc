// ranks: 1 2 3 4 8
// If this failed, the link model would not be one: times that are not above zero, or pairs that
// were not measured taken for links that cost nothing.
#include "net.h"

static void links_are_measured(void **state) {
    (void)state;
    for (int s = 0; s < SCENES; s++) {
        Net net;
        Config config = config_of();
        config.messages.link = (ConfigDoubles){0};
        net_init(&net, &scenes[s], 8);
        Assigner *a = assigner_of(&net, &config);
        epochs_of(&net, a, 1, PERIOD + DELAY);
        const Assignment *assignment = epoch_of(&net, a, PERIOD + 1 + DELAY);
        assert_non_null(assignment);
        ends_agree(&net, &config.messages.widths);
        int pairs = test_comm.rank == 0 ? test_comm.size * (test_comm.size - 1) : 0;
        for (int i = 0; i < pairs; i++) {
            assert_true(a->theta[i] > 0 && isfinite(a->theta[i]));
            assert_true(a->gamma[i] >= 0 && isfinite(a->gamma[i]));
        }
        if (pairs > 0) {
            assert_true(assignment->byte_seconds[0] > 0);
            assert_true(assignment->byte_seconds[0] <= assignment->byte_seconds[1]);
            assert_true(assignment->byte_seconds[1] <= assignment->byte_seconds[2]);
            assert_true(assignment->message_seconds[0] <= assignment->message_seconds[2]);
        }
        assigner_free(a);
        net_clear(&net);
    }
}

static void unknown_links_are_ordinary(void **state) {
    (void)state;
    PairTime all[5] = {{1e-12, 0, 0}, {2, 10, 8000}, {5, 50, 1e6}, {1000, 7, 100}, {4, 30, 4096}};
    link_fill_in(all, 5);
    for (int i = 0; i < 4; i += 3)
        assert_true(all[i].theta == 4 && all[i].gamma == 30);
    assert_true(all[1].theta == 2 && all[2].theta == 5 && all[4].gamma == 30);
    PairTime tiny[2] = {{3, 1, 40}, {1e-12, 0, 0}}; // nothing better is known
    link_fill_in(tiny, 2);
    assert_true(tiny[0].theta == 3 && tiny[1].theta == 1e-12);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(links_are_measured),
    cmocka_unit_test(unknown_links_are_ordinary),
};

TEST_MAIN(tests)
