// If this failed, fringe plan would extrapolate cuts by another law than docs/plan.md states, or
// add up other work and other messages than an epoch has.
#include "fringe/plan.h"
#include "support.h"
#include "write_shards.h"

enum { PATH_NODES = 64, FEATURES = 6, HIDDEN = 16, CLASSES = 4 };

TEST(curves_are_straight_in_logarithms) {
    const double x[] = {2, 4, 8}, y[] = {10, 20, 80}, none[] = {0, 0, 5};
    assert_near(plan_curve(x, y, 3, 2), 10, 1e-9);
    assert_near(plan_curve(x, y, 3, 4), 20, 1e-9);
    assert_near(plan_curve(x, y, 3, sqrt(32)), 40, 1e-9); // halfway between 4 and 8
    assert_near(plan_curve(x, y, 3, 16), 320, 1e-9);      // the last line goes on: times 4
    assert_near(plan_curve(x, y, 3, 1), 5, 1e-9);         // and the first
    assert_near(plan_curve(x, y, 1, 7), 10, 1e-9);        // one point only
    assert_near(plan_curve(x, none, 3, 3), 0, 1e-9);
    assert_near(plan_curve(x, none, 3, 8), 5, 1e-9);
}

// A path 0 - 1 - 2 - ... cut into blocks: a part reads one row at each of its ends.
static void make_path(Dataset *d) {
    *d = (Dataset){.nodes = PATH_NODES, .features = FEATURES, .classes = CLASSES};
    snprintf(d->name, sizeof d->name, "path");
    d->offset = ALLOC(int64_t, PATH_NODES + 1, "test");
    d->target = ALLOC(int32_t, 2 * PATH_NODES, "test");
    d->x = ALLOC(float, PATH_NODES *FEATURES, "test");
    d->label = ALLOC(int32_t, PATH_NODES, "test");
    d->split = ALLOC(uint8_t, PATH_NODES, "test");
    for (int i = 0; i < PATH_NODES; i++) {
        d->split[i] = SPLIT_TRAIN;
        if (i > 0)
            d->target[d->edges++] = i - 1;
        if (i + 1 < PATH_NODES)
            d->target[d->edges++] = i + 1;
        d->offset[i + 1] = d->edges;
    }
}

// In blocks, or node by node in turn.
static void open_cut_path(PlanCut *cut, int parts, bool in_turn) {
    OWNED(Dataset) dataset = {0};
    int32_t part[PATH_NODES];
    const char *folder = test_path(test_text("path-%d-%d", parts, in_turn));
    make_path(&dataset);
    for (int i = 0; i < PATH_NODES; i++)
        part[i] = in_turn ? i % parts : i * parts / PATH_NODES;
    file_remove(folder, &(Error){0});
    assert_ok(test_write_shards(&dataset, part, parts, false, folder, &err));
    assert_ok(plan_cut_open(cut, folder, parts, &err));
}

static void open_path(PlanCut *cut, int parts) { open_cut_path(cut, parts, false); }

static Config config_with(const char *more) {
    return CONFIGURED("mode=vanilla", "model.layers=2", "model.hidden=[16]",
                      "partition.method=blocks", more);
}

TEST(parts_are_cut_again) {
    CLEARED(plan_cut_clear) PlanCut cut = {0};
    PartPieces pieces;
    Config config = config_with("partition.method=blocks");
    open_path(&cut, 2);
    assert_near(cut.halo, 2, 0);
    assert_near(cut.crossing, 2, 0);
    assert_near(cut.balance, 1, 0);
    assert_ok(partition_cut_again(&pieces, &cut.shard[0], 1, &config, &err));
    assert_int_equal(pieces.halo, 1); // row 32, of the other part
    assert_int_equal(pieces.largest, 32);
    // rows stand in the order of the shard, so blocks need not be neighbours on the path: count by
    // hand that every piece reads what its edges need
    assert_ok(partition_cut_again(&pieces, &cut.shard[0], 32, &config, &err));
    assert_int_equal(pieces.halo, 63);     // single nodes read both neighbours, node 0 only one
    assert_int_equal(pieces.crossing, 63); // every edge
    assert_int_equal(pieces.marginal, 32);
    assert_int_equal(pieces.largest, 1);
    assert_refused(partition_cut_again(&pieces, &cut.shard[0], 33, &config, &err), EXIT_DATA,
                   "a part of 32 nodes cannot be cut into 33 pieces");
}

