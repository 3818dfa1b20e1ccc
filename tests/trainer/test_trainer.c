// ranks: 1 2 4; also on fenced
// If this failed, whole runs would depend on the schedule, on threads or vectors; or ranks that
// do not hold the same would go on; or the epoch loop would take memory, or the predicted memory
// would not be what is used.
#include "runs.h"

WORLD_TEST(bits_do_not_depend_on_how) {
    Run want = whole_run(SETTINGS("comm.schedule=\"blocking\"", "run.simd=\"plain\""));
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

WORLD_TEST(ranks_that_disagree_are_named) {
    if (test_comm.size == 1)
        return;
    const char *named =
        test_text("of rank %d of %d are not those of rank 0", test_comm.size - 1, test_comm.size);
    settle(SETTINGS("train.eval_every=2"));
    for (int flat = 0; flat < 4; flat++) { // parameters, moments, best
        OWNED(Trainer) *t = new_trainer();
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
        assert_ok(trainer_replicas_agree(t, &err));
        disturb(t, flat);
        assert_refused(trainer_replicas_agree(t, &err), EXIT_MISMATCH, named);
        if (flat != 3) // the best weights are new after an evaluation
            assert_refused(trainer_epoch(t, &(EpochRecord){0}, &err), EXIT_MISMATCH, named);
    }
}

WORLD_TEST(epochs_take_no_memory) {
    OWNED(Trainer) *t = trainer_with(NULL, 0);
    int64_t takes = memory_allocs();
    while (!trainer_finished(t))
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    assert_int_equal(memory_allocs(), takes);
}

// The plan must cover what is taken, and not by more than a tenth (small items are not planned).
WORLD_TEST(the_plan_is_what_is_used) {
    settle(SETTINGS("model.hidden=[200]"));
    size_t before = memory_in_use();
    Trainer *t = new_trainer();
    double used = (double)(memory_in_use() - before),
           planned = (double)forecast_total(trainer_forecast(t));
    trainer_free(t);
    assert_int_equal(memory_in_use(), before); // nothing is left behind
    if (planned < 0.95 * used - 20e3 || planned > 1.1 * used + 20e3)
        fail_msg("planned %.0f bytes, used %.0f", planned, used);
}

WORLD_TEST(too_much_memory_is_refused) {
    settle(SETTINGS("run.memory_limit=0.00001"));
    // it is refused before the Patterns are made: their making is among what would be needed
    assert_refused(trainer_new(&config, &graph.shard, &test_comm, 3, NULL, &err), EXIT_MEMORY,
                   "boundary, cover and requests");
}

// sgd with a rate of 0 changes nothing, so validation never gets better than the first evaluation.
WORLD_TEST(early_stopping_stops) {
    Run run = whole_run(SETTINGS("train.optimizer=\"sgd\"", "train.lr=1e-30", "train.eval_every=1",
                                 "train.patience=4"));
    assert_int_equal(run.epochs, 5);
}

WORLD_TEST(divergence_is_named) {
    Error err = {0};
    OWNED(Trainer) *t =
        TRAINER("train.optimizer=\"sgd\"", "train.lr=1000", "model.post=[\"activation\"]");
    bool ok = true;
    while (ok && !trainer_finished(t))
        ok = trainer_epoch(t, &(EpochRecord){0}, &err);
    assert_false(ok);
    assert_int_equal(err.code, EXIT_DIVERGED);
}

static size_t planned(const Trainer *t, const char *what) {
    const MemoryForecast *forecast = trainer_forecast(t);
    for (int i = 0; i < forecast->count; i++)
        if (strcmp(forecast->item[i].what, what) == 0)
            return forecast->item[i].bytes;
    return 0;
}

// Also where a row has one column.
WORLD_TEST(sensitivities_are_planned) {
    OWNED(Trainer) *t = TRAINER("mode=\"adaqp\"", "model.hidden=[1]");
    int64_t rows = 0; // that are sent
    for (int l = 0; l < t->shape.layers; l++)
        for (int d = 0; d < 2; d++)
            if (model_exchanged(&t->shape, l, d) > 0)
                rows += t->patterns.of[l][d]->plan.send_offset[test_comm.size - 1];
    assert_int_equal(planned(t, "sensitivities"), rows * (4 + 4 + 8));
    assert_true((rows > 0) == (test_comm.size > 1));
}

// Every rank knows the same, and what the ranks did at once is not added up.
WORLD_TEST(spans_are_means_over_ranks) {
    EpochRecord record;
    OWNED(Trainer) *t = trainer_with(NULL, 0);
    for (int e = 0; e < 5; e++) {
        assert_ok(trainer_epoch(t, &record, &err));
        double all[64][TIMER_KINDS], total = 0;
        comm_all_gather(&test_comm, record.timers.seconds, all, sizeof all[0]);
        assert_memory_equal(all[0], all[test_comm.size - 1], sizeof all[0]);
        for (int k = 0; k < TIMER_KINDS; k++)
            total += record.timers.seconds[k];
        // where operations run late, the host waits while a stream works: both are timed
        assert_true(total > 0 && (total <= 1.01 * record.seconds || !device()->host_is_device));
    }
}

WORLD_TEST(a_metric_must_be_known) {
    settle(SETTINGS("train.metric=\"best\""));
    assert_refused(trainer_new(&config, &graph.shard, &test_comm, 3, NULL, &err) != NULL,
                   EXIT_CONFIG, "train.metric: expected one of accuracy");
}

WORLD_TEST(a_loss_must_fit_the_labels) {
    static const struct {
        const char *loss, *refused[2]; // where nodes have one label, and where they have several
    } cases[] = {
        {"train.loss=softmax", {NULL, "'softmax' does not fit multi-label labels; use auto"}},
        {"train.loss=bce", {"'bce' does not fit single-label labels; use auto", NULL}},
        {"train.loss=hinge", {NULL, NULL}},
        {"train.loss=mse",
         {"use auto, or data.labels_are=numbers to predict", "'mse' does not fit multi-label"}},
    };
    for (int several = 0; several < 2; several++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            Error err = {0};
            settle(&cases[i].loss, 1);
            bool was = graph.shard.multilabel;
            if (several && cases[i].refused[1] == NULL)
                continue; // the graph has no such labels
            graph.shard.multilabel = several;
            OWNED(Trainer) *t = trainer_new(&config, &graph.shard, &test_comm, 3, NULL, &err);
            graph.shard.multilabel = was;
            assert_true((t == NULL) == (cases[i].refused[several] != NULL));
            if (t == NULL)
                assert_error(&err, EXIT_CONFIG, cases[i].refused[several]);
        }
}

// The schedules by their formulas: warm-up to the full rate, half a cosine, steps, each epoch.
WORLD_TEST(rates_follow_their_schedule) {
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
        {{"train.lr=0.5", "train.lr_schedule=\"exponential\"", "train.lr_gamma=0.5",
          "train.clip_norm=1"},
         0.5,
         0.5 / 8,
         0.5 / 2048},
        {{"train.lr=0.5", "train.lr_schedule=\"inverse\"", "train.lr_step_size=3",
          "train.clip_norm=1"},
         0.5,
         0.25,
         0.5 * 3 / 14},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EpochRecord record;
        OWNED(Trainer) *t = trainer_with(cases[i].settings, 4);
        for (int e = 1; e <= 12; e++) {
            assert_ok(trainer_epoch(t, &record, &err));
            double want = e == 1 ? cases[i].epoch1 : e == 4 ? cases[i].epoch4 : cases[i].epoch12;
            if (e == 1 || e == 4 || e == 12)
                assert_near(record.rate, want, 1e-12);
        }
    }
}

