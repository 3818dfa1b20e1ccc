// ranks: 1 2 4
// If this failed, whole runs would depend on the schedule, on threads or vectors, or on being
// stopped and resumed; or the epoch loop would take memory, or the predicted memory would not be
// what is used.
#include "fixture.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void settle(const char *const *more, int count) {
    Error err = {0};
    const char *settings[32] = {"model.layers=3",  "model.hidden=[20]",
                                "train.epochs=12", "train.eval_every=3",
                                "run.threads=1",   "model.input_dropout=0.2"};
    for (int i = 0; i < count; i++)
        settings[6 + i] = more[i];
    assert_ok(config_load(&config, NULL, settings, 6 + count, &err), &err);
}

typedef struct Run {
    double loss[64];
    float parameters[4096];
    int64_t count, epochs;
} Run;

static void train(Run *run, Trainer *t) {
    Error err = {0};
    EpochRecord record;
    while (!trainer_finished(t)) {
        assert_ok(trainer_epoch(t, &record, &err), &err);
        run->loss[record.epoch - 1] = record.loss;
    }
    run->epochs = trainer_epochs_done(t);
    run->count = trainer_shape(t)->parameter_count;
    assert_true(run->count <= 4096);
    memcpy(run->parameters, trainer_parameters(t, false), (size_t)run->count * sizeof(float));
}

static Run whole_run(const char *const *more, int count) {
    static Run run;
    memset(&run, 0, sizeof run);
    settle(more, count);
    Trainer *t = new_trainer();
    train(&run, t);
    trainer_free(t);
    return run;
}

static int make_world(void **state) {
    (void)state;
    world_init(&world, (WorldKind){.nodes = 150, .degree = 6, .features = 19, .classes = 4}, 8,
               &test_comm);
    return 0;
}

static int drop_world(void **state) {
    (void)state;
    world_clear(&world);
    return 0;
}

