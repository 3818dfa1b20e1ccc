// MPI itself, for the two modules that post messages of their own (base, wire). Others use comm.h
// or wire.h.
#pragma once

#include "fringe/base/comm.h"

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> // Open MPI's: MPIX_Query_cuda_support
#endif

struct CommMpi {
    MPI_Comm data; // the collectives use tags from 32700 on
};
static inline MPI_Comm comm_mpi(const Comm *comm) { return comm->mpi->data; }

// Waits for `count` requests. `what` as in comm_wait_until.
void comm_wait(const Comm *comm, MPI_Request *requests, int count, const char *what);

#define CHECK_MPI(call)                                                                            \
    do {                                                                                           \
        int status_ = (call);                                                                      \
        if (status_ != 0)                                                                          \
            check_failed(__FILE__, __LINE__, EXIT_UNAVAILABLE, "%s failed with MPI error %d",      \
                         #call, status_);                                                          \
    } while (0)
