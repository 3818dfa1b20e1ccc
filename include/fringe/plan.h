// plan: what a training will take, before anything is trained: memory of a rank, bytes and time of
// an epoch, for any number of ranks.
//
// A PlanCut holds the sizes of a cut. That of a cut in the cache is counted from its shards and is
// exact; for another number of parts the sizes are estimated from those of a smaller cut and a
// PlanGrowth. The memory is what the trainer's own planning functions say about these sizes
// (trainer_forecast_outline), so there is no second list of items. The time is a sum of work
// divided by speeds (docs/plan.md has the formulas). No function is collective, and none uses MPI.
#pragma once

#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/model.h"
#include "fringe/partition.h"

enum {
    PLAN_RANKS = 1 << 16, // the most ranks of a plan
    PLAN_POINTS = 24,     // numbers of ranks in one plan
    PLAN_KINDS = 64,      // Patterns of all modes
    PLAN_CURVE = 32
};

// ---- growth: how a cut grows with its parts

// Totals over all parts, at ascending numbers of parts.
typedef struct PlanGrowth {
    int count;
    double parts[PLAN_CURVE];
    double halo[PLAN_CURVE];     // halo rows
    double crossing[PLAN_CURVE]; // edges between parts
    double marginal[PLAN_CURVE]; // rows that read another part
    double balance[PLAN_CURVE];  // rows of the largest part / mean
} PlanGrowth;
// value at `parts`, on straight lines through the points in logarithms of both; the first and last
// line go on beyond them. 0 where a neighbouring value is 0. count >= 1, x ascending.
double plan_curve(const double *x, const double *value, int count, double at);

// ---- sizes of a cut

typedef struct PlanCounted { // the Patterns of one kind
    PatternKind kind;
    bool share;
    PatternCounts *counts; // [held] owned
} PlanCounted;

typedef struct PlanCut {
    int parts;
    bool checked; // a cut that exists; false: estimated
    int held;     // shards: all parts of a checked cut; else 1, the largest rank
    Shard *shard; // [held] owned; in outline where not checked
    double halo;  // halo rows over all parts
    double crossing, marginal, balance; // as in PlanGrowth
    double halo_balance;                // halo rows of the largest part / mean
    int kinds;
    PlanCounted counted[PLAN_KINDS]; // owned; made when they are asked for
    struct PlanCut *base;            // not checked: a checked cut into fewer parts; borrowed
    double grown[3];                 // halo, crossing, marginal: times those of the base
} PlanCut;
// Opens the shards of a cut in `folder`.
bool plan_cut_open(PlanCut *cut, const char *folder, int parts, Error *err);
// Estimates a cut into more parts than `base` has. EXIT_CONFIG for hypergraphs, EXIT_DATA if there
// are fewer nodes than parts.
bool plan_cut_estimate(PlanCut *cut, PlanCut *base, const PlanGrowth *growth, int parts,
                       Error *err);
void plan_cut_clear(PlanCut *cut);
// The sizes of the Patterns of that kind: [held]; counted once. NULL with EXIT_MEMORY.
const PatternCounts *plan_cut_counts(PlanCut *cut, const PatternKind *kind, bool share,
                                     const Config *config, Error *err);

// The growth up to `most` parts: `cuts` are checked and ascending; beyond the last one, some of
// its parts are cut again (partition_cut_again), into 2, 4, 8, ... pieces. May take long.
bool plan_growth_fit(PlanGrowth *growth, const PlanCut *cuts, int count, int most,
                     const Config *config, Error *err);

// ---- the machine

typedef struct PlanSpeed { // of one core
    double flops;          // dense products, a second
    double gather;         // bytes a second of sparse aggregates
    double point;          // of pointwise work
    double loss;           // of the loss, logits read and gradients written
    double pack, unpack;   // of messages, rows and bytes together
} PlanSpeed;
typedef struct PlanMachine {
    int ranks_per_host;
    double cores;              // of a host; below 1 where hosts share a core
    double bandwidth, latency; // of a host's link: bytes a second, seconds
    PlanSpeed speed;
} PlanMachine;
// Measures this machine with the kernels that the config would run, on rows and edges of `shard`,
// for about a second. EXIT_CONFIG if the backend does not start.
bool plan_measure(PlanSpeed *speed, const Config *config, const Shard *shard, Error *err);

// ---- the estimate

typedef struct PlanTime { // seconds of an epoch
    double dense, aggregate, pointwise, pack;
    double messages, reduce; // that nothing hides
    double hidden;           // seconds of messages behind computation; not in the total
} PlanTime;
double plan_time_total(const PlanTime *time);

typedef struct PlanEstimate {
    MemoryForecast memory; // of the rank that takes most
    size_t least;          // of the rank that takes least
    PlanTime time;
    double bytes, reduce_bytes; // sent by all ranks in an epoch
    double rows;                // sent by all ranks in an epoch
    double halo;                // halo rows of all ranks, of the whole graph
} PlanEstimate;
bool plan_estimate(PlanEstimate *out, const Config *config, PlanCut *cut,
                   const PlanMachine *machine, Error *err);

// The shares of rows of each width, share[b] of b bits, that the assigner is expected to choose for
// messages of `columns` values: by quantization.*, for sensitivities that are spread as a lognormal
// (docs/plan.md). counts: [ranks], those that are held. All 0: nothing is sent.
void plan_widths(double share[WIDTH_MOST + 1], const Config *config, const PatternCounts *counts,
                 int ranks, int64_t columns, const PlanMachine *machine);

// ---- the picture

typedef struct PlanPoint {
    int ranks;
    bool checked;
    double seconds, memory;
} PlanPoint;
typedef struct PlanLine {
    const char *name;
    int count;
    PlanPoint point[PLAN_POINTS];
} PlanLine;
// Writes an SVG of epoch time and memory against ranks. Between two checked points lines are solid
// and elsewhere dashed; checked points are filled. EXIT_CANNOT_WRITE.
bool plan_svg(const char *path, const char *title, const PlanLine *line, int lines, Error *err);
