// If this failed, a step of data.transforms would make another hypergraph, or another graph of a
// hypergraph, than it says.

#include "hypergraphs.h"

// 7 nodes, 4 hyperedges, 13 pins. Its cliques are 13 pairs: 6 + 6 + 3 + 1, of which 2-3, 4-5 and
// 0-1 occur twice.
static const char *const seven = "4 7\n1 2 3 4\n3 4 5 6\n5 6 7\n1 2\n";

TEST(uncovered_nodes_get_singletons) {
    OWNED(Dataset) d = text_dataset("s.hgr", "1 4 1\n5 2 4\n"); // 1 and 3 are uncovered
    apply(&d, "singletons:uncovered");
    assert_int_equal(d.hyperedges, 3);
    ASSERT_INTS(d.target, 1, 0, 2, 0);
    assert_true(d.hyperedge_weight[0] == 5 && d.hyperedge_weight[1] == 1 &&
                d.hyperedge_weight[2] == 1);
    apply(&d, "singletons:uncovered"); // nothing is left to do
    assert_int_equal(d.hyperedges, 3);
}

TEST(all_nodes_get_singletons) {
    OWNED(Dataset) d = text_dataset("a.pins", "0 0 s\n1 0 t\n");
    apply(&d, "singletons:all");
    assert_int_equal(d.hyperedges, 3);
    ASSERT_INTS(d.target, 0, 1, 0, 2);
    assert_memory_equal(d.pin_role, "\1\3\2\3", 4);
}

static float weight_between(const Dataset *d, int64_t i, int32_t j) {
    for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
        if (d->target[e] == j)
            return d->weight == NULL ? 1 : d->weight[e];
    return -1;
}

TEST(cliques_are_13_edges) {
    OWNED(Dataset) d = text_dataset("seven.hgr", seven);
    assert_int_equal(d.edges, 13);
    apply(&d, "clique");
    assert_int_equal(d.hyperedges, 0);
    assert_int_equal(d.nodes, 7);
    assert_int_equal(d.edges, 2 * 13);
    assert_true(dataset_is_symmetric(&d));
    // 1 / (size - 1) for each hyperedge that both are in
    assert_near(weight_between(&d, 0, 2), 1.0 / 3, 1e-7 /* one rounding */);
    assert_near(weight_between(&d, 2, 3), 2.0 / 3, 1e-7);
    assert_near(weight_between(&d, 4, 5), 5.0 / 6, 1e-7);
    assert_near(weight_between(&d, 0, 1), 4.0 / 3, 1e-7);
    assert_true(weight_between(&d, 0, 6) == -1);
}

// A hyperedge adds its weight to what each target reads: 0, 1 -> 2 halves it, 0 -> 1 has it all.
TEST(directed_cliques_lead_to_targets) {
    OWNED(Dataset) d = text_dataset("dc.pins", "0 0 6 s\n1 0 6 b\n2 0 6 t\n");
    apply(&d, "clique");
    assert_int_equal(d.edges, 3);
    assert_true(weight_between(&d, 0, 1) == 6);
    assert_true(weight_between(&d, 0, 2) == 3);
    assert_true(weight_between(&d, 1, 2) == 3);
    assert_null(d.pin_role);
    assert_null(d.hyperedge_weight);
}

TEST(cliques_of_pairs_are_the_graph) {
    OWNED(Dataset) d = text_dataset("pairs.hgr", "4 5\n1 2\n2 3\n5 3\n4 1\n");
    OWNED(Dataset) graph = text_dataset("pairs.txt", "0 1\n1 0\n1 2\n2 1\n4 2\n2 4\n3 0\n0 3\n");
    apply(&d, "clique");
    assert_string_equal(hashed(&d), hashed(&graph));
}

