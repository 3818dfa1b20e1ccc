// The family of formats, and loading: the files in their order, then the steps of data.transforms.
// format_edges.c is the smallest member to copy.

#include "parts.h"

// The files of reddit are npz files; a list of edges is what looks like one, and a folder of our
// own format whatever others do not know.
static const Format *const formats[] = {
    &format_reddit, &format_npz, &format_metis, &format_hgr,        &format_pins,  &format_members,
    &format_events, &format_mtx, &format_ogb,   &format_graphsaint, &format_edges, &format_fringe};
const Family format_family = FAMILY_OF_POINTERS("data.format", "auto", formats);

static bool is_of(const Format *format, const char *path) {
    FormatFile file[FORMAT_FILES];
    if (format->endings != NULL)
        return !file_is_folder(path) && text_ends(path, format->endings);
    return format->matches != NULL ? format->matches(path) : format->files(path, file) > 0;
}

// The first format that matches the path; NULL if none does.
static const Format *guess(const char *path) {
    for (int i = 0; i < format_family.count; i++)
        if (is_of(formats[i], path))
            return formats[i];
    return NULL;
}

const Format *format_find(const char *name, const char *path, Error *err) {
    bool automatic = name[0] == '\0' || strcmp(name, format_family.automatic) == 0;
    if (!automatic)
        return family_find(&format_family, name, NULL, err);
    if (format_is_refused(path, err))
        return NULL;
    const Format *format = guess(path);
    if (format == NULL)
        error_config(err,
                     "%s: its name does not say what format it has; set data.format to one of %s",
                     path, family_words(&format_family, (char[FAMILY_WORDS]){0}));
    if (format != &format_fringe || !file_is_folder(path) ||
        file_exists(PATH_IN(path, "dataset.json")))
        return format;
    error_set(err, EXIT_NO_INPUT,
              "%s is a folder without dataset.json, and no set of OGB, GraphSAINT or Reddit; give "
              "the file of the graph",
              path);
    return NULL;
}

bool dataset_format_fits(const char *name, const char *path, Error *err) {
    return format_find(name, path, err) != NULL;
}

const char *dataset_format_name(const Config *config) {
    const Format *format =
        format_find(config->data.format, DATASET_PATH(config, config->data.path), &(Error){0});
    return format != NULL ? format->name : NULL;
}

bool format_raw(const char *path, bool (*holds)(const char *folder), char folder[PATH_BYTES]) {
    if (!file_is_folder(path))
        return false;
    if (holds(path_join(folder, PATH_BYTES, path, "raw")))
        return true;
    snprintf(folder, PATH_BYTES, "%s", path);
    return holds(folder);
}

bool dataset_is_foreign(const char *path) {
    const Format *format = guess(path);
    return format != NULL && format != &format_fringe;
}

// --- loading

void dataset_name_of(char out[DATASET_NAME], const char *path) {
    char plain[PATH_BYTES];
    const char *name = path_name(path_plain(plain, sizeof plain, path));
    size_t keep = strcspn(name, ".");
    if (keep == 0)
        keep = strlen(name);
    if (keep >= DATASET_NAME) // cut between UTF-8 characters
        for (keep = DATASET_NAME - 1; keep > 0 && (name[keep] & 0xC0) == 0x80;)
            keep--;
    snprintf(out, DATASET_NAME, "%.*s", (int)keep, name);
}

bool dataset_name(const Config *config, char out[DATASET_NAME], Error *err) {
    const char *path = DATASET_PATH(config, config->data.path);
    const Format *format = format_find(config->data.format, path, err);
    if (format == NULL)
        return false;
    dataset_name_of(out, path);
    return format->name_inside == NULL || format->name_inside(path, out, err);
}

static bool parse_file(Dataset *dataset, const Format *format, const Request *request, Error *err) {
    CLEARED(text_clear) Text text = {0};
    return text_read(&text, request->path, err) && format->parse(dataset, &text, request, err);
}

static bool load(Dataset *dataset, const Config *config, const char *path, NodeFiles *node_files,
                 Error *err) {
    Request request = {config, path, node_files_rows(node_files), node_files};
    const Format *format = format_find(config->data.format, path, err);
    if (format == NULL)
        return false;
    dataset_name_of(dataset->name, path);
    labels_are(dataset, config);
    if ((format->name_inside != NULL && !format->name_inside(path, dataset->name, err)) ||
        !(format->read != NULL ? format->read(dataset, &request, err)
                               : parse_file(dataset, format, &request, err)) ||
        !dataset_need_split(dataset, err) ||
        !node_files_take(dataset, node_files, format->holds_splits ? path : NULL, err) ||
        !dataset_check(dataset, path, err))
        return false;
    dataset_finish(dataset);
    warn_of_one_direction(dataset, config);
    int64_t nodes = dataset->nodes;
    if (!fitted_read(dataset, config, err))
        return false;
    if (!dataset_prepare(dataset, &config->data.transforms, 0, config->run.memory_limit, err))
        return error_prefix(err, "%s: data.transforms", path);
    if (!features_settle(dataset, config, err))
        return error_prefix(err, "%s", path);
    if (dataset->nodes != nodes && dataset->ids.count > 0) {
        warnings_add(&dataset->warnings,
                     "the new nodes have no ids, so nodes are named by numbers");
        dataset_drop_ids(dataset);
    }
    dataset_warn_of_oddities(dataset);
    return true;
}

static bool format_is_stream(const Config *config, const char *path) {
    return format_find(config->data.format, path, &(Error){0}) == &format_events;
}

bool dataset_load(Dataset *dataset, const Config *config, Error *err) {
    *dataset = (Dataset){0};
    if (config->data.path[0] == '\0')
        return error_config(err, "data.path: no dataset is named");
    const char *path = DATASET_PATH(config, config->data.path);
    if (file_is_denied(path, err))
        return false;
    if (!file_exists(path) && !parts_are(path))
        return error_set(err, EXIT_NO_INPUT,
                         "%s: there is no such file or folder (data.path '%s' is looked for beside "
                         "the config, then in the folder FRINGE_DATA)",
                         path, config->data.path);
    NodeFiles *node_files = node_files_open(config, format_is_stream(config, path), err);
    bool ok = node_files != NULL && load(dataset, config, path, node_files, err);
    node_files_close(node_files);
    if (!ok)
        dataset_clear(dataset);
    return ok;
}
