// The few numbers by which a list of runs shows one.

#include "fringe/records.h"

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

RecordedEpoch record_sum(const RecordedEpoch *epoch, int64_t count, double share) {
    RecordedEpoch sum = {0};
    for (int64_t i = 0; i < count; i++)
        record_add(&sum, &epoch[i], share);
    return sum;
}

double record_median_seconds(const RecordedEpoch *epoch, int64_t count) {
    if (count == 0)
        return NAN;
    FREED double *seconds = ALLOC(double, count, "seconds of epochs");
    for (int64_t e = 0; e < count; e++)
        seconds[e] = epoch[e].seconds;
    return sort_median(seconds, count);
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

int64_t record_last_scored(const RunRecord *record) {
    int64_t at = record->epochs - 1;
    while (at >= 0 && isnan(record->epoch[at].validation) && isnan(record->epoch[at].test))
        at--;
    return at;
}

int64_t record_best(const RunRecord *record) {
    double chosen = record_number(record, "result.best_epoch"); // by train.metric
    int64_t best = -1;
    for (int64_t i = 0; i < record->epochs; i++) {
        if ((double)record->epoch[i].epoch == chosen)
            return i;
        if (score_better(record->score, record->epoch[i].validation,
                         best < 0 ? NAN : record->epoch[best].validation))
            best = i;
    }
    return best;
}

// A line may have been evaluated without validation nodes: then the last one counts.
static void read_scores(RunFigures *figures, const RunRecord *record) {
    int64_t last = record_last_scored(record), best = record_best(record);
    if (last < 0)
        return;
    const RecordedEpoch *shown = &record->epoch[best < 0 ? last : best];
    figures->last_validation = record->epoch[last].validation;
    figures->last_test = record->epoch[last].test;
    figures->best_epoch = best < 0 ? 0 : shown->epoch;
    figures->validation = shown->validation;
    figures->test = shown->test;
}

RunFigures record_figures(const RunRecord *record) {
    RecordedEpoch sum = record_sum(record->epoch, record->epochs, 1);
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
