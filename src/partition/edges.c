// The edges of one part as its rows read them (ShardRelation, partition.h): remote rows listed
// once, grouped by owner in ring order and ascending inside a group (law 4), columns ascending
// inside a row.
#include "internal.h"

enum { SLOT_NONE = -1, SLOT_SEEN = -2 };

// Marks the remote nodes that p's rows read. Returns their count.
static int64_t mark_remote(const Csr *adjacency, const int32_t *part, const PartOrder *order, int p,
                           int32_t *slot) {
    int64_t count = 0;
    for (int64_t i = order->begin[p]; i < order->begin[p + 1]; i++) {
        int32_t v = order->node[i];
        for (int64_t e = adjacency->offset[v]; e < adjacency->offset[v + 1]; e++) {
            int32_t u = adjacency->column[e];
            if (part[u] == p || slot[u] == SLOT_SEEN)
                continue;
            slot[u] = SLOT_SEEN;
            count++;
        }
    }
    return count;
}

// The distinct marked nodes as numbers that sort by law 4: the group in the high bits, the row at
// the owner in the low bits. Clears the marks.
static int64_t *sorted_remote(const Csr *adjacency, const int32_t *part, const PartOrder *order,
                              int p, int32_t *slot, int64_t count) {
    int64_t *key = ALLOC(int64_t, count, "remote rows"), at = 0;
    for (int64_t i = order->begin[p]; i < order->begin[p + 1]; i++) {
        int32_t v = order->node[i];
        for (int64_t e = adjacency->offset[v]; e < adjacency->offset[v + 1]; e++) {
            int32_t u = adjacency->column[e];
            if (slot[u] != SLOT_SEEN)
                continue;
            slot[u] = SLOT_NONE;
            key[at++] = (int64_t)ring_group(p, part[u], order->parts) << 32 | order->row[u];
        }
    }
    sort_int64(key, count);
    return key;
}

// Lists the remote nodes and sets slot[u] to the position of u. The work depends on the part's own
// edges, not on the number of parts.
static void list_remote(PartEdges *edges, const Csr *adjacency, const int32_t *part,
                        const PartOrder *order, int p, int32_t *slot) {
    edges->remote = mark_remote(adjacency, part, order, p, slot);
    int64_t *key = sorted_remote(adjacency, part, order, p, slot, edges->remote);
    edges->remote_owner = ALLOC(int32_t, edges->remote, "remote rows");
    edges->remote_row = ALLOC(int32_t, edges->remote, "remote rows");
    edges->remote_gid = ALLOC(int64_t, edges->remote, "remote rows");
    for (int64_t h = 0; h < edges->remote; h++) {
        int owner = ring_sender(p, (int)(key[h] >> 32), order->parts);
        int32_t row = (int32_t)(key[h] & INT32_MAX);
        int32_t u = order->node[order->begin[owner] + row];
        edges->remote_owner[h] = owner;
        edges->remote_row[h] = row;
        edges->remote_gid[h] = u;
        slot[u] = (int32_t)h;
    }
    memory_free(key);
}

static Csr csr_unsorted(const Csr *adjacency, const int32_t *part, const PartOrder *order, int p,
                        const int32_t *slot) {
    int64_t begin = order->begin[p], own = order->begin[p + 1] - begin, count = 0;
    Csr csr = {.rows = own, .offset = ALLOC(int64_t, own + 1, "edges of a part")};
    for (int64_t i = 0; i < own; i++) {
        int32_t v = order->node[begin + i];
        csr.offset[i + 1] = csr.offset[i] + adjacency->offset[v + 1] - adjacency->offset[v];
    }
    csr.column = ALLOC(int32_t, csr.offset[own], "edges of a part");
    if (adjacency->weight != NULL)
        csr.weight = ALLOC(float, csr.offset[own], "edges of a part");
    for (int64_t i = 0; i < own; i++) {
        int32_t v = order->node[begin + i];
        for (int64_t e = adjacency->offset[v]; e < adjacency->offset[v + 1]; e++, count++) {
            int32_t u = adjacency->column[e];
            csr.column[count] = part[u] == p ? order->row[u] : (int32_t)own + slot[u];
            if (csr.weight != NULL)
                csr.weight[count] = adjacency->weight[e];
        }
    }
    return csr;
}

void part_edges_init(PartEdges *edges, const Csr *adjacency, const int32_t *part,
                     const PartOrder *order, int p, int32_t *slot) {
    *edges = (PartEdges){0};
    list_remote(edges, adjacency, part, order, p, slot);
    int64_t own = order->begin[p + 1] - order->begin[p];
    CHECK(own + edges->remote <= INT32_MAX, EXIT_MEMORY,
          "part %d has %lld rows with its halo rows, more than 2^31 - 1; cut into more parts", p,
          (long long)(own + edges->remote));
    Csr csr = csr_unsorted(adjacency, part, order, p, slot), by_column;
    csr_transpose(&by_column, &csr, own + edges->remote);
    csr_free(&csr);
    csr_transpose(&edges->csr, &by_column, own); // the second transpose sorts the columns
    csr_free(&by_column);
    for (int64_t h = 0; h < edges->remote; h++)
        slot[edges->remote_gid[h]] = SLOT_NONE;
}

void part_edges_clear(PartEdges *edges) {
    csr_free(&edges->csr);
    memory_free(edges->remote_owner);
    memory_free(edges->remote_row);
    memory_free(edges->remote_gid);
    *edges = (PartEdges){0};
}
