// Which number validation is judged by: a table. auto is accuracy for one label a row, micro-F1 for
// several.
#include "internal.h"
#include <string.h>

static double accuracy(const Metrics *m) { return m->accuracy; }
static double micro_f1(const Metrics *m) { return m->micro_f1; }
static double macro_f1(const Metrics *m) { return m->macro_f1; }

static const struct {
    const char *name;
    double (*of)(const Metrics *metrics);
} metrics_known[] = {{"accuracy", accuracy}, {"micro-f1", micro_f1}, {"macro-f1", macro_f1}};
enum { METRICS = sizeof metrics_known / sizeof *metrics_known };

bool metric_known(const Config *config, Error *err) {
    const char *name = config->train.metric;
    for (int i = 0; i < METRICS; i++)
        if (strcmp(metrics_known[i].name, name) == 0)
            return true;
    return strcmp(name, "auto") == 0 || error_set(err, EXIT_CONFIG,
                                                  "train.metric: '%s' is not a metric; there are "
                                                  "auto, accuracy, micro-f1 and macro-f1",
                                                  name);
}

double metric_score(const Config *config, bool multilabel, const Metrics *metrics) {
    for (int i = 0; i < METRICS; i++)
        if (strcmp(metrics_known[i].name, config->train.metric) == 0)
            return metrics_known[i].of(metrics);
    return multilabel ? metrics->micro_f1 : metrics->accuracy;
}
