// Warnings: what a user should know although nothing failed. Whoever notices something adds a
// sentence; the command line prints them, one a line.
#ifndef FRINGE_BASE_WARNINGS_H
#define FRINGE_BASE_WARNINGS_H

enum { WARNINGS_TEXT = 1024 };
typedef struct Warnings {
    char text[WARNINGS_TEXT]; // one a line, no final newline; "" if there is none
} Warnings;

// Adds a sentence, unless it is there already. What does not fit is cut.
void warnings_add(Warnings *warnings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void warnings_add_all(Warnings *to, const Warnings *from); // likewise, each of them
// All of them as one line, "one; another". Returns out.
const char *warnings_join(char out[WARNINGS_TEXT], const Warnings *warnings);

#endif
