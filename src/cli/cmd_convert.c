// fringe convert: reads a dataset in any format and writes it in another one. It is in memory once;
// what is written passes through small buffers.

#include "internal.h"

// A config, as against a dataset, whose dataset.json is no config.
static bool is_config(const char *source) {
    size_t length = strlen(source);
    return length > 5 && strcmp(source + length - 5, ".json") == 0 &&
           strcmp(path_name(source), "dataset.json") != 0;
}

static bool steps_fit(const Config *config, Error *err) {
    for (int i = 0; i < config->data.transforms.count; i++)
        if (!dataset_step_fits(config->data.transforms.word[i], err))
            return error_prefix(err, "data.transforms");
    return true;
}

// A config that names SRC as its data. SRC is looked for here, then in the folder FRINGE_DATA.
static bool name_source(Config *config, const char *source, Error *err) {
    char path[CONFIG_TEXT];
    config_resolve(config, source, path, sizeof path);
    if (file_exists(source))
        snprintf(path, sizeof path, "%s", source);
    if (!file_exists(path) && !file_is_denied(source, err))
        return error_set(err, EXIT_NO_INPUT,
                         "%s: there is no such file or folder, neither here nor in the folder "
                         "FRINGE_DATA, and no config of that name",
                         source);
    snprintf(config->data.path, sizeof config->data.path, "%s", path);
    return err->code == 0;
}

static bool load_source(Config *config, const Options *options, Error *err) {
    const char *source = options->argument[0];
    bool shipped = !file_exists(source) && config_is_there(source); // with the program
    if (is_config(source) || shipped)
        return load_config(config, options, source, 0, err);
    return config_load(config, NULL, options->setting, options->settings, err) &&
           steps_fit(config, err) && name_source(config, source, err);
}

// dataset: that is written; empty while one is still to be read.
static bool fits(const Config *config, const Dataset *dataset, Error *err) {
    MemoryForecast forecast = {0};
    if (dataset->nodes == 0)
        dataset_forecast(&forecast, config);
    dataset_conversion_forecast(&forecast, dataset);
    return forecast_fits(&forecast, config->run.memory_limit, "convert it on a larger machine",
                         err);
}

// What the format cannot hold is said of the dataset, which its path names best.
static bool write_dataset(const Dataset *dataset, const Conversion *conversion, const char *source,
                          Warnings *warnings, Error *err) {
    return dataset_convert(dataset, conversion, warnings, err) ||
           (err->code == EXIT_DATA ? error_prefix(err, "%s", source) : false);
}

static bool convert(const Config *config, const Conversion *conversion, Error *err) {
    CLEARED(dataset_clear) Dataset dataset = {0};
    Warnings warnings = {0};
    progress_begin("read", "%s", SHOWN(path_name(config->data.path)));
    bool ok = fits(config, &dataset, err) && dataset_load(&dataset, config, err);
    progress_end("");
    warnings_add_all(&warnings, &dataset.warnings);
    ok = ok && fits(config, &dataset, err) &&
         write_dataset(&dataset, conversion, config->data.path, &warnings, err);
    progress_end("");
    say_lines("warning    ", warnings.text);
    if (ok)
        print_made(&dataset, conversion->path);
    return ok;
}

ExitCode cmd_convert(const Options *options, Error *err) {
    Config config;
    Conversion conversion = {options->argument[1], options->to, options->force, options->store};
    if (load_source(&config, options, err) && dataset_conversion_fits(&conversion, &config, err)) {
        threads_set((int)config.run.threads, 1);
        convert(&config, &conversion, err);
    }
    return (ExitCode)err->code;
}
