// The marker: `.fringe`, a small JSON file, says that a folder is fringe's and what it holds.
// Folders of older versions have no marker and are recognised by the files of those versions.

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKER_FORMAT "fringe-run-folder"

static const char *const kind_names[] = {"run", "runs", "compare", "sweep", "stream"};

// ---- reading

static Json *read_json(const char *real, const char *name) {
    char path[PATH_BYTES];
    Error ignored = {0};
    path_join(path, sizeof path, real, name);
    Json *document = file_exists(path) ? json_read(path, &ignored) : NULL;
    if (document != NULL && json_type(document) != JSON_OBJECT) {
        json_free(document);
        document = NULL;
    }
    return document;
}

// True if the text begins like a marker. A crash may have cut it short, before anything else was
// written.
static bool is_marker(const char *path) {
    static const char beginning[] = "{\"format\": \"" MARKER_FORMAT "\"";
    char text[sizeof beginning] = "";
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool found = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                 read(file, text, sizeof beginning - 1) >= 0 &&
                 strncmp(text, beginning, strlen(text)) == 0;
    if (file >= 0)
        close(file);
    return found;
}

static bool is_there(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

static RunKind kind_of_marker(const Json *marker) {
    const Json *kind = marker != NULL ? json_get(marker, "kind") : NULL;
    for (int k = RUN_SINGLE; k <= RUN_STREAM; k++)
        if (kind != NULL && json_type(kind) == JSON_STRING &&
            strcmp(json_string(kind), kind_names[k]) == 0)
            return (RunKind)k;
    return RUN_SINGLE; // cut short by a crash: nothing else was written yet
}

// True if the file `name` has these two members, as older versions wrote it.
static bool is_older(const char *real, const char *name, const char *one, const char *other) {
    Json *document = read_json(real, name);
    bool found =
        document != NULL && json_get(document, one) != NULL && json_get(document, other) != NULL;
    json_free(document);
    return found;
}

bool marker_read(const char *real, RunKind *kind) {
    char path[PATH_BYTES];
    path_join(path, sizeof path, real, MARKER_NAME);
    if (is_there(path)) {
        Json *marker = read_json(real, MARKER_NAME);
        *kind = kind_of_marker(marker);
        json_free(marker);
        return is_marker(path);
    }
    *kind = is_older(real, "compare.json", "speed_up_over", "modes") ? RUN_COMPARISON
            : is_older(real, "runs.json", "first_seed", "last")      ? RUN_SEVERAL
                                                                     : RUN_SINGLE;
    return *kind != RUN_SINGLE || is_older(real, "run.json", "config", "versions");
}

// ---- writing

static void write_text(char *text, size_t size, RunKind kind) {
    char start[CLOCK_UTC];
    snprintf(text, size,
             "{\"format\": \"" MARKER_FORMAT "\", \"version\": 1, \"kind\": \"%s\", "
             "\"fringe\": \"%s\", \"start\": \"%s\"}\n",
             kind_names[kind], FRINGE_VERSION, clock_utc(start));
}

// A short write sets no errno; the next write does.
static bool put(int file, const char *text) {
    while (*text != 0) {
        ssize_t bytes = write(file, text, strlen(text));
        if (bytes < 0 && errno != EINTR)
            return false;
        text += bytes > 0 ? bytes : 0;
    }
    return true;
}

bool marker_make(const char *real, RunKind kind, Error *err) {
    char path[PATH_BYTES], text[256];
    path_join(path, sizeof path, real, MARKER_NAME);
    write_text(text, sizeof text, kind);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0 && errno == EEXIST)
        return is_marker(path) ||
               error_set(err, EXIT_CANNOT_WRITE, "%s: is not fringe's; give another run.dir", path);
    bool ok = file >= 0 && put(file, text) && fsync(file) == 0;
    int reason = errno;
    if (file >= 0)
        close(file);
    return ok ? file_sync(real, err)
              : error_set(err, EXIT_CANNOT_WRITE, "%s: cannot write: %s", path, strerror(reason));
}

bool marker_replace(const char *real, RunKind kind, Error *err) {
    char path[PATH_BYTES], text[256];
    path_join(path, sizeof path, real, MARKER_NAME);
    write_text(text, sizeof text, kind);
    return file_replace(path, text, strlen(text), err);
}

bool runfolder_is_same(const char *path, const char *other) {
    char *real = realpath(path, NULL), *real_other = realpath(other, NULL);
    bool same = real != NULL && real_other != NULL && strcmp(real, real_other) == 0;
    free(real);
    free(real_other);
    return same;
}
