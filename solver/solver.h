// What the two files of fringe-solver share.
#ifndef FRINGE_SOLVER_H
#define FRINGE_SOLVER_H

#include "fringe/bitwidth.h"

// Looks for better choices of one round's groups with GLPK, for at most so many seconds, until none
// can be better by more than `gap` of the objective. Writes each that it finds to `out`: one byte,
// an index of a width, for each group of the round in order. Runs in a process of its own: GLPK
// ends it by abort() where memory is short.
void glpk_round(const Problem *problem, int round, const uint8_t *incumbent, double seconds,
                double gap, int out);

#endif
