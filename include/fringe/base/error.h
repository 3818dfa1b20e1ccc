// Three kinds of trouble (DESIGN 11). Ours: assert. The machine's: CHECK, which says rank, file,
// line and what, once, and aborts every rank. The world's: a function returns false and fills an
// Error with a sentence that says what, where and what to do; only the command line prints it.
#ifndef FRINGE_BASE_ERROR_H
#define FRINGE_BASE_ERROR_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

// Exit codes of the program (DESIGN 10); an Error carries the one it leads to.
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
    EXIT_SILENT = 81, // a rank is silent or hung
    EXIT_CUDA = 82,
    EXIT_INTEGRITY = 83,
    EXIT_DISAGREE = 84 // ranks disagree
} ExitCode;

typedef struct Error {
    int code;        // an ExitCode; 0 while nothing went wrong
    char text[2048]; // one sentence (config errors: one per line), no final newline
} Error;

// Fills *err and returns false, so that a caller can write `return error_set(err, ...)`.
// The first error wins: an *err that already holds one is left alone. err may not be NULL.
bool error_set(Error *err, ExitCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Puts "prefix: " before the sentence that *err holds; returns false. Does nothing without an
// error.
bool error_prefix(Error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Are the bytes that were read not those that were written, or gone? No other try helps then. Any
// other error (a disk that fails, short memory) says nothing of what could not be read.
bool error_is_damage(const Error *err);

// Adds a sentence on a line of its own, for mistakes that are told all at once; what does not fit
// ends in "... and more". Mistakes of several kinds together are EXIT_CONFIG. Returns false.
bool error_join(Error *err, ExitCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The machine failed: prints one line (rank, file, line, sentence) and aborts all ranks with code.
_Noreturn void check_failed(const char *file, int line, ExitCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// How check_failed ends the job: `end` tells the sentence and ends all ranks. Until somebody says
// so it is told on stderr, and this process leaves with the code.
void check_ends_with(void (*end)(ExitCode code, const char *sentence));

#define CHECK(condition, code, ...)                                                                \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, (code), __VA_ARGS__);                                 \
    } while (0)

#endif
