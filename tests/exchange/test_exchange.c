// ranks: 1 3 8
// If this failed, halo rows would arrive wrong, in the wrong place, from the wrong epoch, or with
// other bits under another schedule or cutting into chunks, or rounded with other random numbers
// than are fixed for them.

#include "exchange/buffers.h"
#include "synthetic_halo.h"

static const int64_t widths[] = {1, 41, 48, 256, 602};
static const int64_t piece_sizes[] = {64, 1000, 4096, 65280, 1 << 20};
enum { CHANNELS = 40, EPOCHS = 5 };

typedef struct Run { // one exchange as a layer would make it
    const HaloPlan *plan;
    bool scaled;
    uint32_t epoch;
    int64_t columns;
    int polls;
    int own_calls, next_round, last_calls;
    Rows sum; // [1] own part, then halo rows added in order
} Run;

static float expected_value(const Run *run, int64_t gid, int64_t column) {
    float value = ring_value(gid, column, run->epoch);
    return run->scaled && gid >= 0 ? ring_scale(gid) * value : value;
}

static void own_part(void *context, OwnPart part, const Poll *poll) {
    Run *run = context;
    if (part == OWN_MARGINAL) { // the rest of what OWN_CENTRAL began
        assert_int_equal(run->own_calls, 1);
        return;
    }
    for (int i = 0; i < run->polls; i++) {
        usleep(50);
        poll_call(poll);
    }
    for (int64_t c = 0; c < run->columns; c++)
        floats(run->sum)[c] = ring_value(run->plan->rank, c, 0);
    run->own_calls++;
}

static void halo_part(void *context, Rows received, int begin, int end, bool last,
                      const Poll *poll) {
    (void)poll;
    Run *run = context;
    const HaloPlan *p = run->plan;
    assert_int_equal(run->own_calls, 1);
    assert_int_equal(begin, run->next_round);
    run->next_round = end;
    run->last_calls += last;
    for (int64_t h = p->receive_offset[begin]; h < p->receive_offset[end]; h++) {
        const float *row = floats(received) + h * received.stride;
        for (int64_t c = 0; c < run->columns; c++) {
            float expected = expected_value(run, p->halo_id[h], c);
            assert_memory_equal(&row[c], &expected, sizeof expected);
            floats(run->sum)[c] += row[c];
        }
        for (int64_t c = run->columns; c < received.stride; c++)
            assert_true(row[c] == 0.0F); // padding stays zero
    }
}

static float *right_of(const HaloPlan *p) {
    float *right = TEST_ARRAY(float, p->sources);
    for (int64_t row = 0; row < p->sources; row++)
        right[row] = ring_scale(p->source_id[row]);
    return right;
}

// As if another channel had used the buffers before.
static void buffers_dirty(ExchangeBuffers *buffers) {
    for (int flow = 0; flow < FLOWS; flow++)
        memset(buffers->message[flow].host, 0xff, buffers->size.message[flow]);
    memset(buffers->received, 0xff, buffers->size.received);
}

static void exchange(Channel *channel, const Schedule *schedule, const float *right, Run *run) {
    Rows x = ring_fill(run->plan, run->columns, run->epoch);
    run->own_calls = run->next_round = run->last_calls = 0;
    buffers_dirty(channel->buffers);
    int64_t takes = memory_allocs();
    RowSource rows = ring_sent(run->plan, x, right);
    schedule->run(channel, &rows, (ExchangeContext){.epoch = run->epoch},
                  &(ExchangeWork){own_part, halo_part, run});
    assert_int_equal(memory_allocs(), takes);
    assert_int_equal(run->own_calls, 1);
    assert_int_equal(run->last_calls, 1);
    assert_int_equal(run->next_round, run->plan->size - 1);
}

