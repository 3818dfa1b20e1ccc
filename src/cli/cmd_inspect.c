// fringe inspect: finds out whether the path is a partition, a run, a checkpoint, a file of tensors
// or a dataset, and prints what it holds.

#include "internal.h"

#include <string.h>

static bool holds(const char *folder, const char *name) {
    char path[2048];
    path_join(path, sizeof path, folder, name);
    return file_exists(path);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool inspect_tensors(const char *path, Error *err) {
    Tensors tensors;
    if (!tensors_open(&tensors, path, err))
        return false;
    tensors_print(&tensors, path);
    tensors_close(&tensors);
    return true;
}

static bool inspect(const char *path, Error *err) {
    if (holds(path, "partition.json"))
        return partition_report(path, NULL, err);
    bool run = holds(path, "checkpoints");
    if ((run || holds(path, "checkpoint.json")) &&
        (!checkpoint_inspect(path, err) || !report_show_assignments(path, err)))
        return false;
    if (runfolder_print(path) || run || holds(path, "checkpoint.json"))
        return true;
    if (ends_with(path, ".safetensors"))
        return inspect_tensors(path, err);
    return dataset_inspect(path, err);
}

ExitCode cmd_inspect(const Options *options, int *argc, char ***argv) {
    (void)argc, (void)argv;
    Config config;
    Error err = {0};
    char path[4096];
    if (config_load(&config, NULL, NULL, 0, &err)) {
        config_resolve(&config, options->argument[0], path, sizeof path);
        if (!file_exists(path))
            error_set(&err, EXIT_NO_INPUT, "%s does not exist", options->argument[0]);
        else
            inspect(path, &err);
    }
    if (err.code != 0)
        print_error(&err);
    return (ExitCode)err.code;
}
