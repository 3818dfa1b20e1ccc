// ranks: 2 3 4
// If this failed, the exchange would count on operations that have run when their call returns: on
// a backend that runs them late, rows would be sent before they are made, or messages would be
// overwritten before they are read.
#include "../skipping.h"
#include "cuda_mpi.h"
#include "exchange/channel.h"
#include "synthetic_halo.h"

enum { EPOCHS = 6, COLUMNS = 21 };
static uint64_t seeds(void) { return (uint64_t)test_turns(8, 24); }

typedef enum Way { AT_ONCE, OTHER_WIDTHS, READ_LATER, LEFT_OUT } Way;

typedef struct Late {
    const Backend *b;
    HaloPlan plan;
    Channel *channel;
    Rows x, out[EPOCHS];
    float *host[EPOCHS]; // [x.count, COLUMNS] what is uploaded
} Late;

static int64_t rows_of(const Late *late) { return late->plan.sources + late->plan.partials; }

static void late_init(Late *late, const Backend *b, uint64_t seed, ExchangeBuffers *buffers,
                      const char *codec, Way way) {
    Error err = {0};
    CodecOptions options = {.codec = codec_find(codec, &err), .width = 8, .chunk = 4096};
    if (way == LEFT_OUT) {
        skip_by(&options, "var:0.1");
        options = schedule_options(schedule_find("skip", &err), &options, FORWARD);
    }
    *late = (Late){.b = b, .plan = ring_plan(seed, &test_comm)};
    late->channel = channel_new(buffers, &late->plan, &options, COLUMNS, (ExchangeId){1, 0});
    late->x = rows_alloc(b, rows_of(late), COLUMNS, "test");
    for (uint32_t e = 0; e < EPOCHS; e++) {
        late->out[e] = rows_alloc(b, late->plan.halo_count, COLUMNS, "test");
        late->host[e] = TEST_ARRAY(float, rows_of(late) * COLUMNS);
        for (int64_t i = 0; i < rows_of(late) * COLUMNS; i++)
            late->host[e][i] = ring_value(late->plan.source_id[i / COLUMNS], i % COLUMNS,
                                          way == LEFT_OUT ? e / 2 : e);
    }
}

static void late_clear(Late *late) {
    for (int e = EPOCHS - 1; e >= 0; e--)
        rows_free(late->b, &late->out[e]);
    rows_free(late->b, &late->x);
    channel_free(late->channel);
}

// Other widths for every exchange.
static int width_of(int64_t gid, int reader, int epoch) {
    static const int widths[] = {2, 8, 4, 16, 3};
    return widths[ring_mix((uint64_t)gid, (uint64_t)(7 * epoch + reader)) % 5];
}

static void send_rows(Late *late, uint32_t e) {
    RowSource rows = ring_sent(&late->plan, late->x, NULL);
    late->b->upload_rows(late->x, late->host[e]);
    channel_pack(late->channel, &rows, (ExchangeContext){.seed = 3, .epoch = e});
    channel_post(late->channel);
}

static void keep_rows(Late *late, uint32_t e, Rows received) {
    late->b->copy(late->out[e].at, received.at, rows_bytes(received.count, COLUMNS));
}

// The host itself waits for nothing: rows are uploaded, sent, received and copied.
static void exchange(Late *late, uint32_t e) {
    send_rows(late, e);
    for (int g = 0; g + 1 < late->plan.size; g++)
        channel_receive(late->channel, g);
    keep_rows(late, e, channel_rows(late->channel));
    channel_finish(late->channel);
    comm_barrier(&test_comm); // a rank that only sends does not run ahead
}

// As a schedule does that keeps messages in flight: rows of one exchange are read when the messages
// of the next one are under way.
static void exchange_before_reading(Late *late, uint32_t e) {
    channel_drain(late->channel);
    send_rows(late, e);
    if (e > 0) {
        keep_rows(late, e - 1, channel_rows(late->channel));
        channel_note_read(late->channel);
    }
    comm_barrier(&test_comm);
}

// As the schedule skip does: the rows of every second exchange are those of the one before it, and
// only if the host knows how far they have moved the reader keeps the right ones.
static void no_work(void *context, OwnPart part, const Poll *poll) {
    (void)context, (void)part, (void)poll;
}

static void copy_rows(void *context, Rows received, int begin, int end, bool last,
                      const Poll *poll) {
    Late *late = context;
    (void)begin, (void)end, (void)last, (void)poll;
    keep_rows(late, late->channel->epoch, received);
}

