// runfolder: the folder that one command works in: a run, the runs of --runs, or a comparison.
//
// A folder belongs to fringe once it holds the marker `.fringe`, which is the first thing written
// there; folders of older versions are known by their run.json, runs.json or compare.json. One
// table (names.c) lists every name that fringe makes in it. Nothing else is ever moved, changed or
// removed, and what an earlier run made is never overwritten: a run that starts anew moves all of
// it into the next free sibling NAME.N first. A lock on the file `.lock` keeps a second run out for
// as long as the first one lives.
#ifndef FRINGE_RUNFOLDER_H
#define FRINGE_RUNFOLDER_H

#include "fringe/base.h"
#include "fringe/config.h"

typedef enum RunKind { RUN_SINGLE, RUN_SEVERAL, RUN_COMPARISON } RunKind; // what one command makes

enum { RUNFOLDER_PATH = 2048 };

typedef struct RunFolder {
    char path[CONFIG_TEXT];    // as the user named it
    char real[RUNFOLDER_PATH]; // absolute, without links
    RunKind kind;
    bool claimed;
    struct RunLock *lock; // owned
} RunFolder;

typedef struct RunClaim {
    RunKind kind;
    bool resume;     // the folder must hold such a run, or none
    bool may_number; // the folder is only the default: while a living run works in it, take
                     // instead the first of NAME-2, NAME-3, ... that holds nothing
    double wait;     // seconds to wait for the lock
} RunClaim;

// Makes the folder, marks it and locks it; finishes a move that a crash interrupted. Waits up to
// claim->wait seconds for a run that still works there, with one line on stderr. *path (CONFIG_TEXT
// bytes) becomes the folder that was taken. Refuses (EXIT_CANNOT_WRITE) a folder in which a living
// run works, or in which a name that fringe would write is somebody else's; refuses (EXIT_CONFIG)
// to resume in a folder of another kind. Local (rank 0); may take long: call it aside.
bool runfolder_claim(RunFolder *folder, char *path, const RunClaim *claim, Error *err);

// Makes the folder and marks it as that of a single run, if it is not fringe's already: for who
// only adds to it. Refuses as runfolder_claim does.
bool runfolder_mark(const char *path, Error *err);

// For a run that starts anew: moves all that earlier runs made into the next free NAME.N, or where
// no sibling can be made into NAME/before.N, and says so on stderr. Refuses (EXIT_CONFIG), before
// anything moves, if a path of the config lies inside what would move. Local (rank 0).
bool runfolder_start_anew(const RunFolder *folder, const Config *config, Error *err);

// Unlocks. Fine if nothing was claimed.
void runfolder_release(RunFolder *folder);

// Does fringe make a file or folder of that name, relative to such a folder ("run-1/run.json")?
bool runfolder_makes(const char *relative);
// "epoch-N" and `ending` ("", ".json"): the name of what is kept of epoch N. Returns `out`.
enum { RUNFOLDER_NAME = 64 };
const char *runfolder_epoch_name(char out[RUNFOLDER_NAME], int64_t epoch, const char *ending);
// The N of such a name; -1 where the name is another.
int64_t runfolder_epoch_of(const char *name, const char *ending);
// Prints what fringe made in the folder and what each is for (stdout); false if it is not fringe's.
bool runfolder_print(const char *path);

#endif
