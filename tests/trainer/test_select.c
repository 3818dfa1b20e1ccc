// ranks: 1 2
// If this failed, the best weights would be chosen by another split or figure than validation's,
// early stopping would stop at another evaluation than asked, or scores would be of other weights.
#include "fixture.h"

#include "../scores.h"

enum { EPOCHS = 60, PARAMETERS = 4096 };

// Labels by chance, so that what is learned helps the splits at different epochs.
static void make_graph(int (*split)(int64_t node), bool multilabel) {
    use_graph(USUAL(.multilabel = multilabel, .split = split), 8);
}

static Trainer *trainer_with(const char *const *more, int count) {
    const char *settings[16] = {"model.layers=2", "model.hidden=[20]", "train.epochs=60",
                                "train.eval_every=1", "run.threads=1"};
    memcpy(settings + 5, more, (size_t)count * sizeof *more);
    assert_ok(config_load(&config, NULL, settings, 5 + count, &err));
    return new_trainer();
}

// What every epoch's evaluation said, and the weights that it was of.
typedef struct History {
    int64_t epochs;
    bool evaluated[EPOCHS], best[EPOCHS];
    Metrics metrics[EPOCHS][4];
    float parameters[EPOCHS][PARAMETERS];
} History;
static History history;

static void train(Trainer *t) {
    EpochRecord record;
    size_t bytes = (size_t)t->shape.parameter_count * sizeof(float);
    assert_true(t->shape.parameter_count <= PARAMETERS);
    memset(&history, 0, sizeof history);
    while (!trainer_finished(t)) {
        assert_ok(trainer_epoch(t, &record, &err));
        int64_t e = history.epochs++;
        history.evaluated[e] = record.evaluated;
        history.best[e] = record.best;
        memcpy(history.metrics[e], record.metrics, sizeof record.metrics);
        memcpy(history.parameters[e], t->parameters, bytes);
    }
}

static double accuracy(const Metrics *m) { return score_in(m, "accuracy"); }
static double micro_f1(const Metrics *m) { return score_in(m, "micro_f1"); }
static double macro_f1(const Metrics *m) { return score_in(m, "macro_f1"); }

static double minus_loss(const Metrics *m) { return -score_in(m, "loss"); }

// The first of the epochs with the largest figure, from 1.
static int64_t best_of(int split, double (*figure)(const Metrics *)) {
    int64_t best = -1;
    for (int64_t e = 0; e < history.epochs; e++)
        if (history.evaluated[e] && (best < 0 || figure(&history.metrics[e][split]) >
                                                     figure(&history.metrics[best][split])))
            best = e;
    return best + 1;
}

static void assert_best_is(Trainer *t, int64_t epoch, const char *what) {
    TrainerCounters counters = trainer_counters(t);
    Metrics metrics[4];
    if (counters.best_epoch != epoch)
        fail_msg("%s: the best epoch is %lld, should be %lld", what, (long long)counters.best_epoch,
                 (long long)epoch);
    assert_memory_equal(trainer_parameters(t, true), history.parameters[epoch - 1],
                        (size_t)t->shape.parameter_count * sizeof(float));
    assert_memory_equal(trainer_parameters(t, false), history.parameters[history.epochs - 1],
                        (size_t)t->shape.parameter_count * sizeof(float));
    assert_memory_equal(counters.best_metrics, history.metrics[epoch - 1],
                        sizeof counters.best_metrics);
    trainer_evaluate(t, true, metrics); // and they are what gives these figures
    for (int split = SPLIT_TRAIN; split <= SPLIT_TEST; split++)
        assert_near(micro_f1(&metrics[split]), micro_f1(&history.metrics[epoch - 1][split]), 0);
    trainer_evaluate(t, false, metrics);
    assert_near(score_in(&metrics[SPLIT_TRAIN], "loss"),
                score_in(&history.metrics[history.epochs - 1][SPLIT_TRAIN], "loss"), 0);
}

TEST(validation_selects) {
    static const struct {
        const char *setting;
        bool multilabel;
        double (*figure)(const Metrics *);
    } cases[] = {
        {"train.metric=auto", false, accuracy},     {"train.metric=accuracy", false, accuracy},
        {"train.metric=macro-f1", false, macro_f1}, {"train.metric=auto", true, micro_f1},
        {"train.metric=accuracy", true, accuracy},  {"train.metric=micro-f1", true, micro_f1},
        {"train.metric=macro-f1", true, macro_f1},  {NULL, false, minus_loss},
    };
    int telling = 0; // cases in which another choice would be another epoch
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_graph(NULL, cases[i].multilabel);
        const char *setting = cases[i].setting;
        OWNED(Trainer) *t =
            TRAINER(setting != NULL ? setting : "train.metric=auto", "train.lr=0.03");
        if (setting == NULL) // a score that is better where it is lower
            t->judge = score_find("loss");
        train(t);
        int64_t best = best_of(SPLIT_VAL, cases[i].figure);
        assert_int_equal(history.epochs, EPOCHS);
        telling += best != best_of(SPLIT_TEST, cases[i].figure) &&
                   best != best_of(SPLIT_TRAIN, cases[i].figure) && best != EPOCHS;
        assert_best_is(t, best, setting != NULL ? setting : "loss");
        double most = -INFINITY;
        for (int e = 0; e < EPOCHS; e++) {
            double score = cases[i].figure(&history.metrics[e][SPLIT_VAL]);
            assert_int_equal(history.best[e], score > most);
            most = fmax(most, score);
        }
    }
    assert_true(telling >= 4);
}

