// Rows of the tables of an ogb set: numbers between commas (ogb.h).

#include "ogb.h"

#include <ctype.h>

bool ogb_take_rows(void *context, TextBlock *block, Error *err) {
    const OgbTable *t = context;
    Scan *scan = &block->scan;
    for (int64_t row = block->first; scan->at < scan->end; row++, scan_next_line(scan)) {
        bool empty = scan_at_line_end(scan);
        if (row >= t->rows && empty)
            continue;
        if (row >= t->rows)
            return scan_error(scan, err, "there are more than the %ld rows of %s", t->rows,
                              t->counted_by);
        if (empty && !t->may_be_empty)
            return scan_error(scan, err, "the line is empty");
        if (!t->read(t->context, row, scan, err))
            return false;
        if (!scan_at_line_end(scan))
            return scan_error(scan, err, "there are more columns than in other lines");
    }
    return true;
}

bool ogb_count(void *context, UNUSED int64_t row, Scan *scan, Error *err) {
    return scan_int64(scan, context, "a number", err);
}

bool ogb_edge(void *context, int64_t row, Scan *scan, Error *err) {
    OgbEdges *t = context;
    int64_t end[2];
    for (int k = 0; k < 2; k++) {
        if (!scan_int64(scan, &end[k], k == 0 ? "a source node" : "a target node", err))
            return false;
        if (end[k] < 0 || end[k] >= t->nodes)
            return scan_error(scan, err, "node %ld is not one of 0 to %ld", end[k], t->nodes - 1);
        scan_skip_comma(scan);
    }
    t->ends.source[row] = (int32_t)end[0];
    t->ends.target[row] = (int32_t)end[1];
    return true;
}

bool ogb_features(void *context, int64_t row, Scan *scan, Error *err) {
    const Dataset *d = context;
    float *x = d->x + row * d->features;
    for (int64_t k = 0; k < d->features; k++) {
        if (!scan_float(scan, &x[k], "a feature", err))
            return false;
        scan_skip_comma(scan);
    }
    return true;
}

static bool scan_nan(Scan *scan) {
    bool is = !scan_at_line_end(scan) && strncasecmp(scan->at, "nan", 3) == 0 &&
              !isalnum((unsigned char)scan->at[3]);
    scan->at += is ? 3 : 0;
    return is;
}

// A whole number, maybe written as 3.0; -1 for none.
static bool scan_label(Scan *scan, int64_t *label, Error *err) {
    float value;
    *label = -1;
    if (scan_at_line_end(scan) || scan_nan(scan))
        return true;
    if (!scan_float(scan, &value, "a label", err))
        return false;
    bool fits = value >= -1 && value < DATASET_MAX_CLASSES;
    *label = fits ? (int64_t)value : -1;
    return (fits && (float)*label == value) ||
           scan_error(scan, err, "label %g is not a class: a whole number from 0, or nan for none",
                      (double)value);
}

bool ogb_class(void *context, int64_t row, Scan *scan, Error *err) {
    const Dataset *d = context;
    int64_t label;
    if (!scan_label(scan, &label, err))
        return false;
    d->label[row] = (int32_t)label;
    return true;
}

bool ogb_classes(void *context, int64_t row, Scan *scan, Error *err) {
    const Dataset *d = context;
    for (int64_t k = 0; k < d->classes; k++) {
        int64_t bit;
        if (!scan_label(scan, &bit, err))
            return false;
        if (bit != 0 && bit != 1)
            return scan_error(scan, err, "label %ld of the line is neither 0 nor 1", k + 1);
        d->labels[row * d->classes + k] = (uint8_t)bit;
        scan_skip_comma(scan);
    }
    return true;
}
