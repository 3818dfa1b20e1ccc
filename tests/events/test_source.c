// If this failed, an event would depend on how its bytes arrive, or a reader would hang on a
// silent FIFO.

#include "streams.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// --- cut streams

// Bytes of an event in the binary form, by its drawing.
static size_t record_bytes(const Event *e) {
    size_t name = e->kind == EVENT_SNAPSHOT ? (strlen(e->name) + 7) / 8 : 0;
    return 16 + (e->weighted ? sizeof(float) : 0) + 8 * ((size_t)e->count + name);
}

TEST(a_record_is_read_whole_or_not_at_all) {
    size_t bytes;
    write_stream(test_path("cut"), true, every_form, FORMS);
    char *whole = test_read(test_path("cut"), &bytes);
    for (size_t cut = 12; cut <= bytes; cut++) {
        char part[64], *exact = malloc(cut); // so that a sanitizer sees a read behind it
        memcpy(exact, whole, cut);
        EventReader *reader = event_reader_memory(exact, cut, "toy");
        size_t at = 12;
        int i = 0;
        for (; i < FORMS && at + record_bytes(&every_form[i]) <= cut; i++) {
            at += record_bytes(&every_form[i]);
            assert_next(reader, &every_form[i]);
            assert_int_equal(event_reader_place(reader).offset, at);
        }
        size_t due = cut - at < 16 ? 16 : record_bytes(&every_form[i < FORMS ? i : 0]);
        snprintf(part, sizeof part, "toy: byte %zu: the stream ends within this record", at);
        if (cut == at) {
            assert_end(reader);
        } else {
            assert_wrong(reader, EXIT_DATA, part);
            snprintf(part, sizeof part, "%zu bytes %zu are missing", due, due - (cut - at));
            assert_wrong(reader, EXIT_DATA, part);
        }
        event_reader_close(reader);
        free(exact);
    }
    assert_true(bytes > 300);
}

TEST(whole_lines_before_a_cut_are_read) {
    static const char text[] = "fringe-stream 1\n" EVERY_FORM;
    for (size_t cut = 16; cut < sizeof text; cut++) {
        Event event;
        Error err;
        char *exact = malloc(cut);
        memcpy(exact, text, cut);
        EventReader *reader = event_reader_memory(exact, cut, "toy");
        int lines = -1;
        for (size_t i = 0; i < cut; i++)
            lines += exact[i] == '\n';
        for (int i = 0; i < lines; i++)
            assert_next(reader, &every_form[i]);
        if (exact[cut - 1] != '\n') {
            assert_int_not_equal(next_ready(reader, &event, &err), EVENT_END);
            assert_non_null(strstr(event_reader_warnings(reader)->text, "has no end"));
        }
        assert_end(reader);
        event_reader_close(reader);
        free(exact);
    }
}

// --- FIFOs

typedef struct Sender {
    pthread_t thread;
    char path[1024];
    const char *bytes;
    size_t count, piece;
} Sender;

static void *send_pieces(void *context) {
    Sender *sender = context;
    int descriptor = open(sender->path, O_WRONLY | O_CLOEXEC);
    for (size_t at = 0; at < sender->count; at += sender->piece) {
        size_t left = sender->count - at;
        size_t piece = left < sender->piece ? left : sender->piece;
        if (write(descriptor, sender->bytes + at, piece) != (ssize_t)piece)
            break;
        if (piece < 100)
            sched_yield(); // so that the reader finds it alone
    }
    close(descriptor);
    return NULL;
}

// Opens a FIFO of this name and has the bytes sent through it.
static EventReader *receive(Sender *sender, const char *name, const char *bytes, size_t count,
                            size_t piece) {
    *sender = (Sender){.bytes = bytes, .count = count, .piece = piece};
    snprintf(sender->path, sizeof sender->path, "%s", test_path(name));
    unlink(sender->path);
    assert_int_equal(mkfifo(sender->path, 0600), 0);
    EventReader *reader = open_reader(sender->path);
    assert_int_equal(pthread_create(&sender->thread, NULL, send_pieces, sender), 0);
    return reader;
}

