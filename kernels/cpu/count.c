// What metrics count: rows by what their logits say and what their labels are. Counts are integers,
// so the order in which they are added does not show.
#include "cpu.h"

// The counts of one split (backend.h).
typedef struct Counts {
    int64_t *rows, *right, *true_positive, *false_positive, *false_negative;
} Counts;

static Counts counts_of(int64_t *count, uint8_t split, int64_t classes) {
    int64_t *at = count + split * split_counts(classes), *by_class = at + 2;
    return (Counts){at, at + 1, by_class, by_class + classes, by_class + 2 * classes};
}

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

static void count_class(Counts *to, const float *logit, int32_t label, int64_t classes) {
    if (label < 0)
        return;
    int64_t said = said_class(logit, classes);
    ++*to->rows;
    if (said == label) {
        ++*to->right;
        to->true_positive[label]++;
        return;
    }
    to->false_negative[label]++;
    if (said >= 0)
        to->false_positive[said]++;
}

static void count_classes(Counts *to, const float *logit, const uint8_t *label, int64_t classes) {
    bool all = true;
    for (int64_t c = 0; c < classes; c++) {
        bool said = logit[c] > 0, is = label[c] != 0;
        all &= said == is;
        if (said && is)
            to->true_positive[c]++;
        else if (said)
            to->false_positive[c]++;
        else if (is)
            to->false_negative[c]++;
    }
    ++*to->rows;
    *to->right += all;
}

void cpu_count_right(DeviceInt64 *count, Rows logits, Labels on) {
    CpuRows rows = cpu_rows(logits);
    for (int64_t r = 0; r < rows.count; r++) {
        Counts to = counts_of(int64s_of(count), bytes_of(on.split)[r], rows.columns);
        const float *logit = rows.at + r * rows.stride;
        if (on.label != NULL)
            count_class(&to, logit, int32s_of(on.label)[r], rows.columns);
        else
            count_classes(&to, logit, bytes_of(on.labels) + r * rows.columns, rows.columns);
    }
}
