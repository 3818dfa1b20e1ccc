// The statistics of a cut: rows sent between parts, figures of each part, joined pairs that are
// cut.
#include "internal.h"

void messages_count(Messages *sent, const PartEdges *edges, int p) {
    const int32_t *owner = edges->remote_owner;
    for (int64_t h = 0, next; h < edges->remote; h = next) {
        for (next = h + 1; next < edges->remote && owner[next] == owner[h];)
            next++;
        messages_add(sent, owner[h], p, next - h);
    }
}

void figures_of_edges(PartFigures *figures, const Shard *shard) {
    const ShardRelation *in = &shard->relation[IN_EDGES];
    figures->edges = in->edges;
    for (int64_t e = 0; e < in->edges; e++)
        figures->edges_remote += in->column[e] >= shard->set[NODES].own;
}

void figures_of_part(PartFigures *figures, const Shard *shard, const int32_t *part,
                     const Graph *graph) {
    const RowSet *nodes = &shard->set[NODES];
    const ShardRelation *in = &shard->relation[IN_EDGES];
    figures->own = nodes->own;
    figures->central = nodes->central;
    figures->halo = in->remote;
    figures->halo_backward = shard->relation[shard_backward(shard)].remote;
    for (int64_t i = 0; i < nodes->own; i++) {
        int64_t v = nodes->gid[i];
        bool read = false;
        for (int64_t e = graph->out.offset[v]; e < graph->out.offset[v + 1] && !read; e++)
            read = part[graph->out.column[e]] != shard->part;
        figures->boundary += read;
        figures->train += shard->split[i] == SPLIT_TRAIN;
    }
}

void figures_of_cut(Manifest *manifest, const Graph *graph, const int32_t *part, PartRange mine) {
    for (int64_t v = 0; v < graph->vertices; v++) {
        int64_t count =
            part[v] >= mine.begin && part[v] < mine.end ? graph_neighbours(graph, v) : 0;
        for (int64_t k = 0; k < count; k++) {
            int32_t u = graph->scratch[k];
            manifest->undirected_edges += u > v;
            manifest->edge_cut += u > v && part[u] != part[v];
        }
    }
}
