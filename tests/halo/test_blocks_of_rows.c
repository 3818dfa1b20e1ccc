// ranks: 1 3
// If this failed, rank 0 would hold the rows of all ranks while it writes predictions, rows would
// belong to other nodes, or an error of the disk would be known to rank 0 alone.
#include "support.h"

#include "small_graph.h"

enum { NODES_OF_TEST = 300, ROW = 1 << 13 }; // 128 KiB of a row, so 32 rows are a block

static int32_t value_of(int64_t gid, int64_t k) { return (int32_t)(gid * 8191 + k); }

typedef struct Taken {
    int64_t next; // node
    int64_t wrong, stop;
} Taken;

static bool take(void *context, int64_t first, int64_t rows, const void *row, Error *err) {
    Taken *taken = context;
    const int32_t *value = row;
    if (first >= taken->stop)
        return error_set(err, EXIT_IO, "the disk is full");
    taken->wrong += first != taken->next || rows < 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < ROW; k++)
            taken->wrong += value[i * ROW + k] != value_of(first + i, k);
    taken->next = first + rows;
    return true;
}

static int32_t *rows_of(const Shard *shard) {
    int64_t own = shard->set[NODES].own;
    int32_t *rows = TEST_ARRAY(int32_t, own * ROW);
    for (int64_t i = 0; i < own; i++)
        for (int64_t k = 0; k < ROW; k++)
            rows[i * ROW + k] = value_of(shard->set[NODES].gid[i], k);
    return rows;
}

TEST(rows_pass_in_blocks) {
    Taken taken = {.stop = NODES_OF_TEST};
    OWNED(TestGraph)
    graph = test_graph(
        (TestGraphKind){.nodes = NODES_OF_TEST, .degree = 4, .features = 1, .classes = 2}, 1,
        &test_comm);
    int32_t *own = rows_of(&graph.shard);
    FREED void *filler =
        memory_alloc(memory_peak() - memory_in_use(), "test"); // in use is the peak
    size_t before = memory_peak(), most = shard_gather_bytes(&graph.shard, ROW * sizeof *own);
    assert_ok(
        shard_gather_blocks(&graph.shard, &test_comm, own, ROW * sizeof *own, take, &taken, &err));
    assert_true(memory_peak() - before <= most);
    assert_true(most < 13 << 20); // all rows are 16 million numbers
    if (test_comm.rank == 0)
        assert_int_equal(taken.next, NODES_OF_TEST);
    assert_int_equal(taken.wrong, 0);
    taken = (Taken){.stop = 100};
    assert_refused(
        shard_gather_blocks(&graph.shard, &test_comm, own, ROW * sizeof *own, take, &taken, &err),
        EXIT_IO, "the disk is full");
}
