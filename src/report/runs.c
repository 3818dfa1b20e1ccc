// Reports a run that has ended with a line, and several runs with different seeds with a line and
// runs.json.

#include "internal.h"

// "validation 93.00 %, test 82.00 %"
static const char *scores_of(char out[80], const Score *score, const Metrics metrics[4]) {
    snprintf(out, 80, "validation %s, test %s",
             SHOWN_SCORE(score, metrics_value(&metrics[SPLIT_VAL], score)),
             SHOWN_SCORE(score, metrics_value(&metrics[SPLIT_TEST], score)));
    return out;
}

static void print_cost(const RunResult *r, const Sink *sink, SinkKind kind) {
    const char *memory = SHOWN_MEMORY((double)r->taken);
    if (isnan(r->seconds_per_epoch))
        sink_put(sink, kind, "cost       %s per rank\n", memory);
    else
        sink_put(sink, kind, "cost       %s and %s of messages per epoch; %s per rank\n",
                 SHOWN_SECONDS(r->seconds_per_epoch), SHOWN_BYTES((double)r->bytes_per_epoch),
                 memory);
}

// Leaves out what was not measured, such as a best validation or the time of an epoch.
void report_print_result(const Report *report, const RunResult *r, bool is_output) {
    char scores[80];
    const Score *score = report_score(report);
    SinkKind kind = is_output ? SINK_OUTPUT : SINK_NOTE;
    sink_put(report->sink, kind, "result     epoch %ld: %s (%s, seed %ld)\n", r->epochs,
             scores_of(scores, score, r->last), score->title, report->config->run.seed);
    if (r->best_epoch > 0)
        sink_put(report->sink, kind, "best       epoch %ld: %s\n", r->best_epoch,
                 scores_of(scores, score, r->best));
    if (report_has_average(r))
        sink_put(report->sink, kind, "average    of the last %ld evaluations: %s\n",
                 report->config->train.average, scores_of(scores, score, r->average));
    if (r->stopped_early > 0)
        sink_put(report->sink, kind, "stopped    early: no better validation in %ld evaluation%s\n",
                 r->stopped_early, r->stopped_early == 1 ? "" : "s");
    print_cost(r, report->sink, kind);
}

static void put_scores(JsonWriter *writer, const char *key, const double *test, int runs) {
    MeanDeviation of = mean_deviation(test, runs);
    JSON_PUT_OBJECT(writer, key) {
        json_put_list(writer, "test", test, runs);
        JSON_PUT(writer, PAIR("mean", of.mean), PAIR("deviation", of.deviation));
    }
}

static const char *mean_text(char out[48], const Score *score, MeanDeviation of) {
    snprintf(out, 48, isnan(of.mean) ? "none" : "%.2f +- %.2f%s", score_scale(score) * of.mean,
             score_scale(score) * of.deviation, score_unit(score));
    return out;
}

void report_runs(JsonWriter *writer, const Score *score, int64_t first_seed,
                 const RunResult *result, int runs, const Sink *sink, bool is_output) {
    FREED double *last = ALLOC(double, runs, "results of runs");
    FREED double *best = ALLOC(double, runs, "results of runs");
    char of_last[48], of_best[48];
    for (int i = 0; i < runs; i++) {
        last[i] = metrics_value(&result[i].last[SPLIT_TEST], score);
        best[i] = metrics_value(&result[i].best[SPLIT_TEST], score);
    }
    sink_put(sink, is_output ? SINK_OUTPUT : SINK_NOTE,
             "runs       %d: test %s %s; at the best validation %s\n", runs, score->title,
             mean_text(of_last, score, mean_deviation(last, runs)),
             mean_text(of_best, score, mean_deviation(best, runs)));
    JSON_PUT_OBJECT(writer, NULL) {
        JSON_PUT(writer, PAIR("metric", score->title), PAIR("first_seed", first_seed));
        put_scores(writer, "last", last, runs);
        put_scores(writer, "best", best, runs);
    }
}
