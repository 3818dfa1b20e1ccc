// Warnings: what a user should know although nothing failed. Any room may add a sentence; the
// command line prints them, one per line.
#pragma once

enum { WARNINGS_TEXT = 1024 };
typedef struct Warnings {
    char text[WARNINGS_TEXT]; // one per line, no final newline; "" if there is none
} Warnings;

// Adds a sentence unless it is already there. Text that does not fit is cut.
void warnings_add(Warnings *warnings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void warnings_add_all(Warnings *to, const Warnings *from); // the same for each sentence of `from`
// All of them as one line, "one; another". Returns out.
const char *warnings_join(char out[WARNINGS_TEXT], const Warnings *warnings);
