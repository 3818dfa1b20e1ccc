// backend: one table of operations on rows of floats. The family is in kernels/backend.c, the CPU's
// member in kernels/cpu.
//
// Shapes: N rows, F/D input/output width, E nonzeros. Rows are 64-byte aligned: their stride is the
// width rounded up to 16 floats, and the padding is zero and stays zero. A Range is half-open.
// Every operation is bit-identical for any number of threads and any vector width; work on a row
// does not depend on the range it is called in (dense products excepted).
//
// Operations may run late: a call puts the operation on a stream and returns. An operation belongs
// to one of two streams by what it does: everything under "messages" below runs on STREAM_MESSAGE,
// all else on STREAM_COMPUTE. The operations of one stream run in the order of their calls; events
// order the two streams and let the host wait. So results are device numbers, which the host
// downloads and reads after an event. Structs are copied during the call; host memory that a call
// names by pointer must stay until the operation has run. Where operations run during their call
// (cpu), long ones call `poll` (NULL allowed) from thread 0 about every millisecond; elsewhere only
// waiting polls, and the operation ignores its `poll`.
#ifndef FRINGE_BACKEND_H
#define FRINGE_BACKEND_H

#include "fringe/base.h"

// Numbers in the memory of a device, which only its operations read and write: the types are never
// completed, so that outside kernels/ no expression can.
typedef struct DeviceFloat DeviceFloat;
typedef struct DeviceDouble DeviceDouble;
typedef struct DeviceByte DeviceByte;
typedef struct DeviceInt32 DeviceInt32;
typedef struct DeviceInt64 DeviceInt64;

typedef struct Range {
    int64_t begin, end;
} Range;

typedef struct Rows {
    DeviceFloat *at;        // [count, stride], 64-byte aligned; padding columns are zero
    int64_t count, columns; // columns in use
    int64_t stride;         // floats from row to row: a multiple of 16
} Rows;

typedef struct Backend Backend;

typedef enum DeviceStream { STREAM_COMPUTE, STREAM_MESSAGE, STREAMS } DeviceStream;
// A point in a stream: all that was put on it before. One that was never recorded is reached.
typedef struct DeviceEvent DeviceEvent;

// Rows on the device, whose padding is zero and whose columns are anything; rows_free frees.
// rows_bytes is what rows_alloc takes.
static inline int64_t rows_stride(int64_t columns) { return (columns + 15) / 16 * 16; }
size_t rows_bytes(int64_t count, int64_t columns);
Rows rows_alloc(const Backend *backend, int64_t count, int64_t columns, const char *what);
void rows_free(const Backend *backend, Rows *rows);
// Views: the same memory, fewer rows or columns.
Rows rows_first(Rows rows, int64_t count);
Rows rows_range(Rows rows, Range range);
Rows rows_columns(Rows rows, Range columns);
DeviceFloat *flat_window(const DeviceFloat *at, int64_t floats); // at + floats
DeviceByte *byte_window(const DeviceByte *at, int64_t bytes);
DeviceInt32 *int32_window(const DeviceInt32 *at, int64_t numbers);
DeviceInt64 *int64_window(const DeviceInt64 *at, int64_t numbers);
DeviceDouble *double_window(const DeviceDouble *at, int64_t numbers);

// The sparse aggregate over one Csr, whose columns ascend inside a row, with its scratch for
// repacked column panels. Made once per Csr.
typedef struct Aggregate Aggregate;
// The same over the halo's Csr: it knows which edges it has added already.
typedef struct HaloAggregate HaloAggregate;

// Pointwise work after a convolution, in any order (model.post). At most one of each.
typedef enum PostStep { POST_DROPOUT, POST_NORM, POST_ACTIVATION } PostStep;
typedef struct Post {
    int count;
    PostStep step[3];
    float keep;          // probability that dropout keeps an element; kept ones are divided by it
    RandomStream stream; // of dropout: row = global id, column
    bool training;       // false: dropout does nothing
    const DeviceFloat *gamma; // [D] LayerNorm
    const DeviceFloat *beta;  // [D]
} Post;
typedef struct PostSaved { // what backward needs besides z; filled by forward when training
    DeviceFloat *mean;     // [N] of the norm's input
    DeviceFloat *inverse;  // [N] 1 / sqrt(variance + 1e-5)
    DeviceByte *kept;      // [N, stride/8] dropout: bit c%8 of byte c/8
    DeviceByte *positive;  // [N, stride/8] activation: input > 0
} PostSaved;

