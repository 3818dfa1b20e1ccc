// ranks: 2 3
// If this failed, a preset of gradients.method would be another training than its keys by hand, or
// with other vectors or threads or on another backend, let ranks part, learn nothing, or not go on
// after a resume as if it had never stopped.
#include "resumes.h"

#include "config/internal.h"

enum { STOP = 5, EPOCHS = 12 };

static const Preset *method(int i) { return family_member(&gradient_method_family, i); }

static const char *setting_of(const Preset *method) {
    return test_text("gradients.method=%s", test_word(method->name));
}

// What the method sets. Returns how many settings there are.
static int settings_of(const char *setting[PRESET_SETTINGS], const Preset *method) {
    static char text[PRESET_SETTINGS][2 * CONFIG_WORD];
    const char *argument = NULL;
    int count = 0;
    assert_ok(family_find(&gradient_method_family, test_word(method->name), &argument, &err));
    for (; preset_setting(text[count], method, argument, count); count++)
        setting[count] = text[count];
    return count;
}

// Bits are chosen twice before the stop; matrices are several rows.
static const char *const period = "gradients.bits_period=2", *const bucket = "gradients.bucket=64";

static void settle_method(const Preset *method) {
    settle(SETTINGS(setting_of(method), period, bucket));
}

enum { METHODS_MOST = 64 };

// Trained once: then ranks agree on the last weights (the trainer compares them at each
// evaluation), and the loss has fallen.
static const Run *run_method(int i) {
    static Run kept[METHODS_MOST];
    Run *run = &kept[i];
    assert_true(gradient_method_family.count <= METHODS_MOST);
    if (run->loss[0] != 0)
        return run;
    settle_method(method(i));
    Trainer *t = new_trainer();
    train(run, t);
    assert_ok(trainer_replicas_agree(t, &err));
    trainer_free(t);
    if (!(run->loss[EPOCHS - 1] < run->loss[0]))
        fail_msg("%s: the loss goes from %g to %g", method(i)->name, run->loss[0],
                 run->loss[EPOCHS - 1]);
    return run;
}

// Without vectors, where the presets run with the widest that the machine has; on two ranks with
// three threads; one of them on fenced, whose ranks wait long for each other.
static Run run_by_hand(const Preset *method) {
    const char *threads = test_comm.size == 2 ? "run.threads=3" : "run.threads=1";
    const char *setting[PRESET_SETTINGS + 4] = {period, bucket, "run.simd=plain", threads};
    static Run run;
    int count = settings_of(setting + 4, method);
    memset(&run, 0, sizeof run);
    settle(setting, 4 + count);
    OWNED(Trainer) *t = new_trainer_on(strcmp(method->name, "diana-both") == 0 ? "fenced" : "cpu");
    train(&run, t);
    return run;
}

static bool same_runs(const Run *a, const Run *b) { return memcmp(a, b, sizeof *a) == 0; }

WORLD_TEST(a_method_is_its_keys_however_it_runs) {
    const Run *exact = run_method(0);
    for (int i = 1; i < gradient_method_family.count; i++) {
        const Run *preset = run_method(i);
        if (UNDER_SANITIZERS(i % 3 != 0 && strcmp(method(i)->name, "diana-both") != 0, false))
            continue;
        Run by_hand = run_by_hand(method(i));
        if (!same_runs(preset, &by_hand) || same_weights(preset, exact))
            fail_msg("%s is not what its keys are, or fp32", method(i)->name);
    }
}

WORLD_TEST(resumed_equals_never_stopped) {
    for (int i = 0; i < gradient_method_family.count; i += UNDER_SANITIZERS(2, 1)) {
        const Run *want = run_method(i);
        settle_method(method(i));
        assert_goes_on_as(want, method(i)->name, STOP, NULL);
    }
}

static void assert_another(const char *const *setting, int count, const char *dir,
                           const char *sentence) {
    settle(setting, count);
    OWNED(Trainer) *t = new_trainer();
    assert_refused(resume(t, dir, &err), EXIT_CONFIG, sentence);
}

// The name of a method does not matter, what it sets does.
WORLD_TEST(another_method_is_another_training) {
    const Preset *last = method(gradient_method_family.count - 1);
    const char *setting = setting_of(last), *by_hand[PRESET_SETTINGS], *dir = test_path("another");
    settle(&setting, 1);
    stop_after(2, dir);
    settle(by_hand, settings_of(by_hand, last));
    Trainer *t = new_trainer();
    assert_ok(resume(t, dir, &err));
    trainer_free(t);
    assert_another(NULL, 0, dir, "gradients.codec was");
    assert_another(SETTINGS(setting, "gradients.bucket=128"), dir,
                   "gradients.bucket was 512, is 128");
}
