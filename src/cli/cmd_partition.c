// fringe partition: makes the partition that training on --parts ranks would use, and reports it.
// One process stores it in the cache, where training finds it.

#include "internal.h"

ExitCode cmd_partition(const Options *options, int *argc, char ***argv) {
    (void)argc, (void)argv;
    Config config;
    Error err = {0};
    char folder[2048], name[DATASET_NAME];
    Warnings warnings = {0};
    int parts = options->parts != 0 ? options->parts : 2;
    bool ok = load_config(&config, options, options->argument[0], parts, &err) &&
              (threads_set((int)config.run.threads, 1), true) &&
              partition_build(&config, parts, folder, sizeof folder, &warnings, &err) &&
              dataset_name(&config, name, &err);
    stage_end("");
    say_lines("warning    ", warnings.text);
    if (ok && partition_report(folder, name, &err))
        printf("folder     %s\n", SHOWN(folder));
    if (err.code != 0)
        print_error(&err);
    return (ExitCode)err.code;
}
