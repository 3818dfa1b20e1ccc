// checkpoint.json: what a checkpoint knows beside its tensors, and the hashes that tell whether it
// is whole. Writing and reading stand beside each other, so that a new member is added to both.
#include "internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHECKPOINT_VERSION = 1 };
const char *const checkpoint_files[CHECKPOINT_FILES] = {
    "model.safetensors", "best.safetensors", "optimizer.safetensors", "messages.safetensors"};

const char checkpoint_manifest[] = "checkpoint.json";

// Only a run whose messages have widths writes the last one.
static bool may_lack(int file) { return file == CHECKPOINT_FILES - 1; }

// The members of Metrics that are numbers, in the file and in memory.
enum { METRIC_NUMBERS = 4 };
static const struct {
    const char *key;
    size_t at;
} metric_numbers[METRIC_NUMBERS] = {{"loss", offsetof(Metrics, loss)},
                                    {"accuracy", offsetof(Metrics, accuracy)},
                                    {"micro_f1", offsetof(Metrics, micro_f1)},
                                    {"macro_f1", offsetof(Metrics, macro_f1)}};

static double *metric_number(const Metrics *metrics, int k) {
    return (double *)((char *)metrics + metric_numbers[k].at);
}

// ---- writing

static void put_metrics(JsonWriter *w, const char *key, const Metrics metrics[4]) {
    json_begin_array(w, key);
    for (int s = 0; s < 4; s++) {
        json_begin_object(w, NULL);
        for (int k = 0; k < METRIC_NUMBERS; k++)
            json_put_double(w, metric_numbers[k].key, *metric_number(&metrics[s], k));
        json_put_int(w, "rows", metrics[s].rows);
        json_end_object(w);
    }
    json_end_array(w);
}

static bool put_files(JsonWriter *w, const char *folder, Error *err) {
    json_begin_object(w, "files");
    for (int i = 0; i < CHECKPOINT_FILES; i++) {
        char path[CHECKPOINT_PATH], hash[33];
        path_join(path, sizeof path, folder, checkpoint_files[i]);
        if (may_lack(i) && !file_exists(path))
            continue;
        if (!hash_file(path, hash, err))
            return false;
        json_put_string(w, checkpoint_files[i], hash);
    }
    json_end_object(w);
    return true;
}

bool checkpoint_manifest_write(const TrainerState *state, const char *folder, const char *binding,
                               Error *err) {
    JsonWriter w;
    char path[CHECKPOINT_PATH];
    path_join(path, sizeof path, folder, checkpoint_manifest);
    json_writer_init(&w, true);
    json_begin_object(&w, NULL);
    json_put_string(&w, "format", "fringe-checkpoint");
    json_put_int(&w, "version", CHECKPOINT_VERSION);
    json_put_string(&w, "binding", binding);
    json_put_int(&w, "epoch", state->counters.epoch);
    json_put_int(&w, "best_epoch", state->counters.best_epoch);
    json_put_int(&w, "stale_evaluations", state->counters.stale_evaluations);
    json_put_double(&w, "best_score", state->counters.best_score);
    put_metrics(&w, "best_metrics", state->counters.best_metrics);
    put_metrics(&w, "last_metrics", state->counters.last_metrics);
    bool ok = put_files(&w, folder, err);
    json_end_object(&w);
    ok = ok && file_replace(path, w.text, w.bytes, err);
    json_writer_clear(&w);
    return ok;
}

// ---- reading

