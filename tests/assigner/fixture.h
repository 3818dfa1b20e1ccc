// An AssignerFixture: three channels as a model of two layers has them, messages by arithmetic, and
// exchanges that check themselves (cells.h tells the same densely). Static functions: only tests of
// this module need it.
#pragma once

#include "codec_values.h"
#include "rows.h"
#include "small_graph.h"

#include "assigner/internal.h"

enum { CHANNELS = 3, PERIOD = 4, DELAY = 2 };

typedef struct Scene {
    const char *name;
    TestGraphKind graph;
    const char *normalisation;
    bool bf16;
    Cover cover;
} Scene;

// The last rank has no rows, where there are several.
static inline int but_the_last(int64_t node, int parts) {
    return (int)(node * 7 % (parts > 1 ? parts - 1 : 1));
}
// Nobody sends to or hears from anybody but the two first.
static inline int two_only(int64_t node, int parts) { return parts > 1 ? (int)(node % 3 == 0) : 0; }

#define GRAPH(count, edges, columns, ...)                                                          \
    { .nodes = (count), .degree = (edges), .features = (columns), .classes = 5, __VA_ARGS__ }
#define DIRECTED .directed = true
#define WEIGHTED .weighted = true
static const Scene scenes[] = {
    {"symmetric", GRAPH(97, 6, 13), "gcn", true, COVER_SOURCES},
    {"directed", GRAPH(97, 6, 13, DIRECTED), "mean", false, COVER_SOURCES},
    {"weighted, a rank without rows", GRAPH(97, 6, 33, WEIGHTED, .cut = but_the_last), "gcn", false,
     COVER_SOURCES},
    {"directed, weighted, two ranks of all", GRAPH(61, 5, 13, DIRECTED, WEIGHTED, .cut = two_only),
     "gcn-in", true, COVER_SOURCES},
    {"partial sums", GRAPH(97, 6, 13), "gcn", true, COVER_MIN},
    {"partial sums, directed, weighted", GRAPH(97, 6, 33, DIRECTED, WEIGHTED), "gcn", false,
     COVER_MIN},
    {"edges stored twice", GRAPH(97, 6, 13, .twice = TWICE_STORED), "gcn", true, COVER_SOURCES},
    {"edges stored twice, partial sums, directed, weighted",
     GRAPH(97, 6, 33, DIRECTED, WEIGHTED, .twice = TWICE_STORED), "gcn", false, COVER_MIN},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

typedef struct AssignerFixture {
    TestGraph graph;
    Block block, transposed;
    bool bf16;
    ExchangeBuffers *buffers;
    Channel *channel[CHANNELS];
    AssignedChannel of[CHANNELS];
    float *right; // [own] powers of two, so that a scaled row is exact
} AssignerFixture;

// A partial sum is scaled already; its id is -1 - its target (halo.h).
static inline float right_of(int64_t gid) { return gid < 0 ? 1 : exp2f((float)(gid % 5 - 2)); }

static float loudness = 1; // of every 13th node

// A row's scale is of one of 11 octaves, so that rows differ in what their noise counts. A partial
// sum has numbers of its own: what it adds up is the aggregate's business.
static inline float value_of(const Channel *channel, int64_t gid, int64_t column, uint32_t epoch) {
    RandomKey key = random_key(3, RANDOM_GENERATE, epoch, 7, channel_columns(channel) % 2 == 0);
    float u = (float)random_uniform32(key, gid, 0, column);
    int64_t node = gid < 0 ? -1 - gid : gid;
    return exp2f((float)(node * 5 % 11 - 5)) * (2 * u - 0.5F) * (node % 13 == 0 ? loudness : 1);
}

static inline void fixture_init(AssignerFixture *fixture, const Scene *scene, int first_width) {
    *fixture = (AssignerFixture){.bf16 = scene->bf16};
    fixture->graph = test_graph(scene->graph, 42, &test_comm);
    test_graph_cover(&fixture->graph, scene->cover);
    assert_ok(block_init(&fixture->block, scene->normalisation, fixture->graph.forward,
                         &fixture->graph.shard, &err));
    fixture->transposed = block_transpose(&fixture->block, fixture->graph.backward);
    const Pattern *patterns[CHANNELS] = {fixture->graph.forward, fixture->graph.forward,
                                         fixture->graph.backward};
    const int64_t columns[CHANNELS] = {scene->graph.features, 16, 5};
    CodecOptions options = {.codec = assert_ok(codec_find("integer", &err)),
                            .values = integer_values(scene->bf16),
                            .width = first_width,
                            .chunk = 1000};
    fixture->buffers = exchange_buffers_new(device());
    for (int i = 0; i < CHANNELS; i++) {
        ExchangeId id = {i > 0, i == 2 ? BACKWARD : FORWARD};
        fixture->channel[i] =
            channel_new(fixture->buffers, &patterns[i]->plan, &options, columns[i], id);
        fixture->of[i] = (AssignedChannel){
            .channel = fixture->channel[i],
            .id = id,
            .block = i == 2 ? &fixture->transposed : &fixture->block,
            .before_post = i == 1 && scene->cover == COVER_SOURCES,
        };
    }
    fixture->right = TEST_ARRAY(float, fixture->graph.shard.set[NODES].own);
    for (int64_t r = 0; r < fixture->graph.shard.set[NODES].own; r++)
        fixture->right[r] = right_of(fixture->graph.shard.set[NODES].gid[r]);
}

static inline void fixture_clear(AssignerFixture *fixture) {
    for (int i = 0; i < CHANNELS; i++)
        channel_free(fixture->channel[i]);
    exchange_buffers_free(fixture->buffers);
    block_clear(&fixture->block);
    test_graph_clear(&fixture->graph);
}

// A `fixture`, and a `config` that the test may change before its assigner is made.
#define FIXTURE(scene, first_width)                                                                \
    CLEARED(fixture_clear) AssignerFixture fixture = {0};                                          \
    Config config = config_of();                                                                   \
    fixture_init(&fixture, (scene), (first_width))

static inline Config config_of(void) {
    Config config = CONFIGURED();
    config.quantization.period = PERIOD;
    config.quantization.delay = DELAY;
    config.quantization.group_size = 5;
    config.quantization.link = (ConfigDoubles){2, {1e-8, 1e-6}};
    snprintf(config.quantization.solver, CONFIG_WORD, "exact");
    return config;
}

static inline Assigner *assigner_of(AssignerFixture *fixture, const Config *config) {
    return assert_ok(assigner_new(config, &test_comm, 5, NULL, fixture->of, CHANNELS, &err));
}

// ---- exchanges that check themselves

typedef struct Look {
    Channel *channel;
    const uint8_t *bits; // [H] of the receive list
    uint32_t epoch;
    bool full_precision, bf16;
    int64_t mixed; // rows seen
} Look;

static inline void no_own_part(void *context, OwnPart part, const Poll *poll) {
    (void)context, (void)part, (void)poll;
}

// What a step may be: parameters in bf16 have 8 bits, and the minimum is rounded down.
static inline double step_of(const float *row, int64_t columns, int bits, bool bf16) {
    double low = INFINITY, high = -INFINITY, levels = (double)((1 << bits) - 1);
    for (int64_t c = 0; c < columns; c++) {
        low = fmin(low, (double)row[c]);
        high = fmax(high, (double)row[c]);
    }
    double down = bf16 ? ldexp(fabs(low), -7) : 0;
    return (high - low + down) / levels * (bf16 ? 1 + ldexp(1, -6) : 1 + ldexp(1, -20));
}

static inline int distinct(const float *row, int64_t columns) {
    int count = 0;
    for (int64_t c = 0; c < columns; c++) {
        bool seen = false;
        for (int64_t d = 0; d < c && !seen; d++)
            seen = row[d] == row[c];
        count += !seen;
    }
    return count;
}

static inline void look_at_row(Look *look, int64_t gid, int bits, const float *row) {
    int64_t columns = channel_columns(look->channel);
    float sent[64];
    assert_true(columns <= 64);
    for (int64_t c = 0; c < columns; c++)
        sent[c] = right_of(gid) * value_of(look->channel, gid, c, look->epoch);
    if (look->full_precision) {
        assert_memory_equal(row, sent, (size_t)columns * sizeof(float));
        return;
    }
    double step = step_of(sent, columns, bits, look->bf16);
    for (int64_t c = 0; c < columns; c++)
        if (!(fabs((double)row[c] - (double)sent[c]) <= step))
            fail_msg("node %lld, column %lld, %d bits: received %g, sent %g, step %g",
                     (long long)gid, (long long)c, bits, (double)row[c], (double)sent[c], step);
    if (bits <= 8 && distinct(row, columns) > 1 << bits)
        fail_msg("node %lld: more than %d values in %d bits", (long long)gid, 1 << bits, bits);
    look->mixed++;
}

static inline void halo_part(void *context, Rows received, int begin, int end, bool last,
                             const Poll *poll) {
    (void)last, (void)poll;
    Look *look = context;
    const HaloPlan *p = channel_halo_plan(look->channel);
    for (int64_t h = p->receive_offset[begin]; h < p->receive_offset[end]; h++)
        look_at_row(look, p->halo_id[h], look->bits[h], floats(received) + h * received.stride);
}

static inline int64_t row_bytes(int64_t columns, int bits, bool bf16) {
    return (bf16 ? 4 : 8) + true_bytes(columns, bits);
}

// Headers, parameters and payload of all messages that this rank sends (ALGORITHMS A.1).
static inline int64_t bytes_of(const Channel *channel, bool bf16) {
    const HaloPlan *p = channel_halo_plan(channel);
    const uint8_t *bits = channel_widths(channel, true);
    int64_t bytes = 0;
    for (int g = 0; g + 1 < p->size; g++)
        bytes += p->send_offset[g + 1] > p->send_offset[g] ? 64 : 0;
    for (int64_t k = 0; k < p->send_offset[p->size - 1]; k++)
        bytes += row_bytes(channel_columns(channel), bits[k], bf16);
    return bytes;
}

// Rows [count] of the ids from `gid` on.
static inline Rows rows_of(const Channel *channel, const int64_t *gid, int64_t count,
                           uint32_t epoch) {
    Rows rows = test_rows(count, channel_columns(channel));
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < rows.columns; c++)
            floats(rows)[r * rows.stride + c] = value_of(channel, gid[r], c, epoch);
    return rows;
}

