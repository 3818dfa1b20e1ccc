// If this fails, the shards of a hypergraph do not hold its pins, or their rows lie in another
// order than invariant 1 says.
#include "cut.h"

enum { NODES_MADE = 61, HYPEREDGES_MADE = 43 };
enum { FAR_AWAY = 1000 };

typedef struct Made {
    HyperKind kind;
    uint64_t seed;
    Cut cut;
} Made;

static void for_each_cut(void (*check)(const Made *made)) {
    static const int part_counts[] = {1, 2, 3, 4, 8};
    for (int r = 0; r < HYPER_RULES; r++)
        for (int c = 0; c < 5; c++)
            for (int directed = 0; directed < 2; directed++) {
                Made made = {
                    .kind = {NODES_MADE, HYPEREDGES_MADE, hyper_rules[r], directed, (r + c) % 2},
                    .seed = 5};
                made.cut = cut_open(hyper_make(made.kind, made.seed), part_counts[c], NULL, true);
                check(&made);
                cut_close(&made.cut);
            }
}

static int64_t total_of(int set) { return set == NODES ? NODES_MADE : HYPEREDGES_MADE; }
static int32_t part_of(const Cut *cut, int set, int64_t id) {
    return cut->part[set == NODES ? id : NODES_MADE + id];
}

// Does row `id` of the set read row `other` of the other set in forward direction?
static bool reads(const Made *made, int set, int64_t id, int64_t other) {
    int64_t h = set == HYPEREDGES ? id : other, v = set == HYPEREDGES ? other : id;
    int role = hyper_role(&made->kind, h, v, made->seed);
    return (role & (set == HYPEREDGES ? PIN_SOURCE : PIN_TARGET)) != 0;
}

// Each relation as partition.h has it: its sets, and whether its entries are those that rows of
// `to` read forward, or those that read them.
typedef struct Expected {
    int to, transpose;
    bool forward;
} Expected;
static const Expected undirected[] = {{HYPEREDGES, 1, true}, {NODES, 0, true}};
static const Expected directed[] = {
    {HYPEREDGES, 1, true}, {NODES, 0, false}, {NODES, 3, true}, {HYPEREDGES, 2, false}};

static bool is_expected(const Made *made, const Expected *x, int64_t to, int64_t from) {
    return x->forward ? reads(made, x->to, to, from) : reads(made, 1 - x->to, from, to);
}

static void check_relation(const Made *made, int r, const Expected *x) {
    int64_t found = 0, expected = 0;
    for (int64_t i = 0; i < total_of(x->to); i++)
        for (int64_t j = 0; j < total_of(1 - x->to); j++)
            expected += is_expected(made, x, i, j);
    for (int p = 0; p < made->cut.parts; p++) {
        const Shard *s = &made->cut.shard[p];
        const ShardRelation *w = &s->relation[r];
        assert_int_equal(w->to, x->to);
        assert_int_equal(w->from, 1 - x->to);
        assert_int_equal(w->transpose, x->transpose);
        assert_null(w->weight);
        for (int64_t i = 0; i < s->set[w->to].own; i++)
            for (int64_t e = w->offset[i]; e < w->offset[i + 1]; e++, found++) {
                assert_true(e == w->offset[i] || w->column[e - 1] < w->column[e]);
                assert_true(
                    is_expected(made, x, s->set[w->to].gid[i], column_gid(s, w, w->column[e])));
            }
        assert_remote_obeys_the_law(&made->cut, s, w);
    }
    assert_int_equal(found, expected);
}

static bool every_pin_is_both(const Dataset *d) {
    for (int64_t e = 0; d->pin_role != NULL && e < d->edges; e++)
        if (d->pin_role[e] != PIN_BOTH)
            return false;
    return true;
}

static void relations_are_the_pins(const Made *made) {
    bool both = every_pin_is_both(&made->cut.dataset);
    int count = both ? 2 : 4;
    for (int p = 0; p < made->cut.parts; p++) {
        const Shard *s = &made->cut.shard[p];
        assert_int_equal(s->sets, 2);
        assert_int_equal(s->relations, count);
        assert_int_equal(s->edges, made->cut.dataset.edges);
        assert_int_equal(shard_relation_of(s, 1), count / 2);
    }
    for (int r = 0; r < count; r++)
        check_relation(made, r, both ? &undirected[r] : &directed[r]);
}

static double weight_of(const Made *made, int64_t h) {
    return made->kind.weighted ? (double)(h % 5) / 4 : 1;
}

// The sum of what the row reads, or is read by, in the other set.
static double degree(const Made *made, int set, int64_t id, bool in) {
    double sum = 0;
    for (int64_t other = 0; other < total_of(1 - set); other++) {
        bool joined = in ? reads(made, set, id, other) : reads(made, 1 - set, other, id);
        sum += joined ? (set == NODES ? weight_of(made, other) : 1) : 0;
    }
    return sum;
}

