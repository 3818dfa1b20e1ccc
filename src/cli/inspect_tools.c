// What recognisers and printers of fringe inspect share.

#include "inspect.h"

#include <dirent.h>

bool inspect_holds(const char *folder, const char *name) {
    return file_is_folder(folder) && file_exists(PATH_IN(folder, name));
}

bool inspect_is_named(const char *path, const char *name) {
    return strcmp(path_name(path), name) == 0 && !file_is_folder(path);
}

bool inspect_ends(const char *path, const char *ending) {
    return path_ends(path, ending) && !file_is_folder(path);
}

Inspection inspect_at(const char *path, JsonWriter *json, Error *err) {
    Inspection at = {.path = path, .is_folder = file_is_folder(path), .json = json, .err = err};
    snprintf(at.folder, sizeof at.folder, "%s", at.is_folder ? path : FOLDER_OF(path));
    return at;
}

Json *inspect_read(const char *folder, const char *name, Error *err) {
    const char *path = PATH_IN(folder, name);
    Json *document = json_read(path, err);
    if (document == NULL || json_type(document) == JSON_OBJECT)
        return document;
    error_data(err, "%s: expected a JSON object, found %s", path,
               json_type_name(json_type(document)));
    json_free(document);
    return NULL;
}

bool inspect_document(const Inspection *at, const char *name, const char *key,
                      void (*print)(const Inspection *at, const Json *document)) {
    CLEARED(json_drop) Json *document = inspect_read(at->folder, name, at->err);
    if (document != NULL && at->json != NULL)
        json_put_value(at->json, key, document);
    else if (document != NULL)
        print(at, document);
    return at->err->code == 0;
}

static int is_inside(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

bool inspect_each(const char *folder, bool (*visit)(const char *path, void *context),
                  void *context) {
    struct dirent **entry;
    bool ok = true;
    int count = scandir(folder, &entry, is_inside, versionsort);
    for (int i = 0; i < count; i++) {
        ok = ok && visit(PATH_IN(folder, entry[i]->d_name), context);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    return ok;
}

bool inspect_any(const char *folder, bool (*is)(const char *path)) {
    bool found = false;
    for (FileNames in = file_names(folder); file_next(&in, !found);)
        found = is(PATH_IN(folder, in.name));
    return found;
}
