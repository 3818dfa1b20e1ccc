// run.json: config, versions, machine and data of a run, and its result. Written when the run
// begins, and again with `result` when it has ended.

#include "internal.h"

#include <sys/utsname.h>

// The first "model name" in /proc/cpuinfo; `out` stays "" if there is none.
static void cpu_name(char *out, size_t size) {
    CLEARED(stream_drop) FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];
    while (file != NULL && out[0] == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            line[strcspn(line, "\n")] = 0;
            snprintf(out, size, "%s", strchr(line, ':') + 2);
        }
}

static void put_machine(JsonWriter *writer, const Report *report) {
    struct utsname name;
    char cpu[256] = "";
    cpu_name(cpu, sizeof cpu);
    JSON_PUT_OBJECT(writer, "machine") {
        if (uname(&name) == 0)
            JSON_PUT(writer, PAIR("host", name.nodename), PAIR("system", name.release));
        JSON_PUT(writer, PAIR("cpu", cpu), PAIR("cores", threads_on_node()),
                 PAIR("ranks", report->comm->size),
                 PAIR("ranks_on_first_node", report->comm->node_size),
                 PAIR("threads", trainer_threads(report->trainer)),
                 PAIR("kernels", trainer_kernels(report->trainer)));
    }
}

static void put_backend(JsonWriter *writer, const Trainer *trainer) {
    const Backend *backend = trainer_backend(trainer);
    KernelChoice choice = trainer_kernel_choice(trainer);
    JSON_PUT_OBJECT(writer, "backend")
        JSON_PUT(writer, PAIR("name", backend->name), PAIR("describe", backend->describe()),
                 PAIR("plugin", backend->plugin != NULL ? backend->plugin() : NULL),
                 PAIR("spmm", choice.spmm[0] != 0 ? choice.spmm : NULL),
                 PAIR("precision", choice.precision),
                 PAIR("bf16_sums", choice.sums[0] != 0 ? choice.sums : NULL),
                 PAIR("device_messages", wire_uses_device_memory(backend)));
}

static void put_data(JsonWriter *writer, const Report *report) {
    const Shard *shard = report->shard;
    char size[SHARD_SIZE_TEXT], origin[DATASET_ORIGIN];
    dataset_origin(report->config, origin);
    JSON_PUT_OBJECT(writer, "data") {
        json_put_string(writer, "name", shard->dataset_name);
        if (origin[0] != 0)
            json_put_string(writer, "origin", origin);
        JSON_PUT(writer, PAIR("hash", shard->dataset_hash), PAIR("nodes", shard->set[NODES].total),
                 PAIR("edges", shard->edges));
        if (shard_is_hypergraph(shard)) {
            json_put_int(writer, "hyperedges", shard->set[HYPEREDGES].total);
            json_put_bool(writer, "hyperedge_weights", shard->set[HYPEREDGES].weight != NULL);
        }
        JSON_PUT(writer, PAIR("symmetric", shard_is_symmetric(shard)),
                 PAIR("size", shard_size_text(size, shard)), PAIR("features", shard->features),
                 PAIR("classes", shard->classes), PAIR("multilabel", shard->multilabel));
        if (shard->numeric)
            json_put_bool(writer, "numeric", true);
        JSON_PUT(writer, PAIR("train_nodes", shard->train_nodes),
                 PAIR("validation_nodes", shard->val_nodes), PAIR("test_nodes", shard->test_nodes),
                 PAIR("baseline_validation", report->summary.baseline[SPLIT_VAL]),
                 PAIR("baseline_test", report->summary.baseline[SPLIT_TEST]));
    }
}

static void put_parts(JsonWriter *writer, const Report *report) {
    const RunSummary *summary = &report->summary;
    JSON_PUT_OBJECT(writer, "parts") {
        JSON_PUT(writer, PAIR("count", report->shard->parts),
                 PAIR("hash", report->shard->partition_hash), PAIR("own_least", summary->own_least),
                 PAIR("own_most", summary->own_most), PAIR("central", summary->central),
                 PAIR("halo", summary->halo));
        size_t metis = partition_metis_memory(); // none if the parts were in the cache
        json_put_double(writer, "metis_memory", metis > 0 ? (double)metis : NAN);
    }
}

// "pairs": for every rank a, for every rank b: the rows that a sends to b, and the rows it would
// send if all were rows of sources (lossless.cover=sources).
static void put_pairs(JsonWriter *writer, const int64_t *pair, int size) {
    JSON_PUT_ARRAY(writer, "pairs")
        for (int a = 0; a < size; a++)
            JSON_PUT_ARRAY(writer, NULL)
                for (int b = 0; b < size; b++) {
                    const int64_t *of = pair + 2 * ((int64_t)b * size + a);
                    JSON_PUT_ARRAY(writer, NULL) {
                        json_put_int(writer, NULL, of[0]);
                        json_put_int(writer, NULL, of[1]);
                    }
                }
}

static void put_exchanges(JsonWriter *writer, const Report *report) {
    json_put_double(writer, "patterns_seconds", report->summary.patterns_seconds);
    JSON_PUT_ARRAY(writer, "exchanges")
        for (int i = 0; i < report->summary.exchanges; i++) {
            const ExchangeSummary *exchange = &report->summary.exchange[i];
            JSON_PUT_OBJECT(writer, NULL) {
                JSON_PUT(writer, PAIR("layer", exchange->id.layer),
                         PAIR("direction", direction_name(exchange->id.direction)),
                         PAIR("columns", exchange->columns), PAIR("rows", exchange->rows),
                         PAIR("partial_sums", exchange->sums),
                         PAIR("rows_of_sources_alone", exchange->sources));
                if (exchange->pair != NULL)
                    put_pairs(writer, exchange->pair, report->comm->size);
            }
        }
}

