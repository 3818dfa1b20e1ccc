// Readers request rows and partial aggregates from owners; a partial aggregate is requested with
// the rows that it sums (its members). From the requests an owner builds its send lists
// (invariant 5) and the edges of the partial aggregates.
//
// A request is one list of 4-byte words, so all requests need two collective calls: one for the
// lengths and one for the lists. There may be a word for every boundary edge, so words are small:
// row numbers, node ids and counts of one round fit in 4 bytes. Lists are in rank order, as
// comm_all_to_all_v requires.
#include "internal.h"

enum { ROWS, PARTIALS, MEMBERS, HEAD };

typedef struct Request { // to one owner, or from one reader; its parts lie in this order
    int32_t *count;      // [HEAD] lengths of the parts: ROWS, PARTIALS, MEMBERS
    int32_t *row;        // [ROWS] rows of the owner that travel themselves
    int32_t *target;     // [PARTIALS] global id of the target of each partial aggregate
    int32_t *end;        // [PARTIALS] end of its members
    int32_t *member;     // [MEMBERS] rows of the owner, one partial aggregate after the other
    int32_t *weight;     // [MEMBERS] weights of their edges, as floats; absent without weights
} Request;

static int64_t words_of(const int32_t *count, bool weighted) {
    return HEAD + count[ROWS] + 2 * (int64_t)count[PARTIALS] +
           (weighted ? 2 : 1) * (int64_t)count[MEMBERS];
}

static Request request_at(int32_t *word) {
    Request r = {.count = word, .row = word + HEAD};
    r.target = r.row + word[ROWS];
    r.end = r.target + word[PARTIALS];
    r.member = r.end + word[PARTIALS];
    r.weight = r.member + word[MEMBERS];
    return r;
}

// ---- the reader

static void count_round(int32_t *count, const Boundary *b, const ShardRelation *edges, int g) {
    for (int64_t h = edges->remote_round[g]; h < edges->remote_round[g + 1]; h++)
        count[ROWS] += b->as_row[h];
    int32_t target = -1;
    for (int64_t e = b->edge_begin[g]; e < b->edge_begin[g + 1]; e++)
        if (b->as_sum[e]) {
            count[PARTIALS] += b->target[e] != target;
            count[MEMBERS]++;
            target = b->target[e];
        }
}

static void fill_round(const Request *request, const Boundary *b, const ShardRelation *edges,
                       const int64_t *gid, int g) {
    int32_t rows = 0, partials = 0, members = 0;
    for (int64_t h = edges->remote_round[g]; h < edges->remote_round[g + 1]; h++)
        if (b->as_row[h])
            request->row[rows++] = edges->remote_row[h];
    int32_t target = -1;
    for (int64_t e = b->edge_begin[g]; e < b->edge_begin[g + 1]; e++) {
        if (!b->as_sum[e])
            continue;
        partials += b->target[e] != target;
        target = b->target[e];
        if (edges->weight != NULL)
            memcpy(&request->weight[members], &b->weight[e], sizeof *b->weight);
        request->member[members++] = edges->remote_row[b->source[e]];
        request->target[partials - 1] = (int32_t)gid[target]; // ids of nodes are below 2^31
        request->end[partials - 1] = members;
    }
}

// The round of this rank's halo rows that rank r sends.
static int round_from(const HaloPlan *plan, int r) { return ring_round(plan->rank, r, plan->size); }

void requests_write(Requests *sent, const Pattern *pattern, const Boundary *b, const Shard *shard) {
    const ShardRelation *edges = &shard->relation[pattern->kind.relation];
    bool weighted = edges->weight != NULL;
    const HaloPlan *plan = &pattern->plan;
    int size = plan->size;
    FREED int32_t *count = ALLOC(int32_t, (int64_t)HEAD * size, "requests to owners");
    *sent = (Requests){.begin = ALLOC(int64_t, size + 1, "requests to owners")};
    for (int r = 0; r < size; r++) {
        sent->begin[r + 1] = sent->begin[r];
        if (r == plan->rank)
            continue;
        int g = round_from(plan, r);
        CHECK(b->edge_begin[g + 1] - b->edge_begin[g] <= INT32_MAX, EXIT_MEMORY,
              "rank %d reads %ld edges from rank %d, more than 2^31 - 1; use more ranks",
              plan->rank, b->edge_begin[g + 1] - b->edge_begin[g], r);
        count_round(count + HEAD * r, b, edges, g);
        sent->begin[r + 1] += words_of(count + HEAD * r, weighted);
    }
    sent->word = ALLOC(int32_t, sent->begin[size], "requests to owners");
    for (int r = 0; r < size; r++) {
        if (r == plan->rank)
            continue;
        memcpy(sent->word + sent->begin[r], count + HEAD * r, HEAD * sizeof *count);
        Request request = request_at(sent->word + sent->begin[r]);
        fill_round(&request, b, edges, shard->set[edges->to].gid, round_from(plan, r));
    }
}