TEST(rows_that_are_read_twice_count_once) {
    CLEARED(plan_cut_clear) PlanCut cut = {0};
    PartPieces pieces;
    Config config = config_with("partition.method=blocks");
    open_cut_path(&cut, 2, true); // even nodes read the odd ones on both sides
    assert_ok(partition_cut_again(&pieces, &cut.shard[0], 1, &config, &err));
    assert_int_equal(pieces.halo, 32);
    assert_int_equal(pieces.crossing, 63);
    assert_int_equal(pieces.marginal, 32);
}

TEST(growth_saturates) {
    CLEARED(plan_cut_clear) PlanCut base = {0}, cut = {0};
    PlanGrowth growth = {2, {2, 4}, {2, 1e9}, {2, 1e9}, {2, 1e9}, {1, 1}};
    Config config = config_with("lossless.cover=sources");
    PatternKind kind = {.target_hops = HOPS_ALL, .source_hops = HOPS_ALL};
    open_path(&base, 2);
    assert_ok(plan_cut_estimate(&cut, &base, &growth, 4, &err));
    assert_false(cut.checked);
    const PatternCounts *c = assert_ok(plan_cut_counts(&cut, &kind, false, &config, &err));
    assert_non_null(c);
    int64_t received = 0;
    for (int g = 0; g < 3; g++)
        received += c->received[g];
    assert_int_equal(c->rows, 16);
    assert_int_equal(c->own_entries, 0); // every edge crosses: 126 of 4 ranks
    assert_int_equal(c->boundary, 32);
    assert_true(received <= 32); // no more rows than edges that read them
    assert_int_equal(c->halo_rows, 16);
    assert_refused(plan_cut_estimate(&cut, &base, &growth, PATH_NODES + 1, &err), EXIT_DATA,
                   "fewer than 65 ranks");
}

static const PlanMachine slow = {.ranks_per_host = 1,
                                 .cores = 1,
                                 .bandwidth = 1000,
                                 .latency = 0.25,
                                 .speed = {1e6, 1e30, 1e30, 1e30, 1e30, 1e30}};

static PlanEstimate *estimate_of(PlanCut *cut, const char *more, const PlanMachine *machine) {
    static PlanEstimate out;
    Config config = config_with(more);
    assert_ok(plan_estimate(&out, &config, cut, machine, &err));
    return &out;
}

TEST(products_are_counted) {
    CLEARED(plan_cut_clear) PlanCut cut = {0};
    open_path(&cut, 1);
    const PlanEstimate *e = estimate_of(&cut, "model.layer=gcn", &slow);
    // A0 W0 and its dW; A1 W1, its dW and its dA: 2 n in out operations each
    double flops = 2.0 * PATH_NODES * (2 * FEATURES * HIDDEN + 3 * HIDDEN * CLASSES);
    assert_near(e->time.dense, flops / 1e6, 1e-9);
    assert_near(e->bytes, 0, 0);
    assert_near(e->time.messages + e->time.reduce, 0, 1e-20);
}