static inline void exchange(const AssignerFixture *fixture, int which, uint32_t epoch,
                            bool full_precision) {
    static const char *const names[] = {"blocking", "overlap", "central"};
    Channel *channel = fixture->channel[which];
    const HaloPlan *p = channel_halo_plan(channel);
    Rows x = rows_of(channel, p->source_id, p->sources, epoch);
    Rows sums = rows_of(channel, p->source_id + p->sources, p->partials, epoch);
    Look look = {.channel = channel,
                 .bits = channel_widths(channel, false),
                 .epoch = epoch,
                 .full_precision = full_precision,
                 .bf16 = fixture->bf16};
    int64_t before = channel_count(channel).bytes_sent, takes = memory_allocs();
    assert_ok(schedule_find(names[epoch % 3], &err))
        ->run(channel, &(RowSource){x, on_device(fixture->right), sums},
              (ExchangeContext){.seed = 9, .epoch = epoch, .full_precision = full_precision},
              &(ExchangeWork){no_own_part, halo_part, &look});
    assert_int_equal(memory_allocs(), takes);
    if (!full_precision) {
        assert_int_equal(channel_count(channel).bytes_sent - before,
                         bytes_of(channel, fixture->bf16));
        assert_int_equal(look.mixed, p->halo_count);
    }
}

