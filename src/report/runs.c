// Reports a run that has ended with a line, and several runs with different seeds with a line and
// runs.json.

#include "internal.h"

#include <math.h>
#include <stdio.h>

// "validation 93.00 %, test 82.00 %"
static const char *scores_of(char out[80], const Metrics metrics[4]) {
    char validation[QUANTITY], test[QUANTITY];
    snprintf(out, 80, "validation %s, test %s",
             quantity_percent(validation, report_score(&metrics[SPLIT_VAL])),
             quantity_percent(test, report_score(&metrics[SPLIT_TEST])));
    return out;
}

typedef void Print(const char *format, ...);

static void print_cost(const RunResult *r, Print *print) {
    char seconds[QUANTITY], bytes[QUANTITY], memory[QUANTITY];
    quantity_memory(memory, (double)r->taken);
    if (isnan(r->seconds_per_epoch))
        print("cost       %s per rank\n", memory);
    else
        print("cost       %s and %s of messages per epoch; %s per rank\n",
              quantity_seconds(seconds, r->seconds_per_epoch),
              quantity_bytes(bytes, (double)r->bytes_per_epoch), memory);
}

// Leaves out what was not measured, such as a best validation or the time of an epoch.
void report_print_result(const Report *report, const RunResult *r, bool is_output) {
    char scores[80];
    Print *print = is_output ? terminal_print : terminal_note;
    stage_drop();
    report_print_times(&report->times);
    terminal_settle(); // mpirun forwards stdout and stderr apart: the last epoch must come first
    print("result     epoch %lld: %s (%s, seed %lld)\n", (long long)r->epochs,
          scores_of(scores, r->last), report_metric_name(report->shard),
          (long long)report->config->run.seed);
    if (r->best_epoch > 0)
        print("best       epoch %lld: %s\n", (long long)r->best_epoch, scores_of(scores, r->best));
    if (r->stopped_early > 0)
        print("stopped    early: no better validation in %lld evaluation%s\n",
              (long long)r->stopped_early, r->stopped_early == 1 ? "" : "s");
    print_cost(r, print);
}

static void put_scores(JsonWriter *writer, const char *key, const double *test, int runs) {
    MeanDeviation of = mean_deviation(test, runs);
    json_begin_object(writer, key);
    json_begin_array(writer, "test");
    for (int i = 0; i < runs; i++)
        json_put_double(writer, NULL, test[i]);
    json_end_array(writer);
    json_put_double(writer, "mean", of.mean);
    json_put_double(writer, "deviation", of.deviation);
    json_end_object(writer);
}

static const char *mean_text(char out[48], MeanDeviation of) {
    snprintf(out, 48, isnan(of.mean) ? "none" : "%.2f +- %.2f %%", 100 * of.mean,
             100 * of.deviation);
    return out;
}

void report_runs(JsonWriter *writer, const Shard *shard, int64_t first_seed,
                 const RunResult *result, int runs, bool is_output) {
    Print *print = is_output ? terminal_print : terminal_note;
    double *last = ALLOC(double, runs, "results of runs");
    double *best = ALLOC(double, runs, "results of runs");
    char of_last[48], of_best[48];
    for (int i = 0; i < runs; i++) {
        last[i] = report_score(&result[i].last[SPLIT_TEST]);
        best[i] = report_score(&result[i].best[SPLIT_TEST]);
    }
    print("runs       %d: test %s %s; at the best validation %s\n", runs, report_metric_name(shard),
          mean_text(of_last, mean_deviation(last, runs)),
          mean_text(of_best, mean_deviation(best, runs)));
    json_begin_object(writer, NULL);
    json_put_string(writer, "metric", report_metric_name(shard));
    json_put_int(writer, "first_seed", first_seed);
    put_scores(writer, "last", last, runs);
    put_scores(writer, "best", best, runs);
    json_end_object(writer);
    memory_free(best);
    memory_free(last);
}
