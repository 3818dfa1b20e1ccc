// Which training a checkpoint belongs to: the config that changes results (as values, so that a
// refusal can name the differences), the data, their partition, the seed, and the first weights.
#include "internal.h"

// ---- writing

static void put_first_weights(JsonWriter *w, const FirstWeights *first) {
    if (first->path[0] == 0) {
        json_put_string(w, "weights", NULL);
        return;
    }
    JSON_PUT_OBJECT(w, "weights")
        JSON_PUT(w, PAIR("path", first->path), PAIR("hash", first->hash));
}

// The schedule is part of a training only where it changes results. A checkpoint says it then.
static const char schedule_key[] = "comm.schedule";

static bool schedule_changes_result(const Config *config) {
    const Schedule *schedule = schedule_find(config->comm.schedule, &(Error){0});
    return schedule != NULL && schedule->changes_result;
}

void identity_put(JsonWriter *w, const Training *t) {
    config_put_learned(w, "config", t->config,
                       schedule_changes_result(t->config) ? schedule_key : NULL);
    json_put_string(w, "data", t->shard->dataset_hash);
    JSON_PUT_OBJECT(w, "parts")
        JSON_PUT(w, PAIR("count", t->shard->parts), PAIR("hash", t->shard->partition_hash));
    json_put_int(w, "seed", (int64_t)t->seed);
    put_first_weights(w, &t->first_weights);
}

// ---- reading

static bool read_first_weights(FirstWeights *first, const Json *document) {
    const Json *weights = json_get_of(document, "weights", JSON_OBJECT);
    return weights == NULL ? json_get_of(document, "weights", JSON_NULL) != NULL
                           : json_copy_text(weights, "path", first->path, sizeof first->path) &&
                                 json_copy_text(weights, "hash", first->hash, sizeof first->hash);
}

bool identity_read(Identity *identity, const Json *document) {
    const Json *parts = json_get_of(document, "parts", JSON_OBJECT);
    *identity = (Identity){.config = json_get_of(document, "config", JSON_OBJECT)};
    return identity->config != NULL &&
           json_copy_text(document, "data", identity->data, sizeof identity->data) &&
           json_get_int(parts, "count", &identity->parts) &&
           json_copy_text(parts, "hash", identity->cut, sizeof identity->cut) &&
           json_get_int(document, "seed", &identity->seed) &&
           read_first_weights(&identity->first_weights, document);
}

// ---- what differs

enum { DIFFERENCES_SHOWN = 8 };
typedef struct Differences {
    int count, shown;
    char text[1400]; // the first of them, as far as they fit, "; " between
} Differences;

static void add(void *context, const char *sentence) {
    Differences *d = context;
    d->count++;
    if (d->shown == DIFFERENCES_SHOWN ||
        strlen(d->text) + strlen(sentence) + sizeof "; " > sizeof d->text)
        return;
    text_add(d->text, sizeof d->text, "; ", "%s", sentence);
    d->shown++;
}

// Other data, or another number of parts, also have another partition: only the cause is reported.
static void compare_data(const Training *t, const Identity *was, Differences *d) {
    char sentence[128];
    const Shard *is = t->shard;
    snprintf(sentence, sizeof sentence, "it ran on %ld rank%s, this run has %d", was->parts,
             was->parts == 1 ? "" : "s", is->parts);
    if (was->parts != is->parts)
        add(d, sentence);
    if (strcmp(was->data, is->dataset_hash) != 0)
        add(d, "the data differ");
    else if (was->parts == is->parts && strcmp(was->cut, is->partition_hash) != 0)
        add(d, "the data are the same, but their partition differs");
}

static void compare_seed(const Training *t, const Identity *was, Differences *d) {
    char sentence[128];
    snprintf(sentence, sizeof sentence, "its seed was %ld and is now %ld", was->seed, t->seed);
    if (was->seed != (int64_t)t->seed)
        add(d, sentence);
}

// Compares contents by hash. The file that the run started from is not read: it may be gone.
static bool compare_first_weights(const Training *t, const Identity *was, Differences *d,
                                  Error *err) {
    const char *before = was->first_weights.path, *now = t->config->model.weights;
    char sentence[256], hash[33];
    bool same = strcmp(before, now) == 0;
    if (!same && before[0] != 0 && now[0] != 0) {
        if (!hash_file(now, hash, err))
            return error_prefix(err, "model.weights");
        same = strcmp(was->first_weights.hash, hash) == 0;
    }
    snprintf(sentence, sizeof sentence, "model.weights was '%.80s', is '%.80s'", before, now);
    if (!same)
        add(d, sentence);
    return true;
}

bool identity_check(const Training *t, const Identity *was, const char *folder, Error *err) {
    Differences d = {0};
    char more[32] = "";
    const Json *comm = json_get_of(was->config, "comm", JSON_OBJECT);
    bool schedules = (comm != NULL && json_get_of(comm, "schedule", JSON_STRING) != NULL) ||
                     schedule_changes_result(t->config);
    config_report_learned(was->config, t->config, schedules ? schedule_key : NULL, add, &d);
    compare_seed(t, was, &d);
    compare_data(t, was, &d);
    if (!compare_first_weights(t, was, &d, err))
        return false;
    if (d.count > d.shown)
        snprintf(more, sizeof more, "; and %d more", d.count - d.shown);
    return d.count == 0 ||
           error_config(err,
                        "%.400s belongs to another training: %s%s; to continue it, undo these "
                        "changes; otherwise use another run.dir, or start again without --resume",
                        folder, d.text, more);
}