// One epoch as the trainer makes it. An exact exchange in between changes nothing.
static inline const Assignment *epoch_of(const AssignerFixture *fixture, Assigner *a,
                                         uint32_t epoch) {
    assert_ok(assigner_before(a, epoch, &err));
    for (int i = 0; i < CHANNELS; i++)
        exchange(fixture, i, epoch, false);
    const Assignment *assignment = assigner_after(a, epoch);
    for (int i = 0; i < CHANNELS; i++) {
        RangeStatistics *ranges = channel_ranges(fixture->channel[i]);
        int64_t rows = a->assigned[i].rows, exchanges = ranges->exchanges;
        float *square = TEST_ARRAY(float, rows);
        memcpy(square, ranges->square, (size_t)rows * sizeof *square);
        exchange(fixture, i, epoch, true);
        assert_memory_equal(square, ranges->square, (size_t)rows * sizeof *square);
        assert_int_equal(exchanges, ranges->exchanges);
    }
    return assignment;
}

static inline void epochs_of(const AssignerFixture *fixture, Assigner *a, uint32_t first,
                             uint32_t last) {
    for (uint32_t epoch = first; epoch <= last; epoch++)
        epoch_of(fixture, a, epoch);
}

// Widths of all rows after the first assignment, of a fixture that begins anew.
static inline void settle(AssignerFixture *fixture, const Config *config, const Scene *scene) {
    fixture_clear(fixture);
    fixture_init(fixture, scene, 3);
    CLEARED(assigner_drop) Assigner *a = assigner_of(fixture, config);
    epochs_of(fixture, a, 1, PERIOD + 1 + DELAY);
}
