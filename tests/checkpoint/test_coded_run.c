// ranks: 2; also on fenced
// If this failed, a training whose weight gradients are coded would not be that of fp32 where the
// code is lossless, or could not be resumed where both ends remember what they sent.
#include "../compressors.h"
#include "resumes.h"

static const char *setting_of(const char *compressor) {
    return test_text("gradients.codec=%s", compressor);
}

static Run run_with(const char *compressor) { return whole_run(SETTINGS(setting_of(compressor))); }

WORLD_TEST(lossless_sums_give_the_training_of_fp32) {
    Run exact = run_with("none"), coded = run_with("sparse"), rounded = run_with("few-bits");
    assert_true(same_weights(&coded, &exact));
    assert_memory_equal(coded.loss, exact.loss, sizeof exact.loss);
    assert_false(same_weights(&rounded, &exact));
}

static void assert_resumed(const char *compressor, int stop) {
    Run want = run_with(compressor);
    assert_goes_on_as(&want, test_text("%s-%d", compressor, stop), stop, "gradients");
}

WORLD_TEST(resumed_equals_never_stopped) {
    assert_resumed("changes", 5);
    assert_resumed("rounded", 4);
    assert_resumed("refreshed", 7);
}

WORLD_TEST(others_keep_no_gradients) {
    static const char *const names[] = {"none", "sparse"};
    for (int i = 0; i < 2; i++) {
        OWNED(Trainer) *t = TRAINER(setting_of(names[i]));
        assert_null(state_find(trainer_sections(t), "gradients"));
    }
}

// Every third epoch sends floats: as many as without a compressor, but filled up, with headers.
WORLD_TEST(the_record_says_what_was_sent) {
    EpochRecord record;
    int64_t bytes[3];
    OWNED(Trainer) *t = TRAINER(setting_of("refreshed"));
    for (int e = 0; e < 3; e++) {
        assert_ok(trainer_epoch(t, &record, &err));
        bytes[e] = record.reduce_bytes;
    }
    int64_t exact = 8 * t->shape.parameter_count;
    assert_true(bytes[0] == bytes[1] && bytes[0] < exact && bytes[2] > exact);
}
