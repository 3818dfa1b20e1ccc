// If this failed, the backend "fenced" would run operations before somebody waits, or in an order
// that its header does not allow: a program that forgets a wait would pass its tests on it.
#include "device.h"
#include "fenced/fenced.h"
#include "support.h"

static const Backend *const fenced = &backend_fenced;

static void take_order(const char *order) { setenv("FRINGE_FENCED_ORDER", order, 1); }

// ---- lateness

TEST(nothing_runs_before_a_wait) {
    float sent[2] = {1, 2}, got[2] = {0};
    DeviceFloat *device = fenced->alloc(sizeof sent, "test");
    DeviceEvent *event = fenced->event_new();
    assert_true(fenced->event_reached(event));
    fenced->upload(device, sent, sizeof sent);
    fenced->download(got, device, sizeof got);
    fenced->event_record(event, STREAM_COMPUTE);
    sent[1] = 3; // the upload has not read it
    assert_false(fenced->event_reached(event));
    assert_true(got[0] != got[0] && got[1] != got[1]); // not a number until then
    double before = clock_seconds();
    fenced->event_wait(event, NULL);
    assert_true(fenced->event_reached(event) && fenced->event_time(event) >= before);
    assert_true(got[0] == 1 && got[1] == 3);
    fenced->event_free(event);
    fenced->free(device);
}

// What has run of an upload and download on each stream, and another pair behind the event of the
// first stream, when that event is waited for.
static void expect_run(const char *order, bool own, bool behind, bool beside) {
    const float one = 1;
    float got[3];
    DeviceFloat *device = fenced->alloc(2 * sizeof one, "test");
    DeviceEvent *event = fenced->event_new();
    take_order(order);
    fenced->upload(device, &one, sizeof one);
    fenced->download(&got[0], device, sizeof one);
    fenced->event_record(event, STREAM_COMPUTE);
    fenced->download(&got[1], device, sizeof one);
    fenced->message_upload(flat_at(device, 1), &one, sizeof one);
    fenced->message_download(&got[2], flat_at(device, 1), sizeof one);
    fenced->event_wait(event, NULL);
    assert_int_equal(got[0] == 1, own);
    assert_int_equal(got[1] == 1, behind);
    assert_int_equal(got[2] == 1, beside);
    fenced->finish(NULL);
    assert_true(got[1] == 1 && got[2] == 1);
    fenced->event_free(event);
    fenced->free(device);
}

TEST(a_wait_runs_what_its_order_says) {
    expect_run("oldest", true, false, false);
    expect_run("newest", true, false, true);
    take_order("oldest");
}

TEST(a_stream_waits_for_the_other) {
    const char *const orders[] = {"oldest", "newest"};
    for (int i = 0; i < 2; i++) {
        const float one = 1;
        float got = 0;
        take_order(orders[i]);
        DeviceFloat *device = fenced->alloc(sizeof one, "test");
        DeviceEvent *made = fenced->event_new(), *here = fenced->event_new();
        fenced->upload(device, &one, sizeof one);
        fenced->event_record(made, STREAM_COMPUTE);
        fenced->stream_wait(STREAM_MESSAGE, made);
        fenced->event_record(made, STREAM_MESSAGE); // the wait is for what it was
        fenced->message_download(&got, device, sizeof one);
        fenced->event_record(here, STREAM_MESSAGE);
        fenced->event_wait(here, NULL);
        assert_true(got == 1);
        fenced->event_free(here);
        fenced->event_free(made);
        fenced->free(device);
    }
    take_order("oldest");
}

// Without the wait the message stream runs first: this is what a forgotten one looks like.
TEST(a_wait_that_lacks_is_noticed) {
    const float one = 1;
    float got = 1;
    DeviceFloat *device = fenced->alloc_zeroed(sizeof one, "test");
    DeviceEvent *here = fenced->event_new();
    fenced->upload(device, &one, sizeof one);
    fenced->message_download(&got, device, sizeof one);
    fenced->event_record(here, STREAM_MESSAGE);
    fenced->event_wait(here, NULL);
    assert_true(got == 0);
    fenced->event_free(here);
    fenced->free(device);
}

// ---- queues that are full, and Polls that put commands

TEST(a_full_queue_runs_its_oldest) {
    enum { MANY = 1000 };
    static float sent[MANY], got[MANY];
    DeviceFloat *device = fenced->alloc(sizeof sent, "test");
    for (int i = 0; i < MANY; i++) {
        sent[i] = (float)i;
        fenced->upload(flat_at(device, i), &sent[i], sizeof *sent);
        fenced->message_zero(flat_at(device, i), 0);
    }
    memset(sent, 0, sizeof sent); // the last ones have not been read yet
    fenced->download(got, device, sizeof got);
    fenced->finish(NULL);
    int late = 0;
    for (int i = 0; i < MANY; i++) {
        assert_true(got[i] == (float)i || got[i] == 0);
        late += i > 0 && got[i] == 0;
        assert_true(i == 0 || got[i] == 0 || got[i] == got[i - 1] + 1); // in order
    }
    assert_in_range(late, 100, 256);
    fenced->free(device);
}

typedef struct Putter {
    DeviceFloat *device;
    float got;
    int polled;
} Putter;

static void put_more(void *context) {
    Putter *putter = context;
    if (putter->polled++ > 0)
        return;
    fenced->download(&putter->got, putter->device, sizeof putter->got);
}

