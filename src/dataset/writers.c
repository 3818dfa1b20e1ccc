// The family of writers, and what is checked before anything is read or written.

#include "writers.h"
#include "parts.h"

// ---- our own folder

static bool write_fringe(const Writing *writing, Error *err) {
    return dataset_write(writing->dataset, writing->path, err);
}

static const FormatWriter writer_fringe = {
    .name = "fringe", .write = write_fringe, .may_replace = directory_may_replace};

// ---- the family

static const FormatWriter *const writers[] = {&writer_npz, &writer_metis, &writer_ogb,
                                              &writer_fringe};
const Family writer_family = FAMILY_OF_POINTERS("--to", NULL, writers);

// A path that ends in a slash, a folder that is there, or a name without an ending.
static bool is_folder_path(const char *path) {
    size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') || file_is_folder(path) ||
           strchr(path_name(path), '.') == NULL;
}

static const FormatWriter *writer_of(const Conversion *conversion, Error *err) {
    char list[FAMILY_WORDS];
    const char *name = conversion->format;
    for (int i = 0; i < writer_family.count; i++)
        if (name != NULL
                ? strcmp(name, writers[i]->name) == 0
                : writers[i]->endings != NULL && path_ends(conversion->path, writers[i]->endings))
            return writers[i];
    if (name == NULL && is_folder_path(conversion->path))
        return &writer_fringe;
    family_words(&writer_family, list);
    if (name != NULL)
        error_usage(err, "--to: there is no format '%s'; there are %s", name, list);
    else
        error_usage(err,
                    "%s: its name does not say what format to write (.npz, .graph, .hgr, or a "
                    "folder); choose one with --to: %s",
                    conversion->path, list);
    return NULL;
}

// ---- checks before anything is read

static bool place_is_free(const FormatWriter *writer, const char *path, bool replace, Error *err) {
    bool folder = file_is_folder(path);
    if (!file_exists(path))
        return true;
    if (!replace)
        return error_set(err, EXIT_CANNOT_WRITE, "%s exists; --force replaces it", path);
    if (folder != (writer->may_replace != NULL))
        return error_set(err, EXIT_CANNOT_WRITE,
                         folder ? "%s is a folder, but the format %s is a file"
                                : "%s is a file, but the format %s is a folder",
                         path, writer->name);
    return !folder || writer->may_replace(path, err);
}

static bool folder_is_there(const char *path, Error *err) {
    const char *folder = FOLDER_OF(path);
    if (!file_exists(folder))
        return error_set(err, EXIT_CANNOT_WRITE,
                         "%s: there is no such folder, so %s cannot be written in it", folder,
                         path_name(path));
    return file_check_folder(folder, err);
}

// ---- no file that is read is replaced

typedef struct Target {
    char *path; // without links; freed by free
    Error *err;
} Target;

// False with an error if the file is the target or lies in it.
static bool is_apart(const Target *target, const char *file) {
    char *path = file[0] == '\0' ? NULL : realpath(file, NULL);
    size_t length = strlen(target->path);
    bool inside = path != NULL && strncmp(path, target->path, length) == 0 &&
                  (path[length] == '\0' || path[length] == '/');
    free(path);
    return !inside ||
           error_usage(target->err,
                       "%s is read, so it cannot be replaced; choose another place to write to",
                       file);
}

static bool is_apart_named(const Target *target, const Config *config, const char *file) {
    return is_apart(target, file[0] != '\0' ? DATASET_PATH(config, file) : "");
}

static bool data_is_apart(const Target *target, const Config *config) {
    FormatFile file[FORMAT_FILES];
    const char *path = DATASET_PATH(config, config->data.path);
    const Format *format = format_find(config->data.format, path, &(Error){0});
    int count = format == NULL || format->files == NULL ? 0 : format->files(path, file);
    CLEARED(parts_clear) Parts parts = {0};
    bool apart = is_apart(target, path);
    for (int i = 0; apart && i < count; i++)
        apart = is_apart(target, file[i].path);
    if (count == 0)
        parts_find(&parts, path);
    for (int i = 0; apart && i < parts.count; i++)
        apart = is_apart(target, parts.path[i]);
    return apart;
}

