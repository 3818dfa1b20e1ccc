// backend: one table of operations on rows of numbers. fringe/operations.def lists them, the family
// is in kernels/family.c, the CPU's member in kernels/cpu.
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
#pragma once

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

// What the numbers of rows are in memory; operations compute with them in fp32. bf16: rounded to
// nearest, halves to even, what is denormal to a zero of its sign (docs/precision.md).
typedef enum RowsType { ROWS_FP32, ROWS_BF16 } RowsType;
static inline size_t rows_number(RowsType type) { return type == ROWS_BF16 ? 2 : sizeof(float); }

typedef struct Rows {
    DeviceFloat *at;        // [count, stride] of `type`, 64-byte aligned; padding columns are zero
    int64_t count, columns; // columns in use
    int64_t stride;         // numbers from row to row: a multiple of 16
    RowsType type;          // fp32 in operations that do not name another
} Rows;

typedef struct Backend Backend;

typedef enum DeviceStream { STREAM_COMPUTE, STREAM_MESSAGE, STREAMS } DeviceStream;
// A point in a stream: all that was put on it before. One that was never recorded is reached.
typedef struct DeviceEvent DeviceEvent;

// Rows of floats on the device, whose padding is zero and whose columns are anything; rows_free
// frees. rows_bytes is what rows_alloc takes, rows_size what rows of any type take.
static inline int64_t rows_stride(int64_t columns) { return (columns + 15) / 16 * 16; }
size_t rows_bytes(int64_t count, int64_t columns);
size_t rows_size(Rows rows);
Rows rows_alloc(const Backend *backend, int64_t count, int64_t columns, const char *what);
void rows_free(const Backend *backend, Rows *rows);
void rows_zero(const Backend *backend, Rows rows);
void rows_copy(const Backend *backend, Rows to, Rows from); // of one type and width: from.count
// Views: the same memory, fewer rows or columns.
Rows rows_first(Rows rows, int64_t count);
Rows rows_range(Rows rows, Range range);
Rows rows_columns(Rows rows, Range columns);
static inline Rows rows_with_padding(Rows rows) {
    rows.columns = rows.stride;
    return rows;
}
DeviceFloat *flat_at(const DeviceFloat *at, int64_t floats); // at + floats
DeviceByte *byte_at(const DeviceByte *at, int64_t bytes);
DeviceInt32 *int32_at(const DeviceInt32 *at, int64_t numbers);
DeviceInt64 *int64_at(const DeviceInt64 *at, int64_t numbers);
DeviceDouble *double_at(const DeviceDouble *at, int64_t numbers);

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
    float keep;       // probability that dropout keeps an element; kept ones are divided by it
    RandomKey random; // of dropout: row = global id, column
    bool training;    // false: dropout does nothing
    const DeviceFloat *gamma; // [D] LayerNorm
    const DeviceFloat *beta;  // [D]
} Post;
typedef struct PostSaved { // what backward needs besides z; filled by forward when training
    DeviceFloat *mean;     // [N] of the norm's input
    DeviceFloat *inverse;  // [N] 1 / sqrt(variance + 1e-5)
    DeviceByte *kept;      // [N, stride/8] dropout: bit c%8 of byte c/8
    DeviceByte *positive;  // [N, stride/8] activation: input > 0
} PostSaved;

// Of operations.def's activate; post_forward does the first.
typedef enum Activation {
    ACTIVATION_RELU,
    ACTIVATION_LEAKY_RELU, // slope x below 0; at 0 the derivative is slope, as in PyTorch
    ACTIVATION_ELU,        // exp(x) - 1 below 0
    ACTIVATION_GELU        // x times the normal distribution function of x
} Activation;

// A factor of each row r: plain + times at[r], or at[0] for all rows; plain where `at` is NULL.
typedef struct RowFactor {
    float plain, times;
    const DeviceFloat *at;
    bool each; // at[r], not at[0]
} RowFactor;

// What is known of rows, on the device; borrowed. One of three arrays is there.
typedef struct Labels {
    const DeviceInt32 *label;   // [N] class of a row, below 0: none; NULL: it is another kind
    const DeviceByte *labels;   // [N, K] of each class whether the row has it; NULL: likewise
    const DeviceFloat *numbers; // [N, K] what a regression predicts, tight; NULL: likewise
    const DeviceByte *split;    // [N] SPLIT_...
} Labels;

typedef enum LossKind {
    LOSS_SOFTMAX, // of one label
    LOSS_BCE,     // of several
    LOSS_HINGE,   // of one or several: a linear support-vector machine a class, against all others;
                  // the gradient is 0 where max(0, 1 - y z) is
    LOSS_MSE      // the mean of squares over the columns, as torch's mse_loss
} LossKind;

