// Claims a folder: finds it, makes it, locks it and marks it.

#include "internal.h"

#include <errno.h>
#include <time.h>

enum { CLASH = 300, HOLDER = 256, NUMBERS = 10000 };

// ---- is a folder free?

// Folders without files leave room for a run: "checkpoints" may be a link to another disk.
static bool holds_a_file(const char *path) {
    FileNames in = file_names(path);
    bool found = in.folder == NULL;
    while (file_next(&in, !found))
        found = holds_a_file(PATH_IN(path, in.name));
    return found;
}

// A start that was killed may have left a marked folder, or a lock without a marker.
static bool is_in_the_way(const char *folder, const char *name, bool marked) {
    const char *path = PATH_IN(folder, name);
    if (strcmp(name, MARKER_NAME) == 0)
        return !marked;
    if (strcmp(name, LOCK_NAME) == 0)
        return !lock_is_ours(path);
    return names_know(name) && holds_a_file(path);
}

// Other files may lie in a free folder. False with a name that is in the way, or with an error.
static bool is_free(const char *path, char clash[CLASH], Error *err) {
    bool marked = marker_read(NULL, path, NULL);
    FileNames in = file_names(path);
    bool free = in.folder != NULL || errno == ENOENT || errno == ENOTDIR ||
                error_cannot(err, EXIT_IO, "look into the folder", path);
    while (file_next(&in, free)) {
        free = !is_in_the_way(path, in.name, marked);
        snprintf(clash, CLASH, "%s", in.name);
    }
    return free;
}

static bool check_free(const char *path, Error *err) {
    char clash[CLASH];
    if (is_free(path, clash, err))
        return true;
    return err->code == 0 &&
           error_set(err, EXIT_CANNOT_WRITE,
                     "%s: holds names that a run would write and that are not fringe's (%s); "
                     "give another run.dir, or move them away",
                     path, clash);
}

// ---- claiming

static LockAnswer enter(RunFolder *folder, const char *path, char holder[HOLDER], const Sink *sink,
                        Error *err) {
    *folder = (RunFolder){0};
    snprintf(folder->path, sizeof folder->path, "%s", path);
    return file_make_folder(path, err) ? lock_try(&folder->lock, path, holder, HOLDER, sink, err)
                                       : LOCK_FAILED;
}

static bool mark(RunFolder *folder, const Config *config, RunKind kind, Error *err) {
    if (marker_write(folder->path, kind, config, err))
        return true;
    runfolder_release(folder);
    return false;
}

// Claims run.dir itself. A run that was killed may hold it for a moment.
static bool claim_this(RunFolder *folder, const Config *config, RunKind kind, double wait,
                       const Sink *sink, Error *err) {
    static const struct timespec moment = {.tv_nsec = 50000000};
    const char *path = config->run.dir;
    char holder[HOLDER];
    double end = clock_seconds() + wait;
    LockAnswer answer = enter(folder, path, holder, sink, err);
    if (answer == LOCK_BUSY && wait > 0)
        sink_say(sink, "waiting    for %s: another run works there (%s); at most %.0f s\n",
                 SHOWN(path), SHOWN(holder), wait);
    while (answer == LOCK_BUSY && clock_seconds() < end) {
        nanosleep(&moment, NULL);
        answer = enter(folder, path, holder, sink, err);
    }
    if (answer == LOCK_BUSY)
        error_set(err, EXIT_CANNOT_WRITE,
                  "%s: another run works there (%s); wait for its end, or give another run.dir",
                  path, holder);
    return answer == LOCK_TAKEN && mark(folder, config, kind, err);
}

static void say_where(const char *path, const char *taken, const char *clash, const Sink *sink) {
    if (runfolder_is_locked(path))
        sink_say(sink, "run        works in %s: another run works in %s\n", SHOWN(taken),
                 SHOWN(path));
    else if (marker_read(NULL, path, NULL))
        sink_say(sink, "run        works in %s: %s holds an earlier run\n", SHOWN(taken),
                 SHOWN(path));
    else
        sink_say(sink, "run        works in %s: %s holds %s, which is not fringe's\n", SHOWN(taken),
                 SHOWN(path), SHOWN(clash));
}

// Looks again once it is locked: another start may have come between.
static bool claim_if_free(RunFolder *folder, const char *path, char clash[CLASH], const Sink *sink,
                          Error *err) {
    char holder[HOLDER];
    if (!is_free(path, clash, err) || enter(folder, path, holder, sink, err) != LOCK_TAKEN)
        return false;
    if (is_free(path, clash, err))
        return true;
    runfolder_release(folder);
    return false;
}

// Claims the first free one of NAME, NAME-2, ...
static bool claim_next(RunFolder *folder, Config *config, RunKind kind, const Sink *sink,
                       Error *err) {
    char candidate[CONFIG_TEXT], first[CLASH] = "", later[CLASH], *path = config->run.dir;
    bool claimed = false;
    for (int number = 1; number < NUMBERS && !claimed && err->code == 0; number++) {
        claimed = numbers_name(candidate, path, number, err) &&
                  claim_if_free(folder, candidate, number == 1 ? first : later, sink, err);
        if (claimed && number > 1)
            say_where(path, candidate, first, sink);
    }
    if (claimed)
        snprintf(path, CONFIG_TEXT, "%s", candidate);
    else if (err->code == 0)
        error_set(err, EXIT_CANNOT_WRITE, "%s: %d folders of that name hold runs; give another one",
                  path, NUMBERS);
    return claimed && mark(folder, config, kind, err);
}

// Sets run.dir to what a resume goes on with. False: there is nothing.
static bool find_resumed(Config *config, RunKind kind, const Sink *sink) {
    char found[CONFIG_TEXT], *path = config->run.dir;
    Marker marker;
    if (!numbers_newest(found, path, kind, config, true) &&
        !numbers_newest(found, path, kind, config, false)) // what has ended may be made longer
        return marker_read(&marker, path, NULL) && marker.kind == kind; // the refusal says why
    if (strcmp(found, path) != 0)
        sink_say(sink, "run        goes on in %s\n", SHOWN(found));
    snprintf(path, CONFIG_TEXT, "%s", found);
    return true;
}

bool runfolder_claim(RunFolder *folder, Config *config, const RunClaim *claim, const Sink *sink,
                     Error *err) {
    if (!claim->exact && !(claim->resume && find_resumed(config, claim->kind, sink)))
        return claim_next(folder, config, claim->kind, sink, err);
    bool goes_on = claim->resume && marker_read(NULL, config->run.dir, NULL);
    return (goes_on || check_free(config->run.dir, err)) &&
           claim_this(folder, config, claim->kind, claim->resume ? config->run.lock_wait : 0, sink,
                      err);
}

bool runfolder_mark(const Config *config, Error *err) {
    const char *path = config->run.dir;
    return marker_read(NULL, path, NULL) || (check_free(path, err) && file_make_folder(path, err) &&
                                             marker_write(path, RUN_SINGLE, config, err));
}

void runfolder_release(RunFolder *folder) {
    lock_release(folder->lock);
    folder->lock = NULL;
}
