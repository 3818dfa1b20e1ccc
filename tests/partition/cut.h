// A graph or a hypergraph that is cut into shards, for the tests that read them back.
#pragma once

#include "hypergraphs.h"
#include "write_shards.h"

typedef struct Cut { // a graph, its parts, and all shards read back from disk
    Dataset dataset;
    int parts;
    int32_t *part;
    char folder[512];
    Shard shard[8];
} Cut;

static inline Cut cut_open(Dataset dataset, int parts, const int32_t *part, bool reorder) {
    static int calls;
    Cut cut = {.dataset = dataset, .parts = parts};
    cut.part = TEST_ARRAY(int32_t, dataset.nodes + dataset.hyperedges);
    for (int64_t v = 0; v < dataset.nodes + dataset.hyperedges; v++)
        cut.part[v] = part != NULL ? part[v]
                                   : (int32_t)(parts * graph_uniform(77, v, 0) * // uneven
                                               graph_uniform(77, v, 0));
    snprintf(cut.folder, sizeof cut.folder, "%s", test_path(test_text("shards-%d", calls++)));
    assert_ok(test_write_shards(&cut.dataset, cut.part, parts, reorder, cut.folder, &err));
    for (int p = 0; p < parts; p++)
        assert_ok(shard_open(&cut.shard[p], cut.folder, p, &err));
    return cut;
}

static inline void cut_close(Cut *cut) {
    for (int p = 0; p < cut->parts; p++)
        shard_clear(&cut->shard[p]);
    dataset_clear(&cut->dataset);
}

// Remote rows: ring order of rounds, ascending rows inside, each what its owner has there, and each
// is read (invariant 4).
static inline void assert_remote_obeys_the_law(const Cut *cut, const Shard *s,
                                               const ShardRelation *w) {
    int64_t own = s->set[w->from].own;
    bool *read = TEST_ARRAY(bool, w->remote);
    for (int64_t e = 0; e < w->edges; e++)
        if (w->column[e] >= own)
            read[w->column[e] - own] = true;
    assert_int_equal(w->remote_round[0], 0);
    for (int g = 0; g + 1 < s->parts; g++) {
        const Shard *owner = &cut->shard[(s->part - 1 - g + 2 * s->parts) % s->parts];
        const RowSet *theirs = &owner->set[w->from];
        for (int64_t h = w->remote_round[g]; h < w->remote_round[g + 1]; h++) {
            assert_true(read[h]);
            assert_in_range(w->remote_row[h], 0, theirs->own - 1);
            assert_int_equal(w->remote_gid[h], theirs->gid[w->remote_row[h]]);
            assert_int_equal(w->remote_owner[h], owner->part);
            assert_true(h == w->remote_round[g] || w->remote_row[h - 1] < w->remote_row[h]);
        }
    }
    assert_int_equal(w->remote_round[s->parts - 1], w->remote);
}

// The global id of a column.
static inline int64_t column_gid(const Shard *s, const ShardRelation *w, int32_t column) {
    int64_t own = s->set[w->from].own;
    return column < own ? s->set[w->from].gid[column] : w->remote_gid[column - own];
}

// Of a row and what it reads, where the shard is the only one.
static inline double mean_distance(const Shard *s) {
    const ShardRelation *w = &s->relation[IN_EDGES];
    double sum = 0;
    for (int64_t i = 0; i < s->set[w->to].own; i++)
        for (int64_t e = w->offset[i]; e < w->offset[i + 1]; e++)
            sum += fabs((double)(w->column[e] - i));
    return sum / (double)w->edges;
}
