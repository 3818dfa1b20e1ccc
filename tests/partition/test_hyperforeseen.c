// If this fails, cutting a hypergraph takes more memory than was foreseen, or far less.
#include "graphs.h"
#include "resident.h"

// A hypergraph: each node is in HYPER_PINS of HYPEREDGES_MADE hyperedges, all near or anywhere.
enum { NODES_MADE = 60000, HYPEREDGES_MADE = 40000, HYPER_PINS = 6 };
static Dataset hypergraph(bool near) {
    Dataset d = {.nodes = NODES_MADE,
                 .hyperedges = HYPEREDGES_MADE,
                 .edges = NODES_MADE * HYPER_PINS,
                 .name = "pins"};
    d.offset = ALLOC(int64_t, NODES_MADE + 1, "test");
    d.target = ALLOC(int32_t, d.edges, "test");
    d.split = ALLOC(uint8_t, NODES_MADE, "test");
    for (int64_t v = 0; v < NODES_MADE; v++) {
        int64_t span = near ? 2000 : HYPEREDGES_MADE, begin = near ? v / 3000 * 2000 : 0;
        for (int64_t k = 0; k < HYPER_PINS; k++) // ascending: one of each sixth
            d.target[v * HYPER_PINS + k] =
                (int32_t)(begin + k * span / HYPER_PINS +
                          (int64_t)((double)(span / HYPER_PINS) * graph_uniform(7, v, k)));
        d.offset[v + 1] = (v + 1) * HYPER_PINS;
    }
    return d;
}

TEST(what_a_hypergraph_takes_was_foreseen) {
#ifdef __SANITIZE_ADDRESS__
    skip(); // its own memory is resident, too
#endif
    static const char *const methods[] = {"metis:star", "metis"};
    for (int m = 0; m < 2; m++) // from the least to the most: the largest prediction is asked for
        for (int near = 1; near >= 0; near--) {
            OWNED(Dataset) dataset = hypergraph(near);
            Config config = {.partition.seed = 1};
            snprintf(config.partition.method, sizeof config.partition.method, "%s", methods[m]);
            int32_t *part = TEST_ARRAY(int32_t, NODES_MADE + HYPEREDGES_MADE);
            double before = begin();
            size_t used = memory_in_use();
            assert_ok(partition_cut(part, &dataset, 8, &config, &err, &(Warnings){0}));
            assert_foreseen(methods[m], (double)(memory_foreseen() - used), taken_since(before),
                            1.8);
        }
}