// By torch's ReduceLROnPlateau(mode="max", factor=0.5, patience=2, threshold=0): a score that is no
// number is none, one that is equal is not better, and no rate changes by 1e-8 or less.
WORLD_TEST(a_plateau_halves_the_rate) {
    static const double scores[] = {0.5, 0.6, 0.6, 0.6, 0.6, 0.7, NAN, 0.7, 0.69, 0.8, 0.1, 0.1};
    static const double factors[] = {1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25};
    for (int small = 0; small < 2; small++) {
        OWNED(Trainer) *t = TRAINER("train.lr_schedule=plateau", "train.lr_patience=2",
                                    "train.lr_gamma=0.5", small ? "train.lr=1.5e-8" : "train.lr=1");
        for (int i = 0; i < 12; i++) {
            plateau_after(t, scores[i]);
            assert_near(rate_of(t, i + 2), small ? 1.5e-8 : factors[i], 0);
        }
    }
}

WORLD_TEST(a_plateau_needs_evaluations) {
    OWNED(Trainer) *t = TRAINER("train.lr_schedule=plateau", "train.eval_every=0");
    assert_refused(trainer_may_train(t, &err), EXIT_CONFIG, "set train.eval_every");
}

// Statistics of a norm of columns are made anew, by one pass: an epoch of rate 0 from the mean
// takes a tenth of those of all rows.
WORLD_TEST(the_mean_is_of_the_last_evaluations) {
    EpochRecord record;
    Metrics again[4];
    static float sum[4096];
    const char *settings[] = {"train.average=2",       "model.norm=batch", "model.dropout=0",
                              "model.input_dropout=0", "train.lr=0.05",    "train.epochs=13"};
    memset(sum, 0, sizeof sum);
    Run plain = whole_run(settings + 1, 5);
    OWNED(Trainer) *t = trainer_with(settings, 6);
    int64_t count = t->shape.parameter_count;
    while (!trainer_finished(t)) { // evaluated after epochs 3, 6, 9, 12 and 13
        assert_ok(trainer_epoch(t, &record, &err));
        assert_true((record.average != NULL) == record.evaluated);
        for (int64_t k = 0; k < count && record.epoch >= 12; k++)
            sum[k] += trainer_parameters(t, false)[k] / 2;
    }
    assert_memory_equal(trainer_parameters(t, false), plain.parameters,
                        (size_t)count * sizeof(float)); // training knows nothing of it
    for (int64_t k = 0; k < count; k++)
        assert_near(t->average.mean[k], sum[k], 1e-6 /* a sum of floats */);
    memcpy(sum, t->average.mean, (size_t)t->shape.state_count * sizeof(float));
    settings[4] = "train.lr=0";
    OWNED(Trainer) *other = trainer_with(settings + 1, 5);
    trainer_download(other);
    memcpy(other->parameters, sum, (size_t)t->shape.state_count * sizeof(float));
    trainer_upload(other);
    trainer_evaluate(other, false, again);
    assert_memory_equal(again, t->now.average_metrics, sizeof again);
    assert_ok(trainer_epoch(other, &record, &err));
    for (int l = 0; l + 1 < t->shape.layers; l++)
        for (int64_t c = 0; c < 2 * t->shape.width[l + 1]; c++) {
            int64_t at = t->shape.statistics[l] + c;
            float made = trainer_parameters(other, false)[at];
            assert_near(made, sum[at], 1e-5 * (1 + fabs((double)sum[at])));
        }
}

// Of one epoch, by its trace: what a norm of columns costs is a sum over ranks for each layer that
// it follows and each direction. Blocking, so that sums of weight gradients come after all layers.
WORLD_TEST(columns_are_summed_once) {
    int sums[2][MODEL_LAYERS] = {0};
    OWNED(Trainer) *t = TRAINER("model.norm=batch", "comm.schedule=blocking", "run.trace=[2,2]");
    for (int e = 0; e < 4; e++)
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    for (int64_t i = 0; i < t->trace.count; i++) {
        const TraceEvent *event = &t->trace.event[i];
        assert_int_equal(event->epoch, 2);
        if (event->kind == TRACE_SPAN && event->span == TIMER_REDUCE && event->layer >= 0)
            sums[event->direction][event->layer]++;
    }
    for (int l = 0; l < MODEL_LAYERS; l++)
        for (int d = 0; d < 2; d++)
            assert_int_equal(sums[d][l], l + 1 < t->shape.layers);
}
