// shard -> Pattern: the shard's edges cut into those between own rows and those that read the halo,
// and the send lists, which each reader hands to the owners of its halo rows (law 5). Where a part
// reads nothing remote the own Csr is the shard's, borrowed; else both are copies, because a shard
// keeps a row's own and remote columns together.
#include "fringe/halo.h"
#include <string.h>

// Part that group g of the receive side comes from, and that group g of the send side goes to.
static int sender_of(const Pattern *pattern, int g) {
    return (pattern->rank - 1 - g + pattern->size) % pattern->size;
}
static int reader_of(const Pattern *pattern, int g) {
    return (pattern->rank + 1 + g) % pattern->size;
}

static void csr_take(Csr *csr, int64_t rows, int64_t edges, bool weighted) {
    csr->rows = rows;
    csr->offset = TAKE(int64_t, rows + 1, "offsets of a Pattern");
    csr->column = TAKE(int32_t, edges, "columns of a Pattern");
    csr->weight = weighted ? TAKE(float, edges, "weights of a Pattern") : NULL;
}

static void csr_give(Csr *csr) {
    memory_give(csr->offset);
    memory_give(csr->column);
    memory_give(csr->weight);
}

// First halo column of row i: columns ascend, and own ones come first.
static int64_t first_remote(const ShardEdges *edges, int64_t i, int64_t own) {
    int64_t e = edges->offset[i + 1];
    while (e > edges->offset[i] && edges->column[e - 1] >= own)
        e--;
    return e;
}

static void csr_append(Csr *csr, int64_t row, const ShardEdges *edges, int64_t begin, int64_t end,
                       int32_t first_column) {
    int64_t at = csr->offset[row];
    for (int64_t e = begin; e < end; e++, at++) {
        csr->column[at] = edges->column[e] - first_column;
        if (csr->weight != NULL)
            csr->weight[at] = edges->weight[e];
    }
    csr->offset[row + 1] = at;
}

static void borrow_own(Pattern *pattern, const ShardEdges *edges) {
    // the Csr's fields are not const because other Csrs own theirs; nobody writes to this one
    pattern->own = (Csr){pattern->rows, (int64_t *)(uintptr_t)edges->offset,
                         (int32_t *)(uintptr_t)edges->column, (float *)(uintptr_t)edges->weight};
    pattern->borrowed_own = true;
    csr_take(&pattern->halo, 0, 0, edges->weight != NULL);
    pattern->halo_row = TAKE(int32_t, 0, "rows with halo columns");
}

static void split_edges(Pattern *pattern, const ShardEdges *edges) {
    if (edges->remote == 0) {
        borrow_own(pattern, edges);
        return;
    }
    int64_t rows = 0, remote = 0, n = pattern->rows;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = edges->offset[i + 1] - first_remote(edges, i, n);
        rows += count > 0;
        remote += count;
    }
    csr_take(&pattern->own, n, edges->edges - remote, edges->weight != NULL);
    csr_take(&pattern->halo, rows, remote, edges->weight != NULL);
    pattern->halo_row = TAKE(int32_t, rows, "rows with halo columns");
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t middle = first_remote(edges, i, n), end = edges->offset[i + 1];
        csr_append(&pattern->own, i, edges, edges->offset[i], middle, 0);
        if (middle == end)
            continue;
        pattern->halo_row[k] = (int32_t)i;
        csr_append(&pattern->halo, k++, edges, middle, end, (int32_t)n);
    }
}

