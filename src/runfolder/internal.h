// Inside the runfolder room.
#ifndef FRINGE_RUNFOLDER_INTERNAL_H
#define FRINGE_RUNFOLDER_INTERNAL_H

#include "fringe/runfolder.h"

#define MARKER_NAME ".fringe"
#define LOCK_NAME ".lock"
#define MOVING_NAME ".moving"

// ---- names.c: what fringe makes, and what of it is there
typedef struct NameList {
    int count, room;
    char **name; // [count] relative to the folder, sorted; owned
} NameList;
// Files and folders of the table that lie in `real`, each as the smallest thing that moves.
bool names_list(NameList *list, const char *real, RunKind kind, Error *err);
void names_clear(NameList *list);
// Marker, lock, the note of a move, or one of these being written: they say whose the folder is,
// and never move.
bool names_stays(const char *name);
// Nothing but these: such a folder is empty.
bool names_are_none(const NameList *list);
// A top-level name of the table, or of a folder for such names, where this kind of run lies.
bool names_know(RunKind kind, const char *name);

// ---- lock.c
typedef struct RunLock RunLock;
typedef enum LockAnswer { LOCK_TAKEN, LOCK_BUSY, LOCK_FAILED } LockAnswer;
// Tries once. LOCK_BUSY: `holder` says who ("pid 12 on host-a since ...").
LockAnswer lock_try(RunLock **lock, const char *real, char *holder, size_t size, Error *err);
void lock_release(RunLock *lock);

// ---- marker.c: whose folder it is
// True if the folder is fringe's; *kind is what it holds.
bool marker_read(const char *real, RunKind *kind);
bool marker_make(const char *real, RunKind kind, Error *err); // fine if another made it meanwhile
bool marker_replace(const char *real, RunKind kind, Error *err); // a new start

// ---- move.c
// Moves what the table names into a new sibling or NAME/before.N; *to says where. Survives a crash
// at any instant, for move_finish.
bool move_aside(const char *real, RunKind kind, char to[RUNFOLDER_PATH], Error *err);
// Goes on with a move that a crash interrupted, or gives it up where nothing had moved yet; fine if
// there was none.
bool move_finish(const char *real, RunKind kind, Error *err);

#endif
