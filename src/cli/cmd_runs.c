// fringe runs: lists the runs at or below a folder.

#include "internal.h"

static void print(const RunRecords *records, const char *folder, bool json) {
    if (!json) {
        runs_table_print(records, folder);
        return;
    }
    JsonWriter writer;
    json_writer_begin(&writer, false);
    json_put_string(&writer, "folder", folder);
    runs_table_put(&writer, records, folder);
    print_object(&writer, &terminal_sink);
}

ExitCode cmd_runs(const Options *options, Error *err) {
    const char *folder = options->arguments > 0 ? options->argument[0] : "runs";
    CLEARED(records_clear) RunRecords records = {0};
    if (!file_is_folder(folder))
        error_set(err, EXIT_NO_INPUT,
                  options->arguments > 0
                      ? "%s: there is no such folder"
                      : "%s: there is no such folder here; fringe runs FOLDER lists the runs of "
                        "another one",
                  folder);
    else if (records_add(&records, folder, &terminal_sink, err))
        print(&records, folder, options->json);
    return (ExitCode)err->code;
}