typedef struct AdamStep {
    float rate, beta1, beta2, epsilon;
    float correction1, correction2; // 1 - beta^t
} AdamStep;

// ---- rows of one width of a message: Z, S and payload as codec.h draws them

// The values of a row of b bits; all rules but the first have no Z, and 8 bits at most.
typedef enum GridRule {
    GRID_MINMAX, // Z + q S, q = 0 .. 2^b - 1, from the row's minimum to its maximum
    GRID_MAX,    // (q - s) S, q = 0 .. 2 s, s = 2^(b-1) - 1: 0 is a value, s S covers max |x|
    GRID_L2,     // the same, s S covers the row's 2-norm
    GRID_MEAN    // b = 1: S for x >= 0, else -S; S is the mean of |x|, and nothing is random
} GridRule;

typedef struct Quantized {
    int bits;                 // 1 .. 8 and 16
    bool bf16;                // Z and S are bf16, not fp32
    bool nearest;             // to the nearest value of the grid, which is biased; else at random
    GridRule rule;            // devices other than the CPU know GRID_MINMAX alone
    int64_t count;            // rows
    int64_t first;            // place of the first row, where `place` is NULL
    const DeviceInt32 *place; // [count] in the send list; NULL: first, first + 1, ... (CPU alone)
    DeviceByte *minimum;      // [count] Z; not used by the rules that have none
    DeviceByte *step;         // [count] S
    DeviceByte *payload;      // [count, quantized_row_bytes]
} Quantized;

// ceil(columns b / 8) for b = 1, 2, 4, 8, 16; for other widths the sum over their planes.
static inline int64_t quantized_row_bytes(int64_t columns, int bits) {
    int64_t bytes = 0;
    for (int plane = 16; plane > 0; plane /= 2) // planes are the binary digits of the width
        if (bits & plane)
            bytes += (columns * plane + 7) / 8;
    return bytes;
}

// Where the rows of a message come from: own rows, and after them partial sums (halo.h, law 5).
typedef struct MessageSource {
    Rows x;                   // row r < x.count is scale[r] * x[r]
    const DeviceFloat *scale; // NULL: 1
    Rows sums;                // row r >= x.count is sums[r - x.count]
    const DeviceInt32 *row;   // the send list: which row, by place
    RandomStream stream;      // of rounding: row = gid[r], peer, column
    const DeviceInt64 *gid;
    int peer;           // who reads the message
    int sum_peer;       // in its place for sums: who sends them; their ids say who reads them
    DeviceFloat *range; // by place: (2^b - 1) S, of GRID_MINMAX; NULL: not wanted
} MessageSource;

enum { SPLITS = 4 };
static inline int64_t split_counts(int64_t classes) { return 2 + 3 * classes; } // of one split

// What a backend chooses its kernels and its device by. Zeros: the defaults, the first rank.
typedef struct BackendStart {
    const char *vectors; // cpu: auto | plain | avx2 | avx512 (the widest allowed that the CPU has)
    const char *spmm;    // cuda: own | cusparse | auto (aggregate_tune measures both)
    int node_rank;       // this rank among those of its machine takes device node_rank mod devices
    int node_size;       // ranks of the machine
    int device_ranks;    // ranks that share its device (device_id); 0: as many as node_size says
} BackendStart;

struct Backend {
    const char *name;
    bool is_device; // run.backend=auto tries it before cpu

