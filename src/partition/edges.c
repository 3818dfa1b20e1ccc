// The edges of one part as its rows read them (ShardRelation, partition.h), one relation at a time:
// remote rows listed once, grouped by owner in ring order and ascending inside a round (invariant
// 4), columns ascending inside a row.
#include "internal.h"

enum { SLOT_NONE = -1, SLOT_SEEN = -2 };

// Marks the remote vertices that p's rows read. Returns their count.
static int64_t mark_remote(const PartReads *r) {
    const int32_t *rows = order_rows(r->order, r->to, r->p);
    int64_t own = order_own(r->order, r->to, r->p), count = 0;
    for (int64_t i = 0; i < own; i++)
        for (int64_t e = r->adjacency->offset[rows[i]]; e < r->adjacency->offset[rows[i] + 1];
             e++) {
            int32_t u = r->adjacency->column[e];
            if (r->part[u] == r->p || r->slot[u] == SLOT_SEEN)
                continue;
            r->slot[u] = SLOT_SEEN;
            count++;
        }
    return count;
}

// The distinct marked vertices as numbers that sort by invariant 4: the round in the high bits, the
// row at the owner in the low bits. Clears the marks.
static int64_t *sorted_remote(const PartReads *r, int64_t count) {
    const PartOrder *order = r->order;
    const int32_t *rows = order_rows(order, r->to, r->p);
    int64_t *key = ALLOC(int64_t, count, "remote rows"), at = 0;
    for (int64_t i = 0; i < order_own(order, r->to, r->p); i++)
        for (int64_t e = r->adjacency->offset[rows[i]]; e < r->adjacency->offset[rows[i] + 1];
             e++) {
            int32_t u = r->adjacency->column[e];
            if (r->slot[u] != SLOT_SEEN)
                continue;
            r->slot[u] = SLOT_NONE;
            key[at++] = (int64_t)ring_round(r->p, r->part[u], order->parts) << 32 | order->row[u];
        }
    sort_int64(key, count);
    return key;
}

// Lists the remote vertices and sets slot[u] to the position of u. The work depends on the part's
// own edges, not on the number of parts.
static void list_remote(PartEdges *edges, const PartReads *r) {
    edges->remote = mark_remote(r);
    FREED int64_t *key = sorted_remote(r, edges->remote);
    edges->remote_owner = ALLOC(int32_t, edges->remote, "remote rows");
    edges->remote_row = ALLOC(int32_t, edges->remote, "remote rows");
    edges->remote_gid = ALLOC(int64_t, edges->remote, "remote rows");
    for (int64_t h = 0; h < edges->remote; h++) {
        int owner = ring_sender(r->p, (int)(key[h] >> 32), r->order->parts);
        int32_t row = (int32_t)(key[h] & INT32_MAX);
        int32_t u = order_rows(r->order, r->from, owner)[row];
        edges->remote_owner[h] = owner;
        edges->remote_row[h] = row;
        edges->remote_gid[h] = u - order_first(r->order, r->from);
        r->slot[u] = (int32_t)h;
    }
}

// The entries of own rows [begin, end) in the order of the graph.
static Csr unsorted_rows(const PartReads *r, const PartEdges *edges, int64_t begin, int64_t end) {
    const Csr *all = r->adjacency;
    const int32_t *rows = order_rows(r->order, r->to, r->p);
    const int64_t *offset = edges->csr.offset;
    int32_t sources = (int32_t)order_own(r->order, r->from, r->p);
    int64_t count = 0;
    Csr csr;
    csr_alloc(&csr, end - begin, offset[end] - offset[begin], all->weight != NULL,
              "edges of a part");
    for (int64_t i = begin; i < end; i++) {
        for (int64_t e = all->offset[rows[i]]; e < all->offset[rows[i] + 1]; e++, count++) {
            int32_t u = all->column[e];
            csr.column[count] = r->part[u] == r->p ? r->order->row[u] : sources + r->slot[u];
            if (csr.weight != NULL)
                csr.weight[count] = all->weight[e];
        }
        csr.offset[i - begin + 1] = count;
    }
    return csr;
}

// Fills the columns of rows [begin, end), ascending in each row: the second transpose sorts them.
static void fill_rows(PartEdges *edges, const PartReads *r, int64_t columns, int64_t begin,
                      int64_t end) {
    Csr rows = unsorted_rows(r, edges, begin, end), by_column;
    int64_t at = edges->csr.offset[begin], count = csr_entries(&rows);
    csr_transpose(&by_column, &rows, columns);
    csr_free(&rows);
    csr_transpose(&rows, &by_column, end - begin);
    csr_free(&by_column);
    if (count > 0)
        memcpy(edges->csr.column + at, rows.column, (size_t)count * sizeof *rows.column);
    if (count > 0 && rows.weight != NULL)
        memcpy(edges->csr.weight + at, rows.weight, (size_t)count * sizeof *rows.weight);
    csr_free(&rows);
}

// Entries that are sorted at once: few, so that a part is not in memory twice, but not fewer than
// the columns, which each transpose counts.
int64_t part_edges_block(int64_t columns) {
    enum { LEAST = 1 << 20 };
    return columns > LEAST ? columns : LEAST;
}

static void fill_all_rows(PartEdges *edges, const PartReads *r, int64_t columns) {
    const int64_t *offset = edges->csr.offset, block = part_edges_block(columns);
    for (int64_t begin = 0, end; begin < edges->csr.rows; begin = end) {
        end = begin + 1;
        while (end < edges->csr.rows && offset[end + 1] - offset[begin] <= block)
            end++;
        fill_rows(edges, r, columns, begin, end);
    }
}

static void alloc_rows(PartEdges *edges, const PartReads *r) {
    const int32_t *rows = order_rows(r->order, r->to, r->p);
    int64_t own = order_own(r->order, r->to, r->p), count = 0;
    for (int64_t i = 0; i < own; i++)
        count += r->adjacency->offset[rows[i] + 1] - r->adjacency->offset[rows[i]];
    csr_alloc(&edges->csr, own, count, r->adjacency->weight != NULL, "edges of a part");
    for (int64_t i = 0; i < own; i++)
        edges->csr.offset[i + 1] = edges->csr.offset[i] + r->adjacency->offset[rows[i] + 1] -
                                   r->adjacency->offset[rows[i]];
}

void part_edges_init(PartEdges *edges, const PartReads *r) {
    *edges = (PartEdges){0};
    list_remote(edges, r);
    int64_t columns = order_own(r->order, r->from, r->p) + edges->remote;
    CHECK(columns <= INT32_MAX, EXIT_MEMORY,
          "part %d has %ld rows with its halo rows, more than 2^31 - 1; cut into more parts", r->p,
          columns);
    alloc_rows(edges, r);
    fill_all_rows(edges, r, columns);
    for (int64_t h = 0; h < edges->remote; h++)
        r->slot[edges->remote_gid[h] + order_first(r->order, r->from)] = SLOT_NONE;
}

void part_edges_clear(PartEdges *edges) {
    csr_free(&edges->csr);
    MEMORY_FREE(edges->remote_owner, edges->remote_row, edges->remote_gid);
    *edges = (PartEdges){0};
}
