// boundary graph -> minimum vertex cover, in three steps:
//  1. a greedy matching by Karp and Sipser (1981, "Maximum matchings in sparse random graphs"). It
//     leaves little work (10^7 edges with hubs: 3 phases of step 2 instead of 36 after a plain
//     greedy matching);
//  2. phases of Hopcroft and Karp (1973, SIAM J. Comput. 2(4)) until the matching is maximum: a
//     breadth-first search from all unmatched sources finds the length of the shortest augmenting
//     paths; depth-first searches flip disjoint paths of that length until none is left;
//  3. the cover, by König (1931, "Gráfok és mátrixok"): alternating paths from the unmatched
//     sources go to targets by any edge and back to sources by matched edges. The cover has the
//     targets that are reached and the sources that are not. The last breadth-first search of
//     step 2 has already walked these paths: its levels say which sources are reached.
// An unmatched source is in no minimum cover, so its targets are in every minimum cover, so their
// partners are in none, and so on. Hence every minimum cover contains the reached targets, and this
// cover contains no other targets.
#include "cover.h"

enum { NONE = -1 }; // no partner; not reached

typedef struct Side { // the sources or the targets
    int64_t count;
    int64_t *offset;  // [count+1]
    int32_t *column;  // [offset[count]] of the other side, ascending inside a row
    int32_t *partner; // [count] or NONE
    int32_t *degree;  // [count] unmatched neighbours, in the greedy matching
    int32_t *line;    // [count] step 1: stack of vertices with one unmatched neighbour; step 2:
                      // the queue of the breadth-first search, then the path of a depth-first one
    int64_t waiting;  // vertices on that stack
} Side;

typedef struct Matching {
    Csr by_source;       // the boundary's edges; owned
    Side source, target; // edges of source: those of by_source; of target: the boundary's
    int32_t *level;      // [sources] matched edges on the shortest alternating path to it, or NONE
    int32_t last;        // level of the sources next to an unmatched target: the last of a path
    int64_t *arc;        // [sources] edge to try next in this phase; earlier ones are dead ends
} Matching;

static Side side_of(const Csr *edges) {
    int64_t count = edges->rows;
    Side side = {.count = count,
                 .offset = edges->offset,
                 .column = edges->column,
                 .partner = ALLOC(int32_t, count, "matching of a boundary"),
                 .degree = ALLOC(int32_t, count, "matching of a boundary"),
                 .line = ALLOC(int32_t, count, "matching of a boundary")};
    for (int64_t v = 0; v < count; v++)
        side.partner[v] = NONE;
    return side;
}

static void matching_init(Matching *m, const Csr *boundary, int64_t sources) {
    const Csr by_target = {boundary->rows, boundary->offset, boundary->column, NULL};
    Csr by_source;
    csr_transpose(&by_source, &by_target, sources);
    *m = (Matching){.by_source = by_source,
                    .source = side_of(&by_source),
                    .target = side_of(&by_target),
                    .level = ALLOC(int32_t, sources, "matching of a boundary"),
                    .arc = ALLOC(int64_t, sources, "matching of a boundary")};
}

static void side_clear(Side *side) { MEMORY_FREE(side->line, side->degree, side->partner); }

static void matching_clear(Matching *m) {
    MEMORY_FREE(m->arc, m->level);
    side_clear(&m->target);
    side_clear(&m->source);
    csr_free(&m->by_source);
}

// --- step 1: greedy matching

static void find_degrees(Side *side) {
    for (int64_t v = 0; v < side->count; v++) {
        side->degree[v] = (int32_t)(side->offset[v + 1] - side->offset[v]);
        if (side->degree[v] == 1)
            side->line[side->waiting++] = (int32_t)v;
    }
}

// v is matched now: each of its neighbours has one unmatched neighbour less. A neighbour that has
// only one left goes on the stack.
static void leave(const Side *own, int32_t v, Side *other) {
    for (int64_t e = own->offset[v]; e < own->offset[v + 1]; e++) {
        int32_t w = own->column[e];
        if (--other->degree[w] == 1 && other->partner[w] == NONE)
            other->line[other->waiting++] = w;
    }
}

