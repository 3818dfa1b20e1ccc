// A run that starts from the beginning: moves all files of earlier runs out of the way.

#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_within(const char *inner, const char *outer) {
    size_t length = strlen(outer);
    return strncmp(inner, outer, length) == 0 && (inner[length] == 0 || inner[length] == '/');
}

// Resolves all links; the path itself if it does not exist.
static void resolve(char out[PATH_BYTES], const char *path) {
    char *real = realpath(path, NULL);
    snprintf(out, PATH_BYTES, "%s", real != NULL ? real : path);
    free(real);
}

// True if the path lies inside one of the names, or one of them lies inside path/below.
static bool moves(const char *path, const char *below, const char *real, const NameList *list) {
    char plain[PATH_BYTES], name[PATH_BYTES], outer[PATH_BYTES];
    bool found = false;
    if (path[0] == 0)
        return false;
    if (below[0] != 0)
        path_join(plain, sizeof plain, path, below);
    resolve(outer, below[0] != 0 ? plain : path);
    for (int i = 0; i < list->count && !found; i++) {
        path_join(plain, sizeof plain, real, list->name[i]);
        resolve(name, plain);
        found = below[0] != 0 ? is_within(name, outer) : is_within(outer, name);
    }
    return found;
}

// The text after "file:" or "replay:"; "" if it begins otherwise.
static const char *after(const char *text, const char *prefix) {
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : "";
}

// The first path of the config that would move; NULL if none does.
static const char *path_that_moves(const Config *c, const char *real, const NameList *list) {
    const char *const paths[] = {
        c->source,     c->data.path,   c->data.features, c->data.labels,
        c->data.nodes, c->data.splits, c->model.weights, after(c->partition.method, "file:")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (moves(paths[i], "", real, list))
            return paths[i];
    for (int i = 0; i < c->data.split_keys.count; i++)
        if (config_split_is_file(c->data.split_keys.word[i]) &&
            moves(c->data.split_keys.word[i], "", real, list))
            return c->data.split_keys.word[i];
    const char *replayed = after(c->quantization.assign, "replay:");
    return moves(replayed, "assignments", real, list) ? replayed : NULL;
}

// A run of an earlier command may still use a folder inside.
static bool check_inner_locks(const RunFolder *folder, const NameList *list, Error *err) {
    for (int i = 0; i < list->count && err->code == 0; i++) {
        char inner[PATH_BYTES], path[PATH_BYTES], holder[256];
        struct RunLock *lock;
        if (strcmp(path_name(list->name[i]), LOCK_NAME) != 0 ||
            strcmp(list->name[i], LOCK_NAME) == 0)
            continue;
        path_join(path, sizeof path, folder->real, list->name[i]);
        path_folder(inner, sizeof inner, path);
        LockAnswer answer = lock_try(&lock, inner, holder, sizeof holder, err);
        if (answer == LOCK_TAKEN)
            lock_release(lock);
        else if (answer == LOCK_BUSY)
            error_set(err, EXIT_CANNOT_WRITE,
                      "%s: another run works there (%s); wait for its end, or give another run.dir",
                      inner, holder);
    }
    return err->code == 0;
}

// A rename cannot cross disks: a name on another disk would stop the move midway.
static bool check_one_disk(const RunFolder *folder, const NameList *list, Error *err) {
    struct stat here, there;
    char path[PATH_BYTES];
    for (int i = 0; i < list->count && err->code == 0; i++) {
        path_join(path, sizeof path, folder->real, list->name[i]);
        if (stat(folder->real, &here) == 0 && lstat(path, &there) == 0 &&
            here.st_dev != there.st_dev)
            error_set(err, EXIT_CANNOT_WRITE,
                      "%s: lies on another disk and cannot be moved aside; move it away, or give "
                      "another run.dir",
                      path);
    }
    return err->code == 0;
}

// Prints the target as the user would write it.
static void tell(const RunFolder *folder, const char *to) {
    const char *base = path_name(folder->path), *name = path_name(to);
    size_t same = strlen(base);
    if (same > 0 && strncmp(name, base, same) == 0 && name[same] == '.' && base[0] != '.')
        terminal_say("warning    %s: the previous run is now in %s%s\n", SHOWN(folder->path),
                     SHOWN(folder->path), SHOWN(name + same));
    else
        terminal_say("warning    %s: the previous run is now in %s\n", SHOWN(folder->path),
                     SHOWN(to));
}

bool runfolder_start_anew(const RunFolder *folder, const Config *config, Error *err) {
    NameList list = {0};
    RunKind found = folder->kind;
    char to[PATH_BYTES];
    marker_read(folder->real, &found);
    bool ok = names_list(&list, folder->real, found, err);
    const char *path = ok ? path_that_moves(config, folder->real, &list) : NULL;
    if (path != NULL)
        ok = error_set(err, EXIT_CONFIG,
                       "%s is part of the run that lies in %s and would be moved with it; give "
                       "another run.dir",
                       path, folder->path);
    if (ok && !names_are_none(&list)) {
        ok = check_inner_locks(folder, &list, err) && check_one_disk(folder, &list, err) &&
             move_aside(folder->real, found, to, err);
        if (ok)
            tell(folder, to);
    }
    names_clear(&list);
    return ok && marker_replace(folder->real, folder->kind, err);
}
