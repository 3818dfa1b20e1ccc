// ranks: 1 2
// If this failed, a disk that does not answer would be taken for a run without checkpoints, and the
// run would start over its own results; or a damaged checkpoint would not be told from one that
// cannot be read right now.
#include "given.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char run_dir[512];

// A run with checkpoints after epochs 2 and 4.
static int make_run(void **state) {
    static int number;
    (void)state;
    Error err = {0};
    EpochRecord record;
    const char *settings[] = {"model.layers=2", "model.hidden=[8]", "run.threads=1"};
    char name[32];
    assert_ok(config_load(&config, NULL, settings, 3, &err), &err);
    world_init(&world, (WorldKind){.nodes = 60, .degree = 5, .features = 7, .classes = 3}, 9,
               &test_comm);
    snprintf(name, sizeof name, "run-%d", ++number);
    snprintf(run_dir, sizeof run_dir, "%s", test_path(name));
    Trainer *t = new_trainer();
    for (int epoch = 1; epoch <= 4; epoch++) {
        assert_ok(trainer_epoch(t, &record, &err), &err);
        if (epoch % 2 == 0)
            assert_ok(checkpoint_write(t, run_dir, "b", 2, &err), &err);
    }
    trainer_free(t);
    return 0;
}

static int drop_run(void **state) {
    (void)state;
    world_clear(&world);
    return 0;
}

static const char *in_run(const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/checkpoints%s%s", run_dir, name[0] != 0 ? "/" : "", name);
    return path;
}

// What stands there is gone and cannot be opened, for no reason of its own: a link to itself.
static void make_unreadable(const char *name) {
    Error err = {0};
    comm_barrier(&test_comm);
    if (test_comm.rank == 0) {
        assert_ok(file_remove(in_run(name), &err), &err);
        assert_int_equal(symlink(path_name(in_run(name)), in_run(name)), 0);
    }
}

static void damage(const char *name) {
    comm_barrier(&test_comm);
    if (test_comm.rank == 0)
        test_write_text(in_run(name), "torn");
}

// Epochs done after a resume; -1: none was found, -2: refused with *err.
static int64_t resumed(char remarks[1024], Error *err) {
    bool found = false;
    Trainer *t = new_trainer();
    bool ok = checkpoint_restore(t, run_dir, "b", &found, remarks, err);
    int64_t epoch = !ok ? -2 : found ? trainer_epochs_done(t) : -1;
    trainer_free(t);
    return epoch;
}

static void the_one_before_a_damaged_one_counts(void **state) {
    (void)state;
    Error err = {0};
    char remarks[1024];
    damage("epoch-4/model.safetensors");
    assert_int_equal(resumed(remarks, &err), 2);
    if (test_comm.rank == 0)
        assert_non_null(strstr(remarks, "epoch-4/model.safetensors: its hash"));
}

static void what_cannot_be_read_is_no_damage(void **state) {
    static const char *const names[] = {"epoch-4/model.safetensors", "epoch-4/checkpoint.json"};
    (void)state;
    char remarks[1024];
    for (int i = 0; i < 2; i++) {
        Error err = {0};
        make_unreadable(names[i]);
        assert_refused(resumed(remarks, &err) != -2, &err, EXIT_IO, "try again");
    }
}

static void a_folder_that_cannot_be_read_is_not_an_empty_one(void **state) {
    (void)state;
    Error err = {0};
    char remarks[1024];
    make_unreadable("");
    assert_refused(resumed(remarks, &err) != -2, &err, EXIT_IO, "checkpoints: cannot look");
}

static void a_newer_version_is_no_damage(void **state) {
    (void)state;
    Error err = {0};
    char remarks[1024];
    size_t bytes;
    comm_barrier(&test_comm);
    if (test_comm.rank == 0) {
        const char *path = in_run("epoch-4/checkpoint.json");
        char *text = file_read(path, 1 << 20, &bytes, &err);
        char *version = strstr(text, "\"version\": 1");
        assert_non_null(version);
        version[strlen("\"version\": ")] = '2';
        test_write(path, text, bytes);
        memory_give(text);
    }
    assert_refused(resumed(remarks, &err) != -2, &err, EXIT_CONFIG, "version 2 is of a newer");
}

static void a_run_without_a_whole_one_does_not_start_over(void **state) {
    (void)state;
    Error err = {0};
    char remarks[1024];
    damage("epoch-2/optimizer.safetensors");
    damage("epoch-4/checkpoint.json");
    assert_refused(resumed(remarks, &err) != -2, &err, EXIT_DATA, "none of its 2 checkpoints");
    assert_non_null(strstr(err.text, "start anew without --resume"));
}

static void a_run_without_any_starts(void **state) {
    (void)state;
    Error err = {0};
    char remarks[1024];
    comm_barrier(&test_comm);
    if (test_comm.rank == 0)
        assert_ok(file_remove(in_run(""), &err), &err);
    assert_int_equal(resumed(remarks, &err), -1);
    assert_string_equal(remarks, "");
}

// As many as run.keep_checkpoints may ask for are looked at, in their order.
static void many_checkpoints_are_all_seen(void **state) {
    (void)state;
    Error err = {0};
    char remarks[1024], name[32];
    damage("epoch-2/model.safetensors");
    damage("epoch-4/model.safetensors");
    for (int epoch = 10; epoch < 1510 && test_comm.rank == 0; epoch++) {
        snprintf(name, sizeof name, "epoch-%d", epoch);
        assert_ok(file_make_folder(in_run(name), &err), &err);
    }
    assert_refused(resumed(remarks, &err) != -2, &err, EXIT_DATA, "none of its 1502 checkpoints");
    assert_non_null(strstr(err.text, "epoch-1509/checkpoint.json"));
}

#define ON_RUN(test) cmocka_unit_test_setup_teardown(test, make_run, drop_run)
static const struct CMUnitTest tests[] = {
    ON_RUN(the_one_before_a_damaged_one_counts),
    ON_RUN(what_cannot_be_read_is_no_damage),
    ON_RUN(a_folder_that_cannot_be_read_is_not_an_empty_one),
    ON_RUN(a_newer_version_is_no_damage),
    ON_RUN(a_run_without_a_whole_one_does_not_start_over),
    ON_RUN(a_run_without_any_starts),
    ON_RUN(many_checkpoints_are_all_seen),
};
TEST_MAIN(tests)
