// Lists and removes the entries of a cache folder (cache.c). The idea: a process that maps files of
// an entry holds a read lock on its manifest, so that removing can ask for the lock and leaves the
// entry alone. The time of an entry's folder is that of its last use, the time of its manifest that
// of its making.
#include "internal.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 1024 };

// ---- in use

static bool manifest_of(char out[PATH], const char *folder) {
    static const char *const names[] = {"partition.json", "dataset.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_join(out, PATH, folder, names[i]);
        if (file_exists(out))
            return true;
    }
    return false;
}

int entry_hold(const char *folder) {
    char path[PATH];
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int file = manifest_of(path, folder) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file > 0 && fcntl(file, F_OFD_SETLK, &whole) == 0)
        return file;
    if (file >= 0)
        close(file);
    return 0;
}

void entry_release(int hold) {
    if (hold > 0)
        close(hold);
}

void entry_touch(const char *path) { (void)!utimensat(AT_FDCWD, path, NULL, 0); }

static bool is_held(const char *folder) {
    char path[PATH];
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = manifest_of(path, folder) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool held = file >= 0 && fcntl(file, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    if (file >= 0)
        close(file);
    return held;
}

// ---- listing

static int64_t bytes_of(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0)
        return 0;
    int64_t bytes = S_ISREG(status.st_mode) ? status.st_size : 0;
    DIR *folder = S_ISDIR(status.st_mode) ? opendir(path) : NULL;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char inside[4096];
        path_join(inside, sizeof inside, path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            bytes += bytes_of(inside);
    }
    if (folder != NULL)
        closedir(folder);
    return bytes;
}

static double since(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? difftime(time(NULL), status.st_mtime) : NAN;
}

static void read_cut(CacheEntry *entry) {
    Manifest manifest;
    Error ignored = {0};
    if (!manifest_read(&manifest, entry->path, &ignored))
        return;
    snprintf(entry->name, sizeof entry->name, "%s", manifest.dataset_name);
    snprintf(entry->method, sizeof entry->method, "%.60s", path_name(manifest.method));
    entry->parts = manifest.parts;
    manifest_clear(&manifest);
}

static void read_dataset(CacheEntry *entry, const char *manifest) {
    Error ignored = {0};
    Json *document = json_read(manifest, &ignored);
    const Json *name =
        document != NULL && json_type(document) == JSON_OBJECT ? json_get(document, "name") : NULL;
    if (name != NULL && json_type(name) == JSON_STRING)
        snprintf(entry->name, sizeof entry->name, "%s", json_string(name));
    json_free(document);
}

static void add(CacheEntries *entries, const char *path, CacheKind kind) {
    char manifest[PATH];
    CacheEntry *longer = ALLOC(CacheEntry, entries->count + 1, "entries of the cache");
    for (int i = 0; i < entries->count; i++)
        longer[i] = entries->entry[i];
    CacheEntry *entry = &longer[entries->count++];
    memory_free(entries->entry);
    entries->entry = longer;
    *entry = (CacheEntry){.kind = kind, .bytes = bytes_of(path), .idle = since(path)};
    snprintf(entry->path, sizeof entry->path, "%s", path);
    entry->age = entry->idle;
    if (kind == CACHE_LEFTOVER || !manifest_of(manifest, path))
        return;
    entry->age = since(manifest);
    entry->used = is_held(path);
    if (kind == CACHE_CUT)
        read_cut(entry);
    else
        read_dataset(entry, manifest);
}

static bool kind_of(const char *name, bool generated, CacheKind *kind) {
    *kind = strstr(name, FILE_TEMPORARY) != NULL ? CACHE_LEFTOVER
            : generated                          ? CACHE_GENERATED
            : strncmp(name, "dataset-", 8) == 0  ? CACHE_DATASET
                                                 : CACHE_CUT;
    return *kind != CACHE_CUT || strncmp(name, "parts-", 6) == 0;
}

static bool list_folder(CacheEntries *entries, const char *folder, bool generated, Error *err) {
    char path[PATH];
    CacheKind kind;
    DIR *open_folder = opendir(folder);
    if (open_folder == NULL)
        return errno == ENOENT || error_set(err, EXIT_IO, "%s: cannot look into the folder: %s",
                                            folder, strerror(errno));
    for (struct dirent *entry; (entry = readdir(open_folder)) != NULL;) {
        if (entry->d_name[0] == '.' || !kind_of(entry->d_name, generated, &kind))
            continue;
        path_join(path, sizeof path, folder, entry->d_name);
        add(entries, path, kind);
    }
    closedir(open_folder);
    return true;
}

static int by_kind(const void *a, const void *b) {
    const CacheEntry *one = a, *other = b;
    int names = strcmp(one->name, other->name);
    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    return names != 0                   ? names
           : one->parts != other->parts ? one->parts - other->parts
                                        : strcmp(one->path, other->path);
}

bool cache_list(CacheEntries *entries, const char *cache, Error *err) {
    char generated[PATH];
    *entries = (CacheEntries){0};
    path_join(generated, sizeof generated, cache, "generated");
    bool ok = list_folder(entries, cache, false, err) && list_folder(entries, generated, true, err);
    if (entries->count > 0)
        qsort(entries->entry, (size_t)entries->count, sizeof *entries->entry, by_kind);
    return ok;
}

void cache_clear(CacheEntries *entries) {
    memory_free(entries->entry);
    *entries = (CacheEntries){0};
}

// ---- removing

void cache_remove_sources(const char *cache, double idle) {
    char path[PATH];
    Error ignored = {0};
    DIR *folder = opendir(cache);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (strncmp(entry->d_name, "source-", 7) != 0)
            continue;
        path_join(path, sizeof path, cache, entry->d_name);
        if (since(path) >= idle)
            file_remove(path, &ignored);
    }
    if (folder != NULL)
        closedir(folder);
}

bool cache_remove(const CacheEntry *entry, bool *removed, Error *err) {
    char folder[PATH];
    *removed = false;
    if (entry->kind == CACHE_LEFTOVER) {
        path_folder(folder, sizeof folder, entry->path);
        file_sweep(folder); // only those of ended processes
    } else if (is_held(entry->path)) {
        return true;
    } else {
        partition_discard(entry->path);
    }
    *removed = !file_exists(entry->path);
    return *removed || entry->kind == CACHE_LEFTOVER ||
           error_set(err, EXIT_CANNOT_WRITE, "%s: cannot be removed; is the cache read-only?",
                     entry->path);
}
