// Three kinds of failure (docs/architecture.md). A bug of ours: assert. A failure of the machine:
// CHECK, which prints rank, file, line and a sentence once and aborts all ranks. A mistake in the
// input or the environment: a function returns false and fills an Error with a sentence that says
// what, where and what to do; only the command line prints it.
#pragma once

// The headers of C that most files use.
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers of 64 bits are printed with %ld and %lu.
static_assert(sizeof(long) == sizeof(int64_t), "a machine whose long has 64 bits");

// Of a parameter: this member of a family does not need it.
#define UNUSED __attribute__((unused))

// Exit codes of the program (docs/exit-codes.md); an Error carries the one it leads to.
typedef enum ExitCode {
    EXIT_OK = 0,
    EXIT_USAGE = 64,
    EXIT_DATA = 65,        // bad data
    EXIT_NO_INPUT = 66,    // input missing
    EXIT_UNAVAILABLE = 69, // no such device, library, tool
    EXIT_BUG = 70,
    EXIT_MEMORY = 71, // does not fit
    EXIT_CANNOT_WRITE = 73,
    EXIT_IO = 74,
    EXIT_STOPPED = 75, // stopped on request after a checkpoint: requeue me
    EXIT_CONFIG = 78,
    EXIT_DIVERGED = 80,
    EXIT_HUNG = 81, // a rank is silent or hung
    EXIT_CUDA = 82,
    EXIT_INTEGRITY = 83,
    EXIT_MISMATCH = 84 // ranks disagree
} ExitCode;

typedef struct Error {
    int code;        // an ExitCode; 0: no error
    char text[2048]; // one sentence (config errors: one per line), no final newline
} Error;

// Fills *err and returns false, so that a caller can write `return error_set(err, ...)`. The first
// error wins: an *err that already holds one stays unchanged. err may not be NULL.
bool error_set(Error *err, ExitCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// "PATH: cannot DO WHAT: why", with the reason of errno.
bool error_cannot(Error *err, ExitCode code, const char *do_what, const char *path);
#define error_data(err, ...) error_set((err), EXIT_DATA, __VA_ARGS__)
#define error_config(err, ...) error_set((err), EXIT_CONFIG, __VA_ARGS__)
#define error_usage(err, ...) error_set((err), EXIT_USAGE, __VA_ARGS__)

// Puts "prefix: " before the sentence that *err holds; returns false. Does nothing without an
// error.
bool error_prefix(Error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
// True if the error means that a file is damaged or missing, so that reading it again cannot help.
// Any other error (a failing disk, too little memory) says nothing about the file.
bool error_is_damage(const Error *err);

// Adds a sentence on a line of its own, for mistakes that are reported together. If it does not
// fit, the text ends in "... and more". Mistakes with different codes become EXIT_CONFIG. Returns
// false.
bool error_join(Error *err, ExitCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The machine failed: prints one line (rank, file, line, sentence) and aborts all ranks with code.
_Noreturn void check_failed(const char *file, int line, ExitCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Sets how check_failed ends the job: `end` prints the sentence and ends all ranks. By default the
// sentence goes to stderr and this process exits with the code.
void check_ends_with(void (*end)(ExitCode code, const char *sentence));

#define CHECK(condition, code, ...)                                                                \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, (code), __VA_ARGS__);                                 \
    } while (0)
