// Folders that are written under a temporary name beside their own and then moved there, so that a
// reader finds the old one or the new one, and never a part.

#include "internal.h"

// Looks at the entries of `folder`/`inside`; `inside` is "" or ends in a slash.
static bool look(const char *folder, const char *inside, const char *known, Error *err) {
    char path[PATH_BYTES], name[PATH_BYTES];
    path_join(path, sizeof path, folder, inside);
    FileNames in = file_names(path);
    if (in.folder == NULL)
        return error_cannot(err, EXIT_CANNOT_WRITE, "look into it", path);
    while (file_next(&in, err->code == 0)) {
        snprintf(name, sizeof name, "%s%s", inside, in.name);
        path_join(path, sizeof path, folder, name);
        if (strchr(name, ' ') != NULL || !text_lists(known, name))
            error_set(err, EXIT_CANNOT_WRITE,
                      "%s: holds %s, which does not belong to a dataset; move it away or choose "
                      "another folder",
                      folder, SHOWN(name));
        else if (file_is_folder(path)) {
            strncat(name, "/", sizeof name - strlen(name) - 1);
            look(folder, name, known, err);
        }
    }
    return err->code == 0;
}

bool folder_holds_only(const char *folder, const char *known, Error *err) {
    return !file_exists(folder) || look(folder, "", known, err);
}

bool folder_write(const char *folder, FillFolder *fill, const void *context,
                  bool (*may_replace)(const char *folder, Error *err), Error *err) {
    char made[PATH_BYTES];
    if (!file_temporary(made, sizeof made, folder, err))
        return false;
    bool ok = file_make_folder(made, err) && fill(context, made, err) &&
              (!file_exists(folder) || may_replace(folder, err)) &&
              file_take_place(made, folder, err);
    if (!ok)
        file_remove(made, &(Error){0});
    return ok;
}
