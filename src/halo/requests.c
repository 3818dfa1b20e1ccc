// What readers ask of owners: the rows of a group, and its partial sums, each with the rows that it
// adds up. From these an owner makes its send lists (law 5) and the edges of the sums.
//
// The one idea: all that a reader asks of an owner is one list of words, so that however much there
// is to say it takes two collective calls, one for the lengths and one for the lists. A word has 4
// bytes, as rows, ids of nodes and edges of one group do, for there may be a word for every edge of
// the boundary; lists lie in the order of ranks, as the call wants them.
#include "internal.h"
#include <string.h>

enum { ROWS, SUMS, MEMBERS, HEAD };

typedef struct Request { // to one owner, or from one reader; its parts lie in this order
    int32_t *count;      // [HEAD] how long they are
    int32_t *row;        // [ROWS] a row of the owner, which travels itself
    int32_t *target;     // [SUMS] id of the row that a sum is for
    int32_t *end;        // [SUMS] its members up to its end
    int32_t *member;     // [MEMBERS] a row of the owner, sum after sum
    int32_t *weight;     // [MEMBERS] of the edge to it, a float; or none of them
} Request;

static int64_t words_of(const int32_t *count, bool weighted) {
    return HEAD + count[ROWS] + 2 * (int64_t)count[SUMS] +
           (weighted ? 2 : 1) * (int64_t)count[MEMBERS];
}

static Request request_at(int32_t *word) {
    Request r = {.count = word, .row = word + HEAD};
    r.target = r.row + word[ROWS];
    r.end = r.target + word[SUMS];
    r.member = r.end + word[SUMS];
    r.weight = r.member + word[MEMBERS];
    return r;
}

// ---- the reader

static void count_group(int32_t *count, const Boundary *b, const ShardRelation *edges, int g) {
    for (int64_t h = edges->remote_group[g]; h < edges->remote_group[g + 1]; h++)
        count[ROWS] += b->as_row[h];
    int32_t target = -1;
    for (int64_t e = b->edge_begin[g]; e < b->edge_begin[g + 1]; e++)
        if (b->as_sum[e]) {
            count[SUMS] += b->target[e] != target;
            count[MEMBERS]++;
            target = b->target[e];
        }
}

static void fill_group(const Request *ask, const Boundary *b, const ShardRelation *edges,
                       const int64_t *gid, int g) {
    int32_t rows = 0, sums = 0, members = 0;
    for (int64_t h = edges->remote_group[g]; h < edges->remote_group[g + 1]; h++)
        if (b->as_row[h])
            ask->row[rows++] = edges->remote_row[h];
    int32_t target = -1;
    for (int64_t e = b->edge_begin[g]; e < b->edge_begin[g + 1]; e++) {
        if (!b->as_sum[e])
            continue;
        sums += b->target[e] != target;
        target = b->target[e];
        if (edges->weight != NULL)
            memcpy(&ask->weight[members], &b->weight[e], sizeof *b->weight);
        ask->member[members++] = edges->remote_row[b->source[e]];
        ask->target[sums - 1] = (int32_t)gid[target]; // ids of nodes are below 2^31
        ask->end[sums - 1] = members;
    }
}

// The group of this rank's halo that rank r sends.
static int group_from(const HaloPlan *plan, int r) { return ring_group(plan->rank, r, plan->size); }

void requests_write(Requests *asks, const Pattern *pattern, const Boundary *b, const Shard *shard) {
    const ShardRelation *edges = &shard->relation[pattern->kind.relation];
    bool weighted = edges->weight != NULL;
    const HaloPlan *plan = &pattern->plan;
    int size = plan->size;
    int32_t *count = ALLOC(int32_t, (int64_t)HEAD * size, "requests to owners");
    *asks = (Requests){.begin = ALLOC(int64_t, size + 1, "requests to owners")};
    for (int r = 0; r < size; r++) {
        asks->begin[r + 1] = asks->begin[r];
        if (r == plan->rank)
            continue;
        int g = group_from(plan, r);
        CHECK(b->edge_begin[g + 1] - b->edge_begin[g] <= INT32_MAX, EXIT_MEMORY,
              "rank %d reads %lld edges from rank %d, more than 2^31 - 1; use more ranks",
              plan->rank, (long long)(b->edge_begin[g + 1] - b->edge_begin[g]), r);
        count_group(count + HEAD * r, b, edges, g);
        asks->begin[r + 1] += words_of(count + HEAD * r, weighted);
    }
    asks->word = ALLOC(int32_t, asks->begin[size], "requests to owners");
    for (int r = 0; r < size; r++) {
        if (r == plan->rank)
            continue;
        memcpy(asks->word + asks->begin[r], count + HEAD * r, HEAD * sizeof *count);
        Request ask = request_at(asks->word + asks->begin[r]);
        fill_group(&ask, b, edges, shard->set[edges->to].gid, group_from(plan, r));
    }
    memory_free(count);
}