TEST(pieces_make_the_same_events) {
    for (int binary = 0; binary < 2; binary++) {
        size_t count;
        write_stream(test_path("whole"), binary, every_form, FORMS);
        char *bytes = test_read(test_path("whole"), &count);
        for (size_t piece = 1; piece <= 8; piece++) {
            Sender sender;
            OWNED(EventReader) *reader = receive(&sender, "fifo", bytes, count, piece);
            assert_false(event_reader_can_seek(reader));
            for (int i = 0; i < FORMS; i++)
                assert_next(reader, &every_form[i]);
            assert_end(reader);
            pthread_join(sender.thread, NULL);
        }
    }
}

// The file moves through the buffer in other steps than the FIFO, and both know the same places.
TEST(a_long_stream_is_the_same_through_a_fifo) {
    for (int binary = 0; binary < 2; binary++) {
        size_t count;
        Sender sender;
        write_many(test_path("many"), binary);
        char *bytes = test_read(test_path("many"), &count);
        assert_true(count > 4 << 20);
        OWNED(EventReader) *file = open_reader(test_path("many"));
        OWNED(EventReader) *memory = event_reader_memory(bytes, count, "toy");
        OWNED(EventReader) *fifo = receive(&sender, "fifo", bytes, count, 4096);
        for (uint64_t i = 0; i < MANY; i++) {
            uint64_t ids[16];
            Event event = numbered(i, ids);
            EventPlace before = event_reader_place(file);
            assert_next(file, &event);
            assert_true(i == 0 || same_place(event_reader_place_before(file), before));
            assert_next(memory, &event);
            assert_next(fifo, &event);
            if (i % 97 == 0 || i < 100) {
                assert_true(same_place(event_reader_place(file), event_reader_place(fifo)));
                assert_true(same_place(event_reader_place(file), event_reader_place(memory)));
            }
        }
        assert_end(file);
        assert_end(fifo);
        pthread_join(sender.thread, NULL);
    }
}

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void assert_waits(EventReader *reader, double at_least) {
    Event event;
    double before = seconds_now();
    assert_int_equal(event_reader_next(reader, &event, &(Error){0}), EVENT_WAITING);
    double took = seconds_now() - before;
    assert_true(took >= at_least && took < 2);
}

// Nobody has opened it, then there is half an event, then nothing between two events.
TEST(a_pause_is_no_end) {
    static const char text[] = "fringe-stream 1\n+p 17 6\n";
    const char *path = test_path("pause");
    assert_int_equal(mkfifo(path, 0600), 0);
    OWNED(EventReader) *reader = open_reader(path);
    assert_waits(reader, 0.19);
    int writer = open(path, O_WRONLY | O_CLOEXEC);
    assert_waits(reader, 0.19);
    assert_int_equal(write(writer, text, 20), 20);
    assert_waits(reader, 0.19);
    assert_int_equal(event_reader_place(reader).offset, 16);
    assert_int_equal(write(writer, text + 20, strlen(text + 20)), strlen(text + 20));
    assert_next(reader, &every_form[6]);
    assert_waits(reader, 0.19);
    close(writer);
    assert_end(reader);
}

// The first record of a binary stream does not wait for the second one.
TEST(an_event_is_read_as_soon_as_it_is_there) {
    size_t count;
    const char *path = test_path("soon");
    assert_int_equal(mkfifo(path, 0600), 0);
    write_stream(test_path("one"), true, &every_form[6], 1);
    char *bytes = test_read(test_path("one"), &count);
    OWNED(EventReader) *reader = open_reader(path);
    int writer = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(writer, bytes, count), count);
    assert_next(reader, &every_form[6]);
    assert_waits(reader, 0.19);
    close(writer);
}

static void nothing(int number) { (void)number; }

// A caller that was asked to stop looks at once.
TEST(a_signal_ends_a_pause) {
    struct sigaction kept, action = {.sa_handler = nothing};
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    const char *path = test_path("signal");
    assert_int_equal(mkfifo(path, 0600), 0);
    OWNED(EventReader) *reader = open_reader(path);
    sigaction(SIGALRM, &action, &kept);
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_waits(reader, 0.01);
    sigaction(SIGALRM, &kept, NULL);
}

// --- limits. The files are holes: zeros that take no room on the disk.

static void write_hole(const char *path, const void *head, size_t count, off_t hole,
                       const char *tail) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    off_t end = (off_t)count + hole;
    size_t length = strlen(tail);
    assert_int_equal(write(descriptor, head, count), count);
    assert_int_equal(ftruncate(descriptor, end), 0);
    assert_int_equal(pwrite(descriptor, tail, length, end), length);
    close(descriptor);
}

