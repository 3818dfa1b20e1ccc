// NAME, NAME-2, NAME-3, ...: the folders that the starts of one name take, and the newest of them.

#include "internal.h"

#include <ctype.h>

int runfolder_number(const char *name, int *base) {
    int length = (int)strlen(name), digits = 0;
    while (digits < length && isdigit((unsigned char)name[length - 1 - digits]))
        digits++;
    const char *first = name + length - digits;
    bool numbered = digits > 0 && digits < 9 && length > digits + 1 && first[-1] == '-' &&
                    first[0] != '0' && atoi(first) > 1;
    *base = numbered ? length - digits - 1 : length;
    return numbered ? atoi(first) : 1;
}

// The path to which a number is added: "." and "runs/x/" have no name at their end.
static void plain(char out[CONFIG_TEXT], const char *path) {
    path_plain(out, CONFIG_TEXT, path);
    const char *name = path_name(out);
    char *real = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? realpath(out, NULL) : NULL;
    if (real != NULL)
        snprintf(out, CONFIG_TEXT, "%s", real);
    free(real);
}

bool numbers_name(char out[CONFIG_TEXT], const char *path, int number, Error *err) {
    char name[CONFIG_TEXT];
    plain(name, path);
    int used = number == 1 ? snprintf(out, CONFIG_TEXT, "%s", path)
                           : snprintf(out, CONFIG_TEXT, "%s-%d", name, number);
    return used < CONFIG_TEXT || error_set(err, EXIT_CANNOT_WRITE,
                                           "%s: the path is too long for a number behind it; give "
                                           "another run.dir",
                                           path);
}

// The number of the folder `name` among those of `base`; 0 if it is none of them.
static int number_of(const char *name, const char *base) {
    int bytes, number = runfolder_number(name, &bytes);
    if (strcmp(name, base) == 0)
        return 1;
    return number > 1 && strlen(base) == (size_t)bytes && strncmp(name, base, (size_t)bytes) == 0
               ? number
               : 0;
}

// A single run has a result in its run.json, the others have a table at their end.
static bool has_ended(const char *folder, RunKind kind) {
    static const char *const last[] = {"run.json", "runs.json", "compare.json", "sweep.json",
                                       "stream.json"};
    const char *path = PATH_IN(folder, last[kind]);
    CLEARED(json_drop) Json *document = file_exists(path) ? json_read(path, &(Error){0}) : NULL;
    return document != NULL &&
           (kind != RUN_SINGLE || json_get_of(document, "result", JSON_OBJECT) != NULL);
}

typedef struct Numbered {
    int number; // 0: none
    Marker marker;
    char path[CONFIG_TEXT];
} Numbered;

static bool is_newer(const Numbered *a, const Numbered *b) {
    int order = strcmp(a->marker.start, b->marker.start);
    return order != 0 ? order > 0 : a->number > b->number;
}

bool numbers_newest(char out[CONFIG_TEXT], const char *path, RunKind kind, const Config *config,
                    bool unfinished) {
    char name[CONFIG_TEXT];
    Numbered newest = {0};
    plain(name, path);
    for (FileNames in = file_names(FOLDER_OF(name)); file_next(&in, true);) {
        Numbered found = {.number = number_of(in.name, path_name(name))};
        if (found.number > 0 && numbers_name(found.path, path, found.number, &(Error){0}) &&
            marker_read(&found.marker, found.path, config) && found.marker.kind == kind &&
            found.marker.agrees && !(unfinished && has_ended(found.path, kind)) &&
            is_newer(&found, &newest))
            newest = found;
    }
    if (newest.number > 0)
        snprintf(out, CONFIG_TEXT, "%s", newest.path);
    return newest.number > 0;
}

void runfolder_find_newest(Config *config) {
    char found[CONFIG_TEXT];
    if (numbers_newest(found, config->run.dir, RUN_SINGLE, config, false))
        snprintf(config->run.dir, sizeof config->run.dir, "%s", found);
}