static void put_items(JsonWriter *writer, const char *name, const MemoryForecast *forecast,
                      bool on_device) {
    JSON_PUT_OBJECT(writer, name)
        for (int i = 0; i < forecast->count; i++)
            if (forecast->item[i].on_device == on_device)
                json_put_int(writer, forecast->item[i].what, (int64_t)forecast->item[i].bytes);
}

static void put_forecast(JsonWriter *writer, const Report *report) {
    const MemoryForecast *forecast = trainer_forecast(report->trainer);
    put_items(writer, "memory_plan", forecast, false);
    if (report->summary.device_predicted > 0)
        put_items(writer, "device_memory_plan", forecast, true);
}

void report_put_metrics(JsonWriter *writer, const char *key, const Metrics *metrics) {
    bool some = metrics->rows > 0; // else the numbers are null
    JSON_PUT_OBJECT(writer, key) {
        for (int i = 0; i < metrics->count; i++)
            json_put_double(writer, score_row(metrics->score[i].of)->key,
                            some ? metrics->score[i].value : NAN);
        json_put_int(writer, "rows", metrics->rows);
    }
}

void report_put_splits(JsonWriter *writer, const Metrics metrics[4]) {
    report_put_metrics(writer, "train", &metrics[SPLIT_TRAIN]);
    report_put_metrics(writer, "validation", &metrics[SPLIT_VAL]);
    report_put_metrics(writer, "test", &metrics[SPLIT_TEST]);
}

// "test_accuracy", "test_micro_f1"
static void put_brief(JsonWriter *writer, const Metrics *test) {
    for (int i = 0; i < test->count; i++) {
        const Score *score = score_row(test->score[i].of);
        char key[64];
        snprintf(key, sizeof key, "test_%s", score->key);
        if (score->brief)
            json_put_double(writer, key, metrics_value(test, score));
    }
}

static void put_result(JsonWriter *writer, const Report *report, const RunResult *result) {
    const Metrics *at[] = {result->last, result->best, result->average};
    static const char *const names[] = {"last", "best", "average"};
    JSON_PUT_OBJECT(writer, "result") {
        JSON_PUT(writer, PAIR("epochs", result->epochs),
                 PAIR("best_epoch", result->best_epoch > 0 ? (double)result->best_epoch : NAN));
        json_put_bool(writer, "stopped_early", result->stopped_early > 0);
        put_brief(writer, &result->last[SPLIT_TEST]);
        JSON_PUT(writer, PAIR("seconds_per_epoch", result->seconds_per_epoch),
                 PAIR("bytes_per_epoch",
                      isnan(result->seconds_per_epoch) ? NAN : (double)result->bytes_per_epoch),
                 PAIR("memory_predicted", (int64_t)report->summary.predicted));
        if (report->summary.device_predicted > 0)
            json_put_int(writer, "device_memory_predicted",
                         (int64_t)report->summary.device_predicted);
        JSON_PUT(writer, PAIR("memory_taken", (int64_t)result->taken),
                 PAIR("memory_resident", (int64_t)result->resident),
                 PAIR("seconds", result->seconds));
        for (int i = 0; i < (report_has_average(result) ? 3 : 2); i++)
            JSON_PUT_OBJECT(writer, names[i])
                report_put_splits(writer, at[i]);
    }
}

static void replace(void *context, const void *payload, size_t bytes, Error *err) {
    const Report *report = context;
    JsonWriter text;
    memcpy(&text, payload, bytes);
    json_writer_store(&text, PATH_IN(report->folder, "run.json"), err);
}

bool report_write_run(Report *report, const RunResult *result, Error *err) {
    JsonWriter writer;
    json_writer_begin(&writer, true);
    JSON_PUT(&writer, PAIR("config_file", report->config->source),
             PAIR("resumed_at_epoch", report->resumed_at));
    report_put_sessions(&writer, report);
    config_put_all(&writer, "config", report->config);
    JSON_PUT_OBJECT(&writer, "versions")
        report_versions(&writer, NULL, trainer_backend(report->trainer));
    put_machine(&writer, report);
    put_backend(&writer, report->trainer);
    put_data(&writer, report);
    put_parts(&writer, report);
    put_exchanges(&writer, report);
    put_forecast(&writer, report);
    report_put_choice(&writer, report);
    report_put_precision(&writer, report);
    if (result != NULL)
        put_result(&writer, report, result);
    if (report->ranks != NULL)
        report_put_rank_times(&writer, report);
    json_end_object(&writer);
    return writer_put(report->writer, replace, report, &writer, sizeof writer, err);
}

void report_rank_times(Report *report, RankTimes *ranks) {
    memory_free(report->ranks);
    report->ranks = ranks;
}

bool report_stopped(Report *report, Error *err) {
    clock_utc(report->ended);
    report_write_run(report, NULL, err);
    return writer_wait(report->writer, err);
}

bool report_result(Report *report, RunResult *result, Error *err) {
    result->seconds_per_epoch =
        report->samples > 0 ? sort_median(report->sample, report->samples) : NAN;
    result->bytes_per_epoch = report->bytes;
    clock_utc(report->ended);
    report_write_run(report, result, err);
    return writer_wait(report->writer, err);
}
