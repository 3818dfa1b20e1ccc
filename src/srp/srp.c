// The partitioner as a whole: its memory, and what an event does.
#include "internal.h"

SrpOptions srp_options(const Config *config, int parts) {
    const char *refine = config->stream.refine;
    bool both = strcmp(refine, "both") == 0;
    return (SrpOptions){.parts = parts,
                        .score = config->stream.score,
                        .during = both || strcmp(refine, "during") == 0,
                        .after = both || strcmp(refine, "after") == 0,
                        .window = config->stream.window,
                        .iterations = (int)config->stream.iterations,
                        .epsilon = config->stream.epsilon,
                        .capacity = config->stream.capacity,
                        .window_votes = strcmp(config->stream.votes, "window") == 0,
                        .window_balance = strcmp(config->stream.balance, "window") == 0,
                        .passes = (int)config->stream.passes,
                        .seed = (uint64_t)config->partition.seed};
}

static const Score *score_of(const SrpOptions *options) {
    Error err = {0};
    const Score *score = family_find(&srp_score_family, options->score, NULL, &err);
    CHECK(score != NULL, EXIT_BUG, "%s", err.text);
    return score;
}

static bool lists_init(Srp *srp, Error *err) {
    return growing_init(&srp->placed[SIDE_NODE], INT32_MAX, sizeof(Placed), "nodes", err) &&
           growing_init(&srp->placed[SIDE_HYPEREDGE], INT32_MAX, sizeof(Placed), "hyperedges",
                        err) &&
           pool_init(&srp->tally[SIDE_NODE], sizeof(Tally), "parts of nodes", err) &&
           pool_init(&srp->tally[SIDE_HYPEREDGE], sizeof(Tally), "parts of hyperedges", err) &&
           slot_list_init(&srp->window, "the window", err) &&
           slot_list_init(&srp->changed[SIDE_NODE], "changed nodes", err) &&
           slot_list_init(&srp->changed[SIDE_HYPEREDGE], "changed hyperedges", err) &&
           slot_list_init(&srp->queue[SIDE_NODE], "nodes to look at", err) &&
           slot_list_init(&srp->queue[SIDE_HYPEREDGE], "hyperedges to look at", err) &&
           growing_init(&srp->moves, (int64_t)1 << 36, sizeof(Move), "moves", err);
}

Srp *srp_new(const SrpOptions *options, Error *err) {
    Srp *srp = ALLOC(Srp, 1, "streaming partitioner");
    int parts = options->parts;
    srp->options = *options;
    srp->score = score_of(options);
    srp->part = ALLOC(SrpPart, parts, "parts of the stream");
    srp->have = ALLOC(int64_t, parts, "parts of the stream");
    srp->factor = ALLOC(double, parts, "parts of the stream");
    srp->load = ALLOC(int64_t, parts, "parts of the stream");
    if (live_init(&srp->live, err) && lists_init(srp, err))
        return srp;
    srp_free(srp);
    return NULL;
}

void srp_free(Srp *srp) {
    if (srp == NULL)
        return;
    growing_clear(&srp->moves);
    growing_clear(&srp->window.slots);
    for (int side = 0; side < LIVE_SIDES; side++) {
        growing_clear(&srp->queue[side].slots);
        growing_clear(&srp->changed[side].slots);
        pool_clear(&srp->tally[side]);
        growing_clear(&srp->placed[side]);
    }
    live_clear(&srp->live);
    MEMORY_FREE(srp->load, srp->factor, srp->have, srp->part, srp);
}

// ---- what there is

LiveHypergraph *srp_live(Srp *srp) { return &srp->live; }

int32_t srp_home(const Srp *srp, int side, int32_t slot) {
    return placed_at(srp, side, slot)->home;
}

int srp_homes_of_pins(const Srp *srp, int32_t hyperedge) {
    return placed_at(srp, SIDE_HYPEREDGE, hyperedge)->tallies;
}

const SrpPart *srp_parts(const Srp *srp) { return srp->part; }

SrpTotals srp_totals(const Srp *srp) { return srp->totals; }

size_t srp_bytes(const Srp *srp) {
    int64_t numbers =
        srp->window.count + srp->changed[SIDE_NODE].count + srp->changed[SIDE_HYPEREDGE].count;
    size_t bytes = live_bytes(&srp->live) + memory_product(numbers, sizeof(int32_t)) +
                   memory_product(srp->move_count, sizeof(Move));
    for (int side = 0; side < LIVE_SIDES; side++)
        bytes += memory_product(srp->slots[side], sizeof(Placed)) +
                 memory_product(srp->tally[side].used, sizeof(Tally));
    return bytes;
}

// ---- an event

// Starts to read what the steps of an arrival will; their reads overlap.
static void prefetch(const Srp *srp, const LiveChange *change) {
    enum { AT_ONCE = 256 };
    int side = 1 - change->side;
    int64_t count = change->count < AT_ONCE ? change->count : AT_ONCE;
    for (int64_t i = 0; i < count; i++)
        __builtin_prefetch(placed_at(srp, side, change->other[i]), 1);
    for (int64_t i = 0; i < count; i++)
        if (change->other[i] < srp->slots[side])
            __builtin_prefetch(tallies_of(srp, side, placed_at(srp, side, change->other[i])), 1);
}

static void detach_homes(Srp *srp, const LiveChange *change) {
    bool of_node = change->side == SIDE_NODE;
    for (int64_t i = 0; i < change->count; i++)
        home_detach(srp, of_node ? change->subject : change->other[i],
                    of_node ? change->other[i] : change->subject);
    if (change->gone)
        home_forget(srp, change->side, change->subject);
    for (int64_t i = 0; of_node && i < change->count; i++)
        if (srp->live.side[SIDE_HYPEREDGE].item[change->other[i]].count < 0)
            home_forget(srp, SIDE_HYPEREDGE, change->other[i]);
}

bool srp_apply(Srp *srp, const Event *event, Error *err) {
    LiveChange change;
    assert(!srp->settled);
    if (!live_apply(&srp->live, event, &change, err))
        return false;
    if (change.subject < 0) // a snapshot, or a deletion that is skipped
        return true;
    prefetch(srp, &change);
    if (change.removed)
        detach_homes(srp, &change);
    else
        place(srp, &change);
    window_note(srp, &change);
    window_run_if_due(srp);
    return true;
}
