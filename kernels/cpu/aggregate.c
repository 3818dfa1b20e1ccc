// The sparse aggregate: whole rows or repacked column panels, blocks of rows over threads.
//
// Without locality the aggregate is bound by fetching rows of the table x at random. If the table
// is much larger than the cache it can pay to copy one group of columns after the other into a
// compact panel [sources][width] first: the panel then fits where the table does not (LIMITS 2: up
// to twice as fast on one machine, a loss on another). So aggregate_tune measures the
// widths on the real Csr. A column adds its edges in the same order whatever the panel, so the
// width is free: each call takes the cheapest for its number of rows, as copying costs the same for
// few rows as for many. All panels use the same memory, which so stays in the cache.
//
// A panel of floats holds right * x, so that edges need not multiply; one of bf16 holds x, because
// the product would have to be rounded.
#include "aggregate.h"
#include "cpu.h"

enum { WHOLE = 0, AUTO = -1, TUNED = 32, BLOCK = 64 };

static const struct PanelWidth {
    const char *name, *says;
    int64_t columns; // WHOLE: no panels
} panel_widths[] = {{"rows", "whole rows", WHOLE},
                    {"128", "panels of 128", 128},
                    {"64", "panels of 64", 64},
                    {"32", "panels of 32", 32},
                    {"16", "panels of 16", 16}};
enum { WIDTHS = sizeof panel_widths / sizeof *panel_widths };

// What aggregate_tune found for rows of one kind: seconds for the copies and for all rows.
typedef struct Tuned {
    int64_t stride;
    RowsType type;
    double copy[WIDTHS], rows[WIDTHS]; // rows < 0: not a choice
} Tuned;

struct Aggregate {
    const Csr *csr;   // borrowed
    int64_t sources;  // rows of x, at most
    int64_t stride;   // of its widest rows
    int forced;       // index of a width, or AUTO
    void *panel;      // [sources]; NULL where none is ever used
    size_t panel_row; // bytes of a source in it, at most
    Tuned tuned[TUNED];
    int tuned_count;

    const float *weight; // NULL: the Csr's
    CpuRows x;           // of the last prepare; borrowed
    const float *right;
};

static int width_parse(const char *panels) {
    for (int i = 0; i < WIDTHS; i++)
        if (strcmp(panels, panel_widths[i].name) == 0)
            return i;
    assert(strcmp(panels, "auto") == 0);
    return AUTO;
}

static size_t width_bytes(int index, RowsType type) {
    return (size_t)panel_widths[index].columns * rows_number(type);
}

// A panel as wide as the row would be a copy of the table.
static bool width_is_useful(int index, int64_t stride) {
    return panel_widths[index].columns < stride;
}

// Bytes of a source in the widest panel for rows of up to `stride` numbers.
static size_t widest_panel(int64_t stride, RowsType type, const char *panels) {
    size_t widest = 0;
    int forced = width_parse(panels);
    for (int i = 0; i < WIDTHS; i++)
        if ((forced == AUTO || forced == i) && width_is_useful(i, stride) &&
            width_bytes(i, type) > widest)
            widest = width_bytes(i, type);
    return widest;
}

size_t cpu_aggregate_bytes(const Csr *csr, int64_t sources, int64_t columns, RowsType rows,
                           const char *panels) {
    (void)csr; // it is lent
    return sizeof(Aggregate) + (size_t)sources * widest_panel(rows_stride(columns), rows, panels);
}

Aggregate *cpu_aggregate_new(const Csr *csr, int64_t sources, int64_t columns, RowsType rows,
                             const char *panels) {
    Aggregate *aggregate = ALLOC(Aggregate, 1, "sparse aggregate");
    aggregate->csr = csr;
    aggregate->sources = sources;
    aggregate->stride = rows_stride(columns);
    aggregate->forced = width_parse(panels);
    aggregate->panel_row = widest_panel(aggregate->stride, rows, panels);
    size_t bytes = (size_t)sources * aggregate->panel_row;
    if (bytes > 0)
        aggregate->panel = memory_alloc(bytes, "column panel of the sparse aggregate");
    return aggregate;
}

