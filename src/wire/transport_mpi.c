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
static int length_of(const MPI_Status *status, bool failed) {
    int class = MPI_SUCCESS, bytes = PIECE_CUT;
    if (failed)
        MPI_Error_class(status->MPI_ERROR, &class);
    if (class == MPI_ERR_TRUNCATE)
        return PIECE_CUT;
    CHECK_MPI(failed ? status->MPI_ERROR : MPI_SUCCESS);
    CHECK_MPI(MPI_Get_count(status, MPI_BYTE, &bytes));
    return bytes;
}

static int mpi_test(Endpoint *e, int first, int count) {
    int done = 0;
    int code = MPI_Testsome(count, requests(e) + first, &done, e->done, statuses(e));
    if (code != MPI_ERR_IN_STATUS)
        CHECK_MPI(code);
    for (int i = 0; done != MPI_UNDEFINED && i < done; i++)
        e->bytes[i] = length_of(&statuses(e)[i], code == MPI_ERR_IN_STATUS);
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