// A loss, and what it is beside its plain form, which LOSS_PLAIN names. Of a row with label y:
//   softmax  (1 - smoothing) w_y (-log p_y) + smoothing / K sum_c w_c (-log p_c), as torch's
//            cross_entropy has it with weight and label_smoothing
//   bce      terms of classes that the row has are times `positive`, torch's pos_weight
typedef struct LossForm {
    LossKind kind;
    const DeviceFloat *classes; // [K] w; NULL: 1
    float smoothing;            // [0, 1)
    float positive;
} LossForm;
#define LOSS_PLAIN(of) ((LossForm){.kind = (of), .positive = 1})

typedef struct AdamStep {
    float rate, beta1, beta2, epsilon;
    float rest1, rest2;             // what a new gradient counts: 1 - beta, or near it
    float correction1, correction2; // 1 - beta^t
    bool decoupled;                 // decay shrinks w by 1 - rate decay instead (AdamW)
} AdamStep;

// ---- rows of one width of a message: Z, S and payload as codec.h draws them

// The values of a row of b bits; all rules but the first have no Z, and 8 bits at most.
typedef enum GridRule {
    GRID_MINMAX, // Z + q S, q = 0 .. 2^b - 1, from the row's minimum to its maximum
    GRID_MAX,    // (q - s) S, q = 0 .. 2 s, s = 2^(b-1) - 1: 0 is a value, s S covers max |x|
    GRID_L2,     // the same, s S covers the row's 2-norm
    GRID_MEAN,   // b = 1: S for x >= 0, else -S; S is the mean of |x|, and nothing is random
    GRID_LOG     // b >= 3: code s + m is S 2^(m - s), s - m its negative, s is 0; S >= max |x| is a
                 // power of two, and random numbers of 32 bits are used
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

// Where the rows of a message come from: own rows, and after them partial aggregates (halo.h,
// invariant 5).
typedef struct MessageSource {
    Rows x;                   // row r < x.count is scale[r] * x[r]
    const DeviceFloat *scale; // NULL: 1
    Rows partials;            // row r >= x.count is partials[r - x.count]
    const DeviceInt32 *row;   // the send list: which row, by place
    RandomKey random;         // of rounding: row = gid[r], peer, column
    const DeviceInt64 *gid;
    int peer;           // who reads the message
    int partial_peer;   // in its place for partial aggregates: who sends them; their ids say who
                        // reads them
    DeviceFloat *range; // by place: (2^b - 1) S, of GRID_MINMAX; NULL: not wanted
} MessageSource;

enum { SPLITS = 4 };
static inline int64_t split_counts(int64_t classes) { return 2 + 3 * classes; } // of one split

// What a backend chooses its kernels and its device by. Zeros: the defaults, the first rank.
typedef struct BackendStart {
    const char *vectors; // cpu: plain | avx2 | avx512 | amx (the widest, and AMX) | auto (or NULL:
                         // all that the CPU has)
    const char *spmm;    // cuda: own | cusparse | auto (aggregate_tune measures both)
    const char *precision; // of dense products: fp32 (or NULL) | bf16: rounded inputs, fp32 sums |
                           // bf16x3: inputs as sums of two bf16
    const char *sums; // cpu, of bf16: pairs | tiles | auto (or NULL: tiles with AMX, else pairs)
    int node_rank;    // this rank among those of its machine takes device node_rank mod devices
    int node_size;    // ranks of the machine
    int device_ranks; // ranks that share its device (device_id); 0: as many as node_size says
} BackendStart;

struct Backend {
    const char *name;
    bool is_device;      // run.backend=auto tries it before cpu
    bool host_is_device; // host memory is device memory: one block may serve for both, and copying
                         // a block onto itself does nothing (pinned_mirror, mirror_alloc)

    // Before anything else, and again to change what was chosen (not with blocks allocated). False
    // with a sentence if the machine lacks what is asked for.
    bool (*start)(const BackendStart *how, Error *err);
    const char *(*describe)(void); // "avx512, oneDNN 2.6.3": for doctor, --version and run.json

    // ---- NULL where there is none
    // "/path/libfringe-cuda.so, ABI 1f2e...", after a start; NULL for what the program contains.
    const char *(*plugin)(void);
    // What names this rank's device among all devices of all machines, after a start: ranks with
    // the same one share it. NULL where device_free is.
    const char *(*device_id)(void);
    // Bytes of device memory that this rank may take: its share of what is free, where several
    // ranks of a machine share a device. NULL where blocks of alloc lie in the host's memory.
    size_t (*device_free)(void);
    // Names what is called between the two for profilers of the device.
    void (*range_begin)(const char *name);
    void (*range_end)(void);
    // The kernel of all aggregates, which changes bits: "own" or "cusparse", as BackendStart.spmm
    // says or, for auto, as aggregate_tune found it ("own" before). NULL, both: there is one only.
    // After tuning, all ranks set that of rank 0.
    const char *(*spmm)(void);
    void (*spmm_set)(const char *choice);
    // The order of sums of bf16 products, which changes bits: "pairs" or "tiles", as
    // BackendStart.sums says. It returns NULL where there are none.
    const char *(*sums)(void);

    // ---- what every backend has
#define FUNCTION(type, name, parameters) type(*name) parameters;
#define OPERATION(name, stream, time, ...) void (*name)(OPERATION_PARAMETERS(__VA_ARGS__));
#include "fringe/operations.def"
};

// The device's mirror of a host array that nobody changes while it is lent: the array itself where
// host_is_device, else a copy, which is complete on return. mirror_free frees the copy.
void *mirror_alloc(const Backend *backend, const void *host, size_t bytes, const char *what);
void mirror_free(const Backend *backend, const void *mirror);
// The host's mirror of a block of the device: the block itself where host_is_device, else a pinned
// block of the same size, which download and upload keep alike.
void *pinned_mirror(const Backend *backend, void *device, size_t bytes, const char *what);
void pinned_mirror_free(const Backend *backend, void *pinned);
// The same for a block of somebody else: where not host_is_device, `pinned`, of the same size.
void *host_mirror(const Backend *backend, void *device, void *pinned);

// Allocates memory, or plans it: what is large is allocated by functions that walk over all their
// blocks with an Allocator, so that a plan cannot differ from what is allocated later. When it
// plans, blocks are NULL: such a walk reads and writes none of them.
typedef struct Taken Taken; // the last of some blocks that were allocated; NULL: there are none
typedef struct Allocator {
    const Backend *backend;
    MemoryForecast *forecast; // NULL: allocate
    Taken **taken;            // taken_free of it frees the blocks; NULL: their owner frees each
    RowsType rows;            // of what alloc_rows makes
} Allocator;
void taken_free(Taken **taken); // all blocks, the last first
void *alloc_host(const Allocator *allocator, size_t bytes, const char *what); // memory_free
void *alloc_device(const Allocator *allocator, size_t bytes, const char *what);
void *alloc_pinned(const Allocator *allocator, size_t bytes, const char *what);
void *alloc_pinned_mirror(const Allocator *allocator, void *device, size_t bytes, const char *what);
// The mirror of a block that is allocated, too: *device, a pointer of any type.
void *alloc_mirrored(const Allocator *allocator, void *device, size_t bytes, const char *what);
const void *alloc_mirror(const Allocator *allocator, const void *host, size_t bytes,
                         const char *what);
Rows alloc_rows(const Allocator *allocator, int64_t count, int64_t columns, const char *what);
// Has the device room for what is planned there? EXIT_MEMORY, with the three largest items. True
// where device memory is the host's: there, blocks of the device are planned as blocks of the host.
bool device_fits(const MemoryForecast *forecast, const Backend *backend, Error *err);

// A StreamTimer adds the time of each operation to Timers, by the kind that the list of operations
// says. Operations may run long after their call, so time is taken at events: one before the
// operation, one behind it. Where operations run during their call (cpu) these are two looks at the
// clock. An operation that another one's Poll calls counts as that one, and one inside of
// timer_begin and timer_end as what these say.
typedef struct StreamTimer StreamTimer;
// Both are borrowed. free and finish accept NULL.
StreamTimer *stream_timer_new(const Backend *backend, Timers *timers);
void stream_timer_free(StreamTimer *timer);
// From now on the operations of its backend are timed by it; NULL, as at first: nothing is timed.
void stream_timer_use(StreamTimer *timer);
Timers *timers_in_use(void); // what it adds to; NULL for none
// Waits for both streams, so that all work so far is added.
void stream_timer_finish(StreamTimer *timer);

// One row for each backend that was built; the config names one by run.backend, or `auto`.
extern const Family backend_family;
const Backend *backend_find(const char *name, Error *err); // NULL with EXIT_CONFIG
// Finds and starts it; `auto`: the first device of the table that starts, else cpu. NULL with an
// error if it cannot start.
const Backend *backend_open(const char *name, const BackendStart *how, Error *err);
