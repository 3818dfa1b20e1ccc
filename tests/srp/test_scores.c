// If this fails, what arrives gets another part than its score says.
#include "recount.h"

enum { PARTS = 5, IDS = 60 };

// ---- what is there before an event, by definition: sets of ids

typedef struct Shadow {
    bool present[PARTS][IDS]; // [part][node id]
    int64_t pins[PARTS], nodes[PARTS], total, largest;
} Shadow;

static void look(Shadow *out, Srp *srp) {
    LiveHypergraph *live = srp_live(srp);
    *out = (Shadow){.total = live->pins, .largest = live->largest};
    for (int32_t h = 0; h < live->side[SIDE_HYPEREDGE].slots; h++) {
        int32_t home = srp_home(srp, SIDE_HYPEREDGE, h);
        for (int32_t i = 0; home >= 0 && i < live->side[SIDE_HYPEREDGE].item[h].count; i++) {
            int32_t v = live_pins(live, SIDE_HYPEREDGE, h)[i];
            out->present[home][live->side[SIDE_NODE].item[v].id] = true;
            out->pins[home]++;
        }
    }
    for (int32_t v = 0; v < live->side[SIDE_NODE].slots; v++)
        if (srp_home(srp, SIDE_NODE, v) >= 0)
            out->nodes[srp_home(srp, SIDE_NODE, v)]++;
}

// |<H_p> and the pins of the event| - |<H_p>|
static int64_t missing(const Shadow *s, int p, const Event *event) {
    int64_t count = 0;
    for (int64_t i = 0; i < event->count; i++)
        count += !s->present[p][event->other[i]];
    return count;
}

static int64_t present(const Shadow *s, int p) {
    int64_t count = 0;
    for (int v = 0; v < IDS; v++)
        count += s->present[p][v];
    return count;
}

static double marginal(const Shadow *s, int p, const Event *event) {
    double share = s->total > 0 ? (double)(PARTS * s->pins[p]) / (double)s->total : 0;
    return (double)missing(s, p, event) + share;
}

static double thesis(const Shadow *s, int p, const Event *event) {
    return (double)(present(s, p) + missing(s, p, event) + s->pins[p] + event->count);
}

static bool has_room(const Shadow *s, int p, int64_t pins, int64_t capacity) {
    int64_t largest = s->largest > pins ? s->largest : pins;
    double most =
        capacity > 0 ? (double)capacity : 1.1 * (double)(s->total + 1) / PARTS + (double)largest;
    return (double)(s->pins[p] + pins) <= most;
}

static int expected(const Shadow *s, const Event *event, int64_t capacity,
                    double (*cost)(const Shadow *, int, const Event *)) {
    for (int any = 0; any < 2; any++) {
        int best = -1;
        for (int p = 0; p < PARTS; p++) {
            if (!any && !has_room(s, p, event->count, capacity))
                continue;
            double mine = cost(s, p, event), least = best < 0 ? 0 : cost(s, best, event);
            if (best < 0 || mine < least - 1e-9 ||
                (mine < least + 1e-9 && s->pins[p] < s->pins[best]))
                best = p;
        }
        if (best >= 0)
            return best;
    }
    return -1;
}

static Event random_hyperedge(Dice *dice, uint64_t id, uint64_t other[8]) {
    int64_t wanted = 1 + dice_below(dice, 7), count = 0;
    bool seen[IDS] = {false};
    while (count < wanted) {
        uint64_t v = (uint64_t)dice_below(dice, IDS);
        if (!seen[v])
            other[count++] = v;
        seen[v] = true;
    }
    return (Event){EVENT_HYPEREDGE, id, count, other, false, 1, ""};
}

static Srp *made(const char *score, int64_t capacity) {
    SrpOptions options = srp_defaults(PARTS);
    options.score = score;
    options.during = options.after = false;
    options.capacity = capacity;
    return srp_made(options);
}

static void follow_cost(const char *score, int64_t capacity,
                        double (*cost)(const Shadow *, int, const Event *)) {
    CLEARED(srp_drop) Srp *srp = made(score, capacity);
    Dice dice = {21};
    Shadow before;
    uint64_t other[8];
    for (uint64_t id = 0; id < 400; id++) {
        Event event = random_hyperedge(&dice, id, other);
        look(&before, srp);
        int part = expected(&before, &event, capacity, cost);
        srp_given(srp, &event);
        int32_t slot = live_find(srp_live(srp), SIDE_HYPEREDGE, id);
        assert_int_equal(srp_home(srp, SIDE_HYPEREDGE, slot), part);
    }
    if (capacity > 0)
        assert_true(srp_totals(srp).overfull > 0);
}

TEST(a_hyperedge_goes_to_the_least_cost) {
    follow_cost("marginal", 0, marginal);
    follow_cost("thesis", 0, thesis);
    follow_cost("marginal", 200, marginal); // full after a while
    follow_cost("thesis", 200, thesis);
}

