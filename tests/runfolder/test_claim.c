// If this failed, a start would write where a run or something of other people lies, two runs would
// share a folder, or a resume would go on with another run than the newest of its training.

#include "support.h"

#include "runfolder/internal.h"

#include <sys/wait.h>
#include <unistd.h>

typedef struct Start {
    Config config;
    RunFolder folder;
} Start;

static bool claim(Start *start, const char *name, const char *setting, RunClaim how, Error *said) {
    *said = (Error){0};
    start->folder = (RunFolder){0};
    start->config = CONFIGURED(setting);
    snprintf(start->config.run.dir, CONFIG_TEXT, "%s", test_path(name));
    start->config.run.lock_wait = 0.1;
    return runfolder_claim(&start->folder, &start->config, &how, NULL, said);
}

static void expect(Start *start, const char *name, const char *setting, RunClaim how,
                   const char *taken) {
    assert_ok(claim(start, name, setting, how, &err));
    assert_string_equal(start->config.run.dir, test_path(taken));
}

// A run writes, and ends.
static void end(Start *start, bool well) {
    const char *path = test_text("%s/run.json", start->folder.path);
    const char *text =
        test_text("{\"in\": \"%s\"%s}", start->folder.path, well ? ", \"result\": {}" : "");
    test_write_text(path, text);
    runfolder_release(&start->folder);
}

static const RunClaim anew = {RUN_SINGLE, false, false}, resumed = {RUN_SINGLE, true, false};
static const char slow[] = "train.lr=0.5", fast[] = "train.lr=2", seed[] = "run.seed=7";

TEST(a_start_takes_the_next_free_folder_and_nothing_moves) {
    Start one, two;
    const char *const taken[] = {"anew", "anew-2", "anew-3"};
    for (int i = 0; i < 3; i++) {
        expect(&one, "anew", slow, anew, taken[i]);
        end(&one, i > 0);
    }
    for (int i = 0; i < 3; i++) {
        const char *run = test_text("%s/run.json", taken[i]);
        OWNED(Json) *json = json_read(test_path(run), &(Error){0});
        assert_string_equal(json_get_text(json, "in"), test_path(taken[i]));
    }
    expect(&one, "anew", slow, anew, "anew-4");
    expect(&two, "anew", slow, anew, "anew-5"); // two at once
    runfolder_release(&two.folder);
    expect(&two, "anew", fast, anew, "anew-5"); // where nothing was written yet
    runfolder_release(&two.folder);
    runfolder_release(&one.folder);
    expect(&one, "anew/", slow, anew, "anew-4");
    runfolder_release(&one.folder);
}

TEST(a_resume_goes_on_with_the_newest_of_its_training) {
    Start one, two;
    expect(&one, "on", slow, resumed, "on"); // nothing is there
    end(&one, true);
    expect(&one, "on", slow, anew, "on-2");
    end(&one, false);
    expect(&one, "on", fast, anew, "on-3");
    end(&one, false);
    expect(&one, "on", seed, anew, "on-4");
    end(&one, true);
    expect(&one, "on", slow, anew, "on-5");
    end(&one, true);
    expect(&one, "on", slow, resumed, "on-2"); // on-5 has ended
    assert_refused(claim(&two, "on", slow, resumed, &err), EXIT_CANNOT_WRITE,
                   "on-2: another run works there (pid "); // it is in progress
    end(&one, true);
    expect(&one, "on", seed, resumed, "on-4"); // it has ended, but may be made longer
    end(&one, true);
    expect(&one, "on", "train.epochs=7", anew, "on-6");
    end(&one, true);
    expect(&one, "on", "train.epochs=9", resumed, "on-6"); // the same training, longer
    end(&one, true);
    expect(&one, "on", "train.lr=4", resumed, "on"); // its checkpoints tell what differs
    end(&one, true);
    strcpy(one.config.run.dir, test_path("on"));
    one.config.train.lr = 2;
    runfolder_find_newest(&one.config);
    assert_string_equal(one.config.run.dir, test_path("on-3"));
    strcpy(one.config.run.dir, test_path("on-3"));
    runfolder_find_newest(&one.config); // also where on-3-2 could be
    assert_string_equal(one.config.run.dir, test_path("on-3"));
}

TEST(a_resume_keeps_to_its_kind) {
    const RunClaim compared = {RUN_COMPARISON, false, false}, again = {RUN_COMPARISON, true, false};
    Start start;
    expect(&start, "kind", slow, compared, "kind");
    assert_ok(file_make_folder(test_path("kind/vanilla"), &err));
    test_write_text(test_path("kind/vanilla/run.json"), "{}");
    runfolder_release(&start.folder);
    expect(&start, "kind", slow, resumed, "kind-2");
    end(&start, false);
    expect(&start, "kind", slow, compared, "kind-3");
    test_write_text(test_path("kind-3/compare.json"), "{}");
    runfolder_release(&start.folder);
    expect(&start, "kind", slow, again, "kind"); // kind-3 has its table
    runfolder_release(&start.folder);
    expect(&start, "kind", slow, resumed, "kind-2");
    runfolder_release(&start.folder);
}

