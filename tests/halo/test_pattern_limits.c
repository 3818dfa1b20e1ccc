// ranks: 1 3 8
// If this failed, ranks that do not mean the same rows would not hear of it, or a Pattern would
// take more memory or more ranges than it was said to.
#include "patterns.h"
#include "write_shards.h"

static int64_t stale_lists_found;

// Changes one entry of a send list of rank 0 into another row that still ascends; returns its place
// or -1.
static int64_t spoil(const Pattern *p) {
    for (int g = 0; g + 1 < p->plan.size; g++)
        for (int64_t k = p->plan.send_offset[g]; k < p->plan.send_offset[g + 1]; k++) {
            bool last = k + 1 == p->plan.send_offset[g + 1];
            if (p->plan.send_row[k] + 1 >=
                (last ? p->plan.sources + p->partial.rows : p->plan.send_row[k + 1]))
                continue;
            p->plan.send_row[k]++;
            return k;
        }
    return -1;
}

// One rank's send list names a row that its reader does not expect there: every rank hears of it.
static void stale_list_is_found(const TestGraph *graph, const Pattern *p) {
    (void)graph;
    assert_true(pattern_is_valid(p, true));
    int64_t place = test_comm.rank == 0 ? spoil(p) : -1, any = place >= 0;
    comm_sum_int64(&test_comm, &any, 1);
    assert_true(pattern_is_valid(p, false)); // alone no rank can see it
    assert_int_equal(pattern_is_valid(p, true), any == 0);
    if (place >= 0)
        p->plan.send_row[place]--;
    assert_true(pattern_is_valid(p, true));
    stale_lists_found += any;
}

// A list that does not ascend, a column out of range, a range over a marginal row: found alone.
static void broken_pattern_is_found(const TestGraph *graph, const Pattern *p) {
    (void)graph;
    Pattern broken = *p;
    broken.plan.halo_count++;
    assert_false(pattern_is_valid(&broken, false));
    broken = *p;
    broken.plan.partials++;
    assert_false(pattern_is_valid(&broken, false));
    if (p->halo.rows > 0) {
        broken = *p;
        broken.central[0] = (Range){0, p->rows};
        broken.range_count = 1;
        assert_false(pattern_is_valid(&broken, false));
        broken = *p;
        int32_t column[1] = {(int32_t)p->plan.halo_count};
        int64_t offset[2] = {0, 1};
        broken.halo = (Csr){1, offset, column, p->halo.weight};
        assert_false(pattern_is_valid(&broken, false));
    }
}

static void what_is_wrong_is_found(const TestGraph *graph, const Pattern *p) {
    stale_list_is_found(graph, p);
    broken_pattern_is_found(graph, p);
}

TEST(test_what_is_wrong_is_found) {
    for_each_pattern(what_is_wrong_is_found);
    assert_int_equal(stale_lists_found > 0, test_comm.size > 1);
}

// Backward of a directed graph may need more ranges than there are; those kept are the longest.
TEST(test_too_many_ranges_keep_the_longest) {
    enum { ROWS = 1000 };
    // Part 0 owns nodes 0..ROWS-1, part 1 node ROWS, any others none. Each node i with i % 10 == 0
    // reads it backward, so that there are 100 ranges of 9 rows; 10 of 19 where i % 100 == 50 does
    // not.
    if (test_comm.size < 2)
        return;
    OWNED(Dataset) d = {.nodes = ROWS + 1, .name = "ranges"};
    d.offset = ALLOC(int64_t, ROWS + 2, "test");
    d.target = ALLOC(int32_t, ROWS, "test");
    d.split = ALLOC(uint8_t, ROWS + 1, "test");
    int32_t *part = TEST_ARRAY(int32_t, ROWS + 1);
    part[ROWS] = 1;
    for (int64_t i = 0; i <= ROWS; i++) {
        if (i < ROWS && i % 10 == 0 && i % 100 != 50)
            d.target[d.edges++] = ROWS;
        d.offset[i + 1] = d.edges;
    }
    const char *folder = test_path("ranges");
    if (test_comm.rank == 0)
        assert_ok(test_write_shards(&d, part, test_comm.size, true, folder, &err));
    comm_barrier(&test_comm);
    CLEARED(shard_clear) Shard shard = {0};
    assert_ok(shard_open(&shard, folder, test_comm.rank, &err));
    PatternKind backward = kind_of(&shard, &variants[1]);
    CLEARED(pattern_drop) Pattern *p = pattern_new(&shard, &backward, NULL, &test_comm);
    if (test_comm.rank == 0) {
        int long_ones = 0;
        assert_int_equal(p->range_count, PATTERN_RANGES);
        for (int r = 0; r < p->range_count; r++)
            long_ones += p->central[r].end - p->central[r].begin == 19;
        assert_int_equal(long_ones, 10);
    }
}

TEST(test_plan_covers_what_is_taken) {
    for (int k = 0; k < KINDS; k++) {
        OWNED(TestGraph) graph = test_graph(kinds[k], 1, &test_comm);
        for (int v = 0; v < VARIANTS; v++) {
            const Pattern *like = v % 2 == 1 ? graph.forward : NULL;
            MemoryForecast forecast = {0};
            PatternKind kind = kind_of(&graph.shard, &variants[v]);
            bool shares = like != NULL && like->kind.relation == kind.relation;
            PatternBytes bound = pattern_bound(&graph.shard, &kind, shares);
            size_t before = memory_in_use();
            Pattern *p = pattern_new(&graph.shard, &kind, like, &test_comm);
            size_t taken = memory_in_use() - before;
            pattern_forecast(&forecast, p);
            // small arrays that do not scale with the shard, and rounding to 64 bytes, are left out
            assert_true(taken <= bound.kept + sizeof *p + 8192);
            assert_true(taken <= forecast_total(&forecast) + sizeof *p + 1024);
            assert_true(forecast_total(&forecast) <= taken + 1024);
            pattern_free(p);
            assert_int_equal(memory_in_use(), before);
        }
    }
}
