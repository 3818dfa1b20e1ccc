// The boundary of a part: its edges from remote sources, sender by sender, and for each edge the
// row that travels for it: the row of the source, or a partial aggregate for the target.
#include "cover.h"
#include "internal.h"

// The round (in ring order) of each remote source, or -1 if its owner does not count it as a
// source.
static int32_t *rounds_of_sources(const ShardRelation *edges, const int64_t *limit, int rank,
                                  int size) {
    int32_t *round = ALLOC(int32_t, edges->remote, "boundary");
    for (int g = 0; g + 1 < size; g++) {
        int owner = ring_sender(rank, g, size);
        for (int64_t h = edges->remote_round[g]; h < edges->remote_round[g + 1]; h++)
            round[h] = edges->remote_row[h] < limit[owner] ? g : -1;
    }
    return round;
}

void boundary_init(Boundary *b, const ShardRelation *edges, int64_t own, int64_t targets,
                   const int64_t *limit, int rank, int size) {
    *b = (Boundary){.rounds = size - 1,
                    .edge_begin = ALLOC(int64_t, size, "boundary"),
                    .sources = edges->remote,
                    .used = ALLOC(int64_t, size, "boundary")};
    FREED int32_t *round = rounds_of_sources(edges, limit, rank, size);
    int64_t end = edges->offset[targets];
    for (int64_t e = 0; e < end; e++)
        if (edges->column[e] >= own && round[edges->column[e] - own] >= 0)
            b->edge_begin[round[edges->column[e] - own] + 1]++;
    for (int g = 0; g < b->rounds; g++)
        b->edge_begin[g + 1] += b->edge_begin[g];
    int64_t count = b->edge_begin[b->rounds];
    b->target = ALLOC(int32_t, count, "boundary");
    b->source = ALLOC(int32_t, count, "boundary");
    b->weight = edges->weight != NULL ? ALLOC(float, count, "boundary") : NULL;
    b->as_row = ALLOC(uint8_t, b->sources, "boundary");
    b->as_sum = ALLOC(uint8_t, count, "boundary");
    FREED int64_t *next = ALLOC(int64_t, size, "boundary");
    memcpy(next, b->edge_begin, (size_t)size * sizeof *next);
    for (int64_t i = 0; i < targets; i++)
        for (int64_t e = edges->offset[i]; e < edges->offset[i + 1]; e++) {
            int32_t source = edges->column[e] - (int32_t)own;
            if (source < 0 || round[source] < 0)
                continue;
            int64_t at = next[round[source]]++;
            b->target[at] = (int32_t)i;
            b->source[at] = source;
            if (b->weight != NULL)
                b->weight[at] = edges->weight[e];
        }
}

// The edges of one round as a bipartite graph: its targets and its sources, each counted from 0.
static Csr round_graph(const Boundary *b, int round, int64_t first_source) {
    int64_t begin = b->edge_begin[round], end = b->edge_begin[round + 1], targets = 0;
    for (int64_t e = begin; e < end; e++)
        targets += e == begin || b->target[e] != b->target[e - 1];
    Csr graph;
    csr_alloc(&graph, targets, end - begin, false, "edges of a boundary");
    int64_t t = -1;
    for (int64_t e = begin; e < end; e++) {
        t += e == begin || b->target[e] != b->target[e - 1];
        graph.column[e - begin] = b->source[e] - (int32_t)first_source;
        graph.offset[t + 1] = e - begin + 1;
    }
    return graph;
}

static void cover_round(Boundary *b, const ShardRelation *edges, int round) {
    int64_t begin = b->edge_begin[round], end = b->edge_begin[round + 1], t = -1;
    int64_t first = edges->remote_round[round], sources = edges->remote_round[round + 1] - first;
    CLEARED(csr_free) Csr graph = round_graph(b, round, first);
    FREED uint8_t *in_cover = ALLOC(uint8_t, graph.rows, "boundary");
    cover_minimum(&graph, sources, in_cover, b->as_row + first);
    for (int64_t e = begin; e < end; e++) {
        t += e == begin || b->target[e] != b->target[e - 1];
        b->as_sum[e] = in_cover[t] && !b->as_row[b->source[e]]; // a row that travels is not summed
    }
}

void boundary_cover(Boundary *b, const ShardRelation *edges, Cover cover) {
    for (int64_t e = 0; e < b->edge_begin[b->rounds]; e++)
        b->as_row[b->source[e]] = 1;
    for (int g = 0; g < b->rounds; g++)
        for (int64_t h = edges->remote_round[g]; h < edges->remote_round[g + 1]; h++)
            b->used[g] += b->as_row[h];
    if (cover == COVER_SOURCES)
        return;
    memset(b->as_row, 0, (size_t)b->sources);
    if (cover == COVER_TARGETS)
        memset(b->as_sum, 1, (size_t)b->edge_begin[b->rounds]);
    for (int g = 0; cover == COVER_MIN && g < b->rounds; g++)
        cover_round(b, edges, g);
}

void boundary_clear(Boundary *b) {
    MEMORY_FREE(b->edge_begin, b->target, b->source, b->weight, b->as_row, b->as_sum, b->used);
    *b = (Boundary){0};
}
