// Moving what earlier runs made out of the way. The file `.moving` names the target from before the
// first rename until after the last one: the next start goes on with a move that a crash
// interrupted. A move that was refused or interrupted before its first rename is given up, and the
// runs stay where they are. Nothing is ever renamed over something else.

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

// A mount point, or a link into another file system: a rename says so.
static bool can_rename_into(const char *real, const char *target) {
    char plain[RUNFOLDER_PATH], from[RUNFOLDER_PATH], to[RUNFOLDER_PATH];
    Error ignored = {0};
    path_join(plain, sizeof plain, real, MOVING_NAME);
    if (!file_temporary(from, sizeof from, plain, &ignored))
        return false;
    path_join(to, sizeof to, target, path_name(from));
    int file = open(from, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool fine = file >= 0 && rename(from, to) == 0;
    int reason = errno;
    if (file >= 0)
        close(file);
    unlink(fine ? to : from);
    errno = reason;
    return fine;
}

static bool write_moving(const char *real, const char *target, Error *err) {
    char path[RUNFOLDER_PATH];
    path_join(path, sizeof path, real, MOVING_NAME);
    return file_replace(path, target, strlen(target), err);
}

// Makes PREFIXn in `parent`, written down before it is made. EXIT_OK and false: not possible there,
// for the reason in errno.
static bool make_target(const char *real, const char *parent, const char *prefix,
                        char target[RUNFOLDER_PATH], Error *err) {
    for (int n = next_number(parent, prefix);; n++) {
        int used = snprintf(target, RUNFOLDER_PATH, "%s/%s%d", parent, prefix, n);
        if (used >= RUNFOLDER_PATH) {
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
    if (can_rename_into(real, target)) // all of a run will lie in it: it must not be lost
        return access(parent, R_OK) != 0 || file_sync(parent, err);
    int reason = errno;
    rmdir(target);
    errno = reason;
    return false;
}

static bool find_target(const char *real, char target[RUNFOLDER_PATH], Error *err) {
    char parent[RUNFOLDER_PATH], prefix[300];
    path_folder(parent, sizeof parent, real);
    snprintf(prefix, sizeof prefix, "%.255s.", path_name(real));
    if (make_target(real, parent, prefix, target, err))
        return true;
    return err->code == 0 &&
           (make_target(real, real, "before.", target, err) ||
            error_set(err, EXIT_CANNOT_WRITE,
                      "%s: the runs before cannot be moved aside: %s; give another run.dir", real,
                      strerror(errno)));
}

// ---- the move

// Makes the folder in the target that `name` will lie in.
static bool make_room(const char *target, const char *name, Error *err) {
    char to[RUNFOLDER_PATH], parent[RUNFOLDER_PATH];
    path_join(to, sizeof to, target, name);
    path_folder(parent, sizeof parent, to);
    return file_make_folder(parent, err);
}

static bool move_one(const char *real, const char *target, const char *name, Error *err) {
    char from[RUNFOLDER_PATH], to[RUNFOLDER_PATH];
    path_join(from, sizeof from, real, name);
    path_join(to, sizeof to, target, name);
    if (file_exists(to))
        return error_set(err, EXIT_CANNOT_WRITE, "%s: is there already; move it away", to);
    return file_rename_unsynced(from, to, err);
}

// The folder in the target that `name` lies in now.
static bool sync_room(const char *target, const char *name, Error *err) {
    char to[RUNFOLDER_PATH], parent[RUNFOLDER_PATH];
    path_join(to, sizeof to, target, name);
    path_folder(parent, sizeof parent, to);
    return file_sync(parent, err);
}

// The folders that `name` lay in, where nothing is left in them.
static void remove_empty(const char *real, const char *name) {
    char inside[RUNFOLDER_PATH], path[RUNFOLDER_PATH];
    snprintf(inside, sizeof inside, "%s", name);
    for (char *slash; (slash = strrchr(inside, '/')) != NULL;) {
        *slash = 0;
        path_join(path, sizeof path, real, inside);
        if (rmdir(path) != 0)
            return;
    }
}

// All that takes room is made before the first rename, and disks that find themselves full at a
// sync are asked after the last one: so no full disk parts what a run has made.
static bool move_all(const char *real, RunKind kind, const char *target, Error *err) {
    NameList list;
    bool fine = marker_make(target, kind, err) && names_list(&list, real, kind, err);
    if (!fine)
        return false;
    for (int i = 0; i < list.count && fine; i++)
        fine = names_stays(list.name[i]) || make_room(target, list.name[i], err);
    for (int i = 0; i < list.count && fine; i++)
        fine = names_stays(list.name[i]) || move_one(real, target, list.name[i], err);
    for (int i = 0; i < list.count && fine; i++)
        fine = names_stays(list.name[i]) || sync_room(target, list.name[i], err);
    for (int i = 0; i < list.count && fine; i++)
        remove_empty(real, list.name[i]);
    names_clear(&list);
    return fine;
}

static bool end_move(const char *real, Error *err) {
    char path[RUNFOLDER_PATH];
    path_join(path, sizeof path, real, MOVING_NAME);
    return file_remove(path, err) && file_sync(real, err);
}

// Was anything renamed into the target? The marker is made there before.
static bool has_moved(const char *target, RunKind kind) {
    NameList moved = {0};
    Error ignored = {0};
    RunKind there;
    bool some = target[0] == '/' && marker_read(target, &there) &&
                !(names_list(&moved, target, kind, &ignored) && names_are_none(&moved));
    names_clear(&moved);
    return some;
}

// Removes what make_target and move_all made in a target into which nothing was renamed, and it.
static void remove_target(const char *real, RunKind kind, const char *target) {
    NameList planned = {0}, made = {0};
    Error ignored = {0};
    char path[RUNFOLDER_PATH];
    bool fine =
        names_list(&planned, real, kind, &ignored) && names_list(&made, target, kind, &ignored);
    for (int i = 0; i < planned.count && fine; i++)
        remove_empty(target, planned.name[i]);
    for (int i = 0; i < made.count && fine; i++) {
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

bool move_aside(const char *real, RunKind kind, char to[RUNFOLDER_PATH], Error *err) {
    Error ignored = {0};
    bool fine = find_target(real, to, err) && move_all(real, kind, to, err) && end_move(real, err);
    if (!fine && !has_moved(to, kind))
        give_up(real, kind, to, &ignored);
    return fine;
}

bool move_finish(const char *real, RunKind kind, Error *err) {
    char path[RUNFOLDER_PATH];
    size_t bytes;
    path_join(path, sizeof path, real, MOVING_NAME);
    if (!file_exists(path))
        return true;
    char *target = file_read(path, RUNFOLDER_PATH - 1, &bytes, err);
    if (target == NULL)
        return false;
    bool fine = has_moved(target, kind) ? move_all(real, kind, target, err) && end_move(real, err)
                                        : give_up(real, kind, target, err);
    memory_give(target);
    return fine;
}
