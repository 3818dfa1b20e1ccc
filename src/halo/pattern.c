// shard -> Pattern, in four steps:
//  1. split the shard's edges into edges between own rows and boundary edges;
//  2. choose for each boundary edge the row that travels for it (boundary.c) and number the halo
//     columns;
//  3. send requests to the owners of these rows (requests.c);
//  4. build the send lists and the edges of the partial aggregates from the requests of the
//  readers.
// If a Pattern keeps all own edges of its rows, it borrows them from the shard or another Pattern.
#include "internal.h"

void cover_choose(Cover cover[SHARD_SETS], const char *word, int sets) {
    bool replicas = strcmp(word, "replicas") == 0 && sets > 1;
    for (int set = 0; set < SHARD_SETS; set++)
        cover[set] = strcmp(word, "min") == 0                                     ? COVER_MIN
                     : strcmp(word, "targets") == 0 || (replicas && set == NODES) ? COVER_TARGETS
                                                                                  : COVER_SOURCES;
}

int64_t set_reach(const RowSet *set, int hops) {
    return hops == HOPS_ALL ? set->own : set->reach[hops];
}

// ---- edges between own rows

// The end of the edges of row i whose column is below `sources`. Columns ascend, so these edges
// come first.
static int64_t own_end(const ShardRelation *edges, int64_t i, int64_t sources) {
    int64_t e = edges->offset[i + 1];
    while (e > edges->offset[i] && edges->column[e - 1] >= sources)
        e--;
    return e;
}

bool edges_leave_out(const ShardRelation *edges, int64_t rows, int64_t sources, int64_t own) {
    for (int64_t i = 0; i < rows && sources < own; i++)
        if (own_end(edges, i, sources) < own_end(edges, i, own))
            return true;
    return false;
}

// Copies the edges of each row up to its own_end.
static void copy_own(Pattern *pattern, const ShardRelation *edges) {
    int64_t count = 0, n = pattern->rows;
    for (int64_t i = 0; i < n; i++)
        count += own_end(edges, i, pattern->plan.sources) - edges->offset[i];
    Csr *own = &pattern->own;
    csr_alloc(own, n, count, edges->weight != NULL, "edges of a Pattern");
    for (int64_t i = 0; i < n; i++) {
        int64_t begin = edges->offset[i], more = own_end(edges, i, pattern->plan.sources) - begin;
        memcpy(own->column + own->offset[i], edges->column + begin, (size_t)more * sizeof(int32_t));
        if (own->weight != NULL)
            memcpy(own->weight + own->offset[i], edges->weight + begin,
                   (size_t)more * sizeof(float));
        own->offset[i + 1] = own->offset[i] + more;
    }
}

// Borrows the own edges from the shard, else from `share_with`, else copies them.
static void build_own(Pattern *pattern, const ShardRelation *edges, int64_t own,
                      const Pattern *share_with) {
    bool whole = !edges_leave_out(edges, pattern->rows, pattern->plan.sources, own);
    pattern->borrowed_own = true;
    if (whole && edges->remote == 0) // fields of a Csr are not const; nobody writes to these
        pattern->own =
            (Csr){pattern->rows, (int64_t *)(uintptr_t)edges->offset,
                  (int32_t *)(uintptr_t)edges->column, (float *)(uintptr_t)edges->weight};
    else if (whole && share_with != NULL && share_with->kind.relation == pattern->kind.relation &&
             share_with->rows >= pattern->rows && share_with->plan.sources == own)
        pattern->own = (Csr){pattern->rows, share_with->own.offset, share_with->own.column,
                             share_with->own.weight};
    else {
        pattern->borrowed_own = false;
        copy_own(pattern, edges);
    }
}

// ---- halo columns and their edges

// The boundary edges of one round that have the same target.
typedef struct TargetEdges {
    int64_t begin, end;
    bool summed; // some of them
} TargetEdges;

// The next ones of round g, from {0} on; false behind the last.
static bool next_target(TargetEdges *t, const Boundary *b, int g) {
    t->begin = t->end = t->end > b->edge_begin[g] ? t->end : b->edge_begin[g];
    t->summed = false;
    while (t->end < b->edge_begin[g + 1] && b->target[t->end] == b->target[t->begin])
        t->summed |= b->as_sum[t->end++];
    return t->begin < t->end;
}

