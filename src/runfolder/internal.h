// Inside the runfolder room.
#ifndef FRINGE_RUNFOLDER_INTERNAL_H
#define FRINGE_RUNFOLDER_INTERNAL_H

#include "fringe/runfolder.h"

#define MARKER_NAME ".fringe"
#define LOCK_NAME ".lock"
#define MOVING_NAME ".moving"

// ---- names.c: the names that fringe makes, and which of them exist
typedef struct NameList {
    int count, room;
    char **name; // [count] relative to the folder, sorted; owned
} NameList;
// Lists the files and folders of the table in `real`, each as the smallest unit that moves.
bool names_list(NameList *list, const char *real, RunKind kind, Error *err);
void names_clear(NameList *list);
// True for the marker, the lock, the note of a move, and their temporary files. They belong to the
// folder and never move.
bool names_stays(const char *name);
// True if the list holds only these: the folder then counts as empty.
bool names_are_none(const NameList *list);
// True for a top-level name of the table, or of a folder for such names, in a run of this kind.
bool names_know(RunKind kind, const char *name);

// ---- lock.c
typedef struct RunLock RunLock;
typedef enum LockAnswer { LOCK_TAKEN, LOCK_BUSY, LOCK_FAILED } LockAnswer;
// Tries once. LOCK_BUSY: `holder` names the holder ("pid 12 on host-a since ...").
LockAnswer lock_try(RunLock **lock, const char *real, char *holder, size_t size, Error *err);
void lock_release(RunLock *lock);

// ---- marker.c: to whom the folder belongs
// True if the folder is fringe's; *kind is what it holds.
bool marker_read(const char *real, RunKind *kind);
bool marker_make(const char *real, RunKind kind,
                 Error *err); // true also if another process has just made it
bool marker_replace(const char *real, RunKind kind, Error *err); // with a new start time

// ---- move.c
// Moves the names of the table into a new sibling or NAME/before.N; *to is that folder. move_finish
// completes it after a crash at any point.
bool move_aside(const char *real, RunKind kind, char to[PATH_BYTES], Error *err);
// Completes a move that a crash interrupted, or gives it up if nothing has moved yet. True if there
// was none.
bool move_finish(const char *real, RunKind kind, Error *err);

#endif