void cpu_aggregate_free(Aggregate *aggregate) {
    if (aggregate == NULL)
        return;
    MEMORY_FREE(aggregate->panel, aggregate);
}

// Whether rows of that kind can take the width.
static bool width_is_choice(const Aggregate *aggregate, int index, int64_t stride, RowsType type) {
    return width_is_useful(index, stride) && width_bytes(index, type) <= aggregate->panel_row;
}

// NULL: rows of that kind were not measured.
static const Tuned *find_tuned(const Aggregate *aggregate, int64_t stride, RowsType type) {
    for (int i = 0; i < aggregate->tuned_count; i++)
        if (aggregate->tuned[i].stride == stride && aggregate->tuned[i].type == type)
            return &aggregate->tuned[i];
    return NULL;
}

// The width that is fastest for `rows` rows of that kind: forced, tuned, or whole rows.
static int width_for(const Aggregate *aggregate, int64_t stride, RowsType type, int64_t rows) {
    if (aggregate->forced != AUTO)
        return width_is_choice(aggregate, aggregate->forced, stride, type) ? aggregate->forced : 0;
    const Tuned *tuned = find_tuned(aggregate, stride, type);
    if (tuned == NULL)
        return 0;
    const double share = (double)rows / (double)aggregate->csr->rows;
    int fastest = 0;
    for (int i = 1; i < WIDTHS; i++)
        if (tuned->rows[i] >= 0 && tuned->copy[i] + share * tuned->rows[i] <
                                       tuned->copy[fastest] + share * tuned->rows[fastest])
            fastest = i;
    return fastest;
}

const char *cpu_aggregate_describe(const Aggregate *aggregate, int64_t columns, RowsType type) {
    int64_t rows = aggregate->csr->rows;
    return panel_widths[width_for(aggregate, rows_stride(columns), type, rows)].says;
}

void cpu_aggregate_prepare(Aggregate *aggregate, Rows x, const DeviceFloat *right,
                           const Poll *poll) {
    assert(x.count <= aggregate->sources && x.stride <= aggregate->stride);
    aggregate->x = cpu_rows_of_any(x);
    aggregate->right = floats_of(right);
    poll_call(poll);
}

void cpu_aggregate_weights(Aggregate *aggregate, const DeviceFloat *weight) {
    aggregate->weight = floats_of(weight);
}

// Rows per piece of work: blocks of 64, smaller where the range would not feed the threads.
static int64_t block_rows(int64_t rows) {
    return least(rows / (8 * (int64_t)omp_get_max_threads()) + 1, BLOCK);
}

// In a parallel region: blocks of range, handed out one by one. Threads do not wait at the end.
static void blocks_run(const AggregateTask *task, Range range, Pace *pace) {
    AggregateBlock *run = ROWS_PICK(aggregate_block, task->x.type);
    const int64_t rows = block_rows(range.end - range.begin);
#pragma omp for schedule(dynamic, 1) nowait
    for (int64_t r = range.begin; r < range.end; r += rows) {
        run(task, r, least(r + rows, range.end));
        pace_call(pace);
    }
}

// In a parallel region: panel = columns at .. at + width of x, floats times right.
static void panel_copy(const Aggregate *aggregate, int64_t at, int64_t width, Pace *pace) {
    AggregateCopy *copy = ROWS_PICK(aggregate_copy, aggregate->x.type);
    const int64_t rows = 1024, count = aggregate->x.count;
#pragma omp for schedule(dynamic, 1)
    for (int64_t r = 0; r < count; r += rows) {
        copy(aggregate->panel, width, numbers_on(aggregate->x.at, at, aggregate->x.type),
             aggregate->x.stride, aggregate->right, r, least(r + rows, count));
        pace_call(pace);
    }
}