static void check_count(const Channel *channel, const HaloPlan *p, int64_t exchanges) {
    ChannelCount count = channel_count(channel);
    int64_t messages = 0, received = 0;
    for (int g = 0; g + 1 < p->size; g++) {
        messages += p->send_offset[g + 1] > p->send_offset[g];
        received += p->receive_offset[g + 1] > p->receive_offset[g];
    }
    int64_t row = channel->columns * 4;
    assert_int_equal(count.messages, exchanges * messages);
    assert_int_equal(count.bytes_sent,
                     exchanges * (messages * 64 + p->send_offset[p->size - 1] * row));
    assert_int_equal(count.bytes_received, exchanges * (received * 64 + p->halo_count * row));
}

// One channel: EPOCHS exchanges by each schedule, with ranks out of step
// now and then.
static void try_channel(uint64_t seed) {
    CodecOptions options = {.codec = assert_ok(codec_find("fp32", &err)),
                            .chunk = piece_sizes[ring_mix(seed, 2) % 5]};
    HaloPlan plan = ring_plan(seed, &test_comm);
    float *right = right_of(&plan);
    int64_t exchanges = 0;
    Run run = {.plan = &plan, .columns = widths[ring_mix(seed, 1) % 5]};
    run.sum = test_rows(1, run.columns);
    Rows before = test_rows(1, run.columns);
    CLEARED(buffers_drop) ExchangeBuffers *buffers = exchange_buffers_new(device());
    OWNED(Channel) *channel = channel_new(buffers, &plan, &options, run.columns,
                                          (ExchangeId){(int)(seed % 7), (int)(seed % 2)});
    for (uint32_t epoch = 1; epoch <= EPOCHS; epoch++) {
        run.epoch = epoch;
        run.scaled = ring_mix(seed, epoch) % 2 == 0;
        for (int s = 0; s < schedule_family.count; s++) {
            const Schedule *schedule = family_member(&schedule_family, s);
            if (schedule->keeps_in_flight || schedule->changes_result)
                continue; // their rows are those of another epoch
            uint32_t draw = ring_mix(seed * 100 + epoch, (uint64_t)(10 + 2 * test_comm.rank + s));
            run.polls = (int)(draw % 8);
            if (draw % 16 == 15)
                usleep(1000);
            exchange(channel, schedule, run.scaled ? right : NULL, &run);
            exchanges++;
            if (s == 0) // blocking
                memcpy(floats(before), floats(run.sum), rows_bytes(1, run.columns));
            else
                assert_memory_equal(floats(before), floats(run.sum), rows_bytes(1, run.columns));
        }
    }
    check_count(channel, &plan, exchanges);
}

TEST(rows_arrive_under_every_schedule) {
    uint64_t channels = test_comm.size < 8 ? CHANNELS : (uint64_t)test_turns(12, CHANNELS);
    for (uint64_t seed = 1; seed <= channels; seed++)
        try_channel(seed);
}

// Messages of two channels in flight at once, used in the other order: a stale schedule's need.
TEST(channels_do_not_mix) {
    CodecOptions options = {.codec = assert_ok(codec_find("fp32", &err)), .chunk = 500};
    HaloPlan plan = ring_plan(77, &test_comm);
    ExchangeBuffers *buffers[2];
    Channel *channel[2];
    Rows x[2];
    for (int i = 0; i < 2; i++) {
        buffers[i] = exchange_buffers_new(device());
        channel[i] = channel_new(buffers[i], &plan, &options, 41, (ExchangeId){1, i});
    }
    for (uint32_t epoch = 1; epoch <= 10; epoch++) {
        for (int i = 0; i < 2; i++) {
            x[i] = ring_fill(&plan, 41, 2 * epoch + (uint32_t)i);
            RowSource rows = ring_sent(&plan, x[i], NULL);
            channel_pack(channel[i], &rows, (ExchangeContext){.epoch = epoch});
            channel_post(channel[i]);
            rows_zero(device(), x[i]); // packed rows are copies
        }
        for (int i = 1; i >= 0; i--) {
            Run run = {.plan = &plan,
                       .epoch = 2 * epoch + (uint32_t)i,
                       .columns = 41,
                       .own_calls = 1,
                       .sum = test_rows(1, 41)};
            for (int g = 0; g + 1 < plan.size; g++)
                channel_receive(channel[i], g);
            halo_part(&run, channel_rows(channel[i]), 0, plan.size - 1, true, NULL);
        }
        for (int i = 0; i < 2; i++)
            channel_finish(channel[i]);
    }
    for (int i = 0; i < 2; i++) {
        channel_free(channel[i]);
        exchange_buffers_free(buffers[i]);
    }
}

