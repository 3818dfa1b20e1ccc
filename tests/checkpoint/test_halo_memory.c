// ranks: 2 3; also on fenced
// If this failed, a training that remembers halo rows would not go on after a resume as if it had
// never stopped, let ranks part, or not use what it remembers.
#include "exchange/channel.h"
#include "resumes.h"

enum { STOP = 5 };

// Widths are drawn anew before epoch 7; the anchor is resumed between two refreshes, `auto` in a
// trial.
static const char *const common[] = {"quantization.codec=integer",
                                     "quantization.assign=random",
                                     "quantization.bits=[2, 4]",
                                     "quantization.period=6",
                                     "quantization.initial_bits=2",
                                     "quantization.refresh=4",
                                     "model.dropout=0",
                                     "model.input_dropout=0",
                                     "lossless.input_features=exchange"};
enum { COMMON = sizeof common / sizeof *common };

static const char *const memories[] = {"none", "difference", "ef21", "anchor", "feedback", "auto"};
enum { MEMORIES = sizeof memories / sizeof *memories };

static void settle_memory(const char *memory) {
    const char *settings[COMMON + 1] = {test_text("quantization.memory=%s", memory)};
    memcpy(settings + 1, common, sizeof common);
    settle(settings, COMMON + 1);
}

static Run run_with(const char *memory) {
    static Run run;
    memset(&run, 0, sizeof run);
    settle_memory(memory);
    OWNED(Trainer) *t = new_trainer();
    train(&run, t);
    assert_ok(trainer_replicas_agree(t, &err));
    return run;
}

WORLD_TEST(every_memory_is_a_training_of_its_own) {
    static Run run[MEMORIES];
    for (int i = 0; i < MEMORIES; i++) {
        run[i] = run_with(memories[i]);
        for (int j = 0; j < i; j++)
            if (same_weights(&run[i], &run[j]))
                fail_msg("%s trains as %s", memories[i], memories[j]);
    }
}

WORLD_TEST(resumed_equals_never_stopped) {
    for (int i = 1; i < MEMORIES; i++) {
        Run want = run_with(memories[i]);
        assert_goes_on_as(&want, memories[i], STOP, NULL);
    }
}

// ---- auto

// After the first period: whether each exchange sends its rows as they are.
static ExchangeSet direct_ones(const char *const *more, int count) {
    ExchangeSet direct = 0;
    const char *settings[16] = {"quantization.memory=auto",
                                "quantization.codec=integer",
                                "quantization.assign=uniform",
                                "quantization.period=8",
                                "lossless.input_features=exchange",
                                "train.lr=0",
                                "model.input_dropout=0"};
    memcpy(settings + 7, more, (size_t)count * sizeof *more);
    settle(settings, 7 + count);
    OWNED(Trainer) *t = new_trainer();
    for (int e = 0; e < 8; e++)
        assert_ok(trainer_epoch(t, &(EpochRecord){0}, &err));
    for (int i = 0; i < 2 * t->shape.layers; i++) {
        ExchangeId id = {i / 2, i % 2};
        const Channel *channel = model_channel(t->model, id);
        if (channel != NULL && channel->direct)
            direct |= exchange_set_of(id);
    }
    return direct;
}

// The learning rate is 0, so rows change by dropout alone.
WORLD_TEST(differences_go_where_they_are_smaller) {
    const ExchangeId input = {0, FORWARD}, hidden = {1, FORWARD};
    assert_int_equal(direct_ones(SETTINGS("model.dropout=0", "quantization.initial_bits=2")), 0);
    assert_int_equal(direct_ones(SETTINGS("model.dropout=0", "quantization.initial_bits=8")), 0);
    ExchangeSet direct = direct_ones(SETTINGS("model.dropout=0.5", "quantization.initial_bits=4"));
    assert_true((direct & exchange_set_of(hidden)) != 0);
    assert_true((direct & exchange_set_of(input)) == 0); // in front of all dropout
}
