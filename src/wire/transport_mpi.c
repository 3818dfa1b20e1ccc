// The transport of MPI: a piece is a message of MPI, a slot a request.

#include "fringe/base/mpi.h"
#include "internal.h"

// What an endpoint stores for each slot, as two arrays, so that MPI sees the requests in one piece.
typedef struct Slot {
    MPI_Request request;
    MPI_Status status;
} Slot;

static MPI_Request *requests(const Endpoint *e) { return e->state; }

static MPI_Status *statuses(const Endpoint *e) { return (MPI_Status *)(requests(e) + e->slots); }

static void mpi_open(Endpoint *e) {
    for (int i = 0; i < e->slots; i++)
        requests(e)[i] = MPI_REQUEST_NULL;
}

static void mpi_close(Endpoint *e) { (void)e; }

static void mpi_receive(Endpoint *e, int slot, void *at, int bytes, int from, int tag) {
    CHECK_MPI(MPI_Irecv(at, bytes, MPI_BYTE, from, tag, comm_mpi(&e->comm), &requests(e)[slot]));
}

static void mpi_send(Endpoint *e, int slot, const void *at, int bytes, int to, int tag) {
    CHECK_MPI(MPI_Isend(at, bytes, MPI_BYTE, to, tag, comm_mpi(&e->comm), &requests(e)[slot]));
}

// A piece that is longer than expected is cut by MPI. That is no error of MPI's here.
static void check_statuses(const MPI_Status *status, int code, int count, bool *cut) {
    if (code != MPI_ERR_IN_STATUS)
        CHECK_MPI(code);
    for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; i++) {
        int class = MPI_SUCCESS;
        MPI_Error_class(status[i].MPI_ERROR, &class);
        *cut |= class == MPI_ERR_TRUNCATE;
        if (class != MPI_ERR_TRUNCATE)
            CHECK_MPI(status[i].MPI_ERROR);
    }
}

static int mpi_test(Endpoint *e, int first, int count, bool *cut) {
    int done = 0;
    int code = MPI_Testsome(count, requests(e) + first, &done, e->done, statuses(e));
    check_statuses(statuses(e), code, done, cut);
    return done == MPI_UNDEFINED ? 0 : done;
}

const Transport transport_mpi = {
    .name = "mpi",
    .slot_bytes = sizeof(Slot),
    .reaches_device = comm_cuda_support,
    .open = mpi_open,
    .close = mpi_close,
    .receive = mpi_receive,
    .send = mpi_send,
    .test = mpi_test,
};
