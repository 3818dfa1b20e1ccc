// gradsync: weight gradients between ranks. Each element is summed over ranks in rank order
// (MPI_Allreduce changes bits with its algorithm, TRAPS 8): slices go to their owners all-to-all,
// are added there, and come back. The backward pass makes the flat gradient from its end to its
// beginning, so finished parts are summed while the rest is computed.
#ifndef FRINGE_GRADSYNC_H
#define FRINGE_GRADSYNC_H

#include "fringe/backend.h"
#include "fringe/base.h"

typedef struct GradSync GradSync;
GradSync *gradsync_new(const Comm *comm, const Backend *backend, int64_t count); // collective
void gradsync_free(GradSync *sync); // collective; not before a sum is finished
void gradsync_plan(MemoryPlan *plan, const Backend *backend, int64_t count, int size);
// Reports that elements [from, count) of gradient [count] are made on this rank. Until
// gradsync_finish the caller may not read, write or free them. `from` decreases from call to call.
// Never blocks; ranks may report different parts at different times, or nothing.
void gradsync_made(GradSync *sync, DeviceFloat *gradient, int64_t from);
void gradsync_progress(void *sync); // a Poll function: progresses messages; never blocks
// Completes the sum: gradient [count] = sum over ranks, with the same bits on every rank, whatever
// was reported when. Collective.
void gradsync_finish(GradSync *sync, DeviceFloat *gradient);
int64_t gradsync_bytes(const GradSync *sync);                 // sent by this rank per sum
int64_t gradsync_bytes_of(int64_t count, int size, int rank); // sent by rank `rank` of `size`

#endif
