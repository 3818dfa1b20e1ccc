// The sparse aggregate over one Csr and over the halo's: what is kept between calls.
//
// The one idea: a call names a range of rows, and its kernels are told apart by the length of rows
// alone (short ones by groups of lanes, long ones by whole blocks), which is known when the Csr is
// copied. How many columns a group takes at once is measured where x is larger than the second
// cache: it depends on the order of the rows. None of this shows in the bits.
#include "aggregate.h"

#include <algorithm>

// A host array on the device; complete on return.
template <typename Number>
static Number *device_copy(const Number *host, int64_t count, const char *what) {
    if (host == NULL)
        return NULL;
    const size_t bytes = (size_t)count * sizeof(Number);
    void *device = cuda_alloc(bytes, what);
    cuda_upload(device, host, bytes);
    cuda_finish(NULL);
    return (Number *)device;
}

static DeviceCsr device_csr_new(const Csr *csr) {
    const char *what = "sparse aggregate";
    const int64_t entries = csr_entries(csr);
    return DeviceCsr{csr->rows, entries, device_copy(csr->offset, csr->rows + 1, what),
                     device_copy(csr->column, entries, what),
                     device_copy(csr->weight, entries, what)};
}

static void device_csr_free(DeviceCsr *csr) {
    cuda_free(csr->weight);
    cuda_free(csr->column);
    cuda_free(csr->offset);
}

// ---- which kernel: own, cusparse, or auto: what was faster when aggregates were tuned

static struct {
    const char *forced;               // by cuda_spmm_set
    double own_seconds, spmm_seconds; // of aggregate_tune
} choice;

static bool word_is(const char *word, const char *other) {
    return word != NULL && strcmp(word, other) == 0;
}

static bool spmm_may_be_used(void) {
    return !cuda_is_bf16 && (word_is(cuda_how.spmm, "cusparse") || word_is(cuda_how.spmm, "auto"));
}

const char *cuda_spmm(void) {
    if (choice.forced != NULL)
        return choice.forced;
    if (!cuda_is_bf16 && word_is(cuda_how.spmm, "auto"))
        return choice.spmm_seconds < choice.own_seconds ? "cusparse" : "own";
    return spmm_may_be_used() ? "cusparse" : "own";
}

void cuda_spmm_set(const char *name) {
    choice.forced = strcmp(name, "cusparse") == 0 ? "cusparse" : "own";
}

// ---- own part

struct Aggregate {
    DeviceCsr csr;
    Spmm *spmm;                          // where run.spmm is not own
    int32_t *order;                      // of AggregateTask
    int32_t *long_row, *device_long_row; // ascending; one on the host, one on the device
    int64_t long_rows;
    const float *weight; // NULL: the Csr's; cuSPARSE knows these alone
    int lanes;           // of AggregateTask; 0: not measured
    Rows x;              // of the last prepare; borrowed
    const float *right;
};

static bool uses_spmm(const Aggregate *a) {
    return a->spmm != NULL && a->weight == NULL && word_is(cuda_spmm(), "cusparse");
}

static int64_t count_long(const Csr *csr, int32_t *list) {
    int64_t count = 0;
    for (int64_t r = 0; r < csr->rows; r++)
        if (csr->offset[r + 1] - csr->offset[r] > LONG_ROW) {
            if (list != NULL)
                list[count] = (int32_t)r;
            count++;
        }
    return count;
}

// Every window of rows by falling length, and rows of one length as they are.
static int32_t *order_new(const Csr *csr) {
    const char *what = "order of rows";
    int32_t *host = (int32_t *)cuda_host->memory_alloc((size_t)csr->rows * sizeof(int32_t), what);
    const auto is_before = [csr](int32_t a, int32_t b) {
        const int64_t edges_a = csr->offset[a + 1] - csr->offset[a];
        const int64_t edges_b = csr->offset[b + 1] - csr->offset[b];
        return edges_a != edges_b ? edges_a > edges_b : a < b;
    };
    for (int64_t i = 0; i < csr->rows; i++)
        host[i] = (int32_t)i;
    for (int64_t first = 0; first < csr->rows; first += WINDOW)
        std::sort(host + first, host + least(first + WINDOW, csr->rows), is_before);
    int32_t *order = device_copy(host, csr->rows, what);
    cuda_host->memory_free(host);
    return order;
}

