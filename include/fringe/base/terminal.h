// The terminal: what is printed while other ranks may wait for this one. Between terminal_start and
// terminal_stop a thread of its own writes it (writer.h): a terminal that is stopped, or a pipe
// that nobody reads, keeps nobody from training. Lines are kept for it in a megabyte; who prints
// more than that waits, and answers for its rank. Nothing is lost, and stdout and stderr keep their
// common order. Outside of the two calls everything is printed at once.
#ifndef FRINGE_BASE_TERMINAL_H
#define FRINGE_BASE_TERMINAL_H

#include "fringe/base/comm.h"

void terminal_start(const Comm *comm); // borrowed until terminal_stop
// Waits until everything is written. False if something could not be, with EXIT_IO.
bool terminal_stop(Error *err);

void terminal_say(const char *format, ...) __attribute__((format(printf, 1, 2)));   // stderr
void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2))); // stdout

// For who is about to end the process: what was said before gets half a second to be written.
void terminal_settle(void);
// That, and one sentence on stderr, which a terminal that takes nothing keeps for half a second at
// the most.
void terminal_say_last(const char *format, ...) __attribute__((format(printf, 1, 2)));
// One sentence on stderr past what waits to be written, under the same limit. Async-signal-safe.
void terminal_say_now(const char *text);

#endif
