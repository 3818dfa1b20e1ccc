// The memory of Patterns, before and after they are built. Before, the number of boundary edges of
// each round is known, but not which of them partial aggregates will serve. Each edge becomes
// either an entry of the halo Csr or a member of a request, and both have 4 bytes. So the memory
// depends little on the cover, and the bound is close.
#include "internal.h"

typedef struct BoundaryEdges { // the boundary edges of the first rows
    size_t edges;              // of all rounds
    size_t largest, sources;   // the most edges, and the most sources, of any round
} BoundaryEdges;

static BoundaryEdges count_boundary(const Shard *shard, const ShardRelation *edges, int64_t rows) {
    int64_t own = shard->set[edges->from].own;
    BoundaryEdges boundary = {0};
    if (edges->remote == 0)
        return boundary;
    FREED int64_t *count = ALLOC(int64_t, edges->remote, "edges of remote rows");
    for (int64_t e = 0; e < edges->offset[rows]; e++)
        if (edges->column[e] >= own)
            count[edges->column[e] - own]++;
    for (int g = 0; g + 1 < shard->parts; g++) {
        int64_t begin = edges->remote_round[g], end = edges->remote_round[g + 1], sum = 0;
        for (int64_t h = begin; h < end; h++)
            sum += count[h];
        boundary.edges += (size_t)sum;
        boundary.largest = (size_t)sum > boundary.largest ? (size_t)sum : boundary.largest;
        boundary.sources =
            (size_t)(end - begin) > boundary.sources ? (size_t)(end - begin) : boundary.sources;
    }
    return boundary;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// Work space of cover_minimum (cover.h) and the graph of one round.
static size_t cover_bytes(const BoundaryEdges *in, size_t rows) {
    return in->largest * 2 * sizeof(int32_t) + in->sources * 32 + smaller(rows, in->largest) * 21;
}

// 0 if the own edges are borrowed: all columns of the rows are sources.
static size_t own_bytes(const Shard *shard, const PatternKind *kind, bool share_with,
                        size_t boundary) {
    const ShardRelation *edges = &shard->relation[kind->relation];
    const RowSet *from = &shard->set[edges->from];
    int64_t rows = set_reach(&shard->set[edges->to], kind->target_hops);
    bool whole = !edges_leave_out(edges, rows, set_reach(from, kind->source_hops), from->own);
    if (whole && (edges->remote == 0 || share_with))
        return 0;
    size_t entry = sizeof(int32_t) + (edges->weight != NULL ? sizeof(float) : 0);
    return ((size_t)edges->offset[rows] - boundary) * entry + ((size_t)rows + 1) * sizeof(int64_t);
}

// What the heap adds: a helper thread allocates and frees arrays, which leaves gaps. Measured.
static size_t heap(size_t bytes) { return bytes / 8 + smaller(bytes / 4, 256 << 10); }

PatternBytes pattern_bound(const Shard *shard, const PatternKind *kind, bool share_with) {
    const ShardRelation *edges = &shard->relation[kind->relation];
    const ShardRelation *readers = shard_transposed(shard, kind->relation);
    const RowSet *from = &shard->set[edges->from];
    int64_t targets = set_reach(&shard->set[edges->to], kind->target_hops);
    size_t rows = (size_t)targets, remote = (size_t)edges->remote;
    BoundaryEdges in = count_boundary(shard, edges, targets), out = in;
    if (readers != edges)
        out = count_boundary(shard, readers, from->own);
    size_t weight = edges->weight != NULL ? sizeof(float) : 0, entry = sizeof(int32_t) + weight;
    size_t partials = kind->cover == COVER_SOURCES ? 0
                      : kind->cover == COVER_MIN   ? remote
                                                   : in.edges;
    size_t made = kind->cover == COVER_SOURCES ? 0 : out.edges * entry; // partial aggregates
    size_t sent = smaller(out.edges, (size_t)from->own * (size_t)shard->parts);
    size_t lists = sent * sizeof(int32_t);
    size_t own = own_bytes(shard, kind, share_with, in.edges);
    // entries of the halo Csr, or members of requests instead of them
    size_t halo = in.edges * entry + smaller(rows, in.edges) * (sizeof(int64_t) + sizeof(int32_t)) +
                  remote * sizeof(int64_t);
    size_t asks = remote * sizeof(int32_t) + partials * 3 * sizeof(int32_t);
    size_t ids = (size_t)set_reach(from, kind->source_hops) * sizeof(int64_t);
    size_t boundary = in.edges * (2 * sizeof(int32_t) + weight + 1) + remote;
    size_t cover = kind->cover == COVER_MIN ? cover_bytes(&in, rows) : 0;
    size_t looking = boundary + larger(cover, halo + asks + rows * sizeof(int64_t));
    size_t hearing = halo + made + lists + larger(asks, ids + made + lists);
    size_t kept = halo + ids + made + lists;
    size_t checking = kept + 2 * sizeof(int64_t) * (remote + sent); // ids of both ends (valid.c)
    size_t most = own + larger(looking, larger(hearing, checking));
    return (PatternBytes){.kept = own + kept, .most = most + heap(most)};
}

void pattern_forecast(MemoryForecast *forecast, const Pattern *p) {
    forecast_add(forecast, "edges of the Patterns",
                 (p->borrowed_own ? 0 : csr_bytes(&p->own)) + csr_bytes(&p->halo) +
                     csr_bytes(&p->partial));
    const HaloPlan *halo = &p->plan;
    size_t lists = 3 * (size_t)halo->size * sizeof(int64_t) +
                   (size_t)halo->send_offset[halo->size - 1] * sizeof(int32_t) +
                   (size_t)p->halo.rows * sizeof(int32_t);
    size_t ids = (size_t)(halo->sources + halo->partials + halo->halo_count) * sizeof(int64_t);
    forecast_add(forecast, "halo lists and global ids", lists + ids);
}
