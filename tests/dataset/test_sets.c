// ranks: 1, once
// If this failed, a real graph would lose nodes, edges, features, labels or its split on the way
// in. The counts are those of the data folder's README, measured there by another program.

#include "support.h"

#include "fringe/dataset.h"

typedef struct Set {
    const char *path; // in the data folder
    bool has_splits;  // beside it, in splits.npz; else they are its own
    int64_t nodes, edges, undirected, isolated, features, nonzero, classes;
    int64_t split[3];
    int64_t loops;
    bool multilabel;
} Set;

// clang-format off
static const Set sets[] = {
    {"cora/cora.npz", false, 2708, 10556, 5278, 0, 1433, 49216, 7, {140, 500, 1000}, 0, false},
    {"citeseer/citeseer.npz", false,
     3327, 9104, 4552, 48, 3703, 105165, 6, {120, 500, 1000}, 0, false},
    {"pubmed/pubmed.npz", false, 19717, 88648, 44324, 0, 500, 52959, 3, {60, 500, 1000}, 0, false},
    {"amazon_photo/amazon_electronics_photo.npz", true,
     7650, 143663, 119081, 115, 745, 1979909, 8, {160, 240, 7250}, 1, false},
    {"amazon_computers/amazon_electronics_computers.npz", true,
     13752, 287209, 245861, 281, 767, 3675081, 10, {200, 300, 13252}, 0, false},
    {"coauthor_cs/ms_academic_cs.npz", true,
     18333, 163788, 81894, 0, 6805, 1092079, 15, {300, 450, 17583}, 0, false},
    {"coauthor_physics/ms_academic_phy.npz", true,
     34493, 495924, 247962, 0, 8415, 1137311, 5, {100, 150, 34243}, 0, false},
    {"blogcatalog/blogcatalog.npz", true,
     5196, 343486, 171743, 0, 8189, 369435, 6, {120, 180, 4896}, 0, false},
    {"deezer_hu/deezer_hu.npz", true,
     47538, 445774, 222887, 0, 0, 0, 84, {28523, 9507, 9508}, 0, true},
    {"metis_4elt/4elt.graph", false, 15606, 91756, 45878, 0, 0, 0, 0, {0, 0, 0}, 0, false},
};
// clang-format on

static Config config_of(const Set *set, const char *folder) {
    Config config = {0};
    snprintf(config.data.path, sizeof config.data.path, "%s/%s", folder, set->path);
    if (set->has_splits)
        snprintf(config.data.splits, sizeof config.data.splits, "%s/%.*s/splits.npz", folder,
                 (int)strcspn(set->path, "/"), set->path);
    if (set->multilabel)
        config.data.split_keys = (ConfigPaths){3, {"train60_idx", "val20_idx", "test20_idx"}};
    return config;
}

static int64_t count_isolated(const Dataset *d) {
    int64_t isolated = 0;
    uint8_t *touched = TEST_ARRAY(uint8_t, d->nodes);
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
            if (d->target[e] != i) // a self-loop alone leaves a node isolated
                touched[i] = touched[d->target[e]] = 1;
    for (int64_t i = 0; i < d->nodes; i++)
        isolated += !touched[i];
    return isolated;
}

static void check_set(const Set *set, const char *folder) {
    Config config = config_of(set, folder);
    OWNED(Dataset) d = {0};
    assert_ok(dataset_load(&d, &config, &err));
    assert_int_equal(d.nodes, set->nodes);
    assert_int_equal(d.edges, set->edges);
    assert_int_equal(d.features, set->features);
    assert_int_equal(d.classes, set->classes);
    assert_int_equal(d.multilabel, set->multilabel);
    assert_null(d.weight);
    int64_t nonzero = 0, split[4] = {0}, loops = 0;
    for (int64_t k = 0; k < d.nodes * d.features; k++)
        nonzero += d.x[k] != 0;
    for (int64_t i = 0; i < d.nodes; i++)
        split[d.split[i]]++;
    for (int64_t i = 0; i < d.nodes; i++)
        for (int64_t e = d.offset[i]; e < d.offset[i + 1]; e++)
            loops += d.target[e] == i;
    assert_int_equal(nonzero, set->nonzero);
    for (int s = 0; s < 3; s++)
        assert_int_equal(split[s + 1], set->split[s]);
    assert_int_equal(loops, set->loops);
    assert_int_equal(count_isolated(&d), set->isolated);
    assert_int_equal(dataset_is_symmetric(&d), d.edges - loops == 2 * set->undirected);
    ConfigWords steps = {2, {"symmetrize", "drop-loops"}};
    assert_ok(dataset_prepare(&d, &steps, 0, 0, &err));
    assert_int_equal(d.edges, 2 * set->undirected);
    assert_true(dataset_is_symmetric(&d));
}

TEST(every_real_set_loads_whole) {
    const char *folder = data_folder_or_skip("the real graphs");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        check_set(&sets[i], folder);
}

// README: "Citeseer's 15 nodes outside every list have no features and labels = -1".
TEST(citeseer_has_nodes_without_label) {
    Config config = config_of(&sets[1], data_folder_or_skip("citeseer"));
    OWNED(Dataset) d = {0};
    assert_ok(dataset_load(&d, &config, &err));
    assert_non_null(strstr(d.warnings.text, "15 nodes without label"));
}

