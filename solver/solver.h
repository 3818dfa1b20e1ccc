// Shared by the two files of fringe-solver.
#pragma once

#include "fringe/bitwidth.h"

// Searches for better choices of one round's groups with GLPK, for at most `seconds`, until none
// can be better by more than `gap` of the objective. Writes each choice that it finds to `out`: one
// byte (an index of a width) for each group of the round, in order. Must run in a separate process,
// because GLPK calls abort() if memory is short.
void glpk_round(const Problem *problem, int round, const uint8_t *incumbent, double seconds,
                double gap, int out);
// Ends the process where nobody reads any more.
void write_or_exit(int out, const void *data, size_t bytes);
