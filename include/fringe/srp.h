// srp: partitions a hypergraph while it arrives (ALGORITHMS C; docs/stream.md).
//
// Nodes and hyperedges each have a part, their home. Phase 1 gives an arriving node or hyperedge a
// home at once, by a score. Phase 2 moves nodes and hyperedges of a sliding window to the parts of
// their neighbours, and takes back what does not lower the cost. Everything is deterministic: the
// same events and options give the same parts. No function is collective.
#pragma once

#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/events.h"

enum { SRP_NONE = -1 }; // the part of what has none

extern const Family srp_score_family; // stream.score

typedef struct SrpOptions { // config.stream and partition.seed
    int parts;
    const char *score;   // a member of srp_score_family
    bool during, after;  // refine while the stream runs; refine everything in srp_settle
    int64_t window;      // nodes that phase 2 looks at; 0: no refinement during the stream
    int iterations;      // most passes over the window
    double epsilon;      // parts of a snapshot have at most this share more pins than the mean
    int64_t capacity;    // or at most so many pins; 0: by epsilon
    bool window_votes;   // only pins of the window decide the home of a hyperedge
    bool window_balance; // only the window's hyperedges are the load of a part
    int passes;          // 1; more: srp_settle places everything again, that often
    uint64_t seed;       // of the score random
} SrpOptions;

// Those of a config; `score` is borrowed from it.
SrpOptions srp_options(const Config *config, int parts);

// What a part has. A node is present on every part that is home to one of its hyperedges; where it
// is present and not at home it has a replica.
typedef struct SrpPart {
    int64_t pins, hyperedges; // of the hyperedges at home here
    int64_t nodes;            // at home here
    int64_t present;          // nodes that are present here
    int64_t replicas;         // of nodes of other parts
    int64_t away;             // replicas elsewhere of the nodes at home here
} SrpPart;

typedef struct SrpTotals {
    int64_t pins;
    int64_t replicas;     // R
    int64_t cut;          // hyperedges whose pins have more than one home
    int64_t connectivity; // sum over hyperedges of the homes of its pins - 1
    int64_t overfull;     // hyperedges (fennel: nodes) placed although every part was full
    int64_t work;         // entries of lists that were visited: the counted work
    int64_t runs, undone; // of phase 2, and those that were taken back in part or whole
} SrpTotals;

typedef struct Srp Srp;

// NULL with EXIT_MEMORY.
Srp *srp_new(const SrpOptions *options, Error *err);
void srp_free(Srp *srp); // NULL is allowed
CLEARED_POINTER(srp_drop, Srp, srp_free)

// Applies an event and gives what is new a home; phase 2 runs when enough has arrived. Errors as
// live_apply: nothing has changed then.
bool srp_apply(Srp *srp, const Event *event, Error *err);

LiveHypergraph *srp_live(Srp *srp); // its hypergraph; only `strict` may be changed
int32_t srp_home(const Srp *srp, int side, int32_t slot); // SRP_NONE for a free slot
int srp_homes_of_pins(const Srp *srp, int32_t hyperedge); // how many there are
const SrpPart *srp_parts(const Srp *srp);                 // [parts]
SrpTotals srp_totals(const Srp *srp);
size_t srp_bytes(const Srp *srp); // of memory in use

// C' of ALGORITHMS C.1: 2 R and the deviations of pins and of replicas. What phase 2 lowers.
double srp_cost(const Srp *srp);

// The bound on the pins of the hyperedges of a part, in a snapshot.
typedef struct SrpBound {
    double mean;     // pins of a part
    double promised; // by the options: (1 + epsilon) mean, or the capacity
    int64_t most;    // pins that a part may have; above `promised` where hyperedges do not allow it
    int64_t largest; // pins of the largest hyperedge
} SrpBound;

// That of hyperedges of so many pins, which it sorts.
SrpBound srp_bound(const SrpOptions *options, int64_t *pins_of, int64_t hyperedges);
// The sentence for a promise that cannot be kept; it names the epsilon that can.
void srp_bound_text(char *out, size_t size, const SrpOptions *options, const SrpBound *bound);

// Makes the homes final for a snapshot: further passes, then the refinement of all nodes, then what
// is needed until no part is above the bound, which it returns. No event may come until
// srp_unsettle, which restores the homes that the stream goes on with.
SrpBound srp_settle(Srp *srp);
void srp_unsettle(Srp *srp);

// Files from which a new Srp with the same options goes on as the saved one would. Not while
// settled. Not durable by themselves.
bool srp_write(Srp *srp, const char *folder, Error *err);
bool srp_read(Srp *srp, const char *folder, Error *err); // into a new one
