// If this fails, a shard is not what its part of the graph is, or its rows lie in another order
// than invariant 1 says.
#include "cut.h"
#include "fringe/base/terminal.h"

static const int part_counts[] = {1, 2, 3, 8};

static void for_each_cut(void (*check)(const Cut *cut)) {
    for (int r = 0; r < GRAPH_RULES; r++)
        for (int c = 0; c < 4; c++) {
            CLEARED(cut_close)
            Cut cut = cut_open(graph_make(61, graph_rules[r], (r + c) % 2, 5), part_counts[c], NULL,
                               true);
            check(&cut);
        }
}

// Every stored edge is in exactly one shard, at its place, with its weight, and nothing else is:
// each is found by global ids, counted, and the counts add up.
static void check_edges(const Cut *cut, bool backward) {
    const Dataset *d = &cut->dataset;
    int64_t edges = 0;
    for (int p = 0; p < cut->parts; p++) {
        const Shard *s = &cut->shard[p];
        const ShardRelation *w = backward ? shard_transposed(s, IN_EDGES) : &s->relation[IN_EDGES];
        edges += w->edges;
        for (int64_t i = 0; i < s->set[NODES].own; i++)
            for (int64_t e = w->offset[i]; e < w->offset[i + 1]; e++) {
                int32_t c = w->column[e];
                int64_t other = c < s->set[NODES].own ? s->set[NODES].gid[c]
                                                      : w->remote_gid[c - s->set[NODES].own];
                int64_t from = backward ? s->set[NODES].gid[i] : other,
                        to = backward ? other : s->set[NODES].gid[i];
                int64_t at = d->offset[from];
                while (at < d->offset[from + 1] && d->target[at] != to)
                    at++;
                assert_true(at < d->offset[from + 1]);
                if (d->weight != NULL)
                    assert_true(w->weight[e] == d->weight[at]);
                assert_true(e == w->offset[i] || w->column[e - 1] < c); // no duplicates here
            }
    }
    assert_int_equal(edges, d->edges);
}

static void edges_are_those_of_the_graph(const Cut *cut) {
    check_edges(cut, false);
    check_edges(cut, true);
}

static void rows_are_those_of_the_graph(const Cut *cut) {
    const Dataset *d = &cut->dataset;
    double in[61] = {0}, out[61] = {0};
    int seen[61] = {0};
    for (int64_t v = 0; v < d->nodes; v++)
        for (int64_t e = d->offset[v]; e < d->offset[v + 1]; e++) {
            out[v] += d->weight != NULL ? (double)d->weight[e] : 1;
            in[d->target[e]] += d->weight != NULL ? (double)d->weight[e] : 1;
        }
    for (int p = 0; p < cut->parts; p++) {
        const Shard *s = &cut->shard[p];
        assert_int_equal(s->part, p);
        assert_int_equal(s->parts, cut->parts);
        assert_int_equal(s->set[NODES].total, d->nodes);
        assert_int_equal(s->edges, d->edges);
        assert_int_equal(s->train_nodes, 12); // i % 5 % 4 == 1 for i in 0..60
        assert_int_equal(s->majority, 0);     // i = 1, 6, 11, ...: i % 3 = 1, 0, 2, ...: a tie
        for (int64_t i = 0; i < s->set[NODES].own; i++) {
            int64_t v = s->set[NODES].gid[i];
            seen[v]++;
            assert_int_equal(cut->part[v], p);
            assert_true(s->set[NODES].degree_in[i] == in[v] &&
                        s->set[NODES].degree_out[i] == out[v]); // whole numbers
            assert_memory_equal(s->x + i * 3, d->x + v * 3, 3 * sizeof(float));
            assert_int_equal(s->label[i], d->label[v]);
            assert_int_equal(s->split[i], d->split[v]);
        }
    }
    for (int v = 0; v < 61; v++)
        assert_int_equal(seen[v], 1);
}

static void order_is_that_of_the_law(const Cut *cut) {
    for (int p = 0; p < cut->parts; p++) {
        const Shard *s = &cut->shard[p];
        const ShardRelation *in = &s->relation[IN_EDGES];
        int64_t central = 0;
        int hops = 0, before = -1;
        for (int64_t i = 0; i < s->set[NODES].own; i++) {
            bool marginal = false;
            for (int64_t e = in->offset[i]; e < in->offset[i + 1]; e++)
                marginal = marginal || in->column[e] >= s->set[NODES].own;
            while (hops <= SHARD_HOPS && i >= s->set[NODES].reach[hops])
                hops++;
            assert_int_equal(hops == 0, s->split[i] == SPLIT_TRAIN);
            assert_true(2 * hops + marginal >= before); // by hops, then central ones first
            before = 2 * hops + marginal;
            central += !marginal;
        }
        assert_int_equal(central, s->set[NODES].central);
        assert_remote_obeys_the_law(cut, s, in);
        assert_remote_obeys_the_law(cut, s, shard_transposed(s, IN_EDGES));
    }
}

