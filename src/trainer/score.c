// Which number validation is judged by: a table. auto is accuracy for one label a row, micro-F1 for
// several.
#include "internal.h"
#include <string.h>

static double accuracy(const Metrics *m) { return m->accuracy; }
static double micro_f1(const Metrics *m) { return m->micro_f1; }
static double macro_f1(const Metrics *m) { return m->macro_f1; }

typedef struct Metric {
    const char *name;
    double (*of)(const Metrics *metrics);
} Metric;

static const Metric metrics_known[] = {
    {"accuracy", accuracy}, {"micro-f1", micro_f1}, {"macro-f1", macro_f1}};
const Family metric_family = FAMILY("train.metric", "auto", metrics_known);

double metric_score(const Config *config, bool multilabel, const Metrics *metrics) {
    const char *name = config->train.metric;
    if (strcmp(name, metric_family.automatic) == 0)
        name = multilabel ? "micro-f1" : "accuracy";
    const Metric *metric = family_find(&metric_family, name, NULL, &(Error){0});
    return metric->of(metrics);
}
