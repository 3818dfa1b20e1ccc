// The marker: `.fringe`, a small JSON file, says that a folder is fringe's and what it holds.
// Versions before it had none; their folders are known by what those versions wrote.

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char marker_format[] = "fringe-run-folder";
static const char *const kind_names[] = {"run", "runs", "compare"};

// ---- reading

static Json *read_json(const char *real, const char *name) {
    char path[RUNFOLDER_PATH];
    Error ignored = {0};
    path_join(path, sizeof path, real, name);
    Json *document = file_exists(path) ? json_read(path, &ignored) : NULL;
    if (document != NULL && json_type(document) != JSON_OBJECT) {
        json_free(document);
        document = NULL;
    }
    return document;
}

static RunKind kind_of_marker(const Json *marker) {
    const Json *kind = marker != NULL ? json_get(marker, "kind") : NULL;
    for (int k = RUN_SINGLE; k <= RUN_COMPARISON; k++)
        if (kind != NULL && json_type(kind) == JSON_STRING &&
            strcmp(json_string(kind), kind_names[k]) == 0)
            return (RunKind)k;
    return RUN_SINGLE; // torn by a crash: nothing else was written yet
}

// Does `name` have these two members, as older versions wrote it?
static bool is_older(const char *real, const char *name, const char *one, const char *other) {
    Json *document = read_json(real, name);
    bool found =
        document != NULL && json_get(document, one) != NULL && json_get(document, other) != NULL;
    json_free(document);
    return found;
}

bool marker_read(const char *real, RunKind *kind) {
    char path[RUNFOLDER_PATH];
    path_join(path, sizeof path, real, MARKER_NAME);
    if (file_exists(path)) {
        Json *marker = read_json(real, MARKER_NAME);
        *kind = kind_of_marker(marker);
        json_free(marker);
        return true;
    }
    *kind = is_older(real, "compare.json", "speed_up_over", "modes") ? RUN_COMPARISON
            : is_older(real, "runs.json", "first_seed", "last")      ? RUN_SEVERAL
                                                                     : RUN_SINGLE;
    return *kind != RUN_SINGLE || is_older(real, "run.json", "config", "versions");
}

// ---- writing

static void write_text(char *text, size_t size, RunKind kind) {
    char start[32];
    time_t now = time(NULL);
    struct tm parts;
    strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    snprintf(text, size,
             "{\"format\": \"%s\", \"version\": 1, \"kind\": \"%s\", \"fringe\": \"%s\", "
             "\"start\": \"%s\"}\n",
             marker_format, kind_names[kind], FRINGE_VERSION, start);
}

bool marker_make(const char *real, RunKind kind, Error *err) {
    char path[RUNFOLDER_PATH], text[256];
    path_join(path, sizeof path, real, MARKER_NAME);
    write_text(text, sizeof text, kind);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0 && errno == EEXIST)
        return true;
    bool fine =
        file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && fsync(file) == 0;
    int reason = errno;
    if (file >= 0)
        close(file);
    return fine ? file_sync(real, err)
                : error_set(err, EXIT_CANNOT_WRITE, "%s: cannot write: %s", path, strerror(reason));
}

bool marker_replace(const char *real, RunKind kind, Error *err) {
    char path[RUNFOLDER_PATH], text[256];
    path_join(path, sizeof path, real, MARKER_NAME);
    write_text(text, sizeof text, kind);
    return file_replace(path, text, strlen(text), err);
}
