// Shared by the files of an estimate: what is planned, and the work of a rank.
#pragma once

#include "fringe/plan.h"
#include "fringe/trainer.h"

// FLOPS_BESIDE: flops that need no message, in FLOPS. Of the others bytes, of aggregates first;
// GATHER_OWN: those that need no message, in GATHER.
enum { FLOPS, FLOPS_BESIDE, GATHER, GATHER_OWN, POINT, LOSS, PACK, UNPACK, WORKS };
typedef struct Work { // of one rank in one phase
    double of[WORKS];
    double sent, rows; // bytes of messages, their rows
} Work;

typedef struct Planning {
    const Config *config;
    const PlanMachine *machine;
    PlanCut *cut;
    ModelShape shape;
    ModelKinds kinds;
    const PatternCounts *counts[2 * MODEL_LAYERS + SHARD_SETS]; // [kind] of the ranks that are held
    CodecOptions options;                                       // of exchanges
    GradForm gradients;                                         // without spans
    bool full_precision[MODEL_LAYERS][2]; // exchanges that send fp32 (quantization.exchanges)
    const Schedule *schedule;
    double share[MODEL_LAYERS][2][WIDTH_MOST + 1]; // plan_widths of each exchange
    Error *err;
} Planning;

// ---- work.c
// Of one rank in the phase of a layer and direction.
Work work_of(const Planning *p, int rank, int l, int d);
double message_bytes(const Planning *p, int l, int d, double rows);
