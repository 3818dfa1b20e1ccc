// ranks: 1 2 4
// If this failed, something would still take the rows that are read and the rows that read for rows
// of one set, and no hypergraph could be trained: its two relations lead from one set to the other.
#include "rows.h"
#include "two_sets.h"

#include "assigner/internal.h"

enum { COLUMNS = 21, PERIOD = 4, DELAY = 2, EPOCHS = 8 };
static const Cover covers[] = {COVER_SOURCES, COVER_TARGETS, COVER_MIN};

// One relation with all that an aggregate over it needs. Relation 0 takes the mean over the pins of
// a hyperedge; relation 1 is its transpose, so that the other diagonal is used.
typedef struct Way {
    Pattern *pattern;
    Block block;
    Channel *channel;
    Aggregate *own, *partial;
    HaloAggregate *halo;
    Rows in, out, partials;
} Way;

typedef struct Hyper {
    Shard shard;
    ExchangeBuffers *buffers;
    Way way[2];
} Hyper;

static void way_init(Hyper *hyper, int r, Cover cover) {
    Way *way = &hyper->way[r];
    PatternKind kind = {r, HOPS_ALL, HOPS_ALL, cover};
    CodecOptions options = {
        .codec = assert_ok(codec_find("integer", &err)), .width = 8, .chunk = 1000};
    MemoryForecast forecast = {0};
    PatternBytes bound = pattern_bound(&hyper->shard, &kind, false);
    size_t before = memory_in_use();
    way->pattern = pattern_new(&hyper->shard, &kind, NULL, &test_comm);
    assert_true(memory_in_use() - before <= bound.kept + sizeof(Pattern) + 8192);
    pattern_forecast(&forecast, way->pattern);
    assert_true(memory_in_use() - before <= forecast_total(&forecast) + sizeof(Pattern) + 1024);
    const HaloPlan *p = &way->pattern->plan;
    if (r == 0)
        assert_ok(block_init(&way->block, "hyper-mean", way->pattern, &hyper->shard, &err));
    else
        way->block = block_transpose(&hyper->way[0].block, way->pattern);
    way->channel = channel_new(hyper->buffers, p, &options, COLUMNS, (ExchangeId){r, FORWARD});
    way->own = device()->aggregate_new(&way->pattern->own, p->sources, COLUMNS, ROWS_FP32, "rows");
    way->partial =
        device()->aggregate_new(&way->pattern->partial, p->sources, COLUMNS, ROWS_FP32, "rows");
    way->in = test_rows(p->sources, COLUMNS);
    way->out = test_rows(way->pattern->rows, COLUMNS);
    way->partials = test_rows(p->partials, COLUMNS);
    way->halo = device()->aggregate_halo_new(&way->pattern->halo, way->pattern->halo_row);
}

static void hyper_init(Hyper *hyper, Cover cover) {
    *hyper = (Hyper){.shard = two_sets(&test_comm), .buffers = exchange_buffers_new(device())};
    for (int r = 0; r < 2; r++)
        way_init(hyper, r, cover);
}

static void hyper_clear(Hyper *hyper) {
    for (int r = 0; r < 2; r++) {
        Way *way = &hyper->way[r];
        device()->aggregate_halo_free(way->halo);
        device()->aggregate_free(way->partial);
        device()->aggregate_free(way->own);
        channel_free(way->channel);
        pattern_free(way->pattern);
    }
    block_clear(&hyper->way[0].block);
    exchange_buffers_free(hyper->buffers);
}

// ---- the aggregate over one relation

static void own_part(void *context, OwnPart part, const Poll *poll) {
    Way *way = context;
    (void)part;
    device()->aggregate_prepare(way->own, way->in, on_device(way->block.right), poll);
    device()->aggregate_rows(way->own, way->out, (Range){0, way->pattern->rows}, false, NULL, poll);
}

static void halo_part(void *context, Rows received, int begin, int end, bool last,
                      const Poll *poll) {
    Way *way = context;
    const Pattern *p = way->pattern;
    (void)begin;
    device()->aggregate_halo(way->halo, way->out, received, NULL, p->plan.receive_offset[end], NULL,
                             poll);
    const float *left = way->block.left;
    for (int64_t i = 0; last && left != NULL && i < p->rows; i++)
        for (int64_t c = 0; c < COLUMNS; c++)
            floats(way->out)[i * way->out.stride + c] *= left[i];
}

static void aggregate(Way *way, uint32_t epoch, bool full_precision) {
    const Pattern *p = way->pattern;
    device()->aggregate_halo_begin(way->halo);
    device()->aggregate_prepare(way->partial, way->in, on_device(way->block.right), NULL);
    device()->aggregate_rows(way->partial, way->partials, (Range){0, p->plan.partials}, false, NULL,
                             NULL);
    RowSource rows = {
        .x = way->in, .right = on_device(way->block.right), .partials = way->partials};
    schedule_find("overlap", &(Error){0})
        ->run(way->channel, &rows,
              (ExchangeContext){.seed = 3, .epoch = epoch, .full_precision = full_precision},
              &(ExchangeWork){own_part, halo_part, way});
}

