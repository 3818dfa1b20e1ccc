// Which exchanges of training are in full precision: the table of rules, their common life, and the
// state of a checkpoint. The exchanges of an epoch are settled before it, on all ranks alike.

#include "choice.h"

// ---- the rules

static ExchangeSet none(UNUSED Chooser *chooser, UNUSED int64_t epoch) { return 0; }

// After the last epoch of that run, the exchanges stay as they were in it.
static ExchangeSet replay_before(Chooser *c, int64_t epoch) {
    assert(c->replay != NULL);
    int64_t i = epoch <= c->replay->epochs ? epoch - 1 : c->replay->epochs - 1;
    return i >= 0 ? c->replay->full_precision[i] : 0;
}

static const ChoiceRule rules[] = {
    {.name = "all", .before = none},
    {.name = "measured", .before = trials_before, .after = trials_after},
    {.name = "replay:RUN", .before = replay_before},
};
const Family choice_family = FAMILY("quantization.exchanges", NULL, rules);

// ---- the life of the object

bool chooser_new(Chooser **out, const Config *config, const Comm *comm, const Replay *replay,
                 const AssignedChannel *channels, int count, Error *err) {
    const ChoiceRule *rule = family_find(&choice_family, config->quantization.exchanges, NULL, err);
    if (!comm_agree(comm, err))
        return false;
    if (rule->before == none)
        return true;
    Chooser *c = *out = ALLOC(Chooser, 1, "choice of codecs");
    *c = (Chooser){.config = config, .comm = comm, .rule = rule, .count = count, .replay = replay};
    for (int i = 0; i < count; i++)
        c->candidate[i] = (Candidate){.id = channels[i].id, .channel = channels[i].channel};
    return true;
}

void chooser_free(Chooser *chooser) { memory_free(chooser); }

ExchangeSet chooser_before(Chooser *chooser, int64_t epoch) {
    ExchangeSet set = chooser->rule->before(chooser, epoch);
    for (int i = 0; i < chooser->count; i++)
        channel_set_full_precision(chooser->candidate[i].channel,
                                   set & exchange_set_of(chooser->candidate[i].id));
    return set;
}

const CodecChoice *chooser_choice(const Chooser *chooser) {
    return chooser->choice.epoch > 0 ? &chooser->choice : NULL;
}

const CodecChoice *chooser_after(Chooser *chooser, int64_t epoch) {
    bool had = chooser->choice.epoch > 0;
    if (chooser->rule->after != NULL)
        chooser->rule->after(chooser, epoch);
    return had ? NULL : chooser_choice(chooser);
}

// ---- the section of checkpoints: the epoch of the choice, and what the trials measured

enum { COUNTS = 3, SECONDS = 2 * CHOICE_TURNS + 1 };
typedef struct Saved {
    int64_t count[1 + COUNTS * ASSIGNED_CHANNELS];
    double seconds[SECONDS * ASSIGNED_CHANNELS];
} Saved;

// From the object to a Saved (`store`), or back.
static void copy_all(Chooser *chooser, Saved *saved, bool store) {
    state_copy(saved->count, &chooser->choice.epoch, sizeof *saved->count, store);
    for (int i = 0; i < chooser->count; i++) {
        Candidate *c = &chooser->candidate[i];
        int64_t *count = saved->count + 1 + COUNTS * i;
        double *seconds = saved->seconds + SECONDS * i;
        state_copy(count, c->turns, sizeof c->turns, store);
        state_copy(count + 2, &c->out, sizeof c->out, store);
        state_copy(seconds, c->seconds, sizeof c->seconds, store);
        state_copy(seconds + SECONDS - 1, &c->least_fp32, sizeof c->least_fp32, store);
    }
}

static bool turns_are_known(const Chooser *c, const Saved *saved, Error *err) {
    for (int i = 0; i < c->count; i++)
        for (int k = 1; k <= 2; k++)
            if (saved->count[COUNTS * i + k] < 0 || saved->count[COUNTS * i + k] > CHOICE_TURNS)
                return error_data(
                    err,
                    "choice.safetensors: an exchange was measured %ld times, which is not possible",
                    saved->count[COUNTS * i + k]);
    return true;
}

static bool walk_state(void *owner, StateWalk *walk, Error *err) {
    Chooser *c = owner;
    Saved saved = {0};
    copy_all(c, &saved, true);
    if (!state_replicated(walk, "counts", TENSOR_I64, 1 + COUNTS * c->count, saved.count, err) ||
        !state_replicated(walk, "seconds", TENSOR_F64, SECONDS * c->count, saved.seconds, err) ||
        (walk->restores && !turns_are_known(c, &saved, err)))
        return false;
    copy_all(c, &saved, false);
    if (walk->restores)
        trials_judge(c);
    return true;
}

StateSection chooser_section(Chooser *chooser) {
    return (StateSection){.name = "choice", .walk = walk_state, .owner = chooser};
}