static bool sources_are_apart(const Target *target, const Config *config) {
    const char *weights = config->data.weights;
    const char *const named[] = {config->data.features, config->data.labels,
                                 config->data.nodes,    config->data.splits,
                                 config->data.fitted,   config_names_file(weights) ? weights : ""};
    bool apart = data_is_apart(target, config) && is_apart(target, config->source);
    for (size_t i = 0; apart && i < sizeof named / sizeof *named; i++)
        apart = is_apart_named(target, config, named[i]);
    for (int i = 0; apart && i < config->data.split_keys.count; i++)
        apart = !config_names_file(config->data.split_keys.word[i]) ||
                is_apart_named(target, config, config->data.split_keys.word[i]);
    return apart;
}

bool dataset_conversion_fits(const Conversion *conversion, const Config *config, Error *err) {
    char path[PATH_BYTES];
    const FormatWriter *writer = writer_of(conversion, err);
    if (writer == NULL)
        return false;
    path_plain(path, sizeof path, conversion->path);
    Target target = {realpath(path, NULL), err};
    bool apart = target.path == NULL || sources_are_apart(&target, config);
    free(target.path);
    return apart && place_is_free(writer, path, conversion->replace, err) &&
           folder_is_there(path, err);
}

void dataset_conversion_forecast(MemoryForecast *forecast, const Dataset *dataset) {
    enum { BUFFERS = 64 << 20 };
    forecast_add(forecast, "buffers of the writer", BUFFERS);
    if (dataset->hyperedges > 0)
        forecast_add(forecast, "sizes of hyperedges",
                     memory_product(dataset->hyperedges, sizeof(int64_t)));
    forecast_add(forecast, "degrees of nodes", memory_product(dataset->nodes, 2 * sizeof(int64_t)));
}

// ---- remarks

void remark_nodes_left_out(const Writing *writing) {
    const Dataset *d = writing->dataset;
    if (d->x != NULL || d->classes > 0 || any_split(d))
        warnings_add(writing->remarks,
                     "features, labels and splits are left out, for the format has no place for "
                     "them; data.nodes reads them from the same dataset as npz");
}

void remark_classes(const Writing *writing) {
    const Dataset *d = writing->dataset;
    int64_t found = 0;
    for (int64_t i = 0; d->label != NULL && i < d->nodes; i++)
        found = d->label[i] >= found ? d->label[i] + INT64_C(1) : found;
    if (d->label != NULL && found < d->classes)
        warnings_add(writing->remarks,
                     "of %ld classes the last %ld have no node, and the format cannot say that "
                     "they are there",
                     d->classes, d->classes - found);
    bool whole = d->numeric;
    for (int64_t i = 0; whole && i < d->nodes * d->classes; i++)
        whole = !isfinite(d->numbers[i]) || d->numbers[i] == truncf(d->numbers[i]);
    if (whole)
        warnings_add(writing->remarks, "labels are whole numbers, which are read as classes unless "
                                       "data.labels_are=numbers");
    if (d->multilabel && d->classes == 1)
        warnings_add(writing->remarks, "one label a node of 0 and 1 is read as two classes");
}

// ---- the conversion

bool dataset_convert(const Dataset *dataset, const Conversion *conversion, Warnings *remarks,
                     Error *err) {
    char path[PATH_BYTES];
    const FormatWriter *writer = writer_of(conversion, err);
    if (writer == NULL)
        return false;
    if (dataset->sparse.offset != NULL && writer != &writer_fringe)
        return error_config(err,
                            "the format %s is written from dense features; leave data.features_as "
                            "at dense (which writes an .npz of sparse features, too)",
                            writer->name);
    path_plain(path, sizeof path, conversion->path);
    file_sweep(FOLDER_OF(path)); // files left by ended processes
    Writing writing = {dataset, conversion, path, remarks};
    if (writer->fits != NULL && !writer->fits(&writing, err))
        return false;
    progress_begin("write", "%s", SHOWN(path_name(path)));
    return place_is_free(writer, path, conversion->replace, err) && writer->write(&writing, err);
}
