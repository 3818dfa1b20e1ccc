// The order of a part's own rows (law 1, halo.h): by hops from the training nodes, so that a layer
// needs only the first rows; at each distance forward-central rows, then forward-marginal ones;
// inside those by cluster. Clusters are a METIS cut of the part's own induced subgraph into groups
// of about 1000 rows: a group of 256-wide rows then is 1 MiB and stays in the cache while its rows
// read each other (LIMITS 2, worth 1.6 to 1.9 times). METIS numbers parts by recursive halving, so
// groups with near numbers are near in the graph. Inside a cluster rows keep the order of their
// ids. A part that METIS cannot hold is one cluster.
#include "internal.h"

enum { CLUSTER_ROWS = 1000, CLUSTER_FROM = 2000 };

// Lists the nodes part by part, ascending; `row` is the index in the part.
static void list_by_part(PartOrder *order, const int32_t *part, int64_t nodes) {
    for (int64_t v = 0; v < nodes; v++)
        order->begin[part[v] + 1]++;
    for (int p = 0; p < order->parts; p++)
        order->begin[p + 1] += order->begin[p];
    int64_t *next = ALLOC(int64_t, order->parts, "order of rows");
    for (int64_t v = 0; v < nodes; v++) {
        int32_t p = part[v];
        order->row[v] = (int32_t)next[p];
        order->node[order->begin[p] + next[p]++] = (int32_t)v;
    }
    memory_free(next);
}

// True if v reads a node of another part.
static bool is_marginal(const Graph *graph, const int32_t *part, int64_t v) {
    for (int64_t e = graph->in.offset[v]; e < graph->in.offset[v + 1]; e++)
        if (part[graph->in.column[e]] != part[v])
            return true;
    return false;
}

// Sorts nodes[0..count) stably by key[0..count), 0 <= key < keys.
static void sort_by_key(int32_t *nodes, const int32_t *key, int64_t count, int64_t keys) {
    int64_t *next = ALLOC(int64_t, keys + 1, "order of rows");
    int32_t *sorted = ALLOC(int32_t, count, "order of rows");
    for (int64_t i = 0; i < count; i++)
        next[key[i] + 1]++;
    for (int64_t k = 0; k < keys; k++)
        next[k + 1] += next[k];
    for (int64_t i = 0; i < count; i++)
        sorted[next[key[i]]++] = nodes[i];
    for (int64_t i = 0; i < count; i++)
        nodes[i] = sorted[i];
    memory_free(sorted);
    memory_free(next);
}

enum { FAR = SHARD_HOPS + 1 };

// hops[v]: hops on the shortest path from v along edges to a training node, FAR if there are too
// many; rows beyond the receptive field do not affect training (ALGORITHMS A.3, ii and iii). One
// search for all nodes.
static uint8_t *hops_to_training(const Graph *graph, const uint8_t *split) {
    int64_t nodes = graph->nodes, last = 0;
    uint8_t *hops = ALLOC(uint8_t, nodes, "order of rows");
    int32_t *queue = ALLOC(int32_t, nodes, "order of rows");
    for (int64_t v = 0; v < nodes; v++) {
        hops[v] = split[v] == SPLIT_TRAIN ? 0 : FAR;
        if (hops[v] == 0)
            queue[last++] = (int32_t)v;
    }
    for (int64_t first = 0; first < last; first++) {
        int32_t v = queue[first];
        for (int64_t e = graph->in.offset[v]; e < graph->in.offset[v + 1]; e++) {
            int32_t u = graph->in.column[e];
            if (hops[u] <= hops[v] + 1)
                continue;
            hops[u] = (uint8_t)(hops[v] + 1);
            queue[last++] = u;
        }
    }
    memory_free(queue);
    return hops;
}

// Fills cluster[count] for the rows of a part; returns the number of clusters. 1 if the part is too
// large for METIS: its rows are not ordered by cluster. 0 with an error.
static int find_clusters(PartOrder *order, int32_t *cluster, const Graph *graph,
                         const int32_t *part, int p, Error *err) {
    int64_t count = order->begin[p + 1] - order->begin[p];
    int clusters = count >= CLUSTER_FROM ? (int)(count / CLUSTER_ROWS) : 1;
    Error failed = {0};
    if (clusters == 1 || metis_clusters(cluster, graph, part, order->row,
                                        order->node + order->begin[p], count, clusters, &failed))
        return clusters;
    if (failed.code == EXIT_MEMORY || failed.code == EXIT_DATA) {
        order->unclustered++;
        return 1;
    }
    *err = failed;
    return 0;
}

static bool order_part(PartOrder *order, const Graph *graph, const int32_t *part,
                       const uint8_t *hops, int p, bool reorder, Error *err) {
    int32_t *nodes = order->node + order->begin[p];
    int64_t count = order->begin[p + 1] - order->begin[p];
    int32_t *key = ALLOC(int32_t, count, "order of rows");
    int clusters = reorder ? find_clusters(order, key, graph, part, p, err) : 1;
    bool ok = clusters > 0;
    for (int64_t i = 0; i < count && ok; i++) {
        bool marginal = is_marginal(graph, part, nodes[i]);
        key[i] += (2 * hops[nodes[i]] + marginal) * clusters;
        order->central[p] += !marginal;
        for (int h = hops[nodes[i]]; h < FAR; h++)
            order->reach[p * FAR + h]++;
    }
    if (ok)
        sort_by_key(nodes, key, count, 2 * (FAR + 1) * (int64_t)clusters);
    memory_free(key);
    return ok;
}

bool order_init(PartOrder *order, const Graph *graph, const uint8_t *split, const int32_t *part,
                int parts, bool reorder, Error *err) {
    int64_t nodes = graph->nodes;
    *order = (PartOrder){.parts = parts,
                         .begin = ALLOC(int64_t, parts + 1, "order of rows"),
                         .node = ALLOC(int32_t, nodes, "order of rows"),
                         .row = ALLOC(int32_t, nodes, "order of rows"),
                         .central = ALLOC(int64_t, parts, "order of rows"),
                         .reach = ALLOC(int64_t, parts * FAR, "order of rows")};
    uint8_t *hops = hops_to_training(graph, split);
    list_by_part(order, part, nodes);
    bool ok = true;
    for (int p = 0; p < parts && ok; p++)
        ok = order_part(order, graph, part, hops, p, reorder, err);
    memory_free(hops);
    if (!ok) {
        order_clear(order);
        return false;
    }
    for (int p = 0; p < parts; p++)
        for (int64_t i = order->begin[p]; i < order->begin[p + 1]; i++)
            order->row[order->node[i]] = (int32_t)(i - order->begin[p]);
    return true;
}

void order_clear(PartOrder *order) {
    memory_free(order->begin);
    memory_free(order->node);
    memory_free(order->row);
    memory_free(order->central);
    memory_free(order->reach);
    *order = (PartOrder){0};
}
