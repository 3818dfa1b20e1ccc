// Shared by the tests (support.h).

#include "support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

Comm test_comm;
static char folder[256];

// --- what is done when a test has ended

static struct Later {
    struct Later *next;
    void (*clear)(void *of); // NULL: nothing but the memory behind it is to go
    void *of;
    _Alignas(64) unsigned char memory[];
} * later;

static struct Later *add_later(size_t bytes) {
    struct Later *added = NULL;
    CHECK(posix_memalign((void **)&added, 64, sizeof *added + bytes) == 0, EXIT_MEMORY,
          "no memory for %zu bytes", bytes);
    memset(added, 0, sizeof *added + bytes);
    added->next = later;
    return later = added;
}

void *test_memory(size_t bytes) { return add_later(bytes)->memory; }

void test_later(void (*clear)(void *of), void *of) {
    struct Later *added = add_later(0);
    added->clear = clear;
    added->of = of;
}

char *test_text(const char *format, ...) {
    va_list values;
    va_start(values, format);
    size_t bytes = (size_t)vsnprintf(NULL, 0, format, values) + 1;
    va_end(values);
    char *text = test_memory(bytes);
    va_start(values, format);
    vsnprintf(text, bytes, format, values);
    va_end(values);
    return text;
}

const void *test_last(void) { return later; }

void test_clear_since(const void *last) {
    while (later != last) {
        struct Later *done = later;
        later = done->next;
        if (done->clear != NULL)
            done->clear(done->of);
        free(done);
    }
}

void test_clear(void) { test_clear_since(NULL); }

// --- main

static void remove_folder(void) {
    if (folder[0] != 0 && test_comm.rank == 0)
        file_remove(folder, &(Error){0});
}

enum { MOST_TESTS = 64 };
static struct CMUnitTest tests[MOST_TESTS]; // of each, initial_state is its Steps
static int tests_place[MOST_TESTS], tests_count;
static struct Steps {
    CMUnitTestFunction test;
    CMFixtureFunction before, after;
} tests_steps[MOST_TESTS]; // in the order of the calls of test_add
static struct {
    const struct Steps *steps;
    size_t in_use; // before
    bool passed;
} current;

// A failed assertion on one of several ranks leaves the others waiting: end the job instead.
static int begin_test(void **state) {
    current.steps = *state;
    current.in_use = memory_in_use();
    current.passed = false;
    *state = NULL;
    if (test_comm.size > 1)
        setenv("CMOCKA_TEST_ABORT", "1", 1);
    return current.steps->before != NULL ? current.steps->before(state) : 0;
}

static void run_steps(void **state) {
    current.steps->test(state);
    current.passed = true;
}

static int end_test(void **state) {
    int failed = current.steps->after != NULL ? current.steps->after(state) : 0;
    test_clear();
    if (!current.passed || memory_in_use() == current.in_use)
        return failed;
    print_error("rank %d: %zu bytes were in use before the test and %zu after it\n", test_comm.rank,
                current.in_use, memory_in_use());
    return 1;
}

_Noreturn void test_skip(const char *what) {
    if (test_comm.rank == 0)
        print_message("skipped: %s\n", what);
    unsetenv("CMOCKA_TEST_ABORT"); // set again before the next test
    _skip(__FILE__, __LINE__);
    abort(); // not reached: cmocka jumps
}

// A compiler may run constructors in any order: sorted by place.
void test_add(int place, const char *name, CMUnitTestFunction test, CMFixtureFunction before,
              CMFixtureFunction after) {
    CHECK(tests_count < MOST_TESTS, EXIT_USAGE, "more than %d tests in a program", MOST_TESTS);
    int at = tests_count++;
    struct Steps *own = tests_steps + at;
    *own = (struct Steps){test, before, after};
    for (; at > 0 && tests_place[at - 1] > place; at--) {
        tests[at] = tests[at - 1];
        tests_place[at] = tests_place[at - 1];
    }
    tests[at] = (struct CMUnitTest){name, run_steps, begin_test, end_test, own};
    tests_place[at] = place;
}

int test_main(int *argc, char ***argv) {
    comm_start(&test_comm, argc, argv);
    comm_set_timeout(&test_comm, 30.0);
    if (test_comm.rank > 0 && freopen("/dev/null", "w", stdout) == NULL)
        return 1; // rank 0 prints cmocka's lines
    CHECK(tests_count > 0, EXIT_USAGE, "no test in this program");
    int failed = _cmocka_run_group_tests("tests", tests, (size_t)tests_count, NULL, NULL);
    double worst = comm_max_double(&test_comm, (double)failed);
    remove_folder();
    comm_stop(&test_comm);
    return worst > 0 ? 1 : 0;
}

// --- data

