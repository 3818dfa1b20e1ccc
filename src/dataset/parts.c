// Parts of a list of edges. See parts.h.

#include "parts.h"
#include "table.h"

#include <glob.h>

static int compare(const void *a, const void *b) { return strcmp(a, b); }

static bool is_text(const char *name) {
    return text_ends(name, ".csv .tsv .txt .edges .edgelist") ||
           (strncmp(name, "part-", 5) == 0 && strstr(name, ".parquet") == NULL);
}

static void add(Parts *parts, const char *path) {
    size_t used = (size_t)parts->count * PATH_BYTES;
    parts->path = memory_grown(parts->path, used, used + PATH_BYTES, "parts of a file");
    snprintf(parts->path[parts->count++], PATH_BYTES, "%s", path);
}

// False: one of its files is no text.
static bool find_in_folder(Parts *parts, const char *folder) {
    FileNames in = file_names(folder);
    bool ok = in.folder != NULL;
    while (file_next(&in, ok)) {
        if (in.name[0] == '.' || in.name[0] == '_')
            continue;
        const char *path = PATH_IN(folder, in.name);
        ok = file_is_folder(path) || is_text(in.name);
        if (ok)
            add(parts, path);
    }
    return ok;
}

bool parts_find(Parts *parts, const char *path) {
    glob_t found;
    *parts = (Parts){0};
    bool ok = true;
    if (file_is_folder(path)) {
        ok = find_in_folder(parts, path);
    } else if (!file_exists(path) && strpbrk(path, "*?[") != NULL &&
               glob(path, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            add(parts, found.gl_pathv[i]);
        globfree(&found);
    }
    bool any = false;
    for (int i = 0; i < parts->count; i++)
        any = any || !file_is_folder(parts->path[i]);
    if (ok && any) {
        qsort(parts->path, (size_t)parts->count, PATH_BYTES, compare);
        return true;
    }
    parts_clear(parts);
    return false;
}

void parts_clear(Parts *parts) {
    memory_free(parts->path);
    *parts = (Parts){0};
}

bool parts_are(const char *path) {
    CLEARED(parts_clear) Parts parts;
    return parts_find(&parts, path);
}

// ---- one text

typedef struct Joined {
    Text text;
    size_t room;
} Joined;

static bool append(Joined *all, const char *at, size_t bytes, Error *err) {
    bool newline = bytes > 0 && at[bytes - 1] != '\n';
    if (!text_grow(&all->text, &all->room, all->text.bytes + bytes + newline + 1, err))
        return false;
    memcpy(all->text.data + all->text.bytes, at, bytes);
    all->text.bytes += bytes;
    if (newline)
        all->text.data[all->text.bytes++] = '\n';
    all->text.data[all->text.bytes] = '\0';
    return true;
}

// The line of names, with its end.
static size_t header_bytes(const Text *text) {
    const char *newline = memchr(text->data, '\n', text->bytes);
    return newline != NULL ? (size_t)(newline + 1 - text->data) : text->bytes;
}

static bool same_header(const Table *first, const Table *table, Error *err) {
    bool same = first->columns == table->columns;
    for (int c = 0; same && c < table->columns; c++)
        same = strcmp(first->name[c], table->name[c]) == 0;
    return same || error_data(err,
                              "%s: its first line names other columns than that of %s, so they are "
                              "no parts of one file",
                              table->path, path_name(first->path));
}

// A part that repeats the names of columns loses them.
static bool add_part(Joined *all, Table *first, const char *path, const Config *config,
                     Error *err) {
    CLEARED(text_clear) Text text = {0};
    CLEARED(table_clear) Table table = {0};
    if (file_is_folder(path))
        return error_data(
            err,
            "%s: a folder inside a folder of parts; name its parts, as in 'folder/*/part-*.csv'",
            path);
    if (!text_read(&text, path, err) || !table_open(&table, &text, config, path, err))
        return false;
    if (first->path == NULL) {
        *first = table;
        table = (Table){0};
        return append(all, text.data, text.bytes, err);
    }
    bool again = table.header && first->header && text.data[0] != '#' && text.data[0] != '%';
    size_t skip = again ? header_bytes(&text) : 0;
    return (!again || same_header(first, &table, err)) &&
           append(all, text.data + skip, text.bytes - skip, err);
}

bool parts_read(Text *text, const char *path, const Config *config, Error *err) {
    CLEARED(parts_clear) Parts parts;
    CLEARED(table_clear) Table first = {0};
    Joined all = {0};
    bool ok = parts_find(&parts, path) ||
              error_set(err, EXIT_NO_INPUT, "%s: there are no parts of a file in it", path);
    for (int i = 0; ok && i < parts.count; i++)
        ok = add_part(&all, &first, parts.path[i], config, err);
    *text = all.text;
    return ok;
}
