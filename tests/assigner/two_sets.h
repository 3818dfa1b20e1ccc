// A shard with two sets of rows, made by arithmetic: 300 nodes, 170 hyperedges, and pins between
// them with weights. Its first relation lets hyperedges read nodes, its second is the transpose.
// Own rows lie in the order of their ids. Static functions: only the test of two sets needs it.
#pragma once

#include "fringe/partition.h"

enum { SETS = 2 };
enum { SET_NODES = 300, SET_HYPEREDGES = 170 };
static const int totals[SETS] = {SET_NODES, SET_HYPEREDGES};
static float pins[SET_HYPEREDGES][SET_NODES]; // their weights, 0 where there is none

static inline double two_sets_draw(int what, int64_t a, int64_t b) {
    return random_uniform32(random_key(11, RANDOM_GENERATE, 0, what, 0), a, 0, b);
}

// Cuts are uneven.
static inline int owner_of(int set, int64_t row, int parts) {
    double u = two_sets_draw(set, row, 0);
    return (int)(parts * u * u);
}

// Some nodes and some hyperedges have no pin.
static inline void draw_pins(void) {
    for (int64_t h = 0; h < SET_HYPEREDGES; h++)
        for (int64_t v = 0; v < SET_NODES; v++)
            if (h % 17 != 5 && v % 23 != 7 && two_sets_draw(2, h, v) < 0.03)
                pins[h][v] = (float)(0.25 + two_sets_draw(3, h, v));
}

// The weight with which row i of relation `r` reads row j.
static inline float reads(int r, int64_t i, int64_t j) { return r == 0 ? pins[i][j] : pins[j][i]; }

static inline RowSet set_of(int set, int part, int parts) {
    int64_t *gid = TEST_ARRAY(int64_t, totals[set]);
    int64_t *reach = TEST_ARRAY(int64_t, SHARD_HOPS + 1);
    double *degree = TEST_ARRAY(double, totals[set]);
    RowSet rows = {.total = totals[set],
                   .gid = gid,
                   .reach = reach,
                   .degree_in = degree,
                   .degree_out = degree};
    for (int64_t i = 0; i < totals[set]; i++) {
        if (owner_of(set, i, parts) != part)
            continue;
        for (int64_t j = 0; j < totals[1 - set]; j++)
            degree[rows.own] += (double)reads(set == HYPEREDGES ? 0 : 1, i, j);
        gid[rows.own++] = i;
    }
    for (int h = 0; h <= SHARD_HOPS; h++)
        reach[h] = rows.own;
    return rows;
}

// Is any row of this part served by row j of another one?
static inline bool is_read(const RowSet *to, int r, int64_t j) {
    for (int64_t i = 0; i < to->own; i++)
        if (reads(r, to->gid[i], j) != 0)
            return true;
    return false;
}

// Remote rows in the order of the ring, ascending inside a group; column[j]: how row j is read.
static inline void list_remote(ShardRelation *e, const RowSet *to, int64_t own, int part, int parts,
                               int32_t *column) {
    int r = e->to == HYPEREDGES ? 0 : 1, total = totals[e->from];
    int32_t *row = TEST_ARRAY(int32_t, total);
    int64_t *gid = TEST_ARRAY(int64_t, total);
    e->remote_round = TEST_ARRAY(int64_t, parts);
    e->remote_row = row;
    e->remote_gid = gid;
    for (int g = 0; g + 1 < parts; g++) {
        int32_t at_owner = 0;
        for (int64_t j = 0; j < total; j++) {
            if (owner_of(e->from, j, parts) != ring_sender(part, g, parts))
                continue;
            if (is_read(to, r, j)) {
                column[j] = (int32_t)(own + e->remote);
                gid[e->remote] = j;
                row[e->remote++] = at_owner;
            }
            at_owner++;
        }
        e->remote_round[g + 1] = e->remote;
    }
}

typedef struct Entry {
    int32_t column;
    float weight;
} Entry;
static inline int by_column(const void *a, const void *b) {
    return ((const Entry *)a)->column - ((const Entry *)b)->column;
}

static inline ShardRelation relation_of(const Shard *shard, int r) {
    ShardRelation e = {.to = 1 - r, .from = r, .transpose = 1 - r};
    const RowSet *to = &shard->set[e.to], *from = &shard->set[e.from];
    int32_t *columns = TEST_ARRAY(int32_t, totals[e.from]);
    for (int64_t j = 0; j < from->own; j++)
        columns[from->gid[j]] = (int32_t)j;
    list_remote(&e, to, from->own, shard->part, shard->parts, columns);
    int64_t *offset = TEST_ARRAY(int64_t, to->own + 1);
    int32_t *column = TEST_ARRAY(int32_t, to->own * totals[e.from]);
    float *weight = TEST_ARRAY(float, to->own *totals[e.from]);
    Entry *row = TEST_ARRAY(Entry, totals[e.from]);
    for (int64_t i = 0; i < to->own; i++) {
        size_t count = 0;
        for (int64_t j = 0; j < totals[e.from]; j++)
            if (reads(r, to->gid[i], j) != 0)
                row[count++] = (Entry){columns[j], reads(r, to->gid[i], j)};
        qsort(row, count, sizeof *row, by_column);
        for (size_t k = 0; k < count; k++, e.edges++) {
            column[e.edges] = row[k].column;
            weight[e.edges] = row[k].weight;
        }
        offset[i + 1] = e.edges;
    }
    e.offset = offset;
    e.column = column;
    e.weight = weight;
    return e;
}

static inline Shard two_sets(const Comm *comm) {
    Shard shard = {.part = comm->rank, .parts = comm->size, .sets = SETS, .relations = 2};
    draw_pins();
    for (int set = 0; set < SETS; set++)
        shard.set[set] = set_of(set, comm->rank, comm->size);
    for (int r = 0; r < 2; r++)
        shard.relation[r] = relation_of(&shard, r);
    return shard;
}
