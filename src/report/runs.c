// Reports a run that has ended with a line, and several runs with different seeds with a line and
// runs.json.

#include "internal.h"

#include <math.h>
#include <stdio.h>

// "validation 93.00 % test 82.00 %"
static const char *scores_of(char out[64], const Metrics metrics[4]) {
    char validation[REPORT_PERCENT], test[REPORT_PERCENT];
    snprintf(out, 64, "validation %s test %s",
             report_percent(validation, report_score(&metrics[SPLIT_VAL])),
             report_percent(test, report_score(&metrics[SPLIT_TEST])));
    return out;
}

// The line leaves out what was not measured, such as a best validation or the time of an epoch.
void report_print_result(const Report *report, const RunResult *r) {
    char last[64], of_best[64], best[160] = "", early[128] = "", epoch[96] = "";
    if (r->best_epoch > 0)
        snprintf(best, sizeof best, "; best validation (epoch %lld) %s", (long long)r->best_epoch,
                 scores_of(of_best, r->best));
    if (r->stopped_early > 0)
        snprintf(early, sizeof early, "; stopped early: no better validation in %lld evaluation%s",
                 (long long)r->stopped_early, r->stopped_early == 1 ? "" : "s");
    if (!isnan(r->seconds_per_epoch))
        snprintf(epoch, sizeof epoch, "; %.4f s and %.2f MB per epoch", r->seconds_per_epoch,
                 (double)r->bytes_per_epoch / 1e6);
    terminal_settle(); // mpirun forwards stdout and stderr apart: the last epoch must come first
    terminal_print("result     seed %lld, %s: epoch %lld %s%s%s%s; %.0f MiB per rank\n",
                   (long long)report->config->run.seed, report_metric_name(report->shard),
                   (long long)r->epochs, scores_of(last, r->last), best, early, epoch,
                   (double)r->taken / (1 << 20));
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
                 const RunResult *result, int runs) {
    double *last = ALLOC(double, runs, "results of runs");
    double *best = ALLOC(double, runs, "results of runs");
    char of_last[48], of_best[48];
    for (int i = 0; i < runs; i++) {
        last[i] = report_score(&result[i].last[SPLIT_TEST]);
        best[i] = report_score(&result[i].best[SPLIT_TEST]);
    }
    terminal_print("runs       %d, test %s: last epoch %s, best validation %s\n", runs,
                   report_metric_name(shard), mean_text(of_last, mean_deviation(last, runs)),
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
