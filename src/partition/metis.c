// Cuts with METIS (Karypis & Kumar, SIAM J. Sci. Comput. 1998; METIS 5.1 manual), which runs in a
// process of its own (metis_process.h). It needs a symmetric graph without loops and duplicates;
// any other graph gives garbage or a crash (TRAPS 11). So this file works in four steps: build the
// graph for METIS (the union of both directions) in memory that the process shares, check its sizes
// and its memory, call METIS, check the result. A hypergraph is cut by its clique expansion
// (`metis`) or by its star graph (`metis:star`), which also cuts hyperedges.
#include "internal.h"
#include "metis_process.h"

typedef struct MetisGraph {
    idx_t nodes;
    MetisProcess process; // holds the arrays
    idx_t *offset;        // [nodes+1]
    idx_t *neighbour;     // [offset[nodes]]
    idx_t *weight;        // [offset[nodes]] or NULL: all 1
    double limit;         // GiB that this process may use; 0: all available memory
} MetisGraph;

// The vertices of an induced subgraph for METIS: all, or the rows of one part, its nodes and then
// its hyperedges; or the nodes of a hypergraph.
typedef struct Induced {
    const Graph *graph;
    Expansion *expansion; // or NULL: the neighbours are those of the graph
    const int32_t *part;
    const PartOrder *order; // NULL: vertex i is i
    int p;
    int64_t nodes, count; // nodes: rows of `p` before its hyperedges
} Induced;

static int64_t induced_vertex(const Induced *set, int64_t i) {
    if (set->order == NULL)
        return i;
    return i < set->nodes ? order_rows(set->order, NODES, set->p)[i]
                          : order_rows(set->order, HYPEREDGES, set->p)[i - set->nodes];
}

// Neighbours of a vertex inside the set, as indices.
typedef struct Neighbours {
    int64_t count;
    const int32_t *node, *weight; // weight: NULL: all 1
} Neighbours;

static Neighbours induced_neighbours(const Induced *set, int64_t i) {
    if (set->expansion != NULL)
        return (Neighbours){expansion_neighbours(set->expansion, i), set->expansion->node,
                            set->expansion->weight};
    int64_t all = graph_neighbours(set->graph, induced_vertex(set, i)), kept = 0;
    int32_t *list = set->graph->scratch;
    if (set->order == NULL)
        return (Neighbours){all, list, NULL};
    for (int64_t k = 0; k < all; k++) {
        int32_t u = list[k];
        if (set->part[u] == set->p)
            list[kept++] = set->order->row[u] + (u < set->order->nodes ? 0 : (int32_t)set->nodes);
    }
    return (Neighbours){kept, list, NULL};
}

static const char advice[] =
    "use partition.method fennel, random or blocks, or cut on a larger machine and use file:PATH";

// Checks that the graph for METIS, its weights and the result fit into memory.
static bool graph_fits(const Induced *set, int64_t entries, double limit, Error *err) {
    int64_t numbers = set->expansion != NULL ? 2 * entries : entries;
    return forecast_fits_one("graph for METIS",
                             memory_product(numbers + 6 * set->count + 1, sizeof(idx_t)), limit,
                             advice, err);
}

// Counts the entries of the graph for METIS. False if METIS cannot count them or their weights.
static bool count_entries(int64_t *entries, const Induced *set, Error *err) {
    const int64_t most = sizeof(idx_t) == 4 ? INT32_MAX : INT64_MAX;
    int64_t weights = 0;
    *entries = 0;
    for (int64_t i = 0; i < set->count; i++) {
        Neighbours near = induced_neighbours(set, i);
        *entries += near.count;
        for (int64_t k = 0; k < near.count && near.weight != NULL; k++)
            weights += near.weight[k];
    }
    int64_t counted = weights > *entries ? weights : *entries;
    return counted <= most - set->count ||
           error_data(err,
                      "the graph has %ld neighbour entries, and this METIS counts to %ld; use "
                      "partition.method fennel, random, blocks or file:PATH, or a METIS with "
                      "64-bit indices",
                      counted, most);
}

static bool metis_graph_init(MetisGraph *metis, const Induced *set, double limit, Error *err) {
    int64_t entries;
    *metis =
        (MetisGraph){.nodes = (idx_t)set->count, .process = {.descriptor = -1}, .limit = limit};
    if (!count_entries(&entries, set, err) || !graph_fits(set, entries, limit, err))
        return false;
    MetisSizes sizes = {set->count, entries, set->expansion != NULL};
    if (!metis_process_init(&metis->process, &sizes, err))
        return false;
    MetisJob *job = metis->process.job;
    metis->offset = metis_job_array(job, job->offset);
    metis->neighbour = metis_job_array(job, job->neighbour);
    metis->weight = metis_job_array(job, job->edge_weight);
    idx_t at = 0;
    for (int64_t i = 0; i < set->count; i++) {
        Neighbours near = induced_neighbours(set, i);
        for (int64_t k = 0; k < near.count; k++, at++) {
            metis->neighbour[at] = (idx_t)near.node[k];
            if (metis->weight != NULL)
                metis->weight[at] = (idx_t)near.weight[k];
        }
        metis->offset[i + 1] = at;
    }
    return true;
}

