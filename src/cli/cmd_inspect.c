// fringe inspect: finds out what a path is, and prints what it holds. A kind of file or folder is a
// row of the table: how it is recognised, and what it prints. The first row that recognises the
// path is taken, so that special kinds come before general ones.

#include "inspect.h"

#include <string.h>

bool inspect_holds(const char *folder, const char *name) {
    char path[INSPECT_PATH];
    path_join(path, sizeof path, folder, name);
    return file_exists(path);
}

bool inspect_ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

// --- recognisers

static bool is_named(const char *path, const char *name) {
    return !file_is_folder(path) && strcmp(path_name(path), name) == 0;
}

static bool is_run(const char *path) {
    return (file_is_folder(path) && inspect_holds(path, "run.json")) || is_named(path, "run.json");
}

static bool is_partition(const char *path) {
    return (file_is_folder(path) && inspect_holds(path, "partition.json")) ||
           is_named(path, "partition.json");
}

static bool is_checkpoint(const char *path) {
    return file_is_folder(path) &&
           (inspect_holds(path, "checkpoint.json") || inspect_holds(path, "checkpoints"));
}

static bool is_checkpoint_file(const char *path) { return is_named(path, "checkpoint.json"); }

static bool is_checkpoints(const char *path) {
    return file_is_folder(path) && inspect_holds(path, "LATEST");
}

static bool is_dataset(const char *path) {
    return (file_is_folder(path) && inspect_holds(path, "dataset.json")) ||
           is_named(path, "dataset.json");
}

static bool is_predictions(const char *path) {
    return file_is_folder(path) && inspect_holds(path, "classes.npy");
}

static bool is_runs(const char *path) {
    RunRecords records = {0};
    bool found = file_is_folder(path) && records_add(&records, path, &(Error){0});
    records_clear(&records);
    return found;
}

static bool is_metrics(const char *path) { return is_named(path, "metrics.jsonl"); }
static bool is_npy(const char *path) { return inspect_ends_with(path, ".npy"); }
static bool is_tensors(const char *path) { return inspect_ends_with(path, ".safetensors"); }

static bool is_table(const char *path) {
    return is_named(path, "compare.json") || is_named(path, "sweep.json") ||
           is_named(path, "runs.json");
}

static bool is_part_file(const char *path) {
    const char *at = strstr(path_name(path), ".part.");
    return at != NULL && at[6] != 0 && strspn(at + 6, "0123456789") == strlen(at + 6);
}

static bool is_config(const char *path) {
    static const char *const sections[] = {"data", "model", "train", "run", "mode"};
    Json *document = inspect_ends_with(path, ".json") ? json_read(path, &(Error){0}) : NULL;
    bool found = false;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        found = found || (document != NULL && json_type(document) == JSON_OBJECT &&
                          json_get(document, sections[i]) != NULL);
    json_free(document);
    return found;
}

static bool is_any_graph(const char *path) {
    return !file_is_folder(path) && dataset_format_fits("auto", path, &(Error){0});
}

// --- the table

typedef struct Kind {
    const char *name, *what; // what: for the sentence about an unknown path
    bool (*is)(const char *path);
    bool (*put)(JsonWriter *writer, const char *path, Error *err);
    bool (*print)(const char *path, Error *err); // NULL: the members that `put` writes
} Kind;

static bool put_checkpoint_json(JsonWriter *writer, const char *path, Error *err) {
    char file[INSPECT_PATH];
    path_join(file, sizeof file, path, "checkpoint.json");
    return put_json_file(writer, file_is_folder(path) ? file : path, err);
}

static bool print_checkpoint(const char *path, Error *err) {
    return checkpoint_inspect(path, err) && report_show_assignments(path, err);
}

static bool put_weights(JsonWriter *writer, const char *path, Error *err) {
    char file[INSPECT_PATH];
    return checkpoint_weights_path(path, false, file, sizeof file, err) &&
           put_tensors(writer, file, err);
}

static bool print_weights(const char *path, Error *err) {
    char folder[INSPECT_PATH];
    path_folder(folder, sizeof folder, path); // the run that holds checkpoints/
    return checkpoint_inspect(folder, err);
}

static bool is_cache(const char *path) {
    CacheEntries entries = {0};
    bool found =
        file_is_folder(path) && cache_list(&entries, path, &(Error){0}) && entries.count > 0;
    cache_clear(&entries);
    return found;
}

