// Looks up files: beside the config, in FRINGE_DATA, and among the datasets that `fringe generate`
// made. Loading makes every input path absolute, so that a config read back from run.json names the
// same files.

#include "internal.h"

#include <unistd.h>

// Makes a path absolute from the current folder, without resolving links.
static void absolute(char *out, size_t size, const char *path) {
    char here[PATH_BYTES];
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    bool known = path[0] != '/' && getcwd(here, sizeof here) != NULL;
    if (known && strlen(here) + 1 + strlen(path) < size)
        path_join(out, size, here, path);
    else
        snprintf(out, size, "%s", path);
}

typedef bool IsThere(const char *path);

static void look_up(const Config *config, const char *path, IsThere *is_there, char *out,
                    size_t size) {
    char folder[PATH_BYTES] = ".", found[PATH_BYTES];
    if (config->source[0] != 0)
        path_folder(folder, sizeof folder, config->source);
    const char *first = PATH_IN(folder, path);
    snprintf(found, sizeof found, "%s", first);
    const char *data = getenv("FRINGE_DATA");
    if (!is_there(found) && data != NULL && data[0] != 0)
        path_join(found, sizeof found, data, path);
    if (!is_there(found))
        path_join(found, sizeof found, PATH_IN(config->data.cache, "generated"), path);
    absolute(out, size, is_there(found) ? found : first);
}

void config_resolve(const Config *config, const char *path, char *out, size_t size) {
    look_up(config, path, file_exists, out, size);
}

bool config_find(const char *path, char *out, size_t size) {
    static const char *const around[][2] = {{"", ""}, {"configs/", ""}, {"configs/", ".json"}};
    char name[PATH_BYTES], found[PATH_BYTES];
    if (strlen(path) >= size)
        return false;
    snprintf(out, size, "%s", path);
    for (int i = 0; i < 3 && !file_exists(path); i++) {
        snprintf(name, sizeof name, "%s%s%s", around[i][0], path, around[i][1]);
        if (path[0] == '/' || path[0] == 0 || !path_shipped(found, sizeof found, name) ||
            file_is_folder(found))
            continue;
        snprintf(out, size, "%s", found);
        return strlen(found) < size;
    }
    return true;
}

bool config_names_file(const char *array) {
    size_t length = strlen(array);
    return length > 4 && strcmp(array + length - 4, ".npy") == 0;
}

bool config_splits_are_drawn(const Config *config) {
    return text_begins("random: per-class: shchur:", config->data.splits);
}

bool config_has_word(const ConfigWords *words, const char *word) {
    bool has = false;
    for (int i = 0; i < words->count; i++)
        has = has || strcmp(words->word[i], word) == 0;
    return has;
}

const char *config_column(const Config *config, const char *name, int i) {
    const ConfigWords *columns = &config->data.columns;
    size_t length = strlen(name);
    for (int k = 0; k < columns->count; k++)
        if (strncmp(columns->word[k], name, length) == 0 && columns->word[k][length] == '=' &&
            i-- == 0)
            return columns->word[k] + length + 1;
    return NULL;
}

// Puts a path into config text `at` behind its first `skip` letters.
static void put_path(const char *key, char *at, size_t skip, const char *path,
                     Complaints *complaints) {
    if (strlen(path) + skip >= CONFIG_TEXT)
        config_complain(complaints, "%s: expected a path below %zu letters, found %s", key,
                        CONFIG_TEXT - skip, path);
    else
        snprintf(at + skip, CONFIG_TEXT - skip, "%s", path);
}

static void resolve_at(const Config *config, const char *key, char *at, Complaints *complaints) {
    char resolved[PATH_BYTES];
    config_resolve(config, at, resolved, sizeof resolved);
    put_path(key, at, 0, resolved, complaints);
}

// configs/cora-gcn.json -> runs/cora-gcn
static void default_run_dir(char *out, size_t size, const char *source) {
    const char *name = source[0] != 0 ? path_name(source) : "fringe";
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0)
        length -= 5;
    snprintf(out, size, "runs/%.*s", (int)length, name);
}

// Names inside a folder of fringe take at most so many bytes.
enum { ROOM_INSIDE = 256 };

static void check_room(const char *key, const char *folder, Complaints *complaints) {
    if (strlen(folder) + ROOM_INSIDE >= PATH_BYTES)
        config_complain(complaints,
                        "%s: expected the path of a folder below %d letters, as the system takes "
                        "paths of %d, found %s",
                        key, PATH_BYTES - ROOM_INSIDE, PATH_BYTES - 1, folder);
}

bool config_is_part_file(const char *path) {
    const char *name = path_name(path);
    size_t length = strlen(name);
    bool found = file_exists(path) && !file_is_folder(path);
    for (FileNames in = file_names(FOLDER_OF(path)); file_next(&in, !found);)
        found = strncmp(in.name, name, length) == 0 && strncmp(in.name + length, ".part.", 6) == 0;
    return found;
}

// What is not there stays as it is written, for the refusal to say.
static void resolve_parts(Config *config, Complaints *complaints) {
    static const char file[] = "file:";
    char *method = config->partition.method, whole[PATH_BYTES];
    if (strncmp(method, file, strlen(file)) != 0)
        return;
    look_up(config, method + strlen(file), config_is_part_file, whole, sizeof whole);
    if (config_is_part_file(whole))
        put_path("partition.method", method, strlen(file), whole, complaints);
}

void config_resolve_paths(Config *config, Complaints *complaints) {
    char cache[CONFIG_TEXT];
    if (config->data.cache[0] == 0)
        config_default_cache(cache, sizeof cache);
    else
        snprintf(cache, sizeof cache, "%s", config->data.cache);
    absolute(config->data.cache, sizeof config->data.cache, cache);
    check_room("data.cache", config->data.cache, complaints);
    if (config->run.dir[0] == 0)
        default_run_dir(config->run.dir, sizeof config->run.dir, config->source);
    check_room("run.dir", config->run.dir, complaints);
    for (int i = 0; i < config_key_count; i++) {
        char *at = (char *)config + config_keys[i].offset;
        if (config_keys[i].kind == KEY_PATH && at[0] != 0)
            resolve_at(config, config_keys[i].path, at, complaints);
    }
    if (config->data.splits[0] != 0 && !config_splits_are_drawn(config))
        resolve_at(config, "data.splits", config->data.splits, complaints);
    if (config_names_file(config->data.weights))
        resolve_at(config, "data.weights", config->data.weights, complaints);
    ConfigPaths *splits = &config->data.split_keys;
    for (int i = 0; i < splits->count; i++)
        if (config_names_file(splits->word[i]))
            resolve_at(config, "data.split_keys", splits->word[i], complaints);
    resolve_parts(config, complaints);
}
