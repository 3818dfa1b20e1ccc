// gradsync: weight gradients between ranks. Each element is summed over ranks in rank order
// (MPI_Allreduce changes bits with its algorithm, TRAPS 8): slices go to their owners all-to-all,
// are added there, and come back. The backward pass makes the flat gradient from its end to its
// beginning, so the sum of what is made already travels while the rest is computed.
#ifndef FRINGE_GRADSYNC_H
#define FRINGE_GRADSYNC_H

#include "fringe/backend.h"
#include "fringe/base.h"

typedef struct GradSync GradSync;
GradSync *gradsync_new(const Comm *comm, const Backend *backend, int64_t count); // collective
void gradsync_free(GradSync *sync); // collective; not before a sum is finished
void gradsync_plan(MemoryPlan *plan, const Backend *backend, int64_t count, int size);
// Elements [from, count) of gradient [count] are made on this rank; they belong to the sum until
// gradsync_finish: not read, written or freed. `from` falls from call to call. Waits for nobody;
// each rank says what and when it likes, or nothing.
void gradsync_made(GradSync *sync, DeviceFloat *gradient, int64_t from);
void gradsync_progress(void *sync); // a Poll function: moves what is on its way; never blocks
// gradient [count], the one that was made = sum over ranks, on every rank, the same bits whatever
// was said when. Collective.
void gradsync_finish(GradSync *sync, DeviceFloat *gradient);
int64_t gradsync_bytes(const GradSync *sync);                 // sent by this rank per sum
int64_t gradsync_bytes_of(int64_t count, int size, int rank); // by that one of so many ranks

#endif