    // Before anything else, and again to change what was chosen (not with blocks allocated). False
    // with a sentence if the machine lacks what is asked for.
    bool (*start)(const BackendStart *how, Error *err);
    const char *(*describe)(void); // "avx512, oneDNN 2.6.3": for doctor, --version and run.json
    // "/path/libfringe-cuda.so, ABI 1f2e...", after a start; NULL for what the program contains.
    const char *(*plugin)(void);
    // What names this rank's device among all devices of all machines, after a start: ranks with
    // the same one share it. NULL where device_free is.
    const char *(*device_id)(void);
    // Bytes of device memory that this rank may take: its share of what is free, where several
    // ranks of a machine share a device. NULL where blocks of alloc lie in the host's memory.
    size_t (*device_free)(void);

    // ---- memory. Whatever operations work on lies in blocks of alloc, which the host does not
    // touch: it uploads and downloads. What MPI reads and writes lies in blocks of alloc_pinned,
    // which operations do not touch. Fresh blocks hold anything (in tests, FRINGE_POISON), those of
    // alloc_zeroed zeros; they are 64-byte aligned and counted (memory.h); `what` names them.
    // Freeing accepts NULL and waits for both streams first.
    bool host_is_device; // host memory is device memory: one block may serve for both, and copying
                         // a block onto itself does nothing (pinned_side, mirror_alloc)
    void *(*alloc)(size_t bytes, const char *what);
    void *(*alloc_zeroed)(size_t bytes, const char *what);
    void (*free)(void *device);
    void *(*alloc_pinned)(size_t bytes, const char *what);
    void (*free_pinned)(void *pinned);
    void (*upload)(void *device, const void *host, size_t bytes);
    void (*download)(void *host, const void *device, size_t bytes);
    void (*copy)(void *to, const void *from, size_t bytes); // from device to device
    void (*zero)(void *device, size_t bytes);
    // Rows from and to tight host rows [count, columns]; padding stays as it is.
    void (*upload_rows)(Rows to, const float *from);
    void (*download_rows)(float *to, Rows from);

    // ---- streams
    DeviceEvent *(*event_new)(void);
    void (*event_free)(DeviceEvent *event); // NULL is fine
    void (*event_record)(DeviceEvent *event, DeviceStream stream);
    bool (*event_reached)(const DeviceEvent *event); // looks only: it starts nothing
    void (*event_wait)(DeviceEvent *event, const Poll *poll);
    // clock_seconds() when the stream reached the event, which it has.
    double (*event_time)(const DeviceEvent *event);
    // Names what is called between the two for profilers of the device; NULL where there are none.
    void (*range_begin)(const char *name);
    void (*range_end)(void);
    // What is put on the stream from now on runs after the event.
    void (*stream_wait)(DeviceStream stream, const DeviceEvent *event);
    void (*finish)(const Poll *poll); // waits until both streams are empty

    // ---- dense products: one-thread library calls over fixed panels of rows, in our parallel loop
    // (TRAPS 23). W is [a.columns, out.columns], tight, row-major. Panels are counted from
    // range.begin, and libraries compute the last rows of a panel differently: only here the bits
    // of a row depend on the range, so schedules call with the same ranges.
    // out[r] = a[r] W (+ out[r] if add) (+ bias if not NULL), r in range
    void (*dense)(Rows out, Range range, Rows a, const DeviceFloat *w, const DeviceFloat *bias,
                  bool add, const Poll *poll);
    // out[r] = g[r] Wᵀ (+ out[r] if add): W is [out.columns, g.columns]
    void (*dense_transposed)(Rows out, Range range, Rows g, const DeviceFloat *w, bool add,
                             const Poll *poll);
    // dw [a.columns, g.columns] = aᵀ g over all a.count rows: a fixed number of partial sums over
    // fixed row ranges, added in fixed order. scratch: dense_gradient_scratch floats.
    void (*dense_gradient)(DeviceFloat *dw, Rows a, Rows g, DeviceFloat *scratch, const Poll *poll);
    int64_t (*dense_gradient_scratch)(int64_t rows, int64_t a_columns, int64_t g_columns);
    // db [g.columns] = column sums of g over all rows, blockwise in fixed order.
    // scratch: column_sums_scratch floats.
    void (*column_sums)(DeviceFloat *db, Rows g, DeviceFloat *scratch);
    int64_t (*column_sums_scratch)(int64_t rows, int64_t columns);

