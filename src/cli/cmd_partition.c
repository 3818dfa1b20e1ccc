// fringe partition: makes the partition that training on --parts ranks would use, and reports it.
// One process stores it in the cache, where training finds it.

#include "internal.h"

static void print_json(const char *folder, const char *name, Error *err) {
    JsonWriter writer;
    json_writer_begin(&writer, false);
    json_put_string(&writer, "folder", folder);
    size_t metis = partition_metis_memory(); // none if the parts were in the cache
    json_put_double(&writer, "metis_memory", metis > 0 ? (double)metis : NAN);
    bool ok = partition_put_report(&writer, folder, name, err);
    print_object(&writer, ok ? &terminal_tables : NULL);
}

static void print_text(const char *folder, const char *name, Error *err) {
    if (partition_report(&terminal_tables, folder, name, err))
        terminal_print("\nfolder     %s\n", SHOWN(folder));
}

ExitCode cmd_partition(const Options *options, Error *err) {
    Config config;
    char folder[PATH_BYTES], name[DATASET_NAME];
    Warnings warnings = {0};
    int parts = options->parts != 0 ? options->parts : 2;
    bool ok = load_config_aloud(&config, options, options->argument[0], parts, err) &&
              (threads_set((int)config.run.threads, 1), true) &&
              partition_build(&config, parts, folder, sizeof folder, &warnings, err) &&
              dataset_name(&config, name, err);
    progress_end("");
    say_lines("warning    ", warnings.text);
    if (ok)
        (options->json ? print_json : print_text)(folder, name, err);
    return (ExitCode)err->code;
}
