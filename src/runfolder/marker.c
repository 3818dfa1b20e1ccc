// The marker: `.fringe`, a small JSON file, says that a folder is fringe's, what it holds, and of
// which training.

#include "internal.h"

#include <sys/stat.h>

static const char format[] = "fringe-run-folder";
static const char *const kind_names[] = {"run", "runs", "compare", "sweep", "stream"};

static RunKind kind_of(const Json *marker) {
    int kind = RUN_STREAM;
    while (kind > RUN_SINGLE && strcmp(json_get_text(marker, "kind"), kind_names[kind]) != 0)
        kind--;
    return (RunKind)kind;
}

static void note_difference(void *context, UNUSED const char *sentence) { *(bool *)context = true; }

static bool is_of(const Json *marker, const Config *config) {
    const Json *training = json_get_of(marker, "training", JSON_OBJECT);
    int64_t seed;
    bool differs =
        training == NULL || !json_get_int(marker, "seed", &seed) || seed != config->run.seed;
    if (!differs)
        config_report_learned(training, config, NULL, note_difference, &differs);
    return !differs;
}

bool marker_read(Marker *marker, const char *folder, const Config *config) {
    struct stat status;
    const char *path = PATH_IN(folder, MARKER_NAME);
    bool is_file = lstat(path, &status) == 0 && S_ISREG(status.st_mode);
    CLEARED(json_drop) Json *document = is_file ? json_read(path, &(Error){0}) : NULL;
    bool found = strcmp(json_get_text(document, "format"), format) == 0;
    if (marker != NULL)
        *marker = (Marker){0};
    if (found && marker != NULL) {
        marker->kind = kind_of(document);
        marker->agrees = config != NULL && is_of(document, config);
        snprintf(marker->start, sizeof marker->start, "%s", json_get_text(document, "start"));
    }
    return found;
}

bool marker_write(const char *folder, RunKind kind, const Config *config, Error *err) {
    char start[CLOCK_UTC];
    JsonWriter w;
    const char *path = PATH_IN(folder, MARKER_NAME);
    json_writer_begin(&w, true);
    JSON_PUT(&w, PAIR("format", format), PAIR("version", 1), PAIR("kind", kind_names[kind]),
             PAIR("fringe", FRINGE_VERSION), PAIR("start", clock_utc(start)),
             PAIR("seed", config->run.seed));
    config_put_learned(&w, "training", config, NULL);
    json_end_object(&w);
    return json_writer_store(&w, path, err);
}

bool runfolder_is_same(const char *path, const char *other) {
    CLEARED(malloc_drop) char *real = realpath(path, NULL), *real_other = realpath(other, NULL);
    return real != NULL && real_other != NULL && strcmp(real, real_other) == 0;
}