TEST(messages_are_counted) {
    CLEARED(plan_cut_clear) PlanCut cut = {0};
    PlanMachine one_host = slow, twice = slow;
    one_host.ranks_per_host = 2;
    twice.latency *= 2;
    open_path(&cut, 2);
    // three exchanges (layer 0 forward, layer 1 both ways), a row each way in one round each; the
    // larger message is what the link takes
    double rows[] = {64 + 4 * FEATURES, 64 + 4 * HIDDEN, 64 + 4 * HIDDEN}, bytes = 0, seconds = 0;
    for (int i = 0; i < 3; i++) {
        bytes += 2 * rows[i];
        seconds += fmax(rows[i] / 1000, 0.25 / 4) + 0.25;
    }
    const PlanEstimate *e = estimate_of(&cut, "comm.schedule=blocking", &slow);
    assert_near(e->bytes, bytes, 1e-9);
    assert_near(e->rows, 6, 0);
    assert_near(e->time.messages, seconds, 1e-9);
    assert_near(e->time.hidden, 0, 0);
    double reduce = e->time.reduce;
    assert_true(estimate_of(&cut, "comm.schedule=blocking", &twice)->time.messages > seconds);
    // inside a host nothing takes the link
    e = estimate_of(&cut, "comm.schedule=blocking", &one_host);
    assert_true(e->time.messages < 1e-9 && e->time.reduce < 1e-9 && reduce > 0.5);
    // what is hidden and what is not are the same seconds together
    e = estimate_of(&cut, "comm.schedule=overlap", &slow);
    assert_true(e->time.hidden > 0);
    assert_near(e->time.hidden + e->time.messages, seconds, 1e-9);
    // an epoch of stale takes the larger of its messages and its computation
    e = estimate_of(&cut, "comm.schedule=stale", &slow);
    double computes = e->time.dense + e->time.aggregate + e->time.pointwise + e->time.pack;
    assert_near(plan_time_total(&e->time) - e->time.reduce, fmax(computes, seconds), 1e-9);
    assert_near(e->time.hidden, fmin(computes, seconds), 1e-9);
    assert_near(e->time.messages, fmax(0, seconds - computes), 1e-9);
}

// The most memory that was ever in use, once the speeds of that precision are measured.
static size_t measured_peak(const PlanCut *cut, const char *precision) {
    PlanSpeed speed;
    Config config = config_with(precision);
    assert_ok(plan_measure(&speed, &config, cut->shard, &err));
    const double all[] = {speed.flops, speed.gather, speed.point,
                          speed.loss,  speed.pack,   speed.unpack};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_true(isfinite(all[i]) && all[i] > 0);
    return memory_peak();
}

TEST(speeds_are_those_of_the_rows_that_a_training_keeps) {
    CLEARED(plan_cut_clear) PlanCut cut = {0};
    open_path(&cut, 1);
    size_t bf16 = measured_peak(&cut, "run.precision=bf16");
    assert_true(measured_peak(&cut, "run.precision=fp32") > bf16);
}

static double mean_width(const char *more) {
    double share[WIDTH_MOST + 1], sum = 0, bits = 0;
    PatternCounts counts[2];
    Config config = CONFIGURED("mode=adaqp", more);
    for (int r = 0; r < 2; r++) {
        pattern_counts_init(&counts[r], 2);
        counts[r].sent[0] = 5000;
    }
    plan_widths(share, &config, counts, 2, 256, &slow);
    for (int b = 1; b <= WIDTH_MOST; b++) {
        sum += share[b];
        bits += b * share[b];
    }
    for (int r = 0; r < 2; r++)
        pattern_counts_clear(&counts[r]);
    assert_near(sum, 1, 1e-9);
    return bits;
}

TEST(widths_follow_the_rule) {
    assert_near(mean_width("quantization.assign=uniform"), 8, 1e-9);  // initial_bits
    assert_near(mean_width("quantization.assign=random"), 4.5, 1e-9); // of 1 to 8
    assert_near(mean_width("quantization.lambda=1"), 8, 1e-9);        // noise alone counts
    assert_near(mean_width("quantization.lambda=0"), 1, 1e-9);        // time alone counts
    double between = mean_width("quantization.lambda=0.9");
    assert_true(between > 1 && between < 8);
    assert_true(mean_width("quantization.lambda=0.5") < between);
}

TEST(pictures_tell_checked_from_extrapolated) {
    PlanLine line = {"a<b", 3, {{1, true, 0.1, 1e9}, {2, true, 0.2, 1e9}, {4, false, 0.3, 1e8}}};
    const char *path = test_path("plan.svg");
    assert_ok(plan_svg(path, "p & q", &line, 1, &err));
    char *text = test_read(path, NULL);
    assert_non_null(text);
    assert_non_null(strstr(text, "class=\"checked\""));
    assert_non_null(strstr(text, "class=\"extrapolated\""));
    assert_non_null(strstr(text, "a&#60;b"));
    assert_non_null(strstr(text, "p &#38; q"));
    assert_null(strstr(text, "nan"));
}