static void bits_do_not_depend_on_how(void **state) {
    (void)state;
    const char *base[] = {"comm.schedule=\"blocking\"", "run.simd=\"plain\""};
    Run want = whole_run(base, 2);
    static const char *const others[][3] = {
        {"comm.schedule=\"overlap\"", "run.simd=\"plain\"", "run.threads=1"},
        {"comm.schedule=\"overlap\"", "run.simd=\"auto\"", "run.threads=1"},
        {"comm.schedule=\"blocking\"", "run.simd=\"auto\"", "run.threads=2"},
        {"comm.schedule=\"overlap\"", "run.simd=\"auto\"", "run.threads=3"},
        {"comm.chunk=65536", "run.panels=\"rows\"", "run.threads=2"},
        {"comm.chunk=65536", "run.panels=\"64\"", "run.threads=2"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Run got = whole_run(others[i], 3);
        if (memcmp(&got, &want, sizeof got) != 0)
            fail_msg("%s %s %s: other bits than blocking, plain, one thread", others[i][0],
                     others[i][1], others[i][2]);
    }
}

static void resumed_equals_never_stopped(void **state) {
    (void)state;
    Error err = {0};
    EpochRecord record;
    Warnings warnings = {0};
    Run want = whole_run(NULL, 0), got = want;
    for (int stop = 1; stop < 12; stop += 3) {
        const char *dir = test_path("resume");
        if (test_comm.rank == 0)
            file_remove(dir, &err);
        comm_barrier(&test_comm);
        Trainer *t = new_trainer();
        for (int e = 0; e < stop; e++)
            assert_ok(trainer_epoch(t, &record, &err), &err);
        assert_ok(checkpoint_write(t, dir, 2, &err), &err);
        TrainerState before, after;
        trainer_state(t, &before);
        trainer_free(t);
        bool found = false;
        t = new_trainer();
        assert_ok(checkpoint_restore(t, dir, &found, &warnings, &err), &err);
        assert_true(found);
        assert_int_equal(trainer_epochs_done(t), stop);
        trainer_state(t, &after);
        assert_memory_equal(&after.counters, &before.counters, sizeof before.counters);
        train(&got, t);
        trainer_free(t);
        assert_memory_equal(got.parameters, want.parameters, (size_t)want.count * sizeof(float));
        assert_memory_equal(got.loss + stop, want.loss + stop,
                            (size_t)(12 - stop) * sizeof(double));
    }
}

// The same command may learn something else: widths follow links as they are measured.
static void the_last_run_in_a_folder_is_resumed(void **state) {
    (void)state;
    Error err = {0};
    EpochRecord record;
    Warnings warnings = {0};
    Trainer *t[3];
    settle(NULL, 0);
    for (int i = 0; i < 3; i++) { // with one seed, from other weights
        Trainer *other = trainer_new(&config, &world.shard, &test_comm, (uint64_t)(3 + i), &err);
        t[i] = new_trainer();
        memcpy((float *)trainer_parameters(t[i], false), trainer_parameters(other, false),
               (size_t)trainer_shape(other)->parameter_count * sizeof(float));
        trainer_free(other);
    }
    for (int i = 0; i < 2; i++) { // the second one stops earlier
        for (int e = 0; e < 4 - 2 * i; e++) {
            assert_ok(trainer_epoch(t[i], &record, &err), &err);
            if (e % 2 == 1)
                assert_ok(checkpoint_write(t[i], test_path("anew"), 2, &err), &err);
        }
    }
    bool found = false;
    assert_ok(checkpoint_restore(t[2], test_path("anew"), &found, &warnings, &err), &err);
    assert_true(found && trainer_epochs_done(t[2]) == 2);
    assert_memory_equal(trainer_parameters(t[2], false), trainer_parameters(t[1], false),
                        (size_t)trainer_shape(t[1])->parameter_count * sizeof(float));
    for (int i = 0; i < 3; i++)
        trainer_free(t[i]);
}

// The other ranks' machines lack the file, or hold another one.
static void first_weights_are_those_of_rank_0(void **state) {
    (void)state;
    Error err = {0};
    settle(NULL, 0);
    Trainer *other = trainer_new(&config, &world.shard, &test_comm, 4, &err);
    assert_ok(other, &err);
    const char *path = test_path("first.safetensors");
    if (test_comm.rank == 0)
        assert_ok(
            model_write(trainer_shape(other), trainer_parameters(other, false), path, false, &err),
            &err);
    snprintf(config.model.weights, sizeof config.model.weights, "%s%s", path,
             test_comm.rank == 0 ? "" : "-elsewhere");
    Trainer *t = new_trainer();
    assert_ok(trainer_start(t, &err), &err);
    assert_memory_equal(trainer_parameters(t, false), trainer_parameters(other, false),
                        (size_t)trainer_shape(t)->parameter_count * sizeof(float));
    trainer_free(t);
    trainer_free(other);
}

// As if a machine of the last rank had another libm, or a bit had flipped there: in what it
// computes with, or in what it will.
static void disturb(Trainer *t, int tensor) {
    TrainerState state;
    trainer_state(t, &state);
    uint32_t *bits = tensor < 0 ? (uint32_t *)trainer_parameters(t, false)
                                : (uint32_t *)state.tensor[tensor].data;
    if (test_comm.rank == test_comm.size - 1)
        bits[trainer_shape(t)->parameter_count - 1] ^= 1;
}

static void ranks_that_disagree_are_named(void **state) {
    (void)state;
    EpochRecord record;
    char named[64];
    const char *settings[] = {"train.eval_every=2"};
    if (test_comm.size == 1)
        return;
    snprintf(named, sizeof named, "of rank %d of %d are not those of rank 0", test_comm.size - 1,
             test_comm.size);
    settle(settings, 1);
    for (int tensor = -1; tensor < 3; tensor++) { // parameters, moments, best
        Error err = {0}, seen = {0}, saved = {0};
        Trainer *t = new_trainer();
        assert_ok(trainer_epoch(t, &record, &err), &err);
        assert_ok(checkpoint_write(t, test_path("agreed"), 2, &err), &err);
        disturb(t, tensor);
        assert_refused(checkpoint_write(t, test_path("never"), 2, &saved), &saved, EXIT_DISAGREE,
                       named);
        assert_false(file_exists(test_path("never")));
        if (tensor != 2) // the best weights are new after an evaluation
            assert_refused(trainer_epoch(t, &record, &seen), &seen, EXIT_DISAGREE, named);
        trainer_free(t);
    }
}

static void epochs_take_no_memory(void **state) {
    (void)state;
    Error err = {0};
    EpochRecord record;
    settle(NULL, 0);
    Trainer *t = new_trainer();
    int64_t takes = memory_takes();
    while (!trainer_finished(t))
        assert_ok(trainer_epoch(t, &record, &err), &err);
    assert_int_equal(memory_takes(), takes);
    trainer_free(t);
}

// The plan must cover what is taken, and not by more than a tenth (small items are not planned).
static void the_plan_is_what_is_used(void **state) {
    (void)state;
    const char *large[] = {"model.hidden=[200]"};
    settle(large, 1);
    size_t before = memory_in_use();
    Trainer *t = new_trainer();
    double used = (double)(memory_in_use() - before),
           planned = (double)memory_plan_total(trainer_plan(t));
    trainer_free(t);
    assert_int_equal(memory_in_use(), before); // nothing is left behind
    if (planned < 0.95 * used - 20e3 || planned > 1.1 * used + 20e3)
        fail_msg("planned %.0f bytes, used %.0f", planned, used);
}

static void too_much_memory_is_refused(void **state) {
    (void)state;
    Error err = {0};
    const char *tight[] = {"run.memory_limit=0.00001"};
    settle(tight, 1);
    assert_null(trainer_new(&config, &world.shard, &test_comm, 3, &err));
    assert_int_equal(err.code, EXIT_MEMORY);
    // it was refused before the Patterns were made: their making is among what would be needed
    assert_non_null(strstr(err.text, "boundary, cover and requests"));
}

// sgd with a rate of 0 changes nothing, so validation never gets better than the first evaluation.
static void early_stopping_stops(void **state) {
    (void)state;
    const char *settings[] = {"train.optimizer=\"sgd\"", "train.lr=1e-30", "train.eval_every=1",
                              "train.patience=4"};
    Run run = whole_run(settings, 4);
    assert_int_equal(run.epochs, 5);
}

static void divergence_is_named(void **state) {
    (void)state;
    Error err = {0};
    EpochRecord record;
    const char *settings[] = {"train.optimizer=\"sgd\"", "train.lr=1000",
                              "model.post=[\"activation\"]"};
    settle(settings, 3);
    Trainer *t = new_trainer();
    bool ok = true;
    while (ok && !trainer_finished(t))
        ok = trainer_epoch(t, &record, &err);
    assert_false(ok);
    assert_int_equal(err.code, EXIT_DIVERGED);
    trainer_free(t);
}

static size_t planned(const Trainer *t, const char *what) {
    const MemoryPlan *plan = trainer_plan(t);
    for (int i = 0; i < plan->count; i++)
        if (strcmp(plan->item[i].what, what) == 0)
            return plan->item[i].bytes;
    return 0;
}

// Also where a row has one column.
static void sensitivities_are_planned(void **state) {
    (void)state;
    const char *settings[] = {"mode=\"adaqp\"", "model.hidden=[1]"};
    settle(settings, 2);
    Trainer *t = new_trainer();
    int64_t rows = 0; // that are sent
    for (int l = 0; l < trainer_shape(t)->layers; l++)
        for (int d = 0; d < 2; d++)
            if (model_exchanged(trainer_shape(t), l, d) > 0)
                rows += trainer_patterns(t)->of[l][d]->send_offset[test_comm.size - 1];
    assert_int_equal(planned(t, "sensitivities"), rows * (4 + 4 + 1 + 8));
    assert_true((rows > 0) == (test_comm.size > 1));
    trainer_free(t);
}

// Every rank knows the same, and what the ranks did at once is not added up.
static void spans_are_means_over_ranks(void **state) {
    (void)state;
    Error err = {0};
    EpochRecord record;
    settle(NULL, 0);
    Trainer *t = new_trainer();
    for (int e = 0; e < 5; e++) {
        assert_ok(trainer_epoch(t, &record, &err), &err);
        double all[64][SPAN_KINDS], total = 0;
        comm_all_gather(&test_comm, record.spans.seconds, all, sizeof all[0]);
        assert_memory_equal(all[0], all[test_comm.size - 1], sizeof all[0]);
        for (int k = 0; k < SPAN_KINDS; k++)
            total += record.spans.seconds[k];
        assert_true(total > 0 && total <= 1.01 * record.seconds);
    }
    trainer_free(t);
}

static void a_metric_must_be_known(void **state) {
    (void)state;
    Error err = {0};
    const char *settings[] = {"train.metric=\"best\""};
    settle(settings, 1);
    assert_refused(trainer_new(&config, &world.shard, &test_comm, 3, &err) != NULL, &err,
                   EXIT_CONFIG, "train.metric: expected one of accuracy");
}

static void a_loss_must_fit_the_labels(void **state) {
    (void)state;
    static const char *const losses[] = {"train.loss=\"softmax\"", "train.loss=\"bce\""};
    for (int multilabel = 0; multilabel < 2; multilabel++)
        for (int loss = 0; loss < 2; loss++) {
            Error err = {0};
            settle(&losses[loss], 1);
            bool was = world.shard.multilabel;
            world.shard.multilabel = multilabel;
            Trainer *t = trainer_new(&config, &world.shard, &test_comm, 3, &err);
            world.shard.multilabel = was;
            if (loss != multilabel)
                assert_refused(t != NULL, &err, EXIT_CONFIG, "labels; use auto");
            else if (loss == 0)
                assert_ok(t, &err);
            trainer_free(t);
        }
}

// The schedules by their formulas: warm-up to the full rate, half a cosine, steps.
static void rates_follow_their_schedule(void **state) {
    (void)state;
    static const struct {
        const char *settings[4];
        double epoch1, epoch4, epoch12;
    } cases[] = {
        {{"train.lr=0.5", "train.lr_schedule=\"constant\"", "train.warmup=4", "train.clip_norm=1"},
         0.125,
         0.5,
         0.5},
        {{"train.lr=0.5", "train.lr_schedule=\"step\"", "train.lr_step_size=3",
          "train.lr_gamma=0.1"},
         0.5,
         0.05,
         0.0005},
        {{"train.lr=0.5", "train.lr_schedule=\"cosine\"", "train.warmup=0", "train.clip_norm=1"},
         0.5,
         0.25 * (1 + cos(3.14159265358979 * 3 / 12)),
         0.25 * (1 + cos(3.14159265358979 * 11 / 12))},
    };
    for (size_t i = 0; i < 3; i++) {
        Error err = {0};
        EpochRecord record;
        settle(cases[i].settings, 4);
        Trainer *t = new_trainer();
        for (int e = 1; e <= 12; e++) {
            assert_ok(trainer_epoch(t, &record, &err), &err);
            double want = e == 1 ? cases[i].epoch1 : e == 4 ? cases[i].epoch4 : cases[i].epoch12;
            if (e == 1 || e == 4 || e == 12)
                assert_near(record.rate, want, 1e-12);
        }
        trainer_free(t);
    }
}

#define ON_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, drop_world)
static const struct CMUnitTest tests[] = {
    ON_WORLD(bits_do_not_depend_on_how),
    ON_WORLD(resumed_equals_never_stopped),
    ON_WORLD(the_last_run_in_a_folder_is_resumed),
    ON_WORLD(ranks_that_disagree_are_named),
    ON_WORLD(first_weights_are_those_of_rank_0),
    ON_WORLD(epochs_take_no_memory),
    ON_WORLD(the_plan_is_what_is_used),
    ON_WORLD(too_much_memory_is_refused),
    ON_WORLD(early_stopping_stops),
    ON_WORLD(divergence_is_named),
    ON_WORLD(sensitivities_are_planned),
    ON_WORLD(spans_are_means_over_ranks),
    ON_WORLD(a_metric_must_be_known),
    ON_WORLD(a_loss_must_fit_the_labels),
    ON_WORLD(rates_follow_their_schedule),
};
TEST_MAIN(tests)
