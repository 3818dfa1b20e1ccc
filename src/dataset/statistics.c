// Statistics of a dataset: in the manifest of our own directory, from which `fringe inspect`
// prints.

#include "internal.h"

int64_t dataset_isolated(const Dataset *dataset) {
    FREED uint8_t *reached = ALLOC(uint8_t, dataset->nodes, "nodes with an edge that arrives");
    int64_t isolated = 0;
    for (int64_t e = 0; e < dataset->edges; e++)
        reached[dataset->target[e]] = 1;
    for (int64_t i = 0; i < dataset->nodes; i++)
        isolated += dataset->offset[i] == dataset->offset[i + 1] && !reached[i];
    return isolated;
}

static void put_graph(JsonWriter *out, const Dataset *dataset) {
    Csr rows = dataset_csr(dataset);
    JSON_PUT(out, PAIR("isolated", dataset_isolated(dataset)), PAIR("loops", csr_loops(&rows)),
             PAIR("duplicates", csr_duplicates(&rows)));
}

static void put_hypergraph(JsonWriter *out, const Dataset *dataset) {
    int64_t m = dataset->hyperedges, *size = hypergraph_sizes(dataset), pinless = 0;
    sort_int64(size, m);
    while (pinless < m && size[pinless] == 0)
        pinless++;
    JSON_PUT(out, PAIR("pins", dataset->edges), PAIR("size_min", size[0]),
             PAIR("size_median", size[m / 2]), PAIR("size_max", size[m - 1]),
             PAIR("without_pins", pinless), PAIR("uncovered", hypergraph_uncovered(dataset)));
    json_put_bool(out, "directed", !dataset_is_symmetric(dataset));
    json_put_bool(out, "node_weights", dataset->node_weight != NULL);
    memory_free(size);
}

// Of stored out-edges of a node.
static void put_degrees(JsonWriter *out, const Dataset *dataset) {
    int64_t n = dataset->nodes, *degree = ALLOC(int64_t, n, "degrees");
    for (int64_t i = 0; i < n; i++)
        degree[i] = dataset->offset[i + 1] - dataset->offset[i];
    sort_int64(degree, n);
    JSON_PUT(out, PAIR("degree_min", degree[0]), PAIR("degree_median", degree[n / 2]),
             PAIR("degree_max", degree[n - 1]));
    memory_free(degree);
}

static void put_nodes(JsonWriter *out, const Dataset *dataset) {
    int64_t split[4] = {0}, unlabelled = 0;
    for (int64_t i = 0; i < dataset->nodes; i++) {
        split[dataset->split[i]]++;
        unlabelled += !dataset_is_labelled(dataset, i);
    }
    JSON_PUT(out, PAIR("train", split[SPLIT_TRAIN]), PAIR("val", split[SPLIT_VAL]),
             PAIR("test", split[SPLIT_TEST]), PAIR("unlabelled", unlabelled));
}

static void put_statistics(JsonWriter *out, const Dataset *dataset) {
    bool hypergraph = dataset->hyperedges > 0;
    JSON_PUT_OBJECT(out, "statistics") {
        put_degrees(out, dataset);
        (hypergraph ? put_hypergraph : put_graph)(out, dataset);
        put_nodes(out, dataset);
        if (!hypergraph)
            json_put_bool(out, "symmetric", dataset_is_symmetric(dataset));
        json_put_bool(out, "weighted",
                      (hypergraph ? dataset->hyperedge_weight : dataset->weight) != NULL);
    }
}

void dataset_put_facts(JsonWriter *out, const Dataset *dataset) {
    json_put_string(out, "name", dataset->name);
    if (dataset->origin[0] != '\0')
        json_put_string(out, "origin", dataset->origin);
    json_put_int(out, "nodes", dataset->nodes);
    if (dataset->hyperedges > 0)
        json_put_int(out, "hyperedges", dataset->hyperedges);
    JSON_PUT(out, PAIR("edges", dataset->edges), PAIR("features", dataset->features),
             PAIR("classes", dataset->classes), PAIR("multilabel", dataset->multilabel));
    if (dataset->numeric)
        json_put_bool(out, "numeric", true);
    put_statistics(out, dataset);
}
