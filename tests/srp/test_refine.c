// If this fails, phase 2 moves nodes or hyperedges that (3.13) and (3.14) do not move, or makes a
// partition worse.
#include "recount.h"

#include "srp/internal.h"

enum { PARTS = 6 };

// ---- batch label propagation by definition, over slots

typedef struct Batch {
    LiveHypergraph *live;
    int32_t *home[LIVE_SIDES]; // [slots]
    int64_t pins[PARTS];
} Batch;

static void batch_take(Batch *b, Srp *srp) {
    b->live = srp_live(srp);
    memset(b->pins, 0, sizeof b->pins);
    for (int side = 0; side < LIVE_SIDES; side++) {
        b->home[side] = TEST_ARRAY(int32_t, b->live->side[side].slots);
        for (int32_t x = 0; x < b->live->side[side].slots; x++)
            b->home[side][x] = srp_home(srp, side, x);
    }
    for (int p = 0; p < PARTS; p++)
        b->pins[p] = srp_parts(srp)[p].pins;
}

static void count_around(const Batch *b, int side, int32_t x, int64_t count[PARTS]) {
    memset(count, 0, PARTS * sizeof *count);
    for (int32_t i = 0; i < b->live->side[side].item[x].count; i++)
        count[b->home[1 - side][live_pins(b->live, side, x)[i]]]++;
}

static void pass_over_all_hyperedges(Batch *b) {
    int64_t count[PARTS];
    for (int32_t h = 0; h < b->live->side[SIDE_HYPEREDGE].slots; h++) {
        int32_t now = b->home[SIDE_HYPEREDGE][h], best = now;
        count_around(b, SIDE_HYPEREDGE, h, count);
        for (int32_t p = 0; p < PARTS; p++)
            if (count[p] > count[best] ||
                (count[p] == count[best] && best != now && b->pins[p] < b->pins[best]))
                best = p;
        b->pins[now] -= b->live->side[SIDE_HYPEREDGE].item[h].count;
        b->pins[best] += b->live->side[SIDE_HYPEREDGE].item[h].count;
        b->home[SIDE_HYPEREDGE][h] = best;
    }
}

static void pass_over_all_nodes(Batch *b) {
    int64_t count[PARTS], sum = 0;
    for (int p = 0; p < PARTS; p++)
        sum += b->pins[p];
    for (int32_t v = 0; v < b->live->side[SIDE_NODE].slots; v++) {
        int32_t now = b->home[SIDE_NODE][v], best = now;
        double value[PARTS];
        count_around(b, SIDE_NODE, v, count);
        for (int p = 0; p < PARTS; p++) {
            double load = (double)(b->pins[p] * PARTS) / (double)sum;
            value[p] = (double)count[p] * exp(1 - load * load);
        }
        for (int32_t p = 0; p < PARTS; p++)
            if (value[p] > value[best])
                best = p;
        b->home[SIDE_NODE][v] = best;
    }
}

static double batch_cost(const Batch *b) {
    int64_t count[PARTS], away[PARTS] = {0}, replicas = 0, pins = 0;
    double squares[2] = {0};
    for (int32_t v = 0; v < b->live->side[SIDE_NODE].slots; v++) {
        count_around(b, SIDE_NODE, v, count);
        for (int p = 0; p < PARTS; p++)
            if (count[p] > 0 && p != b->home[SIDE_NODE][v]) {
                away[b->home[SIDE_NODE][v]]++;
                replicas++;
            }
    }
    for (int p = 0; p < PARTS; p++)
        pins += b->pins[p];
    for (int p = 0; p < PARTS; p++) {
        squares[0] += pow((double)b->pins[p] - (double)pins / PARTS, 2);
        squares[1] += pow((double)away[p] - (double)replicas / PARTS, 2);
    }
    return 2 * (double)replicas + sqrt(squares[0]) + sqrt(squares[1]);
}

static void keep(const Batch *b, int32_t *best[LIVE_SIDES]) {
    for (int side = 0; side < LIVE_SIDES; side++)
        memcpy(best[side], b->home[side], (size_t)b->live->side[side].slots * sizeof best[side][0]);
}

// The homes with the lowest cost of all passes, into best. Returns the half passes it took.
static int run_batch(Batch *b, int iterations, int32_t *best[LIVE_SIDES]) {
    double lowest = batch_cost(b);
    int found = 0;
    keep(b, best);
    for (int half = 1; half <= 2 * iterations; half++) {
        if (half % 2 == 1)
            pass_over_all_hyperedges(b);
        else
            pass_over_all_nodes(b);
        if (batch_cost(b) >= lowest)
            continue;
        lowest = batch_cost(b);
        found = half;
        keep(b, best);
    }
    return found;
}

