// What coding carries from one sum to the next: bits that a rule chooses, and what residuals
// remember.

#include "internal.h"

void coding_set_bits(Coding *c, int64_t bits) {
    c->bits.bits = bits;
    for (int way = 0; way < WAYS && c->bits.rule != NULL; way++)
        if (c->options[way].codec->set_bits != NULL)
            c->options[way].codec->set_bits(&c->options[way].values, (int)bits);
}

// ---- bits over time

void gradsync_after(GradSync *sync, int64_t epoch, double loss, const GradMoments *moments) {
    Coding *c = sync->coding;
    if (c == NULL || c->bits.rule == NULL)
        return;
    double share = moments_share(c, moments);
    grad_bits_after(&c->bits, epoch - 1, loss, sqrt(share) * moments->sum, share * moments->square,
                    (double)sync->cut.floats, c->size);
    coding_set_bits(c, c->bits.bits);
}

int64_t gradsync_bits(const GradSync *sync) {
    const Coding *c = sync->coding;
    return c == NULL || c->bits.rule == NULL ? 0 : c->bits.bits;
}

// ---- the state of a checkpoint

static const char *const name_of[WAYS] = {"gradients.shares", "gradients.sums"};

static bool walk_past(GradBits *bits, StateWalk *walk, Error *err) {
    double past[] = {bits->first_loss, bits->loss, bits->first_ratio, bits->ratio};
    if (!state_replicated(walk, "gradients.past", TENSOR_F64, 4, past, err))
        return false;
    bits->first_loss = past[0], bits->loss = past[1];
    bits->first_ratio = past[2], bits->ratio = past[3];
    return state_replicated(walk, "gradients.square", TENSOR_F64, bits->epochs, bits->square, err);
}

static bool walk_state(void *owner, StateWalk *walk, Error *err) {
    GradSync *sync = owner;
    Coding *c = sync->coding;
    int64_t bits = c->bits.bits;
    bool ok = state_replicated(walk, "gradients.exchanges", TENSOR_I64, 1, &sync->sums, err) &&
              state_replicated(walk, "gradients.bits", TENSOR_I64, 1, &bits, err) &&
              (c->bits.rule == NULL || walk_past(&c->bits, walk, err));
    if (ok && walk->restores)
        coding_set_bits(c, bits);
    for (int way = 0; way < WAYS; way++)
        for (int flow = 0; ok && flow < FLOWS; flow++)
            ok = box_state(&c->box[way][flow], name_of[way], walk, err);
    return ok;
}

StateSection coding_section(GradSync *sync) {
    const Coding *c = sync->coding;
    if (c == NULL || (c->bits.rule == NULL && !box_remembers(&c->options[UP])))
        return (StateSection){0};
    return (StateSection){.name = "gradients", .walk = walk_state, .owner = sync};
}
