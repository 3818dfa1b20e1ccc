// What readers ask of owners: the rows of a group, then the partial sums of that group, each with
// the rows it adds up. From these an owner makes its send lists (law 5) and the edges of the sums.
#include "internal.h"
#include <string.h>

// Lists of one kind, group after group: at the reader as it asks, at the owner as it was asked.
typedef struct Lists {
    int64_t *asked_offset, *offset; // [size] at the reader; at the owner
    void *asked, *got;              // elements of those lists
} Lists;

static void lists_move(Lists *lists, const Comm *comm, size_t bytes) {
    lists->offset = ring_offsets_at_owners(comm, lists->asked_offset);
    lists->got =
        memory_take(memory_product(lists->offset[comm->size - 1], bytes), "requests to owners");
    ring_to_owners(comm, lists->asked_offset, lists->asked, lists->offset, lists->got, bytes);
}

static Lists lists_take(int size, int64_t count, size_t bytes) {
    return (Lists){.asked_offset = TAKE(int64_t, size, "requests to owners"),
                   .asked = memory_take(memory_product(count, bytes), "requests to owners")};
}

static void lists_clear(Lists *lists) {
    memory_give(lists->asked_offset);
    memory_give(lists->offset);
    memory_give(lists->asked);
    memory_give(lists->got);
}

typedef struct Requests {
    Lists rows;    // int32_t: a row of the owner
    Lists targets; // int64_t: id of the row that a sum is for
    Lists members; // int32_t: rows of the owner, sum after sum
    Lists weights; // float: of members; empty without weights
    Lists ends;    // int64_t: of each sum, members up to its end, counted inside the group
} Requests;

static void ask_rows(Requests *ask, const Boundary *b, const ShardEdges *edges) {
    int32_t *row = ask->rows.asked;
    int64_t count = 0;
    for (int g = 0; g < b->groups; g++) {
        for (int64_t h = edges->remote_group[g]; h < edges->remote_group[g + 1]; h++)
            if (b->as_row[h])
                row[count++] = edges->remote_row[h];
        ask->rows.asked_offset[g + 1] = count;
    }
}

static void ask_sums(Requests *ask, const Boundary *b, const ShardEdges *edges,
                     const int64_t *gid) {
    int64_t sums = 0, members = 0;
    for (int g = 0; g < b->groups; g++) {
        int64_t first = members;
        for (int64_t e = b->edge_begin[g]; e < b->edge_begin[g + 1]; e++) {
            if (!b->as_sum[e])
                continue;
            int64_t id = gid[b->target[e]];
            if (members == first || ((int64_t *)ask->targets.asked)[sums - 1] != id)
                ((int64_t *)ask->targets.asked)[sums++] = id;
            if (b->weight != NULL)
                ((float *)ask->weights.asked)[members] = b->weight[e];
            ((int32_t *)ask->members.asked)[members++] = edges->remote_row[b->source[e]];
            ((int64_t *)ask->ends.asked)[sums - 1] = members - first;
        }
        ask->targets.asked_offset[g + 1] = ask->ends.asked_offset[g + 1] = sums;
        ask->members.asked_offset[g + 1] = members;
        ask->weights.asked_offset[g + 1] = b->weight != NULL ? members : 0;
    }
}

static void make_send_lists(Pattern *pattern, const Requests *got) {
    const int64_t *rows = got->rows.offset, *sums = got->targets.offset;
    int64_t at = 0;
    pattern->send_offset = TAKE(int64_t, pattern->size, "send lists");
    pattern->send_row =
        TAKE(int32_t, rows[pattern->size - 1] + sums[pattern->size - 1], "send lists");
    for (int g = 0; g + 1 < pattern->size; g++) {
        for (int64_t k = rows[g]; k < rows[g + 1]; k++)
            pattern->send_row[at++] = ((const int32_t *)got->rows.got)[k];
        for (int64_t k = sums[g]; k < sums[g + 1]; k++)
            pattern->send_row[at++] = (int32_t)(pattern->sources + k);
        pattern->send_offset[g + 1] = at;
    }
}

static void make_sums(Pattern *pattern, const Requests *got, bool weighted) {
    const int64_t *sums = got->targets.offset, *members = got->members.offset;
    int groups = pattern->size - 1;
    Csr *pre = &pattern->pre;
    edges_take(pre, sums[groups], members[groups], weighted);
    memcpy(pre->column, got->members.got, (size_t)members[groups] * sizeof(int32_t));
    if (weighted)
        memcpy(pre->weight, got->weights.got, (size_t)members[groups] * sizeof(float));
    for (int g = 0; g < groups; g++)
        for (int64_t k = sums[g]; k < sums[g + 1]; k++)
            pre->offset[k + 1] = members[g] + ((const int64_t *)got->ends.got)[k];
}

static void make_ids(Pattern *pattern, const Shard *shard, const Requests *got) {
    int64_t sources = pattern->sources, sums = pattern->pre.rows;
    pattern->gid = TAKE(int64_t, sources + sums, "global ids");
    memcpy(pattern->gid, shard->gid, (size_t)sources * sizeof(int64_t));
    for (int64_t k = 0; k < sums; k++)
        pattern->gid[sources + k] = -1 - ((const int64_t *)got->targets.got)[k];
}

void requests_make(Pattern *pattern, const Boundary *b, const Shard *shard) {
    const ShardEdges *edges = pattern->kind.backward ? &shard->backward : &shard->forward;
    int64_t most = b->edge_begin[b->groups];
    bool weighted = edges->weight != NULL;
    int size = pattern->size;
    Requests ask = {.rows = lists_take(size, pattern->halo_count, sizeof(int32_t)),
                    .targets = lists_take(size, pattern->halo_count, sizeof(int64_t)),
                    .members = lists_take(size, most, sizeof(int32_t)),
                    .weights = lists_take(size, weighted ? most : 0, sizeof(float)),
                    .ends = lists_take(size, pattern->halo_count, sizeof(int64_t))};
    ask_rows(&ask, b, edges);
    ask_sums(&ask, b, edges, shard->gid);
    lists_move(&ask.rows, pattern->comm, sizeof(int32_t));
    lists_move(&ask.targets, pattern->comm, sizeof(int64_t));
    lists_move(&ask.members, pattern->comm, sizeof(int32_t));
    lists_move(&ask.weights, pattern->comm, sizeof(float));
    lists_move(&ask.ends, pattern->comm, sizeof(int64_t));
    make_send_lists(pattern, &ask);
    make_sums(pattern, &ask, weighted);
    make_ids(pattern, shard, &ask);
    Lists *lists[] = {&ask.rows, &ask.targets, &ask.members, &ask.weights, &ask.ends};
    for (int i = 0; i < 5; i++)
        lists_clear(lists[i]);
}