// ---- the memory of METIS

// Matches every node with its first free neighbour: match[i], or i if there is none.
static int32_t *match_nodes(const MetisGraph *metis) {
    int32_t *match = ALLOC(int32_t, metis->nodes, "pairs of nodes");
    for (idx_t i = 0; i < metis->nodes; i++)
        match[i] = -1;
    for (idx_t i = 0; i < metis->nodes; i++) {
        idx_t e = metis->offset[i];
        if (match[i] >= 0)
            continue;
        while (e < metis->offset[i + 1] && match[metis->neighbour[e]] >= 0)
            e++;
        idx_t other = e < metis->offset[i + 1] ? metis->neighbour[e] : i;
        match[i] = (int32_t)other;
        match[other] = (int32_t)i;
    }
    return match;
}

// Entries of a pair that remain when each pair is merged into one node; seen: [nodes].
static int64_t entries_left(const MetisGraph *metis, const int32_t *match, int32_t *seen,
                            int32_t pair) {
    int64_t left = 0;
    for (int end = 0; end < (match[pair] == pair ? 1 : 2); end++) {
        int32_t v = end == 0 ? pair : match[pair];
        for (idx_t e = metis->offset[v]; e < metis->offset[v + 1]; e++) {
            int32_t u = (int32_t)metis->neighbour[e], other = u < match[u] ? u : match[u];
            left += other != pair && seen[other] != pair;
            seen[other] = pair;
        }
    }
    return left;
}

enum { LOOKED_AT = 1 << 22 }; // entries of a sample, approximately

typedef struct Coarser { // METIS's first coarser graph, as fractions of the graph itself
    double nodes, entries;
} Coarser;

// Counts all nodes, and the entries of a sample of pairs if there are many.
static Coarser look_coarser(const MetisGraph *metis) {
    int64_t before = 0, after = 0, pairs = 0, stride = metis->offset[metis->nodes] / LOOKED_AT + 1;
    FREED int32_t *match = match_nodes(metis),
                  *seen = ALLOC(int32_t, metis->nodes, "pairs of nodes");
    for (idx_t i = 0; i < metis->nodes; i++)
        seen[i] = -1;
    for (int64_t i = 0; i < metis->nodes; i++) {
        if (match[i] < i || pairs++ % stride != 0)
            continue;
        before += metis->offset[i + 1] - metis->offset[i];
        if (match[i] != i)
            before += metis->offset[match[i] + 1] - metis->offset[match[i]];
        after += entries_left(metis, match, seen, (int32_t)i);
    }
    return (Coarser){fmin((double)pairs / metis->nodes, 0.85), // METIS stops above that
                     before > 0 ? (double)after / (double)before : 0};
}

static const size_t heap = 4 << 20; // overhead between METIS's blocks

// Expected distinct entries of a graph whose entries are random pairs of nodes.
static double distinct(double entries, double nodes) {
    return nodes * nodes * -expm1(-entries / (nodes * nodes));
}

// METIS stores a weight per entry; a list of coarser graphs with two numbers per entry, down to
// some hundred nodes (first the k-way graphs, then those of the bisections, which copy the coarsest
// k-way graph); and some 22 numbers per node (weights, maps, matching, boundary, gains). The
// estimate assumes that every coarser graph shrinks as much as the first one, as long as distinct
// entries are possible; the real ones have fewer entries. Measured in LIMITS 5. The cliques of an
// expansion (with weights) merge at the first step and less later: up to 8 % more was measured.
static size_t metis_bytes(const MetisGraph *metis, int parts) {
    double nodes = metis->nodes, entries = metis->offset[metis->nodes], left = entries;
    double numbers = entries + 22 * nodes, copied = 0;
    double coarsest = fmax(nodes / (20 * log2(parts)), 30.0 * parts); // of the k-way graphs
    Coarser coarser = look_coarser(metis);
    while (nodes > 100) {
        if (nodes > coarsest && parts > 2)
            copied = 2 * left;
        nodes *= coarser.nodes;
        left = fmin(left * coarser.entries, distinct(entries, nodes));
        numbers += 2 * left;
    }
    double more = metis->weight != NULL ? 1.2 : 1;
    return heap + (size_t)(more * (numbers + copied) * (double)sizeof(idx_t));
}

static void fill_weights(idx_t *weight, const Balance *balance, int64_t vertices) {
    assert(balance->columns <= METIS_CONSTRAINTS);
    for (int64_t v = 0; v < vertices; v++)
        for (int c = 0; c < balance->columns; c++)
            *weight++ = (idx_t)balance_weight(balance, c, v);
}

