// Buckets: the rows that coding sees. No bucket holds floats of two parameters, whose scales
// differ.

#include "internal.h"

GradSpan form_span(const GradForm *form, int i) {
    return form->span_count > 0 ? form->spans[i] : (GradSpan){.rows = 1, .columns = form->count};
}

int form_spans(const GradForm *form) { return form->span_count > 0 ? form->span_count : 1; }

static int64_t buckets_of(GradSpan span, int64_t bucket) {
    return (span.rows * span.columns + bucket - 1) / bucket;
}

int64_t bucket_count(const GradForm *form) {
    int64_t count = 0;
    for (int i = 0; i < form_spans(form); i++)
        count += buckets_of(form_span(form, i), form->bucket);
    return count;
}

void buckets_fill(int64_t *bucket, const GradForm *form) {
    for (int i = 0; i < form_spans(form); i++) {
        GradSpan span = form_span(form, i);
        for (int64_t b = 0; b < buckets_of(span, form->bucket); b++)
            *bucket++ = span.begin + b * form->bucket;
    }
    *bucket = form->count;
}

void bucket_lengths(int32_t *length, const Cut *cut) {
    for (int64_t b = 0; b < cut->units; b++)
        length[b] = (int32_t)(cut->bucket[b + 1] - cut->bucket[b]);
}
