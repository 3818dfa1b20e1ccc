// The stored edges by source and by target. A dataset keeps rows by source (edge i -> j in row i).
// The rows of a shard read their sources, so the cut also needs the edges by target: the transpose,
// which equals a symmetric graph. A hypergraph becomes its star graph.
#include "internal.h"

static const char advice[] = "cut on a larger machine and use file:PATH";

static bool star_fits(const Dataset *dataset, double memory_limit, Error *err) {
    int64_t vertices = dataset->nodes + dataset->hyperedges;
    return forecast_fits_one("pins both ways",
                             csr_bytes_of(vertices, dataset_star_entries(dataset), false),
                             memory_limit, advice, err);
}

bool hyperedge_pins(Csr *pins, const Dataset *dataset, double memory_limit, Error *err) {
    Csr stored = dataset_csr(dataset);
    size_t bytes = csr_bytes_of(dataset->hyperedges, dataset->edges, false);
    if (!forecast_fits_one("pins of hyperedges", bytes, memory_limit, advice, err))
        return false;
    csr_transpose(pins, &stored, dataset->hyperedges);
    return true;
}

static int64_t most_neighbours(const Graph *graph) {
    int64_t most = 0;
    for (int64_t v = 0; v < graph->vertices; v++) {
        int64_t degree = graph->out.offset[v + 1] - graph->out.offset[v] + graph->in.offset[v + 1] -
                         graph->in.offset[v];
        most = degree > most ? degree : most;
    }
    return most;
}

static Graph graph_of(const Dataset *dataset, double memory_limit) {
    return (Graph){.nodes = dataset->nodes,
                   .vertices = dataset->nodes + dataset->hyperedges,
                   .edges = dataset->edges,
                   .memory_limit = memory_limit};
}

bool graph_init(Graph *graph, const Dataset *dataset, double memory_limit, Error *err) {
    bool star = dataset->hyperedges > 0;
    *graph = graph_of(dataset, memory_limit);
    if (star && !star_fits(dataset, memory_limit, err))
        return false;
    graph->out = star ? dataset_star(dataset, false, NULL) : dataset_csr(dataset);
    graph->symmetric = csr_is_symmetric(&graph->out);
    if (graph->symmetric) {
        graph->in = graph->out;
    } else if (forecast_fits_one("edges the other way", csr_bytes(&graph->out), memory_limit,
                                 advice, err)) {
        csr_transpose(&graph->in, &graph->out, graph->vertices);
    } else {
        graph_clear(graph);
        return false;
    }
    graph->scratch = ALLOC(int32_t, most_neighbours(graph), "neighbours of a vertex");
    return true;
}

void graph_init_rows(Graph *graph, const Dataset *dataset, bool symmetric,
                     const RowSelection *selection, double memory_limit) {
    bool star = dataset->hyperedges > 0;
    *graph = graph_of(dataset, memory_limit);
    graph->symmetric = symmetric;
    bool *wanted = ALLOC(bool, graph->vertices, "rows of parts");
    for (int64_t v = 0; v < graph->vertices; v++)
        wanted[v] = selection->part[v] >= selection->parts.begin &&
                    selection->part[v] < selection->parts.end;
    graph->out = star ? dataset_star(dataset, false, wanted) : dataset_csr(dataset);
    if (symmetric)
        graph->in = graph->out;
    else if (star)
        graph->in = dataset_star(dataset, true, wanted);
    else
        csr_transpose_some(&graph->in, &graph->out, graph->vertices, wanted);
    memory_free(wanted);
    graph->scratch = ALLOC(int32_t, most_neighbours(graph), "neighbours of a vertex");
}

void graph_clear(Graph *graph) {
    if (!graph->symmetric) // then `in` owns its arrays
        csr_free(&graph->in);
    if (graph_sets(graph) > 1)
        csr_free(&graph->out);
    memory_free(graph->scratch);
    *graph = (Graph){0};
}

int64_t graph_neighbours(const Graph *graph, int64_t v) {
    const Csr *a = &graph->out, *b = &graph->in;
    int64_t i = a->offset[v], i_end = a->offset[v + 1], count = 0;
    int64_t j = graph->symmetric ? b->offset[v + 1] : b->offset[v], j_end = b->offset[v + 1];
    while (i < i_end || j < j_end) {
        bool first = j == j_end || (i < i_end && a->column[i] <= b->column[j]);
        int32_t u = first ? a->column[i++] : b->column[j++];
        assert(count == 0 || u >= graph->scratch[count - 1]); // rows ascend (dataset.h)
        if (u != v && (count == 0 || graph->scratch[count - 1] != u))
            graph->scratch[count++] = u;
    }
    return count;
}
