// One run as JSON: its scores, its mean times, its curves and its assignments. Means are taken over
// all epochs; a curve has at most 250 points, each an epoch as metrics.jsonl has it.

#include "internal.h"

#include "fringe/runfolder.h"

// --- scores

static void put_scores(JsonWriter *w, const char *key, const RunRecord *run, int64_t at) {
    JSON_PUT_OBJECT(w, key)
        if (at >= 0)
            JSON_PUT(w, PAIR("epoch", run->epoch[at].epoch), PAIR("train", run->epoch[at].train),
                     PAIR("validation", run->epoch[at].validation),
                     PAIR("test", run->epoch[at].test));
}

// --- means

static RecordedEpoch mean_of(const RunRecord *run, int64_t begin, int64_t end) {
    return record_sum(&run->epoch[begin], end - begin, 1.0 / (double)(end - begin));
}

// `rest`: what an epoch spends outside of these parts, such as the optimizer.
static void put_time(JsonWriter *w, const RecordedEpoch *mean) {
    double rest = mean->seconds - mean->compute - mean->pack - mean->wait - mean->reduce;
    JSON_PUT_OBJECT(w, "time")
        JSON_PUT(w, PAIR("compute", mean->compute), PAIR("pack", mean->pack),
                 PAIR("wait", mean->wait), PAIR("reduce", mean->reduce),
                 PAIR("rest", fmax(rest, 0)), PAIR("assignment", mean->assignment),
                 PAIR("evaluation", mean->evaluation));
}

static void put_means(JsonWriter *w, const RunRecord *run) {
    if (run->epochs == 0)
        return;
    RecordedEpoch mean = mean_of(run, 0, run->epochs);
    JSON_PUT(w, PAIR("median_seconds", record_median_seconds(run->epoch, run->epochs)),
             PAIR("mean_seconds", mean.seconds),
             PAIR("total_seconds", (mean.seconds + mean.assignment) * (double)run->epochs),
             PAIR("bytes", mean.bytes), PAIR("reduce_bytes", mean.reduce_bytes));
    put_time(w, &mean);
}

// rank_times of run.json as one list for each part; nothing above RANKS_DRAWN ranks.
static void put_rank_times(JsonWriter *w, const RunRecord *run) {
    static const char *const parts[] = {"compute", "pack", "wait", "reduce"};
    const Json *ranks = record_member(run, "rank_times.ranks");
    if (ranks == NULL || json_type(ranks) != JSON_ARRAY || json_size(ranks) > RANKS_DRAWN)
        return;
    JSON_PUT_OBJECT(w, "rank_times")
        for (int i = 0; i < FAMILY_COUNT(parts); i++)
            JSON_PUT_ARRAY(w, parts[i])
                for (const Json *rank = json_first(ranks); rank != NULL; rank = json_next(rank))
                    json_put_float(w, NULL, (float)json_get_number(rank, parts[i]));
}

// --- curves

typedef struct Point {
    RecordedEpoch epoch;                 // one epoch of the run
    double seconds, bytes, reduce_bytes; // means over the epochs since the point before
    double clock; // seconds of training and assignment until the end of this epoch
} Point;

// The last evaluated epoch of [begin, end), or the last one.
static int64_t chosen_of(const RunRecord *run, int64_t begin, int64_t end) {
    for (int64_t at = end - 1; at >= begin; at--)
        if (!isnan(run->epoch[at].validation) || !isnan(run->epoch[at].test))
            return at;
    return end - 1;
}

static int64_t read_points(Point *point, const RunRecord *run, int64_t stride) {
    int64_t count = 0, read = 0;
    double clock = 0;
    for (int64_t begin = 0; begin < run->epochs; begin += stride) {
        int64_t end = begin + stride < run->epochs ? begin + stride : run->epochs;
        RecordedEpoch mean = mean_of(run, begin, end);
        int64_t chosen = chosen_of(run, begin, end);
        for (; read <= chosen; read++)
            clock += run->epoch[read].seconds + run->epoch[read].assignment;
        point[count++] =
            (Point){run->epoch[chosen], mean.seconds, mean.bytes, mean.reduce_bytes, clock};
    }
    return count;
}

