// fringe config show | check | schema | markdown.

#include "internal.h"

static bool show(const Options *options, Error *err) {
    Config config;
    const char *path = options->arguments > 1 ? options->argument[1] : NULL;
    if (!read_config(&config, options, path, err))
        return false;
    (options->changed ? config_print_changed : config_print)(&terminal_tables, &config);
    return true;
}

// Reads the data as train does, and says the same of it.
static bool check_data_whole(const Config *config, Error *err) {
    CLEARED(dataset_clear) Dataset dataset = {0};
    if (!dataset_load(&dataset, config, err))
        return false;
    say_lines("warning    ", dataset.warnings.text);
    ModelShape shape;
    LabelKind labels = dataset.numeric      ? LABEL_NUMBERS
                       : dataset.multilabel ? LABEL_CLASSES
                                            : LABEL_CLASS;
    return dataset_can_train(&dataset, err) &&
           model_shape(&shape, config, dataset.features, dataset.classes, labels, err);
}

static bool check(const Options *options, Error *err) {
    Config config;
    if (options->arguments < 2)
        return error_usage(err, "config check: which CONFIG?");
    if (!load_config_aloud(&config, options, options->argument[1], 0, err))
        return false;
    warn_of_doubts(&config);
    if ((options->needs & NEEDS_DATA) && !check_data_whole(&config, err))
        return false;
    printf("%s: ok\n", SHOWN(config_called(options->argument[1])));
    return true;
}

static bool help(UNUSED const Options *options, Error *err) {
    options_help(command_find("config", err));
    return true;
}

typedef struct Verb { // one of both
    const char *name;
    bool (*run)(const Options *options, Error *err);
    void (*print)(const Sink *out);
} Verb;
static const Verb verbs[] = {{"show", show, NULL},
                             {"check", check, NULL},
                             {"schema", NULL, config_print_schema},
                             {"markdown", NULL, config_print_markdown},
                             {"help", help, NULL}};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

ExitCode cmd_config(const Options *options, Error *err) {
    int v = 0;
    while (v < VERBS && strcmp(verbs[v].name, options->argument[0]) != 0)
        v++;
    if (v < VERBS && verbs[v].run != NULL)
        verbs[v].run(options, err);
    else if (v < VERBS)
        verbs[v].print(&terminal_tables);
    else
        error_usage(err, "config: expected show, check, schema or markdown, found '%s'",
                    options->argument[0]);
    return (ExitCode)err->code;
}