static bool put_cache(JsonWriter *writer, const char *path, Error *err) {
    CacheEntries entries;
    bool ok = cache_list(&entries, path, err);
    if (ok)
        cache_put(writer, &entries);
    cache_clear(&entries);
    return ok;
}

static bool print_cache(const char *path, Error *err) {
    CacheEntries entries;
    bool ok = cache_list(&entries, path, err);
    if (ok)
        cache_print(&entries, path);
    cache_clear(&entries);
    return ok;
}

static bool put_dataset(JsonWriter *writer, const char *path, Error *err) {
    return dataset_put_inspected(writer, path, err);
}

static const Kind kinds[] = {
    {"partition", "a partition", is_partition, put_partition, print_cut},
    {"run", "the folder of a run", is_run, put_run, print_run},
    {"checkpoint", "a checkpoint", is_checkpoint, put_weights, print_checkpoint},
    {"checkpoint.json", "a checkpoint.json", is_checkpoint_file, put_checkpoint_json, NULL},
    {"checkpoints", "a checkpoints folder", is_checkpoints, put_weights, print_weights},
    {"dataset", "a dataset", is_dataset, put_dataset, dataset_inspect},
    {"predictions", "predictions", is_predictions, put_predictions, NULL},
    {"cache", "the cache", is_cache, put_cache, print_cache},
    {"runs", "a folder of runs", is_runs, put_runs, print_runs},
    {"table", "compare.json, sweep.json or runs.json", is_table, put_json_file, NULL},
    {"metrics", "a metrics.jsonl", is_metrics, put_metrics, NULL},
    {"array", "an .npy array", is_npy, put_npy, NULL},
    {"tensors", "a .safetensors file", is_tensors, put_tensors, print_tensors},
    {"parts", "a part file (.part.K)", is_part_file, put_part_file, NULL},
    {"config", "a config", is_config, put_config, NULL},
    {"graph", "a graph in a known format", is_any_graph, put_dataset, dataset_inspect},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const Kind *find_kind(const char *path, Error *err) {
    char known[1024] = "";
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k].is(path))
            return &kinds[k];
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", k > 0 ? ", " : "", kinds[k].what);
    }
    error_set(err, EXIT_NO_INPUT, "%s is a %s that fringe inspect does not know; it knows %s", path,
              file_is_folder(path) ? "folder" : "file", known);
    return NULL;
}

// --- printing

static bool print_put(const Kind *kind, const char *path, Error *err) {
    JsonWriter writer;
    json_writer_init(&writer, false);
    json_begin_object(&writer, NULL);
    bool ok = kind->put(&writer, path, err);
    json_end_object(&writer);
    Json *document = ok ? json_parse(writer.text, writer.bytes, path, err) : NULL;
    if (document != NULL) {
        terminal_print("%-20s  %s\n", "what", kind->what);
        inspect_print_members(document);
    }
    json_free(document);
    json_writer_clear(&writer);
    return ok;
}

static bool print_json(const Kind *kind, const char *path, Error *err) {
    JsonWriter writer;
    json_writer_init(&writer, false);
    json_begin_object(&writer, NULL);
    json_put_string(&writer, "kind", kind->name);
    json_put_string(&writer, "path", path);
    bool ok = kind->put(&writer, path, err);
    json_end_object(&writer);
    if (ok)
        terminal_print("%s\n", writer.text);
    json_writer_clear(&writer);
    return ok;
}

static bool inspect(const char *path, bool json, Error *err) {
    const Kind *kind = find_kind(path, err);
    if (kind == NULL)
        return false;
    if (json)
        return print_json(kind, path, err);
    return kind->print != NULL ? kind->print(path, err) : print_put(kind, path, err);
}

ExitCode cmd_inspect(const Options *options, int *argc, char ***argv) {
    (void)argc, (void)argv;
    Config config;
    Error err = {0};
    char path[INSPECT_PATH];
    if (config_load(&config, NULL, NULL, 0, &err)) {
        config_resolve(&config, options->argument[0], path, sizeof path);
        if (!file_exists(path))
            error_set(&err, EXIT_NO_INPUT, "%s does not exist", options->argument[0]);
        else
            inspect(path, options->json, &err);
    }
    if (err.code != 0)
        print_error(&err);
    return (ExitCode)err.code;
}
