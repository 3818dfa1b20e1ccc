// Lists and removes entries of the cache, for `fringe cache`. Names that cache.c does not make are
// neither listed nor touched.
#include "internal.h"
#include <errno.h>
#include <sys/stat.h>
#include <time.h>

// ---- names

static const struct {
    const char *text;
    CacheKind kind;
} prefixes[] = {
    {"source-", CACHE_SOURCE}, {"fitted-", CACHE_FITTED},  {"dataset-", CACHE_DATASET},
    {"parts-", CACHE_PARTS},   {"arrays-", CACHE_DATASET}, // a dataset folder of fringe.Data, which
                                                           // Python writes
};
enum { PREFIXES = sizeof prefixes / sizeof prefixes[0], DIGITS = 32 };

// Sets *rest to the text behind the hash: "", ".json", or the ending of a temporary name.
static bool read_name(const char *name, CacheKind *kind, const char **rest) {
    for (int p = 0; p < PREFIXES; p++) {
        size_t length = strlen(prefixes[p].text);
        if (strncmp(name, prefixes[p].text, length) != 0)
            continue;
        *kind = prefixes[p].kind;
        *rest = name + length + DIGITS;
        return strspn(name + length, "0123456789abcdef") == DIGITS;
    }
    return false;
}

bool cache_entry_kind(const char *path, CacheKind *kind) {
    const char *name = path_name(path), *rest;
    if (!read_name(name, kind, &rest))
        return false;
    const char *ending = *kind == CACHE_SOURCE   ? ".json"
                         : *kind == CACHE_FITTED ? ".safetensors"
                                                 : "";
    size_t length = strlen(ending);
    if (strcmp(rest, ending) == 0)
        return true;
    *kind = CACHE_TEMPORARY;
    return strncmp(rest, ending, length) == 0 &&
           strncmp(rest + length, FILE_TEMPORARY, strlen(FILE_TEMPORARY)) == 0;
}

// ---- one entry

static double bytes_of(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0)
        return 0;
    if (!S_ISDIR(status.st_mode))
        return (double)status.st_size;
    double bytes = 0;
    for (FileNames in = file_names(path); file_next(&in, true);)
        bytes += bytes_of(PATH_IN(path, in.name));
    return bytes;
}

static void read_dataset_name(CacheEntry *entry, const char *path) {
    CLEARED(json_drop) Json *document = json_read(path, &(Error){0});
    snprintf(entry->dataset, sizeof entry->dataset, "%s", json_get_text(document, "name"));
}

static void read_parts(CacheEntry *entry) {
    CLEARED(manifest_clear) Manifest manifest = {0};
    if (!manifest_read(&manifest, entry->path, &(Error){0}))
        return;
    snprintf(entry->dataset, sizeof entry->dataset, "%s", manifest.dataset_name);
    entry->parts = manifest.parts;
}

// A small file that nobody maps for long.
static bool is_one_file(CacheKind kind) { return kind == CACHE_SOURCE || kind == CACHE_FITTED; }

static bool is_used(const CacheEntry *entry) {
    bool used = false;
    if (entry->kind == CACHE_TEMPORARY)
        return !file_is_left_over(entry->path);
    if (!is_one_file(entry->kind))
        cache_release(cache_seize(entry->path, &used));
    return used;
}

void cache_entry_read(CacheEntry *entry, const char *path, CacheKind kind) {
    struct stat status;
    *entry = (CacheEntry){.kind = kind, .bytes = bytes_of(path)};
    snprintf(entry->path, sizeof entry->path, "%s", path);
    if (lstat(path, &status) == 0)
        entry->age = difftime(time(NULL), status.st_mtime);
    entry->age = entry->age > 0 ? entry->age : 0;
    const char *manifest = PATH_IN(path, "dataset.json");
    if (kind == CACHE_PARTS)
        read_parts(entry);
    else if (kind != CACHE_TEMPORARY && kind != CACHE_FITTED)
        read_dataset_name(entry, kind == CACHE_SOURCE ? path : manifest);
    entry->is_used = is_used(entry);
}

// ---- all of them

static int by_kind_and_age(const void *a, const void *b) {
    const CacheEntry *one = a, *other = b;
    if (one->kind != other->kind)
        return one->kind < other->kind ? 1 : -1;
    return one->age < other->age ? -1 : one->age > other->age ? 1 : strcmp(one->path, other->path);
}

bool cache_list(CacheList *list, const char *cache, Error *err) {
    CacheKind kind;
    FileNames in = file_names(cache);
    *list = (CacheList){0};
    if (in.folder == NULL)
        return errno == ENOENT || error_cannot(err, EXIT_IO, "look into the cache", cache);
    while (file_next(&in, true))
        if (cache_entry_kind(in.name, &kind)) {
            size_t used = (size_t)list->count * sizeof *list->entry;
            list->entry =
                memory_grown(list->entry, used, used + sizeof *list->entry, "entries of the cache");
            cache_entry_read(&list->entry[list->count++], PATH_IN(cache, in.name), kind);
        }
    if (list->count > 0)
        qsort(list->entry, (size_t)list->count, sizeof *list->entry, by_kind_and_age);
    return true;
}

void cache_list_clear(CacheList *list) {
    memory_free(list->entry);
    *list = (CacheList){0};
}

bool cache_remove(const CacheEntry *entry, Error *err) {
    bool used = false;
    if (is_one_file(entry->kind) || entry->kind == CACHE_TEMPORARY)
        return (is_one_file(entry->kind) || file_is_left_over(entry->path)) &&
               file_remove(entry->path, err);
    CacheHold *hold = cache_seize(entry->path, &used);
    if (!used)
        file_discard(entry->path, &(Error){0});
    cache_release(hold);
    return !used && (!file_exists(entry->path) ||
                     error_set(err, EXIT_CANNOT_WRITE,
                               "%s: cannot be removed; does it belong to you?", entry->path));
}
