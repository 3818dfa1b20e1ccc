// Patterns in outline. A reader's part of a Pattern needs its own shard only, and it says what the
// owners must send; so one process that opens all shards of a cut, one reader after the other,
// learns the sizes of all Patterns without a message, and keeps no more than these sizes.
#include "internal.h"

void pattern_counts_init(PatternCounts *counts, int size) {
    *counts = (PatternCounts){.size = size,
                              .received = ALLOC(int64_t, size, "sizes of messages"),
                              .sent = ALLOC(int64_t, size, "sizes of messages")};
}

void pattern_counts_clear(PatternCounts *counts) {
    MEMORY_FREE(counts->received, counts->sent);
    *counts = (PatternCounts){0};
}

static void count_reader(PatternCounts *counts, const Pattern *pattern, const Shard *shard,
                         const PatternKind *kind, bool share_with) {
    const ShardRelation *edges = &shard->relation[kind->relation];
    counts->rows = pattern->rows;
    counts->sources = pattern->plan.sources;
    counts->own_entries = csr_entries(&pattern->own);
    counts->weighted = edges->weight != NULL;
    counts->halo_rows = pattern->halo.rows;
    counts->halo_entries = csr_entries(&pattern->halo);
    bool whole =
        !edges_leave_out(edges, pattern->rows, pattern->plan.sources, shard->set[edges->from].own);
    counts->own = !pattern->borrowed_own && !(whole && share_with) ? OWN_COPIED
                  : whole && edges->remote == 0                    ? OWN_OF_SHARD
                                                                   : OWN_SHARED;
    for (int g = 0; g + 1 < counts->size; g++)
        counts->received[g] = pattern->plan.receive_offset[g + 1] - pattern->plan.receive_offset[g];
}

// What rank `reader` asks of all owners.
static void count_owners(PatternCounts *counts, const Requests *sent, int reader, int parts) {
    for (int owner = 0; owner < parts; owner++) {
        if (owner == reader)
            continue;
        RequestLengths asked = requests_lengths(sent, owner);
        PatternCounts *at = &counts[owner];
        at->partials += asked.partials;
        at->partial_entries += asked.members;
        at->sent[ring_round(reader, owner, parts)] = asked.rows + asked.partials;
        // an edge of the boundary is an entry of the halo Csr or a member of a partial aggregate
        counts[reader].boundary += asked.members - asked.partials;
    }
    counts[reader].boundary += counts[reader].halo_entries;
}

void pattern_count(PatternCounts *counts, const Shard *shard, int parts, const PatternKind *kind,
                   bool share_with) {
    FREED int64_t *limit = ALLOC(int64_t, parts, "sources of all ranks");
    for (int p = 0; p < parts; p++) {
        pattern_counts_init(&counts[p], parts);
        limit[p] =
            set_reach(&shard[p].set[shard[p].relation[kind->relation].from], kind->source_hops);
    }
    for (int p = 0; p < parts; p++) {
        Comm comm = {.rank = p, .size = parts};
        Making making = {
            .pattern = pattern_begin(&shard[p], kind, &comm), .shard = &shard[p], .limit = limit};
        pattern_make_reader_part(&making);
        count_reader(&counts[p], making.pattern, &shard[p], kind, share_with);
        count_owners(counts, &making.sent, p, parts);
        requests_clear(&making.sent);
        pattern_free(making.pattern);
    }
}

// ---- the outline

// Whether there are weights is part of the size; there are none of them.
static Csr outline_csr(int64_t rows, int64_t entries, bool weighted) {
    const char *what = "outline of a Pattern";
    Csr csr = {.rows = rows,
               .offset = ALLOC(int64_t, rows + 1, what),
               .weight = weighted ? ALLOC(float, 0, what) : NULL};
    csr.offset[rows] = entries;
    return csr;
}

// Equal arrays are what tells that two Patterns share their own edges, so an outline shares them,
// too.
static void outline_own(Pattern *pattern, const PatternCounts *counts, const Shard *shard,
                        const Pattern *share_with) {
    pattern->borrowed_own = counts->own != OWN_COPIED;
    if (counts->own == OWN_COPIED)
        pattern->own = outline_csr(counts->rows, counts->own_entries, counts->weighted);
    else if (counts->own == OWN_SHARED)
        pattern->own = share_with->own;
    else { // as build_own borrows them
        const ShardRelation *edges = &shard->relation[pattern->kind.relation];
        pattern->own.offset = (int64_t *)(uintptr_t)edges->offset;
        pattern->own.weight = (float *)(uintptr_t)edges->weight;
    }
    pattern->own.rows = counts->rows;
}

// From the sizes of rounds to their offsets.
static int64_t *outline_offsets(const int64_t *rows, int size) {
    int64_t *offset = ALLOC(int64_t, size, "outline of a Pattern");
    for (int g = 0; g + 1 < size; g++)
        offset[g + 1] = offset[g] + rows[g];
    return offset;
}

Pattern *pattern_outline(const PatternCounts *counts, const PatternKind *kind, const Shard *shard,
                         const Pattern *share_with, const Comm *comm) {
    Pattern *pattern = ALLOC(Pattern, 1, "outline of a Pattern");
    int size = counts->size;
    *pattern = (Pattern){.kind = *kind, .rows = counts->rows};
    outline_own(pattern, counts, shard, share_with);
    pattern->central[0] = (Range){0, counts->rows - counts->halo_rows}; // as shards number rows
    pattern->range_count = 1;
    pattern->halo = outline_csr(counts->halo_rows, counts->halo_entries, counts->weighted);
    pattern->partial = outline_csr(counts->partials, counts->partial_entries, counts->weighted);
    pattern->plan = (HaloPlan){.comm = comm,
                               .rank = comm->rank,
                               .size = size,
                               .sources = counts->sources,
                               .partials = counts->partials,
                               .receive_offset = outline_offsets(counts->received, size),
                               .send_offset = outline_offsets(counts->sent, size)};
    pattern->plan.halo_count = pattern->plan.receive_offset[size - 1];
    return pattern;
}