// Nodes are read by hyperedges and those by nodes again.
static void there_and_back(Hyper *hyper, uint32_t epoch, bool full_precision) {
    Way *there = &hyper->way[0], *back = &hyper->way[1];
    const RowSet *nodes = &hyper->shard.set[NODES];
    for (int64_t i = 0; i < nodes->own; i++)
        for (int64_t c = 0; c < COLUMNS; c++)
            floats(there->in)[i * there->in.stride + c] = (float)two_sets_draw(5, nodes->gid[i], c);
    aggregate(there, epoch, full_precision);
    memcpy(floats(back->in), floats(there->out), rows_bytes(there->out.count, COLUMNS));
    aggregate(back, epoch, full_precision);
}

// ---- the same told densely

typedef struct Dense {
    double *x[3]; // of nodes, of hyperedges, of nodes again: [rows, COLUMNS]
} Dense;

static double degree_of(int64_t hyperedge) {
    double sum = 0;
    for (int64_t v = 0; v < totals[NODES]; v++)
        sum += (double)pins[hyperedge][v];
    return sum == 0 ? 1 : sum;
}

static Dense dense_init(void) {
    Dense d;
    draw_pins();
    for (int i = 0; i < 3; i++)
        d.x[i] = TEST_ARRAY(double, (int64_t)totals[i % 2] * COLUMNS);
    for (int64_t i = 0; i < (int64_t)totals[NODES] * COLUMNS; i++)
        d.x[0][i] = (double)(float)two_sets_draw(5, i / COLUMNS, i % COLUMNS);
    for (int64_t h = 0; h < totals[HYPEREDGES]; h++) {
        double *mean = d.x[1] + h * COLUMNS, degree = degree_of(h);
        for (int64_t v = 0; v < totals[NODES]; v++)
            for (int64_t c = 0; c < COLUMNS; c++)
                mean[c] += (double)pins[h][v] / degree * d.x[0][v * COLUMNS + c];
        for (int64_t v = 0; v < totals[NODES]; v++)
            for (int64_t c = 0; c < COLUMNS; c++)
                d.x[2][v * COLUMNS + c] += (double)pins[h][v] / degree * mean[c];
    }
    return d;
}

// The largest difference of an entry, over all ranks.
static double difference(const Hyper *hyper, int r, const Dense *d) {
    const RowSet *set = &hyper->shard.set[hyper->shard.relation[r].to];
    Rows out = hyper->way[r].out;
    double most = 0;
    assert_int_equal(out.count, set->own);
    for (int64_t i = 0; i < set->own; i++)
        for (int64_t c = 0; c < COLUMNS; c++)
            most = fmax(most, fabs((double)floats(out)[i * out.stride + c] -
                                   d->x[r + 1][set->gid[i] * COLUMNS + c]));
    return comm_max_double(&test_comm, most);
}

// ---- random numbers

// The steps of the grid on which a received row lies, at 2 bits: its ends are on the grid.
static void codes_of(int codes[COLUMNS], const float *row) {
    float least = row[0], most = row[0];
    for (int c = 1; c < COLUMNS; c++) {
        least = fminf(least, row[c]);
        most = fmaxf(most, row[c]);
    }
    for (int c = 0; c < COLUMNS; c++)
        codes[c] = (int)lroundf((row[c] - least) / (most - least) * 3);
}

// Sends the same numbers as every row of a relation, in 2 bits. Returns the halo rows.
static float *send_alike(Way *way) {
    const HaloPlan *p = &way->pattern->plan;
    int64_t sent = p->send_offset[p->size - 1], most = sent > p->halo_count ? sent : p->halo_count;
    uint8_t *bits = TEST_ARRAY(uint8_t, most);
    memset(bits, 2, (size_t)most);
    channel_set_widths(way->channel, bits, bits);
    for (int64_t i = 0; i < p->sources; i++)
        for (int64_t c = 0; c < COLUMNS; c++)
            floats(way->in)[i * way->in.stride + c] = (float)two_sets_draw(6, 0, c);
    aggregate(way, 1, false);
    return host_rows(channel_rows(way->channel)); // both ways share buffers
}

// The id of a hyperedge may be that of a node. Their layers keep their random numbers apart.
static int64_t rows_rounded_alike(const Hyper *hyper, float *const row[2], int64_t *pairs) {
    int64_t alike = 0;
    const HaloPlan *p[2] = {&hyper->way[0].pattern->plan, &hyper->way[1].pattern->plan};
    for (int64_t i = 0; i < p[0]->halo_count; i++)
        for (int64_t k = 0; k < p[1]->halo_count; k++) {
            int codes[2][COLUMNS];
            if (p[0]->halo_id[i] != p[1]->halo_id[k])
                continue;
            codes_of(codes[0], row[0] + i * COLUMNS);
            codes_of(codes[1], row[1] + k * COLUMNS);
            alike += memcmp(codes[0], codes[1], sizeof codes[0]) == 0;
            ++*pairs;
        }
    return alike;
}

// ---- tests

