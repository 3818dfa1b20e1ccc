// Accuracy and F1 from logits. The backend counts and computes the loss; counts are integers, so
// the order in which ranks add them does not matter.
#include "internal.h"

#include <string.h>

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
    const Loss *of = m->shape.loss;
    const Backend *b = m->parts.backend;
    assert(logits.count == own_rows(m, 0));
    int64_t classes = m->shape.width[m->shape.layers], each = split_counts(classes);
    LossInput in = loss_input(m, logits);
    memset(out, 0, 4 * sizeof *out);
    if (of->count == NULL)
        return;
    b->zero(m->device_counts, counts_bytes(m));
    b->zero(m->device_loss, SPLITS * sizeof(double));
    for (uint8_t which = SPLIT_TRAIN; which <= SPLIT_TEST; which++)
        of->make(&in, double_window(m->device_loss, which), (Rows){0}, which, 1.0f);
    of->count(&in, m->device_counts);
    download_results(m);
    b->event_wait(m->results, NULL);
    comm_sum_int64(m->parts.comm, m->counts, (int)(4 * each));
    comm_sum_double(m->parts.comm, m->loss, SPLITS);
    for (int which = 0; which < 4; which++)
        finish(&out[which], m->counts + which * each, classes, m->loss[which]);
}