void requests_clear(Requests *requests) {
    memory_free(requests->word);
    memory_free(requests->begin);
    *requests = (Requests){0};
}

void requests_exchange(Requests *asked, const Requests *asks, const Comm *comm) {
    int size = comm->size;
    int64_t *sent = ALLOC(int64_t, size + 1, "requests to owners");
    int64_t *got = ALLOC(int64_t, size + 1, "requests to owners");
    for (int r = 0; r < size; r++)
        sent[r] = asks->begin[r + 1] - asks->begin[r];
    comm_all_to_all(comm, sent, got + 1, sizeof *sent);
    *asked = (Requests){.begin = ALLOC(int64_t, size + 1, "requests to owners")};
    for (int r = 0; r < size; r++) {
        asked->begin[r + 1] = asked->begin[r] + got[r + 1];
        sent[r + 1] = asks->begin[r + 1] * (int64_t)sizeof *asks->word;
    }
    sent[0] = 0;
    for (int r = 0; r <= size; r++)
        got[r] = asked->begin[r] * (int64_t)sizeof *asks->word;
    asked->word = ALLOC(int32_t, asked->begin[size], "requests to owners");
    comm_all_to_all_v(comm, asks->word, sent, asked->word, got);
    memory_free(got);
    memory_free(sent);
}

// ---- the owner

static void take_lists(Pattern *pattern, const Shard *shard, const Requests *asked, bool weighted) {
    HaloPlan *plan = &pattern->plan;
    int64_t count[HEAD] = {0};
    for (int r = 0; r < plan->size; r++)
        for (int part = 0; r != plan->rank && part < HEAD; part++)
            count[part] += asked->word[asked->begin[r] + part];
    plan->send_offset = ALLOC(int64_t, plan->size, "send lists");
    plan->send_row = ALLOC(int32_t, count[ROWS] + count[SUMS], "send lists");
    plan->partials = count[SUMS];
    csr_alloc(&pattern->partial, plan->partials, count[MEMBERS], weighted, "edges of a Pattern");
    plan->source_id = ALLOC(int64_t, plan->sources + plan->partials, "global ids");
    const RowSet *from = &shard->set[shard->relation[pattern->kind.relation].from];
    memcpy(plan->source_id, from->gid, (size_t)plan->sources * sizeof(int64_t));
}

// Puts a group behind those that are there: `sent` rows, `sums` of them partial sums.
static void take_group(Pattern *pattern, const Request *asked, int64_t sent, int64_t sums) {
    HaloPlan *plan = &pattern->plan;
    Csr *partial = &pattern->partial;
    int64_t members = partial->offset[sums];
    for (int64_t k = 0; k < asked->count[ROWS]; k++)
        plan->send_row[sent++] = asked->row[k];
    for (int64_t k = 0; k < asked->count[SUMS]; k++, sums++) {
        plan->send_row[sent++] = (int32_t)(plan->sources + sums);
        plan->source_id[plan->sources + sums] = -1 - (int64_t)asked->target[k];
        partial->offset[sums + 1] = members + asked->end[k];
    }
    for (int64_t k = 0; k < asked->count[MEMBERS]; k++) {
        partial->column[members + k] = asked->member[k];
        if (partial->weight != NULL)
            memcpy(&partial->weight[members + k], &asked->weight[k], sizeof *partial->weight);
    }
}

void requests_take(Pattern *pattern, const Shard *shard, const Requests *asked, bool weighted) {
    take_lists(pattern, shard, asked, weighted);
    HaloPlan *plan = &pattern->plan;
    int64_t sent = 0, sums = 0;
    for (int g = 0; g + 1 < plan->size; g++) {
        int reader = ring_reader(plan->rank, g, plan->size);
        Request one = request_at(asked->word + asked->begin[reader]);
        take_group(pattern, &one, sent, sums);
        sent += one.count[ROWS] + one.count[SUMS];
        sums += one.count[SUMS];
        plan->send_offset[g + 1] = sent;
    }
}
