// fringe inspect: finds out what the path is, by one table of kinds, and prints what it holds.

#include "inspect.h"

// The first kind that recognises a path is taken, so narrower ones stand above wider ones.
static const Inspected *const kinds[] = {
    &inspected_stream,      &inspected_snapshot,   &inspected_stream_checkpoint,
    &inspected_comparison,  &inspected_sweep,      &inspected_table,
    &inspected_run,         &inspected_checkpoint, &inspected_partition,
    &inspected_dataset,     &inspected_cache,      &inspected_entry,
    &inspected_predictions, &inspected_runs,       &inspected_metrics,
    &inspected_assignment,  &inspected_trace,      &inspected_array,
    &inspected_shard,       &inspected_tensors,    &inspected_part_file,
    &inspected_page,        &inspected_config,     &inspected_graph,
};
enum { KINDS = sizeof kinds / sizeof kinds[0], NAMES = 160, FOUND = 240 };

// The first names in a folder, to show what was found.
static bool add_name(const char *path, void *context) {
    char *names = context;
    if (strlen(names) > NAMES - 80)
        return false;
    text_add(names, NAMES, ", ", "%.60s", path_name(path));
    return true;
}

static void describe(const char *path, char out[FOUND]) {
    char names[NAMES] = "";
    if (!file_is_folder(path))
        snprintf(out, FOUND, "a file of %s", SHOWN_BYTES((double)file_size(path)));
    else if (inspect_each(path, add_name, names))
        snprintf(out, FOUND, names[0] == 0 ? "an empty folder" : "a folder with %s", names);
    else
        snprintf(out, FOUND, "a folder with %s, ...", names);
}

static bool refuse(const char *path, Error *err) {
    char known[512] = "", found[FOUND];
    describe(path, found);
    for (int i = 0; i < KINDS; i++)
        text_add(known, sizeof known, ", ", "%s", kinds[i]->name);
    return error_data(err, "%s is %s, which is none of the kinds that inspect opens: %s", path,
                      found, known);
}

static bool fits(const Inspected *kind, const char *path) {
    return (kind->file != NULL &&
            (inspect_is_named(path, kind->file) || inspect_holds(path, kind->file))) ||
           (kind->is != NULL && kind->is(path));
}

static const Inspected *kind_of(const char *path, Error *err) {
    if (!file_exists(path)) {
        error_set(err, EXIT_NO_INPUT, "%s does not exist", path);
        return NULL;
    }
    for (int i = 0; i < KINDS; i++)
        if (fits(kinds[i], path))
            return kinds[i];
    dataset_format_fits("auto", path, err);
    if (err->code != EXIT_DATA) { // a file that train refuses is refused in the same words
        *err = (Error){0};
        refuse(path, err);
    }
    return NULL;
}

// ---- lines

// All printers print with printf, so stdout becomes memory while they do, and its lines are broken.
static bool print(const Inspected *kind, const char *path, Error *err) {
    CLEARED(malloc_drop) char *text = NULL;
    size_t bytes;
    FILE *real = stdout, *memory = open_memstream(&text, &bytes);
    CHECK(memory != NULL, EXIT_MEMORY, "no memory for the text of fringe inspect");
    stdout = memory;
    Inspection at = inspect_at(path, NULL, err);
    bool ok = kind->show(&at);
    fclose(memory);
    stdout = real;
    print_broken(text);
    return ok;
}

static bool put(const Inspected *kind, const char *path, Error *err) {
    JsonWriter w;
    json_writer_begin(&w, true);
    JSON_PUT(&w, PAIR("kind", kind->name), PAIR("path", path));
    Inspection at = inspect_at(path, &w, err);
    bool ok = kind->show(&at);
    print_object(&w, ok ? &terminal_tables : NULL);
    return ok;
}

// ---- the command

// The path as it is, or the dataset of that name beside FRINGE_DATA, without slashes at its end.
static void find(const Config *config, const char *argument, char path[PATH_BYTES]) {
    char resolved[PATH_BYTES];
    config_resolve(config, argument, resolved, sizeof resolved);
    bool as_it_is = file_exists(argument) || !file_exists(resolved);
    path_plain(path, PATH_BYTES, as_it_is ? argument : resolved);
}

ExitCode cmd_inspect(const Options *options, Error *err) {
    Config config;
    char path[PATH_BYTES];
    if (config_load(&config, NULL, NULL, 0, err)) {
        find(&config, options->argument[0], path);
        const Inspected *kind = kind_of(path, err);
        if (kind != NULL)
            (options->json ? put : print)(kind, path, err);
    }
    return (ExitCode)err->code;
}
