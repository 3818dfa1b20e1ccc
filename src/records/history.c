// Reads metrics.jsonl back: the times and scores of a run, epoch by epoch.

#include "fringe/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double member(const Json *object, const char *key, double otherwise) {
    const Json *value =
        object != NULL && json_type(object) == JSON_OBJECT ? json_get(object, key) : NULL;
    return value != NULL && json_type(value) == JSON_NUMBER ? json_number(value) : otherwise;
}

static double score_of(const Json *line, const char *split) {
    return member(json_get(line, split), "micro_f1", NAN);
}

// Names that are not those of exchanges are ignored.
static ExchangeSet exchanges_of(const Json *line, const char *key) {
    const Json *names = json_get(line, key);
    char name[EXCHANGE_NAME];
    ExchangeSet set = 0;
    if (names == NULL || json_type(names) != JSON_ARRAY)
        return set;
    for (const Json *at = json_first(names); at != NULL; at = json_next(at))
        for (int k = 0; k < 2 * EXCHANGE_SET_LAYERS && json_type(at) == JSON_STRING; k++) {
            ExchangeId id = {k / 2, k % 2};
            if (strcmp(json_string(at), exchange_name(id, name)) == 0)
                set |= exchange_set_of(id);
        }
    return set;
}

RecordedEpoch record_epoch(const Json *line) {
    const Json *time = json_get(line, "time");
    int64_t epoch = 0;
    double span[TIMER_KINDS];
    if (json_get(line, "epoch") != NULL)
        json_is_int64(json_get(line, "epoch"), &epoch);
    for (int kind = 0; kind < TIMER_KINDS; kind++)
        span[kind] = member(time, timer_names[kind], 0);
    return (RecordedEpoch){
        .epoch = epoch,
        .loss = member(line, "loss", NAN),
        .lr = member(line, "rate", NAN),
        .gradient_norm = member(line, "gradient_norm", NAN),
        .bytes = member(line, "bytes", 0),
        .reduce_bytes = member(line, "reduce_bytes", 0),
        .seconds = member(time, "epoch", 0),
        .compute = span[TIMER_AGGREGATE_OWN] + span[TIMER_AGGREGATE_HALO] + span[TIMER_DENSE] +
                   span[TIMER_POINTWISE],
        .pack = span[TIMER_PACK] + span[TIMER_UNPACK],
        .wait = span[TIMER_WAIT],
        .reduce = span[TIMER_REDUCE],
        .evaluation = member(time, "evaluation", 0),
        .assignment = member(time, "assignment", 0),
        .train = score_of(line, "train"),
        .validation = score_of(line, "validation"),
        .test = score_of(line, "test"),
        .fp32 = exchanges_of(line, "fp32"),
    };
}

static bool read_lines(FILE *file, const char *path, RecordedEpoch *epoch, int64_t most,
                       int64_t *count, Error *err) {
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    for (ssize_t bytes; ok && *count < most && (bytes = getline(&line, &room, file)) > 0;) {
        Json *record = json_parse(line, (size_t)bytes, path, err);
        ok = record != NULL && json_type(record) == JSON_OBJECT;
        if (ok)
            epoch[(*count)++] = record_epoch(record);
        json_free(record);
    }
    free(line);
    return ok;
}

bool record_history(const char *run_dir, RecordedEpoch *epoch, int64_t most, int64_t *count,
                    Error *err) {
    char path[PATH_BYTES];
    path_join(path, sizeof path, run_dir, "metrics.jsonl");
    *count = 0;
    int64_t size;
    FILE *file = file_stream(path, &size, err);
    if (file == NULL)
        return false;
    bool ok = read_lines(file, path, epoch, most, count, err);
    fclose(file);
    return ok;
}
