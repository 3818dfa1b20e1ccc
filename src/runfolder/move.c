// Moves the files of earlier runs out of the way. The file `.moving` names the target from before
// the first rename until after the last one, so that the next start can complete a move that a
// crash interrupted. A move that was refused or interrupted before its first rename is given up,
// and the runs stay where they are. A rename never replaces anything.

#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- the target: NAME.N beside the folder, or before.N in it

// One more than the largest N of the names prefixN in `folder`.
static int next_number(const char *folder, const char *prefix) {
    int next = 1;
    size_t length = strlen(prefix);
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry; open_folder != NULL && (entry = readdir(open_folder)) != NULL;) {
        char *end;
        long number = strncmp(entry->d_name, prefix, length) == 0
                          ? strtol(entry->d_name + length, &end, 10)
                          : 0;
        if (number >= next && number < 1000000000 && *end == 0)
            next = (int)number + 1;
    }
    if (open_folder != NULL)
        closedir(open_folder);
    return next;
}

// Tries a rename, which fails into a mount point or through a link into another file system.
static bool can_rename_into(const char *real, const char *target) {
    char plain[PATH_BYTES], from[PATH_BYTES], to[PATH_BYTES];
    Error ignored = {0};
    path_join(plain, sizeof plain, real, MOVING_NAME);
    if (!file_temporary(from, sizeof from, plain, &ignored))
        return false;
    path_join(to, sizeof to, target, path_name(from));
    int file = open(from, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool ok = file >= 0 && rename(from, to) == 0;
    int reason = errno;
    if (file >= 0)
        close(file);
    unlink(ok ? to : from);
    errno = reason;
    return ok;
}

static bool write_moving(const char *real, const char *target, Error *err) {
    char path[PATH_BYTES];
    path_join(path, sizeof path, real, MOVING_NAME);
    return file_replace(path, target, strlen(target), err);
}

// Makes PREFIXn in `parent` after recording it in `.moving`. False without an error: not possible
// there, for the reason in errno.
static bool make_target(const char *real, const char *parent, const char *prefix,
                        char target[PATH_BYTES], Error *err) {
    for (int n = next_number(parent, prefix);; n++) {
        int used = snprintf(target, PATH_BYTES, "%s/%s%d", parent, prefix, n);
        if (used >= PATH_BYTES) {
            target[0] = 0;
            return error_set(err, EXIT_CANNOT_WRITE,
                             "%s: the path is too long for a number behind "
                             "it; give another run.dir",
                             real);
        }
        if (!write_moving(real, target, err))
            return false;
        if (mkdir(target, 0777) == 0)
            break;
        if (errno != EEXIST)
            return false;
    }
    if (can_rename_into(real, target)) // it will hold a whole run and must not be lost
        return access(parent, R_OK) != 0 || file_sync(parent, err);
    int reason = errno;
    rmdir(target);
    errno = reason;
    return false;
}

static bool find_target(const char *real, char target[PATH_BYTES], Error *err) {
    char parent[PATH_BYTES], prefix[300];
    path_folder(parent, sizeof parent, real);
    snprintf(prefix, sizeof prefix, "%.255s.", path_name(real));
    if (make_target(real, parent, prefix, target, err))
        return true;
    return err->code == 0 &&
           (make_target(real, real, "before.", target, err) ||
            error_set(err, EXIT_CANNOT_WRITE,
                      "%s: the previous runs cannot be moved aside: %s; give another run.dir", real,
                      strerror(errno)));
}

// ---- the move

// Makes the folder in the target that will hold `name`.
static bool make_room(const char *target, const char *name, Error *err) {
    char to[PATH_BYTES], parent[PATH_BYTES];
    path_join(to, sizeof to, target, name);
    path_folder(parent, sizeof parent, to);
    return file_make_folder(parent, err);
}

static bool move_one(const char *real, const char *target, const char *name, Error *err) {
    char from[PATH_BYTES], to[PATH_BYTES];
    path_join(from, sizeof from, real, name);
    path_join(to, sizeof to, target, name);
    if (file_exists(to))
        return error_set(err, EXIT_CANNOT_WRITE, "%s: already exists; move it away", to);
    return file_rename_unsynced(from, to, err);
}

// Syncs the folder in the target that now holds `name`.
static bool sync_room(const char *target, const char *name, Error *err) {
    char to[PATH_BYTES], parent[PATH_BYTES];
    path_join(to, sizeof to, target, name);
    path_folder(parent, sizeof parent, to);
    return file_sync(parent, err);
}

// Removes the folders that held `name` if they are now empty.
static void remove_empty(const char *real, const char *name) {
    char inside[PATH_BYTES], path[PATH_BYTES];
    snprintf(inside, sizeof inside, "%s", name);
    for (char *slash; (slash = strrchr(inside, '/')) != NULL;) {
        *slash = 0;
        path_join(path, sizeof path, real, inside);
        if (rmdir(path) != 0)
            return;
    }
}

// All steps that need disk space come before the first rename, and the syncs, which may also find
// the disk full, after the last one. So a full disk never splits a run.
static bool move_all(const char *real, RunKind kind, const char *target, Error *err) {
    NameList list;
    bool ok = marker_make(target, kind, err) && names_list(&list, real, kind, err);
    if (!ok)
        return false;
    for (int i = 0; i < list.count && ok; i++)
        ok = names_stays(list.name[i]) || make_room(target, list.name[i], err);
    for (int i = 0; i < list.count && ok; i++)
        ok = names_stays(list.name[i]) || move_one(real, target, list.name[i], err);
    for (int i = 0; i < list.count && ok; i++)
        ok = names_stays(list.name[i]) || sync_room(target, list.name[i], err);
    for (int i = 0; i < list.count && ok; i++)
        remove_empty(real, list.name[i]);
    names_clear(&list);
    return ok;
}

static bool end_move(const char *real, Error *err) {
    char path[PATH_BYTES];
    path_join(path, sizeof path, real, MOVING_NAME);
    return file_remove(path, err) && file_sync(real, err);
}

// True if anything was renamed into the target; the marker is made there first.
static bool has_moved(const char *target, RunKind kind) {
    NameList moved = {0};
    Error ignored = {0};
    RunKind there;
    bool some = target[0] == '/' && marker_read(target, &there) &&
                !(names_list(&moved, target, kind, &ignored) && names_are_none(&moved));
    names_clear(&moved);
    return some;
}

// Removes a target into which nothing was renamed, with all that make_target and move_all made in
// it.
static void remove_target(const char *real, RunKind kind, const char *target) {
    NameList planned = {0}, made = {0};
    Error ignored = {0};
    char path[PATH_BYTES];
    bool ok =
        names_list(&planned, real, kind, &ignored) && names_list(&made, target, kind, &ignored);
    for (int i = 0; i < planned.count && ok; i++)
        remove_empty(target, planned.name[i]);
    for (int i = 0; i < made.count && ok; i++) {
        path_join(path, sizeof path, target, made.name[i]);
        unlink(path);
    }
    names_clear(&made);
    names_clear(&planned);
    rmdir(target);
}

static bool give_up(const char *real, RunKind kind, const char *target, Error *err) {
    if (target[0] == '/')
        remove_target(real, kind, target);
    return end_move(real, err);
}

bool move_aside(const char *real, RunKind kind, char to[PATH_BYTES], Error *err) {
    Error ignored = {0};
    bool ok = find_target(real, to, err) && move_all(real, kind, to, err) && end_move(real, err);
    if (!ok && !has_moved(to, kind))
        give_up(real, kind, to, &ignored);
    return ok;
}

bool move_finish(const char *real, RunKind kind, Error *err) {
    char path[PATH_BYTES];
    size_t bytes;
    path_join(path, sizeof path, real, MOVING_NAME);
    if (!file_exists(path))
        return true;
    char *target = file_read(path, PATH_BYTES - 1, &bytes, err);
    if (target == NULL)
        return false;
    bool ok = has_moved(target, kind) ? move_all(real, kind, target, err) && end_move(real, err)
                                      : give_up(real, kind, target, err);
    memory_free(target);
    return ok;
}
