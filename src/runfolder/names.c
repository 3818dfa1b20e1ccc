// The table of all names that fringe makes in the folder of a run. In a pattern '#' stands for a
// whole number and '*' at the end for anything. The runs of --runs lie in run-N/, those of a
// comparison in MODE/, with --runs in MODE/run-N/, those of a sweep in KEY=VALUE,.../run-N/;
// inside, the names are the same.

#include "internal.h"

#include <ctype.h>
#include <dirent.h>
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

// Also matches temporary files, "run.json.fringe-tmp-<...>".
static bool is_made(const char *pattern, const char *name) {
    char temporary[128];
    snprintf(temporary, sizeof temporary, "%s" FILE_TEMPORARY "*", pattern);
    return matches(pattern, name) || matches(temporary, name);
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

// What the file or folder is; NULL if fringe makes none of that name.
static const char *what_it_is(const char *relative) {
    const char *name = behind_run(relative);
    for (int i = 0; i < MADE; i++)
        if (is_made(made[i].pattern, name))
            return made[i].what;
    return NULL;
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

bool names_know(const char *name) {
    return (what_it_is(name) != NULL || may_hold(name)) && !is_made(MARKER_NAME, name);
}

// ---- for inspect

static int is_entry(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

// Prints the names in `folder`/`inside` ("" or "checkpoints"), which may be a link to another disk.
static void print_folder(const char *folder, const char *inside) {
    char path[PATH_BYTES], relative[PATH_BYTES];
    struct dirent **entry;
    path_join(path, sizeof path, folder, inside);
    int count = scandir(path, &entry, is_entry, alphasort);
    for (int i = 0; i < count; i++) {
        path_join(relative, sizeof relative, inside, entry[i]->d_name);
        path_join(path, sizeof path, folder, relative);
        const char *what = what_it_is(relative);
        if (what != NULL)
            printf("  %-32s %s\n", SHOWN(relative), what);
        else if (may_hold(relative) && file_is_folder(path))
            print_folder(folder, relative);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
}

bool runfolder_print(const char *path) {
    Marker ignored;
    if (!marker_read(&ignored, path, NULL))
        return false;
    printf("files\n");
    print_folder(path, "");
    return true;
}
