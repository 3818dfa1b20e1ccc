// Accuracy and F1 from logits. Counts are integers, so they add up in any order; the loss comes
// from the backend. A row without a label (-1) counts nowhere.
#include "internal.h"
#include <math.h>
#include <string.h>

enum { TRUE_POSITIVE, FALSE_POSITIVE, FALSE_NEGATIVE };

// The first of the largest logits; -1 where one is not a number: such a row says no class.
static int64_t said_class(const float *logit, int64_t classes) {
    int64_t best = 0;
    for (int64_t c = 0; c < classes; c++) {
        if (isnan(logit[c]))
            return -1;
        if (logit[c] > logit[best])
            best = c;
    }
    return best;
}

static void count_single(const Model *m, int64_t r, const float *logit, int64_t *count) {
    int64_t classes = m->shape.width[m->shape.layers], label = m->parts.shard->label[r];
    if (label < 0)
        return;
    int64_t said = said_class(logit, classes);
    count[0]++;
    count[1] += said == label;
    if (said == label) {
        count[2 + TRUE_POSITIVE * classes + label]++;
    } else {
        count[2 + FALSE_NEGATIVE * classes + label]++;
        if (said >= 0)
            count[2 + FALSE_POSITIVE * classes + said]++;
    }
}

static void count_multi(const Model *m, int64_t r, const float *logit, int64_t *count) {
    int64_t classes = m->shape.width[m->shape.layers];
    const uint8_t *label = m->parts.shard->labels + r * classes;
    bool all = true;
    for (int64_t c = 0; c < classes; c++) {
        bool said = logit[c] > 0, is = label[c] != 0;
        all &= said == is;
        if (said && is)
            count[2 + TRUE_POSITIVE * classes + c]++;
        else if (said)
            count[2 + FALSE_POSITIVE * classes + c]++;
        else if (is)
            count[2 + FALSE_NEGATIVE * classes + c]++;
    }
    count[0]++;
    count[1] += all;
}

static double f1(int64_t tp, int64_t fp, int64_t fn) {
    return 2 * tp + fp + fn == 0 ? 0 : 2.0 * (double)tp / (double)(2 * tp + fp + fn);
}

// Macro-F1 is the mean over classes that occur (in labels or predictions), as scikit-learn has it.
static void finish(Metrics *out, const int64_t *count, int64_t classes, double loss) {
    const int64_t *tp = count + 2, *fp = tp + classes, *fn = fp + classes;
    int64_t sum[3] = {0, 0, 0}, present = 0;
    double macro = 0;
    for (int64_t c = 0; c < classes; c++) {
        sum[0] += tp[c], sum[1] += fp[c], sum[2] += fn[c];
        if (tp[c] + fp[c] + fn[c] > 0) {
            present++;
            macro += f1(tp[c], fp[c], fn[c]);
        }
    }
    double rows = count[0] > 0 ? (double)count[0] : 1;
    *out = (Metrics){.loss = loss / rows,
                     .accuracy = (double)count[1] / rows,
                     .rows = count[0],
                     .micro_f1 = f1(sum[0], sum[1], sum[2]),
                     .macro_f1 = present > 0 ? macro / (double)present : 0};
}

void model_metrics(Model *m, Rows logits, Metrics out[4]) {
    const Shard *shard = m->parts.shard;
    int64_t classes = m->shape.width[m->shape.layers], each = metric_counts(classes);
    memset(m->counts, 0, (size_t)(4 * each) * sizeof(int64_t));
    double loss[4] = {0, 0, 0, 0};
    for (uint8_t which = SPLIT_TRAIN; which <= SPLIT_TEST; which++)
        loss[which] = loss_of(m, (Rows){0}, logits, which, 1.0f);
    for (int64_t r = 0; r < shard->set[NODES].own; r++) {
        int64_t *count = m->counts + shard->split[r] * each;
        (shard->multilabel ? count_multi : count_single)(m, r, logits.at + r * logits.stride,
                                                         count);
    }
    comm_sum_int64(m->parts.comm, m->counts, (int)(4 * each));
    comm_sum_double(m->parts.comm, loss, 4);
    for (int which = 0; which < 4; which++)
        finish(&out[which], m->counts + which * each, classes, loss[which]);
}