TEST(the_star_has_a_node_for_each_hyperedge) {
    OWNED(Dataset) d = text_dataset("star.hgr", seven);
    apply(&d, "random:2");
    float was[14];
    memcpy(was, d.x, sizeof was);
    d.label = ALLOC(int32_t, 7, "test");
    d.classes = 1;
    d.split[6] = SPLIT_TEST;
    apply(&d, "star");
    assert_int_equal(d.nodes, 11);
    assert_int_equal(d.edges, 2 * 13);
    assert_true(dataset_is_symmetric(&d));
    assert_null(d.weight);
    assert_memory_equal(d.x, was, sizeof was);
    for (int k = 14; k < 22; k++)
        assert_true(d.x[k] == 0);
    ASSERT_INTS(d.label, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1);
    assert_memory_equal(d.split, "\0\0\0\0\0\0\3\0\0\0\0", 11);
    assert_int_equal(weight_between(&d, 7, 3), 1); // hyperedge 0 and its last pin
    assert_int_equal(weight_between(&d, 10, 1), 1);
}

TEST(a_directed_star_passes_through) {
    OWNED(Dataset) d = text_dataset("ds.pins", "0 0 6 s\n1 0 6 b\n2 0 6 t\n");
    apply(&d, "star");
    assert_int_equal(d.edges, 4);
    assert_true(weight_between(&d, 0, 3) == 6 && weight_between(&d, 1, 3) == 6);
    assert_true(weight_between(&d, 3, 1) == 6 && weight_between(&d, 3, 2) == 6);
    assert_true(weight_between(&d, 3, 0) == -1 && weight_between(&d, 2, 3) == -1);
}

TEST(a_hypergraph_without_edges_is_a_graph) {
    OWNED(Dataset) d = text_dataset("none.pins", "0 0 6 s\n1 0 6 b\n2 0 6 t\n");
    d.node_weight = ALLOC(int32_t, 3, "test");
    apply(&d, "drop-edges");
    assert_int_equal(d.nodes, 3);
    assert_true(d.hyperedges == 0 && d.edges == 0 && d.offset[3] == 0);
    assert_true(d.pin_role == NULL && d.hyperedge_weight == NULL && d.node_weight == NULL);
    apply(&d, "symmetrize"); // a step for graphs
}

TEST(degrees_are_of_roles) {
    OWNED(Dataset) d = text_dataset("deg.pins", "0 0 s\n0 1 s\n1 0 t\n1 1 b\n");
    apply(&d, "degree");
    const float in[2] = {0, 2}, out[2] = {2, 1};
    for (int i = 0; i < 2; i++) {
        assert_near(d.x[18 * i + 16], log1p(in[i]), 1e-6 /* one rounding */);
        assert_near(d.x[18 * i + 17], log1p(out[i]), 1e-6);
    }
}

TEST(steps_know_what_they_are_for) {
    static const char *const of_graphs[] = {"symmetrize", "drop-loops", "drop-duplicates"};
    static const char *const of_hypergraphs[] = {"singletons:all", "clique", "star"};
    OWNED(Dataset) d = text_dataset("x.hgr", seven);
    OWNED(Dataset) graph = text_dataset("x.txt", "0 1\n");
    for (int i = 0; i < 3; i++) {
        assert_refused(prepare(&d, of_graphs[i], 0, &err), EXIT_CONFIG,
                       "this step is for graphs, but the dataset is a hypergraph", of_graphs[i]);
        assert_refused(prepare(&graph, of_hypergraphs[i], 0, &err), EXIT_CONFIG,
                       "this step is for hypergraphs, but the dataset is a graph");
    }
    assert_refused(prepare(&d, "singletons:some", 0, &err), EXIT_CONFIG,
                   "neither singletons:uncovered");
    ConfigWords both = {2, {"clique", "symmetrize"}};
    assert_ok(dataset_prepare(&d, &both, 0, 0, &err));
}

// 3000 nodes in one hyperedge: 8,997,000 edges of 8 bytes do not fit into 0.01 GiB.
TEST(what_does_not_fit_is_counted) {
    static char text[32000] = "1 3000\n";
    size_t used = strlen(text);
    for (int i = 1; i <= 3000; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d ", i);
    OWNED(Dataset) d = text_dataset("large.hgr", text);
    assert_refused(prepare(&d, "clique", 0.01, &err), EXIT_MEMORY, "8997000 edges");
    assert_int_equal(d.hyperedges, 1); // unchanged
    assert_refused(prepare(&d, "star", 1e-5, &err), EXIT_MEMORY, "6000 edges");
    apply(&d, "clique");
    assert_int_equal(d.edges, 8997000);
}