TEST(a_poll_may_put_commands) {
    const float one = 1;
    Putter putter = {.device = fenced->alloc(sizeof one, "test")};
    Rows rows = rows_alloc(fenced, 1000, 16, "test"), out = rows_alloc(fenced, 1000, 16, "test");
    DeviceFloat *w = fenced->alloc(16 * 16 * sizeof(float), "test");
    fenced->dense(out, (Range){0, 1000}, rows, w, NULL, false, NULL);
    fenced->upload(putter.device, &one, sizeof one);
    fenced->finish(&(Poll){put_more, &putter});
    assert_true(putter.polled > 0);
    assert_true(putter.got == 1);
    fenced->free(w);
    rows_free(fenced, &out);
    rows_free(fenced, &rows);
    fenced->free(putter.device);
}

// ---- the same results as the CPU's, in both orders

enum { ROWS = 40, COLUMNS = 20, STEPS = 700 };

static int drawn(int step, int what, int of) {
    RandomKey key = random_key(3, RANDOM_FEATURES, (uint32_t)step, 0, 0);
    return (int)(random_uniform16(key, what, 0, 0) * (float)of) % of;
}

typedef struct Work {
    const Backend *b;
    Rows a, c;
    DeviceByte *bytes;
    DeviceInt32 *row;
    DeviceInt64 *bad;
    DeviceFloat *number;
    DeviceEvent *event;
    DeviceStream stream; // that worked last
} Work;

static void hand_over(Work *w, DeviceStream to) {
    if (w->stream != to) {
        w->b->event_record(w->event, w->stream);
        w->b->stream_wait(to, w->event);
    }
    w->stream = to;
}

// Any step reads what any other has written, so the order shows in the result.
static void step(Work *w, int i) {
    static const float numbers[] = {0.5f, -0.25f, 0.125f};
    Range range = {drawn(i, 1, ROWS / 2), ROWS / 2 + drawn(i, 2, ROWS / 2)};
    MessageSource source = {.x = w->a, .row = w->row};
    int kind = drawn(i, 0, 7);
    hand_over(w, kind < 5 ? STREAM_COMPUTE : STREAM_MESSAGE);
    if (kind == 0)
        w->b->add_scaled(w->a, range, (RowFactor){.plain = 1}, w->a,
                         (RowFactor){.times = 1, .at = w->number}, w->c, NULL);
    else if (kind == 1)
        w->b->scale(w->c.at, ROWS * w->c.stride, numbers[drawn(i, 3, 3)]);
    else if (kind == 2)
        w->b->upload(w->number, &numbers[drawn(i, 4, 3)], sizeof *numbers);
    else if (kind == 3)
        w->b->dense(w->a, range, w->c, w->c.at, NULL, true, NULL);
    else if (kind == 4)
        w->b->add_bias(w->c, range, w->number, NULL);
    else if (kind == 5)
        w->b->unpack_bf16(w->c, drawn(i, 5, ROWS / 2), w->bytes, ROWS / 2, NULL);
    else
        w->b->pack_bf16(w->bytes, &source, ROWS / 2, w->bad, NULL);
    if (drawn(i, 7, 90) == 0)
        w->b->finish(NULL);
}

static void run_steps(const Backend *b, float *out, const float *first) {
    Work w = {.b = b,
              .a = rows_alloc(b, ROWS, COLUMNS, "test"),
              .c = rows_alloc(b, ROWS, COLUMNS, "test"),
              .bytes = b->alloc(ROWS * COLUMNS * 2, "test"),
              .row =
                  b->alloc_zeroed(ROWS * sizeof(int32_t), "test"), // the first row, again and again
              .bad = b->alloc_zeroed(sizeof(int64_t), "test"),
              .number = b->alloc_zeroed(COLUMNS * sizeof(float), "test"),
              .event = b->event_new()};
    b->upload_rows(w.a, first);
    b->upload_rows(w.c, first);
    b->upload(w.bytes, first, ROWS * COLUMNS * 2);
    for (int i = 0; i < STEPS; i++)
        step(&w, i);
    hand_over(&w, STREAM_COMPUTE);
    b->download_rows(out, w.a);
    b->download_rows(out + ROWS * COLUMNS, w.c);
    b->finish(NULL);
    b->event_free(w.event);
    b->free(w.number);
    b->free(w.bad);
    b->free(w.row);
    b->free(w.bytes);
    rows_free(b, &w.c);
    rows_free(b, &w.a);
}

TEST(both_orders_give_the_cpus_bits) {
    static float first[ROWS * COLUMNS], want[2 * ROWS * COLUMNS], got[2 * ROWS * COLUMNS];
    size_t before = memory_in_use();
    for (int i = 0; i < ROWS * COLUMNS; i++)
        first[i] = 0.01f * (float)drawn(i, 8, 100);
    run_steps(&backend_cpu, want, first);
    for (int i = 0; i < 2 * ROWS * COLUMNS; i++)
        assert_true(fabsf(want[i]) < 1e6f);
    take_order("oldest");
    run_steps(fenced, got, first);
    assert_memory_equal(got, want, sizeof got);
    take_order("newest");
    run_steps(fenced, got, first);
    assert_memory_equal(got, want, sizeof got);
    take_order("oldest");
    assert_int_equal(memory_in_use(), before); // blocks are counted, and all are given back
}
