// Rows of different lengths, a run of equally long ones at a time: the operations of a backend move
// rows of one number of columns.

#include "internal.h"

static int64_t length_of(const MessageLayout *layout, int64_t place) {
    return layout->length == NULL ? layout->columns : layout->length[place];
}

bool run_next(Run *run, const MessageLayout *layout) {
    int64_t end = run->begin += run->count;
    run->count = 0;
    if (run->begin == layout->rows)
        return false;
    run->columns = length_of(layout, run->begin);
    assert(run->columns > 0 && run->columns <= layout->columns);
    while (end < layout->rows && length_of(layout, end) == run->columns)
        end++;
    run->count = end - run->begin;
    return true;
}

MessageSource run_source(const MessageSource *source, Run run) {
    MessageSource some = *source;
    some.x = rows_columns(source->x, (Range){0, run.columns});
    return some;
}

Rows run_rows(const Backend *backend, Rows out, int64_t begin, Run run) {
    if (run.columns < out.columns)
        for (int64_t i = 0; i < run.count; i++)
            backend->message_zero(flat_at(out.at, (begin + run.begin + i) * out.stride),
                                  rows_bytes(1, out.columns));
    return rows_columns(out, (Range){0, run.columns});
}
