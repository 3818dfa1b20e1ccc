// The memory that making the shards of a cut will take, before it is taken.
#include "internal.h"

// The nodes, in-edges and out-edges of a part.
typedef struct PartSize {
    int64_t nodes, in, out;
} PartSize;

// The memory of a part while its shard is made: its edges by target and by source (edges.c), its
// remote rows, its per-node arrays.
static size_t part_bytes(const PartSize *size, const Graph *graph) {
    size_t entry = sizeof(int32_t) + (graph->out.weight != NULL ? sizeof(float) : 0);
    size_t nodes = (size_t)size->nodes, others = (size_t)graph->nodes - nodes, bytes = nodes * 40;
    size_t edges[2] = {(size_t)size->in, graph->symmetric ? 0 : (size_t)size->out}, turned = 0;
    for (int way = 0; way < 2; way++) {
        size_t remote = edges[way] < others ? edges[way] : others;
        size_t now = edges[way] * entry + (nodes + remote) * sizeof(int64_t);
        bytes += edges[way] * entry + nodes * sizeof(int64_t) + remote * 24;
        turned = now > turned ? now : turned;
    }
    return bytes + turned;
}

static size_t largest_part(const Graph *graph, const int32_t *part, int parts) {
    PartSize *size = ALLOC(PartSize, parts, "sizes of the parts");
    for (int64_t v = 0; v < graph->nodes; v++) {
        size[part[v]].nodes++;
        size[part[v]].in += graph->in.offset[v + 1] - graph->in.offset[v];
        size[part[v]].out += graph->out.offset[v + 1] - graph->out.offset[v];
    }
    size_t most = 0;
    for (int p = 0; p < parts; p++) {
        size_t bytes = part_bytes(&size[p], graph);
        most = bytes > most ? bytes : most;
    }
    memory_free(size);
    return most;
}

bool shards_fit(const Graph *graph, const int32_t *part, int parts, Error *err) {
    MemoryPlan plan = {0};
    memory_plan_add(&plan, "order of rows",
                    memory_product(graph->nodes, 17) +
                        memory_product(parts, (SHARD_HOPS + 4) * sizeof(int64_t)));
    memory_plan_add(&plan, "shard being made", largest_part(graph, part, parts) + (1 << 20));
    return memory_plan_fits(&plan, graph->memory_limit,
                            "cut into more parts, or on a larger machine", err);
}