TEST(equal_ids_of_two_sets_are_rounded_apart) {
    CLEARED(hyper_clear) Hyper hyper = {0};
    int64_t pairs = 0;
    hyper_init(&hyper, COVER_SOURCES);
    float *row[2] = {send_alike(&hyper.way[0]), send_alike(&hyper.way[1])};
    int64_t alike = rows_rounded_alike(&hyper, row, &pairs);
    comm_sum_int64(&test_comm, &pairs, 1);
    comm_sum_int64(&test_comm, &alike, 1);
    assert_true(test_comm.size == 1 || pairs > 10);
    assert_true(20 * alike <= pairs); // 21 columns of 4 steps: a few in 10,000 by chance
}

TEST(patterns_lead_from_one_set_to_the_other) {
    int64_t rows[3][2];
    for (int k = 0; k < 3; k++) {
        CLEARED(hyper_clear) Hyper hyper = {0};
        hyper_init(&hyper, covers[k]);
        for (int r = 0; r < 2; r++) {
            const Pattern *p = hyper.way[r].pattern;
            int64_t count[3] = {p->rows, p->plan.sources, p->plan.halo_count};
            assert_true(pattern_is_valid(p, true));
            comm_sum_int64(&test_comm, count, 3);
            assert_int_equal(count[0], totals[1 - r]);
            assert_int_equal(count[1], totals[r]);
            rows[k][r] = count[2];
        }
    }
    for (int r = 0; r < 2; r++) { // what one relation's sources are, the other's targets are
        assert_int_equal(rows[0][r], rows[1][1 - r]);
        assert_true(rows[2][r] <= rows[0][r] && rows[2][r] <= rows[1][r]);
        assert_int_equal(rows[0][r] > 0, test_comm.size > 1);
    }
}

TEST(exact_aggregates_are_the_dense_ones) {
    Dense dense = dense_init();
    for (int k = 0; k < 3; k++) {
        CLEARED(hyper_clear) Hyper hyper = {0};
        hyper_init(&hyper, covers[k]);
        there_and_back(&hyper, 1, true);
        for (int r = 0; r < 2; r++)
            assert_near(difference(&hyper, r, &dense), 0, 1e-5);
    }
}

// What a halo row's noise meets: of a row that travels itself, the entries of its column.
static void check_coefficients(const Hyper *hyper, int r, const ChannelAssignment *assigned) {
    const HaloPlan *p = &hyper->way[r].pattern->plan;
    int to = hyper->shard.relation[r].to;
    for (int g = 0; g + 1 < p->size; g++)
        for (int64_t k = p->send_offset[g]; k < p->send_offset[g + 1]; k++) {
            int64_t source = p->source_id[p->send_row[k]];
            double want = 0;
            for (int64_t i = 0; i < totals[to]; i++) {
                double m = (double)reads(r, i, source) / (r == 0 ? degree_of(i) : 1);
                if (owner_of(to, i, p->size) == ring_reader(p->rank, g, p->size))
                    want += m * m;
            }
            assert_near((double)assigned->coefficient[k] / want, 1, 1e-5);
        }
}

// Widths differ from row to row, and what they cost stays within what the widest step can do.
TEST(assigned_widths_serve_two_sets) {
    Dense dense = dense_init();
    Config config = CONFIGURED();
    config.quantization.period = PERIOD;
    config.quantization.delay = DELAY;
    config.quantization.group_size = 5;
    config.quantization.link = (ConfigDoubles){2, {1e-8, 1e-6}};
    snprintf(config.quantization.solver, CONFIG_WORD, "exact");
    for (int k = 0; k < 3; k++) {
        CLEARED(hyper_clear) Hyper hyper = {0};
        hyper_init(&hyper, covers[k]);
        AssignedChannel of[2];
        for (int r = 0; r < 2; r++)
            of[r] = (AssignedChannel){
                .channel = hyper.way[r].channel, .id = {r, FORWARD}, .block = &hyper.way[r].block};
        CLEARED(assigner_drop)
        Assigner *a = assert_ok(assigner_new(&config, &test_comm, 5, NULL, of, 2, &err));
        for (int r = 0; r < 2 && covers[k] == COVER_SOURCES; r++)
            check_coefficients(&hyper, r, &a->assigned[r]);
        int64_t taken = 0, widths = 0;
        for (uint32_t epoch = 1; epoch <= EPOCHS; epoch++) {
            assert_ok(assigner_before(a, epoch, &err));
            there_and_back(&hyper, epoch, false);
            const Assignment *assignment = assigner_after(a, epoch);
            for (int i = 0; assignment != NULL && i < assignment->parts; i++, taken++)
                for (int b = 1; b <= WIDTH_MOST; b++)
                    widths += assignment->part[i].rows[b] > 0;
            // values are below 1, and so is every mean: a step of 8 bits before, of 2 after
            double step = epoch < 1 + PERIOD + DELAY ? 1.0 / 255 : 1.0 / 3;
            assert_true(difference(&hyper, 0, &dense) <= 2 * step);
        }
        assert_int_equal(taken, 2);
        assert_true(test_comm.size == 1 || widths > 2);
    }
}
