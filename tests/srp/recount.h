// Everything that the partitioner counts, counted again from the pins and homes alone.
#pragma once

#include "streams.h"

// Distinct homes of the neighbours of an item: seen[parts] is set to those.
static inline int64_t homes_around(const Srp *srp, LiveHypergraph *live, int side, int32_t slot,
                                   bool *seen, int parts) {
    int64_t distinct = 0;
    memset(seen, 0, (size_t)parts);
    for (int32_t i = 0; i < live->side[side].item[slot].count; i++) {
        int32_t home = srp_home(srp, 1 - side, live_pins(live, side, slot)[i]);
        assert_in_range(home, 0, parts - 1);
        distinct += !seen[home];
        seen[home] = true;
    }
    return distinct;
}

static inline void assert_counted(Srp *srp, int parts) {
    LiveHypergraph *live = srp_live(srp);
    SrpPart *part = TEST_ARRAY(SrpPart, parts);
    bool *seen = TEST_ARRAY(bool, parts);
    SrpTotals sum = {0}, totals = srp_totals(srp);
    for (int32_t v = 0; v < live->side[SIDE_NODE].slots; v++) {
        int32_t home = srp_home(srp, SIDE_NODE, v);
        assert_true((home == SRP_NONE) == (live->side[SIDE_NODE].item[v].count < 0));
        if (home == SRP_NONE)
            continue;
        part[home].nodes++;
        homes_around(srp, live, SIDE_NODE, v, seen, parts);
        for (int p = 0; p < parts; p++) {
            bool replica = seen[p] && p != home;
            part[p].present += seen[p];
            part[p].replicas += replica;
            part[home].away += replica;
            sum.replicas += replica;
        }
    }
    for (int32_t h = 0; h < live->side[SIDE_HYPEREDGE].slots; h++) {
        int32_t home = srp_home(srp, SIDE_HYPEREDGE, h);
        int64_t pins = live->side[SIDE_HYPEREDGE].item[h].count;
        assert_true((home == SRP_NONE) == (pins < 0));
        if (home == SRP_NONE)
            continue;
        assert_true(pins > 0);
        int64_t homes = homes_around(srp, live, SIDE_HYPEREDGE, h, seen, parts);
        part[home].hyperedges++;
        part[home].pins += pins;
        sum.pins += pins;
        sum.connectivity += homes - 1;
        sum.cut += homes > 1;
    }
    assert_memory_equal(part, srp_parts(srp), (size_t)parts * sizeof *part);
    assert_int_equal(sum.pins, totals.pins);
    assert_int_equal(sum.pins, live->pins);
    assert_int_equal(sum.replicas, totals.replicas);
    assert_int_equal(sum.connectivity, totals.connectivity);
    assert_int_equal(sum.cut, totals.cut);
}
