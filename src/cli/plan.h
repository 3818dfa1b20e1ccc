// What the files of fringe plan share.
#pragma once

#include "fringe/plan.h"
#include "internal.h"

enum { MODES = 12, SMALL = 3 };

typedef struct Plan {
    const Options *options;
    int points, ranks[PLAN_POINTS];
    int64_t nodes; // of a small graph; 0: it is large
    PlanMachine machine;
    bool measured, link_given;
    Config *config; // [MODES] in each mode
    const char *mode[MODES];
    int modes;
    PlanCut small[SMALL]; // those that are open, ascending
    int smalls;
    PlanGrowth growth;
    PlanCut cut;                           // of the number of ranks in turn
    PlanEstimate (*estimate)[PLAN_POINTS]; // [MODES] owned
    bool checked[PLAN_POINTS];
    double answers; // bytes of the files of fringe predict: scores and classes of all nodes
    Warnings warnings;
    Error err;
} Plan;

// --- plan_print.c
void plan_print_text(const Plan *plan); // stdout
void plan_print_json(const Plan *plan);
bool plan_draw(Plan *plan); // --svg; false with plan->err
