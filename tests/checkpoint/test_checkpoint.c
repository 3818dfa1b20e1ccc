// ranks: 1 2
// If this failed, a disk that does not answer would be taken for a run without checkpoints, and the
// run would start over its own results; or a damaged checkpoint would not be told from one that
// cannot be read right now.
#include "checkpoints.h"
#include "fringe/runfolder.h"
#include <sys/stat.h>
#include <sys/wait.h>

// What stands there is gone and cannot be opened, for no reason of its own: a link to itself.
static void make_unreadable(const char *name) {
    comm_barrier(&test_comm);
    if (test_comm.rank == 0) {
        assert_ok(file_remove(in_run(name), &err));
        assert_int_equal(symlink(path_name(in_run(name)), in_run(name)), 0);
    }
}

static void damage(const char *name) {
    comm_barrier(&test_comm);
    if (test_comm.rank == 0)
        test_write_text(in_run(name), "torn");
}

RUN_TEST(the_one_before_a_damaged_one_counts) {
    Warnings warnings = {0};
    damage("epoch-4/model.safetensors");
    assert_int_equal(resumed(&warnings, &(Error){0}), 2);
    if (test_comm.rank == 0)
        assert_non_null(strstr(warnings.text, "epoch-4/model.safetensors: its hash"));
}

RUN_TEST(what_cannot_be_read_is_no_damage) {
    static const char *const names[] = {"epoch-4/model.safetensors", "epoch-4/checkpoint.json"};
    for (int i = 0; i < 2; i++) {
        make_unreadable(names[i]);
        assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_IO, "try again");
    }
}

RUN_TEST(a_folder_that_cannot_be_read_is_not_an_empty_one) {
    make_unreadable("");
    assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_IO, "checkpoints: cannot look");
}

RUN_TEST(a_run_without_a_whole_one_does_not_start_over) {
    damage("epoch-2/optimizer.safetensors");
    damage("epoch-4/checkpoint.json");
    assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_DATA, "all 2 checkpoints are damaged",
                   "start again without --resume");
}

RUN_TEST(a_run_without_any_starts) {
    Warnings warnings = {0};
    comm_barrier(&test_comm);
    if (test_comm.rank == 0)
        assert_ok(file_remove(in_run(""), &err));
    assert_int_equal(resumed(&warnings, &(Error){0}), -1);
    assert_string_equal(warnings.text, "");
}

// As many as run.keep_checkpoints may ask for are looked at, in their order.
RUN_TEST(many_checkpoints_are_all_seen) {
    damage("epoch-2/model.safetensors");
    damage("epoch-4/model.safetensors");
    for (int epoch = 10; epoch < 1510 && test_comm.rank == 0; epoch++)
        assert_ok(file_make_folder(in_run(test_text("epoch-%d", epoch)), &err));
    assert_refused(resumed(&(Warnings){0}, &err) != -2, EXIT_DATA,
                   "all 1502 checkpoints are damaged", "epoch-1509/checkpoint.json");
}

RUN_TEST(what_dead_writers_left_is_swept) {
    enum { DEAD, LIVING, FOREIGN, LEFT };
    char path[LEFT][1200];
    test_temporary(path[DEAD], in_run(".writing"), test_dead_process());
    test_temporary(path[LIVING], in_run(".writing"), getppid());
    snprintf(path[FOREIGN], sizeof path[0], "%s", in_run(".writing.fringe-tmp-elsewhere.7-1-0"));
    for (int i = 0; i < LEFT && test_comm.rank == 0; i++)
        assert_ok(file_make_folder(path[i], &err));
    OWNED(Trainer) *t = new_trainer();
    assert_ok(save_training(t, run_dir, 2, &err));
    if (test_comm.rank == 0) {
        assert_false(file_exists(path[DEAD]));
        assert_true(file_exists(path[LIVING]) && file_exists(path[FOREIGN]));
    }
}

RUN_TEST(only_the_newest_stay) {
    OWNED(Trainer) *t = new_trainer();
    assert_ok(resume(t, run_dir, &err));
    assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    assert_ok(save_training(t, run_dir, 2, &err));
    comm_barrier(&test_comm);
    assert_false(file_exists(in_run("epoch-2")));
    assert_true(file_exists(in_run("epoch-4")));
    assert_true(file_exists(in_run("epoch-5")));
}

static ino_t inode_of(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_ino;
}

// What lies there already is not written again.
RUN_TEST(the_same_checkpoint_stays) {
    ino_t before = inode_of(in_run("epoch-4/model.safetensors"));
    comm_barrier(&test_comm);
    OWNED(Trainer) *t = new_trainer();
    assert_ok(resume(t, run_dir, &err));
    assert_ok(save_training(t, run_dir, 2, &err));
    assert_int_equal(inode_of(in_run("epoch-4/model.safetensors")), before);
}

TEST(other_names_are_no_checkpoints) {
    static const char *const names[] = {"epoch-007", "epoch-7x", "epoch--1", "epoch-", "epoch-+7"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(runfolder_epoch_of(names[i], ""), -1);
    assert_int_equal(runfolder_epoch_of("epoch-7.json", ""), -1);
    assert_int_equal(runfolder_epoch_of("epoch-7", ".json"), -1);
    assert_int_equal(runfolder_epoch_of("epoch-7", ""), 7);
    assert_int_equal(runfolder_epoch_of("epoch-7.json", ".json"), 7);
}
