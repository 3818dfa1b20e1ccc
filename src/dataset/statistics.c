// Statistics of a dataset, for `fringe inspect` and the manifest of our own directory.

#include "internal.h"

static void count_degrees(const Dataset *dataset, Statistics *out) {
    int64_t n = dataset->nodes;
    int64_t *degree = ALLOC(int64_t, n, "degrees");
    for (int64_t i = 0; i < n; i++)
        degree[i] = dataset->offset[i + 1] - dataset->offset[i];
    sort_int64(degree, n);
    out->degree_min = degree[0];
    out->degree_median = degree[n / 2];
    out->degree_max = degree[n - 1];
    memory_free(degree);
}

static int64_t count_isolated(const Dataset *dataset) {
    uint8_t *reached = ALLOC(uint8_t, dataset->nodes, "nodes with an edge that arrives");
    int64_t isolated = 0;
    for (int64_t e = 0; e < dataset->edges; e++)
        reached[dataset->target[e]] = 1;
    for (int64_t i = 0; i < dataset->nodes; i++)
        isolated += dataset->offset[i] == dataset->offset[i + 1] && !reached[i];
    memory_free(reached);
    return isolated;
}

static void count_graph(const Dataset *dataset, Statistics *out) {
    Csr rows = dataset_csr(dataset);
    out->isolated = count_isolated(dataset);
    out->loops = csr_loops(&rows);
    out->duplicates = csr_duplicates(&rows);
    out->weighted = dataset->weight != NULL;
}

static void count_hypergraph(const Dataset *dataset, Statistics *out) {
    int64_t m = dataset->hyperedges, *size = hypergraph_sizes(dataset);
    sort_int64(size, m);
    while (out->pinless < m && size[out->pinless] == 0)
        out->pinless++;
    out->hyperedges = m;
    out->pins = dataset->edges;
    out->size_min = size[0];
    out->size_median = size[m / 2];
    out->size_max = size[m - 1];
    out->isolated = hypergraph_uncovered(dataset);
    out->weighted = dataset->hyperedge_weight != NULL;
    out->node_weights = dataset->node_weight != NULL;
    memory_free(size);
}

void dataset_statistics(const Dataset *dataset, Statistics *out) {
    *out = (Statistics){.symmetric = dataset_is_symmetric(dataset)};
    (dataset->hyperedges > 0 ? count_hypergraph : count_graph)(dataset, out);
    count_degrees(dataset, out);
    for (int64_t i = 0; i < dataset->nodes; i++) {
        out->split[dataset->split[i]]++;
        out->unlabelled += !dataset_is_labelled(dataset, i);
    }
}

// --- JSON

static void put_graph(JsonWriter *out, const Statistics *s) {
    json_put_int(out, "isolated", s->isolated);
    json_put_int(out, "loops", s->loops);
    json_put_int(out, "duplicates", s->duplicates);
}

static void put_hypergraph(JsonWriter *out, const Statistics *s) {
    json_put_int(out, "pins", s->pins);
    json_put_int(out, "size_min", s->size_min);
    json_put_int(out, "size_median", s->size_median);
    json_put_int(out, "size_max", s->size_max);
    json_put_int(out, "without_pins", s->pinless);
    json_put_int(out, "uncovered", s->isolated);
    json_put_bool(out, "directed", !s->symmetric);
    json_put_bool(out, "node_weights", s->node_weights);
}

static void put_statistics(JsonWriter *out, const Statistics *s) {
    json_begin_object(out, "statistics");
    json_put_int(out, "degree_min", s->degree_min);
    json_put_int(out, "degree_median", s->degree_median);
    json_put_int(out, "degree_max", s->degree_max);
    (s->hyperedges > 0 ? put_hypergraph : put_graph)(out, s);
    json_put_int(out, "train", s->split[SPLIT_TRAIN]);
    json_put_int(out, "val", s->split[SPLIT_VAL]);
    json_put_int(out, "test", s->split[SPLIT_TEST]);
    json_put_int(out, "unlabelled", s->unlabelled);
    if (s->hyperedges == 0)
        json_put_bool(out, "symmetric", s->symmetric);
    json_put_bool(out, "weighted", s->weighted);
    json_end_object(out);
}

void dataset_put_facts(JsonWriter *out, const Dataset *dataset) {
    Statistics statistics;
    dataset_statistics(dataset, &statistics);
    json_put_string(out, "name", dataset->name);
    if (dataset->origin[0] != '\0')
        json_put_string(out, "origin", dataset->origin);
    json_put_int(out, "nodes", dataset->nodes);
    if (dataset->hyperedges > 0)
        json_put_int(out, "hyperedges", dataset->hyperedges);
    json_put_int(out, "edges", dataset->edges);
    json_put_int(out, "features", dataset->features);
    json_put_int(out, "classes", dataset->classes);
    json_put_bool(out, "multilabel", dataset->multilabel);
    if (dataset->numeric)
        json_put_bool(out, "numeric", true);
    put_statistics(out, &statistics);
}
