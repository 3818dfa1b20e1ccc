// The table of partitioners. `blocks` is the smallest member and the one to copy: fill part[] for
// every node, add warnings to `warnings`, and add a row to the table. Hyperedges, part[n..n+m), are
// -1 before; a method cuts all of them, or none, and then they get the majority rule. cut_graph
// checks every result: ids in range, and no empty part except with file:PATH.
#include "internal.h"

static const Method *const methods[] = {&method_metis,  &method_metis_star, &method_random,
                                        &method_blocks, &method_fennel,     &method_fennel_passes,
                                        &method_srp,    &method_file};
const Family method_family = FAMILY_OF_POINTERS("partition.method", NULL, methods);

const Method *method_find(const char *word, const char **argument, Error *err) {
    return family_find(&method_family, word, argument, err);
}

static bool cut_blocks(int32_t *part, const CutInput *input, UNUSED Warnings *warnings,
                       UNUSED Error *err) {
    int64_t nodes = input->dataset->nodes;
    for (int64_t v = 0; v < nodes; v++)
        part[v] = (int32_t)(v * input->parts / nodes);
    return true;
}
const Method method_blocks = {.name = "blocks", .reads = READS_NODES, .cut = cut_blocks};

// Every node draws a random number. The sorted nodes are split into blocks, so part sizes differ by
// at most one.
static bool cut_random(int32_t *part, const CutInput *input, UNUSED Warnings *warnings,
                       UNUSED Error *err) {
    int64_t nodes = input->dataset->nodes;
    RandomKey key = random_key((uint64_t)input->config->partition.seed, RANDOM_PARTITION, 0, 0, 0);
    FREED RandomDraw *draw = ALLOC(RandomDraw, nodes, "random order of the nodes");
    for (int64_t v = 0; v < nodes; v++)
        draw[v] = random_draw(key, (int32_t)v);
    random_sort(draw, nodes);
    for (int64_t i = 0; i < nodes; i++)
        part[draw[i].of] = (int32_t)(i * input->parts / nodes);
    return true;
}
const Method method_random = {.name = "random", .reads = READS_NODES, .cut = cut_random};

// Checks that ids are in range. Parts without nodes give a warning (file:) or are a bug (all
// others); parts without hyperedges are legal.
static bool cut_check(const int32_t *part, const Dataset *dataset, int parts, const Method *method,
                      Warnings *warnings) {
    FREED int64_t *count = ALLOC(int64_t, parts, "nodes of each part");
    bool ok = true;
    for (int64_t v = 0; v < dataset->nodes + dataset->hyperedges && ok; v++) {
        ok = part[v] >= 0 && part[v] < parts;
        if (ok && v < dataset->nodes)
            count[part[v]]++;
    }
    for (int p = 0; p < parts && ok; p++)
        if (count[p] == 0) {
            if (method->reads_file)
                warnings_add(warnings, "part %d is empty", p);
            else
                ok = false;
        }
    return ok;
}

// For hyperedges that the method has left uncut.
static bool give_homes(int32_t *part, const CutInput *input, Error *err) {
    const Dataset *d = input->dataset;
    return d->hyperedges == 0 || part[d->nodes] >= 0 ||
           homes_fill(part, d, input->parts, input->config->run.memory_limit, err);
}

// METIS may leave parts empty if there are only a few nodes per part, and so may srp. Each empty
// part gets the last node of the currently largest part.
static int fill_empty_parts(int32_t *part, int64_t nodes, int parts) {
    FREED int64_t *count = ALLOC(int64_t, parts, "nodes of each part");
    int filled = 0;
    for (int64_t v = 0; v < nodes; v++)
        count[part[v]]++;
    for (int p = 0; p < parts; p++) {
        if (count[p] > 0)
            continue;
        int largest = 0;
        for (int q = 1; q < parts; q++)
            largest = count[q] > count[largest] ? q : largest;
        int64_t v = nodes - 1;
        while (part[v] != largest)
            v--;
        part[v] = p;
        count[p]++;
        count[largest]--;
        filled++;
    }
    return filled;
}

static void repair(int32_t *part, const CutInput *input, const Method *method, Warnings *warnings) {
    int filled =
        method->may_leave_empty ? fill_empty_parts(part, input->dataset->nodes, input->parts) : 0;
    if (filled > 0)
        warnings_add(warnings,
                     "%s left %d of %d parts empty; each got one node of the largest part",
                     method->name, filled, input->parts);
}

bool cut_is_possible(const char *name, int64_t nodes, int parts, Error *err) {
    int64_t most = nodes < PARTS_MOST ? nodes : PARTS_MOST;
    return (parts >= 1 && parts <= most) ||
           error_config(err, "%s: %ld nodes cannot be cut into %d parts; use 1 to %ld ranks", name,
                        nodes, parts, most);
}

bool cut_graph(int32_t *part, const Dataset *dataset, const Graph *graph, int parts,
               const Config *config, Warnings *warnings, Error *err) {
    const char *argument;
    const Method *method = method_find(config->partition.method, &argument, err);
    if (method == NULL || !cut_is_possible(dataset->name, dataset->nodes, parts, err))
        return false;
    assert(graph != NULL || method->reads != READS_GRAPH);
    progress_begin("cut", "%s, %.3g M %s, %d parts", SHOWN(config->partition.method),
                   (double)dataset->edges / 1e6, dataset->hyperedges > 0 ? "pins" : "edges", parts);
    CutInput input = {dataset, method->reads != READS_NODES ? graph : NULL, parts, config,
                      argument};
    for (int64_t h = 0; h < dataset->hyperedges; h++)
        part[dataset->nodes + h] = -1;
    if (!method->cut(part, &input, warnings, err))
        return false;
    repair(part, &input, method, warnings);
    if (!give_homes(part, &input, err))
        return false;
    CHECK(cut_check(part, dataset, parts, method, warnings), EXIT_BUG,
          "partition method %s gave an empty part or an id outside 0..%d", method->name, parts - 1);
    return true;
}

bool partition_cut(int32_t *part, const Dataset *dataset, int parts, const Config *config,
                   Error *err, Warnings *warnings) {
    const Method *method = method_find(config->partition.method, NULL, err);
    *warnings = (Warnings){0};
    if (method == NULL)
        return false;
    if (method->reads != READS_GRAPH)
        return cut_graph(part, dataset, NULL, parts, config, warnings, err);
    CLEARED(graph_clear) Graph graph = {0};
    return graph_init(&graph, dataset, config->run.memory_limit, err) &&
           cut_graph(part, dataset, &graph, parts, config, warnings, err);
}
