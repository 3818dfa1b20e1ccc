// Ranks that fall silent in one of several ways: for test_hang.sh.
//   helper_hang WAY RANK TIMEOUT     the rank RANK stops answering in the way WAY

#include "fringe/base.h"
#include "fringe/base/mpi.h"

#include <signal.h>
#include <unistd.h>

static void fail_aside(void *context) {
    CHECK(false, EXIT_IO, "the work %s failed", (const char *)context);
}

static bool is_past(void *seconds) { return clock_seconds() > *(double *)seconds; }

static void fall_silent(const Comm *comm, const char *way) {
    if (strcmp(way, "stop") == 0 || strcmp(way, "full") == 0)
        raise(SIGSTOP);
    else if (strcmp(way, "sleep") == 0)
        sleep(100);
    else if (strcmp(way, "aside") == 0)
        comm_on_helper(comm, fail_aside, "on the side");
    else if (strcmp(way, "check") == 0)
        CHECK(comm == NULL, EXIT_BUG, "the numbers %d and %d differ", 1, 2);
}

// So many small messages that no further one leaves, then a wait that ends after it has asked.
static void flood(const Comm *comm, int to) {
    enum { MESSAGES = 20000, BYTES = 2000 };
    static char bytes[BYTES];
    static MPI_Request requests[MESSAGES];
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(bytes, BYTES, MPI_CHAR, to, 9, comm_mpi(comm), &requests[i]);
    double until = clock_seconds() + 0.8 * comm->timeout;
    comm_wait_until(comm, is_past, &until, "some time to pass");
}

int main(int argc, char **argv) {
    Comm comm;
    comm_start(&comm, &argc, &argv);
    if (argc != 4)
        return EXIT_USAGE;
    comm_set_timeout(&comm, atof(argv[3]));
    comm_barrier(&comm);
    bool chosen = comm.rank == atoi(argv[2]);
    if (strcmp(argv[1], "apart") == 0 && chosen) { // at another step than the others
        int byte = 0;
        MPI_Request request;
        MPI_Irecv(&byte, 1, MPI_INT, comm.size - 1 - comm.rank, 9, comm_mpi(&comm), &request);
        comm_wait(&comm, &request, 1, "a message that nobody sends");
    }
    if (chosen)
        fall_silent(&comm, argv[1]);
    else if (strcmp(argv[1], "full") == 0)
        flood(&comm, atoi(argv[2]));
    comm_barrier(&comm);
    if (strcmp(argv[1], "end") == 0 && chosen) {
        comm_barrier(&comm); // that of comm_stop; MPI_Finalize is never reached
        raise(SIGSTOP);
    }
    comm_stop(&comm);
    return 0;
}
