// The table of Patterns: for every layer and direction the kind that it needs, made once for each
// kind. A layer's outputs that training feels are those at most so many hops from a training node
// as there are layers above it; its inputs are one hop farther. The way back needs the same rows,
// for a gradient comes to where it is felt.
#include "internal.h"
#include <string.h>

static bool same_kind(const PatternKind *a, const PatternKind *b) {
    return a->backward == b->backward && a->target_hops == b->target_hops &&
           a->source_hops == b->source_hops && a->cover == b->cover;
}

// How far training reaches over all ranks.
typedef struct Reach {
    int last; // no row is farther than so many hops
    bool all; // every row is reached
} Reach;

static Reach reach_of(const Shard *shard, const Comm *comm) {
    int64_t farther[SHARD_HOPS + 1], left_out = shard->own - shard->reach[SHARD_HOPS];
    for (int h = 0; h <= SHARD_HOPS; h++)
        farther[h] = shard->reach[SHARD_HOPS] - shard->reach[h];
    comm_sum_int64(comm, farther, SHARD_HOPS + 1);
    comm_sum_int64(comm, &left_out, 1);
    Reach reach = {.all = left_out == 0};
    while (farther[reach.last] > 0)
        reach.last++;
    return reach;
}

// One name for every set of rows.
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
    PatternKind kind = {.backward = back,
                        .target_hops = back ? inputs : outputs,
                        .source_hops = back ? outputs : inputs,
                        .cover = shape->cover};
    if (layer == 0 && shape->layer0 == LAYER0_KEPT)
        kind.cover = COVER_SOURCES; // what is masked anew every epoch cannot be summed before
    if (shard->symmetric && inputs == outputs)
        kind.backward = false; // its own transpose
    return kind;
}

static const Pattern *find_or_make(ModelPatterns *patterns, const PatternKind *kind,
                                   const Shard *shard, const Comm *comm) {
    for (int i = 0; i < patterns->count; i++)
        if (same_kind(&patterns->made[i]->kind, kind))
            return patterns->made[i];
    const Pattern *like = patterns->count > 0 ? patterns->made[0] : NULL;
    Pattern *pattern = pattern_new(shard, kind, like, comm);
    patterns->made[patterns->count++] = pattern;
    return pattern;
}

// Does training aggregate over the halo there?
static bool aggregates(const ModelShape *shape, int layer, int direction) {
    return model_exchanged(shape, layer, direction) > 0 ||
           (layer == 0 && direction == FORWARD && shape->layer0 == LAYER0_KEPT);
}

static PatternKind full_kind(const ModelShape *shape) {
    return (PatternKind){.target_hops = HOPS_ALL, .source_hops = HOPS_ALL, .cover = shape->cover};
}

void model_patterns_init(ModelPatterns *patterns, const ModelShape *shape, const Shard *shard,
                         const Comm *comm) {
    double since = clock_seconds();
    *patterns = (ModelPatterns){0};
    Reach reach = reach_of(shard, comm);
    PatternKind full = full_kind(shape);
    patterns->full = find_or_make(patterns, &full, shard, comm);
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++) {
            PatternKind kind = kind_of(shape, shard, reach, l, d);
            if (aggregates(shape, l, d))
                patterns->of[l][d] = find_or_make(patterns, &kind, shard, comm);
        }
    for (int l = 0; l <= shape->layers; l++)
        patterns->rows[l] = shard_reach(shard, hops_of(shape, reach, shape->layers - l));
    patterns->seconds = clock_seconds() - since;
}

void model_patterns_clear(ModelPatterns *patterns) {
    while (patterns->count > 0)
        pattern_free(patterns->made[--patterns->count]);
    *patterns = (ModelPatterns){0};
}

void model_patterns_plan(MemoryPlan *plan, const ModelShape *shape, const Shard *shard,
                         const Comm *comm) {
    Reach reach = reach_of(shard, comm);
    PatternKind seen[2 * MODEL_LAYERS + 1] = {full_kind(shape)};
    int count = 1;
    pattern_plan(plan, shard, &seen[0], false);
    for (int l = 0; l < shape->layers; l++)
        for (int d = 0; d < 2; d++) {
            PatternKind kind = kind_of(shape, shard, reach, l, d);
            int same = 0;
            while (same < count && !same_kind(&seen[same], &kind))
                same++;
            if (same < count || !aggregates(shape, l, d))
                continue;
            seen[count++] = kind;
            pattern_plan(plan, shard, &kind, true);
        }
}