// 7 bits are three planes, and of one column each takes a byte: more than 16 bits take. The one
// value of such a row is exact.
TEST(narrow_rows_fit_at_every_width) {
    HaloPlan plan = ring_plan(4, &test_comm);
    for (int bits = 1; bits <= WIDTH_MOST; bits++) {
        if (!width_known(bits))
            continue;
        CodecOptions options = {
            .codec = assert_ok(codec_find("integer", &err)), .width = bits, .chunk = 4096};
        CLEARED(buffers_drop) ExchangeBuffers *buffers = exchange_buffers_new(device());
        OWNED(Channel) *channel =
            channel_new(buffers, &plan, &options, 1, (ExchangeId){0, FORWARD});
        Run run = {.plan = &plan, .epoch = 1, .columns = 1, .sum = test_rows(1, 1)};
        exchange(channel, assert_ok(schedule_find("blocking", &err)), NULL, &run);
    }
}

// One row of `all` as a message of its own, 4 bits, rounded with the numbers that ALGORITHMS 0
// fixes: a row's peer is who reads it, a partial aggregate's who sends it.
static void encode_alone(unsigned char *out, const HaloPlan *p, Rows all, const float *right,
                         int32_t row, int reader, RandomKey key) {
    CLEARED(taken_free) Taken *taken = NULL;
    Widths one;
    int64_t id = p->source_id[row];
    float scale = id < 0 ? 1 : right[row];
    MessageSource source = {.x = rows_range(all, (Range){row, row + 1}),
                            .scale = on_device(&scale),
                            .row = on_device(&(int32_t){0}),
                            .random = key,
                            .gid = on_device(&id),
                            .peer = id < 0 ? p->rank : reader};
    widths_alloc(&one, &(Allocator){.backend = device(), .taken = &taken}, 1);
    widths_fill(&one, 4);
    MessageLayout shape = {.rows = 1, .columns = all.columns, .widths = &one};
    int64_t bad = 0;
    codec_find("integer", &(Error){0})
        ->encode(device(), on_device(out), &shape, &source, on_device(&bad), NULL);
    assert_int_equal(bad, 0);
}

// All rows of a packed message: Z, S and codes of each (codec.h). Returns how many are sums.
static int64_t check_message_by_hand(const Channel *channel, int round, Rows all,
                                     const float *right, RandomKey key) {
    const HaloPlan *p = channel->plan;
    int64_t rows = channel_round_rows(p, OUTGOING, round), sums = 0;
    int64_t codes = (all.columns * 4 + 7) / 8;
    const unsigned char *message = channel->ring.transfer[round][OUTGOING].payload;
    unsigned char *alone = test_memory((size_t)(8 + codes));
    for (int64_t k = 0; k < rows; k++) {
        int32_t row = p->send_row[p->send_offset[round] + k];
        encode_alone(alone, p, all, right, row, ring_reader(p->rank, round, p->size), key);
        assert_memory_equal(message + 4 * k, alone, 4);
        assert_memory_equal(message + 4 * (rows + k), alone + 4, 4);
        assert_memory_equal(message + 8 * rows + k * codes, alone + 8, (size_t)codes);
        sums += p->source_id[row] < 0;
    }
    return sums;
}