static void put_column(JsonWriter *w, const char *key, const Point *point, int64_t count,
                       size_t offset) {
    JSON_PUT_ARRAY(w, key)
        for (int64_t i = 0; i < count; i++)
            json_put_float(w, NULL, (float)*(const double *)((const char *)&point[i] + offset));
}

static void put_curve(JsonWriter *w, const RunRecord *run, int64_t stride) {
    FREED Point *point = ALLOC(Point, run->epochs / stride + 1, "points of curves");
    int64_t count = read_points(point, run, stride);
    JSON_PUT_OBJECT(w, "curve") {
        JSON_PUT_ARRAY(w, "epoch")
            for (int64_t i = 0; i < count; i++)
                json_put_int(w, NULL, point[i].epoch.epoch);
        put_column(w, "loss", point, count, offsetof(Point, epoch.loss));
        put_column(w, "train", point, count, offsetof(Point, epoch.train));
        put_column(w, "validation", point, count, offsetof(Point, epoch.validation));
        put_column(w, "test", point, count, offsetof(Point, epoch.test));
        put_column(w, "clock", point, count, offsetof(Point, clock));
        put_column(w, "seconds", point, count, offsetof(Point, seconds));
        put_column(w, "bytes", point, count, offsetof(Point, bytes));
        put_column(w, "reduce_bytes", point, count, offsetof(Point, reduce_bytes));
        put_column(w, "gradient_bits", point, count, offsetof(Point, epoch.gradient_bits));
    }
}

// --- assignments

static void put_rows(JsonWriter *w, const Json *part) {
    const Json *layer = json_get_of(part, "layer", JSON_NUMBER);
    const Json *direction = json_get_of(part, "direction", JSON_STRING);
    const Json *rows = json_get_of(part, "rows", JSON_OBJECT);
    if (layer == NULL || direction == NULL || rows == NULL)
        return;
    JSON_PUT_OBJECT(w, NULL) {
        JSON_PUT(w, PAIR("layer", json_number(layer)), PAIR("direction", json_string(direction)));
        JSON_PUT_OBJECT(w, "rows")
            for (const Json *at = json_first(rows); at != NULL; at = json_next(at))
                if (json_type(at) == JSON_NUMBER)
                    json_put_double(w, json_key(at), json_number(at));
    }
}

static void put_assignment(JsonWriter *w, const char *folder, int64_t epoch) {
    char name[RUNFOLDER_NAME];
    CLEARED(json_drop)
    Json *assignment = json_read(PATH_IN(folder, runfolder_epoch_name(name, epoch, ".json")),
                                 &(Error){0}); // a torn file is as good as none
    const Json *parts = json_get_of(assignment, "parts", JSON_ARRAY);
    if (parts != NULL)
        JSON_PUT_OBJECT(w, NULL) {
            json_put_int(w, "taken", epoch);
            JSON_PUT_ARRAY(w, "parts")
                for (const Json *part = json_first(parts); part != NULL; part = json_next(part))
                    put_rows(w, part);
        }
}

static void put_assignments(JsonWriter *w, const RunRecord *run) {
    EpochList list;
    const char *folder = PATH_IN(run->folder, "assignments");
    runfolder_epochs(&list, folder, ".json", &(Error){0}); // what cannot be read is left out
    JSON_PUT_ARRAY(w, "assignments")
        for (int i = 0; i < list.count; i++)
            put_assignment(w, folder, list.epoch[i]);
    memory_free(list.epoch);
}

void page_put_run(JsonWriter *w, const RunRecord *run, int64_t stride) {
    JSON_PUT_OBJECT(w, NULL) {
        JSON_PUT(w, PAIR("folder", run->folder),
                 PAIR("seed", record_number(run, "config.run.seed")),
                 PAIR("state", record_state_name(run->state)), PAIR("epochs", run->epochs));
        put_scores(w, "last", run, record_last_scored(run));
        put_scores(w, "best", run, record_best(run));
        put_means(w, run);
        put_rank_times(w, run);
        put_curve(w, run, stride);
        put_assignments(w, run);
    }
}
