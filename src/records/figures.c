// The few numbers by which a list of runs shows one.

#include "fringe/records.h"

#include <math.h>
#include <sys/stat.h>
#include <time.h>

void record_add(RecordedEpoch *sum, const RecordedEpoch *epoch, double share) {
    sum->headers += epoch->headers * share;
    sum->skipped += epoch->skipped * share;
    sum->bytes += epoch->bytes * share;
    sum->reduce_bytes += epoch->reduce_bytes * share;
    sum->gradient_memory += epoch->gradient_memory * share;
    sum->seconds += epoch->seconds * share;
    sum->compute += epoch->compute * share;
    sum->pack += epoch->pack * share;
    sum->wait += epoch->wait * share;
    sum->reduce += epoch->reduce * share;
    sum->evaluation += epoch->evaluation * share;
    sum->assignment += epoch->assignment * share;
}

double record_median_seconds(const RecordedEpoch *epoch, int64_t count) {
    if (count == 0)
        return NAN;
    double *seconds = ALLOC(double, count, "seconds of epochs");
    for (int64_t e = 0; e < count; e++)
        seconds[e] = epoch[e].seconds;
    double median = sort_median(seconds, count);
    memory_free(seconds);
    return median;
}

const char *record_state_name(RecordState state) {
    static const char *const names[] = {[RECORD_RUNNING] = "running",
                                        [RECORD_FINISHED] = "finished",
                                        [RECORD_UNFINISHED] = "unfinished"};
    return names[state];
}

static double since_written(const RunRecord *record) {
    static const char *const names[] = {"metrics.jsonl", "run.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct stat status;
        if (stat(PATH_IN(record->folder, names[i]), &status) == 0)
            return difftime(time(NULL), status.st_mtime);
    }
    return NAN;
}

// A line may have been evaluated without validation nodes.
static void read_scores(RunFigures *figures, const RunRecord *record) {
    double chosen = record_number(record, "result.best_epoch"); // by train.metric
    for (int64_t e = 0; e < record->epochs; e++) {
        const RecordedEpoch *at = &record->epoch[e];
        if (isnan(at->validation) && isnan(at->test))
            continue;
        figures->last_validation = at->validation;
        figures->last_test = at->test;
        if (isnan(chosen) ? isnan(figures->validation) ||
                                score_better(record->score, at->validation, figures->validation)
                          : (double)at->epoch == chosen) {
            figures->best_epoch = isnan(at->validation) ? 0 : at->epoch;
            figures->validation = at->validation;
            figures->test = at->test;
        }
    }
}

RunFigures record_figures(const RunRecord *record) {
    RecordedEpoch sum = {0};
    for (int64_t i = 0; i < record->epochs; i++)
        record_add(&sum, &record->epoch[i], 1);
    RunFigures figures = {.validation = NAN,
                          .test = NAN,
                          .last_validation = NAN,
                          .last_test = NAN,
                          .seconds = record_median_seconds(record->epoch, record->epochs),
                          .bytes = NAN,
                          .gradient_bytes = sum.reduce_bytes / (double)record->epochs,
                          .gradient_memory = sum.gradient_memory / (double)record->epochs,
                          .age = clock_age(record_text(record, "ended"))};
    read_scores(&figures, record);
    if (record->epochs > 0)
        figures.bytes = record->epoch[record->epochs - 1].bytes;
    if (record->state == RECORD_RUNNING || isnan(figures.age))
        figures.age = since_written(record);
    return figures;
}
