// If this failed, an operation would not count as the kind of time that the list says, some time
// would count twice, or what is timed would depend on the backend.
#include "device.h"
#include "fenced/fenced.h"
#include "support.h"

enum { ROWS = 4000, COLUMNS = 64 };

typedef struct Work {
    const Backend *b;
    Rows out, a, x;
    DeviceFloat *w;
    DeviceInt64 *sum;
    Timers timers;
    StreamTimer *timer;
} Work;

static Work work_new(const Backend *b) {
    Work work = {.b = b,
                 .out = rows_alloc(b, ROWS, COLUMNS, "test"),
                 .a = rows_alloc(b, ROWS, COLUMNS, "test"),
                 .x = rows_alloc(b, ROWS, COLUMNS, "test"),
                 .w = b->alloc_zeroed(COLUMNS * COLUMNS * sizeof(float), "test"),
                 .sum = b->alloc_zeroed(sizeof(int64_t), "test")};
    b->zero(work.a.at, rows_bytes(ROWS, COLUMNS));
    b->finish(NULL);
    return work;
}

static void work_free(Work *work) {
    work->b->free(work->sum);
    work->b->free(work->w);
    rows_free(work->b, &work->x);
    rows_free(work->b, &work->a);
    rows_free(work->b, &work->out);
}

static void use_timer(Work *work) {
    work->timer = stream_timer_new(work->b, &work->timers);
    stream_timer_use(work->timer);
    assert_ptr_equal(timers_in_use(), &work->timers);
}

static void stop_timer(Work *work) {
    stream_timer_finish(work->timer);
    stream_timer_free(work->timer); // which is no longer in use then
    assert_null(timers_in_use());
}

static void multiply(const Work *work, const Poll *poll) {
    work->b->dense(work->out, (Range){0, ROWS}, work->a, work->w, NULL, false, poll);
}

static void make_checksum(const Work *work) {
    work->b->message_checksum(work->sum, (DeviceByte *)(void *)work->a.at,
                              rows_bytes(ROWS, COLUMNS), NULL);
}

// Kinds that are not among those of the bits have no time, those that are have some.
static void expect_kinds(const Timers *timers, unsigned bits) {
    for (int kind = 0; kind < TIMER_KINDS; kind++) {
        bool wanted = bits >> kind & 1;
        if ((timers->seconds[kind] > 0) != wanted)
            fail_msg("%s: %g s", timer_names[kind], timers->seconds[kind]);
    }
}

static void on_backend(const Backend *b) {
    CLEARED(work_free) Work work = work_new(b);
    multiply(&work, NULL); // no timer is in use
    expect_kinds(&work.timers, 0);
    use_timer(&work);
    multiply(&work, NULL);
    make_checksum(&work);
    stream_timer_finish(work.timer);
    expect_kinds(&work.timers, 1u << TIMER_DENSE | 1u << TIMER_UNPACK);
    timers_reset(&work.timers);
    timer_begin(&work.timers); // what the host does, with the operations in it
    multiply(&work, NULL);
    b->finish(NULL);
    timer_end(&work.timers, TIMER_REDUCE);
    stream_timer_finish(work.timer);
    expect_kinds(&work.timers, 1u << TIMER_REDUCE);
    timers_reset(&work.timers);
    stream_timer_use(NULL);
    multiply(&work, NULL);
    stop_timer(&work);
    expect_kinds(&work.timers, 0);
}

TEST(operations_count_as_their_row_says) {
    const Backend *plugin = emulated_device(&(Error){0});
    on_backend(&backend_cpu);
    on_backend(&backend_fenced);
    if (plugin != NULL)
        on_backend(plugin);
}

static void checksum_beside(void *context) { make_checksum(context); }

// Where operations run during their call a Poll runs others inside: that time is the outer one's.
TEST(no_time_counts_twice) {
    CLEARED(work_free) Work work = work_new(&backend_cpu);
    use_timer(&work);
    double begin = clock_seconds();
    multiply(&work, &(Poll){checksum_beside, &work});
    double seconds = clock_seconds() - begin;
    stop_timer(&work);
    expect_kinds(&work.timers, 1u << TIMER_DENSE);
    assert_true(work.timers.seconds[TIMER_DENSE] <= seconds);
}

// Gradients are coded by the CPU's operations, whatever backend trains.
TEST(other_backends_are_not_timed) {
    Work host = work_new(&backend_cpu), work = work_new(&backend_fenced);
    use_timer(&work);
    multiply(&host, NULL);
    stop_timer(&work);
    expect_kinds(&work.timers, 0);
    work_free(&work);
    work_free(&host);
}

// More operations than events can wait.
TEST(no_operation_is_lost) {
    CLEARED(work_free) Work work = work_new(&backend_fenced);
    Trace trace;
    trace_init(&trace, &test_comm, 4000);
    trace.open = true;
    work.timers.trace = &trace;
    use_timer(&work);
    for (int i = 0; i < 1000; i++)
        work.b->scale(work.w, COLUMNS, 1);
    stop_timer(&work);
    assert_int_equal(trace.count, 1000);
    trace_clear(&trace);
}