// Matches v with its unmatched neighbour of least degree.
static void match_one(Side *own, int32_t v, Side *other) {
    if (own->partner[v] != NONE)
        return;
    int32_t best = NONE;
    for (int64_t e = own->offset[v]; e < own->offset[v + 1]; e++) {
        int32_t w = own->column[e];
        if (other->partner[w] == NONE && (best == NONE || other->degree[w] < other->degree[best]))
            best = w;
    }
    if (best == NONE)
        return;
    own->partner[v] = best;
    other->partner[best] = v;
    leave(own, v, other);
    leave(other, best, own);
}

// Some maximum matching contains the edge of a vertex that has one unmatched neighbour, so such
// vertices come first. Only a match made while there is no such vertex can be wrong.
static void match_greedily(Side *source, Side *target) {
    find_degrees(source);
    find_degrees(target);
    for (int32_t s = 0; s < source->count;)
        if (target->waiting > 0)
            match_one(target, target->line[--target->waiting], source);
        else if (source->waiting > 0)
            match_one(source, source->line[--source->waiting], target);
        else
            match_one(source, s++, target);
}

// --- step 2: phases

// Breadth-first search from all unmatched sources. Returns true if it sees an unmatched target; the
// search then goes no deeper. If it returns false, `level` is set for every source that alternating
// paths reach.
static bool find_levels(Matching *m) {
    Side *source = &m->source;
    int64_t count = 0;
    for (int64_t s = 0; s < source->count; s++) {
        bool free = source->partner[s] == NONE;
        m->level[s] = free ? 0 : NONE;
        if (free)
            source->line[count++] = (int32_t)s;
    }
    m->last = INT32_MAX;
    for (int64_t i = 0; i < count && m->level[source->line[i]] <= m->last; i++) {
        int32_t s = source->line[i];
        for (int64_t e = source->offset[s]; e < source->offset[s + 1]; e++) {
            int32_t next = m->target.partner[source->column[e]];
            if (next == NONE) {
                m->last = m->level[s];
            } else if (m->level[next] == NONE) {
                m->level[next] = m->level[s] + 1;
                source->line[count++] = next;
            }
        }
    }
    return m->last != INT32_MAX;
}

// Matches every source on the path with the target of its arc; the last target is unmatched.
static void flip(Matching *m, int64_t depth) {
    while (depth > 0) {
        int32_t s = m->source.line[--depth], t = m->source.column[m->arc[s]];
        m->source.partner[s] = t;
        m->target.partner[t] = s;
    }
}

// Depth-first search from an unmatched source to an unmatched target, one level deeper at each
// step. `line` is the path. The paths of a phase are disjoint without further checks: the new
// partner of a target on a flipped path is not one level deeper than the sources that could go
// there.
static void augment(Matching *m, int32_t root) {
    int32_t *line = m->source.line;
    int64_t depth = 0;
    line[depth++] = root;
    while (depth > 0) {
        int32_t s = line[depth - 1];
        if (m->arc[s] == m->source.offset[s + 1]) { // dead end: go back
            if (--depth > 0)
                m->arc[line[depth - 1]]++;
            continue;
        }
        int32_t next = m->target.partner[m->source.column[m->arc[s]]];
        if (next == NONE) {
            flip(m, depth);
            return;
        }
        if (m->level[s] < m->last && m->level[next] == m->level[s] + 1)
            line[depth++] = next;
        else
            m->arc[s]++;
    }
}

static void match_maximum(Matching *m) {
    match_greedily(&m->source, &m->target);
    while (find_levels(m)) {
        memcpy(m->arc, m->source.offset, (size_t)m->source.count * sizeof *m->arc);
        for (int32_t s = 0; s < m->source.count; s++)
            if (m->source.partner[s] == NONE)
                augment(m, s);
    }
}

int64_t cover_minimum(const Csr *boundary, int64_t sources, uint8_t *target, uint8_t *source) {
    assert(boundary->rows >= 0 && boundary->rows <= INT32_MAX);
    assert(sources >= 0 && sources <= INT32_MAX);
    CLEARED(matching_clear) Matching m = {0};
    matching_init(&m, boundary, sources);
    match_maximum(&m);
    int64_t size = 0; // step 3
    for (int64_t s = 0; s < sources; s++) {
        source[s] = m.level[s] == NONE;
        size += source[s];
    }
    for (int64_t t = 0; t < boundary->rows; t++) { // a target is reached if its partner is
        int32_t partner = m.target.partner[t];
        target[t] = partner != NONE && m.level[partner] != NONE;
        size += target[t];
    }
    return size;
}
