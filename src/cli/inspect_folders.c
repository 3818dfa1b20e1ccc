// What fringe inspect finds in folders: a run, several runs, predictions, a partition.

#include "inspect.h"

#include <math.h>
#include <string.h>

// --- a run

static const char *run_folder_of(const char *path, char out[INSPECT_PATH]) {
    if (file_is_folder(path))
        snprintf(out, INSPECT_PATH, "%s", path);
    else
        path_folder(out, INSPECT_PATH, path);
    return out;
}

static void put_member(JsonWriter *w, const char *key, const RunRecord *record, const char *path) {
    const Json *value = record_member(record, path);
    if (value != NULL)
        json_put_value(w, key, value);
}

static void put_scores(JsonWriter *w, const RunFigures *f) {
    json_put_double(w, "last_validation", f->last_validation);
    json_put_double(w, "last_test", f->last_test);
    json_put_int(w, "best_epoch", f->best_epoch);
    json_put_double(w, "best_validation", f->validation);
    json_put_double(w, "test_at_best", f->test);
}

// Means over all epochs, in seconds.
static void put_times(JsonWriter *w, const RunRecord *record, const RunFigures *f) {
    double compute = 0, pack = 0, wait = 0, count = (double)record->epochs;
    for (int64_t e = 0; e < record->epochs; e++) {
        compute += record->epoch[e].compute / count;
        pack += record->epoch[e].pack / count;
        wait += record->epoch[e].wait / count;
    }
    json_put_double(w, "seconds_per_epoch", f->seconds);
    json_put_double(w, "compute_seconds", compute);
    json_put_double(w, "pack_seconds", pack);
    json_put_double(w, "wait_seconds", wait);
    json_put_double(w, "bytes_per_epoch", f->bytes);
    put_member(w, "seconds", record, "result.seconds");
}

bool put_run(JsonWriter *w, const char *path, Error *err) {
    static const char *const states[] = {"running", "finished", "unfinished"};
    char folder[INSPECT_PATH];
    RunRecord record;
    if (!record_read(&record, run_folder_of(path, folder), err))
        return false;
    RunFigures f = record_figures(&record);
    json_put_string(w, "run", record.folder);
    json_put_string(w, "state", states[record.state]);
    put_member(w, "mode", &record, "config.mode");
    put_member(w, "data", &record, "data.name");
    put_member(w, "nodes", &record, "data.nodes");
    put_member(w, "edges", &record, "data.edges");
    put_member(w, "layer", &record, "config.model.layer");
    put_member(w, "layers", &record, "config.model.layers");
    put_member(w, "hidden", &record, "config.model.hidden");
    put_member(w, "ranks", &record, "machine.ranks");
    put_member(w, "seed", &record, "config.run.seed");
    json_put_int(w, "epochs", record.epochs);
    put_member(w, "epochs_wanted", &record, "config.train.epochs");
    if (record.epochs > 0)
        json_put_double(w, "loss", record.epoch[record.epochs - 1].loss);
    put_scores(w, &f);
    put_times(w, &record, &f);
    put_member(w, "started", &record, "started");
    put_member(w, "ended", &record, "ended");
    record_clear(&record);
    return true;
}

// --- several runs

bool put_runs(JsonWriter *w, const char *path, Error *err) {
    static const char *const tables[] = {"compare.json", "sweep.json", "runs.json"};
    char file[INSPECT_PATH];
    RunRecords records = {0};
    if (!records_add(&records, path, err))
        return false;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        path_join(file, sizeof file, path, tables[i]);
        Json *table = file_exists(file) ? json_read(file, &(Error){0}) : NULL;
        if (table != NULL)
            json_put_value(w, tables[i], table);
        json_free(table);
    }
    runs_table_put(w, &records, path);
    records_clear(&records);
    return true;
}

// --- predictions and parts

bool put_predictions(JsonWriter *w, const char *path, Error *err) {
    static const char *const names[] = {"classes.npy", "scores.npy"};
    char file[INSPECT_PATH];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_join(file, sizeof file, path, names[i]);
        if (!file_exists(file))
            continue;
        json_begin_object(w, names[i]);
        bool ok = put_npy(w, file, err);
        json_end_object(w);
        if (!ok)
            return false;
    }
    return true;
}

bool put_partition(JsonWriter *w, const char *path, Error *err) {
    char folder[INSPECT_PATH];
    return partition_put_report(w, run_folder_of(path, folder), NULL, err);
}

bool print_cut(const char *path, Error *err) {
    char folder[INSPECT_PATH];
    return partition_report(run_folder_of(path, folder), NULL, err);
}

// --- printed in their own way

static double number_of(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    return value != NULL && json_type(value) == JSON_NUMBER ? json_number(value) : NAN;
}

static void print_mode(const Json *mode) {
    const Json *name = json_get(mode, "name");
    char time[QUANTITY], bytes[QUANTITY];
    if (name == NULL || json_type(name) != JSON_STRING)
        return;
    terminal_print("%-22s %7.2f +- %-5.2f %10s %7.2fx %12s\n", SHOWN(json_string(name)),
                   number_of(mode, "test_mean"), number_of(mode, "test_deviation"),
                   quantity_seconds(time, number_of(mode, "epoch_seconds")),
                   number_of(mode, "speed_up"), quantity_bytes(bytes, number_of(mode, "bytes")));
}

// The table of compare.json, where the folder is that of a comparison.
static void print_comparison(const char *folder) {
    char file[INSPECT_PATH];
    path_join(file, sizeof file, folder, "compare.json");
    Json *table = file_exists(file) ? json_read(file, &(Error){0}) : NULL;
    const Json *modes =
        table != NULL && json_type(table) == JSON_OBJECT ? json_get(table, "modes") : NULL;
    if (modes != NULL && json_type(modes) == JSON_ARRAY) {
        terminal_print("%-22s %-16s %10s %8s %12s\n", "mode", " test %", "epoch", "speed-up",
                       "sent/epoch");
        for (const Json *at = json_first(modes); at != NULL; at = json_next(at))
            if (json_type(at) == JSON_OBJECT)
                print_mode(at);
        terminal_print("\n");
    }
    json_free(table);
}

bool print_runs(const char *path, Error *err) {
    RunRecords records = {0};
    if (!records_add(&records, path, err))
        return false;
    print_comparison(path);
    runs_table_print(&records, path);
    records_clear(&records);
    return true;
}

// The facts of the run, the weights of its newest checkpoint, its assignments, its files.
bool print_run(const char *path, Error *err) {
    char folder[INSPECT_PATH], weights[INSPECT_PATH];
    JsonWriter writer;
    Error without = {0};
    run_folder_of(path, folder);
    json_writer_init(&writer, false);
    json_begin_object(&writer, NULL);
    bool ok = put_run(&writer, folder, err);
    json_end_object(&writer);
    Json *facts = ok ? json_parse(writer.text, writer.bytes, path, err) : NULL;
    if (facts != NULL)
        inspect_print_members(facts);
    json_free(facts);
    json_writer_clear(&writer);
    if (!ok || strcmp(folder, path) != 0)
        return ok;
    if (checkpoint_weights_path(folder, false, weights, sizeof weights, &without))
        ok = print_tensors(weights, err);
    ok = ok && report_show_assignments(folder, err);
    runfolder_print(folder);
    return ok;
}
