// The table of Patterns: each layer and direction names the kind of Pattern that it needs, and each
// kind is made once. Receptive-field pruning: the outputs of a layer that affect the loss are at
// most as many hops from a training node as there are layers above it; its inputs are one hop
// farther. Backward needs the same rows.
#include "internal.h"
#include <string.h>

static bool same_kind(const PatternKind *a, const PatternKind *b) {
    return a->relation == b->relation && a->target_hops == b->target_hops &&
           a->source_hops == b->source_hops && a->cover == b->cover;
}

// How far training reaches over all ranks.
typedef struct Reach {
    int last; // no row is farther than so many hops
    bool all; // every row is reached
} Reach;

static Reach reach_of(const Shard *shard, const Comm *comm) {
    const RowSet *nodes = &shard->set[NODES];
    int64_t farther[SHARD_HOPS + 1], left_out = nodes->own - nodes->reach[SHARD_HOPS];
    for (int h = 0; h <= SHARD_HOPS; h++)
        farther[h] = nodes->reach[SHARD_HOPS] - nodes->reach[h];
    comm_sum_int64(comm, farther, SHARD_HOPS + 1);
    comm_sum_int64(comm, &left_out, 1);
    Reach reach = {.all = left_out == 0};
    while (farther[reach.last] > 0)
        reach.last++;
    return reach;
}

// HOPS_ALL if the hops reach every row, so that equal sets of rows have equal names.
static int hops_of(const ModelShape *shape, Reach reach, int hops) {
    if (!shape->train_rows || (hops >= reach.last && reach.all))
        return HOPS_ALL;
    return hops < reach.last ? hops : reach.last;
}

static PatternKind kind_of(const ModelShape *shape, const Shard *shard, Reach reach, int layer,
                           int direction) {
    int above = shape->layers - 1 - layer;
    int outputs = hops_of(shape, reach, above), inputs = hops_of(shape, reach, above + 1);
    bool back = direction == BACKWARD;
    PatternKind kind = {.relation = back ? shard->relation[IN_EDGES].transpose : IN_EDGES,
                        .target_hops = back ? inputs : outputs,
                        .source_hops = back ? outputs : inputs,
                        .cover = shape->cover};
    if (layer == 0 && shape->layer0 == LAYER0_KEPT)
        kind.cover =
            COVER_SOURCES; // the sender cannot sum rows that the reader masks in each epoch
    return kind;
}

// Every kind once, the full Pattern's first, and which of them each exchange needs (-1: none).
typedef struct Kinds {
    int count;
    PatternKind kind[2 * MODEL_LAYERS + 1];
    int of[MODEL_LAYERS][2];
} Kinds;

static int kind_number(Kinds *kinds, PatternKind kind) {
    int i = 0;
    while (i < kinds->count && !same_kind(&kinds->kind[i], &kind))
        i++;
    if (i == kinds->count)
        kinds->kind[kinds->count++] = kind;
    return i;
}

static Kinds list_kinds(const ModelShape *shape, const Shard *shard, Reach reach) {
    Kinds kinds = {0};
    kind_number(
        &kinds,
        (PatternKind){.target_hops = HOPS_ALL, .source_hops = HOPS_ALL, .cover = shape->cover});
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++)
            kinds.of[l][d] = !shape->inference && aggregated(shape, l, d) > 0
                                 ? kind_number(&kinds, kind_of(shape, shard, reach, l, d))
                                 : -1;
    return kinds;
}

void model_patterns_init(ModelPatterns *patterns, const ModelShape *shape, const Shard *shard,
                         const Comm *comm) {
    double since = clock_seconds();
    *patterns = (ModelPatterns){0};
    Reach reach = reach_of(shard, comm);
    Kinds kinds = list_kinds(shape, shard, reach);
    while (patterns->count < kinds.count) {
        const PatternKind *kind = &kinds.kind[patterns->count];
        patterns->made[patterns->count++] = pattern_new(shard, kind, patterns->made[0], comm);
    }
    patterns->full = patterns->made[0];
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++)
            patterns->of[l][d] = kinds.of[l][d] >= 0 ? patterns->made[kinds.of[l][d]] : NULL;
    for (int l = 0; l <= shape->layers; l++)
        patterns->rows[l] = set_reach(&shard->set[NODES], hops_of(shape, reach, shape->layers - l));
    patterns->seconds = clock_seconds() - since;
}

void model_patterns_clear(ModelPatterns *patterns) {
    while (patterns->count > 0)
        pattern_free(patterns->made[--patterns->count]);
    *patterns = (ModelPatterns){0};
}

// What is bounded aside: every kind is a pass over the edges.
typedef struct Bound {
    const Shard *shard;
    const Kinds *kinds;
    size_t kept, most;
} Bound;

static void bound_aside(void *context) {
    Bound *bound = context;
    for (int i = 0; i < bound->kinds->count; i++) {
        PatternBytes bytes = pattern_bound(bound->shard, &bound->kinds->kind[i], i > 0);
        size_t most = bound->kept + bytes.most; // those before it are there
        bound->most = most > bound->most ? most : bound->most;
        bound->kept += bytes.kept;
    }
}

void model_patterns_bound(MemoryPlan *plan, const ModelShape *shape, const Shard *shard,
                          const Comm *comm) {
    Kinds kinds = list_kinds(shape, shard, reach_of(shard, comm));
    Bound bound = {.shard = shard, .kinds = &kinds};
    comm_aside(comm, bound_aside, &bound);
    size_t kept = bound.kept < bound.most ? bound.kept : bound.most;
    memory_plan_add(plan, "Patterns", kept);
    memory_plan_add(plan, "boundary, cover and requests", bound.most - kept);
}

void model_patterns_plan(MemoryPlan *plan, const ModelPatterns *patterns) {
    for (int i = 0; i < patterns->count; i++)
        pattern_plan(plan, patterns->made[i]);
}
