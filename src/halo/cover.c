// boundary graph -> minimum vertex cover. In a bipartite graph it is as large as a maximum matching
// (König 1931, "Gráfok és mátrixok"), and the matching shows it: from the sources without partner
// walk alternating paths, to targets by any edge, back to sources by matched ones; the cover is the
// targets that are reached and the sources that are not. A source without partner is in no minimum
// cover, so its targets are in all of them, so their partners are in none, and so on: the targets
// reached are in every minimum cover, and this one has no others.
//
// The matching: first greedy as Karp and Sipser (1981, "Maximum matchings in sparse random
// graphs"), which leaves little to do (10^7 edges with hubs: 3 phases instead of 36 after a plain
// greedy one). Then phases of Hopcroft and Karp (1973, SIAM J. Comput. 2(4)): a breadth-first
// search from all sources without partner finds how long the shortest augmenting path is, then
// depth-first searches flip disjoint paths of that length until none is left. The search that finds
// no path any more is König's walk: its levels are the cover.
#include "cover.h"
#include <string.h>

enum { NONE = -1 }; // no partner; not reached

typedef struct Side { // the sources or the targets
    int64_t count;
    int64_t *offset;  // [count+1]
    int32_t *column;  // [offset[count]] of the other side, ascending inside a row
    int32_t *partner; // [count] or NONE
    int32_t *degree;  // [count] neighbours without partner, in the greedy matching
    int32_t *line;    // [count] vertices that wait for their turn
    int64_t waiting;
} Side;

typedef struct Matching {
    Csr by_source;       // the boundary's edges; owned
    Side source, target; // edges of source: those of by_source; of target: the boundary's
    int32_t *level;      // [sources] matched edges on the shortest alternating path to it, or NONE
    int32_t last;        // level from which a free target was seen: paths go no deeper
    int64_t *arc;        // [sources] edge to try next in this phase: those before lead nowhere
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

static void side_clear(Side *side) {
    memory_free(side->line);
    memory_free(side->degree);
    memory_free(side->partner);
}

static void matching_clear(Matching *m) {
    memory_free(m->arc);
    memory_free(m->level);
    side_clear(&m->target);
    side_clear(&m->source);
    csr_free(&m->by_source);
}

// --- greedy

static void find_degrees(Side *side) {
    for (int64_t v = 0; v < side->count; v++) {
        side->degree[v] = (int32_t)(side->offset[v + 1] - side->offset[v]);
        if (side->degree[v] == 1)
            side->line[side->waiting++] = (int32_t)v;
    }
}

// v found a partner: each neighbour has one free neighbour less, and waits when one is left.
static void leave(const Side *own, int32_t v, Side *other) {
    for (int64_t e = own->offset[v]; e < own->offset[v + 1]; e++) {
        int32_t w = own->column[e];
        if (--other->degree[w] == 1 && other->partner[w] == NONE)
            other->line[other->waiting++] = w;
    }
}

// Joins v with the free neighbour that the fewest others could take.
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

// A vertex with one free neighbour may take it: some maximum matching does. Only where no vertex
// has one left is there a choice that may be wrong.
static void match_greedily(Side *source, Side *target) {
    find_degrees(source);
    find_degrees(target);
    for (int32_t s = 0; s < source->count;) {
        if (target->waiting > 0)
            match_one(target, target->line[--target->waiting], source);
        else if (source->waiting > 0)
            match_one(source, source->line[--source->waiting], target);
        else
            match_one(source, s++, target);
    }
}

// --- phases

// Breadth-first from all sources without partner. True if a free target is seen; the search then
// goes no deeper. False: `level` tells every source that alternating paths reach.
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

// Every source on the path, which ends at the free target of the last one's arc, takes its arc.
static void flip(Matching *m, int64_t depth) {
    while (depth > 0) {
        int32_t s = m->source.line[--depth], t = m->source.column[m->arc[s]];
        m->source.partner[s] = t;
        m->target.partner[t] = s;
    }
}

// Depth-first from a source without partner, one level a step, to a free target. The line is the
// path. Paths of a phase are disjoint by themselves: the partner of a target on a flipped path is
// no longer one level deeper than the sources that could go there.
static void augment(Matching *m, int32_t root) {
    int32_t *line = m->source.line;
    int64_t depth = 0;
    line[depth++] = root;
    while (depth > 0) {
        int32_t s = line[depth - 1];
        if (m->arc[s] == m->source.offset[s + 1]) { // leads nowhere
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

static void match_most(Matching *m) {
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
    Matching m;
    matching_init(&m, boundary, sources);
    match_most(&m);
    int64_t size = 0;
    for (int64_t s = 0; s < sources; s++) {
        source[s] = m.level[s] == NONE;
        size += source[s];
    }
    for (int64_t t = 0; t < boundary->rows; t++) { // reached where its partner is
        int32_t partner = m.target.partner[t];
        target[t] = partner != NONE && m.level[partner] != NONE;
        size += target[t];
    }
    matching_clear(&m);
    return size;
}
