// Checks of a part file and of data.cache before anything is loaded.
#include "entry.h"

static bool is_readable(const char *path, Error *err) {
    int64_t bytes;
    CLEARED(descriptor_drop) int descriptor = file_open(path, &bytes, err);
    return descriptor >= 0;
}

// Checks that PATH or PATH.part.K exists, for K = `parts`, or for any K if `parts` is 0 or 1: one
// part reads no file, and a wrong name is refused all the same.
static bool check_part_file(const Config *config, const char *argument, int parts, Error *err) {
    char path[PATH_BYTES], count[16] = "K";
    part_file_path(config, argument, parts, path, sizeof path);
    if (file_exists(path) && !file_is_folder(path))
        return is_readable(path, err);
    if (parts <= 1 && config_is_part_file(argument))
        return true;
    if (parts > 1)
        snprintf(count, sizeof count, "%d", parts);
    return error_set(err, EXIT_NO_INPUT, "partition.method: neither %s nor %s.part.%s exists%s",
                     argument, argument, count,
                     argument[0] == '/' ? ""
                                        : "; fringe looks for them beside the config, then in the "
                                          "folder FRINGE_DATA");
}

bool partition_check_file(const Config *config, int parts, Error *err) {
    const char *argument;
    const Method *method = method_find(config->partition.method, &argument, err);
    return method != NULL && (!method->reads_file || check_part_file(config, argument, parts, err));
}

// A file with fewer nodes than ranks is small, unless it is strange; then rank 0 finds out.
enum { BYTES_A_NODE = 4096 };

bool partition_check_ranks(const Config *config, int ranks, Error *err) {
    char name[DATASET_NAME];
    int64_t nodes = ranks > 1 ? prepared_nodes(config, (int64_t)ranks * BYTES_A_NODE) : -1;
    return nodes < 0 || !dataset_name(config, name, &(Error){0}) ||
           cut_is_possible(name, nodes, ranks, err);
}

bool partition_method_fits(const char *word, Error *err) {
    const char *argument;
    const Method *method =
        method_find(word, &argument, &(Error){0}); // the config reports an unknown member
    return method == NULL || method->fits == NULL || method->fits(argument, err);
}

static bool holds_parts(const char *cache) {
    bool found = false;
    for (FileNames in = file_names(cache); file_next(&in, !found);)
        found = strncmp(in.name, "parts-", 6) == 0;
    return found;
}

bool partition_check_cache(const Config *config, Error *err) {
    if (holds_parts(config->data.cache)) // it may be another user's and read-only for us
        return true;
    return file_check_folder(config->data.cache, err) || error_prefix(err, "data.cache");
}
