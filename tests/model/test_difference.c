// ranks: 1 2 3
// If this failed, the two ends of a channel would not remember the same of a row, or what they
// remember would not outlive new widths and a resume, or evaluation would change it.
#include "../difference.h"
#include "memories.h"

TEST(fp32_differences_give_the_same_rows) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) coded = flight_of(&ground, "fp32", "overlap", &difference);
    OWNED(Flight) plain = flight_of(&ground, "fp32", "overlap", NULL);
    uint64_t before = hash_of_all(&coded);
    for (int epoch = 0; epoch < 6; epoch++) {
        fly(&coded);
        fly(&plain);
        assert_near(coded.loss, plain.loss, 1e-5 * plain.loss);
        assert_near(gradient_distance(&coded, &plain), 0, 1e-5);
        assert_true(both_ends_agree(&coded, 1));
    }
    assert_true(everywhere(test_comm.size == 1 || hash_of_all(&coded) != before));
}

// The rows stay the same, so that their differences vanish and with them what rounding adds.
TEST(few_bits_become_exact) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) coded = flight_of(&ground, "integer", "overlap", &difference);
    OWNED(Flight) direct = flight_of(&ground, "integer", "overlap", NULL);
    OWNED(Flight) exact = flight_of(&ground, "fp32", "overlap", NULL);
    set_all_widths(&coded, 2);
    set_all_widths(&direct, 2);
    for (int epoch = 0; epoch < 60; epoch++) {
        fly(&coded);
        fly(&direct);
        fly(&exact);
    }
    assert_true(both_ends_agree(&coded, 1));
    assert_near(gradient_distance(&coded, &exact), 0, 1e-4);
    assert_true(test_comm.size == 1 || gradient_distance(&direct, &exact) > 1e-2);
}

TEST(new_widths_leave_memories_alone) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) coded = flight_of(&ground, "integer", "blocking", &difference);
    for (int bits = 2; bits <= 8; bits += 2) {
        fly(&coded);
        uint64_t before = hash_of_all(&coded);
        set_all_widths(&coded, bits);
        assert_true(hash_of_all(&coded) == before);
        assert_true(both_ends_agree(&coded, 1));
    }
}

TEST(evaluation_leaves_memories_alone) {
    assert_evaluation_is_exact(flight_options("fp32", NULL, &difference));
}

TEST(memories_outlive_a_resume) {
    assert_resumed(flight_options("integer", NULL, &difference), "overlap", 3);
    assert_resumed(flight_options("integer", NULL, &difference), "stale", 3);
}

// What both ends have of a row is the same only if both are told the same of it.
TEST(a_hook_left_out_is_seen) {
    Residual without = difference;
    without.after_encode = NULL;
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) coded = flight_of(&ground, "fp32", "overlap", &without);
    fly(&coded);
    assert_int_equal(both_ends_agree(&coded, 1), test_comm.size == 1);
}

TEST(nothing_is_kept_where_nothing_is_remembered) {
    CLEARED(ground_clear) Ground ground = ground_made();
    assert_ptr_equal(family_find(&residual_family, "none", NULL, &(Error){0}), &residual_none);
    OWNED(Flight) none = flight_of(&ground, "fp32", "overlap", &residual_none);
    fly(&none);
    assert_null(model_exchanges(none.model).name);
}
