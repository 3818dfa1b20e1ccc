// The terminal: printing while other ranks may wait for this one. Between terminal_start and
// terminal_stop a writer thread prints (writer.h), so that a stopped terminal or an unread pipe
// does not stop the training. Up to a megabyte of lines is queued; a caller that exceeds it waits
// and answers heartbeats while it waits. Nothing is lost, and stdout and stderr keep their common
// order. Before terminal_start and after terminal_stop everything is printed at once. Modules below
// cli do not open this header: they get a sink.
#ifndef FRINGE_BASE_TERMINAL_H
#define FRINGE_BASE_TERMINAL_H

#include "fringe/base/comm.h"
#include "fringe/base/sink.h"
#include "fringe/base/stage.h"

void terminal_start(const Comm *comm); // borrowed until terminal_stop
// Waits until everything is written. False with EXIT_IO if a write failed.
bool terminal_stop(Error *err);

// What is printed on stderr besides warnings and errors: --quiet, the default, --verbose.
typedef enum TerminalLevel { TERMINAL_QUIET, TERMINAL_NORMAL, TERMINAL_VERBOSE } TerminalLevel;
void terminal_set_level(TerminalLevel level);

// Prints output on stdout and the rest on stderr, as far as the level wants it.
extern const Sink terminal_sink;
// The same, but output goes through stdio alone: tables, whose lines no terminal may break.
extern const Sink terminal_tables;
#define terminal_say(...) sink_say(&terminal_sink, __VA_ARGS__)
#define terminal_warn(...) sink_warn(&terminal_sink, __VA_ARGS__)
#define terminal_note(...) sink_note(&terminal_sink, __VA_ARGS__)
#define terminal_detail(...) sink_detail(&terminal_sink, __VA_ARGS__)
#define terminal_print(...) sink_print(&terminal_sink, __VA_ARGS__)

// Call before ending the process: gives queued text half a second to be written.
void terminal_settle(void);
// One sentence on stderr ahead of all queued text; a blocked terminal delays it by at most half a
// second. Async-signal-safe.
void terminal_say_now(const char *text);

#endif
