// fringe stream: partitions a hypergraph while it arrives. There is no config file; --set gives the
// keys of the section stream.

#include "fringe/dataset_events.h"
#include "fringe/stream.h"
#include "internal.h"

#include <string.h>

static bool keep(char out[CONFIG_TEXT], const char *path, Error *err) {
    int length = snprintf(out, CONFIG_TEXT, "%s", path);
    return length < CONFIG_TEXT ||
           error_set(err, EXIT_USAGE, "stream: a path has %d bytes; at most %d are possible: %s",
                     length, CONFIG_TEXT - 1, path);
}

static bool configure(Config *config, const Options *options, Error *err) {
    if (options->output == NULL)
        return error_set(err, EXIT_USAGE, "stream: -o FOLDER is missing: where to write snapshots");
    return config_load(config, NULL, options->setting, options->settings, err) &&
           keep(config->run.dir, options->output, err);
}

// Before hours have passed until the first snapshot.
static bool check_files(const Options *options, Error *err) {
    return event_stream_fits(options->argument[0], err) &&
           (options->nodes == NULL || dataset_join_fits(options->nodes, err));
}

static void print_json(const StreamSummary *summary) {
    JsonWriter out;
    json_writer_init(&out, false);
    json_begin_object(&out, NULL);
    stream_put(&out, summary, true);
    json_end_object(&out);
    terminal_print("%s\n", out.text);
    json_writer_clear(&out);
}

static bool run(StreamSummary *summary, const Config *config, const Options *options, Error *err) {
    StreamRequest request = {.source = options->argument[0],
                             .folder = config->run.dir,
                             .nodes = options->nodes,
                             .parts = options->parts != 0 ? options->parts : 2,
                             .skip = options->skip,
                             .resume = options->resume,
                             .stop = stop_asked};
    stop_waits_for("the state of the stream is");
    return stream_run(summary, &request, config, err);
}

ExitCode cmd_stream(const Options *options, int *argc, char ***argv) {
    (void)argc, (void)argv;
    Config config;
    RunFolder folder = {0};
    StreamSummary summary = {0};
    Error err = {0};
    stop_listen();
    bool ok =
        configure(&config, options, &err) && check_files(options, &err) &&
        (threads_set((int)config.run.threads, 1), true) &&
        runfolder_claim(&folder, &config, &(RunClaim){RUN_STREAM, options->resume, false}, &err) &&
        run(&summary, &config, options, &err);
    stage_end("");
    runfolder_release(&folder);
    if (ok && options->json)
        print_json(&summary);
    else if (ok)
        stream_print(&summary);
    if (err.code != 0)
        print_error(&err);
    return (ExitCode)err.code;
}
