// fringe generate: writes a synthetic graph as a dataset directory. The same name and seed give the
// same bytes.

#include "internal.h"

// The folder where configs find it by its name: <cache>/generated/<name>, or <name>-seed-N.
static bool default_folder(char *out, size_t size, const char *name, int64_t seed, Error *err) {
    Config config;
    char file[256];
    if (!config_load(&config, NULL, NULL, 0, err) || !config_make_cache(&config, err))
        return false;
    const char *folder = PATH_IN(config.data.cache, "generated");
    if (seed == 1)
        snprintf(file, sizeof file, "%s", name);
    else
        snprintf(file, sizeof file, "%s-seed-%ld", name, seed);
    path_join(out, size, folder, file);
    return true;
}

void print_made(const Dataset *dataset, const char *folder) {
    printf("%s: %ld nodes, ", SHOWN(folder), dataset->nodes);
    if (dataset->hyperedges > 0)
        printf("%ld hyperedges, %ld pins, ", dataset->hyperedges, dataset->edges);
    else
        printf("%ld edges, ", dataset->edges);
    printf("%ld features, %ld classes\n", dataset->features, dataset->classes);
}

static bool generate(const Options *options, const char *folder, Error *err) {
    CLEARED(dataset_clear) Dataset dataset = {0};
    const char *parent = FOLDER_OF(folder);
    bool ok = file_check_folder(parent, err) &&
              dataset_generate(&dataset, options->argument[0], options->seed, err);
    progress_begin("write", "the dataset");
    ok = ok && file_make_folder(parent, err) && dataset_write(&dataset, folder, err);
    progress_end("");
    if (ok)
        print_made(&dataset, folder);
    return ok;
}

ExitCode cmd_generate(const Options *options, Error *err) {
    char folder[PATH_BYTES];
    threads_set(0, 1);
    if (options->output != NULL)
        snprintf(folder, sizeof folder, "%s", options->output);
    if (options->output != NULL ||
        default_folder(folder, sizeof folder, options->argument[0], options->seed, err))
        generate(options, folder, err);
    return (ExitCode)err->code;
}
