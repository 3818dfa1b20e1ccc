// assigner: chooses the bit widths of halo rows periodically (ALGORITHMS A.5, A.6).
//
//   traced ranges --beta--> groups --rank 0--> bitwidth, fringe-solver --> widths of rows
//
// Only the reader of a row knows how its noise enters the aggregation, so readers send the static
// coefficients c_k to the senders once. Senders trace ranges, compute beta = c D/6 mean(range^2),
// sort and group their rows, and send (beta, rows) of each group to rank 0. Rank 0 returns a width
// for each group; a sender sends one byte per row to the reader. Training continues with the old
// widths between request and application; all ranks apply the new ones before the same epoch. The
// memory of an assignment is freed between epochs.
//
// A Chooser decides which exchanges use the codec at all. An exchange that a fast link hides behind
// computation gains nothing from narrow rows and pays for making them.
#pragma once

#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/exchange.h"

enum { ASSIGNED_CHANNELS = EXCHANGES_MOST };

// The result of one assignment, for reports. Complete on rank 0 only.
typedef struct AssignmentPart { // of one exchange
    ExchangeId id;
    char by[16]; // what found the widths: Solution.by, "random" or "replay"; "fp32": it was exact
    double objective, bound; // of the problem; gap = objective - bound. 0 if none was solved
    double lp_bound;         // bound of the LP relaxation; not above `bound`
    double search;           // seconds that rank 0 or the solver searched
    double predicted;        // seconds of an exchange, by the link model
    double hidden;           // seconds covered by computation; 0 unless quantization.time is hidden
    double measured; // seconds of the exchange in the first epoch with these widths; NaN: it spans
                     // epochs
    int64_t rows[WIDTH_MOST + 1]; // rows of each width, all ranks
} AssignmentPart;
typedef struct Assignment {
    int64_t requested, applied;                 // epochs
    double seconds;                             // total time of the assignment, slowest rank
    double byte_seconds[3], message_seconds[3]; // link model: least, median, most of all pairs
    char warning[256];                          // why the solver did not help; or ""
    int parts;
    AssignmentPart part[ASSIGNED_CHANNELS];
} Assignment;

// What the rules replay:RUN repeat of an earlier run. Those who know the files of runs make it
// (records.h), for the assigner opens none of them.
typedef struct Replay {
    char folder[PATH_BYTES];        // where `open` looks; rank 0
    int64_t assignments, *assigned; // [assignments] epochs that began with new widths, ascending
    int64_t epochs;                 // whose exact exchanges are known
    ExchangeSet *full_precision;    // [epochs] from epoch 1; owned, as `assigned`
    // Opens the widths of such an epoch: for each channel a tensor "layer1.backward" U8 [rows that
    // are sent], in rank order. Rank 0 calls it.
    bool (*open)(const struct Replay *replay, int64_t epoch, Tensors *file, Error *err);
} Replay;

typedef struct Assigner Assigner;

typedef struct AssignedChannel {
    Channel *channel; // borrowed; for an Assigner of a codec with widths
    ExchangeId id;
    const Block *block; // borrowed; reads the rows: its Pattern holds the channel's plan
    bool before_post;   // rows are sent before post: readers scale them by the Block's right
} AssignedChannel;

extern const Family rule_family;
// First epoch with assigned widths; 0 if the rule is not periodic. Local.
int64_t assigner_first_epoch(const Config *config);
// Sends the coefficients of the readers to the senders. `replay` outlives the assigner and may be
// NULL if the rule is another one. NULL with an error. Collective.
Assigner *assigner_new(const Config *config, const Comm *comm, uint64_t seed, const Replay *replay,
                       const AssignedChannel *channels, int count, Error *err);
void assigner_free(Assigner *assigner);
CLEARED_POINTER(assigner_drop, Assigner, assigner_free)
// Adds the memory for a channel over that plan; on rank 0 also for tables of the groups of all
// ranks. The problems that it solves are not counted.
void assigner_forecast(MemoryForecast *forecast, const HaloPlan *halo, const Config *config,
                       const Comm *comm);

// Call before epoch `epoch` (from 1): requests and applies an assignment when due. Collective.
bool assigner_before(Assigner *assigner, int64_t epoch, Error *err);
// Call after the epoch: returns the assignment that was applied before it, with its measured times;
// NULL if there was none. Collective.
const Assignment *assigner_after(Assigner *assigner, int64_t epoch);

// Collects the widths in use on all ranks on rank 0: for each channel a tensor "layer1.backward" U8
// [rows that are sent], in rank order. assigner_widths_free frees them. Collective.
int assigner_widths(Assigner *assigner, Tensor tensor[ASSIGNED_CHANNELS]);
void assigner_widths_free(Tensor tensor[ASSIGNED_CHANNELS], int count);

// The state that a resumed run needs: widths in use, widths to be applied, traced ranges, counters.
// Saving finishes a pending assignment first.
StateSection assigner_section(Assigner *assigner);

// ---- which exchanges are in full precision (quantization.exchanges)

// How long an exchange of training took with its codec and with fp32, where
// quantization.exchanges=measured compared them: seconds of an epoch, means over ranks.
typedef struct MeasuredExchange {
    ExchangeId id;
    bool fp32; // the choice
    bool sent; // false: fp32 was never tried; its seconds are the least that the link would take
    double codec_seconds, fp32_seconds;
} MeasuredExchange;
typedef struct CodecChoice {
    int64_t epoch; // the first one of which it holds
    int count;
    MeasuredExchange exchange[ASSIGNED_CHANNELS]; // [count]
} CodecChoice;

typedef struct Chooser Chooser;
extern const Family choice_family;
// For the exchanges of training; *out is NULL if all of them use the codec. `replay` as for
// assigner_new. Collective.
bool chooser_new(Chooser **out, const Config *config, const Comm *comm, const Replay *replay,
                 const AssignedChannel *channels, int count, Error *err);
void chooser_free(Chooser *chooser);
CLEARED_POINTER(chooser_drop, Chooser, chooser_free)
// Call before an epoch: makes exchanges exact for it, and says which. Collective.
ExchangeSet chooser_before(Chooser *chooser, int64_t epoch);
// Call after an epoch: returns the choice if it was made then, else NULL. Collective.
const CodecChoice *chooser_after(Chooser *chooser, int64_t epoch);
const CodecChoice *chooser_choice(const Chooser *chooser); // NULL: none was made yet
// The state that a resumed run needs: what was measured, and the choice.
StateSection chooser_section(Chooser *chooser);
