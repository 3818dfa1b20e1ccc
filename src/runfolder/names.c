// The names that fringe makes in the folder of a command, and in that of each of its runs.

#include "internal.h"

#include <dirent.h>
#include <fnmatch.h>

static const struct {
    const char *pattern, *what;
} made[] = {
    {MARKER_NAME, "marks the folder as fringe's"},
    {LOCK_NAME, "locked while a run works here; names it"},
    {"run.json", "config, versions, machine, result"},
    {RUN_FITTED, "what data.transforms took from the data"},
    {"metrics.jsonl", "one object per epoch"},
    {"trace.json", "events of the epochs in run.trace, for Perfetto"},
    {"runs.json", "mean and deviation over --runs"},
    {"compare.json", "the table of a comparison"},
    {"compare.csv", "the same as comma-separated values"},
    {"compare.tex", "the same for LaTeX"},
    {"sweep.json", "the table of a sweep"},
    {"sweep.csv", "the same as comma-separated values"},
    {"sweep.tex", "the same for LaTeX"},
    {"stream.json", "how the stream went"},
    {"report.html", "curves, times and bytes of all runs, as one page"},
    {"checkpoints", "one a folder; LATEST names the newest"},
    {"assignments", "bit widths, and how they were found"},
    {"predictions", "classes, scores, and rows that enter a layer"},
    {"snapshots", "datasets that a stream has made so far"},
    {"run-[0-9]*", "one of --runs"},
    {"alone-*", "a mode of a comparison"},
    {"[a-z]*=*", "the runs of a combination of a sweep"},
};

// What a file or folder of that name is, a temporary one, too; NULL if fringe makes none of it.
static const char *what_it_is(const char *name) {
    char whole[NAME_MAX + 1];
    const char *temporary = strstr(name, FILE_TEMPORARY);
    int length = temporary != NULL ? (int)(temporary - name) : (int)strlen(name);
    snprintf(whole, sizeof whole, "%.*s", length, name);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        if (fnmatch(made[i].pattern, whole, 0) == 0)
            return made[i].what;
    return family_knows(&mode_family, whole, &(Error){0}) ? "a mode of a comparison" : NULL;
}

bool names_know(const char *name) {
    return what_it_is(name) != NULL && strncmp(name, MARKER_NAME, strlen(MARKER_NAME)) != 0;
}

bool runfolder_print(const Sink *out, const char *path) {
    struct dirent **entry;
    if (!marker_read(NULL, path, NULL))
        return false;
    int count = scandir(path, &entry, NULL, alphasort);
    sink_print(out, "files\n");
    for (int i = 0; i < count; free(entry[i++])) {
        const char *what = what_it_is(entry[i]->d_name);
        if (what != NULL)
            sink_print(out, "  %-32s %s\n", SHOWN(entry[i]->d_name), what);
    }
    if (count >= 0)
        free(entry);
    return true;
}
