// ranks: 1 3 8
// If this fails, halo rows are not the rows the edges mean: wrong order, wrong owner, or a lost
// edge.
#include "patterns.h"

// A payload that names its row: right at any number of ranks, no oracle needed.
static double payload(int64_t gid) { return 1000003.0 * (double)gid + 0.5; }

// Hops from every node along edges to a training node, by relaxing until nothing changes.
static int *hops_of(const Dataset *d) {
    int *hops = TEST_ARRAY(int, d->nodes);
    for (int64_t v = 0; v < d->nodes; v++)
        hops[v] = d->split[v] == SPLIT_TRAIN ? 0 : 1000;
    for (bool again = true; again;) {
        again = false;
        for (int64_t u = 0; u < d->nodes; u++)
            for (int64_t e = d->offset[u]; e < d->offset[u + 1]; e++)
                if (hops[u] > hops[d->target[e]] + 1) {
                    hops[u] = hops[d->target[e]] + 1;
                    again = true;
                }
    }
    return hops;
}

static bool within(const int *hops, int64_t node, int limit) {
    return limit == HOPS_ALL || hops[node] <= limit;
}

// Offsets in bytes and rank order of rounds that are in ring order; `first` is the rank of round 0,
// `step` leads to the next.
static void rank_offsets(int64_t *out, const int64_t *offset, int size, int first, int step) {
    int64_t count[64] = {0};
    for (int g = 0; g + 1 < size; g++)
        count[(first + step * g + size * size) % size] = offset[g + 1] - offset[g];
    out[0] = 0;
    for (int r = 0; r < size; r++)
        out[r + 1] = out[r] + count[r] * (int64_t)sizeof(double);
}

static double csr_sum(const Csr *csr, int64_t row, const int64_t *gid) {
    double sum = 0;
    for (int64_t e = csr->offset[row]; e < csr->offset[row + 1]; e++)
        sum += (csr->weight != NULL ? (double)csr->weight[e] : 1.0) * payload(gid[csr->column[e]]);
    return sum;
}

// halo[H]: what arrives when every owner sends payloads over its send lists.
// What a rank may send: payloads of own rows, and partial aggregates of them.
static double sent_value(const Pattern *p, int64_t row) {
    if (row < p->plan.sources)
        return payload(p->plan.source_id[row]);
    return csr_sum(&p->partial, row - p->plan.sources, p->plan.source_id);
}

static void exchange_by_hand(double *halo, const Pattern *p) {
    int64_t send[65], receive[65], sent = p->plan.send_offset[p->plan.size - 1];
    rank_offsets(send, p->plan.send_offset, p->plan.size, p->plan.rank + 1, 1);
    rank_offsets(receive, p->plan.receive_offset, p->plan.size, p->plan.rank - 1, -1);
    double *from = TEST_ARRAY(double, sent), *to = TEST_ARRAY(double, p->plan.halo_count);
    for (int g = 0; g + 1 < p->plan.size; g++) {
        int reader = (p->plan.rank + 1 + g) % p->plan.size;
        for (int64_t k = p->plan.send_offset[g]; k < p->plan.send_offset[g + 1]; k++)
            from[send[reader] / 8 + k - p->plan.send_offset[g]] =
                sent_value(p, p->plan.send_row[k]);
    }
    comm_all_to_all_v(&test_comm, from, send, to, receive);
    for (int g = 0; g + 1 < p->plan.size; g++) {
        int sender = (p->plan.rank - 1 - g + p->plan.size) % p->plan.size;
        for (int64_t k = p->plan.receive_offset[g]; k < p->plan.receive_offset[g + 1]; k++)
            halo[k] = to[receive[sender] / 8 + k - p->plan.receive_offset[g]];
    }
}

static void payloads_arrive(const TestGraph *graph, const Pattern *p) {
    (void)graph;
    double *halo = TEST_ARRAY(double, p->plan.halo_count);
    exchange_by_hand(halo, p);
    for (int64_t h = 0; h < p->plan.halo_count; h++)
        if (p->plan.halo_id[h] >= 0)
            assert_true(halo[h] == payload(p->plan.halo_id[h]));
}

