// ranks: 1 2 3; also on fenced
// If this failed, a training whose messages fly between epochs could not be resumed: what flew
// would be lost, or it would go on under a schedule that makes another training of it; or a
// checkpoint would take more memory than was foreseen.
#include "resumes.h"

static const char *const settings[] = {
    "comm.schedule=stale",     "quantization.codec=integer",       "quantization.assign=random",
    "quantization.period=4",   "lossless.input_features=exchange", "comm.smooth=gradients",
    "quantization.before=conv"};
enum { BEFORE_POST = sizeof settings / sizeof *settings, ALL = BEFORE_POST - 1 };

static void assert_resumed(int count, int stop) {
    Run want = whole_run(settings, count);
    assert_goes_on_as(&want, "stale", stop, "exchanges");
}

static int learn_keys(void **state) {
    config_learn_keys((const Family *const[]){&schedule_family}, 1);
    return make_test_graph(state);
}

#define KEYS_TEST(name) TEST_WITH(name, learn_keys, NULL)

KEYS_TEST(resumed_equals_never_stopped) {
    assert_resumed(ALL, 4);
    assert_resumed(ALL, 7);
    assert_resumed(BEFORE_POST, 7);
}

KEYS_TEST(it_is_another_training) {
    Run late = whole_run(settings, ALL), exact = whole_run(settings + 1, ALL - 1);
    size_t bytes = (size_t)late.count * sizeof(float);
    assert_int_equal(memcmp(late.parameters, exact.parameters, bytes) == 0, test_comm.size == 1);
}

static void assert_not_resumed(const char *dir, const char *part) {
    OWNED(Trainer) *t = new_trainer();
    assert_refused(resume(t, dir, &err), EXIT_CONFIG, part);
}

KEYS_TEST(another_schedule_is_refused) {
    const char *const dir[2] = {test_path("late"), test_path("exact")};
    for (int i = 0; i < 2; i++) {
        settle(settings + i, ALL - i);
        stop_after(2, dir[i]);
    }
    assert_not_resumed(dir[0], ": comm.schedule was \"stale\", is \"overlap\"; to continue");
    settle(settings, ALL);
    assert_not_resumed(dir[1], ": comm.schedule was \"overlap\", is \"stale\"; to continue");
}

// Its own keys are part of the training, too, where it uses them.
KEYS_TEST(other_keys_of_it_are_refused) {
    static const char *const other[][2] = {
        {"comm.first=zero", ": comm.first was \"exchange\", is \"zero\"; to continue"},
        {"comm.smooth=both", ": comm.smooth was \"gradients\", is \"both\"; to continue"},
        {"comm.smooth_decay=0.9", ": comm.smooth_decay was 0.95, is 0.9; to continue"}};
    const char *all[ALL + 1], *dir = test_path("keys");
    memcpy(all, settings, sizeof settings);
    settle(settings, ALL);
    stop_after(2, dir);
    for (int i = 0; i < 3; i++) {
        all[ALL] = other[i][0];
        settle(all, ALL + 1);
        assert_not_resumed(dir, other[i][1]);
    }
}

KEYS_TEST(others_keep_no_exchanges) {
    settle(settings + 1, ALL - 1);
    OWNED(Trainer) *t = new_trainer();
    assert_null(state_find(trainer_sections(t), "exchanges"));
}

// Rank 0 writes the state of one rank after the other.
KEYS_TEST(a_checkpoint_fits_into_the_plan) {
    settle(SETTINGS("mode=pipegcn-published", "model.layers=6", "model.hidden=[300]"));
    size_t before = memory_in_use();
    Trainer *t = new_trainer();
    assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    double used = (double)(memory_in_use() - before),
           planned = (double)forecast_total(trainer_forecast(t));
    void *filler = memory_alloc(memory_peak() - memory_in_use(), "test"); // now in use is the peak
    before = memory_peak();
    const StateSection *section = state_find(trainer_sections(t), "exchanges");
    assert_ok(state_write(section, &test_comm, test_path("planned.safetensors"), &err));
    double more = (double)(memory_peak() - before);
    memory_free(filler);
    trainer_free(t);
    if (used + more > 1.05 * planned)
        fail_msg("planned %.0f bytes, used %.0f and %.0f more", planned, used, more);
}
