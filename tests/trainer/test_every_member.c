// ranks: 1 2
// If this failed, some optimizer of the table would not go down the gradient, some schedule of
// rates would raise, turn or lose the rate, or some metric would not prefer the better weights.
// What is asked here must hold for every member; tests that know one stand in files of their own.
#include "runs.h"

// The first step from given weights: its product with the gradient, and how many stand still though
// their gradient is not 0.
static double first_step(Trainer *t, int64_t *still) {
    static float before[4096];
    double product = 0;
    int64_t count = t->shape.parameter_count;
    assert_true(count <= 4096);
    memcpy(before, trainer_parameters(t, false), (size_t)count * sizeof *before);
    assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    *still = 0;
    for (int64_t k = 0; k < count; k++) {
        double step = (double)t->parameters[k] - (double)before[k];
        product += step * (double)t->gradient[k];
        *still += step == 0 && fabs((double)t->gradient[k]) > 1e-4;
        assert_true(isfinite(step));
    }
    return product;
}

WORLD_TEST(every_optimizer_goes_down) {
    for (int i = 0; i < optimizer_family.count; i++) {
        static Run run;
        int64_t still;
        const char *word = family_word(&optimizer_family, i);
        OWNED(Trainer) *t = TRAINER(test_text("train.optimizer=%s", word), "train.lr=0.02",
                                    "train.weight_decay=[0]");
        if (first_step(t, &still) >= 0 || still > 0)
            fail_msg("%s: %lld weights with a gradient stand still, or the step goes up", word,
                     (long long)still);
        train(&run, t);
        if (!(run.loss[run.epochs - 1] < run.loss[1]))
            fail_msg("%s: the loss goes from %g to %g", word, run.loss[1],
                     run.loss[run.epochs - 1]);
    }
}

// The rate starts at train.lr, never grows, and stays positive while there are epochs.
WORLD_TEST(every_rate_schedule_ends_below_its_start) {
    for (int i = 0; i < rate_schedule_family.count; i++) {
        const char *word = family_word(&rate_schedule_family, i);
        OWNED(Trainer) *t = TRAINER(test_text("train.lr_schedule=%s", word), "train.lr=0.25",
                                    "train.weight_decay=[0]");
        double before = rate_of(t, 1);
        assert_near(before, 0.25, 0);
        for (int64_t epoch = 2; epoch <= config.train.epochs; epoch++) {
            double rate = rate_of(t, epoch);
            if (!(rate <= before && rate > 0))
                fail_msg("%s: the rate of epoch %lld is %g, before %g", word, (long long)epoch,
                         rate, before);
            before = rate;
        }
    }
}

static double number_of(int64_t node, int64_t column) { return (double)(node % 5 + column); }

// What row r says in column c where it is right, else something else.
static float said(const Shard *shard, int64_t r, int64_t c, bool is_right) {
    if (shard->numeric)
        return shard->numbers[r * shard->classes + c] + (is_right ? 0.0f : 3.0f);
    return c == (shard->label[r] + !is_right) % shard->classes;
}

// Of the validation split, where rows of even ids or all of them say their label: right 1, 2; 0:
// none.
static double score_of_guess(const Score *score, int right) {
    Metrics metrics[4];
    const char *named = test_text("train.metric=%s", score->name);
    settle(SETTINGS(named));
    OWNED(Trainer) *t = new_trainer();
    const Shard *shard = &graph.shard;
    Rows logits = rows_alloc(t->backend, shard->set[NODES].own, shard->classes, "test");
    for (int64_t r = 0; r < logits.count; r++)
        for (int64_t c = 0; c < shard->classes; c++) {
            bool says = right == 2 || (right == 1 && shard->set[NODES].gid[r] % 2 == 0);
            floats(logits)[r * logits.stride + c] = said(shard, r, c, says);
        }
    model_metrics(t->model, logits, metrics);
    rows_free(t->backend, &logits);
    return metrics_value(&metrics[SPLIT_VAL], score);
}

// The world has classes; scores of numbers get another one.
static void give_labels(const Score *score) {
    bool numbers = strcmp(score->tasks, "mse") == 0;
    if (numbers == graph.shard.numeric)
        return;
    use_graph(USUAL(.number = numbers ? number_of : NULL), 8);
}

// Logits of which none, half and all say the label: 0, something between, 1 where the score is a
// share; and the loss says the opposite.
WORLD_TEST(every_metric_prefers_the_better_weights) {
    for (int i = 0; i < score_family.count; i++) {
        const Score *score = family_member(&score_family, i);
        double value[3];
        give_labels(score);
        for (int right = 0; right < 3; right++)
            value[right] = score_of_guess(score, right);
        if (!score_better(score, value[1], value[0]) || !score_better(score, value[2], value[1]) ||
            score_better(score, value[1], value[1]) || score_better(score, NAN, value[0]) ||
            (score->percent && (value[0] < 0 || value[2] > 1)))
            fail_msg("%s: %g, %g, %g", score->name, value[0], value[1], value[2]);
    }
}