static double weight_of(const Dataset *d, int64_t e) {
    return d->weight != NULL ? (double)d->weight[e] : 1.0;
}

// By definition: sum over stored edges u -> v (or v -> u, backward) from sources of w payload(u).
static double sum_by_definition(const Dataset *d, const int *hops, int64_t v,
                                const PatternKind *kind, int64_t *count) {
    double sum = 0;
    *count = 0;
    for (int64_t u = 0; u < d->nodes; u++)
        for (int64_t e = d->offset[u]; e < d->offset[u + 1]; e++) {
            int64_t target = kind->relation != IN_EDGES ? u : d->target[e];
            int64_t source = kind->relation != IN_EDGES ? d->target[e] : u;
            if (target == v && within(hops, source, kind->source_hops))
                sum += weight_of(d, e) * payload(source), ++*count;
        }
    return sum;
}

static double halo_sum(const Pattern *p, int64_t k, const double *halo) {
    double sum = 0;
    for (int64_t e = p->halo.offset[k]; e < p->halo.offset[k + 1]; e++)
        sum += (p->halo.weight != NULL ? (double)p->halo.weight[e] : 1.0) * halo[p->halo.column[e]];
    return sum;
}

static void sums_are_those_of_the_graph(const TestGraph *graph, const Pattern *p) {
    int *hops = hops_of(&graph->dataset);
    double *halo = TEST_ARRAY(double, p->plan.halo_count);
    exchange_by_hand(halo, p);
    int64_t k = 0, wanted = 0;
    for (int64_t i = 0; i < graph->shard.set[NODES].own; i++)
        wanted += within(hops, graph->shard.set[NODES].gid[i], p->kind.target_hops);
    assert_int_equal(p->rows, wanted); // invariant 2: they are the first ones
    for (int64_t i = 0; i < p->rows; i++) {
        int64_t v = graph->shard.set[NODES].gid[i];
        assert_true(within(hops, v, p->kind.target_hops));
        int64_t expected_count, count = p->own.offset[i + 1] - p->own.offset[i];
        double expected = sum_by_definition(&graph->dataset, hops, v, &p->kind, &expected_count);
        double sum = csr_sum(&p->own, i, p->plan.source_id);
        if (k < p->halo.rows && p->halo_row[k] == i) {
            sum += halo_sum(p, k, halo);
            count += p->halo.offset[k + 1] - p->halo.offset[k];
            k++;
        }
        if (p->kind.cover == COVER_SOURCES)
            assert_int_equal(count, expected_count);
        assert_near(sum, expected, 1e-13 * fabs(expected)); // sum of a few dozen doubles
    }
    assert_int_equal(k, p->halo.rows);
}

// Which rank owns every node, on every rank.
static int32_t *owners(const TestGraph *graph) {
    int64_t *owner = TEST_ARRAY(int64_t, graph->dataset.nodes);
    for (int64_t i = 0; i < graph->shard.set[NODES].own; i++)
        owner[graph->shard.set[NODES].gid[i]] = test_comm.rank + 1;
    comm_sum_int64(&test_comm, owner, (int)graph->dataset.nodes);
    int32_t *out = TEST_ARRAY(int32_t, graph->dataset.nodes);
    for (int64_t v = 0; v < graph->dataset.nodes; v++) {
        assert_in_range(owner[v], 1, test_comm.size); // each node is owned once
        out[v] = (int32_t)owner[v] - 1;
    }
    return out;
}

// reads[v]: does v read a row of another rank (forward: an in-edge from there)?
static bool reads_remote(const Dataset *d, const int32_t *owner, int64_t v, bool backward) {
    for (int64_t u = 0; u < d->nodes; u++)
        for (int64_t e = d->offset[u]; e < d->offset[u + 1]; e++) {
            int64_t target = backward ? u : d->target[e], source = backward ? d->target[e] : u;
            if (target == v && owner[source] != owner[v])
                return true;
        }
    return false;
}

