// Draws text and activities on stdout and stderr.
//
// One lock protects everything here. It is held while a stopped terminal blocks, so callers that
// must not wait print through a writer thread (terminal.h).

#include "fringe/base/clock.h"
#include "fringe/base/event_log.h"
#include "fringe/base/memory.h"
#include "fringe/base/quantity.h"
#include "fringe/base/terminal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 2, ACTIVITY_TEXT = 512, LABEL_TEXT = 32, LINE = 3 * ACTIVITY_TEXT };
static const int descriptor[STREAMS] = {STDOUT_FILENO, STDERR_FILENO};
static const double first_report = 2;   // seconds without output, of a stream without a live line
static const double longest_pause = 60; // seconds between two reports of the same activity
static const double shown_on_screen = 0.2, shown_in_file = 1; // shorter activities get no line

typedef struct Activity {
    bool runs;
    char label[LABEL_TEXT], text[ACTIVITY_TEXT], progress[ACTIVITY_TEXT];
    double began;
} Activity;

static struct Screen {
    pthread_mutex_t lock;
    bool known;             // what follows is set
    bool terminal[STREAMS]; // else a pipe or a file
    bool colour;
    bool passes_records;
    bool live; // the live line is drawn
    Activity activity;
    double spoken, pause; // clock of the last output; seconds until a long activity is reported
    char *held[STREAMS];  // an unfinished line; owned
    size_t held_bytes[STREAMS];
    double held_since[STREAMS];
    bool inside_line[STREAMS]; // the beginning of the line is written, its end is still to come
    int failed;                // errno of the last write that failed
    bool keeps_own_lines;
    volatile sig_atomic_t work_has_begun;
} screen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_set(const char *name) { return getenv(name) != NULL && getenv(name)[0] != 0; }

static void find_out(void) {
    const char *kind = getenv("TERM");
    bool by_mpirun = is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMIX_RANK"); // with pseudo-terminals
    if (screen.known)
        return;
    screen.known = true;
    for (int i = 0; i < STREAMS; i++)
        screen.terminal[i] = isatty(descriptor[i]) && !by_mpirun;
    screen.colour = !is_set("NO_COLOR") && (kind == NULL || strcmp(kind, "dumb") != 0);
    screen.spoken = clock_seconds();
    screen.pause = first_report;
    atexit(screen_clear);
}

