// The memory that making the shards of a cut will take, before it is taken.
#include "internal.h"

// The rows of each set of a part, and the entries of their rows by target and by source.
typedef struct PartSize {
    int64_t rows[SHARD_SETS], entries[2][SHARD_SETS];
} PartSize;

// The memory of a part while its shard is made: its edges by target and by source (edges.c), its
// remote rows, its per-row arrays.
static size_t part_bytes(const PartSize *size, const Graph *graph) {
    size_t entry = sizeof(int32_t) + (graph->out.weight != NULL ? sizeof(float) : 0);
    int64_t total[SHARD_SETS] = {graph->nodes, graph->vertices - graph->nodes};
    size_t bytes = 0, turned = 0;
    for (int to = 0; to < graph_sets(graph); to++) {
        int from = graph_sets(graph) > 1 ? 1 - to : to;
        size_t rows = (size_t)size->rows[to], sources = (size_t)size->rows[from];
        size_t others = (size_t)total[from] - sources;
        bytes += rows * 40;
        for (int way = 0; way < 2; way++) {
            size_t edges = graph->symmetric && way > 0 ? 0 : (size_t)size->entries[way][to];
            size_t remote = edges < others ? edges : others;
            size_t columns = sources + remote, block = (size_t)part_edges_block((int64_t)columns);
            size_t now = (edges < block ? edges : block) * 2 * entry + columns * sizeof(int64_t);
            bytes += edges * entry + rows * sizeof(int64_t) + remote * 24;
            turned = now > turned ? now : turned;
        }
    }
    return bytes + turned;
}

static size_t largest_part(const Graph *graph, const int32_t *part, PartRange mine, int parts) {
    FREED PartSize *size = ALLOC(PartSize, parts, "sizes of the parts");
    const Csr *way[2] = {&graph->in, &graph->out};
    for (int64_t v = 0; v < graph->vertices; v++) {
        int set = v < graph->nodes ? NODES : HYPEREDGES;
        size[part[v]].rows[set]++;
        for (int w = 0; w < 2; w++)
            size[part[v]].entries[w][set] += way[w]->offset[v + 1] - way[w]->offset[v];
    }
    size_t most = 0;
    for (int p = mine.begin; p < mine.end; p++) {
        size_t bytes = part_bytes(&size[p], graph);
        most = bytes > most ? bytes : most;
    }
    return most;
}

bool shards_fit(const Graph *graph, const int32_t *part, PartRange mine, int parts, Error *err) {
    MemoryForecast forecast = {0};
    forecast_add(&forecast, "order of rows",
                 memory_product(graph->vertices, 17) +
                     memory_product(parts * graph_sets(graph), (SHARD_HOPS + 4) * sizeof(int64_t)));
    forecast_add(&forecast, "shard being made", largest_part(graph, part, mine, parts) + (1 << 20));
    return forecast_fits(&forecast, graph->memory_limit,
                         "cut into more parts, or on a larger machine", err);
}
