// ranks: 1 3 8
// If this failed, the rules beside the adaptive one would give other widths than they say, or the
// two ends of a message different ones.
#include "cells.h"

TEST(uniform_keeps_the_first_width) {
    CLEARED(fixture_clear) AssignerFixture fixture = {0};
    Config config = config_of();
    snprintf(config.quantization.assign, CONFIG_TEXT, "uniform");
    settle(&fixture, &config, &scenes[1]);
    assert_true(all_have(&fixture, 3));
}

// Messages of one node to two readers: how many have other bits.
static int64_t differing_readers(const AssignerFixture *fixture, int which) {
    int64_t *bits = widths_of(fixture, which, true), count = 0;
    int size = test_comm.size;
    for (int64_t node = 0; node < fixture->graph.dataset.nodes; node++)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < i; j++)
                count += bits[node * size + i] > 0 && bits[node * size + j] > 0 &&
                         bits[node * size + i] != bits[node * size + j];
    return count;
}

TEST(random_widths_are_drawn_per_message) {
    CLEARED(fixture_clear) AssignerFixture first = {0}, second = {0};
    Config config = config_of();
    snprintf(config.quantization.assign, CONFIG_TEXT, "random");
    settle(&first, &config, &scenes[0]);
    settle(&second, &config, &scenes[0]);
    normalizers_agree(&first, &config.quantization.bits);
    CLEARED(assigner_drop) Assigner *a = assigner_of(&second, &config);
    for (int i = 0; i < CHANNELS && test_comm.size > 1; i++) {
        int64_t cells = first.graph.dataset.nodes * test_comm.size, rows[WIDTH_MOST + 1];
        int64_t *x = widths_of(&first, i, true), *y = widths_of(&second, i, true);
        assert_memory_equal(x, y, (size_t)cells * sizeof *x);
        census(&first, i, rows);
        assert_true(rows[2] > 0 && rows[4] > 0 && rows[8] > 0);
        if (test_comm.size > 2)
            assert_true(differing_readers(&first, i) > 0);
    }
    epochs_of(&second, a, 1 + PERIOD, 1 + 2 * PERIOD + DELAY); // drawn anew
    int64_t changed = 0;
    for (int i = 0; i < CHANNELS; i++) {
        int64_t cells = first.graph.dataset.nodes * test_comm.size;
        int64_t *x = widths_of(&first, i, true), *y = widths_of(&second, i, true);
        for (int64_t k = 0; k < cells; k++)
            changed += x[k] != y[k];
    }
    assert_true(changed > 0 || test_comm.size == 1);
}

TEST(wrong_rule_names_the_list) {
    assert_refused(family_knows(&rule_family, "adaptiv", &err), EXIT_CONFIG,
                   "uniform, adaptive, random, replay:RUN");
    assert_refused(family_knows(&rule_family, "replay:", &err), EXIT_CONFIG, "replay:RUN");
    assert_ok(family_knows(&rule_family, "replay:x", &err));
}