// `whole` seen through its columns at .. at + width, read from their panel.
static AggregateTask panel_task(const Aggregate *aggregate, AggregateTask whole, int64_t at,
                                int64_t width) {
    whole.out.at = numbers_on(whole.out.at, at, whole.out.type);
    whole.x.at = aggregate->panel;
    whole.x.stride = width;
    whole.columns = width;
    whole.right = whole.x.type == ROWS_FP32 ? NULL : whole.right; // floats are multiplied
    whole.ahead = aggregate_ahead(width);
    return whole;
}

// In a parallel region: range of the task, panel by panel.
static void panels_run(const Aggregate *aggregate, const AggregateTask *whole, Range range,
                       int64_t columns, Pace *pace) {
    for (int64_t at = 0; at < whole->columns; at += columns) {
        int64_t width = least(whole->columns - at, columns);
        panel_copy(aggregate, at, width, pace);
        AggregateTask task = panel_task(aggregate, *whole, at, width);
        blocks_run(&task, range, pace);
#pragma omp barrier // the next panel takes the place of this one
    }
}

static AggregateTask whole_task(const Aggregate *aggregate, CpuRows out, bool self,
                                const float *left) {
    const Csr *csr = aggregate->csr;
    return (AggregateTask){.out = out,
                           .x = aggregate->x,
                           .columns = out.stride,
                           .begin = csr->offset,
                           .end = csr->offset + 1,
                           .column = csr->column,
                           .weight = aggregate->weight != NULL ? aggregate->weight : csr->weight,
                           .left = left,
                           .right = aggregate->right,
                           .self = self,
                           .ahead = aggregate_ahead(out.stride)};
}

void cpu_aggregate_rows(Aggregate *aggregate, Rows out, Range range, bool self,
                        const DeviceFloat *left, const Poll *poll) {
    assert(out.stride == aggregate->x.stride);
    assert(range.begin >= 0 && range.end <= aggregate->csr->rows);
    if (range.begin >= range.end)
        return;
    const AggregateTask task = whole_task(aggregate, cpu_rows_of_any(out), self, floats_of(left));
    const int width = width_for(aggregate, out.stride, aggregate->x.type, range.end - range.begin);
#pragma omp parallel
    {
        Pace pace = pace_start(poll);
        if (panel_widths[width].columns == WHOLE)
            blocks_run(&task, range, &pace);
        else
            panels_run(aggregate, &task, range, panel_widths[width].columns, &pace);
    }
}

void cpu_aggregate_sums(Aggregate *aggregate, Rows sums, Range range, bool self, const Poll *poll) {
    assert(sums.type == ROWS_FP32 && sums.count >= range.end - range.begin);
    sums.at = flat_at(sums.at, -range.begin * sums.stride);
    cpu_aggregate_rows(aggregate, sums, range, self, NULL, poll);
}

// ---- choosing the panel width

enum { SAMPLE_EDGES = 1 << 20, SAMPLE_PIECES = 32, ROUNDS = 3, SMALL_BYTES = 4 << 20 };
static const double tune_seconds = 0.25; // no new round after that

// Memory that was never written may be one shared page of zeros, and then all of it is cached.
static void pages_touch(Rows rows) {
    const int64_t bytes = (int64_t)rows_size(rows);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < bytes; i += 4096)
        *(volatile float *)(bytes_of((DeviceByte *)rows.at) + i) = 0;
}