// A run inside a folder that is claimed gets no number.
TEST(an_inner_run_has_its_own_folder_or_none) {
    Start start, other;
    const RunClaim inner = {RUN_SINGLE, false, true}, goes_on = {RUN_SINGLE, true, true};
    expect(&start, "of/run-1", slow, inner, "of/run-1");
    assert_refused(claim(&other, "of/run-1", slow, inner, &err), EXIT_CANNOT_WRITE,
                   "another run works there");
    end(&start, false);
    assert_refused(claim(&start, "of/run-1", slow, inner, &err), EXIT_CANNOT_WRITE,
                   "not fringe's (run.json)");
    expect(&start, "of/run-1", fast, goes_on, "of/run-1");
    runfolder_release(&start.folder);
}

// Puts a file of other people at `name` and claims the folder in both ways.
static void expect_left_alone(const char *name, RunClaim how) {
    char folder[PATH_BYTES];
    Start start;
    const char *path = test_text("%s/%s", test_path("mine"), name);
    path_folder(folder, sizeof folder, path);
    assert_ok(file_make_folder(folder, &err));
    test_write_text(path, "mine");
    expect(&start, "mine", slow, how, "mine-2");
    runfolder_release(&start.folder);
    strcpy(start.config.run.dir, test_path("mine"));
    assert_refused(runfolder_mark(&start.config, &err), EXIT_CANNOT_WRITE, "not fringe's");
    char *text = test_read(path, NULL);
    assert_string_equal(text, "mine");
    assert_ok(file_remove(test_path(test_text("mine/%.*s", (int)strcspn(name, "/"), name)), &err));
    assert_int_equal(rmdir(test_path("mine")), 0); // nothing else was made there
}

TEST(what_is_not_fringes_is_left_alone) {
    const char *const names[] = {".fringe",
                                 ".lock",
                                 "run.json",
                                 "metrics.jsonl",
                                 "checkpoints/LATEST",
                                 "assignments/a",
                                 "predictions/p",
                                 "snapshots",
                                 "runs.json",
                                 "checkpoints/.writing1",
                                 "stream.json",
                                 "trace.json",
                                 "sweep.tex",
                                 "compare.csv",
                                 "report.html",
                                 "run.json.fringe-tmp-host.1-1-0"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect_left_alone(names[i], i % 2 == 0 ? anew : resumed);
}

TEST(other_files_and_empty_folders_leave_a_folder_free) {
    Start start;
    assert_ok(file_make_folder(test_path("disk/inside"), &err));
    assert_ok(file_make_folder(test_path("free/train.lr=1/run-1"), &err));
    test_write_text(test_path("free/slurm-1.out"), "mine");
    assert_int_equal(symlink("../disk", test_path("free/checkpoints")), 0);
    expect(&start, "free", slow, anew, "free");
    runfolder_release(&start.folder);
    test_write_text(test_path("disk/inside/LATEST"), "of a run that was started elsewhere");
    expect(&start, "free", slow, anew, "free-2");
    runfolder_release(&start.folder);
}

// Predictions are no run, but belong to other weights.
TEST(a_folder_of_predictions_is_no_folder_for_a_run) {
    Start start;
    expect(&start, "foreseen", slow, anew, "foreseen");
    runfolder_release(&start.folder);
    assert_ok(runfolder_mark(&start.config, &err));
    assert_ok(file_make_folder(test_path("foreseen/predictions"), &err));
    test_write_text(test_path("foreseen/predictions/scores.npy"), "");
    expect(&start, "foreseen", slow, anew, "foreseen-2");
    runfolder_release(&start.folder);
}

// True if a start that dies after its n-th step ends before.
static bool survives(const char *name, const RunClaim *how, int n) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        Start start;
        Error err;
        file_test_stop_after(n);
        _exit(claim(&start, name, slow, *how, &err) ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFEXITED(status);
}

TEST(a_death_at_any_step_of_a_start_loses_nothing) {
    Start start;
    int n = 1;
    expect(&start, "dies", slow, anew, "dies");
    end(&start, true);
    char *before = test_read(test_path("dies/.fringe"), NULL);
    for (; !survives("dies", &anew, n); n++) {
        char *after = test_read(test_path("dies/.fringe"), NULL);
        assert_string_equal(after, before);
        expect(&start, "dies", fast, anew, "dies-2"); // what it has made is of use
        runfolder_release(&start.folder);
        file_remove(test_path("dies-2"), &(Error){0});
    }
    assert_true(n > 4);
    for (n = 1; !survives("dies", &resumed, n); n++) { // the newest one is dies-2
        expect(&start, "dies", slow, resumed, "dies-2");
        runfolder_release(&start.folder);
    }
    assert_true(n > 4);
}

TEST(numbers_are_read) {
    static const struct {
        const char *name;
        int number, base;
    } of[] = {{"x-2", 2, 1},   {"x-10", 10, 1}, {"x", 1, 1},    {"x-1", 1, 3}, {"x-02", 1, 4},
              {"x-2-3", 3, 3}, {"-2", 1, 2},    {"x2", 1, 2},   {"2", 1, 1},   {"", 1, 0},
              {"x-", 1, 2},    {"x-2y", 1, 4},  {"x--2", 2, 2}, {"x-0", 1, 3}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        int base;
        assert_int_equal(runfolder_number(of[i].name, &base), of[i].number);
        assert_int_equal(base, of[i].base);
    }
}