// Asks every time, because windows change their size.
static int width_of(int stream) {
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    int width = columns != NULL ? atoi(columns) : 0;
    if (width <= 0 && ioctl(descriptor[stream], TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    return width >= 20 && width < 10000 ? width : 80;
}

// --- writing

// Other programs may have made the terminal nonblocking (O_NONBLOCK), so wait here.
static bool wait_for(int stream) {
    struct pollfd ready = {.fd = descriptor[stream], .events = POLLOUT};
    return errno == EINTR || (errno == EAGAIN && (poll(&ready, 1, -1) > 0 || errno == EINTR));
}

static void put(int stream, const char *text, size_t bytes) {
    while (bytes > 0) {
        ssize_t written = write(descriptor[stream], text, bytes);
        if (written < 0 && !wait_for(stream)) {
            screen.failed = errno;
            return;
        }
        text += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
    screen.spoken = clock_seconds();
}

static void put_text(int stream, const char *text) { put(stream, text, strlen(text)); }

// --- the live line

static void erase(void) {
    if (screen.live)
        put_text(SCREEN_STDERR, "\r\033[K");
    screen.live = false;
}

// The line of the activity, without a newline.
static void describe(char out[LINE], const char *more) {
    const Activity *activity = &screen.activity;
    char seconds[QUANTITY];
    double passed = clock_seconds() - activity->began;
    if (passed < 60)
        snprintf(seconds, sizeof seconds, "%.1f s", passed);
    else
        quantity_clock(seconds, passed);
    snprintf(out, LINE, "%-10s %s%s%s  %s", activity->label, activity->text,
             activity->text[0] != 0 && more[0] != 0 ? ", " : "", more, seconds);
}

static void draw(void) {
    char line[LINE];
    if (!screen.terminal[SCREEN_STDERR] || screen.passes_records || !screen.activity.runs ||
        screen.held_bytes[SCREEN_STDERR] > 0 || screen.inside_line[SCREEN_STDERR] ||
        screen.inside_line[SCREEN_STDOUT])
        return;
    describe(line, screen.activity.progress);
    int width = width_of(SCREEN_STDERR) - 1; // a full line would make some terminals scroll
    if ((int)strlen(line) > width)
        line[width] = 0;
    erase();
    put_text(SCREEN_STDERR, line);
    screen.live = true;
}

// --- lines of text

typedef struct Mark {
    size_t begin, end;
    const char *code; // NULL: none
} Mark;

static Mark mark_of(const char *line, size_t bytes) {
    const char *best = memmem(line, bytes, " * ", 3);
    if (bytes > 7 && memcmp(line, "warning", 7) == 0)
        return (Mark){0, 7, "\033[33m"};
    if (bytes > 7 && memcmp(line, "fringe:", 7) == 0)
        return (Mark){0, 7, "\033[31m"};
    if (bytes > 5 && memcmp(line, "epoch", 5) == 0 && best != NULL)
        return (Mark){(size_t)(best - line) + 1, (size_t)(best - line) + 2, "\033[32m"};
    return (Mark){0};
}

static void put_marked(int stream, const char *text, size_t bytes) {
    Mark mark = mark_of(text, bytes);
    if (mark.code == NULL || !screen.colour) {
        put(stream, text, bytes);
        return;
    }
    put(stream, text, mark.begin);
    put_text(stream, mark.code);
    put(stream, text + mark.begin, mark.end - mark.begin);
    put_text(stream, "\033[0m");
    put(stream, text + mark.end, bytes - mark.end);
}

static void put_line(int stream, const char *line, size_t bytes) {
    FREED char *broken = ALLOC(char, SCREEN_BROKEN(bytes), "a line of text");
    size_t length = screen_break(broken, line, bytes, width_of(stream));
    erase();
    put_marked(stream, broken, length);
}

// --- activities

static void drop_activity(void) {
    screen.activity.runs = false;
    erase();
}

static void end_activity(const char *result) {
    Activity *activity = &screen.activity;
    bool terminal = screen.terminal[SCREEN_STDERR];
    double least = terminal ? shown_on_screen : shown_in_file;
    char line[LINE];
    if (!activity->runs)
        return;
    activity->runs = false;
    erase();
    if (result[0] == 0 && clock_seconds() - activity->began < least)
        return;
    describe(line, result);
    if (terminal) {
        put_line(SCREEN_STDERR, line, strlen(line));
    } else {
        put_text(SCREEN_STDERR, line);
        put_text(SCREEN_STDERR, "\n");
    }
}

// "label<tab>text"
static void begin_activity(const char *text) {
    Activity *activity = &screen.activity;
    size_t label = strcspn(text, "\t");
    end_activity("");
    *activity = (Activity){.runs = true, .began = clock_seconds()};
    snprintf(activity->label, sizeof activity->label, "%.*s", (int)label, text);
    snprintf(activity->text, sizeof activity->text, "%s",
             text[label] == '\t' ? text + label + 1 : "");
    screen.spoken = activity->began;
    screen.pause = first_report;
}

// `record`: without its first character
static void take_record(const char *record) {
    const char *text = record[0] != 0 ? record + 1 : "";
    if (record[0] == PROGRESS_BEGIN)
        begin_activity(text);
    else if (record[0] == PROGRESS_UPDATE)
        snprintf(screen.activity.progress, ACTIVITY_TEXT, "%.*s", ACTIVITY_TEXT - 1, text);
    else if (record[0] == PROGRESS_END)
        end_activity(text);
    else if (record[0] == WORK_BEGUN)
        screen.work_has_begun = 1;
    else
        drop_activity();
}

// --- what arrives

// `line`: its newline follows.
static void take_line(int stream, const char *line, size_t bytes) {
    char record[LINE];
    if (event_log_saw(line, bytes))
        return;
    if (bytes > 0 && line[0] == SCREEN_RECORD && !screen.passes_records) {
        snprintf(record, sizeof record, "%.*s", (int)bytes - 1, line + 1);
        take_record(record);
    } else if (screen.keeps_own_lines && strncmp(line, "fringe: ", 8 < bytes ? 8 : bytes) != 0) {
        return;
    } else if (screen.terminal[stream] && !screen.passes_records) {
        put_line(stream, line, bytes);
    } else {
        put(stream, line, bytes + 1); // with one call, so that lines of other ranks do not cut it
    }
}

static void hold(int stream, const char *text, size_t bytes) {
    size_t before = screen.held_bytes[stream];
    if (bytes == 0)
        return;
    screen.held[stream] =
        memory_grown(screen.held[stream], before, before + bytes, "an unfinished line");
    memcpy(screen.held[stream] + before, text, bytes);
    screen.held_bytes[stream] = before + bytes;
    screen.held_since[stream] = clock_seconds();
}

static void let_go(int stream) {
    memory_free(screen.held[stream]);
    screen.held[stream] = NULL;
    screen.held_bytes[stream] = 0;
}

// A line whose end does not come is written as it is.
static void put_held(int stream, double age) {
    if (screen.held_bytes[stream] == 0 || clock_seconds() - screen.held_since[stream] < age)
        return;
    erase();
    put(stream, screen.held[stream], screen.held_bytes[stream]);
    screen.inside_line[stream] = true;
    let_go(stream);
}

// An unfinished line waits for its end if it is to be broken at words, or may be a progress record.
static void take_rest(int stream, const char *text, size_t bytes) {
    bool waits = screen.terminal[stream] || screen.held_bytes[stream] > 0 ||
                 (bytes > 0 && text[0] == SCREEN_RECORD);
    if (waits && !screen.passes_records) {
        hold(stream, text, bytes);
    } else if (bytes > 0) {
        put(stream, text, bytes);
        screen.inside_line[stream] = true;
    }
}

// The rest of a line whose beginning is written. Returns how many bytes that was.
static size_t take_inside_line(int stream, const char *text, size_t bytes) {
    size_t taken = 0;
    if (!screen.inside_line[stream] || bytes == 0)
        return 0;
    while (taken < bytes && text[taken] != '\n' && text[taken] != SCREEN_RECORD)
        taken++;
    put(stream, text, taken);
    screen.inside_line[stream] = taken == bytes;
    if (taken < bytes)
        put_text(stream, "\n");
    return taken + (taken < bytes && text[taken] == '\n');
}

static void take(int stream, const char *text, size_t bytes) {
    const char *end;
    size_t taken = take_inside_line(stream, text, bytes);
    text += taken;
    bytes -= taken;
    while ((end = memchr(text, '\n', bytes)) != NULL) {
        size_t line = (size_t)(end - text);
        if (screen.held_bytes[stream] > 0) {
            hold(stream, text, line + 1);
            take_line(stream, screen.held[stream], screen.held_bytes[stream] - 1);
            let_go(stream);
        } else {
            take_line(stream, text, line);
        }
        text = end + 1;
        bytes -= line + 1;
    }
    take_rest(stream, text, bytes);
}

int screen_write(int stream, const char *text, size_t bytes) {
    pthread_mutex_lock(&screen.lock);
    find_out();
    screen.failed = 0;
    take(stream, text, bytes);
    draw();
    int failed = screen.failed;
    pthread_mutex_unlock(&screen.lock);
    return failed;
}

// --- the clock

// In a pipe or file, an activity that has been silent for long says that it runs, ever more seldom.
static void report_activity(void) {
    char line[LINE];
    if (clock_seconds() - screen.spoken < screen.pause)
        return;
    describe(line, screen.activity.progress);
    put_text(SCREEN_STDERR, line);
    put_text(SCREEN_STDERR, " ...\n");
    screen.pause = screen.pause < longest_pause ? 2 * screen.pause : longest_pause;
}

void screen_tick(void) {
    pthread_mutex_lock(&screen.lock);
    find_out();
    for (int i = 0; i < STREAMS; i++)
        put_held(i, 0.3);
    if (screen.terminal[SCREEN_STDERR])
        draw();
    else if (screen.activity.runs && !screen.passes_records && !screen.keeps_own_lines)
        report_activity();
    pthread_mutex_unlock(&screen.lock);
}

static void *tick(void *unused) {
    static const struct timespec moment = {.tv_nsec = 100000000};
    for (;;) {
        screen_tick();
        nanosleep(&moment, NULL);
    }
    return unused;
}

void screen_tick_by_thread(void) {
    pthread_t thread;
    sigset_t all, before;
    static atomic_flag ticks = ATOMIC_FLAG_INIT; // the lock may be held by a write that waits
    if (screen.passes_records || atomic_flag_test_and_set(&ticks))
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // other threads handle signals
    if (pthread_create(&thread, NULL, tick, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// Without the lock, for signal handlers.
bool screen_is_live(void) { return screen.live; }
bool screen_work_has_begun(void) { return screen.work_has_begun; }

void screen_pass_records(void) { screen.passes_records = true; }
void screen_keep_own_lines(bool keep) { screen.keeps_own_lines = keep; }

void screen_clear(void) {
    pthread_mutex_lock(&screen.lock);
    for (int i = 0; i < STREAMS; i++)
        put_held(i, 0);
    drop_activity();
    pthread_mutex_unlock(&screen.lock);
}
