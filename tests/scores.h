// Scores by their names.
#pragma once

#include "fringe/model.h"

static inline double *score_at(Metrics *metrics, const char *key) {
    for (int i = 0; i < metrics->count; i++)
        if (score_row(metrics->score[i].of) == score_find(key))
            return &metrics->score[i].value;
    CHECK(false, EXIT_BUG, "there is no score %s", key);
    return NULL;
}

static inline double score_in(const Metrics *metrics, const char *key) {
    Metrics copy = *metrics;
    return *score_at(&copy, key);
}

// Of rows with one label each: that score, the others 0.
static inline Metrics metrics_with(int64_t rows, const char *key, double value) {
    Metrics metrics;
    metrics_init(&metrics, loss_of_labels(LABEL_CLASS), score_find(key));
    metrics.rows = rows;
    *score_at(&metrics, key) = value;
    return metrics;
}
