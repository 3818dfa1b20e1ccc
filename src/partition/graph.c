// The stored edges by source and by target. A dataset keeps rows by source (edge i -> j in row i);
// the rows of a shard read their sources, so the cut needs them by target too: the transpose, made
// by counting. A transpose lists its rows in ascending order whatever the input's order was, so two
// transposes sort a Csr in linear time (edges.c uses that).
#include "internal.h"
#include <string.h>

void csr_transpose(Csr *out, const Csr *in, int64_t columns) {
    int64_t edges = in->offset[in->rows];
    int64_t *offset = TAKE(int64_t, columns + 2, "transposed edges");
    int32_t *column = TAKE(int32_t, edges, "transposed edges");
    float *weight = in->weight != NULL ? TAKE(float, edges, "transposed edges") : NULL;
    for (int64_t e = 0; e < edges; e++)
        offset[in->column[e] + 2]++;
    for (int64_t c = 0; c < columns; c++)
        offset[c + 2] += offset[c + 1];
    // offset[c + 1] is the next free place of row c, and ends as the beginning of row c + 1
    for (int64_t i = 0; i < in->rows; i++)
        for (int64_t e = in->offset[i]; e < in->offset[i + 1]; e++) {
            int64_t at = offset[in->column[e] + 1]++;
            column[at] = (int32_t)i;
            if (weight != NULL)
                weight[at] = in->weight[e];
        }
    *out = (Csr){.rows = columns, .offset = offset, .column = column, .weight = weight};
}

void csr_give(Csr *csr) {
    memory_give(csr->offset);
    memory_give(csr->column);
    memory_give(csr->weight);
    *csr = (Csr){0};
}

// The transpose: of a symmetric graph only to see that it is.
static bool graph_fits(const Dataset *dataset, double memory_limit, Error *err) {
    size_t entry = sizeof(int32_t) + (dataset->weight != NULL ? sizeof(float) : 0);
    MemoryPlan plan = {0};
    memory_plan_add(&plan, "edges the other way",
                    memory_product(dataset->nodes + 2, sizeof(int64_t)) +
                        memory_product(dataset->edges, entry));
    return memory_plan_fits(&plan, memory_limit, "cut on a larger machine and use file:PATH", err);
}

bool graph_init(Graph *graph, const Dataset *dataset, double memory_limit, Error *err) {
    *graph =
        (Graph){.nodes = dataset->nodes, .edges = dataset->edges, .memory_limit = memory_limit};
    if (!graph_fits(dataset, memory_limit, err))
        return false;
    graph->out = (Csr){.rows = dataset->nodes,
                       .offset = dataset->offset,
                       .column = dataset->target,
                       .weight = dataset->weight};
    graph->symmetric = dataset_is_symmetric(dataset);
    if (graph->symmetric)
        graph->in = graph->out;
    else
        csr_transpose(&graph->in, &graph->out, graph->nodes);
    int64_t most = 0;
    for (int64_t v = 0; v < graph->nodes; v++) {
        int64_t degree = graph->out.offset[v + 1] - graph->out.offset[v] + graph->in.offset[v + 1] -
                         graph->in.offset[v];
        most = degree > most ? degree : most;
    }
    graph->scratch = TAKE(int32_t, most, "neighbours of a node");
    return true;
}

void graph_clear(Graph *graph) {
    if (!graph->symmetric) // then the arrays of `in` are its own
        csr_give(&graph->in);
    memory_give(graph->scratch);
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
