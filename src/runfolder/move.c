// Moving what earlier runs made out of the way. The file `.moving` names the target from before the
// first rename until after the last one: the next start goes on with a move that a crash
// interrupted. Nothing is ever renamed over something else.

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
    if (file >= 0)
        close(file);
    unlink(fine ? to : from);
    return fine;
}

static bool write_moving(const char *real, const char *target, Error *err) {
    char path[RUNFOLDER_PATH];
    path_join(path, sizeof path, real, MOVING_NAME);
    return file_replace(path, target, strlen(target), err);
}

// Makes PREFIXn in `parent`, written down before it is made. EXIT_OK and false: not possible there.
static bool make_target(const char *real, const char *parent, const char *prefix,
                        char target[RUNFOLDER_PATH], Error *err) {
    for (int n = next_number(parent, prefix);; n++) {
        int used = snprintf(target, RUNFOLDER_PATH, "%s/%s%d", parent, prefix, n);
        if (used >= RUNFOLDER_PATH || !write_moving(real, target, err))
            return false;
        if (mkdir(target, 0777) == 0)
            break;
        if (errno != EEXIST)
            return false;
    }
    if (can_rename_into(real, target))
        return true;
    rmdir(target);
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

static bool stays(const char *name) {
    return strcmp(name, MARKER_NAME) == 0 || strcmp(name, LOCK_NAME) == 0 ||
           strncmp(name, MOVING_NAME, strlen(MOVING_NAME)) == 0;
}

static bool move_one(const char *real, const char *target, const char *name, Error *err) {
    char from[RUNFOLDER_PATH], to[RUNFOLDER_PATH], parent[RUNFOLDER_PATH];
    path_join(from, sizeof from, real, name);
    path_join(to, sizeof to, target, name);
    path_folder(parent, sizeof parent, to);
    if (!file_make_folder(parent, err))
        return false;
    if (file_exists(to))
        return error_set(err, EXIT_CANNOT_WRITE, "%s: is there already; move it away", to);
    return file_rename(from, to, err);
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

static bool move_all(const char *real, RunKind kind, const char *target, Error *err) {
    NameList list;
    bool fine = marker_make(target, kind, err) && names_list(&list, real, kind, err);
    if (!fine)
        return false;
    for (int i = 0; i < list.count && fine; i++)
        fine = stays(list.name[i]) || move_one(real, target, list.name[i], err);
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

bool move_aside(const char *real, RunKind kind, char to[RUNFOLDER_PATH], Error *err) {
    return find_target(real, to, err) && move_all(real, kind, to, err) && end_move(real, err);
}

// A target that is there without our marker is somebody else's, made before ours could be.
static bool target_is_ours(const char *target) {
    RunKind ignored;
    return marker_read(target, &ignored) || rmdir(target) == 0 || errno == ENOENT;
}

bool move_finish(const char *real, RunKind kind, Error *err) {
    char path[RUNFOLDER_PATH], to[RUNFOLDER_PATH];
    size_t bytes;
    path_join(path, sizeof path, real, MOVING_NAME);
    if (!file_exists(path))
        return true;
    char *target = file_read(path, RUNFOLDER_PATH - 1, &bytes, err);
    if (target == NULL)
        return false;
    bool ours = target_is_ours(target);
    bool fine = ours ? file_make_folder(target, err) && move_all(real, kind, target, err) &&
                           end_move(real, err)
                     : move_aside(real, kind, to, err);
    memory_give(target);
    return fine;
}
