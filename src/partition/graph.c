// The stored edges by source and by target. A dataset keeps rows by source (edge i -> j in row i).
// The rows of a shard read their sources, so the cut also needs the edges by target: the transpose,
// which equals a symmetric graph. A hypergraph becomes its star graph.
#include "internal.h"
#include <string.h>

static bool is_selected(const RowSelection *selection, int64_t v) {
    return selection == NULL || (selection->part[v] >= selection->parts.begin &&
                                 selection->part[v] < selection->parts.end);
}

// One direction of the pins, and the vertices whose rows are wanted.
typedef struct Star {
    const Dataset *dataset;
    bool by_target;
    const RowSelection *wanted;
} Star;

// Counts and then, at `next`, lists the columns of each row. By source: a node leads to the
// hyperedges that it is a source of, a hyperedge to its targets. A call with `column` NULL only
// counts.
static void lead(const Star *star, int64_t *next, int32_t *column) {
    const Dataset *dataset = star->dataset;
    int of_node = star->by_target ? PIN_TARGET : PIN_SOURCE, of_hyperedge = PIN_BOTH ^ of_node;
    for (int64_t v = 0; v < dataset->nodes; v++)
        for (int64_t e = dataset->offset[v]; e < dataset->offset[v + 1]; e++) {
            int role = dataset->pin_role != NULL ? dataset->pin_role[e] : PIN_BOTH;
            int64_t h = dataset->nodes + dataset->target[e];
            bool there = (role & of_node) != 0 && is_selected(star->wanted, v);
            bool back = (role & of_hyperedge) != 0 && is_selected(star->wanted, h);
            if (column != NULL && there)
                column[next[v]] = (int32_t)h;
            if (column != NULL && back)
                column[next[h]] = (int32_t)v;
            next[v] += there;
            next[h] += back;
        }
}

// One direction of the star graph of a hypergraph. Rows ascend, since nodes are taken in their
// order.
static Csr star_graph(const Star *star) {
    int64_t vertices = star->dataset->nodes + star->dataset->hyperedges;
    Csr csr = {.rows = vertices, .offset = ALLOC(int64_t, vertices + 1, "pins both ways")};
    lead(star, csr.offset + 1, NULL);
    offsets_sum(csr.offset, vertices);
    csr.column = ALLOC(int32_t, csr.offset[vertices], "pins both ways");
    int64_t *next = ALLOC(int64_t, vertices, "pins both ways");
    memcpy(next, csr.offset, (size_t)vertices * sizeof *next);
    lead(star, next, csr.column);
    memory_free(next);
    return csr;
}

// Entries of the star graph by source: a pin that is source and target has two.
static int64_t star_entries(const Dataset *dataset) {
    int64_t entries = 2 * dataset->edges;
    for (int64_t e = 0; dataset->pin_role != NULL && e < dataset->edges; e++)
        entries -= dataset->pin_role[e] != PIN_BOTH;
    return entries;
}

static const char advice[] = "cut on a larger machine and use file:PATH";

static bool star_fits(const Dataset *dataset, double memory_limit, Error *err) {
    int64_t vertices = dataset->nodes + dataset->hyperedges;
    return forecast_fits_one("pins both ways",
                             csr_bytes_of(vertices, star_entries(dataset), false) +
                                 memory_product(vertices, sizeof(int64_t)),
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
    graph->out = star ? star_graph(&(Star){.dataset = dataset}) : dataset_csr(dataset);
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

// The edges by target of the wanted rows, each ascending.
static Csr turned(const Csr *out, const RowSelection *selection) {
    Csr in = {.rows = out->rows, .offset = ALLOC(int64_t, out->rows + 1, "edges the other way")};
    for (int64_t e = 0; e < csr_entries(out); e++)
        in.offset[out->column[e] + 1] += is_selected(selection, out->column[e]);
    offsets_sum(in.offset, out->rows);
    in.column = ALLOC(int32_t, in.offset[in.rows], "edges the other way");
    if (out->weight != NULL)
        in.weight = ALLOC(float, in.offset[in.rows], "edges the other way");
    int64_t *next = ALLOC(int64_t, in.rows, "edges the other way");
    memcpy(next, in.offset, (size_t)in.rows * sizeof *next);
    for (int64_t u = 0; u < out->rows; u++)
        for (int64_t e = out->offset[u]; e < out->offset[u + 1]; e++) {
            if (!is_selected(selection, out->column[e]))
                continue;
            int64_t at = next[out->column[e]]++;
            in.column[at] = (int32_t)u;
            if (in.weight != NULL)
                in.weight[at] = out->weight[e];
        }
    memory_free(next);
    return in;
}

void graph_init_rows(Graph *graph, const Dataset *dataset, bool symmetric,
                     const RowSelection *selection, double memory_limit) {
    bool star = dataset->hyperedges > 0;
    *graph = graph_of(dataset, memory_limit);
    graph->symmetric = symmetric;
    graph->out = star ? star_graph(&(Star){dataset, false, selection}) : dataset_csr(dataset);
    if (symmetric)
        graph->in = graph->out;
    else
        graph->in =
            star ? star_graph(&(Star){dataset, true, selection}) : turned(&graph->out, selection);
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