static int64_t number(const Json *object, const char *key) {
    int64_t value = -1;
    assert_non_null(json_get(object, key));
    assert_true(json_is_int64(json_get(object, key), &value));
    return value;
}

// The rows from a to b in messages.safetensors as [a][b]; no pair is there twice or with no rows.
static void read_sent(const Cut *cut, const char *way, int32_t sent[8][8]) {
    CLEARED(tensors_close) Tensors map = {0};
    char name[32];
    const int32_t *list[3];
    static const char *const lists[3] = {"from", "to", "rows"};
    int64_t any = -1;
    assert_ok(tensors_open(&map, test_text("%s/messages.safetensors", cut->folder), &err));
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s.%s", way, lists[i]);
        const Tensor *tensor = assert_ok(tensors_need(&map, name, TENSOR_I32, 1, &any, &err));
        any = tensor->shape[0];
        list[i] = tensor->data;
    }
    for (int64_t k = 0; k < any; k++) {
        assert_true(list[2][k] > 0);
        assert_int_equal(sent[list[0][k]][list[1][k]], 0);
        sent[list[0][k]][list[1][k]] = list[2][k];
    }
}

// The manifest against counting pairs of the dense graph.
static void figures_are_those_of_the_graph(const Cut *cut) {
    const Dataset *d = &cut->dataset;
    int64_t n = d->nodes, pairs = 0, cuts = 0;
    int32_t sent[2][8][8] = {0}, told[2][8][8] = {0};
    bool *edge = TEST_ARRAY(bool, n *n);
    for (int64_t v = 0; v < n; v++)
        for (int64_t e = d->offset[v]; e < d->offset[v + 1]; e++)
            edge[v * n + d->target[e]] = true;
    for (int64_t u = 0; u < n; u++) {
        bool reads[2][8] = {0};
        for (int64_t v = 0; v < n; v++) {
            bool joined = v > u && (edge[u * n + v] || edge[v * n + u]);
            int a = cut->part[u], b = cut->part[v];
            pairs += joined;
            cuts += joined && a != b;
            sent[0][a][b] += edge[u * n + v] && a != b && !reads[0][b];
            sent[1][a][b] += edge[v * n + u] && a != b && !reads[1][b];
            reads[0][b] |= edge[u * n + v];
            reads[1][b] |= edge[v * n + u];
        }
    }
    const char *path = test_text("%s/partition.json", cut->folder);
    OWNED(Json) *json = assert_ok(json_read(path, &err));
    assert_int_equal(number(json, "undirected_edges"), pairs);
    assert_int_equal(number(json, "edge_cut"), cuts);
    bool symmetric = json_bool(json_get(json, "symmetric"));
    read_sent(cut, "forward", told[0]);
    assert_memory_equal(told[0], sent[0], sizeof sent[0]);
    if (!symmetric) {
        read_sent(cut, "backward", told[1]);
        assert_memory_equal(told[1], sent[1], sizeof sent[1]);
    }
}

static void check_all(const Cut *cut) {
    edges_are_those_of_the_graph(cut);
    rows_are_those_of_the_graph(cut);
    order_is_that_of_the_law(cut);
    figures_are_those_of_the_graph(cut);
}

TEST(test_shards_are_the_graph_in_the_order_of_the_law) { for_each_cut(check_all); }

// An edge stored twice counts twice; a weight goes with its own copy.
TEST(test_duplicate_edges_are_kept) {
    Dataset d = {.nodes = 3, .edges = 4, .name = "twice"};
    d.offset = ALLOC(int64_t, 4, "test");
    d.target = ALLOC(int32_t, 4, "test");
    d.weight = ALLOC(float, 4, "test");
    d.split = ALLOC(uint8_t, 3, "test");
    memcpy(d.offset, (int64_t[]){0, 3, 3, 4}, 4 * sizeof(int64_t));
    memcpy(d.target, (int32_t[]){1, 1, 2, 1}, 4 * sizeof(int32_t));
    memcpy(d.weight, (float[]){1, 2, 4, 8}, 4 * sizeof(float));
    CLEARED(cut_close) Cut cut = cut_open(d, 2, (int32_t[]){0, 1, 1}, true);
    const Shard *s = &cut.shard[1];
    const ShardRelation *in = &s->relation[IN_EDGES];
    int64_t row = s->set[NODES].gid[0] == 1 ? 0 : 1;
    double sum = 0;
    for (int64_t e = in->offset[row]; e < in->offset[row + 1]; e++)
        sum += (double)in->weight[e];
    assert_int_equal(in->offset[row + 1] - in->offset[row], 3);
    assert_true(sum == 1 + 2 + 8 && s->set[NODES].degree_in[row] == sum);
    assert_int_equal(in->remote, 1); // node 0 is one halo row, read three times
}

