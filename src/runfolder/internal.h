// Inside the runfolder module.
#pragma once

#include "fringe/runfolder.h"

#define MARKER_NAME ".fringe"
#define LOCK_NAME ".lock"

// ---- names.c
// True for a name that fringe makes in the folder of a command, but for the marker and its
// temporary files.
bool names_know(const char *name);

// ---- numbers.c: NAME, NAME-2, NAME-3, ...
// The folder of that number beside `path`, which is number 1. EXIT_CANNOT_WRITE if it is too long.
bool numbers_name(char out[CONFIG_TEXT], const char *path, int number, Error *err);
// The newest of them of that kind whose training is that of the config; only of those that have not
// ended, if `unfinished`. False: there is none.
bool numbers_newest(char out[CONFIG_TEXT], const char *path, RunKind kind, const Config *config,
                    bool unfinished);

// ---- lock.c
typedef struct RunLock RunLock;
typedef enum LockAnswer { LOCK_TAKEN, LOCK_BUSY, LOCK_FAILED } LockAnswer;
// Tries once. LOCK_BUSY: `holder` names the holder ("pid 12 on host-a since ...").
LockAnswer lock_try(RunLock **lock, const char *folder, char *holder, size_t size, const Sink *sink,
                    Error *err);
void lock_release(RunLock *lock);
bool lock_is_ours(const char *path); // that file is empty, or names a holder

// ---- marker.c: to whom the folder belongs
typedef struct Marker {
    RunKind kind;
    bool agrees;           // it is of the config's training
    char start[CLOCK_UTC]; // of the command that worked there last
} Marker;
// True if the folder is fringe's. Marker and config may be NULL.
bool marker_read(Marker *marker, const char *folder, const Config *config);
bool marker_write(const char *folder, RunKind kind, const Config *config, Error *err);