Aggregate *cuda_aggregate_new(const Csr *csr, int64_t sources, int64_t columns, RowsType,
                              const char *) {
    Aggregate *a = (Aggregate *)cuda_host->memory_alloc(sizeof *a, "sparse aggregate");
    a->csr = device_csr_new(csr);
    if (spmm_may_be_used())
        a->spmm = spmm_new(&a->csr, csr->offset, sources, rows_stride(columns));
    a->order = order_new(csr);
    a->long_rows = count_long(csr, NULL);
    size_t bytes = (size_t)a->long_rows * sizeof *a->long_row;
    a->long_row = (int32_t *)cuda_host->memory_alloc(bytes, "long rows");
    count_long(csr, a->long_row);
    a->device_long_row = device_copy(a->long_row, a->long_rows, "long rows");
    return a;
}

// A long row has more than LONG_ROW entries, so there are at most entries / LONG_ROW of them.
size_t cuda_aggregate_bytes(const Csr *csr, int64_t sources, int64_t columns, RowsType,
                            const char *) {
    size_t lists = (size_t)csr->rows + 2 * (size_t)(csr_entries(csr) / LONG_ROW);
    return sizeof(Aggregate) + lists * sizeof(int32_t) +
           (spmm_may_be_used() ? spmm_bytes(csr, sources, rows_stride(columns)) : 0);
}

void cuda_aggregate_free(Aggregate *a) {
    if (a == NULL)
        return;
    spmm_free(a->spmm);
    cuda_free(a->device_long_row);
    cuda_free(a->order);
    cuda_host->memory_free(a->long_row);
    device_csr_free(&a->csr);
    cuda_host->memory_free(a);
}

const char *cuda_aggregate_describe(const Aggregate *a, int64_t, RowsType) {
    return uses_spmm(a) ? "cuSPARSE" : "own kernel";
}

void cuda_aggregate_prepare(Aggregate *a, Rows x, const DeviceFloat *right, const Poll *poll) {
    a->x = x;
    a->right = floats_of(right);
    if (uses_spmm(a)) {
        const DeviceRows floats = device_rows(x);
        spmm_prepare(a->spmm, &floats, a->right);
    }
    poll_call(poll);
}

void cuda_aggregate_weights(Aggregate *a, const DeviceFloat *weight) {
    a->weight = floats_of(weight);
}

void cuda_aggregate_sums(Aggregate *a, Rows sums, Range range, bool self, const Poll *poll) {
    sums.at = (DeviceFloat *)(floats_of(sums.at) - range.begin * sums.stride);
    cuda_aggregate_rows(a, sums, range, self, NULL, poll);
}

void cuda_aggregate_rows(Aggregate *a, Rows out, Range range, bool self, const DeviceFloat *left,
                         const Poll *) {
    AggregateTask task = {};
    task.out = out;
    task.x = a->x;
    task.begin = a->csr.offset;
    task.end = a->csr.offset + 1;
    task.column = a->csr.column;
    task.weight = a->weight != NULL ? a->weight : a->csr.weight;
    task.left = floats_of(left);
    task.right = a->right;
    task.self = self;
    task.order = a->order;
    task.ordered = a->csr.rows;
    task.longest = LONG_ROW;
    task.lanes = a->lanes;
    if (range.begin >= range.end || (uses_spmm(a) && spmm_rows(a->spmm, &task, range)))
        return;
    // long rows first: they take the longest
    const int32_t *list = a->long_row, *end = list + a->long_rows;
    aggregate_long_run(&task, a->device_long_row, std::lower_bound(list, end, range.begin) - list,
                       std::lower_bound(list, end, range.end) - list);
    aggregate_task_run(&task, range.begin, range.end);
}

// Seconds of all rows, the least of some rounds.
static double seconds_of(Aggregate *a, Rows out, const char *name) {
    enum { ROUNDS = 3 };
    double fastest = 0;
    cuda_spmm_set(name);
    for (int round = 0; round <= ROUNDS; round++) { // the first one allocates
        cuda_finish(NULL);
        double begin = cuda_host->clock_seconds();
        cuda_aggregate_rows(a, out, Range{0, a->csr.rows}, false, NULL, NULL);
        cuda_finish(NULL);
        double seconds = cuda_host->clock_seconds() - begin;
        fastest = round <= 1 || seconds < fastest ? seconds : fastest;
    }
    return fastest;
}

