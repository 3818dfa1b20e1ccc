// Files and folders that appear and go as a whole.

#include "fringe/base/file.h"

static bool move_aside(char aside[PATH_BYTES], const char *path, Error *err) {
    return file_temporary(aside, PATH_BYTES, path, err) && file_rename(path, aside, err);
}

bool file_take_place(const char *made, const char *path, Error *err) {
    char aside[PATH_BYTES];
    bool exchanged = false;
    if (!file_exists(path))
        return file_rename(made, path, err);
    if (!file_exchange(made, path, &exchanged, err))
        return false;
    if (exchanged)
        return file_remove(made, err);
    return move_aside(aside, path, err) && file_rename(made, path, err) && file_remove(aside, err);
}

bool file_discard(const char *path, Error *err) {
    char aside[PATH_BYTES];
    return !file_exists(path) || (move_aside(aside, path, err) && file_remove(aside, err));
}
