// If this failed, a crash while a checkpoint is written could lose the run: for every single write,
// fsync and rename of the writer the process is killed right after it, and what is on the disk must
// resume to the uninterrupted run, bit for bit.
#include "training.h"
#include <signal.h>
#include <sys/wait.h>

enum { FIRST = 2, SECOND = 4, LAST = 6 }; // epochs with checkpoints, and the end

typedef bool Save(Trainer *trainer, const char *run_dir, Error *err);

static char run_dir[512];

static bool write_checkpoint(Trainer *t, const char *dir, Error *err) {
    return save_training(t, dir, 1, err);
}

// What must not be done: the same files, overwritten where they are.
static bool write_in_place(Trainer *t, const char *dir, Error *err) {
    char from[800], to[800];
    const char *folder = test_text("%s/checkpoints/epoch-1", dir);
    const char *elsewhere = test_text("%s-elsewhere", dir);
    static const char *const names[] = {"model.safetensors", "best.safetensors",
                                        "optimizer.safetensors", "checkpoint.json"};
    // the right bytes come from a good checkpoint written elsewhere, before the clock of steps
    // starts
    if (!file_make_folder(folder, err))
        return false;
    for (int i = 0; i < 4; i++) {
        size_t bytes;
        FileWriter writer;
        snprintf(from, sizeof from, "%s/checkpoints/epoch-%d/%s", elsewhere,
                 (int)trainer_epochs_done(t), names[i]);
        snprintf(to, sizeof to, "%s/%s", folder, names[i]);
        FREED char *data = file_read(from, 1 << 24, &bytes, err);
        if (data == NULL || !file_writer_open(&writer, to, err))
            return false;
        for (size_t at = 0; at < bytes; at += 512)
            if (!file_writer_put(&writer, data + at, bytes - at < 512 ? bytes - at : 512, err))
                return false;
        if (!file_writer_close(&writer, true, err))
            return false;
    }
    return true;
}

static void train_until(Trainer *t, int64_t epoch) {
    while (trainer_epochs_done(t) < epoch)
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
}

// The child's life: train, checkpoint, train, checkpoint; it dies after step `n` (0: never) of the
// second one.
static bool child_dies(Save *save, int n) {
    pid_t child = fork();
    if (child == 0) {
        Error err = {0};
        Trainer *t = new_trainer();
        const char *elsewhere = test_text("%s-elsewhere", run_dir);
        train_until(t, FIRST);
        bool ok = save_training(t, elsewhere, 9, &err) && save(t, run_dir, &err);
        train_until(t, SECOND);
        ok = ok && save_training(t, elsewhere, 9, &err);
        file_test_stop_after(n);
        ok = ok && save(t, run_dir, &err);
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!killed && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        fail_msg("the writer ended with status %d before step %d", status, n);
    return killed;
}

// True if the disk resumes to the uninterrupted weights.
static bool resumes(const float *want) {
    bool found = false;
    OWNED(Trainer) *t = new_trainer();
    bool ok = resume_training(t, run_dir, &found, &(Warnings){0}, &(Error){0}) && found &&
              trainer_epochs_done(t) >= FIRST;
    if (ok) {
        train_until(t, LAST);
        ok = memcmp(trainer_parameters(t, false), want,
                    (size_t)t->shape.parameter_count * sizeof(float)) == 0;
    }
    return ok;
}

static int failures_of(Save *save, int *steps) {
    const char *elsewhere = test_text("%s-elsewhere", run_dir);
    OWNED(Trainer) *straight = new_trainer();
    train_until(straight, LAST);
    int failures = 0, n = 1;
    for (bool killed = true; killed; n++) {
        assert_ok(file_remove(run_dir, &err) && file_remove(elsewhere, &err));
        killed = child_dies(save, n);
        failures += !resumes(trainer_parameters(straight, false));
    }
    *steps = n - 2;
    return failures;
}

static void prepare(void) {
    config = CONFIGURED("model.layers=2", "model.hidden=[8]", "train.epochs=6",
                        "train.eval_every=2", "run.threads=1");
    use_graph((TestGraphKind){.nodes = 60, .degree = 5, .features = 7, .classes = 3}, 9);
    snprintf(run_dir, sizeof run_dir, "%s/run", test_folder());
}

TEST(every_step_survives) {
    int steps;
    prepare();
    assert_int_equal(failures_of(write_checkpoint, &steps), 0);
    print_message("killed after each of %d steps\n", steps);
    assert_true(steps > 15); // files, syncs, renames: the hook really counted
}

TEST(overwriting_in_place_does_not) {
    int steps;
    prepare();
    assert_true(failures_of(write_in_place, &steps) > 0);
}
