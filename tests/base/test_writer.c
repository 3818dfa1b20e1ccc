// ranks: 1 2
// If this failed, what is written beside the computing would come out of order, torn or not at all,
// a failed write would go unnoticed, or a rank that waits for its disk would count as silent.

#include "support.h"

#include "fringe/base/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static void nap(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

// --- the queue

typedef struct Seen {
    int jobs, wrong; // done so far; not the ones that were put
    int failed;      // called with an error of an earlier one
} Seen;

static size_t bytes_of(int job) { return (size_t)(job * 37 % 400); }
static char byte_of(int job, size_t i) { return (char)((size_t)job * 7 + i); }

static void look(void *context, const void *payload, size_t bytes, Error *err) {
    Seen *seen = context;
    const char *text = payload;
    seen->wrong += bytes != bytes_of(seen->jobs) || err->code != 0;
    for (size_t i = 0; i < bytes; i++)
        seen->wrong += text[i] != byte_of(seen->jobs, i);
    if (seen->jobs++ % 300 == 0)
        nap(0.01); // the queue fills
}

TEST(jobs_are_done_whole_and_in_their_order) {
    enum { JOBS = 3000 };
    Seen seen = {0};
    char payload[400];
    Writer *writer = writer_new(&test_comm, 2000);
    int64_t takes = memory_allocs();
    for (int job = 0; job < JOBS; job++) {
        for (size_t i = 0; i < bytes_of(job); i++)
            payload[i] = byte_of(job, i);
        assert_ok(writer_put(writer, look, &seen, payload, bytes_of(job), &err));
    }
    assert_ok(writer_wait(writer, &err));
    assert_true(writer_idle(writer));
    assert_int_equal(seen.jobs, JOBS);
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(memory_allocs(), takes);
    writer_free(writer);
}

static void fail_third(void *context, const void *payload, size_t bytes, Error *err) {
    Seen *seen = context;
    (void)payload, (void)bytes;
    seen->failed += err->code != 0;
    seen->jobs++;
    if (seen->jobs == 3)
        error_set(err, EXIT_IO, "the third");
}

TEST(the_first_error_comes_back) {
    Seen seen = {0};
    Writer *writer = writer_new(&test_comm, 2000);
    for (int job = 0; job < 3; job++)
        writer_put(writer, fail_third, &seen, "", 0, &(Error){0});
    while (!writer_idle(writer))
        nap(0.001);
    assert_refused(writer_put(writer, fail_third, &seen, "", 0, &err), EXIT_IO, "the third");
    Error before = {.code = EXIT_DIVERGED, .text = "before"};
    assert_false(writer_wait(writer, &before));
    assert_error(&before, EXIT_DIVERGED, "before");
    assert_int_equal(seen.jobs, 4);
    assert_int_equal(seen.failed, 1);
    writer_free(writer);
}

static void nap_long(void *context, const void *payload, size_t bytes, Error *err) {
    (void)context, (void)payload, (void)bytes, (void)err;
    nap(0.9);
}

// Rank 0 finds the queue full, then waits for its end, each for longer than the timeout.
TEST(who_waits_for_it_answers) {
    Comm impatient = test_comm;
    comm_set_timeout(&impatient, 0.8);
    char large[800] = "";
    if (test_comm.rank == 0) {
        Writer *writer = writer_new(&impatient, 2000);
        for (int job = 0; job < 4; job++)
            writer_put(writer, nap_long, NULL, large, sizeof large, &(Error){0});
        assert_ok(writer_wait(writer, &err));
        writer_free(writer);
    }
    comm_barrier(&impatient);
}

static void look_at_signals(void *context, const void *payload, size_t bytes, Error *err) {
    (void)payload, (void)bytes, (void)err;
    static const int of_others[] = {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGALRM};
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (size_t i = 0; i < sizeof of_others / sizeof of_others[0]; i++)
        *(int *)context += sigismember(&blocked, of_others[i]) != 1;
}

TEST(signals_are_for_others) {
    int open = 0;
    Writer *writer = writer_new(&test_comm, 2000);
    writer_put(writer, look_at_signals, &open, "", 0, &(Error){0});
    writer_free(writer);
    assert_int_equal(open, 0);
}

// --- the terminal

static int kept[2];

// stdout and stderr are these two until they are put back.
static void exchange_streams(int out, int error) {
    fflush(stdout);
    for (int i = 0; i < 2; i++)
        kept[i] = dup(STDOUT_FILENO + i);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
}

static void put_streams_back(void) {
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], STDOUT_FILENO + i);
        close(kept[i]);
    }
}

enum { LINES = 8000, LINE = 40 };

static bool is_line(const char *at, int line) {
    return memcmp(at, test_text("%-39d\n", line), LINE) == 0;
}

// in turn on stderr and stdout
static void print_lines(void) {
    for (int line = 0; line < LINES; line++)
        sink_put(&terminal_sink, line % 2 == 0 ? SINK_SAY : SINK_OUTPUT, "%-39d\n", line);
}

// What arrives in a pipe that nobody reads until all is printed.
static void print_into_a_pipe(int flags, void (*print)(void), size_t bytes, char *all) {
    enum { BITE = 5000 }; // read at a time: what is printed is taken piece by piece
    int ends[2];
    size_t arrived = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fcntl(ends[1], F_SETFL, flags);
    exchange_streams(ends[1], ends[1]);
    terminal_start(&test_comm);
    print();
    for (ssize_t got = 1; arrived < bytes && got > 0; arrived += (size_t)got)
        got = read(ends[0], all + arrived, bytes - arrived < BITE ? bytes - arrived : BITE);
    Error err = {0};
    bool ok = terminal_stop(&err);
    put_streams_back();
    close(ends[0]);
    close(ends[1]);
    if (!ok)
        fail_msg("%s", err.text);
}

// O_NONBLOCK, which others that hold the terminal may set, makes writes fail where they would wait.
TEST(a_stopped_terminal_stops_nobody_and_loses_nothing) {
    static const int flags[] = {0, O_NONBLOCK};
    char *all = TEST_ARRAY(char, LINES *LINE);
    for (int i = 0; i < 2; i++) {
        memset(all, 0, LINES * LINE);
        print_into_a_pipe(flags[i], print_lines, LINES * LINE, all);
        for (int line = 0; line < LINES; line++)
            assert_true(is_line(all + line * LINE, line));
    }
}

enum { LONG = 300000 };

static char letter(int i) { return (char)('a' + i % 23); }

static void print_long(void) {
    char *text = TEST_ARRAY(char, LONG + 1);
    for (int i = 0; i < LONG; i++)
        text[i] = letter(i);
    terminal_say("%s", text);
}

// The pipe takes a part of it at a time.
TEST(a_long_text_is_printed_whole) {
    char *all = TEST_ARRAY(char, LONG);
    print_into_a_pipe(O_NONBLOCK, print_long, LONG, all);
    for (int i = 0; i < LONG; i++)
        assert_true(all[i] == letter(i));
}

TEST(a_full_disk_under_stderr_is_told_and_leaves_stdout) {
    Error err = {0};
    char text[8] = "";
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC), ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    exchange_streams(ends[1], full);
    terminal_start(&test_comm);
    terminal_say("lost\n");
    terminal_print("result\n");
    bool ok = terminal_stop(&err);
    put_streams_back();
    ssize_t got = read(ends[0], text, sizeof text);
    close(full);
    close(ends[0]);
    close(ends[1]);
    assert_false(ok);
    assert_error(&err, EXIT_IO, "stderr: No space left");
    assert_int_equal(got, 7);
    assert_memory_equal(text, "result\n", 7);
}