// The hypergraphs: section 2 of that README.
typedef struct HyperSet {
    const char *folder, *file;
    int64_t nodes, hyperedges, pins, largest, degree, uncovered, features, classes;
    int64_t split[3];
    bool nodes_file;
} HyperSet;

// clang-format off
static const HyperSet hyper_sets[] = {
    {"hg_citeseer_cocite", "hypergraph.hgr",
     3312, 1079, 3453, 26, 88, 1854, 3703, 6, {138, 0, 3174}, true},
    {"hg_cora_coauthor", "hypergraph.hgr",
     2708, 1072, 4585, 43, 23, 320, 1433, 7, {140, 0, 2568}, true},
    {"hg_cora_cocite", "hypergraph.hgr",
     2708, 1579, 4786, 5, 145, 1274, 1433, 7, {140, 0, 2568}, true},
    {"hg_dblp_coauthor", "hypergraph.hgr",
     41302, 22363, 99561, 202, 18, 0, 0, 6, {1740, 0, 39562}, true},
    {"hg_house", "hypergraph.hgr", 1290, 341, 11843, 81, 44, 0, 0, 2, {645, 323, 322}, true},
    {"hg_ispd98", "ibm01.hgr", 12752, 14111, 50566, 42, 39, 0, 0, 0, {0}, false},
    {"hg_ispd98", "ibm01.weight.hgr", 12752, 14111, 50566, 42, 39, 0, 0, 0, {0}, false},
    {"hg_ispd98", "ibm10.hgr", 69429, 75196, 297567, 41, 137, 0, 0, 0, {0}, false},
    {"hg_ispd98", "ibm14.hgr", 147605, 152772, 546816, 33, 270, 0, 0, 0, {0}, false},
    {"hg_mushroom", "hypergraph.hgr",
     8124, 298, 40620, 1808, 5, 0, 22, 2, {4062, 2031, 2031}, true},
    {"hg_pubmed_cocite", "hypergraph.hgr",
     19717, 7963, 34629, 171, 99, 15877, 0, 3, {78, 0, 19639}, true},
    {"hg_walmart", "hypergraph.hgr",
     88860, 69906, 460630, 25, 5733, 0, 0, 11, {44430, 22215, 22215}, true},
    {"hg_zoo", "hypergraph.hgr", 101, 43, 1717, 93, 17, 0, 16, 7, {50, 26, 25}, true},
};
// clang-format on

static void count_pins(const Dataset *d, int64_t *largest, int64_t *degree, int64_t *uncovered) {
    int64_t *size = TEST_ARRAY(int64_t, d->hyperedges);
    *largest = *degree = *uncovered = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        int64_t count = d->offset[i + 1] - d->offset[i];
        *degree = count > *degree ? count : *degree;
        *uncovered += count == 0;
    }
    for (int64_t e = 0; e < d->edges; e++)
        size[d->target[e]]++;
    for (int64_t h = 0; h < d->hyperedges; h++)
        *largest = size[h] > *largest ? size[h] : *largest;
}

static void load_hyper_set(Dataset *d, const HyperSet *set, int64_t row) {
    const char *folder = data_folder_or_skip("the real hypergraphs");
    Config config = {.data.split_row = row};
    snprintf(config.data.path, sizeof config.data.path, "%s/%s/%s", folder, set->folder, set->file);
    if (set->nodes_file)
        snprintf(config.data.nodes, sizeof config.data.nodes, "%s/%s/nodes.npz", folder,
                 set->folder);
    assert_ok(dataset_load(d, &config, &err));
}

static void check_hyper_set(const HyperSet *set) {
    OWNED(Dataset) d = {0};
    int64_t largest, degree, uncovered, split[4] = {0};
    load_hyper_set(&d, set, 0);
    count_pins(&d, &largest, &degree, &uncovered);
    if (set->nodes_file)
        assert_string_equal(d.name, set->folder);
    assert_int_equal(d.nodes, set->nodes);
    assert_int_equal(d.hyperedges, set->hyperedges);
    assert_int_equal(d.edges, set->pins);
    assert_int_equal(largest, set->largest);
    assert_int_equal(degree, set->degree);
    assert_int_equal(uncovered, set->uncovered);
    assert_int_equal(d.features, set->features);
    assert_int_equal(d.classes, set->classes);
    for (int64_t i = 0; i < d.nodes; i++)
        split[d.split[i]]++;
    for (int s = 0; s < 3; s++)
        assert_int_equal(split[s + 1], set->split[s]);
    assert_true((d.node_weight != NULL) == (strstr(set->file, "weight") != NULL));
}

TEST(every_real_hypergraph_loads_whole) {
    data_folder_or_skip("the real hypergraphs");
    for (size_t i = 0; i < sizeof hyper_sets / sizeof *hyper_sets; i++)
        check_hyper_set(&hyper_sets[i]);
}

TEST(rows_of_a_split_differ) {
    OWNED(Dataset) first = {0}, last = {0};
    load_hyper_set(&first, &hyper_sets[2], 0);
    load_hyper_set(&last, &hyper_sets[2], 9);
    assert_non_null(strstr(first.warnings.text, "the first of 10 splits"));
    assert_null(strstr(last.warnings.text, "of 10 splits"));
    assert_memory_not_equal(first.split, last.split, (size_t)first.nodes);
}
