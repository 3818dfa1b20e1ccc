// The stored edges by source and by target. A dataset keeps rows by source (edge i -> j in row i).
// The rows of a shard read their sources, so the cut also needs the edges by target: the transpose,
// which equals a symmetric graph.
#include "internal.h"

static bool graph_fits(const Dataset *dataset, double memory_limit, Error *err) {
    MemoryPlan plan = {0};
    memory_plan_add(&plan, "edges the other way",
                    csr_bytes_of(dataset->nodes, dataset->edges, dataset->weight != NULL));
    return memory_plan_fits(&plan, memory_limit, "cut on a larger machine and use file:PATH", err);
}

bool graph_init(Graph *graph, const Dataset *dataset, double memory_limit, Error *err) {
    *graph =
        (Graph){.nodes = dataset->nodes, .edges = dataset->edges, .memory_limit = memory_limit};
    graph->out = graph->in = dataset_csr(dataset);
    graph->symmetric = csr_is_symmetric(&graph->out);
    if (!graph->symmetric) {
        if (!graph_fits(dataset, memory_limit, err))
            return false;
        csr_transpose(&graph->in, &graph->out, graph->nodes);
    }
    int64_t most = 0;
    for (int64_t v = 0; v < graph->nodes; v++) {
        int64_t degree = graph->out.offset[v + 1] - graph->out.offset[v] + graph->in.offset[v + 1] -
                         graph->in.offset[v];
        most = degree > most ? degree : most;
    }
    graph->scratch = ALLOC(int32_t, most, "neighbours of a node");
    return true;
}

void graph_clear(Graph *graph) {
    if (!graph->symmetric) // then `in` owns its arrays
        csr_free(&graph->in);
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
