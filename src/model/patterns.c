// The table of Patterns: each layer and direction names the kind of Pattern that it needs, and each
// kind is made once. Receptive-field pruning: the outputs of a layer that affect the loss are at
// most as many hops from a training node as there are aggregates above it; its inputs are one hop
// beyond. Backward needs the same rows. On a hypergraph the nodes are an even number of hops from
// training nodes, and the hyperedges an odd one.
#include "internal.h"

int64_t aggregated(const ModelShape *shape, int l, int direction) {
    if (l == 0 && direction == FORWARD && shape->layer0 == LAYER0_KEPT)
        return shape->width[0];
    return model_exchanged(shape, l, direction);
}

// How far training reaches over all ranks.
typedef struct Reach {
    int last; // no row of the set is beyond than so many hops
    bool all; // every row of the set is reached
} Reach;

typedef struct Reached {
    Reach set[SHARD_SETS];
} Reached;

// The rows of a set beyond than so many hops; the last entry: those that are not reached.
enum { BEYOND = SHARD_HOPS + 2 };

static void add_rows_beyond(int64_t rows[BEYOND], const RowSet *set) {
    for (int h = 0; h <= SHARD_HOPS; h++)
        rows[h] += set->reach[SHARD_HOPS] - set->reach[h];
    rows[SHARD_HOPS + 1] += set->own - set->reach[SHARD_HOPS];
}

static Reach reach_of(const int64_t rows_beyond[BEYOND]) {
    Reach reach = {.all = rows_beyond[SHARD_HOPS + 1] == 0};
    while (rows_beyond[reach.last] > 0)
        reach.last++;
    return reach;
}

// Of shard[parts] together, and of those of all ranks where there is a comm.
static Reached reached_of(const Shard *shard, int parts, const Comm *comm) {
    Reached reached = {0};
    for (int set = 0; set < shard->sets; set++) {
        int64_t beyond[BEYOND] = {0};
        for (int p = 0; p < parts; p++)
            add_rows_beyond(beyond, &shard[p].set[set]);
        if (comm != NULL)
            comm_sum_int64(comm, beyond, BEYOND);
        reached.set[set] = reach_of(beyond);
    }
    return reached;
}

// The aggregates above a level.
static int aggregates_from(const ModelShape *shape, int level) {
    int count = 0;
    for (int l = level; l < shape->layers; l++)
        count += shape->aggregates[l];
    return count;
}

// The last level behind a norm of columns: its statistics need all rows up to there. -1: none.
static int normed_level(const ModelShape *shape) {
    int last = -1;
    for (int l = 0; l < shape->layers && shape->columns; l++)
        last = shape->posted[l] ? l + 1 : last;
    return last;
}

// The hops of the rows of a level; HOPS_ALL if they reach every row, so that equal sets of rows
// have equal names.
static int hops_of(const ModelShape *shape, const Reached *reached, int level) {
    Reach reach = reached->set[level_set(shape, level)];
    int hops = aggregates_from(shape, level);
    bool beyond = hops > SHARD_HOPS && reach.last == SHARD_HOPS; // beyond rows are not told apart
    if (!shape->train_rows || level <= normed_level(shape) || beyond ||
        (hops >= reach.last && reach.all))
        return HOPS_ALL;
    return hops < reach.last ? hops : reach.last;
}

static PatternKind full_kind(const ModelShape *shape, const Shard *shard, int relation) {
    return (PatternKind){.relation = relation,
                         .target_hops = HOPS_ALL,
                         .source_hops = HOPS_ALL,
                         .cover = shape->cover[shard->relation[relation].to]};
}

// Of sampled rows, what was sent as a row comes back as the partial aggregate for it, and the other
// way round: so both ways draw the same.
static Cover cover_back(const ModelShape *shape, Cover forward, Cover back) {
    if (!shape->sampled)
        return back;
    return forward == COVER_SOURCES ? COVER_TARGETS : COVER_SOURCES;
}