static _Noreturn void skip_or_fail(const char *what, const char *sentence) {
    char text[512];
    snprintf(text, sizeof text, "%s %s", what, sentence);
    const char *required = getenv("FRINGE_REQUIRE_DATA");
    if (required != NULL && strcmp(required, "1") == 0)
        fail_msg("%s", text);
    test_skip(text);
}

const char *data_folder_or_skip(const char *what) {
    const char *data = getenv("FRINGE_DATA");
    if (data == NULL || !file_is_folder(data))
        skip_or_fail(what, "needs real data; set FRINGE_DATA to its folder");
    return data;
}

const char *data_path_or_skip(const char *inside) {
    const char *path = test_text("%s/%s", data_folder_or_skip(inside), inside);
    if (!file_exists(path))
        skip_or_fail(inside, "is not in FRINGE_DATA");
    return path;
}

int test_turns(int few, int many) { return getenv("FRINGE_LONG") != NULL ? many : few; }

// --- files

const char *test_folder(void) {
    if (folder[0] == 0) {
        if (test_comm.rank == 0) {
            const char *base = getenv("TMPDIR");
            snprintf(folder, sizeof folder, "%s/fringe-test-XXXXXX", base ? base : "/tmp");
            if (mkdtemp(folder) == NULL)
                fail_msg("cannot make the folder %s", folder);
        }
        comm_broadcast(&test_comm, folder, sizeof folder, 0);
    }
    return folder;
}

const char *test_path(const char *name) { return test_text("%s/%s", test_folder(), name); }

char *test_read(const char *path, size_t *bytes) {
    size_t count;
    char *data = assert_ok(file_read(path, SIZE_MAX, bytes != NULL ? bytes : &count, &err));
    test_later(memory_free, data);
    return data;
}

void test_write(const char *path, const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || (bytes > 0 && fwrite(data, 1, bytes, file) != bytes) || fclose(file) != 0)
        fail_msg("cannot write %s", path);
}

void test_write_text(const char *path, const char *text) { test_write(path, text, strlen(text)); }

void test_temporary(char out[1200], const char *path, int process) {
    char ours[1200];
    assert_ok(file_temporary(ours, sizeof ours, path, &err));
    *strrchr(ours, '-') = 0; // the call
    *strrchr(ours, '-') = 0; // the process
    if (snprintf(out, 1200, "%s-%d-0", ours, process) >= 1200)
        fail_msg("%s: the name is too long", path);
}

void test_file_limit(int64_t bytes) {
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < 0 ? limit.rlim_max : (rlim_t)bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

int test_dead_process(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return (int)child;
}

// --- comparing

const char *test_word(const char *name) {
    const char *argument = family_argument(name);
    int head = argument != NULL ? (int)(argument - name) : (int)strlen(name);
    const char *of = argument == NULL ? "" : argument[0] == 'F' ? "0.1" : "2";
    return test_text("%.*s%s", head, name, of);
}

double relative_error_double(const double *a, const double *b, int64_t count) {
    double difference = 0, norm = 0;
    for (int64_t i = 0; i < count; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        norm += b[i] * b[i];
    }
    return norm > 0 ? sqrt(difference / norm) : sqrt(difference);
}

double relative_error(const float *a, const float *b, int64_t count) {
    double difference = 0, norm = 0;
    for (int64_t i = 0; i < count; i++) {
        double d = (double)a[i] - (double)b[i];
        difference += d * d;
        norm += (double)b[i] * (double)b[i];
    }
    return norm > 0 ? sqrt(difference / norm) : sqrt(difference);
}

void assert_close_at(const float *a, const float *b, int64_t count, double tolerance,
                     const char *what, const char *file, int line) {
    double error = relative_error(a, b, count);
    if (error <= tolerance) // false for NaN
        return;
    print_error("rank %d: %s:%d: %s: relative error %.3g, allowed %.3g\n", test_comm.rank, file,
                line, what, error, tolerance);
    _fail(file, line);
}

void assert_near_at(double a, double b, double tolerance, const char *what, const char *file,
                    int line) {
    if (fabs(a - b) <= tolerance)
        return;
    print_error("rank %d: %s:%d: %s: %.10g against %.10g, allowed %.3g\n", test_comm.rank, file,
                line, what, a, b, tolerance);
    _fail(file, line);
}

void test_fail_at(const char *file, int line, const char *what, const char *sentence) {
    print_error("rank %d: %s:%d: %s: %s\n", test_comm.rank, file, line, what, sentence);
    _fail(file, line);
}

void assert_error_at(const Error *err, ExitCode code, const char *const *parts, const char *file,
                     int line) {
    while (err->code == (int)code && *parts != NULL && strstr(err->text, *parts) != NULL)
        parts++;
    if (err->code == (int)code && *parts == NULL)
        return;
    print_error("rank %d: %s:%d: expected code %d and \"%s\", found code %d and \"%s\"\n",
                test_comm.rank, file, line, (int)code, *parts, err->code, err->text);
    _fail(file, line);
}
