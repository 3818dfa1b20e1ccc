// The log of events (--events): one JSON object a line, for a program that watches this one:
//
//   {"event": "stage", "label": "read", "text": "..."}         what it does now
//   {"event": "run", "run": "runs/x", ...}                     a training begins (report.c)
//   {"event": "epoch", "run": "runs/x", "epoch": 1, ...}       its line of metrics.jsonl
//   {"event": "warning" | "error", "text": "..."}              what stderr says of these
//   {"event": "end", "code": 0}                                the exit code, last
//
// The process that draws the screen (terminal.h) writes it; what other processes know reaches it as
// records of the screen. A reader that does not read blocks like a terminal that is stopped. Where
// the reader goes away, a command that can save is asked to stop, and others end.
#pragma once

#include "fringe/base/error.h"

// `to`: the number of an open descriptor, which children do not inherit, or a file to append to.
// EXIT_USAGE or EXIT_CANNOT_WRITE: it cannot be written.
bool event_log_open(const char *to, Error *err);
// A program that is started in the place of this one opens the log again.
void event_log_hand_on(void);
// Another process has the log: events become records of the screen.
void event_log_is_elsewhere(void);
// Does anybody want events?
bool event_log_is_wanted(void);
// Takes note of a line of the screen, without its newline: a record, a warning, an error. True if
// it was an event alone, which is not drawn. Does nothing in a process that has no log.
bool event_log_saw(const char *line, size_t bytes);
// The last line of the log.
void event_log_end(ExitCode code);