TEST(an_endless_line_is_refused) {
    const char *path = test_path("endless");
    const Event gone = {EVENT_NO_NODE, 9, 0, NULL, false, 1, ""};
    write_hole(path, "fringe-stream 1\n", 16, EVENT_RECORD, "\n-v 9\n");
    OWNED(EventReader) *reader = open_reader(path);
    assert_wrong(reader, EXIT_DATA, ":2: byte 1 of the line is zero");
    assert_next(reader, &gone);
    assert_end(reader);
    event_reader_close(reader);
    write_hole(path, "fringe-stream 1\n", 16, EVENT_RECORD + 1, "\n-v 9\n");
    reader = open_reader(path);
    for (int i = 0; i < 2; i++)
        assert_wrong(reader, EXIT_DATA,
                     ":2: the line has more than 67108864 bytes (64 MiB); a large hyperedge can be "
                     "sent in several +h events");
}

TEST(the_largest_record_is_read) {
    static const char head[] = "FRNGSTRM\1\0\0\0"
                               "\1\0\0\0\376\377\177\0\7\0\0\0\0\0\0\0"; // 2^23 - 2 ids
    Event event;
    Error err;
    write_hole(test_path("largest"), head, 28, EVENT_RECORD - 16, "");
    OWNED(EventReader) *reader = open_reader(test_path("largest"));
    assert_int_equal(next_ready(reader, &event, &err), EVENT_READ);
    assert_int_equal(event.count, (EVENT_RECORD - 16) / 8);
    assert_true(event.other[0] == 0 && event.other[event.count - 1] == 0);
    assert_true((uintptr_t)event.other % 64 == 0);
    assert_end(reader);
}

// --- opening

static void refuse_open(const char *path, ExitCode code, const char *part) {
    assert_refused(event_reader_open(path, &err) != NULL, code, part);
}

TEST(what_is_no_source_is_refused) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/fringe-%d.socket", (int)getpid());
    assert_int_equal(bind(made, (struct sockaddr *)&address, sizeof address), 0);
    refuse_open(address.sun_path, EXIT_DATA, "is a socket; a stream is a file, a FIFO or");
    unlink(address.sun_path);
    close(made);
    refuse_open(test_path("missing"), EXIT_NO_INPUT, "missing: cannot open: No such file");
    refuse_open(test_path("missing/x"), EXIT_NO_INPUT, "cannot open");
    refuse_open(test_folder(), EXIT_DATA, "is a folder; a stream is a file, a FIFO or, as '-',");
    refuse_open("/dev/zero", EXIT_DATA, "/dev/zero: is a device; a stream is a file");
    test_write_text(test_path("locked"), "fringe-stream 1\n");
    assert_int_equal(chmod(test_path("locked"), 0), 0);
    if (geteuid() != 0)
        refuse_open(test_path("locked"), EXIT_NO_INPUT, "permission denied");
}

// Runs with this descriptor, which is closed, as standard input.
static EventReader *read_standard_input(int descriptor, int *kept) {
    *kept = dup(STDIN_FILENO);
    assert_int_equal(dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
    close(descriptor);
    return open_reader("-");
}

static void close_standard_input(EventReader *reader, int kept) {
    event_reader_close(reader);
    dup2(kept, STDIN_FILENO);
    close(kept);
}

TEST(standard_input_is_read) {
    static const char text[] = "fringe-stream 1\n+p 17 6\n+p\n";
    int kept, ends[2];
    test_write_text(test_path("stdin"), text);
    EventReader *reader = read_standard_input(open(test_path("stdin"), O_RDONLY), &kept);
    assert_true(event_reader_can_seek(reader));
    assert_next(reader, &every_form[6]);
    assert_wrong(reader, EXIT_DATA, "standard input:3: '+p' without an id");
    assert_end(reader);
    close_standard_input(reader, kept);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    reader = read_standard_input(ends[0], &kept);
    assert_false(event_reader_can_seek(reader));
    assert_next(reader, &every_form[6]);
    close_standard_input(reader, kept);
    reader = read_standard_input(open("/dev/null", O_RDONLY), &kept);
    assert_wrong(reader, EXIT_DATA, "standard input: is empty");
    close_standard_input(reader, kept);
}