static PatternKind kind_of(const ModelShape *shape, const Shard *shard, const Reached *reached,
                           int layer, int direction) {
    int outputs = hops_of(shape, reached, layer + 1), inputs = hops_of(shape, reached, layer);
    bool back = direction == BACKWARD;
    int relation = shard_relation_of(shard, layer % shape->stages);
    PatternKind kind =
        full_kind(shape, shard, back ? shard->relation[relation].transpose : relation);
    kind.target_hops = back ? inputs : outputs;
    kind.source_hops = back ? outputs : inputs;
    if (back)
        kind.cover = cover_back(shape, shape->cover[shard->relation[relation].to], kind.cover);
    bool kept = layer == 0 && shape->layer0 == LAYER0_KEPT;
    if (kept || (!back && shape->before_post[layer])) // the sender cannot sum what the reader masks
        kind.cover = COVER_SOURCES;
    return kind;
}

// The reader of labels masks them, so nobody sums them before.
static PatternKind labels_kind(const ModelShape *shape, const Shard *shard) {
    PatternKind kind = full_kind(shape, shard, shard_relation_of(shard, 0));
    kind.cover = COVER_SOURCES;
    return kind;
}

static int kind_number(ModelKinds *kinds, PatternKind kind) {
    int i = 0;
    while (i < kinds->count && memcmp(&kinds->kind[i], &kind, sizeof kind) != 0)
        i++;
    if (i == kinds->count)
        kinds->kind[kinds->count++] = kind;
    return i;
}

// The kind before the i-th that has all rows of its relation, whose own edges it may borrow; -1:
// there is none.
static int whole_before(const ModelKinds *kinds, int i) {
    for (int k = 0; k < i; k++)
        if (kinds->kind[k].relation == kinds->kind[i].relation &&
            kinds->kind[k].target_hops == HOPS_ALL && kinds->kind[k].source_hops == HOPS_ALL)
            return k;
    return -1;
}

static void list_kinds(ModelKinds *kinds, const ModelShape *shape, const Shard *shard,
                       const Reached *reached) {
    *kinds = (ModelKinds){0};
    for (int stage = 0; model_reads_edges(shape) && stage < shape->stages; stage++)
        kind_number(kinds, full_kind(shape, shard, shard_relation_of(shard, stage)));
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++)
            kinds->of[l][d] = !shape->inference && aggregated(shape, l, d) > 0
                                  ? kind_number(kinds, kind_of(shape, shard, reached, l, d))
                                  : -1;
    kinds->labels = shape->label_rate > 0 ? kind_number(kinds, labels_kind(shape, shard)) : -1;
    for (int i = 0; i < kinds->count; i++)
        kinds->whole[i] = whole_before(kinds, i);
    for (int l = 0; l <= shape->layers; l++)
        kinds->hops[l] = hops_of(shape, reached, l);
}

// Which exchange has which of the Patterns that are made.
static void assign_kinds(ModelPatterns *patterns, const ModelShape *shape, const ModelKinds *kinds,
                         const Shard *shard) {
    for (int stage = 0; model_reads_edges(shape) && stage < shape->stages; stage++)
        patterns->full[stage] = patterns->made[stage];
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++)
            patterns->of[l][d] = kinds->of[l][d] >= 0 ? patterns->made[kinds->of[l][d]] : NULL;
    patterns->labels = kinds->labels >= 0 ? patterns->made[kinds->labels] : NULL;
    for (int l = 0; l <= shape->layers; l++)
        patterns->rows[l] = set_reach(&shard->set[level_set(shape, l)], kinds->hops[l]);
}

static const Pattern *lender_of(const ModelPatterns *patterns, const ModelKinds *kinds, int i) {
    return kinds->whole[i] >= 0 ? patterns->made[kinds->whole[i]] : NULL;
}

