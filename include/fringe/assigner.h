// assigner: chooses the widths of rows, every so many epochs (ALGORITHMS A.5, A.6).
//
//   ranges traced --beta--> groups --rank 0--> bitwidth, fringe-solver --> widths of rows
//
// Who reads a row knows what its noise will do there, so readers send the static coefficients c_k
// once; senders trace ranges, form beta = c D/6 mean(range^2), sort, group, and send rank 0 only
// (beta, rows) of each group. Rank 0 answers with a width per group; a sender tells the reader one
// byte per row. Training goes on between asking and taking, with the old widths; the new ones start
// at a fixed epoch on all ranks. Assigning takes memory between epochs and gives it back.
#ifndef FRINGE_ASSIGNER_H
#define FRINGE_ASSIGNER_H

#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/exchange.h"

enum { ASSIGNED_CHANNELS = 32 };

// What came of one assignment, for reports. Rank 0 knows all of it.
typedef struct AssignmentPart { // of one exchange
    ExchangeId id;
    char by[16];             // who found the widths: Answer.by, "random", "replay"
    double objective, bound; // of the problem; gap = objective - bound. 0 where none was solved
    double lp_bound;         // what its LP relaxation reaches; not above the bound
    double search;           // seconds rank 0 or the solver searched
    double predicted;        // seconds of an exchange, by the link model
    double hidden;   // of them that computation covers; 0 unless quantization.time is hidden
    double measured; // seconds of the exchange in the first epoch with these widths
    int64_t rows[WIDTH_MOST + 1]; // messages of each width, all ranks
} AssignmentPart;
typedef struct Assignment {
    int64_t requested, applied;                 // epochs
    double seconds;                             // all that asking and taking cost, slowest rank
    double byte_seconds[3], message_seconds[3]; // link model: least, median, most of all pairs
    char warning[256];                          // why the solver was no help; ""
    int parts;
    AssignmentPart part[ASSIGNED_CHANNELS];
} Assignment;

typedef struct Assigner Assigner;

typedef struct AssignedChannel {
    Channel *channel; // borrowed; of a codec with widths
    ExchangeId id;
    const Block *block; // that reads its rows: the channel's plan is that of its Pattern. Borrowed.
} AssignedChannel;

extern const Family rule_family;
// replay:RUN: is that run there, with widths, and not the one that config names? Local.
bool assigner_check_files(const Config *config, Error *err);
// First epoch with assigned widths; 0: the rule assigns none, or at once. Local.
int64_t assigner_first_epoch(const Config *config);
// Makes the readers' coefficients known to the senders. Collective.
Assigner *assigner_new(const Config *config, const Comm *comm, uint64_t seed,
                       const AssignedChannel *channels, int count, Error *err);
void assigner_free(Assigner *assigner);
// What it keeps for a channel over that plan; on rank 0 also tables of the groups of all ranks. The
// problems that it solves come on top.
void assigner_plan(MemoryPlan *plan, const HaloPlan *halo, const Config *config, const Comm *comm);

// Before epoch `epoch` (from 1): asks and takes when due. Collective.
bool assigner_before(Assigner *assigner, int64_t epoch, Error *err);
// After the epoch: the assignment that was taken before it, measured; NULL: none was. Collective.
const Assignment *assigner_after(Assigner *assigner, int64_t epoch);

// The widths in use on all ranks: per channel "layer1.backward" U8 [messages], in the order of
// ranks. Rank 0 gets them; assigner_widths_free frees. Collective.
int assigner_widths(Assigner *assigner, Tensor tensor[ASSIGNED_CHANNELS]);
void assigner_widths_free(Tensor tensor[ASSIGNED_CHANNELS], int count);

// Everything a resumed run needs: widths in use and to be taken, ranges traced, counters. Its save
// decides at once what is asked.
StateSection assigner_section(Assigner *assigner);

#endif