TEST(test_an_empty_part_is_a_shard_without_rows) {
    int32_t part[61];
    for (int v = 0; v < 61; v++)
        part[v] = v % 2 * 2; // parts 0 and 2 of 3
    CLEARED(cut_close) Cut cut = cut_open(graph_make(61, graph_random, true, 5), 3, part, true);
    assert_int_equal(cut.shard[1].set[NODES].own, 0);
    assert_int_equal(cut.shard[1].relation[IN_EDGES].remote, 0);
    edges_are_those_of_the_graph(&cut);
    order_is_that_of_the_law(&cut);
}

TEST(test_multilabel_rows_and_no_labels) {
    Dataset d = graph_make(20, graph_random, false, 5);
    memory_free(d.label);
    d.label = NULL;
    d.multilabel = true;
    d.labels = ALLOC(uint8_t, 20 * 4, "test");
    for (int i = 0; i < 80; i++)
        d.labels[i] = (uint8_t)(i % 7 == 0);
    CLEARED(cut_close) Cut cut = cut_open(d, 3, NULL, true);
    for (int p = 0; p < 3; p++)
        for (int64_t i = 0; i < cut.shard[p].set[NODES].own; i++)
            assert_memory_equal(cut.shard[p].labels + 4 * i,
                                d.labels + 4 * cut.shard[p].set[NODES].gid[i], 4);
    assert_int_equal(cut.shard[0].majority, -1);
    cut_close(&cut);
    d = graph_make(20, graph_random, false, 5);
    memory_free(d.label);
    memory_free(d.x);
    d.label = NULL;
    d.x = NULL;
    d.classes = d.features = 0;
    cut = cut_open(d, 2, NULL, true);
    assert_null(cut.shard[0].label);
    assert_null(cut.shard[0].x);
}

// 6000 nodes in groups of 60 that are shuffled: renumbering brings a row and its sources together.
static Dataset shuffled_groups(void) {
    enum { N = 6000, GROUP = 60, DEGREE = 8 };
    Dataset d = {.nodes = N, .name = "groups"};
    d.offset = ALLOC(int64_t, N + 1, "test");
    d.target = ALLOC(int32_t, N * DEGREE, "test");
    d.split = ALLOC(uint8_t, N, "test");
    for (int64_t i = 0; i < N; i++) { // group of i: i % 100; its members: i % 100 + 100 m
        int64_t before = -1;
        for (int k = 0; k < DEGREE; k++) {
            int64_t member = (GROUP / DEGREE) * k + (int64_t)(7 * graph_uniform(3, i, k));
            int64_t j = i % 100 + 100 * (member < GROUP ? member : GROUP - 1);
            if (j == i || j <= before)
                continue;
            d.target[d.edges++] = (int32_t)j;
            before = j;
        }
        d.offset[i + 1] = d.edges;
    }
    return d;
}

TEST(test_reordered_rows_lie_near_their_sources) {
    static int32_t one[6000];
    CLEARED(cut_close) Cut plain = cut_open(shuffled_groups(), 1, one, false);
    CLEARED(cut_close) Cut near = cut_open(shuffled_groups(), 1, one, true);
    CLEARED(cut_close) Cut again = cut_open(shuffled_groups(), 1, one, true);
    for (int64_t i = 0; i < 6000; i++)
        assert_int_equal(plain.shard[0].set[NODES].gid[i], i);
    edges_are_those_of_the_graph(&near);
    assert_memory_equal(near.shard[0].set[NODES].gid, again.shard[0].set[NODES].gid,
                        6000 * sizeof(int64_t));
    // shuffled: a third of the rows apart (2000). Clusters of 1000 rows: 333 at most.
    assert_true(mean_distance(&plain.shard[0]) > 1500);
    assert_true(mean_distance(&near.shard[0]) < 400);
}

TEST(test_report_reads_what_was_written) {
    CLEARED(cut_close) Cut cut = cut_open(graph_make(61, graph_random, false, 5), 3, NULL, true);
    assert_ok(partition_report(&terminal_tables, cut.folder, NULL, &err));
    assert_refused(partition_report(&terminal_tables, test_path("nowhere"), NULL, &err),
                   EXIT_NO_INPUT, "nowhere");
}
