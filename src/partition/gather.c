// Rows of nodes from all ranks to rank 0, in the order of the original nodes.
#include "fringe/partition.h"

enum { BLOCK_BYTES = 4 << 20 }; // of the rows of a block

typedef struct Blocks {
    const Shard *shard;
    const Comm *comm;
    const char *own;
    size_t row_bytes;
    int64_t rows;            // of a block
    int32_t *order;          // [own] rows by their node
    int64_t next;            // row of `order` that is not sent yet
    int64_t *gid, *gathered; // [rows] nodes that a rank sends, and all of them
    char *piece, *arrived, *block;
} Blocks;

static int by_node(const void *a, const void *b, void *gids) {
    const int64_t *gid = gids, x = gid[*(const int32_t *)a], y = gid[*(const int32_t *)b];
    return (x > y) - (x < y);
}

static int64_t rows_of_block(const Shard *shard, size_t row_bytes) {
    int64_t most = BLOCK_BYTES / (int64_t)row_bytes, nodes = shard->set[NODES].total;
    return most < 1 ? 1 : most < nodes ? most : nodes;
}

size_t shard_gather_bytes(const Shard *shard, size_t row_bytes) {
    size_t block = memory_product(rows_of_block(shard, row_bytes), 3 * row_bytes + 16);
    return block + memory_product(shard->set[NODES].own, 2 * sizeof(int32_t)); // qsort has a copy
}

static void blocks_open(Blocks *b) {
    const RowSet *set = &b->shard->set[NODES];
    bool root = b->comm->rank == 0;
    b->rows = rows_of_block(b->shard, b->row_bytes);
    b->order = ALLOC(int32_t, set->own, "rows in node order");
    for (int64_t i = 0; i < set->own; i++)
        b->order[i] = (int32_t)i;
    qsort_r(b->order, (size_t)set->own, sizeof *b->order, by_node, (void *)(uintptr_t)set->gid);
    size_t bytes = memory_product(b->rows, b->row_bytes);
    b->gid = ALLOC(int64_t, b->rows, "nodes of a block");
    b->piece = memory_alloc(bytes, "rows of a block");
    b->gathered = root ? ALLOC(int64_t, b->rows, "nodes of a block") : NULL;
    b->arrived = root ? memory_alloc(bytes, "rows of a block") : NULL;
    b->block = root ? memory_alloc(bytes, "rows in node order") : NULL;
}

static void blocks_close(Blocks *b) {
    MEMORY_FREE(b->block, b->arrived, b->gathered, b->piece, b->gid, b->order);
}

// The own rows of nodes below `end` that were not sent yet.
static int64_t pack(Blocks *b, int64_t end) {
    const RowSet *set = &b->shard->set[NODES];
    int64_t count = 0;
    for (; b->next < set->own && set->gid[b->order[b->next]] < end; b->next++, count++) {
        int64_t row = b->order[b->next];
        b->gid[count] = set->gid[row];
        memcpy(b->piece + (size_t)count * b->row_bytes, b->own + (size_t)row * b->row_bytes,
               b->row_bytes);
    }
    return count;
}

static void gather(const Blocks *b, const void *piece, void *all, int64_t bytes) {
    FREED int64_t *offset = comm_offsets(b->comm, bytes);
    comm_gather_v(b->comm, piece, all, offset);
}

// Every node has one owner, so a block is whole.
static void send_block(Blocks *b, int64_t first, int64_t rows) {
    int64_t count = pack(b, first + rows);
    gather(b, b->gid, b->gathered, count * (int64_t)sizeof *b->gid);
    gather(b, b->piece, b->arrived, count * (int64_t)b->row_bytes);
    for (int64_t k = 0; b->block != NULL && k < rows; k++)
        memcpy(b->block + (size_t)(b->gathered[k] - first) * b->row_bytes,
               b->arrived + (size_t)k * b->row_bytes, b->row_bytes);
}

bool shard_gather_blocks(const Shard *shard, const Comm *comm, const void *own, size_t row_bytes,
                         RowTaker *take, void *context, Error *err) {
    Blocks b = {.shard = shard, .comm = comm, .own = own, .row_bytes = row_bytes};
    int64_t nodes = shard->set[NODES].total;
    blocks_open(&b);
    for (int64_t first = 0; first < nodes; first += b.rows) {
        int64_t rows = first + b.rows < nodes ? b.rows : nodes - first;
        send_block(&b, first, rows);
        if (comm->rank == 0 && err->code == 0)
            take(context, first, rows, b.block, err);
        comm_beat(comm);
    }
    blocks_close(&b);
    comm_agree(comm, err);
    return err->code == 0;
}

// ---- all of them

typedef struct Whole {
    char *all;
    size_t row_bytes;
} Whole;

static bool take_rows(void *context, int64_t first, int64_t rows, const void *row,
                      UNUSED Error *err) {
    const Whole *whole = context;
    memcpy(whole->all + (size_t)first * whole->row_bytes, row, (size_t)rows * whole->row_bytes);
    return true;
}

void *shard_gather(const Shard *shard, const Comm *comm, const void *own, size_t row_bytes) {
    size_t bytes = memory_product(shard->set[NODES].total, row_bytes);
    Whole whole = {comm->rank == 0 ? memory_alloc(bytes, "rows in node order") : NULL, row_bytes};
    shard_gather_blocks(shard, comm, own, row_bytes, take_rows, &whole, &(Error){0});
    return whole.all;
}
