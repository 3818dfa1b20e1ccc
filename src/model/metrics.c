// Evaluates logits: all scores of the loss, of every split. The backend counts and computes the
// loss; counts are integers, so the order in which ranks add them does not matter.
#include "errors.h"

static void measure(Metrics *out, const Model *m, Rows logits, int split) {
    int64_t classes = classes_of(m);
    const int64_t *count = m->counts + split * split_counts(classes);
    Evaluated e = {.model = m,
                   .logits = logits,
                   .split = split,
                   .rows = count[0],
                   .classes = classes,
                   .right = count[1],
                   .tp = count + 2,
                   .fp = count + 2 + classes,
                   .fn = count + 2 + 2 * classes,
                   .loss = m->loss[split]};
    out->rows = e.rows;
    for (int i = 0; i < out->count; i++)
        out->score[i].value = score_row(out->score[i].of)->measure(&e);
}

void model_measure_all(Model *m) { m->measures_all = true; }

void model_metrics(Model *m, Rows logits, Metrics out[4]) {
    const Loss *loss = m->shape.loss;
    const Backend *b = m->parts.backend;
    assert(logits.count == own_rows(m, 0));
    for (int split = 0; split < SPLITS; split++)
        metrics_list(&out[split], loss, m->shape.named, m->measures_all);
    if (loss->labels == 0)
        return;
    b->zero(m->device_counts, counts_bytes(m));
    b->zero(m->device_loss, SPLITS * sizeof(double));
    for (uint8_t which = SPLIT_TRAIN; which <= SPLIT_TEST; which++)
        b->loss(double_at(m->device_loss, which), (Rows){0}, logits, m->on.labels, which, 1.0f,
                NULL, LOSS_PLAIN(loss->kind));
    if (m->errors == NULL)
        b->count_right(m->device_counts, logits, m->on.labels);
    download_results(m);
    b->event_wait(m->results, NULL);
    if (m->errors != NULL)
        measure_errors(m, logits);
    comm_sum_int64(m->parts.comm, m->counts, (int)(counts_bytes(m) / sizeof(int64_t)));
    comm_sum_double(m->parts.comm, m->loss, SPLITS);
    for (int split = 0; split < SPLITS; split++)
        measure(&out[split], m, logits, split);
}
