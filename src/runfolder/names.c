// The table of all names that fringe makes in the folder of a run. In a pattern '#' stands for a
// whole number and '*' at the end for anything. The runs of --runs lie in run-N/, those of a
// comparison in MODE/, with --runs in MODE/run-N/, those of a sweep in KEY=VALUE,.../run-N/;
// inside, the names are the same.

#include "internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Made {
    const char *pattern; // relative to the folder of one run
    const char *what;
} Made;

static const Made made[] = {
    {MARKER_NAME, "marks the folder as fringe's"},
    {LOCK_NAME, "locked while a run works here; names it"},
    {MOVING_NAME, "target folder of a move of earlier runs"},
    {"run.json", "config, versions, machine, result"},
    {"metrics.jsonl", "one object per epoch"},
    {"trace.json", "events of the epochs in run.trace, for Perfetto"},
    {"runs.json", "mean and deviation over --runs"},
    {"compare.json", "the table of a comparison"},
    {"compare.csv", "the same as comma-separated values"},
    {"compare.tex", "the same for LaTeX"},
    {"sweep.json", "the table of a sweep"},
    {"sweep.csv", "the same as comma-separated values"},
    {"sweep.tex", "the same for LaTeX"},
    {"report.html", "curves, times and bytes of all runs, as one page"},
    {"checkpoints/epoch-#", "a checkpoint"},
    {"checkpoints/LATEST", "names the newest checkpoint"},
    {"checkpoints/.writing*", "a checkpoint being written"},
    {"checkpoints/.removing*", "a checkpoint being removed"},
    {"checkpoints.before", "checkpoints of an earlier run, from an older version"},
    {"assignments/epoch-#.json", "how bit widths were found"},
    {"assignments/epoch-#.safetensors", "the bit widths of that assignment"},
    {"snapshots", "datasets that a stream has made so far"},
    {"checkpoints/events-#", "a checkpoint of a stream"},
    {"stream.json", "how the stream went"},
    {"predictions/classes.npy", "predicted classes"},
    {"predictions/scores.npy", "predicted scores"},
    {"predictions/embeddings-#.npy", "rows that enter a layer"},
};
enum { MADE = sizeof made / sizeof made[0] };

static bool matches(const char *pattern, const char *name) {
    for (; *pattern != 0 && *pattern != '*'; pattern++) {
        if (*pattern == '#') {
            if (!isdigit((unsigned char)*name))
                return false;
            while (isdigit((unsigned char)*name))
                name++;
        } else if (*pattern != *name++) {
            return false;
        }
    }
    return *pattern == '*' || *name == 0;
}

// Also matches temporary files, "run.json.fringe-tmp-<...>"; older versions wrote a point for the
// dash.
static bool is_made(const char *pattern, const char *name) {
    char temporary[128], old[128];
    snprintf(temporary, sizeof temporary, "%s" FILE_TEMPORARY "*", pattern);
    snprintf(old, sizeof old, "%s.tmp.*", pattern);
    return matches(pattern, name) || matches(temporary, name) || matches(old, name);
}

// "train.lr=0.01,run.threads=2"
static bool is_point(const char *name) {
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    return length > 0 && name[length] == '=';
}

static bool is_arm(const char *name) {
    return is_point(name) || family_knows(&mode_family, name, &(Error){0}) ||
           strncmp(name, "alone-", 6) == 0;
}

// The path relative to the inner run: "adaqp/run-2/run.json" -> "run.json", "adaqp" -> "".
static const char *behind_run(const char *relative) {
    char first[256];
    for (int level = 0; level < 2; level++) {
        size_t length = strcspn(relative, "/");
        snprintf(first, sizeof first, "%.*s", (int)length, relative);
        if (length >= sizeof first || !(matches("run-#", first) || (level == 0 && is_arm(first))))
            break;
        relative += length + (relative[length] == '/');
    }
    return relative;
}

bool runfolder_makes(const char *relative) {
    const char *name = behind_run(relative);
    for (int i = 0; i < MADE; i++)
        if (is_made(made[i].pattern, name))
            return true;
    return false;
}

// True for a folder that may hold names of the table: that of a run, "checkpoints" and the like.
static bool may_hold(const char *relative) {
    const char *name = behind_run(relative);
    size_t length = strlen(name);
    for (int i = 0; i < MADE; i++)
        if (strncmp(made[i].pattern, name, length) == 0 && made[i].pattern[length] == '/')
            return true;
    return length == 0;
}

// True for runs inside a folder that neither --runs nor a comparison made.
static bool is_others(const char *inside, const char *name, RunKind kind) {
    return kind == RUN_SINGLE && inside[0] == 0 && (matches("run-#", name) || is_arm(name));
}

bool names_know(RunKind kind, const char *name) {
    return !is_others("", name, kind) && (runfolder_makes(name) || may_hold(name));
}

bool names_stays(const char *name) {
    static const char *const own[] = {MARKER_NAME, LOCK_NAME, MOVING_NAME};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (is_made(own[i], name))
            return true;
    return false;
}

// ---- existing names

static void add(NameList *list, const char *name) {
    if (list->count == list->room) {
        int room = list->room > 0 ? 2 * list->room : 64;
        char **larger = ALLOC(char *, room, "names in the folder of a run");
        for (int i = 0; i < list->count; i++)
            larger[i] = list->name[i];
        memory_free(list->name);
        list->name = larger;
        list->room = room;
    }
    size_t bytes = strlen(name) + 1;
    list->name[list->count++] = memcpy(ALLOC(char, bytes, "a name"), name, bytes);
}

void names_clear(NameList *list) {
    for (int i = 0; i < list->count; i++)
        memory_free(list->name[i]);
    memory_free(list->name);
    *list = (NameList){0};
}

// Adds the names in `real`/`inside` ("" or "checkpoints"), which may be a link to another disk.
static bool list_folder(NameList *list, const char *real, const char *inside, RunKind kind,
                        Error *err) {
    char path[PATH_BYTES], relative[PATH_BYTES];
    path_join(path, sizeof path, real, inside);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return error_set(err, EXIT_IO, "%s: cannot look into the folder: %s", path,
                         strerror(errno));
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            is_others(inside, entry->d_name, kind))
            continue;
        path_join(relative, sizeof relative, inside, entry->d_name);
        path_join(path, sizeof path, real, relative);
        if (runfolder_makes(relative))
            add(list, relative);
        else if (may_hold(relative) && file_is_folder(path))
            ok = list_folder(list, real, relative, kind, err);
    }
    closedir(folder);
    return ok;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool names_list(NameList *list, const char *real, RunKind kind, Error *err) {
    *list = (NameList){0};
    bool ok = list_folder(list, real, "", kind, err);
    qsort(list->name, (size_t)list->count, sizeof *list->name, by_name);
    return ok;
}

bool names_are_none(const NameList *list) {
    for (int i = 0; i < list->count; i++)
        if (!names_stays(list->name[i]))
            return false;
    return true;
}

// ---- for inspect

static const char *what_it_is(const char *relative) {
    const char *name = behind_run(relative);
    for (int i = 0; i < MADE; i++)
        if (is_made(made[i].pattern, name))
            return made[i].what;
    return "";
}

bool runfolder_print(const char *path) {
    NameList list = {0};
    Error ignored = {0};
    RunKind kind;
    if (!marker_read(path, &kind) || !names_list(&list, path, kind, &ignored))
        return false;
    printf("files\n");
    for (int i = 0; i < list.count; i++)
        printf("  %-32s %s\n", SHOWN(list.name[i]), what_it_is(list.name[i]));
    names_clear(&list);
    return true;
}