// C6: refining everything is batch label propagation, of which the best is kept; the cost is that
// of C.1.
TEST(refining_all_is_batch_label_propagation) {
    int64_t halves = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        SrpOptions options = srp_defaults(PARTS);
        Planted planted = planted_new(400, 400, 24, seed % 2 == 0 ? 0.95 : 0.7, seed);
        Batch batch;
        options.during = false;
        options.iterations = 4;
        options.epsilon = PARTS; // no part is above the bound
        options.score = seed % 3 == 0 ? "random" : "thesis";
        CLEARED(srp_drop) Srp *srp = srp_made(options);
        planted_by_hyperedges(&planted, srp);
        batch_take(&batch, srp);
        assert_near(batch_cost(&batch), srp_cost(srp), 1e-12);
        int32_t *best[LIVE_SIDES] = {TEST_ARRAY(int32_t, 400), TEST_ARRAY(int32_t, 400)};
        halves += run_batch(&batch, options.iterations, best);
        srp_settle(srp);
        for (int side = 0; side < LIVE_SIDES; side++) {
            for (int32_t x = 0; x < srp_live(srp)->side[side].slots; x++)
                assert_int_equal(srp_home(srp, side, x), best[side][x]);
        }
        srp_unsettle(srp);
    }
    assert_true(halves > 12 * 4); // more than two passes were worth while
}

// No run of the window leaves a higher cost than it found, whatever the scores and the votes are.
TEST(no_run_raises_the_cost) {
    int lowered = 0, undone = 0;
    for (int i = 0; i < 3 * srp_score_family.count; i++) {
        SrpOptions options = srp_defaults(PARTS);
        Dice dice = {(uint64_t)i};
        RandomEvent event;
        options.score = family_word(&srp_score_family, i % srp_score_family.count);
        options.window_votes = i / srp_score_family.count == 1;
        options.window_balance = i / srp_score_family.count == 2;
        options.window = 100000; // runs only here
        CLEARED(srp_drop) Srp *srp = srp_made(options);
        srp_live(srp)->strict = false;
        for (int n = 0; n < 3000; n++) {
            random_event(&event, &dice, 300);
            srp_given(srp, &event.event);
            if (n % 100 != 99)
                continue;
            double before = srp_cost(srp);
            int64_t taken_back = srp_totals(srp).undone;
            window_refine(srp);
            srp->move_count = 0;
            assert_true(srp_cost(srp) <= before);
            lowered += srp_cost(srp) < before;
            undone += srp_totals(srp).undone > taken_back;
        }
        assert_counted(srp, PARTS);
    }
    assert_true(lowered > 100 && undone > 100);
}

// Components that fit into parts are not cut.
TEST(separate_blocks_are_found) {
    SrpOptions options = srp_defaults(PARTS);
    uint64_t other[4];
    options.window = 1000;
    CLEARED(srp_drop) Srp *srp = srp_made(options);
    Dice dice = {7};
    for (uint64_t h = 0; h < 600; h++) {
        uint64_t block = h % PARTS, count = 0;
        while (count < 4) {
            uint64_t v = block * 100 + (uint64_t)dice_below(&dice, 30);
            bool is_new = true;
            for (uint64_t i = 0; i < count; i++)
                is_new = is_new && other[i] != v;
            if (is_new)
                other[count++] = v;
        }
        srp_given(srp, &(Event){EVENT_HYPEREDGE, h, 4, other, false, 1, ""});
    }
    srp_settle(srp);
    assert_int_equal(srp_totals(srp).replicas, 0);
    srp_unsettle(srp);
}

// ---- the window against a list of the nodes by their last touch

enum { TOUCHED = 300, WINDOW = 40 };
typedef struct Touches {
    int64_t last[TOUCHED]; // by slot; 0: never, or gone
    int64_t now;
} Touches;

static void touch(Touches *t, Srp *srp, const Event *event) {
    bool of_node = event->kind == EVENT_NODE;
    for (int64_t i = 0; !of_node && i < event->count; i++) {
        int32_t slot = live_find(srp_live(srp), SIDE_NODE, event->other[i]);
        t->last[slot] = ++t->now;
    }
    if (of_node)
        t->last[live_find(srp_live(srp), SIDE_NODE, event->id)] = ++t->now;
}

