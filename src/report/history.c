// Reads metrics.jsonl back: the times and scores of a run, epoch by epoch.

#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double member(const Json *object, const char *key, double otherwise) {
    const Json *value =
        object != NULL && json_type(object) == JSON_OBJECT ? json_get(object, key) : NULL;
    return value != NULL && json_type(value) == JSON_NUMBER ? json_number(value) : otherwise;
}

EpochTimes report_times(const Json *record) {
    const Json *time = json_get(record, "time"), *validation = json_get(record, "validation");
    int64_t epoch = 0;
    double span[TIMER_KINDS];
    if (json_get(record, "epoch") != NULL)
        json_is_int64(json_get(record, "epoch"), &epoch);
    for (int kind = 0; kind < TIMER_KINDS; kind++)
        span[kind] = member(time, timer_names[kind], 0);
    return (EpochTimes){
        .epoch = epoch,
        .bytes = member(record, "bytes", 0),
        .seconds = member(time, "epoch", 0),
        .compute = span[TIMER_AGGREGATE_OWN] + span[TIMER_AGGREGATE_HALO] + span[TIMER_DENSE] +
                   span[TIMER_POINTWISE],
        .pack = span[TIMER_PACK] + span[TIMER_UNPACK],
        .wait = span[TIMER_WAIT],
        .reduce = span[TIMER_REDUCE],
        .evaluation = member(time, "evaluation", 0),
        .assignment = member(time, "assignment", 0),
        .validation = member(validation, "micro_f1", NAN),
        .test = member(json_get(record, "test"), "micro_f1", NAN),
    };
}

static bool read_lines(FILE *file, const char *path, EpochTimes *times, int64_t most,
                       int64_t *count, Error *err) {
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    for (ssize_t bytes; ok && *count < most && (bytes = getline(&line, &room, file)) > 0;) {
        Json *record = json_parse(line, (size_t)bytes, path, err);
        ok = record != NULL && json_type(record) == JSON_OBJECT;
        if (ok)
            times[(*count)++] = report_times(record);
        json_free(record);
    }
    free(line);
    return ok;
}

bool report_history(const char *run_dir, EpochTimes *times, int64_t most, int64_t *count,
                    Error *err) {
    char path[1100];
    path_join(path, sizeof path, run_dir, "metrics.jsonl");
    *count = 0;
    int64_t size;
    FILE *file = file_stream(path, &size, err);
    if (file == NULL)
        return false;
    bool ok = read_lines(file, path, times, most, count, err);
    fclose(file);
    return ok;
}
