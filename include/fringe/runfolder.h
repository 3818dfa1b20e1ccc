// runfolder: the folder of one command's output: a run, the runs of --runs, a comparison, a
// sweep, or a stream.
//
// A folder belongs to fringe once it holds the marker `.fringe`, which is written first; folders of
// older versions are recognised by their run.json, runs.json or compare.json. One table (names.c)
// lists every name that fringe makes in it. Nothing else is ever moved, changed or removed. The
// files of an earlier run are never overwritten: a run that starts again first moves them into the
// next free sibling NAME.N. A lock on the file `.lock` keeps a second run out while the first one
// is alive.
#ifndef FRINGE_RUNFOLDER_H
#define FRINGE_RUNFOLDER_H

#include "fringe/base.h"
#include "fringe/config.h"

typedef enum RunKind {
    RUN_SINGLE,
    RUN_SEVERAL,
    RUN_COMPARISON,
    RUN_SWEEP,
    RUN_STREAM
} RunKind; // the output of one command

typedef struct RunFolder {
    char path[CONFIG_TEXT]; // as the user named it
    char real[PATH_BYTES];  // absolute, without links
    RunKind kind;
    bool claimed;
    struct RunLock *lock; // owned
} RunFolder;

typedef struct RunClaim {
    RunKind kind;
    bool resume;     // the folder must hold a run of this kind, or none
    bool may_number; // the folder is only the default: while a living run uses it, the first empty
                     // one of NAME-2, NAME-3, ... is claimed instead
    double wait;     // seconds to wait for the lock
} RunClaim;

// Makes the folder, marks it and locks it; finishes a move that a crash interrupted. Waits up to
// claim->wait seconds for a run that still uses it, with one line on stderr. *path (CONFIG_TEXT
// bytes) becomes the claimed folder. Errors: EXIT_CANNOT_WRITE if a living run uses the folder, or
// if a name that fringe would write there is not fringe's; EXIT_CONFIG to resume in a folder of
// another kind. Local (rank 0). May take long: call it in a helper thread.
bool runfolder_claim(RunFolder *folder, char *path, const RunClaim *claim, Error *err);

// Makes the folder and marks it as that of a single run unless it is already fringe's, for callers
// that only add files to it. Errors as in runfolder_claim.
bool runfolder_mark(const char *path, Error *err);

// For a run that starts again: moves the files of earlier runs into the next free NAME.N, or into
// NAME/before.N if no sibling can be made, and reports that on stderr. EXIT_CONFIG, before anything
// moves, if a path of the config lies inside them. Local (rank 0).
bool runfolder_start_anew(const RunFolder *folder, const Config *config, Error *err);

// Unlocks; does nothing if nothing was claimed.
void runfolder_release(RunFolder *folder);

// True if a living run holds the lock of that folder.
bool runfolder_is_locked(const char *path);

// True if both exist and are one folder.
bool runfolder_is_same(const char *path, const char *other);
// True if fringe makes a file or folder of that name, relative to such a folder ("run-1/run.json").
bool runfolder_makes(const char *relative);
// "epoch-N" and `ending` ("", ".json"): the name of what is saved for epoch N. Returns `out`.
enum { RUNFOLDER_NAME = 64 };
const char *runfolder_epoch_name(char out[RUNFOLDER_NAME], int64_t epoch, const char *ending);
// The N of such a name; -1 for any other name.
int64_t runfolder_epoch_of(const char *name, const char *ending);
// Prints fringe's files in the folder and their purpose (stdout); false if the folder is not
// fringe's.
bool runfolder_print(const char *path);

#endif
