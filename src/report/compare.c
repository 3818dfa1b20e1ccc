// The table of a comparison: time and score of each variant, and its speed-up over the first one.
// All of it comes from the metrics that the runs wrote.

#include "internal.h"

enum { EPOCHS_MOST = 100000 };

void comparison_clear(Comparison *comparison) { memory_free(comparison->times); }

// --- reading

// Reads the metrics of one run into comparison->times. Returns the number of epochs, 0 after an
// error.
static int64_t read_run(const Comparison *c, const ComparedVariant *variant, int run, Error *err) {
    char folder[PATH_BYTES], number[32] = "";
    int64_t count;
    if (c->runs > 1)
        snprintf(number, sizeof number, "/run-%d", run + 1);
    snprintf(folder, sizeof folder, "%s/%s%s", c->folder, variant->name, number);
    return record_history(folder, c->score, c->times, EPOCHS_MOST, &count, err) ? count : 0;
}

// Fills the times of a variant with means over its runs.
static void read_variant(const Comparison *c, ComparedVariant *variant, Error *err) {
    const RecordedEpoch *times = c->times;
    for (int run = 0; run < c->runs; run++) {
        int64_t count = read_run(c, variant, run, err);
        variant->epoch += (count > 0 ? record_median_seconds(times, count) : 0) / c->runs;
        for (int64_t e = 0; e < count; e++) {
            record_add(&variant->mean, &times[e], 1.0 / ((double)count * c->runs));
            variant->total += (times[e].seconds + times[e].assignment) / c->runs;
        }
    }
}

static MeanDeviation score_of(const Comparison *c, const RunResult *result, int split) {
    FREED double *value = ALLOC(double, c->runs, "results of runs");
    for (int i = 0; i < c->runs; i++)
        value[i] = score_scale(c->score) * metrics_value(&result[i].last[split], c->score);
    return mean_deviation(value, c->runs);
}

bool comparison_add(Comparison *c, const char *name, bool blocking, const RunResult *result,
                    Error *err) {
    assert(c->count < COMPARED_MOST);
    ComparedVariant *variant = &c->variant[c->count];
    *variant = (ComparedVariant){.blocking = blocking,
                                 .validation = score_of(c, result, SPLIT_VAL),
                                 .test = score_of(c, result, SPLIT_TEST)};
    snprintf(variant->name, sizeof variant->name, "%s", name);
    if (c->times == NULL)
        c->times = ALLOC(RecordedEpoch, EPOCHS_MOST, "metrics");
    read_variant(c, variant, err);
    c->count += err->code == 0;
    return err->code == 0;
}

// --- the target

// Seconds until the validation score of the first run reaches the target; NaN: never.
static double time_to_target(const Comparison *c, const ComparedVariant *variant, Error *err) {
    int64_t count = read_run(c, variant, 0, err);
    double seconds = 0;
    for (int64_t e = 0; e < count; e++) {
        seconds += c->times[e].seconds + c->times[e].assignment;
        double reached = c->times[e].validation;
        if (!isnan(reached) && !isnan(c->target) && !score_better(c->score, c->target, reached))
            return seconds;
    }
    return NAN;
}

// 1 % worse than the best validation score of the first variant: 99 % of it, where higher is
// better; NaN without validation nodes.
static double target_of(const Comparison *c, Error *err) {
    int64_t count = read_run(c, &c->variant[0], 0, err);
    double best = NAN;
    for (int64_t e = 0; e < count; e++)
        if (score_better(c->score, c->times[e].validation, best))
            best = c->times[e].validation;
    return c->score->lower == (best < 0) ? 0.99 * best : best / 0.99;
}

bool comparison_read_targets(Comparison *c, Error *err) {
    c->target = target_of(c, err);
    for (int i = 0; i < c->count; i++)
        c->variant[i].to_target = time_to_target(c, &c->variant[i], err);
    return err->code == 0;
}

// --- compare.json

static void put_variant(JsonWriter *w, const ComparedVariant *variant,
                        const ComparedVariant *first) {
    const RecordedEpoch *t = &variant->mean;
    JSON_PUT_OBJECT(w, NULL) {
        JSON_PUT(
            w, PAIR("name", variant->name), PAIR("test_mean", variant->test.mean),
            PAIR("test_deviation", variant->test.deviation), PAIR("runs", variant->test.count),
            PAIR("blocking", variant->blocking), PAIR("epoch_seconds", variant->epoch),
            PAIR("mean_epoch_seconds", t->seconds), PAIR("speed_up", first->epoch / variant->epoch),
            PAIR("compute_seconds", t->compute), PAIR("pack_seconds", t->pack),
            PAIR("wait_seconds", t->wait), PAIR("reduce_seconds", t->reduce),
            PAIR("evaluation_seconds", t->evaluation), PAIR("assignment_seconds", t->assignment),
            PAIR("training_seconds", variant->total), PAIR("bytes", t->bytes),
            PAIR("gradient_bytes", t->reduce_bytes));
        if (!isnan(t->gradient_memory))
            json_put_double(w, "gradient_memory", t->gradient_memory);
        json_put_double(w, "seconds_to_target", variant->to_target);
    }
}

void comparison_put(JsonWriter *w, const Comparison *c) {
    JSON_PUT_OBJECT(w, NULL) {
        json_put_string(w, "data", c->data);
        if (c->origin[0] != 0)
            json_put_string(w, "origin", c->origin);
        JSON_PUT(w, PAIR("ranks", c->ranks), PAIR("metric", c->score->title),
                 PAIR("speed_up_over", c->variant[0].name), PAIR("target", c->target));
        JSON_PUT_ARRAY(w, "modes")
            for (int i = 0; i < c->count; i++)
                put_variant(w, &c->variant[i], &c->variant[0]);
    }
}

static ComparedVariant variant_of(const Json *from) {
    ComparedVariant variant = {.blocking = json_get_bool(from, "blocking"),
                               .validation = {NAN, NAN, 0},
                               .test = {json_get_number(from, "test_mean"),
                                        json_get_number(from, "test_deviation"),
                                        (int)json_get_number(from, "runs")},
                               .mean = {.seconds = json_get_number(from, "mean_epoch_seconds"),
                                        .compute = json_get_number(from, "compute_seconds"),
                                        .pack = json_get_number(from, "pack_seconds"),
                                        .wait = json_get_number(from, "wait_seconds"),
                                        .assignment = json_get_number(from, "assignment_seconds"),
                                        .bytes = json_get_number(from, "bytes")},
                               .epoch = json_get_number(from, "epoch_seconds"),
                               .to_target = json_get_number(from, "seconds_to_target")};
    snprintf(variant.name, sizeof variant.name, "%s", json_get_text(from, "name"));
    return variant;
}

bool comparison_of(Comparison *c, const Json *from) {
    const Json *modes = json_get_of(from, "modes", JSON_ARRAY);
    *c = (Comparison){.score = score_find(json_get_text(from, "metric")),
                      .data = json_get_text(from, "data"),
                      .ranks = (int)json_get_number(from, "ranks"),
                      .target = json_get_number(from, "target")};
    snprintf(c->origin, sizeof c->origin, "%s", json_get_text(from, "origin"));
    for (const Json *v = json_first(modes); v != NULL && c->count < COMPARED_MOST; v = json_next(v))
        c->variant[c->count++] = variant_of(v);
    return c->score != NULL && c->count > 0;
}
