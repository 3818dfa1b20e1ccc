// What readers ask of owners: the rows of a group, and its partial sums, each with the rows that it
// adds up. From these an owner makes its send lists (law 5) and the edges of the sums.
//
// The one idea: all that a reader asks of an owner is one list of words, so that however much there
// is to say it takes two collective calls, one for the lengths and one for the lists.
#include "internal.h"
#include <string.h>

enum { ROWS, SUMS, MEMBERS, HEAD };

typedef struct Request { // of one group; its parts lie in this order
    int64_t *count;      // [HEAD] how long they are
    int64_t *row;        // [ROWS] a row of the owner, which travels itself
    int64_t *target;     // [SUMS] id of the row that a sum is for
    int64_t *end;        // [SUMS] its members up to its end
    int64_t *member;     // [MEMBERS] a row of the owner, sum after sum
    int64_t *weight;     // [MEMBERS] of the edge to it, a float; or none of them
} Request;

static int64_t words_of(const int64_t *count, bool weighted) {
    return HEAD + count[ROWS] + 2 * count[SUMS] + (weighted ? 2 : 1) * count[MEMBERS];
}

static Request request_at(int64_t *word) {
    Request r = {.count = word, .row = word + HEAD};
    r.target = r.row + word[ROWS];
    r.end = r.target + word[SUMS];
    r.member = r.end + word[SUMS];
    r.weight = r.member + word[MEMBERS];
    return r;
}

// ---- the reader

static void count_group(int64_t *count, const Boundary *b, const ShardEdges *edges, int g) {
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

static void fill_group(const Request *ask, const Boundary *b, const ShardEdges *edges,
                       const int64_t *gid, int g) {
    int64_t rows = 0, sums = 0, members = 0;
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
        ask->target[sums - 1] = gid[target];
        ask->end[sums - 1] = members;
    }
}

// The words of all groups, group g's from offset[g] on.
static int64_t *write_requests(const Boundary *b, const ShardEdges *edges, const int64_t *gid,
                               int64_t *offset) {
    bool weighted = edges->weight != NULL;
    int64_t *count = TAKE(int64_t, (int64_t)HEAD * b->groups, "requests to owners");
    for (int g = 0; g < b->groups; g++) {
        count_group(count + HEAD * g, b, edges, g);
        offset[g + 1] = offset[g] + words_of(count + HEAD * g, weighted);
    }
    int64_t *word = TAKE(int64_t, offset[b->groups], "requests to owners");
    for (int g = 0; g < b->groups; g++) {
        memcpy(word + offset[g], count + HEAD * g, HEAD * sizeof *count);
        Request ask = request_at(word + offset[g]);
        fill_group(&ask, b, edges, gid, g);
    }
    memory_give(count);
    return word;
}

// ---- the owner

static void take_lists(Pattern *pattern, const Shard *shard, int64_t *word, const int64_t *offset,
                       bool weighted) {
    int64_t count[HEAD] = {0};
    for (int g = 0; g + 1 < pattern->size; g++)
        for (int part = 0; part < HEAD; part++)
            count[part] += word[offset[g] + part];
    pattern->send_offset = TAKE(int64_t, pattern->size, "send lists");
    pattern->send_row = TAKE(int32_t, count[ROWS] + count[SUMS], "send lists");
    edges_take(&pattern->pre, count[SUMS], count[MEMBERS], weighted);
    pattern->gid = TAKE(int64_t, pattern->sources + count[SUMS], "global ids");
    memcpy(pattern->gid, shard->gid, (size_t)pattern->sources * sizeof(int64_t));
}

// Puts a group behind those that are there: `sent` rows, `sums` of them partial sums.
static void take_group(Pattern *pattern, const Request *asked, int64_t sent, int64_t sums) {
    Csr *pre = &pattern->pre;
    int64_t members = pre->offset[sums];
    for (int64_t k = 0; k < asked->count[ROWS]; k++)
        pattern->send_row[sent++] = (int32_t)asked->row[k];
    for (int64_t k = 0; k < asked->count[SUMS]; k++, sums++) {
        pattern->send_row[sent++] = (int32_t)(pattern->sources + sums);
        pattern->gid[pattern->sources + sums] = -1 - asked->target[k];
        pre->offset[sums + 1] = members + asked->end[k];
    }
    for (int64_t k = 0; k < asked->count[MEMBERS]; k++) {
        pre->column[members + k] = (int32_t)asked->member[k];
        if (pre->weight != NULL)
            memcpy(&pre->weight[members + k], &asked->weight[k], sizeof *pre->weight);
    }
}

static void take_requests(Pattern *pattern, const Shard *shard, int64_t *word,
                          const int64_t *offset, bool weighted) {
    take_lists(pattern, shard, word, offset, weighted);
    int64_t sent = 0, sums = 0;
    for (int g = 0; g + 1 < pattern->size; g++) {
        Request asked = request_at(word + offset[g]);
        take_group(pattern, &asked, sent, sums);
        sent += asked.count[ROWS] + asked.count[SUMS];
        sums += asked.count[SUMS];
        pattern->send_offset[g + 1] = sent;
    }
}

void requests_make(Pattern *pattern, const Boundary *b, const Shard *shard) {
    const ShardEdges *edges = pattern->kind.backward ? &shard->backward : &shard->forward;
    int64_t *offset = TAKE(int64_t, pattern->size, "requests to owners");
    int64_t *word = write_requests(b, edges, shard->gid, offset);
    int64_t *got_offset = ring_offsets_at_owners(pattern->comm, offset);
    int64_t *got = TAKE(int64_t, got_offset[b->groups], "requests to owners");
    ring_to_owners(pattern->comm, offset, word, got_offset, got, sizeof *got);
    take_requests(pattern, shard, got, got_offset, edges->weight != NULL);
    memory_give(got);
    memory_give(got_offset);
    memory_give(word);
    memory_give(offset);
}
