// The terminal: printing while other ranks may wait for this one. Between terminal_start and
// terminal_stop a writer thread prints (writer.h), so that a stopped terminal or an unread pipe
// does not stop the training. Up to a megabyte of lines is queued; a caller that exceeds it waits
// and answers heartbeats while it waits. Nothing is lost, and stdout and stderr keep their common
// order. Before terminal_start and after terminal_stop everything is printed at once. Modules below
// cli do not open this header: they get a sink.
#pragma once

#include "fringe/base/comm.h"
#include "fringe/base/progress.h"
#include "fringe/base/sink.h"

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

// ---- the screen: the only code that draws on stdout and stderr while a command runs. It gets text
// and progress records and knows what the two streams are:
//
//   a terminal   lines are broken at words to its width, with the text behind the label indented; a
//                path that is too long stands alone on a line. One live line shows the activity
//                that runs and its seconds. Colour marks warnings, errors and the best epoch,
//                unless NO_COLOR is set or TERM is dumb. The environment variable COLUMNS sets the
//                width.
//   anything     lines stay as they are, so that programs can read them. An activity that takes
//   else         long is reported by whole lines.
//
// All functions may be called from any thread.
enum { SCREEN_STDOUT, SCREEN_STDERR };

// A progress record is one line: this character, then a letter, then text.
enum {
    SCREEN_RECORD = 0x1e,
    PROGRESS_BEGIN = 'b',
    PROGRESS_UPDATE = 'p',
    PROGRESS_END = 'e',
    PROGRESS_DROP = 'd',
    WORK_BEGUN = 'w', // what follows is saved when a stop is requested
    EVENT = 'j'       // a line of the log of events (event_log.h)
};

// Writes the text, which may hold progress records. Waits while the terminal is stopped. Returns 0,
// or errno if it could not be written.
int screen_write(int stream, const char *text, size_t bytes);
// Redraws the live line and reports a long activity. Call it some times a second; a thread does so
// after screen_tick_by_thread.
void screen_tick(void);
void screen_tick_by_thread(void);
// From now on progress records are passed on to stderr, where another process draws them.
void screen_pass_records(void);
// Removes the live line. Its activity ends without a line.
void screen_clear(void);

// Until it is called with false, lines are dropped that do not begin with "fringe: ", and the
// activity is not reported.
void screen_keep_own_lines(bool keep);
// True once a record of WORK_BEGUN has arrived. Async-signal-safe.
bool screen_work_has_begun(void);

// True while a live line is drawn: text written past the screen begins with a newline then.
// Async-signal-safe.
bool screen_is_live(void);

// Breaks a line at words to `width` columns, and adds a newline. `out` must hold
// SCREEN_BROKEN(bytes of the line). Returns the bytes written.
#define SCREEN_BROKEN(bytes) (16 * (bytes) + 64)
size_t screen_break(char *out, const char *line, size_t bytes, int width);