// The window's nodes are those that were touched last, in that order; only they move.
TEST(the_window_has_the_last_nodes) {
    SrpOptions options = srp_defaults(PARTS);
    Dice dice = {5};
    Touches touches = {0};
    int longer = 0, moved = 0;
    uint64_t other[4];
    options.window = WINDOW;
    options.iterations = 1; // so that nodes have moved in the last pass
    options.score = "thesis";
    CLEARED(srp_drop) Srp *srp = srp_made(options);
    for (uint64_t n = 0; n < 4000; n++) {
        int64_t runs = srp_totals(srp).runs;
        int32_t before[TOUCHED];
        bool inside[TOUCHED];
        for (int32_t v = 0; v < srp->slots[SIDE_NODE]; v++) {
            before[v] = srp_home(srp, SIDE_NODE, v);
            inside[v] = placed_at(srp, SIDE_NODE, v)->seat != 0;
        }
        int64_t known = srp->slots[SIDE_NODE];
        for (int i = 0; i < 4; i++)
            other[i] = (n / 8 + n / 400 * (uint64_t)i) % 6 * 48 + 12 * (uint64_t)i +
                       (uint64_t)dice_below(&dice, 12);
        Event event = {n % 5 == 4 ? EVENT_NODE : EVENT_HYPEREDGE, n, 4, other, false, 1, ""};
        if (event.kind == EVENT_NODE) {
            event.id = other[3];
            event.count = 1;
            other[0] = n - 1;
        }
        srp_given(srp, &event);
        touch(&touches, srp, &event);
        int64_t candidates = srp->slots[SIDE_NODE] - known; // new ones
        for (int32_t v = 0; v < known; v++) {
            bool now_inside = inside[v] || touches.last[v] > touches.now - 4;
            candidates += now_inside;
            moved += srp_home(srp, SIDE_NODE, v) != before[v];
            assert_true(now_inside || srp_home(srp, SIDE_NODE, v) == before[v]);
        }
        window_close_gaps(srp);
        const int32_t *slot = slot_list_at(&srp->window);
        for (int64_t i = 1; i < srp->window.count; i++)
            assert_true(touches.last[slot[i - 1]] < touches.last[slot[i]]);
        assert_true(srp->window.count <= 2 * WINDOW);
        if (srp_totals(srp).runs > runs) { // the younger half has stayed, and what moved last
            int64_t younger = candidates < WINDOW / 2 ? candidates : WINDOW / 2;
            assert_true(srp->window.count >= younger);
            longer += srp->window.count > WINDOW / 2;
        }
    }
    assert_true(longer > 1 && moved > 50);
    assert_counted(srp, PARTS);
}

// However long a node goes on moving, it leaves two windows behind the last one that came. Every
// node is said to have moved in the last pass here, so that only its age lets it go.
TEST(nodes_that_move_leave_after_two_windows) {
    SrpOptions options = srp_defaults(PARTS);
    options.window = 10;
    CLEARED(srp_drop) Srp *srp = srp_made(options);
    for (uint64_t n = 0; n < 100; n++) {
        int64_t runs = srp_totals(srp).runs;
        for (int32_t v = 0; v < srp->slots[SIDE_NODE]; v++)
            placed_at(srp, SIDE_NODE, v)->moved = true;
        srp_given(srp, &(Event){EVENT_HYPEREDGE, n, 1, &n, false, 1, ""});
        if (n >= 20 && srp_totals(srp).runs > runs)
            assert_int_equal(srp->window.count, 20);
    }
    assert_int_equal(srp_totals(srp).runs, 20);
}

// Entries of nodes that are gone leave the window, and their slots may be used again.
TEST(the_window_survives_deletions) {
    SrpOptions options = srp_defaults(PARTS);
    options.window = 16;
    CLEARED(srp_drop) Srp *srp = srp_made(options);
    for (uint64_t n = 0; n < 5000; n++) {
        uint64_t other[2] = {n, n + 1};
        srp_given(srp, &(Event){EVENT_HYPEREDGE, n, 2, other, false, 1, ""});
        if (n >= 3)
            srp_given(srp, &(Event){EVENT_NO_NODE, n - 3, 0, NULL, false, 1, ""});
        window_close_gaps(srp);
        assert_true(srp->window.count <= srp_live(srp)->side[SIDE_NODE].count);
    }
    assert_true(srp_live(srp)->side[SIDE_NODE].slots < 20);
    assert_true(srp_totals(srp).runs > 500);
    assert_counted(srp, PARTS);
}

// A node in every hyperedge, and a large window of changes: no event waits long for phase 2.
TEST(no_event_takes_more_than_its_share_of_work) {
    enum { FEW = 64, PINS = 4 };
    SrpOptions options = srp_defaults(PARTS);
    Dice dice = {9};
    int64_t most = 0;
    uint64_t other[PINS + 1];
    options.window = FEW;
    options.score = "thesis";
    CLEARED(srp_drop) Srp *srp = srp_made(options);
    for (uint64_t n = 0; n < 20000; n++) {
        for (int i = 0; i < PINS; i++)
            other[i] = 1 + (uint64_t)i * 1000 + (uint64_t)dice_below(&dice, 1000);
        other[PINS] = 0;
        int64_t before = srp_totals(srp).work;
        srp_given(srp, &(Event){EVENT_HYPEREDGE, n, PINS + 1, other, false, 1, ""});
        most = srp_totals(srp).work - before > most ? srp_totals(srp).work - before : most;
    }
    assert_true(srp_totals(srp).runs > 1000);
    // forward and back; the last move may go over, by what a fourth of the work allows
    assert_true(most <= 2 * (32 + 8) * FEW + 100);
    assert_counted(srp, PARTS);
}
