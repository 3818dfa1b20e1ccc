// ranks: 1 2
// If this failed, some optimizer of the table would not go down the gradient, some schedule of
// rates would raise, turn or lose the rate, or some metric would not prefer the better weights.
// What is asked here must hold for every member; tests that know one stand in files of their own.
#include "runs.h"

#include <math.h>

static Trainer *trainer_with(const char *key, const char *word, const char *rate) {
    char setting[128];
    snprintf(setting, sizeof setting, "%s=%s", key, word);
    settle((const char *const[]){setting, rate, "train.weight_decay=[0]"}, 3);
    return new_trainer();
}

// The first step from given weights: its product with the gradient, and how many stand still though
// their gradient is not 0.
static double first_step(Trainer *t, int64_t *still) {
    static float before[4096];
    Error err = {0};
    EpochRecord record;
    double product = 0;
    int64_t count = t->shape.parameter_count;
    assert_true(count <= 4096);
    memcpy(before, trainer_parameters(t, false), (size_t)count * sizeof *before);
    assert_ok(trainer_epoch(t, &record, &err), &err);
    *still = 0;
    for (int64_t k = 0; k < count; k++) {
        double step = (double)t->parameters[k] - (double)before[k];
        product += step * (double)t->gradient[k];
        *still += step == 0 && fabs((double)t->gradient[k]) > 1e-4;
        assert_true(isfinite(step));
    }
    return product;
}

static void every_optimizer_goes_down(void **state) {
    (void)state;
    for (int i = 0; i < optimizer_family.count; i++) {
        static Run run;
        int64_t still;
        const char *word = family_word(&optimizer_family, i);
        Trainer *t = trainer_with("train.optimizer", word, "train.lr=0.02");
        if (first_step(t, &still) >= 0 || still > 0)
            fail_msg("%s: %lld weights with a gradient stand still, or the step goes up", word,
                     (long long)still);
        train(&run, t);
        if (!(run.loss[run.epochs - 1] < run.loss[1]))
            fail_msg("%s: the loss goes from %g to %g", word, run.loss[1],
                     run.loss[run.epochs - 1]);
        trainer_free(t);
    }
}

// The rate starts at train.lr, never grows, and stays positive while there are epochs.
static void every_rate_schedule_ends_below_its_start(void **state) {
    (void)state;
    for (int i = 0; i < rate_schedule_family.count; i++) {
        const char *word = family_word(&rate_schedule_family, i);
        Trainer *t = trainer_with("train.lr_schedule", word, "train.lr=0.25");
        double before = rate_of(t, 1);
        assert_near(before, 0.25, 0);
        for (int64_t epoch = 2; epoch <= config.train.epochs; epoch++) {
            double rate = rate_of(t, epoch);
            if (!(rate <= before && rate > 0))
                fail_msg("%s: the rate of epoch %lld is %g, before %g", word, (long long)epoch,
                         rate, before);
            before = rate;
        }
        trainer_free(t);
    }
}

// Nothing right, half of it, all of it: 0, something between, 1; and a loss that says the opposite.
static void every_metric_prefers_the_better_weights(void **state) {
    (void)state;
    const Metrics metrics[3] = {
        {.rows = 10, .loss = 0},
        {.rows = 10, .loss = 1, .accuracy = 0.5, .micro_f1 = 0.5, .macro_f1 = 0.5},
        {.rows = 10, .loss = 2, .accuracy = 1, .micro_f1 = 1, .macro_f1 = 1}};
    for (int i = 0; i < metric_family.count; i++) {
        const char *word = family_word(&metric_family, i);
        char setting[128];
        snprintf(setting, sizeof setting, "train.metric=%s", word);
        settle((const char *const[]){setting}, 1);
        double worst = metric_score(&config, false, &metrics[0]),
               middle = metric_score(&config, false, &metrics[1]),
               best = metric_score(&config, false, &metrics[2]);
        if (!(worst == 0 && middle > 0 && middle < 1 && best == 1))
            fail_msg("%s: %g, %g, %g", word, worst, middle, best);
    }
}

static const struct CMUnitTest tests[] = {
    ON_WORLD(every_optimizer_goes_down),
    ON_WORLD(every_rate_schedule_ends_below_its_start),
    ON_WORLD(every_metric_prefers_the_better_weights),
};
TEST_MAIN(tests)