TEST(evaluations_come_when_due) {
    static const char *const every[] = {"train.eval_every=7", "train.eval_every=0",
                                        "train.eval_every=100"};
    make_graph(NULL, false);
    for (int i = 0; i < 3; i++) {
        OWNED(Trainer) *t = TRAINER(every[i]);
        train(t);
        for (int e = 1; e <= EPOCHS; e++)
            assert_int_equal(history.evaluated[e - 1], e == EPOCHS || (i == 0 && e % 7 == 0));
    }
}

// Stops after so many evaluations in a row that are not better; as many epochs as the run without
// it says. It is told, unless the last epoch was reached anyhow.
TEST(patience_counts_evaluations) {
    make_graph(NULL, false);
    for (int every = 1; every <= 4; every += 3)
        for (int patience = 1; patience <= 9; patience++) {
            const char *eval_every = test_text("train.eval_every=%d", every);
            const char *text = test_text("train.patience=%d", patience);
            OWNED(Trainer) *t = TRAINER("train.lr=0.02", eval_every);
            train(t);
            assert_int_equal(trainer_stopped_early(t), 0);
            int64_t stale = 0, stop = EPOCHS;
            for (int64_t e = 1; e <= EPOCHS && stop == EPOCHS; e++) {
                stale = !history.evaluated[e - 1] ? stale : history.best[e - 1] ? 0 : stale + 1;
                stop = stale >= patience ? e : stop;
            }
            trainer_free(t);
            t = TRAINER("train.lr=0.02", eval_every, text);
            train(t);
            assert_int_equal(history.epochs, stop);
            assert_int_equal(trainer_stopped_early(t), stop < EPOCHS ? patience : 0);
            assert_true(patience > 1 || stop < EPOCHS);
            TrainerCounters of = trainer_counters(t); // whoever goes on from here has stopped, too
            OWNED(Trainer) *again = new_trainer();
            trainer_set_counters(again, &of);
            assert_true(trainer_finished(again));
            trainer_free(t);
            t = TRAINER("train.lr=0.02", eval_every, text, test_text("train.epochs=%d", (int)stop));
            train(t);
            assert_int_equal(trainer_stopped_early(t), 0);
        }
}

static int no_validation(int64_t node) { return node % 2 == 0 ? SPLIT_TRAIN : SPLIT_TEST; }

static void assert_patience_refused(int (*split)(int64_t node), const char *patience,
                                    const char *every, const char *sentence) {
    make_graph(split, false);
    OWNED(Trainer) *t = TRAINER(patience, every);
    if (sentence != NULL)
        assert_refused(trainer_may_train(t, &err), EXIT_CONFIG, sentence);
    else
        assert_ok(trainer_may_train(t, &err));
}

TEST(patience_needs_evaluations) {
    static const char *const one = "train.patience=1", *const none = "train.patience=0",
                             *const never = "train.eval_every=0",
                             *const each = "train.eval_every=1";
    assert_patience_refused(no_validation, one, each, "no validation nodes");
    assert_patience_refused(NULL, one, never, "it counts evaluations");
    assert_patience_refused(NULL, "train.patience=5", never, "train.eval_every");
    assert_patience_refused(NULL, none, never, NULL);
    assert_patience_refused(NULL, "train.patience=5", each, NULL);
    make_graph(no_validation, false);
    OWNED(Trainer) *t = TRAINER(none); // selects nothing, and evaluates all the same
    assert_ok(trainer_may_train(t, &err));
    train(t);
    TrainerCounters of = trainer_counters(t);
    assert_int_equal(history.epochs, EPOCHS);
    assert_int_equal(of.best_epoch, 0);
    assert_int_equal(of.last_metrics[SPLIT_VAL].rows, 0);
    assert_int_equal(of.last_metrics[SPLIT_TEST].rows, 75);
    assert_ptr_equal(trainer_parameters(t, true), t->parameters); // the best that there are
}

// The figures of the last weights are theirs, also where no epoch was due or a checkpoint came in
// between; and whoever asks for them changes nothing else.
TEST(last_figures_are_of_the_last_weights) {
    make_graph(NULL, false);
    OWNED(Trainer) *t = TRAINER("train.eval_every=4");
    TrainerCounters of, after;
    for (int e = 0; e <= 10; e++) {
        Metrics want[4];
        of = trainer_counters(t);
        if (e == 8) // as if these were the figures and weights of a checkpoint
            trainer_set_counters(t, &of);
        trainer_evaluate_last(t);
        after = trainer_counters(t);
        trainer_evaluate(t, false, want);
        assert_memory_equal(after.last_metrics, want, sizeof want);
        assert_true(want[SPLIT_VAL].rows > 0);
        memcpy(after.last_metrics, of.last_metrics, sizeof want);
        assert_memory_equal(&after, &of, sizeof of);
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    }
}
