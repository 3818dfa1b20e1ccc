// Classes by scores: the array, and how many of the nodes that the start did not know are right.
#include "internal.h"

// Scores within this part of the best are as good as it.
static const double nearly = 1e-4;

typedef struct Counts { // over own nodes, then over all
    int64_t asked, reached, right, right_test, test, near;
} Counts;
enum { COUNTS = sizeof(Counts) / sizeof(int64_t) };

static bool any(const float *row, int64_t columns) {
    for (int64_t c = 0; c < columns; c++)
        if (row[c] != 0)
            return true;
    return false;
}

static int64_t best_of(const float *row, int64_t columns) {
    int64_t best = 0;
    for (int64_t c = 1; c < columns; c++)
        best = row[c] > row[best] ? c : best;
    return best;
}

static bool is_near_tie(const float *row, int64_t columns, int64_t best) {
    int close = 0;
    for (int64_t c = 0; c < columns; c++)
        close += (double)(row[best] - row[c]) <= nearly * fabs((double)row[best]);
    return close > 1;
}

static Counts count(const ProgramParts *parts, const float *scores, int64_t columns,
                    const uint8_t *reached) {
    const Shard *shard = parts->shard;
    Counts counts = {0};
    for (int64_t i = shard->set[NODES].reach[0]; i < shard->set[NODES].own; i++) {
        const float *row = scores + i * columns;
        if (shard->label[i] < 0)
            continue;
        counts.asked++;
        counts.test += shard->split[i] == SPLIT_TEST;
        if (reached != NULL ? reached[i] == 0 : !any(row, columns))
            continue;
        int64_t best = best_of(row, columns);
        bool right = best == shard->label[i];
        counts.reached++;
        counts.right += right;
        counts.right_test += right && shard->split[i] == SPLIT_TEST;
        counts.near += is_near_tie(row, columns, best);
    }
    return counts;
}

static double share(int64_t part, int64_t whole) {
    return whole > 0 ? (double)part / (double)whole : NAN;
}

void report_reached(ProgramRun *run, int64_t asked, int64_t reached, int64_t right) {
    program_count(run, "nodes asked for", asked);
    program_figure(run, "share reached", share(reached, asked));
    program_figure(run, "accuracy of those reached", share(right, reached));
    program_figure(run, "accuracy", share(right, asked));
}

void scores_report(ProgramRun *run, Rows rows, const uint8_t *reached) {
    const ProgramParts *parts = run->parts;
    const Shard *shard = parts->shard;
    float *scores = ALLOC(float, rows.count *rows.columns, "scores");
    parts->backend->download_rows(scores, rows);
    parts->backend->finish(NULL);
    program_array(run, (ProgramArray){"scores.npy", "<f4", sizeof(float), rows.columns, 0, scores});
    if (comm_max_double(parts->comm, shard->label != NULL) == 0 || shard->multilabel ||
        shard->classes != rows.columns)
        return;
    Counts counts = count(parts, scores, rows.columns, reached);
    comm_sum_int64(parts->comm, (int64_t *)&counts, COUNTS);
    report_reached(run, counts.asked, counts.reached, counts.right);
    program_figure(run, "accuracy of the test nodes", share(counts.right_test, counts.test));
    program_count(run, "near ties", counts.near);
}
