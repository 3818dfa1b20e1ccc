// ranks: 1 2 3 4; also on fenced
// If this failed, rows of bf16 would not travel as they lie: their messages would take more than
// two bytes a number, halo rows more memory than that, or sums have other bits than with rows that
// their owner multiplied, and sent as floats.
#include "applied.h"

static const TestGraphKind graph = {
    .nodes = 97, .degree = 6, .directed = true, .weighted = true, .features = 2, .classes = 2};

// Whoever remembers rows is sent floats. This one remembers nothing of them.
static size_t no_bytes(int64_t rows, int64_t columns, ResidualEnd end) {
    (void)rows, (void)columns, (void)end;
    return 0;
}
static const Residual as_floats = {.name = "floats", .bytes = no_bytes};

static CodecOptions options_of(bool floats) {
    CodecOptions options = {
        .codec = assert_ok(codec_find("fp32", &err)), .chunk = 100, .rows = ROWS_BF16};
    if (floats)
        options.residual[CODING_MEMORY].of = &as_floats;
    return options;
}

static Rows start_bf16(const Applied *a) {
    const RowSet *set = &a->graph.shard.set[NODES];
    Rows x = test_rows_of(ROWS_BF16, set->own, WIDTH);
    float *host = TEST_ARRAY(float, set->own *WIDTH);
    for (int64_t i = 0; i < set->own * WIDTH; i++)
        host[i] = (float)((set->gid[i / WIDTH] * 7919 + i % WIDTH * 7) % 1009) / 97 - 3;
    device()->upload_rows(x, host);
    device()->finish(NULL);
    return x;
}

typedef struct Sent {
    float *made; // [own rows, WIDTH]
    ChannelCount count;
} Sent;

static Sent run(Applied *a, const char *schedule, Rows x, bool floats) {
    CodecOptions options = options_of(floats);
    Propagation over;
    PropagationForm form = {
        .pattern = a->used.pattern, .options = options, .columns = WIDTH, .id = {1, FORWARD}};
    propagation_init(&over, a->over.op, &form, a->buffers);
    OperatorRun how = {.schedule = assert_ok(schedule_find(schedule, &err))};
    Rows out = test_rows_of(ROWS_BF16, x.count, WIDTH);
    Sent sent = {.made = TEST_ARRAY(float, x.count *WIDTH)};
    operator_run(&how, &(OperatorCall){.method = &operator_aggregate,
                                       .over = &over,
                                       .in = rows_first(x, form.pattern->plan.sources),
                                       .out = rows_first(out, form.pattern->rows)});
    device()->download_rows(sent.made, out);
    device()->finish(NULL);
    sent.count = channel_count(over.channel);
    propagation_clear(device(), &over);
    return sent;
}

static void assert_half(const Sent *halves, const Sent *floats) {
    int64_t header = MESSAGE_HEADER_BYTES * floats->count.messages;
    assert_int_equal(halves->count.messages, floats->count.messages);
    assert_int_equal(halves->count.rows_sent, floats->count.rows_sent);
    assert_int_equal(floats->count.bytes_sent, header + floats->count.rows_sent * WIDTH * 4);
    assert_int_equal(halves->count.bytes_sent, header + halves->count.rows_sent * WIDTH * 2);
}

static void assert_half_memory(const HaloPlan *plan) {
    size_t received[2];
    for (int floats = 0; floats < 2; floats++) {
        CodecOptions options = options_of(floats);
        BufferSizes size = {0};
        channel_forecast(&(MemoryForecast){0}, &size, device(), plan, &options, WIDTH);
        received[floats] = size.received;
    }
    assert_int_equal(2 * received[0], received[1]);
    assert_int_equal(received[1], rows_bytes(plan->halo_count, WIDTH));
}

static void try_block(Cover cover, const char *normalisation, bool transposed) {
    static const char *const schedules[] = {"blocking", "overlap", "central"};
    CLEARED(applied_clear) Applied a = {0};
    applied_init_rows(&a, graph, cover, normalisation, transposed, ROWS_BF16);
    Rows x = start_bf16(&a);
    for (int s = 0; s < 3; s++) {
        Sent halves = run(&a, schedules[s], x, false), floats = run(&a, schedules[s], x, true);
        if (memcmp(halves.made, floats.made, (size_t)(x.count * WIDTH) * sizeof(float)) != 0)
            fail_msg("%s, %s%s: other sums", normalisation, schedules[s],
                     transposed ? ", transposed" : "");
        assert_half(&halves, &floats);
    }
    assert_half_memory(&a.used.pattern->plan);
}

TEST(rows_of_bf16_travel_as_they_lie) {
    static const char *const normalisations[] = {"gcn", "mean", "walk"};
    static const Cover covers[] = {COVER_SOURCES, COVER_MIN};
    for (int n = 0; n < 3; n++)
        for (int c = 0; c < 2; c++)
            for (int transposed = 0; transposed < 2; transposed++)
                try_block(covers[c], normalisations[n], transposed);
}