static int64_t count_columns(const Boundary *b) {
    int64_t count = 0;
    for (int64_t h = 0; h < b->sources; h++)
        count += b->as_row[h];
    for (int g = 0; g < b->rounds; g++)
        for (TargetEdges t = {0}; next_target(&t, b, g);)
            count += t.summed;
    return count;
}

// Numbers the halo columns: in each round first the rows of sources, then the partial aggregates.
// column: [all remote sources] the halo column of each.
static void number_columns(Pattern *pattern, const Boundary *b, const ShardRelation *edges,
                           const int64_t *own_gid, int32_t *column) {
    int64_t count = 0;
    int64_t *id = ALLOC(int64_t, count_columns(b), "global ids");
    for (int g = 0; g < b->rounds; g++) {
        for (int64_t h = edges->remote_round[g]; h < edges->remote_round[g + 1]; h++)
            if (b->as_row[h]) {
                id[count] = edges->remote_gid[h];
                column[h] = (int32_t)count++;
            }
        for (TargetEdges t = {0}; next_target(&t, b, g);)
            if (t.summed)
                id[count++] = -1 - own_gid[b->target[t.begin]];
        pattern->plan.receive_offset[g + 1] = count;
        pattern->plan.sources_read[g] = b->used[g];
    }
    pattern->plan.halo_count = count;
    pattern->plan.halo_id = id;
}

// Counts the entries of each target in the halo Csr: entries[target].
static void count_entries(const Boundary *b, int64_t *entries) {
    for (int g = 0; g < b->rounds; g++)
        for (TargetEdges t = {0}; next_target(&t, b, g);) {
            entries[b->target[t.begin]] += t.summed;
            for (int64_t e = t.begin; e < t.end; e++)
                entries[b->target[e]] += !b->as_sum[e];
        }
}

// Lists the rows that have entries and turns the counts into their offsets. On return
// entries[target] is the position of the target's next entry.
static void list_halo_rows(Pattern *pattern, int64_t *entries, bool weighted) {
    int64_t rows = 0, count = 0;
    for (int64_t i = 0; i < pattern->rows; i++) {
        rows += entries[i] > 0;
        count += entries[i];
    }
    csr_alloc(&pattern->halo, rows, count, weighted, "edges of a Pattern");
    pattern->halo_row = ALLOC(int32_t, rows, "rows with halo columns");
    int64_t k = 0;
    for (int64_t i = 0; i < pattern->rows; i++) {
        if (entries[i] == 0)
            continue;
        int64_t begin = pattern->halo.offset[k];
        pattern->halo_row[k++] = (int32_t)i;
        pattern->halo.offset[k] = begin + entries[i];
        entries[i] = begin;
    }
}

static void put_entry(Csr *csr, int64_t *at, int32_t column, float weight) {
    csr->column[*at] = column;
    if (csr->weight != NULL)
        csr->weight[*at] = weight;
    ++*at;
}

// Writes the entries round by round, rows before partial aggregates, so columns ascend (invariant
// 3).
static void fill_halo(Pattern *pattern, const Boundary *b, const int32_t *column,
                      int64_t *entries) {
    for (int g = 0; g < b->rounds; g++) {
        int64_t partials = pattern->plan.receive_offset[g + 1];
        for (TargetEdges t = {0}; next_target(&t, b, g);)
            partials -= t.summed;
        for (TargetEdges t = {0}; next_target(&t, b, g);) {
            int64_t *at = &entries[b->target[t.begin]];
            for (int64_t e = t.begin; e < t.end; e++)
                if (!b->as_sum[e])
                    put_entry(&pattern->halo, at, column[b->source[e]],
                              b->weight != NULL ? b->weight[e] : 1);
            if (t.summed)
                put_entry(&pattern->halo, at, (int32_t)partials++, 1);
        }
    }
}

static void build_halo(Pattern *pattern, const Boundary *b, const ShardRelation *edges,
                       const int64_t *own_gid) {
    FREED int32_t *column = ALLOC(int32_t, edges->remote, "halo columns");
    FREED int64_t *entries = ALLOC(int64_t, pattern->rows, "halo columns");
    number_columns(pattern, b, edges, own_gid, column);
    count_entries(b, entries);
    list_halo_rows(pattern, entries, edges->weight != NULL);
    fill_halo(pattern, b, column, entries);
}

