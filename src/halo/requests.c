// What readers ask of owners: the rows of a group, then the partial sums of that group, each with
// the rows it adds up. From these an owner makes its send lists (law 5) and the edges of the sums.
#include "internal.h"
#include <string.h>

// Three kinds of lists, group after group, each with offsets at the reader, as it asks, and at the
// owner, as it was asked.
typedef enum Kind { ROWS, SUMS, MEMBERS, KINDS } Kind;

typedef struct Requests {
    int64_t *asked[KINDS]; // [size] offsets at the reader
    int64_t *got[KINDS];   // [size] offsets at the owner
    int32_t *row;          // [ROWS] a row of the owner
    int64_t *target;       // [SUMS] id of the row that a sum is for
    int64_t *end;          // [SUMS] its members up to its end, counted inside the group
    int32_t *member;       // [MEMBERS] rows of the owner, sum after sum
    float *weight;         // [MEMBERS] or NULL
} Requests;

// What was asked, at the owner; gives the reader's list back.
static void *ask_owners(const Requests *ask, Kind kind, const Comm *comm, void *list,
                        size_t bytes) {
    int64_t count = ask->got[kind][comm->size - 1];
    void *got = memory_take(memory_product(count, bytes), "requests to owners");
    ring_to_owners(comm, ask->asked[kind], list, ask->got[kind], got, bytes);
    memory_give(list);
    return got;
}

static void list_rows(Requests *ask, const Boundary *b, const ShardEdges *edges) {
    int64_t count = 0;
    for (int g = 0; g < b->groups; g++) {
        for (int64_t h = edges->remote_group[g]; h < edges->remote_group[g + 1]; h++)
            if (b->as_row[h])
                ask->row[count++] = edges->remote_row[h];
        ask->asked[ROWS][g + 1] = count;
    }
}

static void list_sums(Requests *ask, const Boundary *b, const ShardEdges *edges,
                      const int64_t *gid) {
    int64_t sums = 0, members = 0;
    for (int g = 0; g < b->groups; g++) {
        int64_t first = members;
        for (int64_t e = b->edge_begin[g]; e < b->edge_begin[g + 1]; e++) {
            if (!b->as_sum[e])
                continue;
            int64_t id = gid[b->target[e]];
            if (members == first || ask->target[sums - 1] != id)
                ask->target[sums++] = id;
            if (ask->weight != NULL)
                ask->weight[members] = b->weight[e];
            ask->member[members++] = edges->remote_row[b->source[e]];
            ask->end[sums - 1] = members - first;
        }
        ask->asked[SUMS][g + 1] = sums;
        ask->asked[MEMBERS][g + 1] = members;
    }
}

static void move_all(Requests *ask, const Comm *comm, Cover cover) {
    for (int kind = 0; kind < KINDS; kind++) // all ranks know that there are no sums
        ask->got[kind] = kind == ROWS || cover != COVER_SOURCES
                             ? ring_offsets_at_owners(comm, ask->asked[kind])
                             : TAKE(int64_t, comm->size, "requests to owners");
    ask->row = ask_owners(ask, ROWS, comm, ask->row, sizeof *ask->row);
    if (cover == COVER_SOURCES)
        return;
    ask->target = ask_owners(ask, SUMS, comm, ask->target, sizeof *ask->target);
    ask->end = ask_owners(ask, SUMS, comm, ask->end, sizeof *ask->end);
    ask->member = ask_owners(ask, MEMBERS, comm, ask->member, sizeof *ask->member);
    if (ask->weight != NULL)
        ask->weight = ask_owners(ask, MEMBERS, comm, ask->weight, sizeof *ask->weight);
}

static void make_send_lists(Pattern *pattern, const Requests *got) {
    const int64_t *rows = got->got[ROWS], *sums = got->got[SUMS];
    int groups = pattern->size - 1;
    int64_t at = 0;
    pattern->send_offset = TAKE(int64_t, pattern->size, "send lists");
    pattern->send_row = TAKE(int32_t, rows[groups] + sums[groups], "send lists");
    for (int g = 0; g < groups; g++) {
        for (int64_t k = rows[g]; k < rows[g + 1]; k++)
            pattern->send_row[at++] = got->row[k];
        for (int64_t k = sums[g]; k < sums[g + 1]; k++)
            pattern->send_row[at++] = (int32_t)(pattern->sources + k);
        pattern->send_offset[g + 1] = at;
    }
}

static void make_sums(Pattern *pattern, const Requests *got) {
    const int64_t *sums = got->got[SUMS], *members = got->got[MEMBERS];
    int groups = pattern->size - 1;
    Csr *pre = &pattern->pre;
    edges_take(pre, sums[groups], members[groups], got->weight != NULL);
    memcpy(pre->column, got->member, (size_t)members[groups] * sizeof *got->member);
    if (pre->weight != NULL)
        memcpy(pre->weight, got->weight, (size_t)members[groups] * sizeof *got->weight);
    for (int g = 0; g < groups; g++)
        for (int64_t k = sums[g]; k < sums[g + 1]; k++)
            pre->offset[k + 1] = members[g] + got->end[k];
}

static void make_ids(Pattern *pattern, const Shard *shard, const Requests *got) {
    int64_t sources = pattern->sources, sums = pattern->pre.rows;
    pattern->gid = TAKE(int64_t, sources + sums, "global ids");
    memcpy(pattern->gid, shard->gid, (size_t)sources * sizeof(int64_t));
    for (int64_t k = 0; k < sums; k++)
        pattern->gid[sources + k] = -1 - got->target[k];
}

void requests_make(Pattern *pattern, const Boundary *b, const Shard *shard) {
    const ShardEdges *edges = pattern->kind.backward ? &shard->backward : &shard->forward;
    int64_t members = b->edge_begin[b->groups];
    Requests ask = {.row = TAKE(int32_t, pattern->halo_count, "requests to owners"),
                    .target = TAKE(int64_t, pattern->halo_count, "requests to owners"),
                    .end = TAKE(int64_t, pattern->halo_count, "requests to owners"),
                    .member = TAKE(int32_t, members, "requests to owners")};
    if (edges->weight != NULL)
        ask.weight = TAKE(float, members, "requests to owners");
    for (int kind = 0; kind < KINDS; kind++)
        ask.asked[kind] = TAKE(int64_t, pattern->size, "requests to owners");
    list_rows(&ask, b, edges);
    list_sums(&ask, b, edges, shard->gid);
    move_all(&ask, pattern->comm, pattern->kind.cover);
    make_send_lists(pattern, &ask);
    make_sums(pattern, &ask);
    make_ids(pattern, shard, &ask);
    for (int kind = 0; kind < KINDS; kind++) {
        memory_give(ask.asked[kind]);
        memory_give(ask.got[kind]);
    }
    void *lists[] = {ask.row, ask.target, ask.end, ask.member, ask.weight};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        memory_give(lists[i]);
}
