// fringe stream: partitions a hypergraph while it arrives. There is no config file; --set gives the
// keys of the section stream.

#include "fringe/dataset_events.h"
#include "fringe/stream.h"
#include "internal.h"

static bool keep(char out[CONFIG_TEXT], const char *path, Error *err) {
    int length = snprintf(out, CONFIG_TEXT, "%s", path);
    return length < CONFIG_TEXT ||
           error_usage(err, "stream: a path has %d bytes; at most %d are possible: %s", length,
                       CONFIG_TEXT - 1, path);
}

static bool configure(Config *config, const Options *options, Error *err) {
    if (options->output == NULL)
        return error_usage(err, "stream: -o FOLDER is missing: where to write snapshots");
    return config_load(config, NULL, options->setting, options->settings, err) &&
           keep(config->run.dir, options->output, err);
}

// Before hours have passed until the first snapshot.
static bool check_files(const Options *options, Error *err) {
    return event_stream_fits(options->argument[0], err) &&
           (options->nodes == NULL || dataset_join_fits(options->nodes, err));
}

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// "0.61 us", "1.2 ms"
static const char *microseconds(char out[QUANTITY], double seconds) {
    if (seconds >= 1e-3)
        return quantity_seconds(out, seconds);
    snprintf(out, QUANTITY, "%.3g us", 1e6 * seconds);
    return out;
}
#define SHOWN_MICROSECONDS(seconds) microseconds((char[QUANTITY]){0}, (seconds))

// What this command did with events, if it had any.
static void print_times(const StreamSummary *s) {
    char a_node[QUANTITY + 16] = "";
    double seconds = s->times.total;
    if (seconds <= 0)
        return;
    if (s->pins_at_first == 0)
        snprintf(a_node, sizeof a_node, ", %.3g ms per node",
                 share(1e3 * seconds, (double)s->nodes));
    terminal_print("time         %s%s; %.3g M pins/s\n", SHOWN_SECONDS(seconds), a_node,
                   share((double)(s->pins - s->pins_at_first), seconds) / 1e6);
    terminal_print("one event    median %s, p99 %s, p99.9 %s, longest %s\n",
                   SHOWN_MICROSECONDS(s->times.median), SHOWN_MICROSECONDS(s->times.p99),
                   SHOWN_MICROSECONDS(s->times.p999), SHOWN_MICROSECONDS(s->times.longest));
}

static void print_summary(const StreamSummary *s) {
    const SrpTotals *t = &s->totals;
    double nodes = (double)s->nodes;
    terminal_print("events       %ld: %ld nodes, %ld hyperedges, %ld pins\n", s->events, s->nodes,
                   s->hyperedges, s->pins);
    terminal_print("replicas     %ld (replication factor %.3f), %ld rows per layer\n", t->replicas,
                   share(nodes + (double)t->replicas, nodes), 2 * t->replicas);
    terminal_print("cut          %ld hyperedges (%.1f %%), connectivity - 1: %ld\n", t->cut,
                   100 * share((double)t->cut, (double)s->hyperedges), t->connectivity);
    terminal_print("balance      most pins of a part %.3f x the mean (at most %.3f); workload "
                   "deviation %.3f\n",
                   s->load, s->load_bound, s->workload_variation);
    terminal_print("refinement   %ld runs, %ld taken back in part or whole\n", t->runs, t->undone);
    terminal_print("memory       %s\n", SHOWN_MEMORY((double)s->bytes));
    print_times(s);
    if (s->repeated > 0)
        terminal_print("repeated     %ld pins, nodes or hyperedges were there already\n",
                       s->repeated);
    if (s->skipped > 0)
        terminal_print("skipped      %ld deletions of what was not there\n", s->skipped);
    if (s->snapshot[0] != 0)
        terminal_print("snapshot     %s\n", SHOWN(s->snapshot));
}

static void print_json(const StreamSummary *summary) {
    JsonWriter out;
    json_writer_begin(&out, false);
    stream_put(&out, summary, true);
    print_object(&out, &terminal_sink);
}

static bool run(StreamSummary *summary, const Config *config, const Options *options, Error *err) {
    StreamRequest request = {.source = options->argument[0],
                             .folder = config->run.dir,
                             .nodes = options->nodes,
                             .parts = options->parts != 0 ? options->parts : 2,
                             .skip = options->skip,
                             .resume = options->resume,
                             .stop = stop_asked,
                             .sink = &terminal_sink};
    stop_waits_for("the state of the stream is");
    return stream_run(summary, &request, config, err);
}

ExitCode cmd_stream(const Options *options, Error *err) {
    Config config;
    RunFolder folder = {0};
    StreamSummary summary = {0};
    stop_listen();
    bool ok = configure(&config, options, err) && check_files(options, err) &&
              (threads_set((int)config.run.threads, 1), true) &&
              runfolder_claim(&folder, &config, &(RunClaim){RUN_STREAM, options->resume, false},
                              &terminal_sink, err) &&
              run(&summary, &config, options, err);
    progress_end("");
    runfolder_release(&folder);
    if (ok)
        (options->json ? print_json : print_summary)(&summary);
    return (ExitCode)err->code;
}