void model_patterns_init(ModelPatterns *patterns, const ModelShape *shape, const Shard *shard,
                         const Comm *comm) {
    double since = clock_seconds();
    *patterns = (ModelPatterns){0};
    Reached reached = reached_of(shard, 1, comm);
    ModelKinds kinds;
    list_kinds(&kinds, shape, shard, &reached);
    for (; patterns->count < kinds.count; patterns->count++)
        patterns->made[patterns->count] =
            pattern_new(shard, &kinds.kind[patterns->count],
                        lender_of(patterns, &kinds, patterns->count), comm);
    assign_kinds(patterns, shape, &kinds, shard);
    patterns->seconds = clock_seconds() - since;
}

static double bytes_received(const ModelShape *shape, const ModelPatterns *patterns) {
    double bytes = 0;
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++)
            if (patterns->of[l][d] != NULL)
                bytes += (double)sizeof(float) * (double)model_exchanged(shape, l, d) *
                         (double)patterns->of[l][d]->plan.halo_count;
    return bytes;
}

void model_norm_bytes(double bytes[2], const ModelShape *shape, const ModelPatterns *patterns,
                      const Shard *shard, const Comm *comm) {
    FREED ModelShape *without = ALLOC(ModelShape, 1, "model"); // too large for the stack
    FREED ModelPatterns *other = ALLOC(ModelPatterns, 1, "model");
    *without = *shape;
    without->columns = false;
    model_patterns_init(other, without, shard, comm);
    bytes[0] = bytes_received(shape, patterns);
    bytes[1] = bytes_received(without, other);
    comm_sum_double(comm, bytes, 2);
    model_patterns_clear(other);
}

void model_kinds(ModelKinds *kinds, const ModelShape *shape, const Shard *shard, int parts) {
    Reached reached = reached_of(shard, parts, NULL);
    list_kinds(kinds, shape, shard, &reached);
}

void model_patterns_outline(ModelPatterns *patterns, const ModelShape *shape,
                            const ModelKinds *kinds, const PatternCounts *const *counts,
                            const Shard *shard, const Comm *comm) {
    *patterns = (ModelPatterns){0};
    for (; patterns->count < kinds->count; patterns->count++)
        patterns->made[patterns->count] =
            pattern_outline(counts[patterns->count], &kinds->kind[patterns->count], shard,
                            lender_of(patterns, kinds, patterns->count), comm);
    assign_kinds(patterns, shape, kinds, shard);
}

void model_patterns_clear(ModelPatterns *patterns) {
    while (patterns->count > 0)
        pattern_free(patterns->made[--patterns->count]);
    *patterns = (ModelPatterns){0};
}

// What is bounded aside: every kind is a pass over the edges.
typedef struct Bound {
    const Shard *shard;
    const ModelKinds *kinds;
    size_t kept, most;
} Bound;

static void bound_on_helper(void *context) {
    Bound *bound = context;
    for (int i = 0; i < bound->kinds->count; i++) {
        PatternBytes bytes =
            pattern_bound(bound->shard, &bound->kinds->kind[i], bound->kinds->whole[i] >= 0);
        size_t most = bound->kept + bytes.most; // those before it are there
        bound->most = most > bound->most ? most : bound->most;
        bound->kept += bytes.kept;
    }
}

void model_patterns_bound(MemoryForecast *forecast, const ModelShape *shape, const Shard *shard,
                          const Comm *comm) {
    Reached reached = reached_of(shard, 1, comm);
    ModelKinds kinds;
    list_kinds(&kinds, shape, shard, &reached);
    Bound bound = {.shard = shard, .kinds = &kinds};
    comm_on_helper(comm, bound_on_helper, &bound);
    size_t kept = bound.kept < bound.most ? bound.kept : bound.most;
    forecast_add(forecast, "Patterns", kept);
    forecast_add(forecast, "boundary, cover and requests", bound.most - kept);
}

void model_patterns_forecast(MemoryForecast *forecast, const ModelPatterns *patterns) {
    for (int i = 0; i < patterns->count; i++)
        pattern_forecast(forecast, patterns->made[i]);
}