    // ---- sparse aggregate. `columns` is the widest row it will see; `sources` the most rows of x.
    // panels: auto (aggregate_tune measures) | rows | 128 | 64 | 32 | 16. The Csr is lent where
    // host_is_device, and copied to the device elsewhere.
    Aggregate *(*aggregate_new)(const Csr *csr, int64_t sources, int64_t columns,
                                const char *panels);
    // What it takes beside the Csr, at most, but for the workspace of cuSPARSE. Of the Csr only the
    // sizes are read: rows, entries, and whether it is weighted.
    size_t (*aggregate_bytes)(const Csr *csr, int64_t sources, int64_t columns, const char *panels);
    // Waits for both streams, then measures the panel widths on this Csr for rows of `columns`
    // floats and keeps the fastest for that width (x and out are scratch, overwritten). The choice
    // changes no bit on the CPU; for run.spmm = auto see spmm.
    void (*aggregate_tune)(Aggregate *aggregate, Rows out, Rows x);
    void (*aggregate_free)(Aggregate *aggregate);
    // The kernel of all aggregates, which changes bits: "own" or "cusparse", as BackendStart.spmm
    // says or, for auto, as aggregate_tune found it ("own" before). NULL, both: there is one only.
    // After tuning, all ranks set that of rank 0.
    const char *(*spmm)(void);
    void (*spmm_set)(const char *choice);
    const char *(*aggregate_describe)(const Aggregate *aggregate,
                                      int64_t columns); // "panels of 64"
    // Looks at x (may repack it); x and right must stay until the rows are done. right: [x.count]
    // or NULL (1). Rows that are asked for later name no column beyond x.count.
    void (*aggregate_prepare)(Aggregate *aggregate, Rows x, const DeviceFloat *right,
                              const Poll *poll);
    // out[i] = left[i] * ( [self] right[i] x[i] + sum_j w[i,j] right[j] x[j] ), i in range; left
    // NULL: 1. Each term is (right[j] x[j]) first, then w times it, added in ascending j after the
    // self term.
    void (*aggregate_rows)(Aggregate *aggregate, Rows out, Range range, bool self,
                           const DeviceFloat *left, const Poll *poll);
    // Halo part, continued from the unscaled own sum: row k of the Csr is row rows[k] of out. Both
    // are lent as above. aggregate_halo_begin starts over; each aggregate_halo then adds to every
    // row the terms w * halo[c] from where the last one ended on while column c < column_end, and
    // then out[rows[k]] *= left[rows[k]] if left is not NULL (the last call). Any cutting into
    // calls gives the same bits.
    HaloAggregate *(*aggregate_halo_new)(const Csr *csr, const int32_t *rows);
    size_t (*aggregate_halo_bytes)(const Csr *csr); // beside the Csr and its rows
    void (*aggregate_halo_free)(HaloAggregate *aggregate);
    void (*aggregate_halo_begin)(HaloAggregate *aggregate);
    void (*aggregate_halo)(HaloAggregate *aggregate, Rows out, Rows halo, int64_t column_end,
                           const DeviceFloat *left, const Poll *poll);

    // ---- pointwise
    // h[r] = post(z[r]), r in range. gid: [N] global ids. In place (h.at == z.at) only if not
    // training; then nothing is saved, and gid is not read.
    void (*post_forward)(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                         const DeviceInt64 *gid, const Poll *poll);
    // dz = d post/dz applied to dh, all rows; dz may be dh. dgamma, dbeta [D] (NULL without norm).
    void (*post_backward)(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                          DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch,
                          const Poll *poll);
    int64_t (*post_scratch)(int64_t rows, int64_t columns);
    // out = dropout(x) in range with that stream and keep (input dropout); in place allowed.
    void (*dropout)(Rows out, Range range, Rows x, float keep, RandomStream stream,
                    const DeviceInt64 *gid, const Poll *poll);
    // out[r] += bias [D], in range.
    void (*add_bias)(Rows out, Range range, const DeviceFloat *bias, const Poll *poll);

