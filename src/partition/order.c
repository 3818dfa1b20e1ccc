// The order of a part's own rows (law 1, halo.h): forward-central rows first, then forward-marginal
// ones; inside each, cluster by cluster. Clusters are a METIS cut of the part's own induced
// subgraph into groups of about 1000 rows: a group of 256-wide rows then is 1 MiB and stays in the
// cache while its rows read each other (LIMITS 2, worth 1.6 to 1.9 times). METIS numbers parts by
// recursive halving, so groups with near numbers are near in the graph. Inside a cluster rows
// keep the order of their ids.
#include "parts.h"

enum { CLUSTER_ROWS = 1000, CLUSTER_FROM = 2000 };

// The nodes of each part one after the other, ascending; `row` is the index in the part.
static void list_by_part(PartOrder *order, const int32_t *part, int64_t nodes) {
    for (int64_t v = 0; v < nodes; v++)
        order->begin[part[v] + 1]++;
    for (int p = 0; p < order->parts; p++)
        order->begin[p + 1] += order->begin[p];
    int64_t *next = TAKE(int64_t, order->parts, "order of rows");
    for (int64_t v = 0; v < nodes; v++) {
        int32_t p = part[v];
        order->row[v] = (int32_t)next[p];
        order->node[order->begin[p] + next[p]++] = (int32_t)v;
    }
    memory_give(next);
}

// Does v read a node of another part?
static bool is_marginal(const Graph *graph, const int32_t *part, int64_t v) {
    for (int64_t e = graph->in.offset[v]; e < graph->in.offset[v + 1]; e++)
        if (part[graph->in.column[e]] != part[v])
            return true;
    return false;
}

// Sorts nodes[0..count) by key[0..count), 0 <= key < keys, keeping the order of equals.
static void sort_by_key(int32_t *nodes, const int32_t *key, int64_t count, int64_t keys) {
    int64_t *next = TAKE(int64_t, keys + 1, "order of rows");
    int32_t *sorted = TAKE(int32_t, count, "order of rows");
    for (int64_t i = 0; i < count; i++)
        next[key[i] + 1]++;
    for (int64_t k = 0; k < keys; k++)
        next[k + 1] += next[k];
    for (int64_t i = 0; i < count; i++)
        sorted[next[key[i]]++] = nodes[i];
    for (int64_t i = 0; i < count; i++)
        nodes[i] = sorted[i];
    memory_give(sorted);
    memory_give(next);
}

static bool order_part(PartOrder *order, const Graph *graph, const int32_t *part, int p,
                       bool reorder, Error *err) {
    int32_t *nodes = order->node + order->begin[p];
    int64_t count = order->begin[p + 1] - order->begin[p];
    int clusters = reorder && count >= CLUSTER_FROM ? (int)(count / CLUSTER_ROWS) : 1;
    int32_t *key = TAKE(int32_t, count, "order of rows");
    bool good =
        clusters == 1 || metis_clusters(key, graph, part, order->row, nodes, count, clusters, err);
    for (int64_t i = 0; i < count && good; i++) {
        bool marginal = is_marginal(graph, part, nodes[i]);
        key[i] += marginal ? clusters : 0;
        order->central[p] += !marginal;
    }
    if (good)
        sort_by_key(nodes, key, count, 2 * (int64_t)clusters);
    memory_give(key);
    return good;
}

bool order_init(PartOrder *order, const Graph *graph, const int32_t *part, int parts, bool reorder,
                Error *err) {
    int64_t nodes = graph->nodes;
    *order = (PartOrder){.parts = parts,
                         .begin = TAKE(int64_t, parts + 1, "order of rows"),
                         .node = TAKE(int32_t, nodes, "order of rows"),
                         .row = TAKE(int32_t, nodes, "order of rows"),
                         .central = TAKE(int64_t, parts, "order of rows")};
    list_by_part(order, part, nodes);
    for (int p = 0; p < parts; p++)
        if (!order_part(order, graph, part, p, reorder, err)) {
            order_clear(order);
            return false;
        }
    for (int p = 0; p < parts; p++)
        for (int64_t i = order->begin[p]; i < order->begin[p + 1]; i++)
            order->row[order->node[i]] = (int32_t)(i - order->begin[p]);
    return true;
}

void order_clear(PartOrder *order) {
    memory_give(order->begin);
    memory_give(order->node);
    memory_give(order->row);
    memory_give(order->central);
    *order = (PartOrder){0};
}