void requests_clear(Requests *requests) {
    MEMORY_FREE(requests->word, requests->begin);
    *requests = (Requests){0};
}

RequestLengths requests_lengths(const Requests *requests, int r) {
    const int32_t *count = requests->word + requests->begin[r];
    if (requests->begin[r] == requests->begin[r + 1]) // of this rank itself
        return (RequestLengths){0};
    return (RequestLengths){count[ROWS], count[PARTIALS], count[MEMBERS]};
}

void requests_exchange(Requests *received, const Requests *sent, const Comm *comm) {
    int size = comm->size;
    FREED int64_t *from = ALLOC(int64_t, size + 1, "requests to owners");
    FREED int64_t *to = ALLOC(int64_t, size + 1, "requests to owners");
    for (int r = 0; r < size; r++)
        from[r] = sent->begin[r + 1] - sent->begin[r];
    comm_all_to_all(comm, from, to + 1, sizeof *from); // lengths in words
    *received = (Requests){.begin = ALLOC(int64_t, size + 1, "requests to owners")};
    for (int r = 0; r < size; r++) {
        received->begin[r + 1] = received->begin[r] + to[r + 1];
        from[r + 1] = sent->begin[r + 1] * (int64_t)sizeof *sent->word;
    }
    from[0] = 0;
    for (int r = 0; r <= size; r++)
        to[r] = received->begin[r] * (int64_t)sizeof *sent->word;
    received->word = ALLOC(int32_t, received->begin[size], "requests to owners");
    comm_all_to_all_v(comm, sent->word, from, received->word, to); // offsets in bytes
}

// ---- the owner

static void apply_lists(Pattern *pattern, const Shard *shard, const Requests *received,
                        bool weighted) {
    HaloPlan *plan = &pattern->plan;
    int64_t count[HEAD] = {0};
    for (int r = 0; r < plan->size; r++)
        for (int part = 0; r != plan->rank && part < HEAD; part++)
            count[part] += received->word[received->begin[r] + part];
    plan->send_offset = ALLOC(int64_t, plan->size, "send lists");
    plan->send_row = ALLOC(int32_t, count[ROWS] + count[PARTIALS], "send lists");
    plan->partials = count[PARTIALS];
    csr_alloc(&pattern->partial, plan->partials, count[MEMBERS], weighted, "edges of a Pattern");
    plan->source_id = ALLOC(int64_t, plan->sources + plan->partials, "global ids");
    const RowSet *from = &shard->set[shard->relation[pattern->kind.relation].from];
    memcpy(plan->source_id, from->gid, (size_t)plan->sources * sizeof(int64_t));
}

// Appends the round of one reader, after `sent` rows of earlier rounds, `partials` of them partial
// aggregates.
static void apply_round(Pattern *pattern, const Request *request, int64_t sent, int64_t partials) {
    HaloPlan *plan = &pattern->plan;
    Csr *partial = &pattern->partial;
    int64_t members = partial->offset[partials];
    for (int64_t k = 0; k < request->count[ROWS]; k++)
        plan->send_row[sent++] = request->row[k];
    for (int64_t k = 0; k < request->count[PARTIALS]; k++, partials++) {
        plan->send_row[sent++] = (int32_t)(plan->sources + partials);
        plan->source_id[plan->sources + partials] = -1 - (int64_t)request->target[k];
        partial->offset[partials + 1] = members + request->end[k];
    }
    for (int64_t k = 0; k < request->count[MEMBERS]; k++) {
        partial->column[members + k] = request->member[k];
        if (partial->weight != NULL)
            memcpy(&partial->weight[members + k], &request->weight[k], sizeof *partial->weight);
    }
}

void requests_apply(Pattern *pattern, const Shard *shard, const Requests *received, bool weighted) {
    apply_lists(pattern, shard, received, weighted);
    HaloPlan *plan = &pattern->plan;
    int64_t sent = 0, partials = 0;
    for (int g = 0; g + 1 < plan->size; g++) {
        int reader = ring_reader(plan->rank, g, plan->size);
        Request request = request_at(received->word + received->begin[reader]);
        apply_round(pattern, &request, sent, partials);
        sent += request.count[ROWS] + request.count[PARTIALS];
        partials += request.count[PARTIALS];
        plan->send_offset[g + 1] = sent;
    }
}