    // out[r] = a[r] + *scalar x[r], in range, multiplied first, not fused; out may be a.
    void (*add_scaled)(Rows out, Range range, Rows a, Rows x, const DeviceFloat *scalar,
                       const Poll *poll);
    // x[r] *= factor[r], in range.
    void (*scale_rows)(Rows x, Range range, const DeviceFloat *factor, const Poll *poll);
    // *out = sum over all rows of x[r] · y[r], in double over fixed blocks in fixed order; 0 if
    // there are no rows. Padding must be zero.
    void (*dot)(DeviceFloat *out, Rows x, Rows y);

    // ---- loss over rows with split[r] == which; G gets the gradient (0 elsewhere; NULL at: only
    // the loss). *loss = the sum (not the mean) in double over fixed blocks in fixed order;
    // gradients are times `weight` (1 / N_train).
    void (*softmax_loss)(DeviceDouble *loss, Rows g, Rows logits, const DeviceInt32 *label,
                         const DeviceByte *split, uint8_t which, float weight);
    void (*bce_loss)(DeviceDouble *loss, Rows g, Rows logits, const DeviceByte *labels,
                     const DeviceByte *split, uint8_t which, float weight);

    // ---- metrics: adds to count [SPLITS, split_counts(columns)], by the split of each row: rows
    // with a label, rows that are right, and of each class true positives, false positives and
    // false negatives. One label a row (below 0: none): it says the class of its largest logit, the
    // first of them, or none where one is not a number. Several, labels [N, columns]: it says the
    // classes whose logits are above 0, and is right where all are.
    void (*count_classes)(DeviceInt64 *count, Rows logits, const DeviceInt32 *label,
                          const DeviceByte *split);
    void (*count_labels)(DeviceInt64 *count, Rows logits, const DeviceByte *labels,
                         const DeviceByte *split);

    // ---- optimizer, on flat arrays of `count`; decay[i]: L2 factor, added to g (NULL: 0).
    void (*adam)(DeviceFloat *w, DeviceFloat *m, DeviceFloat *v, const DeviceFloat *g,
                 const DeviceFloat *decay, int64_t count, AdamStep step);
    void (*sgd)(DeviceFloat *w, DeviceFloat *velocity, const DeviceFloat *g,
                const DeviceFloat *decay, int64_t count, float rate, float momentum);
    // *out = sum of squares in double over fixed blocks in fixed order.
    void (*square_sum)(DeviceDouble *out, const DeviceFloat *x, int64_t count);
    // x[i] *= factor
    void (*scale)(DeviceFloat *x, int64_t count, float factor);

    // ---- messages: on STREAM_MESSAGE
    void (*message_upload)(void *device, const void *pinned, size_t bytes);
    void (*message_download)(void *pinned, const void *device, size_t bytes);
    void (*message_zero)(void *device, size_t bytes);
    // *sum = the checksum of a payload (kernels/checksum.h), which is 8-byte aligned.
    void (*message_checksum)(DeviceInt64 *sum, const DeviceByte *payload, size_t bytes,
                             const Poll *poll);
    // out[i] = a out[i] + b x[i], products and sum each rounded; a = 0: b x[i], whatever was there.
    void (*message_combine)(DeviceFloat *out, float a, const DeviceFloat *x, float b, int64_t count,
                            const Poll *poll);
    // two = the sums of (a[i] - b[i])^2 and of b[i]^2, in double, in fixed order.
    void (*message_distance)(DeviceDouble *two, const DeviceFloat *a, const DeviceFloat *b,
                             int64_t count, const Poll *poll);
    // m[r] = (1 - part[r]) m[r] + part[r] x[r] for each row r, with its padding; part: [m.count].
    void (*message_blend)(Rows m, Rows x, const DeviceFloat *part, const Poll *poll);
    // The first `count` rows of a send list one behind the other, tight, [count, columns]: as
    // floats, or as bf16 (the upper half of a float, rounded to nearest, halves to even; two bytes,
    // little-endian). *bad, of rows that have a value which is not finite or beyond the largest
    // bf16, becomes the smallest 1 + place if that is less than it was or it was 0 (none).
    void (*pack_fp32)(DeviceByte *out, const MessageSource *source, int64_t count,
                      const Poll *poll);
    void (*pack_bf16)(DeviceByte *out, const MessageSource *source, int64_t count, DeviceInt64 *bad,
                      const Poll *poll);
    // out[first + k] = the k-th of `count` such rows; its padding is zero, whatever was there.
    void (*unpack_fp32)(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                        const Poll *poll);
    void (*unpack_bf16)(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                        const Poll *poll);
    // Rounding to the values of the row's grid, at random or to the nearest (ALGORITHMS A.1). *bad
    // as pack_bf16 has it, of rows with a value that is not finite or a range that overflows.
    void (*quantize)(const Quantized *to, const MessageSource *source, DeviceInt64 *bad,
                     const Poll *poll);
    // out[begin + place[i]] = the values (GridRule), multiplied first, not fused; the rows' padding
    // is zero, whatever was there.
    void (*dequantize)(Rows out, int64_t begin, const Quantized *from, const Poll *poll);
};

