// Reads metrics.jsonl back: the times and scores of a run, epoch by epoch.

#include "fringe/records.h"

static double score_of(const Json *line, const char *split, const Score *score) {
    return score != NULL ? json_get_number(json_get(line, split), score->key) : NAN;
}

// Names that are not those of exchanges are ignored.
static ExchangeSet exchanges_of(const Json *line, const char *key) {
    const Json *names = json_get_of(line, key, JSON_ARRAY);
    char name[EXCHANGE_NAME];
    ExchangeSet set = 0;
    for (const Json *at = json_first(names); at != NULL; at = json_next(at))
        for (int k = 0; k < EXCHANGES_MOST && json_type(at) == JSON_STRING; k++) {
            ExchangeId id = {k / 2, k % 2};
            if (strcmp(json_string(at), exchange_name(id, name)) == 0)
                set |= exchange_set_of(id);
        }
    return set;
}

RecordedEpoch record_epoch(const Json *line, const Score *score) {
    const Json *time = json_get(line, "time");
    int64_t epoch = 0;
    double span[TIMER_KINDS];
    json_get_int(line, "epoch", &epoch);
    for (int kind = 0; kind < TIMER_KINDS; kind++)
        span[kind] = json_get_amount(time, timer_names[kind]);
    return (RecordedEpoch){
        .epoch = epoch,
        .loss = json_get_number(line, "loss"),
        .lr = json_get_number(line, "rate"),
        .gradient_norm = json_get_number(line, "gradient_norm"),
        .headers = json_get_amount(line, "headers"),
        .skipped = json_get_amount(line, "skipped"),
        .bytes = json_get_amount(line, "bytes"),
        .reduce_bytes = json_get_amount(line, "reduce_bytes"),
        .gradient_bits = json_get_number(line, "gradient_bits"),
        .gradient_memory = json_get_number(line, "gradient_memory"),
        .seconds = json_get_amount(time, "epoch"),
        .compute = span[TIMER_AGGREGATE_OWN] + span[TIMER_AGGREGATE_HALO] + span[TIMER_DENSE] +
                   span[TIMER_POINTWISE],
        .pack = span[TIMER_PACK] + span[TIMER_UNPACK],
        .wait = span[TIMER_WAIT],
        .reduce = span[TIMER_REDUCE],
        .evaluation = json_get_amount(time, "evaluation"),
        .assignment = json_get_amount(time, "assignment"),
        .train = score_of(line, "train", score),
        .validation = score_of(line, "validation", score),
        .test = score_of(line, "test", score),
        .fp32 = exchanges_of(line, "fp32"),
    };
}

static bool read_lines(FILE *file, const char *path, const Score *score, RecordedEpoch *epoch,
                       int64_t most, int64_t *count, Error *err) {
    CLEARED(malloc_drop) char *line = NULL;
    size_t room = 0;
    bool ok = true;
    for (ssize_t bytes; ok && *count < most && (bytes = getline(&line, &room, file)) > 0;) {
        CLEARED(json_drop) Json *record = json_parse(line, (size_t)bytes, path, err);
        ok = record != NULL && json_type(record) == JSON_OBJECT;
        if (ok)
            epoch[(*count)++] = record_epoch(record, score);
    }
    return ok;
}

bool record_history(const char *run_dir, const Score *score, RecordedEpoch *epoch, int64_t most,
                    int64_t *count, Error *err) {
    const char *path = PATH_IN(run_dir, "metrics.jsonl");
    *count = 0;
    int64_t size;
    CLEARED(stream_drop) FILE *file = file_stream(path, &size, err);
    if (file == NULL)
        return false;
    return read_lines(file, path, score, epoch, most, count, err);
}
