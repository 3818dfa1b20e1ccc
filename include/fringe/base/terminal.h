// The terminal: printing while other ranks may wait for this one. Between terminal_start and
// terminal_stop a writer thread prints (writer.h), so that a stopped terminal or an unread pipe
// does not stop the training. Up to a megabyte of lines is queued; a caller that exceeds it waits
// and answers heartbeats while it waits. Nothing is lost, and stdout and stderr keep their common
// order. Before terminal_start and after terminal_stop everything is printed at once.
#ifndef FRINGE_BASE_TERMINAL_H
#define FRINGE_BASE_TERMINAL_H

#include "fringe/base/comm.h"

void terminal_start(const Comm *comm); // borrowed until terminal_stop
// Waits until everything is written. False with EXIT_IO if a write failed.
bool terminal_stop(Error *err);

// What is printed on stderr besides warnings and errors: --quiet, the default, --verbose.
typedef enum TerminalLevel { TERMINAL_QUIET, TERMINAL_NORMAL, TERMINAL_VERBOSE } TerminalLevel;
void terminal_set_level(TerminalLevel level);

// On stderr: always (warnings and errors), unless --quiet, and with --verbose only.
void terminal_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void terminal_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void terminal_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2))); // stdout

// Stages: what a command is doing now. One stage at a time; the next one ends the one before. A
// terminal shows the stage as a live line with its seconds (screen.h). `label`: at most 10 columns.
// When the stage ends it leaves a line if it took long or if the text given to stage_end is not "".
// Rank 0, or a command of one process; any thread.
void stage_begin(const char *label, const char *format, ...) __attribute__((format(printf, 2, 3)));
void stage_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void stage_end(const char *result);
void stage_drop(void); // it ends without a line
// Tells the process that draws this one's records that the set-up is over (screen.h), at any level.
void stage_work_begins(void);

// Call before ending the process: gives queued text half a second to be written.
void terminal_settle(void);
// The same, then one sentence on stderr; a blocked terminal delays it by at most half a second.
void terminal_say_last(const char *format, ...) __attribute__((format(printf, 1, 2)));
// One sentence on stderr ahead of all queued text, with the same limit. Async-signal-safe.
void terminal_say_now(const char *text);

#endif