static void exchange_if_moved(Late *late, uint32_t e) {
    Error none = {0};
    RowSource rows = ring_sent(&late->plan, late->x, NULL);
    late->b->upload_rows(late->x, late->host[e]);
    schedule_find("skip", &none)
        ->run(late->channel, &rows, (ExchangeContext){.seed = 3, .epoch = e},
              &(ExchangeWork){no_work, copy_rows, late});
    int64_t skipped = channel_count(late->channel).skipped;
    assert_true(e % 2 == 0 ||
                skipped == (e + 1) / 2 * channel_count(late->channel).messages / (e + 1));
    comm_barrier(&test_comm);
}

// What arrived in each epoch, [EPOCHS, halo_count, COLUMNS].
static float *arrivals(const Backend *b, uint64_t seed, const char *codec, Way way) {
    Late late;
    CLEARED(buffers_drop) ExchangeBuffers *buffers = exchange_buffers_new(b);
    late_init(&late, b, seed, buffers, codec, way);
    int64_t size = late.plan.halo_count * COLUMNS;
    float *all = TEST_ARRAY(float, EPOCHS *size);
    for (uint32_t e = 0; e < EPOCHS; e++) {
        if (way == OTHER_WIDTHS)
            ring_set_widths(late.channel, width_of, (int)e);
        if (way == READ_LATER)
            exchange_before_reading(&late, e);
        else if (way == LEFT_OUT)
            exchange_if_moved(&late, e);
        else
            exchange(&late, e);
    }
    channel_drain(late.channel); // the last rows are not read
    for (int e = 0; e < EPOCHS; e++)
        b->download_rows(all + e * size, late.out[e]);
    b->finish(NULL);
    late_clear(&late);
    return all;
}

static void compare_on(const Backend *b, uint64_t seed, const char *codec, Way way) {
    float *want = arrivals(backend_find("cpu", &(Error){0}), seed, codec, way);
    float *got = arrivals(b, seed, codec, way);
    HaloPlan plan = ring_plan(seed, &test_comm);
    int64_t size = plan.halo_count * COLUMNS;
    for (int64_t i = 0; i < EPOCHS * size; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("%s on %s, seed %d, rank %d: %g arrived in epoch %d, not %g", codec, b->name,
                     (int)seed, plan.rank, (double)got[i], (int)(i / size), (double)want[i]);
}

// The MPI library reads and writes the memory of the device itself.
static void compare_on_device_memory(const Backend *b, uint64_t seed, const char *codec, Way way) {
    int64_t before = device_messages;
    wire_use_device_memory(true);
    compare_on(b, seed, codec, way);
    wire_use_device_memory(false);
    HaloPlan plan = ring_plan(seed, &test_comm);
    bool moves = plan.halo_count + plan.send_offset[plan.size - 1] > 0;
    assert_true((device_messages > before) == moves);
}

// On four ranks also on the emulated device, whose streams go on by chance, another one on each
// rank and each time: 288 exchanges through the host's memory, and 144 without it (FRINGE_LONG:
// 1296, 432).
static void compare(uint64_t seed, const char *codec, Way way) {
    Error none = {0};
    compare_on(backend_find("fenced", &(Error){0}), seed, codec, way);
    const Backend *emulated = test_comm.size == 4 ? emulated_device(&none) : NULL;
    int chances = emulated != NULL ? test_turns(2, 3) : 0;
    setenv("FRINGE_EMULATED_STREAMS", "random", 1);
    for (int chance = 0; chance < chances; chance++) {
        setenv("FRINGE_EMULATED_SEED", test_text("%d", test_comm.rank + 4 * chance), 1);
        compare_on(emulated, seed, codec, way);
    }
    if (emulated != NULL)
        compare_on_device_memory(emulated, seed, codec, way);
}

// Some ranks only send, some only receive: these wait for no message of their own.
TEST(late_rows_arrive) {
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        compare(seed, "fp32", AT_ONCE);
}

TEST(late_rows_of_any_width_arrive) {
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        compare(seed, "integer", OTHER_WIDTHS);
}

TEST(rows_that_are_read_late_are_those_of_their_exchange) {
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        compare(seed, "fp32", READ_LATER);
}

TEST(rows_that_did_not_move_are_kept) {
    for (uint64_t seed = 1; seed <= seeds(); seed += 2)
        compare(seed, "fp32", LEFT_OUT);
}

TEST(the_stub_is_asked) { assert_true(comm_cuda_support()); }

TEST(a_rank_that_only_receives_is_among_them) {
    bool found = false;
    for (uint64_t seed = 1; seed <= seeds(); seed++) {
        HaloPlan plan = ring_plan(seed, &test_comm);
        bool only = plan.halo_count > 0 && plan.send_offset[plan.size - 1] == 0;
        found |= comm_max_double(&test_comm, only) > 0;
    }
    assert_true(found);
}
