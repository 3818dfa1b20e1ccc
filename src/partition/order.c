// The order of a part's own rows (invariant 1, halo.h): by hops from the training nodes, so that a
// layer needs only the first rows; at each distance forward-central rows, then forward-marginal
// ones; inside those by cluster. Rows of nodes and of hyperedges are ordered alike. Clusters are a
// METIS cut of the part's own induced subgraph into clusters of about 1000 rows: a cluster of
// 256-wide rows then is 1 MiB and stays in the cache while its rows read each other (LIMITS 2,
// worth 1.6 to 1.9 times). METIS numbers parts by recursive halving, so clusters with near numbers
// are near in the graph. Inside a cluster rows keep the order of their ids. A part that METIS
// cannot hold is one cluster.
#include "internal.h"

enum { CLUSTER_ROWS = 1000, CLUSTER_FROM = 2000 };

static int list_of(const PartOrder *order, const int32_t *part, int64_t v) {
    return order_list(order, v < order->nodes ? NODES : HYPEREDGES, part[v]);
}

// Lists the vertices list by list, ascending; `row` is the index in the list.
static void list_in_order(PartOrder *order, const int32_t *part, int64_t vertices) {
    int lists = order->sets * order->parts;
    for (int64_t v = 0; v < vertices; v++)
        order->begin[list_of(order, part, v) + 1]++;
    offsets_sum(order->begin, lists);
    FREED int64_t *next = ALLOC(int64_t, lists, "order of rows");
    for (int64_t v = 0; v < vertices; v++) {
        int g = list_of(order, part, v);
        order->row[v] = (int32_t)next[g];
        order->vertex[order->begin[g] + next[g]++] = (int32_t)v;
    }
}

// True if v reads a vertex of another part.
static bool is_marginal(const Graph *graph, const int32_t *part, int64_t v) {
    for (int64_t e = graph->in.offset[v]; e < graph->in.offset[v + 1]; e++)
        if (part[graph->in.column[e]] != part[v])
            return true;
    return false;
}

// Sorts nodes[0..count) stably by key[0..count), 0 <= key < keys.
static void sort_by_key(int32_t *nodes, const int32_t *key, int64_t count, int64_t keys) {
    FREED int64_t *next = ALLOC(int64_t, keys + 1, "order of rows");
    FREED int32_t *sorted = ALLOC(int32_t, count, "order of rows");
    for (int64_t i = 0; i < count; i++)
        next[key[i] + 1]++;
    offsets_sum(next, keys);
    for (int64_t i = 0; i < count; i++)
        sorted[next[key[i]]++] = nodes[i];
    for (int64_t i = 0; i < count; i++)
        nodes[i] = sorted[i];
}

enum { FAR = SHARD_HOPS + 1 };

// hops[v]: hops on the shortest path from v along edges to a training node, FAR if there are too
// many; rows beyond the receptive field do not affect training (ALGORITHMS A.3, ii and iii). One
// search for all vertices.
uint8_t *order_hops(const Graph *graph, const uint8_t *split) {
    int64_t vertices = graph->vertices, last = 0;
    uint8_t *hops = ALLOC(uint8_t, vertices, "order of rows");
    FREED int32_t *queue = ALLOC(int32_t, vertices, "order of rows");
    for (int64_t v = 0; v < vertices; v++) {
        hops[v] = v < graph->nodes && split[v] == SPLIT_TRAIN ? 0 : FAR;
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
    return hops;
}

// Fills cluster[count] for the rows of a part; returns the number of clusters. 1 if the part is too
// large for METIS: its rows are not ordered by cluster. 0 with an error.
static int find_clusters(const OrderInput *input, PartOrder *order, int32_t *cluster, int64_t count,
                         int p, bool *too_large, Error *err) {
    int clusters = input->reorder && count >= CLUSTER_FROM ? (int)(count / CLUSTER_ROWS) : 1;
    Error failed = {0};
    if (clusters == 1 ||
        metis_clusters(cluster, input->graph, input->part, order, p, clusters, &failed))
        return clusters;
    *too_large = failed.code == EXIT_MEMORY || failed.code == EXIT_DATA;
    if (*too_large)
        return 1;
    *err = failed;
    return 0;
}

// key[own]: the cluster of each row.
static void order_one(PartOrder *order, const OrderInput *input, int list, int32_t *key,
                      int clusters) {
    int32_t *rows = order->vertex + order->begin[list];
    int64_t own = order->begin[list + 1] - order->begin[list];
    for (int64_t i = 0; i < own; i++) {
        bool marginal = is_marginal(input->graph, input->part, rows[i]);
        uint8_t hops = input->hops[rows[i]];
        key[i] += (2 * hops + marginal) * clusters;
        order->central[list] += !marginal;
        for (int h = hops; h < FAR; h++)
            order->reach[list * FAR + h]++;
    }
    sort_by_key(rows, key, own, 2 * (FAR + 1) * (int64_t)clusters);
}

// A part that is too large for METIS is left for later, unless this is the last try.
static bool order_part(PartOrder *order, const OrderInput *input, int p, bool last, Error *err) {
    int64_t count = 0, done = 0;
    bool too_large = false;
    for (int set = 0; set < order->sets; set++)
        count += order_own(order, set, p);
    FREED int32_t *key = ALLOC(int32_t, count, "order of rows");
    int clusters = find_clusters(input, order, key, count, p, &too_large, err);
    order->done[p] = !too_large || last;
    order->unclustered += too_large && last;
    for (int set = 0; set < order->sets && clusters > 0 && order->done[p]; set++) {
        order_one(order, input, order_list(order, set, p), key + done, clusters);
        done += order_own(order, set, p);
    }
    return clusters > 0;
}

static PartOrder order_alloc(const Graph *graph, int parts) {
    int sets = graph_sets(graph), lists = sets * parts;
    return (PartOrder){.parts = parts,
                       .sets = sets,
                       .nodes = graph->nodes,
                       .done = ALLOC(bool, parts, "order of rows"),
                       .begin = ALLOC(int64_t, lists + 1, "order of rows"),
                       .vertex = ALLOC(int32_t, graph->vertices, "order of rows"),
                       .row = ALLOC(int32_t, graph->vertices, "order of rows"),
                       .central = ALLOC(int64_t, lists, "order of rows"),
                       .reach = ALLOC(int64_t, (int64_t)lists * FAR, "order of rows")};
}

void order_init(PartOrder *order, const Graph *graph, const int32_t *part, int parts) {
    *order = order_alloc(graph, parts);
    list_in_order(order, part, graph->vertices);
}

bool order_parts(PartOrder *order, const OrderInput *input, PartRange mine, bool last, Error *err) {
    bool ok = true;
    for (int p = mine.begin; p < mine.end && ok; p++)
        ok = order->done[p] || order_part(order, input, p, last, err);
    return ok;
}

void order_number(PartOrder *order) {
    for (int g = 0; g < order->sets * order->parts; g++)
        for (int64_t i = order->begin[g]; i < order->begin[g + 1]; i++)
            order->row[order->vertex[i]] = (int32_t)(i - order->begin[g]);
}

void order_clear(PartOrder *order) {
    MEMORY_FREE(order->done, order->begin, order->vertex, order->row, order->central, order->reach);
    *order = (PartOrder){0};
}
