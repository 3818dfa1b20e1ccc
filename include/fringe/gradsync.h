// gradsync: weight gradients between ranks. Each element is summed over ranks in rank order
// (MPI_Allreduce changes bits with its algorithm, TRAPS 8): slices go to their owners all-to-all,
// are added there, and come back.
#ifndef FRINGE_GRADSYNC_H
#define FRINGE_GRADSYNC_H

#include "fringe/base.h"

typedef struct GradSync GradSync;
GradSync *gradsync_new(const Comm *comm, int64_t count);
void gradsync_free(GradSync *sync);
void gradsync_plan(MemoryPlan *plan, int64_t count, int size);
// gradient [count] = sum over ranks, on every rank, the same bits. Collective.
void gradsync_sum(GradSync *sync, float *gradient);
int64_t gradsync_bytes(const GradSync *sync); // sent by this rank per sum

#endif
