// If this fails, a part of a snapshot has more pins than stream.epsilon or stream.capacity allows,
// or less is promised than hyperedges of these sizes allow, or balance costs more replicas than it
// has to.
#include "recount.h"

enum { PARTS = 7 };

static int64_t most_pins(const Srp *srp, int parts) {
    int64_t most = 0;
    for (int p = 0; p < parts; p++)
        most = srp_parts(srp)[p].pins > most ? srp_parts(srp)[p].pins : most;
    return most;
}

// ---- the bound

typedef struct Case {
    int64_t size[8]; // ends with 0
    int parts;
    double epsilon;
    int64_t capacity, most;
    const char *told; // NULL: the promise is kept
} Case;

static const Case cases[] = {
    {{2, 2, 2, 2}, 2, 0, 0, 4, NULL},
    {{2, 2, 2, 2}, 2, 0.3, 0, 5, NULL},
    {{2, 2, 2, 2}, 2, 1000, 0, 8, NULL}, // there are no more
    {{3, 2, 2}, 2, 0.1, 0, 4, "as with stream.epsilon=0.143"},
    {{10, 1, 1, 1}, 2, 0.03, 0, 10, "the largest has 10 pins, and 2 parts have 6.5 in the mean"},
    {{10, 1, 1, 1}, 2, 0.6, 0, 10, NULL},
    {{5, 5, 5, 5, 5}, 4, 0.5, 0, 10, "as with stream.epsilon=0.6"}, // one part gets two
    {{5, 5, 5, 5, 5}, 4, 0.5, 12, 12, NULL},
    {{2, 2, 2, 2}, 2, 0, 3, 4, "stream.capacity=3 cannot be kept"},
    {{2, 2, 2, 2}, 2, 0, 6, 6, NULL},
    {{9, 9, 9, 9}, 1, 0, 0, 36, NULL},
};

TEST(the_bound_is_what_sizes_allow) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SrpOptions options = srp_defaults(cases[i].parts);
        int64_t size[8], count = 0;
        char told[512];
        for (; cases[i].size[count] > 0; count++)
            size[count] = cases[i].size[count];
        options.epsilon = cases[i].epsilon;
        options.capacity = cases[i].capacity;
        SrpBound bound = srp_bound(&options, size, count);
        assert_int_equal(bound.most, cases[i].most);
        assert_int_equal((double)bound.most > bound.promised, cases[i].told != NULL);
        srp_bound_text(told, sizeof told, &options, &bound);
        if (cases[i].told != NULL && strstr(told, cases[i].told) == NULL)
            fail_msg("'%s' is not in: %s", cases[i].told, told);
    }
}

// ---- a snapshot

// Settles; no part is above the bound, and that is the promise if every part has room for four of
// the largest hyperedges.
static void assert_balanced(Srp *srp, const SrpOptions *options) {
    SrpBound bound = srp_settle(srp);
    assert_counted(srp, options->parts);
    assert_true(most_pins(srp, options->parts) <= bound.most);
    if (bound.mean >= 4 * (double)bound.largest && bound.promised >= 1.03 * bound.mean)
        assert_true((double)bound.most <= bound.promised);
    srp_unsettle(srp);
}

TEST(no_part_is_above_the_bound) {
    static const double epsilons[] = {0, 0.03, 0.5};
    for (int i = 0; i < 3 * srp_score_family.count; i++) {
        SrpOptions options = srp_defaults(PARTS);
        Dice dice = {(uint64_t)i};
        RandomEvent event;
        options.score = family_word(&srp_score_family, i / 3);
        options.epsilon = epsilons[i % 3];
        options.during = options.after = i % 2 == 0;
        options.window = 64;
        CLEARED(srp_drop) Srp *srp = srp_made(options);
        srp_live(srp)->strict = false;
        for (int n = 1; n <= 4000; n++) {
            random_event(&event, &dice, 300);
            srp_given(srp, &event.event);
            if (n % 100 == 0)
                assert_balanced(srp, &options);
        }
    }
}

// Few hyperedges fit into a part, so that hardly any can move alone.
TEST(large_hyperedges_are_spread_anew) {
    enum { PINS = 60 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        SrpOptions options = srp_defaults(PARTS);
        Dice dice = {seed};
        uint64_t other[PINS];
        options.epsilon = 0;
        options.capacity = seed % 2 == 0 ? 0 : 10 * PINS;
        options.score = seed % 3 == 0 ? "marginal" : "random";
        CLEARED(srp_drop) Srp *srp = srp_made(options);
        for (uint64_t h = 0; h < 5 * PARTS + seed % 3; h++) {
            int64_t count = PINS - dice_below(&dice, 20);
            for (int64_t i = 0; i < count; i++)
                other[i] = 40 * h + (uint64_t)i;
            srp_given(srp, &(Event){EVENT_HYPEREDGE, h, count, other, false, 1, ""});
        }
        assert_balanced(srp, &options);
    }
}

static SrpTotals settled(const Planted *planted, const char *score, double epsilon) {
    SrpOptions options = srp_defaults(64);
    options.score = score;
    options.epsilon = epsilon;
    CLEARED(srp_drop) Srp *srp = srp_made(options);
    planted_by_nodes(planted, srp);
    SrpBound bound = srp_settle(srp);
    SrpTotals totals = srp_totals(srp);
    assert_true(most_pins(srp, 64) <= bound.most && (double)bound.most <= bound.promised);
    srp_unsettle(srp);
    return totals;
}

// Those that are cheapest leave, for where most of their nodes are.
TEST(balance_costs_few_replicas) {
    static const char *const scores[] = {"marginal", "fennel", "thesis"};
    Planted planted = planted_new(4000, 4000, 256, 0.9, 1);
    for (int i = 0; i < 3; i++) {
        SrpTotals free = settled(&planted, scores[i], 1000);
        SrpTotals held = settled(&planted, scores[i], 0.03);
        assert_true((double)held.replicas <= 1.2 * (double)free.replicas);
        assert_true((double)held.connectivity <= 1.05 * (double)free.connectivity);
    }
}

static bool is_present(Srp *srp, int32_t node) {
    LiveHypergraph *live = srp_live(srp);
    for (int32_t i = 0; i < live->side[SIDE_NODE].item[node].count; i++)
        if (srp_home(srp, SIDE_HYPEREDGE, live_pins(live, SIDE_NODE, node)[i]) ==
            srp_home(srp, SIDE_NODE, node))
            return true;
    return live->side[SIDE_NODE].item[node].count == 0;
}

// marginal places nodes where one of their hyperedges is; they follow the last that leaves.
TEST(nodes_follow_their_hyperedges) {
    Planted planted = planted_new(4000, 4000, 50, 0.9, 1);
    SrpOptions options = srp_defaults(64);
    options.during = options.after = false;
    options.epsilon = 0.03;
    CLEARED(srp_drop) Srp *srp = srp_made(options);
    planted_by_hyperedges(&planted, srp);
    int64_t before = most_pins(srp, 64);
    srp_settle(srp);
    assert_true(before > most_pins(srp, 64));
    for (int32_t v = 0; v < srp_live(srp)->side[SIDE_NODE].slots; v++)
        assert_true(is_present(srp, v));
    srp_unsettle(srp);
}
