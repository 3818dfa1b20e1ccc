// ranks: 1
// If this fails, phase 2 moves nodes or hyperedges that (3.13) and (3.14) do not move, or makes a
// partition worse.
#include "recount.h"

#include "srp/internal.h"

#include <math.h>

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
        b->home[side] = calloc((size_t)b->live->side[side].slots, sizeof(int32_t));
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

static int batch_pass(Batch *b) {
    int64_t count[PARTS], sum = 0;
    int moves = 0;
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
        moves += best != now;
    }
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
        moves += best != now;
    }
    return moves;
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

// C6: refining everything is batch label propagation; the cost is that of C.1.
static void refining_all_is_batch_label_propagation(void **state) {
    (void)state;
    int all_kept = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        SrpOptions options = srp_defaults(PARTS);
        Planted planted = planted_new(400, 400, 24, seed % 2 == 0 ? 0.95 : 0.7, seed);
        Batch batch;
        options.during = false;
        options.iterations = 1;
        options.score = seed % 3 == 0 ? "random" : "thesis";
        Srp *srp = srp_made(options);
        planted_by_hyperedges(&planted, srp);
        batch_take(&batch, srp);
        assert_near(batch_cost(&batch), srp_cost(srp), 1e-12);
        double before = srp_cost(srp);
        assert_true(batch_pass(&batch) > 0);
        srp_settle(srp);
        if (batch_cost(&batch) < before) { // nothing was taken back
            bool kept = true;
            for (int side = 0; side < LIVE_SIDES; side++)
                for (int32_t x = 0; x < srp_live(srp)->side[side].slots; x++)
                    kept = kept && srp_home(srp, side, x) == batch.home[side][x];
            assert_true(kept || srp_cost(srp) < batch_cost(&batch));
            all_kept += kept;
        }
        assert_true(srp_cost(srp) <= before);
        srp_unsettle(srp);
        free(batch.home[SIDE_NODE]);
        free(batch.home[SIDE_HYPEREDGE]);
        srp_free(srp);
        planted_free(&planted);
    }
    assert_true(all_kept >= 6);
}

// No run of the window leaves a higher cost than it found, whatever the scores and the votes are.
static void no_run_raises_the_cost(void **state) {
    (void)state;
    int lowered = 0, undone = 0;
    for (int i = 0; i < 3 * srp_score_family.count; i++) {
        SrpOptions options = srp_defaults(PARTS);
        Dice dice = {(uint64_t)i};
        RandomEvent event;
        options.score = family_word(&srp_score_family, i % srp_score_family.count);
        options.window_votes = i / srp_score_family.count == 1;
        options.window_balance = i / srp_score_family.count == 2;
        options.window = 100000; // runs only here
        Srp *srp = srp_made(options);
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
        srp_free(srp);
    }
    assert_true(lowered > 100 && undone > 100);
}

// Components that fit into parts are not cut.
static void separate_blocks_are_found(void **state) {
    (void)state;
    SrpOptions options = srp_defaults(PARTS);
    uint64_t other[4];
    options.window = 1000;
    Srp *srp = srp_made(options);
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
    srp_free(srp);
}

// Entries of nodes that are gone leave the window, and their slots may be used again.
static void the_window_survives_deletions(void **state) {
    (void)state;
    SrpOptions options = srp_defaults(PARTS);
    options.window = 16;
    Srp *srp = srp_made(options);
    for (uint64_t n = 0; n < 5000; n++) {
        uint64_t other[2] = {n, n + 1};
        srp_given(srp, &(Event){EVENT_HYPEREDGE, n, 2, other, false, 1, ""});
        if (n >= 3)
            srp_given(srp, &(Event){EVENT_NO_NODE, n - 3, 0, NULL, false, 1, ""});
        assert_true(srp->window.count <= 3 * options.window);
    }
    assert_true(srp_live(srp)->side[SIDE_NODE].slots < 20);
    assert_true(srp_totals(srp).runs > 500);
    assert_counted(srp, PARTS);
    srp_free(srp);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(refining_all_is_batch_label_propagation),
                                          cmocka_unit_test(no_run_raises_the_cost),
                                          cmocka_unit_test(separate_blocks_are_found),
                                          cmocka_unit_test(the_window_survives_deletions)};
TEST_MAIN(tests)
