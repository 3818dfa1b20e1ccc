// What fringe saves for an epoch is named "epoch-N": the folder of a checkpoint and, with an
// ending, the files of an assignment.

#include "internal.h"

#include <dirent.h>
#include <errno.h>

const char *runfolder_epoch_name(char out[RUNFOLDER_NAME], int64_t epoch, const char *ending) {
    snprintf(out, RUNFOLDER_NAME, "epoch-%ld%s", epoch, ending);
    return out;
}

// Only the exact name that fringe gives counts: "epoch-007" is not fringe's.
int64_t runfolder_epoch_of(const char *name, const char *ending) {
    char given[RUNFOLDER_NAME];
    long long epoch = -1;
    if (sscanf(name, "epoch-%lld", &epoch) != 1 || epoch < 0)
        return -1;
    return strcmp(runfolder_epoch_name(given, epoch, ending), name) == 0 ? epoch : -1;
}

bool runfolder_epochs(EpochList *list, const char *folder, const char *ending, Error *err) {
    struct dirent **entry;
    int names = scandir(folder, &entry, NULL, NULL);
    *list = (EpochList){0};
    if (names < 0)
        return errno == ENOENT || error_cannot(err, EXIT_IO, "look into it", folder);
    list->epoch = ALLOC(int64_t, names, "list of epochs");
    for (int i = 0; i < names; free(entry[i++])) {
        int64_t epoch = runfolder_epoch_of(entry[i]->d_name, ending);
        if (epoch >= 0)
            list->epoch[list->count++] = epoch;
    }
    free(entry);
    sort_int64(list->epoch, list->count);
    return true;
}