// The device's side of a host array that nobody changes while it is lent: the array itself where
// host_is_device, else a copy, which is complete on return. mirror_free frees the copy.
void *mirror_alloc(const Backend *backend, const void *host, size_t bytes, const char *what);
void mirror_free(const Backend *backend, const void *mirror);
// The host's side of a block of the device: the block itself where host_is_device, else a pinned
// block of the same size, which download and upload keep alike.
void *pinned_side(const Backend *backend, void *device, size_t bytes, const char *what);
void pinned_side_free(const Backend *backend, void *pinned);
// The same for a block of somebody else: where not host_is_device, `pinned`, of the same size.
void *host_side(const Backend *backend, void *device, void *pinned);

// Allocates memory, or plans it: what is large is allocated by functions that walk over all their
// blocks with an Allocator, so that a plan cannot differ from what is allocated later. When it
// plans, blocks are NULL: such a walk reads and writes none of them.
typedef struct Allocator {
    const Backend *backend;
    MemoryPlan *plan; // NULL: allocate
} Allocator;
void *alloc_host(const Allocator *allocator, size_t bytes, const char *what); // memory_free
void *alloc_device(const Allocator *allocator, size_t bytes, const char *what);
void *alloc_pinned(const Allocator *allocator, size_t bytes, const char *what);
void *alloc_pinned_side(const Allocator *allocator, void *device, size_t bytes, const char *what);
const void *alloc_mirror(const Allocator *allocator, const void *host, size_t bytes,
                         const char *what);
Rows alloc_rows(const Allocator *allocator, int64_t count, int64_t columns, const char *what);
// Has the device room for what is planned there? EXIT_MEMORY, with the three largest items. True
// where device memory is the host's: there, blocks of the device are planned as blocks of the host.
bool device_fits(const MemoryPlan *plan, const Backend *backend, Error *err);

// A StreamTimer adds the time that work took on a stream to Timers. Operations may run long after
// their call, so time is taken at events: one before the work, one behind it. Where operations run
// during their call (cpu) these are two looks at the clock.
typedef struct StreamTimer StreamTimer;
// Both are borrowed. All functions but new accept a timer that is NULL and then time nothing.
StreamTimer *stream_timer_new(const Backend *backend, Timers *timers);
void stream_timer_free(StreamTimer *timer);
Timers *stream_timer_timers(StreamTimer *timer); // what it adds to; NULL for NULL
// Around the calls that put work on the stream; one pair at a time.
void stream_timer_begin(StreamTimer *timer, DeviceStream stream, TimerKind kind);
void stream_timer_end(StreamTimer *timer);
// Waits for both streams, so that all work so far is added.
void stream_timer_finish(StreamTimer *timer);

// One row for each backend that was built; the config names one by run.backend, or `auto`.
extern const Family backend_family;
const Backend *backend_find(const char *name, Error *err); // NULL with EXIT_CONFIG
// Finds and starts it; `auto`: the first device of the table that starts, else cpu. NULL with an
// error if it cannot start.
const Backend *backend_open(const char *name, const BackendStart *how, Error *err);

#endif
