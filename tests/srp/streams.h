// Streams for the tests of the partitioner: random events with deletions, and planted hypergraphs
// whose nodes and hyperedges belong to groups.
#pragma once

#include "fringe/srp.h"
#include "support.h"

static inline SrpOptions srp_defaults(int parts) {
    return (SrpOptions){.parts = parts,
                        .score = "marginal",
                        .during = true,
                        .after = true,
                        .window = 4096,
                        .iterations = 10,
                        .epsilon = 0.1,
                        .passes = 1,
                        .seed = 1};
}

static inline Srp *srp_made(SrpOptions options) { return assert_ok(srp_new(&options, &err)); }

static inline void srp_given(Srp *srp, const Event *event) {
    assert_ok(srp_apply(srp, event, &err));
}

// ---- random numbers of a test

typedef struct Dice {
    uint64_t state;
} Dice;

static inline uint64_t dice_next(Dice *dice) { // splitmix64
    uint64_t z = dice->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline int64_t dice_below(Dice *dice, int64_t count) {
    return (int64_t)(dice_next(dice) % (uint64_t)count);
}
static inline double dice_share(Dice *dice) { return (double)(dice_next(dice) >> 11) * 0x1p-53; }

// ---- events of all kinds; deletions may name what is not there

enum { RANDOM_PINS = 8 };
typedef struct RandomEvent {
    Event event;
    uint64_t other[RANDOM_PINS];
} RandomEvent;

static inline void random_event(RandomEvent *out, Dice *dice, int64_t ids) {
    static const EventKind kinds[] = {EVENT_HYPEREDGE, EVENT_HYPEREDGE,    EVENT_NODE,
                                      EVENT_PIN,       EVENT_PIN,          EVENT_NO_PIN,
                                      EVENT_NO_PIN,    EVENT_NO_HYPEREDGE, EVENT_NO_NODE};
    EventKind kind = kinds[dice_below(dice, 9)];
    bool one = kind == EVENT_PIN || kind == EVENT_NO_PIN;
    bool none = kind == EVENT_NO_HYPEREDGE || kind == EVENT_NO_NODE;
    int64_t least = kind == EVENT_HYPEREDGE;
    *out = (RandomEvent){{.kind = kind, .weight = 1}, {0}};
    out->event.id = (uint64_t)dice_below(dice, ids) * 0x123456789abcdefu;
    out->event.count = one ? 1 : none ? 0 : least + dice_below(dice, RANDOM_PINS - least);
    for (int64_t i = 0; i < out->event.count; i++)
        out->other[i] = (uint64_t)dice_below(dice, ids);
    // An id of a node and one of a hyperedge may be equal.
    if (kind == EVENT_NODE || kind == EVENT_NO_NODE) {
        out->event.id = (uint64_t)dice_below(dice, ids);
        for (int64_t i = 0; i < out->event.count; i++)
            out->other[i] *= 0x123456789abcdefu;
    }
    out->event.weighted = kind == EVENT_HYPEREDGE && dice_below(dice, 4) == 0;
    if (out->event.weighted)
        out->event.weight = (float)dice_below(dice, 5) / 2;
    out->event.other = out->other;
}

// ---- planted: hyperedge h belongs to group h mod `groups`; a pin is of that group with
// probability `purity`, else any node

typedef struct Planted {
    int64_t nodes, hyperedges, pins;
    int32_t *offset, *pin; // [hyperedges + 1], [pins] distinct in a hyperedge
} Planted;

static inline Planted planted_new(int64_t nodes, int64_t hyperedges, int groups, double purity,
                                  uint64_t seed) {
    enum { LEAST = 2, MOST = 10 };
    Dice dice = {seed};
    Planted p = {nodes, hyperedges, 0, TEST_ARRAY(int32_t, hyperedges + 1),
                 TEST_ARRAY(int32_t, hyperedges * MOST)};
    for (int64_t h = 0; h < hyperedges; h++) {
        int64_t arity = LEAST + dice_below(&dice, MOST - LEAST + 1), begin = p.pins;
        int64_t group = dice_below(&dice, groups);
        while (p.pins < begin + arity) {
            bool own = dice_share(&dice) < purity;
            int64_t node =
                own ? group + groups * dice_below(&dice, nodes / groups) : dice_below(&dice, nodes);
            bool is_new = true;
            for (int64_t i = begin; i < p.pins; i++)
                is_new = is_new && p.pin[i] != node;
            if (is_new)
                p.pin[p.pins++] = (int32_t)node;
        }
        p.offset[h + 1] = (int32_t)p.pins;
    }
    return p;
}

static inline void planted_by_hyperedges(const Planted *p, Srp *srp) {
    uint64_t other[64];
    for (int64_t h = 0; h < p->hyperedges; h++) {
        int64_t count = p->offset[h + 1] - p->offset[h];
        for (int64_t i = 0; i < count; i++)
            other[i] = (uint64_t)p->pin[p->offset[h] + i];
        srp_given(srp, &(Event){EVENT_HYPEREDGE, (uint64_t)h, count, other, false, 1, ""});
    }
}

// Every node with its hyperedges, in the order of ids.
static inline void planted_by_nodes(const Planted *p, Srp *srp) {
    int64_t *begin = TEST_ARRAY(int64_t, p->nodes + 2);
    uint64_t *other = TEST_ARRAY(uint64_t, p->pins + 1);
    for (int64_t k = 0; k < p->pins; k++)
        begin[p->pin[k] + 2]++;
    for (int64_t v = 0; v < p->nodes; v++)
        begin[v + 2] += begin[v + 1];
    for (int64_t h = 0; h < p->hyperedges; h++)
        for (int64_t k = p->offset[h]; k < p->offset[h + 1]; k++)
            other[begin[p->pin[k] + 1]++] = (uint64_t)h;
    for (int64_t v = 0; v < p->nodes; v++)
        srp_given(srp, &(Event){EVENT_NODE, (uint64_t)v, begin[v + 1] - begin[v], other + begin[v],
                                false, 1, ""});
}
