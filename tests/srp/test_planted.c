// If this fails, streams whose nodes and hyperedges belong to groups are cut worse than one pass
// can cut them. The bars are those that an independent program reached on such streams.
#include "recount.h"

enum { PARTS = 16, NODES_OF_ALL = UNDER_SANITIZERS(2500, 20000), GROUPS = 64 };

typedef struct Way {
    const char *score;
    bool by_nodes;
    int64_t window; // 0: none
    bool after;
} Way;

static int64_t replicas(const Planted *planted, Way way) {
    SrpOptions options = srp_defaults(PARTS);
    options.score = way.score;
    options.window = way.window;
    options.during = way.window > 0;
    options.after = way.after;
    CLEARED(srp_drop) Srp *srp = srp_made(options);
    if (way.by_nodes)
        planted_by_nodes(planted, srp);
    else
        planted_by_hyperedges(planted, srp);
    srp_settle(srp);
    int64_t found = srp_totals(srp).replicas;
    srp_unsettle(srp);
    return found;
}

static void assert_share(int64_t mine, int64_t other, double most, const char *what) {
    if (UNDER_SANITIZERS(false, true) && (double)mine > most * (double)other)
        fail_msg("%s: %lld replicas against %lld, a share of %.3f; at most %.2f", what,
                 (long long)mine, (long long)other, (double)mine / (double)other, most);
}

static const double purities[] = {0.95, 0.8};

TEST(phase_1_finds_the_groups) {
    for (int i = 0; i < 2; i++) {
        Planted p = planted_new(NODES_OF_ALL, NODES_OF_ALL, GROUPS, purities[i], 1);
        int64_t thesis = replicas(&p, (Way){"thesis", false, 0, false});
        int64_t marginal = replicas(&p, (Way){"marginal", false, 0, false});
        int64_t chance = replicas(&p, (Way){"random", false, 0, false});
        assert_share(marginal, thesis, 0.6, "marginal against thesis, hyperedges");
        assert_true(chance > thesis && chance > marginal);
        thesis = replicas(&p, (Way){"thesis", true, 0, false});
        marginal = replicas(&p, (Way){"marginal", true, 0, false});
        chance = replicas(&p, (Way){"random", true, 0, false});
        assert_share(marginal, thesis, 0.9, "marginal against thesis, nodes");
        assert_true(chance > thesis && chance > marginal);
        assert_share(replicas(&p, (Way){"fennel", true, 0, false}), marginal, 1.05,
                     "fennel against marginal, nodes");
    }
}

TEST(phase_2_lowers_replicas) {
    for (int i = 0; i < 2; i++) {
        Planted p = planted_new(NODES_OF_ALL, NODES_OF_ALL, GROUPS, purities[i], 1);
        for (int by_nodes = 0; by_nodes < 2; by_nodes++) {
            assert_share(replicas(&p, (Way){"thesis", by_nodes, NODES_OF_ALL / 10, false}),
                         replicas(&p, (Way){"thesis", by_nodes, 0, false}), 0.8,
                         "thesis with a window of a tenth of the nodes");
            assert_share(replicas(&p, (Way){"marginal", by_nodes, NODES_OF_ALL, false}),
                         replicas(&p, (Way){"marginal", by_nodes, 0, false}), 0.85,
                         "marginal with a window of all nodes");
        }
    }
}
