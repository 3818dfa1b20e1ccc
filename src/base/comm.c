// The ranks: starting and stopping.

#include "fringe/base/memory.h"
#include "fringe/base/text.h"
#include "fringe/base/threads.h"
#include "internal.h"

#include <sched.h>
#include <unistd.h>

static int world_rank = -1; // in MPI_COMM_WORLD; -1: MPI is not running. Any thread may read it.
static const double default_timeout = 60.0;

// Counts the cores that the ranks of a machine may use together: mpirun binds each of one or two
// ranks to a core.
static int node_cores(MPI_Comm node) {
    cpu_set_t mask, all;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0)
        return threads_on_node();
    CHECK_MPI(MPI_Allreduce(&mask, &all, sizeof mask, MPI_BYTE, MPI_BOR, node));
    return CPU_COUNT(&all);
}

static void find_node(Comm *comm) {
    MPI_Comm node;
    CHECK_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    CHECK_MPI(MPI_Comm_rank(node, &comm->node_rank));
    CHECK_MPI(MPI_Comm_size(node, &comm->node_size));
    int cores = node_cores(node);
    threads_set_node_cores(cores);
    comm_wait_crowded(comm->node_size > cores || comm->node_size > threads_rationed(),
                      getenv("FRINGE_TEST_CROWDED") != NULL);
    CHECK_MPI(MPI_Comm_free(&node));
}

static void end_all(ExitCode code, const char *sentence) {
    if (world_rank >= 0)
        comm_abort_saying(code, "fringe: rank %d: %s\n", world_rank, SHOWN(sentence));
    comm_abort_saying(code, "fringe: %s\n", SHOWN(sentence));
}

void comm_start(Comm *comm, int *argc, char ***argv) {
    check_ends_with(end_all);
    // ob1's put protocol can make an exchange between two hosts half-duplex; 1 selects the send
    // pipeline.
    setenv("OMPI_MCA_btl_tcp_flags", "1", 0);
    int level = 0;
    end_after(600, "fringe: the ranks did not connect within 600 seconds; a host hangs, or a "
                   "firewall blocks a connection\n");
    CHECK_MPI(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level));
    CHECK(level >= MPI_THREAD_FUNNELED, EXIT_UNAVAILABLE,
          "this MPI offers no thread level above %d; fringe needs MPI_THREAD_FUNNELED", level);
    CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    *comm = (Comm){.timeout = default_timeout};
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &comm->rank));
    CHECK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &comm->size));
    world_rank = comm->rank;
    comm->mpi = ALLOC(struct CommMpi, 1, "communicator");
    CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm->mpi->data));
    find_node(comm);
    alarm(0);
    heartbeat_start(comm);
}

void comm_stop(Comm *comm) {
    if (comm->mpi == NULL)
        return;
    comm_barrier(comm);
    if (comm->timeout > 0 && comm->size > 1)
        end_after((unsigned)comm->timeout + 1,
                  "fringe: the ranks did not end together; a rank is stopped or hung\n");
    heartbeat_stop();
    comm_release(comm);
    MPI_Finalize();
    alarm(0);
    world_rank = -1;
}

void comm_self(Comm *comm) {
    *comm = (Comm){.size = 1, .node_size = 1, .timeout = default_timeout};
}

void comm_set_timeout(Comm *comm, double seconds) { comm->timeout = seconds; }

void comm_duplicate(Comm *copy, const Comm *comm) {
    *copy = *comm;
    if (comm->mpi == NULL)
        return;
    MPI_Request request;
    copy->mpi = ALLOC(struct CommMpi, 1, "communicator");
    CHECK_MPI(MPI_Comm_idup(comm_mpi(comm), &copy->mpi->data, &request));
    comm_wait(comm, &request, 1, "a second communicator");
}

void comm_release(Comm *copy) {
    if (copy->mpi == NULL)
        return;
    CHECK_MPI(MPI_Comm_free(&copy->mpi->data));
    memory_free(copy->mpi);
    copy->mpi = NULL;
}

const char *comm_library(char out[COMM_LIBRARY]) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int bytes = 0;
    MPI_Get_library_version(text, &bytes);
    text[strcspn(text, ",\n")] = 0;
    snprintf(out, COMM_LIBRARY, "%s", text);
    return out;
}

bool comm_cuda_support(void) {
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() != 0;
#else
    return false;
#endif
}
