// Activities: what a command is doing now. One activity at a time; the next one ends the one
// before. A terminal shows the activity as a live line with its seconds (terminal.h). A process has
// one, which any function may begin: unlike a sentence (sink.h) it is a state, and is gone when the
// next one begins.
#pragma once

// `label`: at most 10 columns. When the activity ends it leaves a line if it took long or if the
// text given to progress_end is not "". Rank 0, or a command of one process; any thread.
void progress_begin(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void progress_update(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_end(const char *result);
void progress_drop(void); // it ends without a line
// Tells the process that draws this one's records that the set-up is over (terminal.h), at any
// level.
void progress_work_begins(void);