// Pieces of consecutive rows from all over the Csr, so that what locality there is shows; about
// `wanted` edges. Returns their number and, in *scale, how many times their edges the whole has.
static int sample_choose(const Csr *csr, double wanted, Range piece[SAMPLE_PIECES], double *scale) {
    const int64_t edges = csr->offset[csr->rows];
    double share = (double)edges > wanted ? wanted / (double)edges : 1;
    int64_t length = (int64_t)(share * (double)csr->rows / SAMPLE_PIECES) + 1;
    int64_t chosen = 0;
    int count = 0;
    for (int64_t p = 0; p < SAMPLE_PIECES; p++) {
        int64_t begin = csr->rows * p / SAMPLE_PIECES, next = csr->rows * (p + 1) / SAMPLE_PIECES;
        int64_t end = least(begin + length, next);
        if (begin == end)
            continue;
        piece[count++] = (Range){begin, end};
        chosen += csr->offset[end] - csr->offset[begin];
    }
    *scale = chosen > 0 ? (double)edges / (double)chosen : 1;
    return count;
}

// Seconds for one copy and for the sample from that panel (or, WHOLE, from x).
static void width_measure(const Aggregate *aggregate, CpuRows out, int64_t columns,
                          const Range *piece, int pieces, double *copy, double *rows) {
    const AggregateTask whole = whole_task(aggregate, out, false, NULL);
    double begin = clock_seconds(), copied = begin;
#pragma omp parallel
    {
        Pace pace = pace_start(NULL);
        if (columns != WHOLE)
            panel_copy(aggregate, 0, columns, &pace);
#pragma omp master
        copied = clock_seconds();
        AggregateTask task = columns == WHOLE ? whole : panel_task(aggregate, whole, 0, columns);
        for (int p = 0; p < pieces; p++)
            blocks_run(&task, piece[p], &pace);
    }
    *copy = copied - begin;
    *rows = clock_seconds() - copied;
}

// Fills *tuned, of which the stride is set: the best of some rounds; one panel stands for all. A
// narrow panel takes as many more edges as it is narrower: the same work, and each of its rows is
// read about as often as it would be, not only for the first time.
static void widths_measure(const Aggregate *aggregate, CpuRows out, Tuned *tuned) {
    for (int i = 0; i < WIDTHS; i++)
        tuned->copy[i] = tuned->rows[i] = -1;
    const double end = clock_seconds() + tune_seconds;
    for (int round = 0; round < ROUNDS && (round < 1 || clock_seconds() < end); round++)
        for (int i = 0; i < WIDTHS; i++) {
            if (!width_is_choice(aggregate, i, tuned->stride, tuned->type))
                continue;
            const int64_t columns = panel_widths[i].columns;
            double panels = columns == WHOLE ? 1 : (double)tuned->stride / (double)columns;
            Range piece[SAMPLE_PIECES];
            double copy, rows, scale;
            int pieces = sample_choose(aggregate->csr, panels * SAMPLE_EDGES, piece, &scale);
            width_measure(aggregate, out, columns, piece, pieces, &copy, &rows);
            copy *= panels;
            rows *= panels * scale;
            if (round == 0 || copy + rows < tuned->copy[i] + tuned->rows[i]) {
                tuned->copy[i] = copy;
                tuned->rows[i] = rows;
            }
        }
}

void cpu_aggregate_tune(Aggregate *aggregate, Rows out, Rows x) {
    assert(out.stride == x.stride && x.count >= aggregate->sources);
    if (find_tuned(aggregate, x.stride, x.type) != NULL)
        return;
    // a table that fits the cache of a core has nothing to gain
    bool is_small = (size_t)(aggregate->sources * x.stride) * rows_number(x.type) < SMALL_BYTES;
    if (aggregate->forced != AUTO || aggregate->panel == NULL || is_small ||
        aggregate->csr->rows == 0 || aggregate->tuned_count == TUNED)
        return;
    pages_touch(x);
    pages_touch(out);
    x.count = aggregate->sources;
    cpu_aggregate_prepare(aggregate, x, NULL, NULL);
    Tuned *tuned = aggregate->tuned + aggregate->tuned_count;
    tuned->stride = x.stride;
    tuned->type = x.type;
    widths_measure(aggregate, cpu_rows_of_any(out), tuned);
    aggregate->tuned_count++;
}