static bool read_metrics(const Json *document, const char *key, Metrics metrics[4]) {
    const Json *list = json_get(document, key);
    if (list == NULL || json_type(list) != JSON_ARRAY || json_size(list) != 4)
        return false;
    int s = 0;
    for (const Json *m = json_first(list); m != NULL; m = json_next(m), s++) {
        for (int k = 0; k < METRIC_NUMBERS; k++) {
            const Json *number =
                json_type(m) == JSON_OBJECT ? json_get(m, metric_numbers[k].key) : NULL;
            if (number == NULL ||
                (json_type(number) != JSON_NUMBER && json_type(number) != JSON_NULL))
                return false; // null is how a number that is not finite was written
            *metric_number(&metrics[s], k) =
                json_type(number) == JSON_NULL ? NAN : json_number(number);
        }
        const Json *rows = json_get(m, "rows");
        if (rows == NULL || !json_is_int64(rows, &metrics[s].rows))
            return false;
    }
    return true;
}

static bool read_int(const Json *document, const char *key, int64_t *out) {
    const Json *value = json_get(document, key);
    return value != NULL && json_is_int64(value, out);
}

static bool read_counters(const Json *document, TrainerState *state) {
    const Json *score = json_get(document, "best_score");
    if (score == NULL || json_type(score) != JSON_NUMBER)
        return false;
    state->counters.best_score = json_number(score);
    return read_int(document, "epoch", &state->counters.epoch) &&
           read_int(document, "best_epoch", &state->counters.best_epoch) &&
           read_int(document, "stale_evaluations", &state->counters.stale_evaluations) &&
           read_metrics(document, "best_metrics", state->counters.best_metrics) &&
           read_metrics(document, "last_metrics", state->counters.last_metrics);
}

static bool check_files(const Json *document, const char *folder, Error *err) {
    const Json *files = json_get(document, "files");
    for (int i = 0; i < CHECKPOINT_FILES; i++) {
        char path[CHECKPOINT_PATH], hash[33];
        const Json *said = files != NULL && json_type(files) == JSON_OBJECT
                               ? json_get(files, checkpoint_files[i])
                               : NULL;
        if (said == NULL && may_lack(i))
            continue;
        if (said == NULL || json_type(said) != JSON_STRING)
            return error_set(err, EXIT_DATA, "%s/checkpoint.json: 'files' lacks %s", folder,
                             checkpoint_files[i]);
        path_join(path, sizeof path, folder, checkpoint_files[i]);
        if (!hash_file(path, hash, err))
            return false;
        if (strcmp(hash, json_string(said)) != 0)
            return error_set(
                err, EXIT_DATA,
                "%s: its hash is not the one checkpoint.json gives; the file is damaged", path);
    }
    return true;
}

static bool check_version(const Json *document, const char *path, Error *err) {
    int64_t version = 0;
    if (json_type(document) != JSON_OBJECT || !read_int(document, "version", &version) ||
        version < 1)
        return error_set(err, EXIT_DATA, "%s: not a checkpoint manifest", path);
    if (version > CHECKPOINT_VERSION)
        return error_set(err, EXIT_CONFIG,
                         "%s: version %lld is of a newer fringe, this one reads version %d; go on "
                         "with the newer one",
                         path, (long long)version, CHECKPOINT_VERSION);
    return true;
}

static bool read_members(const Json *document, TrainerState *state, char *binding, size_t size,
                         const char *path, Error *err) {
    const Json *said = json_get(document, "binding");
    if (said == NULL || json_type(said) != JSON_STRING || !read_counters(document, state))
        return error_set(err, EXIT_DATA, "%s: not a checkpoint manifest of version %d", path,
                         CHECKPOINT_VERSION);
    snprintf(binding, size, "%s", json_string(said));
    return true;
}

// Counters and binding of one checkpoint folder, with every file checked against its hash.
bool checkpoint_manifest_read(const char *folder, TrainerState *state, char *binding, size_t size,
                              Error *err) {
    char path[CHECKPOINT_PATH];
    path_join(path, sizeof path, folder, checkpoint_manifest);
    Json *document = json_read(path, err);
    if (document == NULL)
        return false;
    bool ok = check_version(document, path, err) &&
              read_members(document, state, binding, size, path, err) &&
              check_files(document, folder, err);
    json_free(document);
    return ok;
}
