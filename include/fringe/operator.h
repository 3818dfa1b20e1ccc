// operator: Y = L·A·R·X over all ranks (ALGORITHMS A.3), with the messages that it needs. It knows
// no model: layers use it, and so can whatever else turns the rows of sources into rows of targets.
//
// An Operator is a method: a table of steps, each on some of the rows; `operator_aggregate` is the
// sum above. A SparseOperator is a Block with the kernels that apply it. A Propagation is one of
// these with the channel that sends rows to their readers. operator_run takes a Propagation once:
// its schedule orders the steps around the messages. All schedules do the same work on the same
// rows, so they give the same bits, unless a schedule hands in other rows
// (Schedule.changes_result).
#pragma once

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/exchange.h"
#include "fringe/halo.h"

// ---- a Block and its kernels

typedef struct SparseOperator {
    const Backend *backend;
    Block block;                     // its diagonals are borrowed
    const DeviceFloat *left, *right; // the block's on the device; NULL: 1. Borrowed.
    DeviceFloat *left_own; // [N] left where a row has no halo column, 1 elsewhere; NULL if left is
                           // NULL
    Aggregate *aggregate;  // over block.pattern->own
    bool owns_aggregate;
    Aggregate *partial;  // over block.pattern->partial
    HaloAggregate *halo; // over block.pattern->halo
    int rest_count;      // rows that wait for the halo: the complement of pattern->central
    Range rest[PATTERN_RANGES + 1];
    // Sums that go on with the halo's terms must not be rounded before the last one: where rows are
    // bf16, those of `rest` are added up in floats, one range behind the other, and rounded then.
    const DeviceFloat *const *sums; // that of Operators
    DeviceFloat *halo_right;        // [H] the owners' right of halo rows that come as bf16, which
                                    // are not multiplied yet; owned; NULL: 1, or rows are floats
    int32_t *place;                 // [halo.rows] where in them each row of the halo part is; NULL:
                                    // all sums are made where they belong
} SparseOperator;

// What a SparseOperator is made from; all of it is borrowed, and outlives it.
typedef struct OperatorForm {
    Block block;
    const DeviceFloat *left, *right; // the block's on the device; NULL: 1
    const Pattern *largest; // the one with the most rows among the Patterns with these own edges
    int64_t sources;        // the most that one of these has
    int64_t columns;        // of the widest rows that it will see
} OperatorForm;

// The operators of one user, of which one runs at a time: those on the same own edges (a symmetric
// graph's forward and backward differ in their diagonals, a layer's rows may be the first ones of
// another's) share the kernel and its scratch.
enum { OPERATORS_MOST = EXCHANGES_MOST + SHARD_SETS };
typedef struct Operators {
    const Backend *backend;
    MemoryForecast *forecast; // borrowed: operators are planned only; NULL: they are made
    const char *panels;       // of aggregate_new; borrowed
    RowsType rows;            // bf16: of some of the rows; else all are fp32
    size_t sum_bytes;
    DeviceFloat *sums;
    Taken *taken; // owned: its blocks, and those of its operators
    int count;
    SparseOperator at[OPERATORS_MOST];
} Operators;
// The operator of that Block, which is made or planned where there is none; valid until
// operators_clear.
// Collective where rows are bf16: all ranks ask for the same ones in one order.
SparseOperator *operator_find(Operators *operators, const OperatorForm *form);
// Behind the last of them: the sums that all share, planned or allocated.
void operators_alloc(Operators *operators);
void operators_clear(Operators *operators); // not of operators that were planned only

// The owners' right of the halo rows [H], on the device; or plans it. Collective, but to plan.
DeviceFloat *halo_right_new(const Allocator *allocator, const Block *block);

// ---- with its messages

typedef struct Propagation {
    SparseOperator *op;       // borrowed; NULL: nothing is aggregated
    Channel *channel;         // NULL: nothing is sent
    Rows partials;            // [partials, columns] partial aggregates, sent after own rows
    ExchangeBuffers *buffers; // the channel's own, owned; NULL: it borrows others
} Propagation;

typedef struct PropagationForm {
    const Pattern *pattern;
    CodecOptions options;
    int64_t columns; // of the rows that travel
    ExchangeId id;
    bool in_flight; // messages may outlast the call (Schedule.keeps_in_flight): buffers of its own
} PropagationForm;
// `shared`: buffers of exchanges that run one at a time; borrowed. Collective in order
// (channel_new).
void propagation_init(Propagation *over, SparseOperator *op, const PropagationForm *form,
                      ExchangeBuffers *shared);
// Plans the memory of all but the operator; enlarges `shared`.
void propagation_forecast(MemoryForecast *forecast, BufferSizes *shared, const Backend *backend,
                          const PropagationForm *form);
void propagation_clear(const Backend *backend, Propagation *over); // collective if in flight

// ---- methods

// What a step of a method works on.
typedef struct OperatorStep {
    const SparseOperator *op;
    Rows in;  // [S, columns] own rows of sources
    Rows out; // [N, columns] rows of targets
} OperatorStep;

typedef struct Operator {
    // Y is linear in X: partial aggregates may travel in place of rows. Without it the Pattern is
    // one of COVER_SOURCES.
    bool linear;
    // Looks at all own rows, before all else; `in` stays until the last step.
    void (*prepare)(const OperatorStep *step, const Poll *poll);
    // Makes rows of `out` from own rows; each row comes once. Rows of central ranges are complete.
    void (*own)(const OperatorStep *step, Range rows, const Poll *poll);
    // Adds the halo rows of the ring's rounds [begin, end) to `out`, all of whose rows were made by
    // `own` before. Rounds come in order, the final ones with `last` (and none where there is one
    // rank). halo: [H, columns], of which those of rounds below `end` are there.
    void (*halo)(const OperatorStep *step, Rows halo, int begin, int end, bool last,
                 const Poll *poll);
    // Completes rows that have everything; may be NULL.
    void (*finish)(const OperatorStep *step, Range rows, const Poll *poll);
} Operator;
extern const Operator operator_aggregate;

// ---- a run

// How operators run: the same for all calls of an epoch.
typedef struct OperatorRun {
    const Schedule *schedule;
    const Poll *beside; // moved along with the exchange that runs; NULL: nothing is
    uint64_t seed;      // with the epoch chooses the random numbers of the messages
    RandomKind random;  // how they are made
    uint32_t epoch;
    bool full_precision; // rows travel as they are, whatever the codec
} OperatorRun;

// One use of an operator, and the work that overlaps it.
typedef struct OperatorCall {
    const Operator *method;
    const Propagation *over;
    Rows in, out;
    Rows sent;     // with `arrive`: the rows that travel, in place of right times `in`
    Rows received; // [H, columns] halo rows of `in`, where `over` has no channel
    Rows arrived;  // where `arrive` leaves halo rows; at NULL: where they were received
    void *context; // of the functions:
    // Makes halo rows from received ones; NULL: these are
    void (*arrive)(void *context, Rows halo, Rows received, Range rows, const Poll *poll);
    void (*beside)(void *context, const Poll *poll); // work that needs no message; may be NULL
    // What follows for rows of `out` that are complete; may be NULL. Not before all own sums are
    // made, so it may overwrite `in`.
    void (*finish)(void *context, Range rows, const Poll *poll);
} OperatorCall;
void operator_run(const OperatorRun *run, const OperatorCall *call); // collective
