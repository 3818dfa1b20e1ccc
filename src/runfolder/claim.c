// Claims a folder: makes it, checks to whom it belongs, marks it and locks it.

#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- to whom does the folder belong?

// Adds a name to a list for a sentence if there is room.
static void say(char *list, size_t size, const char *name) {
    size_t used = strlen(list);
    if (used + strlen(name) + 8 < size)
        snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
    else if (used >= 4 && strcmp(list + used - 3, "...") != 0)
        snprintf(list + used, size - used, " ...");
}

// True if a name in `list` is the top-level name `name` or lies inside it.
static bool lists(const NameList *list, const char *name) {
    size_t length = strlen(name);
    for (int i = 0; i < list->count; i++)
        if (strncmp(list->name[i], name, length) == 0 &&
            (list->name[i][length] == 0 || list->name[i][length] == '/'))
            return true;
    return false;
}

// Folders without files are ignored: an interrupted move leaves some.
static bool holds_a_file(const char *path) {
    DIR *folder = opendir(path);
    bool found = folder == NULL;
    for (struct dirent *entry; !found && (entry = readdir(folder)) != NULL;) {
        char inside[PATH_BYTES];
        path_join(inside, sizeof inside, path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            found = holds_a_file(inside);
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

// The contents of a folder, and which of them are fringe's.
typedef struct Contents {
    bool marked; // if false, nothing in it is known to be fringe's
    RunKind kind;
    NameList ours;
} Contents;

// A folder of fringe may also hold the user's files: only names of the table are written or moved.
static bool is_in_the_way(const char *real, const char *name, const Contents *contents) {
    char path[PATH_BYTES];
    path_join(path, sizeof path, real, name);
    return contents->marked && names_know(contents->kind, name) ? !file_is_folder(path)
                                                                : holds_a_file(path);
}

// Looks at the top level for names that a run of this kind could write and that are not fringe's,
// and for the user's files.
static bool look_for_others(const char *real, RunKind kind, const Contents *contents, char *clash,
                            char *foreign, size_t size, Error *err) {
    DIR *folder = opendir(real);
    if (folder == NULL)
        return error_set(err, EXIT_IO, "%s: cannot look into the folder: %s", real,
                         strerror(errno));
    clash[0] = foreign[0] = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || lists(&contents->ours, name))
            continue;
        if (names_know(kind, name) && is_in_the_way(real, name, contents))
            say(clash, size, name);
        else if (strncmp(name, "before.", 7) != 0 && !names_know(kind, name))
            say(foreign, size, name);
    }
    closedir(folder);
    return true;
}

// Refuses a folder in which a name that fringe would write is not fringe's.
static bool check_others(const char *path, const char *real, RunKind kind, const Contents *contents,
                         Error *err) {
    char clash[256], foreign[256];
    if (!look_for_others(real, kind, contents, clash, foreign, sizeof clash, err))
        return false;
    if (clash[0] != 0)
        return error_set(err, EXIT_CANNOT_WRITE,
                         "%s: holds names that a run would write and that are not fringe's (%s); "
                         "give another run.dir, or move them away",
                         path, clash);
    if (!contents->marked && foreign[0] != 0)
        terminal_say("warning    %s holds files that are not fringe's; they stay: %s\n",
                     SHOWN(path), SHOWN(foreign));
    return true;
}

static bool check_kind(const char *path, RunKind kind, RunKind found, const NameList *ours,
                       Error *err) {
    static const char *const holds[] = {"a single run", "the runs of --runs", "a comparison",
                                        "a sweep", "a stream"};
    return kind == found || names_are_none(ours) ||
           error_set(err, EXIT_CONFIG,
                     "%s: holds %s and cannot be resumed as %s; give another run.dir, or start "
                     "again without --resume",
                     path, holds[found], holds[kind]);
}

// ---- claiming

// Writes the marker, before anything else is written into the folder.
static bool mark(const char *path, const char *real, RunKind kind, Error *err) {
    static const Contents unknown;
    Error clash = {0};
    RunKind found = kind, ignored;
    if (!marker_read(real, &found) && !check_others(path, real, kind, &unknown, &clash) &&
        !marker_read(real, &ignored)) // no other process has marked it meanwhile
        return error_set(err, (ExitCode)clash.code, "%s", clash.text);
    return marker_make(real, found, err);
}

static bool open_folder(RunFolder *folder, const char *path, RunKind kind, Error *err) {
    *folder = (RunFolder){.kind = kind};
    snprintf(folder->path, sizeof folder->path, "%s", path);
    if (!file_make_folder(path, err))
        return false;
    char *real = realpath(path, NULL);
    int used = real != NULL ? snprintf(folder->real, sizeof folder->real, "%s", real) : -1;
    free(real);
    if (used < 0 || used >= (int)sizeof folder->real)
        return error_set(err, EXIT_CANNOT_WRITE,
                         "%s: cannot find the folder, or its path is too "
                         "long; give another run.dir",
                         path);
    return mark(path, folder->real, kind, err);
}

static LockAnswer wait_for_lock(RunFolder *folder, double wait, char *holder, size_t size,
                                Error *err) {
    static const struct timespec moment = {.tv_nsec = 50000000};
    double end = clock_seconds() + wait;
    LockAnswer answer = lock_try(&folder->lock, folder->real, holder, size, err);
    if (answer == LOCK_BUSY && wait > 0)
        terminal_say("waiting    for %s: another run works there (%s); at most %.0f s\n",
                     SHOWN(folder->path), SHOWN(holder), wait);
    while (answer == LOCK_BUSY && clock_seconds() < end) {
        nanosleep(&moment, NULL);
        answer = lock_try(&folder->lock, folder->real, holder, size, err);
    }
    return answer;
}

// The contents no longer change, since the lock is held.
static bool look_inside(const RunFolder *folder, bool resume, Error *err) {
    Contents contents = {.marked = true, .kind = folder->kind};
    NameList *ours = &contents.ours;
    marker_read(folder->real, &contents.kind);
    bool ok = move_finish(folder->real, contents.kind, err) &&
              names_list(ours, folder->real, contents.kind, err) &&
              check_others(folder->path, folder->real, folder->kind, &contents, err) &&
              (!resume || check_kind(folder->path, folder->kind, contents.kind, ours, err));
    bool changes = names_are_none(ours) && contents.kind != folder->kind;
    names_clear(ours);
    return ok && (!changes || marker_replace(folder->real, folder->kind, err));
}

static bool settle(RunFolder *folder, const RunClaim *claim, Error *err) {
    folder->claimed = look_inside(folder, claim->resume, err);
    if (!folder->claimed)
        runfolder_release(folder);
    return folder->claimed;
}

static bool refuse(const RunFolder *folder, const char *holder, Error *err) {
    return error_set(err, EXIT_CANNOT_WRITE,
                     "%s: another run works there (%s); wait for its end, or give another run.dir",
                     folder->path, holder);
}

static bool name_candidate(char out[CONFIG_TEXT], const char *path, int number, Error *err) {
    int used = number == 1 ? snprintf(out, CONFIG_TEXT, "%s", path)
                           : snprintf(out, CONFIG_TEXT, "%s-%d", path, number);
    return used < CONFIG_TEXT || error_set(err, EXIT_CANNOT_WRITE,
                                           "%s: the path is too long for a number behind it; give "
                                           "another run.dir",
                                           path);
}

// NAME-2 may belong to another config or hold a finished run. The user did not choose the number,
// so nothing may move.
static bool is_free(const char *path) {
    NameList ours = {0};
    Error ignored = {0};
    RunKind kind;
    if (!file_exists(path))
        return true;
    bool is_empty = marker_read(path, &kind) && names_list(&ours, path, kind, &ignored) &&
                    names_are_none(&ours);
    names_clear(&ours);
    return is_empty;
}

bool runfolder_mark(const char *path, Error *err) {
    RunFolder folder;
    return open_folder(&folder, path, RUN_SINGLE, err);
}

bool runfolder_claim(RunFolder *folder, char *path, const RunClaim *claim, Error *err) {
    char candidate[CONFIG_TEXT], holder[256];
    for (int number = 1; number < 10000; number++) {
        if (!name_candidate(candidate, path, number, err))
            return false;
        if (number > 1 && !is_free(candidate))
            continue;
        if (!open_folder(folder, candidate, claim->kind, err))
            return false;
        LockAnswer answer =
            wait_for_lock(folder, claim->may_number ? 0 : claim->wait, holder, sizeof holder, err);
        if (answer == LOCK_FAILED)
            return false;
        if (answer == LOCK_BUSY && !claim->may_number)
            return refuse(folder, holder, err);
        if (answer == LOCK_TAKEN) {
            if (number > 1)
                terminal_say("run        works in %s: another run works in %s\n", SHOWN(candidate),
                             SHOWN(path));
            snprintf(path, CONFIG_TEXT, "%s", candidate);
            return settle(folder, claim, err);
        }
    }
    return refuse(folder, holder, err);
}

void runfolder_release(RunFolder *folder) {
    lock_release(folder->lock);
    folder->lock = NULL;
    folder->claimed = false;
}
