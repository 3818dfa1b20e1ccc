// How far logits are from labels that are numbers.
#pragma once

#include "internal.h"

// The buffers of Model.errors.
void alloc_errors(Model *m, const Allocator *allocator);
// Adds up the errors of all splits, and the rows into m->counts. Collective.
void measure_errors(Model *m, Rows logits);
double score_rmse(const Evaluated *e);
double score_mae(const Evaluated *e);
double score_r2(const Evaluated *e);