// Rows without halo columns as ranges (law 2), ascending. Where there are more than fit the shorter
// ones are left out: they then wait for the halo, which changes no bit.
static void find_central(Pattern *pattern) {
    int64_t begin = 0;
    for (int64_t k = 0; k <= pattern->halo.rows; k++) {
        int64_t end = k < pattern->halo.rows ? pattern->halo_row[k] : pattern->rows;
        Range range = {begin, end};
        begin = end + 1;
        if (range.begin >= range.end)
            continue;
        if (pattern->range_count == PATTERN_RANGES) { // drop the shortest of all
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

// Tells every owner which of its rows this rank reads, in halo order, and learns the same of its
// own rows. comm_all_to_all_v has its pieces in rank order, lists here are in ring order.
static void exchange_lists(Pattern *pattern, const ShardEdges *edges, const Comm *comm) {
    int size = pattern->size;
    int64_t *ask_count = TAKE(int64_t, size, "send lists");
    int64_t *give_count = TAKE(int64_t, size, "send lists");
    for (int g = 0; g + 1 < size; g++)
        ask_count[sender_of(pattern, g)] =
            pattern->receive_offset[g + 1] - pattern->receive_offset[g];
    comm_all_to_all(comm, ask_count, give_count, sizeof(int64_t));
    int64_t *ask_offset = TAKE(int64_t, size + 1, "send lists");
    int64_t *give_offset = TAKE(int64_t, size + 1, "send lists");
    for (int r = 0; r < size; r++) {
        ask_offset[r + 1] = ask_offset[r] + ask_count[r] * (int64_t)sizeof(int32_t);
        give_offset[r + 1] = give_offset[r] + give_count[r] * (int64_t)sizeof(int32_t);
    }
    char *ask = memory_take((size_t)ask_offset[size], "send lists");
    char *give = memory_take((size_t)give_offset[size], "send lists");
    for (int g = 0; g + 1 < size; g++)
        memcpy(ask + ask_offset[sender_of(pattern, g)],
               edges->remote_row + pattern->receive_offset[g],
               (size_t)ask_count[sender_of(pattern, g)] * sizeof(int32_t));
    comm_all_to_all_v(comm, ask, ask_offset, give, give_offset);
    for (int g = 0; g + 1 < size; g++)
        pattern->send_offset[g + 1] = pattern->send_offset[g] + give_count[reader_of(pattern, g)];
    pattern->send_row = TAKE(int32_t, pattern->send_offset[size - 1], "send lists");
    for (int g = 0; g + 1 < size; g++)
        memcpy(pattern->send_row + pattern->send_offset[g],
               give + give_offset[reader_of(pattern, g)],
               (size_t)give_count[reader_of(pattern, g)] * sizeof(int32_t));
    memory_give(give);
    memory_give(ask);
    memory_give(give_offset);
    memory_give(ask_offset);
    memory_give(give_count);
    memory_give(ask_count);
}

Pattern *pattern_new(const Shard *shard, bool backward, const Comm *comm) {
    assert(shard->part == comm->rank && shard->parts == comm->size);
    const ShardEdges *edges = backward ? &shard->backward : &shard->forward;
    Pattern *pattern = TAKE(Pattern, 1, "Pattern");
    *pattern = (Pattern){.rank = comm->rank,
                         .size = comm->size,
                         .rows = shard->own,
                         .sources = shard->own,
                         .halo_count = edges->remote,
                         .receive_offset = TAKE(int64_t, comm->size, "groups of the halo"),
                         .send_offset = TAKE(int64_t, comm->size, "groups of the send lists"),
                         .gid = TAKE(int64_t, shard->own + edges->remote, "global ids"),
                         .comm = comm};
    memcpy(pattern->gid, shard->gid, (size_t)shard->own * sizeof(int64_t));
    memcpy(pattern->gid + shard->own, edges->remote_gid, (size_t)edges->remote * sizeof(int64_t));
    memcpy(pattern->receive_offset, edges->remote_group, (size_t)comm->size * sizeof(int64_t));
    split_edges(pattern, edges);
    find_central(pattern);
    exchange_lists(pattern, edges, comm);
    CHECK(pattern_is_valid(pattern, true), EXIT_INTEGRITY,
          "the shards of the ranks do not fit each other; remove the folder data.cache");
    return pattern;
}

void pattern_free(Pattern *pattern) {
    if (pattern == NULL)
        return;
    if (!pattern->borrowed_own)
        csr_give(&pattern->own);
    csr_give(&pattern->halo);
    memory_give(pattern->halo_row);
    memory_give(pattern->receive_offset);
    memory_give(pattern->send_offset);
    memory_give(pattern->send_row);
    memory_give(pattern->gid);
    memory_give(pattern);
}

void pattern_plan(MemoryPlan *plan, const Shard *shard, bool backward) {
    const ShardEdges *edges = backward ? &shard->backward : &shard->forward;
    size_t own = (size_t)shard->own, remote = (size_t)edges->remote, count = (size_t)edges->edges;
    size_t each = sizeof(int32_t) + (edges->weight != NULL ? sizeof(float) : 0);
    memory_plan_add(plan, "edges of the Patterns",
                    edges->remote == 0 ? 0 : count * each + (own + 1) * sizeof(int64_t) * 2);
    memory_plan_add(plan, "halo lists and global ids",
                    (own + remote) * sizeof(int64_t) + own * sizeof(int32_t) +
                        remote * 2 * sizeof(int32_t));
}

HaloCounts pattern_counts(const Pattern *pattern) {
    int64_t sent = pattern->send_offset[pattern->size - 1];
    uint8_t *read = TAKE(uint8_t, pattern->rows, "boundary rows");
    HaloCounts counts = {.own = pattern->rows,
                         .central = pattern->rows - pattern->halo.rows,
                         .marginal = pattern->halo.rows,
                         .halo = pattern->halo_count,
                         .sent = sent};
    for (int64_t k = 0; k < sent; k++) {
        counts.boundary += read[pattern->send_row[k]] == 0;
        read[pattern->send_row[k]] = 1;
    }
    memory_give(read);
    return counts;
}