// Invariant 1: by hops; at each distance rows that read nothing remote come first.
static void rows_are_in_order(const TestGraph *graph, const int *hops, const int32_t *owner) {
    int before = -1;
    for (int64_t i = 0; i < graph->shard.set[NODES].own; i++) {
        int64_t v = graph->shard.set[NODES].gid[i];
        int far = hops[v] <= SHARD_HOPS ? hops[v] : SHARD_HOPS + 1;
        int key = 2 * far + reads_remote(&graph->dataset, owner, v, false);
        assert_true(key >= before);
        before = key;
    }
    for (int h = 0; h <= SHARD_HOPS; h++)
        for (int64_t i = 0; i < graph->shard.set[NODES].own; i++)
            assert_int_equal(hops[graph->shard.set[NODES].gid[i]] <= h,
                             i < graph->shard.set[NODES].reach[h]);
}

static void laws_one_and_two_hold(const TestGraph *graph, const Pattern *p) {
    const Dataset *d = &graph->dataset;
    int32_t *owner = owners(graph);
    int *hops = hops_of(d);
    rows_are_in_order(graph, hops, owner);
    bool whole = p->kind.source_hops == HOPS_ALL;
    for (int64_t i = 0; i < p->rows && whole; i++) {
        bool inside = false;
        bool marginal =
            reads_remote(d, owner, graph->shard.set[NODES].gid[i], p->kind.relation != IN_EDGES);
        for (int r = 0; r < p->range_count; r++)
            inside = inside || (i >= p->central[r].begin && i < p->central[r].end);
        assert_int_equal(inside, !marginal); // small graphs never have too many ranges
    }
}

// A cover never takes more rows than sources alone or targets alone, and every partial aggregate is
// read once.
static void covers_save_rows(const TestGraph *graph, const Pattern *p) {
    PatternKind kind = p->kind;
    if (kind.cover != COVER_MIN)
        return;
    kind.cover = COVER_SOURCES;
    CLEARED(pattern_drop) Pattern *sources = pattern_new(&graph->shard, &kind, NULL, &test_comm);
    kind.cover = COVER_TARGETS;
    CLEARED(pattern_drop) Pattern *targets = pattern_new(&graph->shard, &kind, NULL, &test_comm);
    for (int g = 0; g + 1 < p->plan.size; g++) {
        int64_t rows = p->plan.receive_offset[g + 1] - p->plan.receive_offset[g];
        assert_int_equal(p->plan.sources_read[g],
                         sources->plan.receive_offset[g + 1] - sources->plan.receive_offset[g]);
        assert_true(rows <= p->plan.sources_read[g]);
        assert_true(rows <= targets->plan.receive_offset[g + 1] - targets->plan.receive_offset[g]);
    }
    int *reads = TEST_ARRAY(int, p->plan.halo_count);
    for (int64_t e = 0; e < p->halo.offset[p->halo.rows]; e++)
        reads[p->halo.column[e]]++;
    for (int64_t h = 0; h < p->plan.halo_count; h++)
        assert_true(p->plan.halo_id[h] < 0 ? reads[h] == 1 : reads[h] >= 1);
}

// All at once: to make the patterns takes longer than to look at them.
static void holds(const TestGraph *graph, const Pattern *p) {
    payloads_arrive(graph, p);
    sums_are_those_of_the_graph(graph, p);
    laws_one_and_two_hold(graph, p);
    covers_save_rows(graph, p);
}

TEST(test_payloads_sums_order_and_covers) { for_each_pattern(holds); }

// A symmetric graph is its own transpose: one Pattern serves both directions.
TEST(test_symmetric_graph_has_one_pattern) {
    for (int k = 0; k < KINDS; k++) {
        OWNED(TestGraph) graph = test_graph(kinds[k], 1, &test_comm);
        assert_int_equal(shard_is_symmetric(&graph.shard), !kinds[k].directed);
        if (shard_is_symmetric(&graph.shard))
            assert_int_equal(graph.shard.relations, 1);
    }
}