// Minimum cut, k-way: the parts of the nodes, in the memory of the process; NULL with an error.
// `balance` says what is balanced beside or instead of the number of nodes; NULL: only that.
static const idx_t *metis_run(MetisGraph *metis, int parts, const Balance *balance, int64_t seed,
                              Error *err) {
    if (!forecast_fits_one("METIS itself", metis_bytes(metis, parts), metis->limit, advice, err))
        return NULL;
    MetisJob *job = metis->process.job;
    job->constraints = balance != NULL ? balance->columns : 1;
    job->parts = parts;
    job->seed = seed;
    if (balance != NULL)
        fill_weights(metis_job_array(job, job->node_weight), balance, metis->nodes);
    else
        job->node_weight = 0;
    if (!metis_process_run(&metis->process, err))
        return NULL;
    const idx_t *part = metis_job_array(job, job->part);
    for (idx_t i = 0; i < metis->nodes; i++)
        CHECK(part[i] >= 0 && part[i] < parts, EXIT_BUG, "METIS put node %ld into part %ld of %d",
              (int64_t)i, (int64_t)part[i], parts);
    return part;
}

static idx_t metis_count_cut(const MetisGraph *metis, const idx_t *part) {
    int64_t both = 0;
    for (idx_t i = 0; i < metis->nodes; i++)
        for (idx_t e = metis->offset[i]; e < metis->offset[i + 1]; e++)
            if (part[i] != part[metis->neighbour[e]])
                both += metis->weight != NULL ? metis->weight[e] : 1;
    return (idx_t)(both / 2);
}

static const idx_t *cut_with_weights(MetisGraph *metis, const CutInput *input, Error *err) {
    Balance balance;
    if (!balance_init(&balance, input, metis->nodes, err))
        return NULL;
    const idx_t *part =
        metis_run(metis, input->parts, &balance, input->config->partition.seed, err);
    int64_t cut = metis->process.job->cut;
    CHECK(part == NULL || cut == metis_count_cut(metis, part), EXIT_BUG,
          "METIS reports a cut of %ld edges, but the cut has %ld", cut,
          (int64_t)metis_count_cut(metis, part));
    return part;
}

// Cuts the vertices of the set: part[set->count].
static bool cut_induced(int32_t *part, const Induced *set, const CutInput *input, Error *err) {
    MetisGraph metis = {0};
    if (input->parts == 1) { // METIS divides by zero for one part
        memset(part, 0, (size_t)set->count * sizeof part[0]);
        return true;
    }
    if (!metis_graph_init(&metis, set, input->config->run.memory_limit, err))
        return false;
    const idx_t *out = cut_with_weights(&metis, input, err);
    for (int64_t v = 0; v < set->count && out != NULL; v++)
        part[v] = (int32_t)out[v];
    metis_process_clear(&metis.process);
    return out != NULL;
}

static bool cut_metis(int32_t *part, const CutInput *input, UNUSED Warnings *warnings, Error *err) {
    const Dataset *dataset = input->dataset;
    const Config *config = input->config;
    CLEARED(expansion_clear) Expansion expansion = {0};
    Induced all = {.graph = input->graph, .count = dataset->nodes};
    if (dataset->hyperedges > 0) {
        all.expansion = &expansion;
        if (!expansion_init(&expansion, dataset, config->partition.seed, config->run.memory_limit,
                            err))
            return false;
    }
    return cut_induced(part, &all, input, err);
}
const Method method_metis = {
    .name = "metis", .may_leave_empty = true, .reads = READS_GRAPH, .cut = cut_metis};

static bool cut_star(int32_t *part, const CutInput *input, UNUSED Warnings *warnings, Error *err) {
    Induced all = {.graph = input->graph, .count = input->graph->vertices};
    if (input->dataset->hyperedges == 0)
        return error_config(err,
                            "partition.method: metis:star cuts nodes and hyperedges, and %s has no "
                            "hyperedges; use metis",
                            input->dataset->name);
    return cut_induced(part, &all, input, err);
}
const Method method_metis_star = {
    .name = "metis:star", .may_leave_empty = true, .reads = READS_GRAPH, .cut = cut_star};

bool metis_clusters(int32_t *cluster, const Graph *graph, const int32_t *part,
                    const PartOrder *order, int p, int clusters, Error *err) {
    MetisGraph metis = {0};
    Induced set = {
        .graph = graph, .part = part, .order = order, .p = p, .nodes = order_own(order, NODES, p)};
    for (int s = 0; s < order->sets; s++)
        set.count += order_own(order, s, p);
    assert(clusters > 1 && clusters <= set.count);
    if (!metis_graph_init(&metis, &set, graph->memory_limit, err))
        return false;
    const idx_t *out = metis_run(&metis, clusters, NULL, 1, err);
    for (int64_t i = 0; i < set.count && out != NULL; i++)
        cluster[i] = (int32_t)out[i];
    metis_process_clear(&metis.process);
    return out != NULL;
}
