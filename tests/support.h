// Shared by the tests: a main for cmocka groups that also runs on several ranks, real data,
// temporary folders and comparison by norm. With it come the headers of C that most tests use.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/testing.h"
#include "fringe/base.h"

// On several ranks cmocka would end the process at a skip as it does at a failure. test.sh counts
// skips by the line "skipped: ..." that rank 0 prints.
#undef skip
#define skip() test_skip(__func__)
_Noreturn void test_skip(const char *what);

// All ranks of this test; one rank without mpirun. test_main starts it with a timeout of 30 s.
extern Comm test_comm;

// TEST(what_it_shows) { ... } is a test of this program; TEST_WITH names what runs before and after
// it (NULL: nothing). They run in the order in which they are written. A test fails where memory is
// left in use when it and what runs after it have ended.
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, before, after)                                                             \
    static void name(void **);                                                                     \
    __attribute__((constructor)) static void name##_is_a_test(void) {                              \
        test_add(__COUNTER__, #name, name, before, after);                                         \
    }                                                                                              \
    static void name(void **cmocka_state __attribute__((unused)))
void test_add(int place, const char *name, CMUnitTestFunction test, CMFixtureFunction before,
              CMFixtureFunction after);

// Runs them all; 1 if one failed. A program without a main of its own does nothing else (main.c).
// On several ranks a failed assertion ends the whole job (the others would wait for this rank), and
// only rank 0 prints cmocka's lines.
int test_main(int *argc, char ***argv);

// The name of a member of a family as a config has it: with an argument if it takes one, a whole
// number, or a fraction where the name says F.
const char *test_word(const char *name);

// The folder of real data (environment FRINGE_DATA). Without it the test is skipped with a sentence
// that names `what`, or fails if FRINGE_REQUIRE_DATA=1.
const char *data_folder_or_skip(const char *what);
// The same for one file or folder inside it: "cora/cora.npz".
const char *data_path_or_skip(const char *inside);

// SETTINGS("model.layers=2", "run.threads=1") is a list of strings and how many they are, as
// config_load and what calls it take them: two arguments.
#define SETTINGS(...)                                                                              \
    (const char *const[]){__VA_ARGS__},                                                            \
        (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

// The config of such settings alone.
#define CONFIGURED(...)                                                                            \
    __extension__({                                                                                \
        Config configured;                                                                         \
        assert_ok(config_load(&configured, NULL, SETTINGS(__VA_ARGS__), &err));                    \
        configured;                                                                                \
    })

// Zeroed memory, 64-byte aligned, that belongs to the test: it goes when the test has ended, and
// memory_in_use does not count it.
#define TEST_ARRAY(type, count)                                                                    \
    ((type *)test_memory(memory_product((int64_t)(count), sizeof(type))))
void *test_memory(size_t bytes);
// Calls clear(of) when the test and what runs after it have ended: the last one first.
void test_later(void (*clear)(void *of), void *of);
void test_clear(void); // does so now, between the cases of a test that makes much
// What the test was given last, or NULL; and clears only what it was given after that.
const void *test_last(void);
void test_clear_since(const void *last);

// OWNED(Dataset) d is a Dataset that is cleared where its block ends, OWNED(Trainer) *t a Trainer
// that is freed there: by what CLEARS_Dataset and CLEARS_Trainer name.
#define OWNED(Type) CLEARED(CLEARS_##Type) Type
#define CLEARS_Channel channel_drop
#define CLEARS_Dataset dataset_clear
#define CLEARS_EventReader reader_drop
#define CLEARS_GradSync sync_drop
#define CLEARS_Json json_drop
#define CLEARS_Trainer trainer_drop

// How often a test repeats what chance decides: `few` times in the suite, `many` times where
// FRINGE_LONG is set (bench/run.sh late, or by hand).
int test_turns(int few, int many);
// `few` under the sanitizers, which are to watch each line of the product with each tail of shapes
// and each codec once; `all` elsewhere, where each value, seed and combination is judged. A
// constant.
#ifdef __SANITIZE_ADDRESS__
#define UNDER_SANITIZERS(few, all) (1 ? (few) : (all))
#else
#define UNDER_SANITIZERS(few, all) (0 ? (few) : (all))
#endif

// A new empty folder, the same on all ranks; it is removed when the program ends. Collective.
const char *test_folder(void);
const char *test_path(const char *name); // "folder/name"; in memory of the test, as test_text
// What printf would print, in memory of the test.
char *test_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
// The whole file, with a 0 behind it; in memory of the test. `bytes`: NULL or how many.
char *test_read(const char *path, size_t *bytes);
void test_write(const char *path, const void *data, size_t bytes);
void test_write_text(const char *path, const char *text);
// The temporary name beside `path` that process `process` of this machine would use.
void test_temporary(char out[1200], const char *path, int process);
// This process's files cannot grow beyond so many bytes, as on a disk that is full; -1: they can.
void test_file_limit(int64_t bytes);
// The number of a process that has ended.
int test_dead_process(void);

// |a - b| / |b| by the 2-norm, in double; the plain |a| where b is 0.
double relative_error(const float *a, const float *b, int64_t count);
double relative_error_double(const double *a, const double *b, int64_t count);
// Fails and prints the relative error of `a` to `b` unless it is at most `tolerance`.
#define assert_close(a, b, count, tolerance)                                                       \
    assert_close_at((a), (b), (count), (tolerance), #a " ~ " #b, __FILE__, __LINE__)
void assert_close_at(const float *a, const float *b, int64_t count, double tolerance,
                     const char *what, const char *file, int line);
#define assert_near(a, b, tolerance)                                                               \
    assert_near_at((a), (b), (tolerance), #a " ~ " #b, __FILE__, __LINE__)
void assert_near_at(double a, double b, double tolerance, const char *what, const char *file,
                    int line);

// All lend the call an empty `Error err`. The value of the call, or a failure with the sentence of
// `err` where it is false or NULL:
#define assert_ok(call)                                                                            \
    __extension__({                                                                                \
        Error err = {0};                                                                           \
        __auto_type answer = (call);                                                               \
        if (!answer)                                                                               \
            test_fail_at(__FILE__, __LINE__, #call, err.text);                                     \
        answer;                                                                                    \
    })
// The same, but without it the test is skipped: what it is about is not there.
#define ok_or_skip(call)                                                                           \
    __extension__({                                                                                \
        Error err = {0};                                                                           \
        __auto_type answer = (call);                                                               \
        if (!answer)                                                                               \
            test_skip(err.text);                                                                   \
        answer;                                                                                    \
    })
// Fails unless the call is refused with this code and a sentence that contains each part.
#define assert_refused(call, expected, ...)                                                        \
    do {                                                                                           \
        Error err = {0};                                                                           \
        if (call)                                                                                  \
            test_fail_at(__FILE__, __LINE__, #call, "was not refused");                            \
        assert_error(&err, (expected), __VA_ARGS__);                                               \
    } while (0)
// Fails unless *err has this code and each part.
#define assert_error(err, expected, ...)                                                           \
    assert_error_at((err), (expected), (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)
void assert_error_at(const Error *err, ExitCode code, const char *const *parts, const char *file,
                     int line);
void test_fail_at(const char *file, int line, const char *what, const char *sentence);
