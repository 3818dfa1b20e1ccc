// A graph that is cut into shards, for the tests that read them back.
#ifndef FRINGE_TESTS_PARTITION_CUT_H
#define FRINGE_TESTS_PARTITION_CUT_H

#include "graphs.h"

typedef struct Cut { // a graph, its parts, and all shards read back from disk
    Dataset dataset;
    int parts;
    int32_t *part;
    char folder[512];
    Shard shard[8];
} Cut;

static inline void cut_open(Cut *cut, Dataset dataset, int parts, const int32_t *part,
                            bool reorder) {
    static int calls;
    char name[32];
    Error err = {0};
    *cut = (Cut){.dataset = dataset, .parts = parts};
    cut->part = ALLOC(int32_t, dataset.nodes, "test");
    for (int64_t v = 0; v < dataset.nodes; v++)
        cut->part[v] = part != NULL ? part[v]
                                    : (int32_t)(parts * graph_uniform(77, v, 0) * // uneven
                                                graph_uniform(77, v, 0));
    snprintf(name, sizeof name, "shards-%d", calls++);
    snprintf(cut->folder, sizeof cut->folder, "%s", test_path(name));
    assert_ok(partition_write_shards(&cut->dataset, cut->part, parts, reorder, cut->folder, &err),
              &err);
    for (int p = 0; p < parts; p++)
        assert_ok(shard_open(&cut->shard[p], cut->folder, p, &err), &err);
}

static inline void cut_close(Cut *cut) {
    for (int p = 0; p < cut->parts; p++)
        shard_clear(&cut->shard[p]);
    memory_free(cut->part);
    dataset_clear(&cut->dataset);
}

#endif
