// runfolder: the folder of one command's output: a run, the runs of --runs, a comparison, a
// sweep, or a stream.
//
// A folder belongs to fringe once it holds the marker `.fringe`, which is written first. One table
// (names.c) lists every name that fringe makes in it. A run that starts takes a folder that holds
// none of these names: NAME, or else the first free one of NAME-2, NAME-3, ... So nothing that is
// there is ever moved, changed or removed. A lock on the file `.lock` keeps a second run out while
// the first one is alive.
#pragma once

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
    struct RunLock *lock;   // owned; NULL: not claimed
} RunFolder;

typedef struct RunClaim {
    RunKind kind;
    bool resume; // go on with a run that is there, if there is one
    bool exact;  // in run.dir itself: it lies in a folder that is claimed, or the user named it
} RunClaim;

// Makes a folder, locks it and marks it; config->run.dir becomes its path. A start takes the first
// free one of run.dir, run.dir-2, ... A resume takes the newest of them whose training (learned
// keys and seed) is that of the config and that has no result yet, else the newest that has, else
// run.dir if it holds a run; there it waits up to run.lock_wait seconds for a run that still works.
// Says which one it took, if not run.dir. Errors: EXIT_CANNOT_WRITE if a living run holds
// the folder to resume, or if run.dir itself is wanted and holds names that are not fringe's. Local
// (rank 0). May take long: call it in a helper thread.
bool runfolder_claim(RunFolder *folder, Config *config, const RunClaim *claim, const Sink *sink,
                     Error *err);

// Unlocks; does nothing if nothing was claimed.
void runfolder_release(RunFolder *folder);

// Sets run.dir to the newest of run.dir, run.dir-2, ... that holds a run of the config's training;
// leaves it if there is none.
void runfolder_find_newest(Config *config);

// Makes run.dir and marks it as that of a single run unless it is already fringe's, for callers
// that only add files to it. EXIT_CANNOT_WRITE if it holds names that are not fringe's.
bool runfolder_mark(const Config *config, Error *err);

// The N of "NAME-N" from 2 on, else 1. *base: the bytes of NAME.
int runfolder_number(const char *name, int *base);

// True if a living run holds the lock of that folder.
bool runfolder_is_locked(const char *path);

// True if both exist and are one folder.
bool runfolder_is_same(const char *path, const char *other);
// "epoch-N" and `ending` ("", ".json"): the name of what is saved for epoch N. Returns `out`.
#define RUN_FITTED "fitted.safetensors" // what the steps of data.transforms took from the data
enum { RUNFOLDER_NAME = 64 };
const char *runfolder_epoch_name(char out[RUNFOLDER_NAME], int64_t epoch, const char *ending);
// The N of such a name; -1 for any other name.
int64_t runfolder_epoch_of(const char *name, const char *ending);
// The N of all such names in a folder. Empty where there is no folder; EXIT_IO if it is unreadable.
typedef struct EpochList {
    int count;
    int64_t *epoch; // [count] ascending; owned by the caller
} EpochList;
static inline void epoch_list_clear(EpochList *list) { memory_free(list->epoch); }
bool runfolder_epochs(EpochList *list, const char *folder, const char *ending, Error *err);
// Prints fringe's files in the folder and their purpose; false if the folder is not fringe's.
bool runfolder_print(const Sink *out, const char *path);