// C5: a part has room when a hyperedge goes there, and a node is at home where it is present.
TEST(nodes_are_at_home_where_they_are_present) {
    const char *const names[] = {"marginal", "thesis"};
    for (int i = 0; i < 2; i++) {
        CLEARED(srp_drop) Srp *srp = made(names[i], 0);
        Dice dice = {31};
        Shadow now;
        uint64_t other[8];
        for (uint64_t id = 0; id < 300; id++) {
            Event event = random_hyperedge(&dice, id, other);
            srp_given(srp, &event);
            look(&now, srp);
            for (uint64_t v = 0; v < IDS; v++) {
                int32_t slot = live_find(srp_live(srp), SIDE_NODE, v);
                assert_true(slot < 0 || now.present[srp_home(srp, SIDE_NODE, slot)][v]);
            }
        }
        assert_int_equal(srp_totals(srp).overfull, 0);
    }
}

// A new node of an event goes to the part, of those where its hyperedges are, with fewest nodes.
TEST(a_node_goes_where_fewest_nodes_are) {
    CLEARED(srp_drop) Srp *srp = made("marginal", 0);
    Dice dice = {41};
    uint64_t other[8];
    for (uint64_t id = 0; id < 200; id++) {
        Event event = random_hyperedge(&dice, id, other);
        srp_given(srp, &event);
    }
    for (uint64_t v = IDS; v < IDS + 40; v++) {
        uint64_t list[3] = {(uint64_t)dice_below(&dice, 60), 60 + (uint64_t)dice_below(&dice, 60),
                            120 + (uint64_t)dice_below(&dice, 60)};
        LiveHypergraph *live = srp_live(srp);
        int best = -1;
        int64_t nodes[PARTS];
        for (int p = 0; p < PARTS; p++)
            nodes[p] = srp_parts(srp)[p].nodes;
        for (int i = 0; i < 3; i++) {
            int p = srp_home(srp, SIDE_HYPEREDGE, live_find(live, SIDE_HYPEREDGE, list[i]));
            if (best < 0 || nodes[p] < nodes[best] || (nodes[p] == nodes[best] && p < best))
                best = p;
        }
        srp_given(srp, &(Event){EVENT_NODE, v, 3, list, false, 1, ""});
        assert_int_equal(srp_home(srp, SIDE_NODE, live_find(live, SIDE_NODE, v)), best);
    }
}

// The baselines: random draws by id alone, aweto fills the lightest part, balance-big puts a node
// of more than 100 hyperedges there with all that is new.
TEST(baselines_do_what_their_names_say) {
    Dice dice = {51};
    uint64_t other[8], many[101];
    CLEARED(srp_drop)
    Srp *one = made("random", 0), *two = made("random", 0), *aweto = made("aweto", 0);
    CLEARED(srp_drop) Srp *big = made("balance-big", 0);
    for (uint64_t id = 0; id < 300; id++) {
        Event event = random_hyperedge(&dice, id, other);
        int lightest = 0;
        for (int p = 1; p < PARTS; p++)
            if (srp_parts(aweto)[p].pins < srp_parts(aweto)[lightest].pins)
                lightest = p;
        srp_given(one, &event);
        srp_given(aweto, &event);
        srp_given(big, &event);
        event.id = 299 - id; // another order
        srp_given(two, &event);
        assert_int_equal(
            srp_home(aweto, SIDE_HYPEREDGE, live_find(srp_live(aweto), SIDE_HYPEREDGE, id)),
            lightest);
    }
    for (uint64_t id = 0; id < 300; id++)
        assert_int_equal(
            srp_home(one, SIDE_HYPEREDGE, live_find(srp_live(one), SIDE_HYPEREDGE, id)),
            srp_home(two, SIDE_HYPEREDGE, live_find(srp_live(two), SIDE_HYPEREDGE, id)));
    for (uint64_t i = 0; i < 101; i++)
        many[i] = 1000 + i;
    srp_given(big, &(Event){EVENT_NODE, 999, 101, many, false, 1, ""});
    int64_t least = srp_parts(big)[0].pins, most = least;
    for (int p = 0; p < PARTS; p++) {
        least = srp_parts(big)[p].pins < least ? srp_parts(big)[p].pins : least;
        most = srp_parts(big)[p].pins > most ? srp_parts(big)[p].pins : most;
    }
    assert_true(most - least <= 9); // 101 hyperedges of one pin have levelled the parts
}

// fennel: a hyperedge is at home with most of its pins, after every event.
TEST(fennel_keeps_hyperedges_with_their_pins) {
    CLEARED(srp_drop) Srp *srp = made("fennel", 0);
    Dice dice = {61};
    RandomEvent event;
    srp_live(srp)->strict = false;
    for (int n = 0; n < 2000; n++) {
        random_event(&event, &dice, IDS);
        if (event.event.kind >= EVENT_NO_PIN)
            continue;
        srp_given(srp, &event.event);
        LiveHypergraph *live = srp_live(srp);
        for (int32_t h = 0; h < live->side[SIDE_HYPEREDGE].slots; h++) {
            int64_t count[PARTS] = {0}, most = 0;
            for (int32_t i = 0; i < live->side[SIDE_HYPEREDGE].item[h].count; i++)
                count[srp_home(srp, SIDE_NODE, live_pins(live, SIDE_HYPEREDGE, h)[i])]++;
            for (int p = 0; p < PARTS; p++)
                most = count[p] > most ? count[p] : most;
            assert_int_equal(count[srp_home(srp, SIDE_HYPEREDGE, h)], most);
        }
    }
}