// Finds the ascending ranges of rows without halo columns (invariant 2). If there are more than
// PATTERN_RANGES, the shortest are left out: their rows wait for the halo, which changes no bit.
static void find_central(Pattern *pattern) {
    int64_t begin = 0; // of the range between two halo rows
    for (int64_t k = 0; k <= pattern->halo.rows; k++) {
        int64_t end = k < pattern->halo.rows ? pattern->halo_row[k] : pattern->rows;
        Range range = {begin, end};
        begin = end + 1;
        if (range.begin >= range.end)
            continue;
        if (pattern->range_count == PATTERN_RANGES) { // make room: drop the shortest range
            int shortest = 0;
            for (int r = 1; r < PATTERN_RANGES; r++)
                if (pattern->central[r].end - pattern->central[r].begin <
                    pattern->central[shortest].end - pattern->central[shortest].begin)
                    shortest = r;
            Range *drop = &pattern->central[shortest];
            if (drop->end - drop->begin >= range.end - range.begin)
                continue;
            memmove(drop, drop + 1, (size_t)(PATTERN_RANGES - 1 - shortest) * sizeof *drop);
            pattern->range_count--;
        }
        pattern->central[pattern->range_count++] = range;
    }
}

// ---- building

// Steps 1 to 3, without communication.
void pattern_make_reader_part(void *context) {
    Making *m = context;
    Pattern *pattern = m->pattern;
    const ShardRelation *edges = &m->shard->relation[pattern->kind.relation];
    int64_t own = m->shard->set[edges->from].own;
    CLEARED(boundary_clear) Boundary boundary = {0};
    boundary_init(&boundary, edges, own, pattern->rows, m->limit, pattern->plan.rank,
                  pattern->plan.size);
    boundary_cover(&boundary, edges, pattern->kind.cover);
    build_own(pattern, edges, own, m->share_with);
    build_halo(pattern, &boundary, edges, m->shard->set[edges->to].gid);
    find_central(pattern);
    requests_write(&m->sent, pattern, &boundary, m->shard);
}

// Step 4.
static void build_sender_part(void *context) {
    Making *m = context;
    const ShardRelation *edges = &m->shard->relation[m->pattern->kind.relation];
    requests_apply(m->pattern, m->shard, &m->received, edges->weight != NULL);
    requests_clear(&m->received);
}

Pattern *pattern_begin(const Shard *shard, const PatternKind *kind, const Comm *comm) {
    assert(shard->part == comm->rank && shard->parts == comm->size);
    assert(kind->relation >= 0 && kind->relation < shard->relations);
    int size = comm->size;
    const ShardRelation *edges = &shard->relation[kind->relation];
    Pattern *pattern = ALLOC(Pattern, 1, "Pattern");
    *pattern =
        (Pattern){.kind = *kind, .rows = set_reach(&shard->set[edges->to], kind->target_hops)};
    pattern->plan = (HaloPlan){.comm = comm,
                               .rank = comm->rank,
                               .size = size,
                               .sources = set_reach(&shard->set[edges->from], kind->source_hops),
                               .receive_offset = ALLOC(int64_t, size, "rounds of the halo"),
                               .sources_read = ALLOC(int64_t, size, "rounds of the halo")};
    return pattern;
}

// The local steps run in a helper thread (comm_on_helper): a rank that reads many more rows than
// the others needs longer, and it must keep answering heartbeats.
Pattern *pattern_new(const Shard *shard, const PatternKind *kind, const Pattern *share_with,
                     const Comm *comm) {
    Pattern *pattern = pattern_begin(shard, kind, comm);
    FREED int64_t *limit = ALLOC(int64_t, comm->size, "sources of all ranks");
    comm_all_gather(comm, &pattern->plan.sources, limit, sizeof *limit);
    Making making = {.pattern = pattern, .shard = shard, .share_with = share_with, .limit = limit};
    comm_on_helper(comm, pattern_make_reader_part, &making);
    requests_exchange(&making.received, &making.sent, comm);
    requests_clear(&making.sent);
    comm_on_helper(comm, build_sender_part, &making);
    CHECK(pattern_is_valid(pattern, true), EXIT_INTEGRITY,
          "the shards of the ranks do not fit each other; remove the folder data.cache");
    return pattern;
}

void pattern_free(Pattern *pattern) {
    if (pattern == NULL)
        return;
    if (!pattern->borrowed_own)
        csr_free(&pattern->own);
    csr_free(&pattern->halo);
    csr_free(&pattern->partial);
    const HaloPlan *plan = &pattern->plan;
    MEMORY_FREE(plan->receive_offset, plan->sources_read, plan->send_offset, plan->send_row,
                plan->source_id, plan->halo_id, pattern->halo_row, pattern);
}