// Whoever replays a message from ALGORITHMS alone gets its bytes.
TEST(messages_are_rounded_by_the_fixed_counters) {
    CodecOptions options = {
        .codec = assert_ok(codec_find("integer", &err)), .width = 4, .chunk = 4096};
    int64_t sums = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        HaloPlan plan = ring_plan(seed, &test_comm);
        float *right = right_of(&plan);
        Rows x = ring_fill(&plan, 41, 5);
        RowSource rows = ring_sent(&plan, x, right);
        CLEARED(buffers_drop) ExchangeBuffers *buffers = exchange_buffers_new(device());
        OWNED(Channel) *channel =
            channel_new(buffers, &plan, &options, 41, (ExchangeId){3, BACKWARD});
        channel_pack(channel, &rows, (ExchangeContext){.seed = 77, .epoch = 5});
        RandomKey key = random_key(77, RANDOM_ROUNDING, 5, 3, BACKWARD);
        for (int g = 0; g + 1 < plan.size; g++)
            sums += check_message_by_hand(channel, g, x, right, key);
    }
    comm_sum_int64(&test_comm, &sums, 1);
    assert_true(test_comm.size == 1 || sums > 0);
}

TEST(plan_is_what_a_channel_takes) {
    CodecOptions options = {.codec = assert_ok(codec_find("fp32", &err)), .chunk = 4096};
    HaloPlan plan = ring_plan(3, &test_comm);
    MemoryForecast memory = {0};
    BufferSizes size = {0};
    channel_forecast(&memory, &size, device(), &plan, &options, 256);
    channel_forecast(&memory, &size, device(), &plan, &options, 41);
    exchange_buffers_forecast(&memory, device(), &size);
    size_t before = memory_in_use();
    CLEARED(buffers_drop) ExchangeBuffers *buffers = exchange_buffers_new(device());
    OWNED(Channel) *wide = channel_new(buffers, &plan, &options, 256, (ExchangeId){0, FORWARD});
    OWNED(Channel) *narrow = channel_new(buffers, &plan, &options, 41, (ExchangeId){1, FORWARD});
    size_t taken = memory_in_use() - before, planned = forecast_total(&memory);
    assert_true(taken <= planned + 4096); // the Channels themselves and alignment
    assert_true(planned <= taken + 4096);
}

static void own_moment(void *context, OwnPart part, const Poll *poll) {
    (void)context, (void)part, (void)poll;
    usleep(500);
}

static void no_halo_part(void *context, Rows received, int begin, int end, bool last,
                         const Poll *poll) {
    (void)context, (void)received, (void)begin, (void)end, (void)last, (void)poll;
}

// Of the own part: how much the schedule ran while messages in few bits flew. 0 .. 1
static double covered_share(Channel *channel, const char *schedule, bool full_precision) {
    Rows x = ring_fill(channel_halo_plan(channel), channel_columns(channel), 1);
    RowSource rows = ring_sent(channel_halo_plan(channel), x, NULL);
    ChannelSeconds before = channel_seconds(channel);
    schedule_find(schedule, &(Error){0})
        ->run(channel, &rows, (ExchangeContext){.epoch = 1, .full_precision = full_precision},
              &(ExchangeWork){own_moment, no_halo_part, NULL});
    ChannelSeconds after = channel_seconds(channel);
    return (after.covered - before.covered) / (after.own - before.own);
}

// What the assigner takes for free must be free.
TEST(only_what_flies_is_covered) {
    CodecOptions options = {
        .codec = assert_ok(codec_find("integer", &err)), .width = 4, .chunk = 1000};
    HaloPlan plan = ring_plan(5, &test_comm);
    CLEARED(buffers_drop) ExchangeBuffers *buffers = exchange_buffers_new(device());
    OWNED(Channel) *channel = channel_new(buffers, &plan, &options, 41, (ExchangeId){1, FORWARD});
    double most = test_comm.size > 1 ? 1 : 0; // alone nothing flies
    assert_true(covered_share(channel, "blocking", false) == 0);
    assert_near(covered_share(channel, "overlap", false), most, 1e-6);
    double central = covered_share(channel, "central", false);
    assert_true(most > 0 ? central > 0 && central < 1 : central == 0);
    assert_true(covered_share(channel, "overlap", true) == 0); // as evaluations exchange
}

TEST(wrong_schedule_names_the_list) {
    assert_refused(schedule_find("overlapp", &err) != NULL, EXIT_CONFIG,
                   "blocking, overlap, central");
}
