// What the fuzzers of the readers share. A reader gets bytes in memory: it reads them, or refuses
// them with one sentence, and leaves no memory behind. Each fuzz_READER.c is a program of clang's
// libFuzzer (bench/fuzz.sh), and with replay.c a test that reads the files of corpus/READER.
//
// Whatever a fuzzer found stays there as a file, so it is read again by every run of the tests.
#pragma once

#include "base/testing.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

#define FUZZ_CHECK(holds)                                                                          \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #holds);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

// A file of some KiB may announce far more; what a reader takes beyond this is refused at once, so
// that no time goes into clearing it.
enum { FUZZ_MEMORY = 1 << 18 };

// FUZZER { ... } is what a fuzzer does with `count` bytes, a block of exactly that size. Then all
// is cleared. `err` is an empty Error of its own.
#define FUZZER                                                                                     \
    static void fuzz(const uint8_t *bytes, size_t count, Error err);                               \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {                               \
        memory_test_limit(FUZZ_MEMORY);                                                            \
        fuzz(bytes, count, (Error){0});                                                            \
        FUZZ_CHECK(memory_in_use() == 0);                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    static void fuzz(const uint8_t *bytes, size_t count, Error err __attribute__((unused)))

// The result and the error agree, and the error is a sentence on one line.
static inline void fuzz_verdict(bool ok, const Error *err) {
    FUZZ_CHECK(ok == (err->code == 0));
    FUZZ_CHECK(ok == (err->text[0] == '\0'));
    FUZZ_CHECK(strchr(err->text, '\n') == NULL);
}

// The bytes in a block of exactly that size, so that a read behind it is noticed; free() it.
static inline uint8_t *fuzz_exact(const uint8_t *bytes, size_t count) {
    uint8_t *copy = malloc(count);
    FUZZ_CHECK(copy != NULL || count == 0);
    if (count > 0)
        memcpy(copy, bytes, count);
    return copy;
}

// The bytes as a file without a name: fills in its path and returns its descriptor; close() it.
static inline int fuzz_file(char path[32], const uint8_t *bytes, size_t count) {
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(file >= 0 && write(file, bytes, count) == (ssize_t)count);
    snprintf(path, 32, "/proc/self/fd/%d", file);
    return file;
}

// A text that ends in a 0; free() it.
static inline char *fuzz_text(const uint8_t *bytes, size_t count) {
    char *text = malloc(count + 1);
    FUZZ_CHECK(text != NULL);
    if (count > 0)
        memcpy(text, bytes, count);
    text[count] = '\0';
    return text;
}