// Of the own kernel with the fastest number of lanes, which is kept.
static double own_seconds_of(Aggregate *a, Rows out) {
    double fastest = 0;
    int best = 0;
    for (int lanes = 32; lanes >= 8; lanes /= 2) {
        a->lanes = lanes;
        double seconds = seconds_of(a, out, "own");
        if (best == 0 || seconds < fastest) {
            best = lanes;
            fastest = seconds;
        }
    }
    a->lanes = best;
    return fastest;
}

void cuda_aggregate_tune(Aggregate *a, Rows out, Rows x) {
    const bool is_auto = a->spmm != NULL && word_is(cuda_how.spmm, "auto");
    if (!is_auto && (size_t)(x.count * x.stride) * rows_number(x.type) <= cuda_cache_bytes())
        return;
    const char *forced = choice.forced;
    cuda_aggregate_prepare(a, x, NULL, NULL);
    choice.own_seconds += own_seconds_of(a, out);
    if (is_auto)
        choice.spmm_seconds += seconds_of(a, out, "cusparse");
    choice.forced = forced;
}

// ---- halo part

struct HaloAggregate {
    DeviceCsr csr;
    int32_t *rows; // which row of out each is
    // [csr.rows] where the last call ended, and where the next one does; they change places
    int64_t *from, *to;
};

HaloAggregate *cuda_aggregate_halo_new(const Csr *csr, const int32_t *rows) {
    HaloAggregate *h = (HaloAggregate *)cuda_host->memory_alloc(sizeof *h, "halo aggregate");
    size_t bytes = (size_t)csr->rows * sizeof *h->from;
    h->csr = device_csr_new(csr);
    h->rows = device_copy(rows, csr->rows, "sparse aggregate");
    h->from = (int64_t *)cuda_alloc(bytes, "halo cursors");
    h->to = (int64_t *)cuda_alloc(bytes, "halo cursors");
    return h;
}

size_t cuda_aggregate_halo_bytes(const Csr *csr) {
    return sizeof(HaloAggregate) + 2 * (size_t)csr->rows * sizeof(int64_t);
}

void cuda_aggregate_halo_free(HaloAggregate *h) {
    if (h == NULL)
        return;
    cuda_free(h->to);
    cuda_free(h->from);
    cuda_free(h->rows);
    device_csr_free(&h->csr);
    cuda_host->memory_free(h);
}

void cuda_aggregate_halo_begin(HaloAggregate *h) {
    cuda_copy(h->from, h->csr.offset, (size_t)h->csr.rows * sizeof *h->from);
}

// to[k] = the first edge of row k, from from[k] on, whose column is at least column_end.
__global__ static void find_ends(int64_t *to, const int64_t *from, const int64_t *offset,
                                 const int32_t *column, int64_t rows, int64_t column_end) {
    EACH_ITEM(k, rows) {
        int64_t begin = from[k], end = offset[k + 1];
        while (begin < end) {
            int64_t middle = begin + (end - begin) / 2;
            if (column[middle] < column_end)
                begin = middle + 1;
            else
                end = middle;
        }
        to[k] = begin;
    }
}

void cuda_aggregate_halo(HaloAggregate *h, Rows out, Rows halo, const DeviceFloat *right,
                         int64_t column_end, const DeviceFloat *left, const Poll *) {
    enum { THREADS = 256 };
    LAUNCH_ITEMS(find_ends, h->csr.rows, THREADS, h->to, h->from, h->csr.offset, h->csr.column,
                 h->csr.rows, column_end);
    AggregateTask task = {};
    task.out = out;
    task.x = halo;
    task.begin = h->from;
    task.end = h->to;
    task.row = h->rows;
    task.column = h->csr.column;
    task.weight = h->csr.weight;
    task.left = floats_of(left);
    task.right = floats_of(right);
    task.resume = true;
    aggregate_task_run(&task, 0, h->csr.rows);
    std::swap(h->from, h->to);
}