static void check_set(const Made *made, int set) {
    int seen[NODES_MADE] = {0};
    for (int p = 0; p < made->cut.parts; p++) {
        const Shard *s = &made->cut.shard[p];
        const RowSet *rows = &s->set[set];
        assert_int_equal(rows->total, total_of(set));
        assert_int_equal(rows->weight != NULL, set == HYPEREDGES && made->kind.weighted);
        for (int64_t i = 0; i < rows->own; i++) {
            int64_t id = rows->gid[i];
            seen[id]++;
            assert_int_equal(part_of(&made->cut, set, id), p);
            assert_true(rows->degree_in[i] == degree(made, set, id, true)); // quarters: exact
            assert_true(rows->degree_out[i] == degree(made, set, id, false));
            if (rows->weight != NULL)
                assert_true((double)rows->weight[i] == weight_of(made, id));
        }
    }
    for (int64_t id = 0; id < total_of(set); id++)
        assert_int_equal(seen[id], 1);
}

static void rows_are_those_of_the_hypergraph(const Made *made) {
    check_set(made, NODES);
    check_set(made, HYPEREDGES);
    for (int p = 0; p < made->cut.parts; p++) {
        const Shard *s = &made->cut.shard[p];
        for (int64_t i = 0; i < s->set[NODES].own; i++) {
            int64_t v = s->set[NODES].gid[i];
            assert_memory_equal(s->x + i * 3, made->cut.dataset.x + v * 3, 3 * sizeof(float));
            assert_int_equal(s->label[i], made->cut.dataset.label[v]);
            assert_int_equal(s->split[i], made->cut.dataset.split[v]);
        }
    }
}

// hops[set][id] by relaxing every pin until nothing changes.
static void find_hops(const Made *made, int hops[2][NODES_MADE]) {
    for (int64_t i = 0; i < NODES_MADE; i++) {
        hops[NODES][i] = made->cut.dataset.split[i] == SPLIT_TRAIN ? 0 : FAR_AWAY;
        hops[HYPEREDGES][i] = FAR_AWAY;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int set = 0; set < 2; set++)
            for (int64_t i = 0; i < total_of(set); i++)
                for (int64_t j = 0; j < total_of(1 - set); j++)
                    if (reads(made, set, i, j) && hops[1 - set][j] > hops[set][i] + 1) {
                        hops[1 - set][j] = hops[set][i] + 1;
                        changed = true;
                    }
    }
}

static bool is_marginal(const Made *made, int set, int64_t id) {
    for (int64_t j = 0; j < total_of(1 - set); j++)
        if (reads(made, set, id, j) &&
            part_of(&made->cut, 1 - set, j) != part_of(&made->cut, set, id))
            return true;
    return false;
}

static void order_is_that_of_the_law(const Made *made) {
    int hops[2][NODES_MADE];
    find_hops(made, hops);
    for (int p = 0; p < made->cut.parts; p++)
        for (int set = 0; set < 2; set++) {
            const RowSet *rows = &made->cut.shard[p].set[set];
            int64_t central = 0, reach[SHARD_HOPS + 1] = {0};
            int before = -1;
            for (int64_t i = 0; i < rows->own; i++) {
                int h = hops[set][rows->gid[i]], marginal = is_marginal(made, set, rows->gid[i]);
                int key = 2 * (h <= SHARD_HOPS ? h : SHARD_HOPS + 1) + marginal;
                assert_true(key >= before);
                before = key;
                central += !marginal;
                for (int k = h; k <= SHARD_HOPS; k++)
                    reach[k]++;
            }
            assert_int_equal(rows->central, central);
            assert_memory_equal(rows->reach, reach, sizeof reach);
        }
}

static void check_all(const Made *made) {
    relations_are_the_pins(made);
    rows_are_those_of_the_hypergraph(made);
    order_is_that_of_the_law(made);
}

TEST(test_shards_are_the_hypergraph_in_the_order_of_the_law) { for_each_cut(check_all); }

// 4000 nodes and as many hyperedges of 8 neighbouring nodes, both with shuffled ids: clusters of
// the star graph bring a hyperedge and its pins together.
static int64_t shuffled(int64_t i) { return i * 1777 % 4000; }

static Dataset long_band(void) {
    enum { N = 4000, PINS = 8 };
    Dataset d = {.nodes = N, .hyperedges = N, .edges = N * PINS, .name = "band"};
    bool *pin = TEST_ARRAY(bool, (int64_t)N *N);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < PINS; k++)
            pin[shuffled((i + k) % N) * N + shuffled(i * 3 % N)] = true;
    d.offset = ALLOC(int64_t, N + 1, "test");
    d.target = ALLOC(int32_t, d.edges, "test");
    d.split = ALLOC(uint8_t, N, "test");
    int64_t at = 0;
    for (int64_t v = 0; v < N; v++) {
        for (int64_t h = 0; h < N; h++)
            if (pin[v * N + h])
                d.target[at++] = (int32_t)h;
        d.offset[v + 1] = at;
    }
    return d;
}

TEST(test_hyperedges_lie_near_their_pins) {
    static int32_t one[8000];
    CLEARED(cut_close) Cut plain = cut_open(long_band(), 1, one, false);
    CLEARED(cut_close) Cut near = cut_open(long_band(), 1, one, true);
    for (int64_t i = 0; i < 4000; i++)
        assert_int_equal(plain.shard[0].set[HYPEREDGES].gid[i], i);
    // shuffled: a third of the rows apart (1333). Clusters of 500 nodes: 167 and a little more.
    assert_true(mean_distance(&plain.shard[0]) > 1000);
    assert_true(mean_distance(&near.shard[0]) < 500);
}
