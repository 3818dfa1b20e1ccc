// The backend of a training or an evaluation, the same on all ranks.
#include "internal.h"

// The row of the table; -1: none.
static int row_of(const Backend *backend) {
    for (int i = 0; i < backend_family.count; i++)
        if (family_member(&backend_family, i) == backend)
            return i;
    return -1;
}

static bool same_everywhere(const Comm *comm, int number) {
    return comm_max_double(comm, number) == -comm_max_double(comm, -number);
}

// MPI is given addresses of devices only if all ranks have some and its library on each takes them.
static bool device_messages(const Config *config, const Backend *backend, const Comm *comm) {
    bool can = backend != NULL && backend->is_device && transport_used()->reaches_device();
    return comm_max_double(comm, !can) == 0 && config->run.device_messages;
}

int device_ranks(const Backend *backend, const Comm *comm) {
    enum { ID_BYTES = 64 };
    FREED char *all = ALLOC(char, ID_BYTES * comm->size, "names of devices");
    char mine[ID_BYTES] = "";
    bool is_device = backend != NULL && backend->device_id != NULL;
    int ranks = 0;
    if (is_device)
        snprintf(mine, sizeof mine, "%s", backend->device_id());
    comm_all_gather(comm, mine, all, sizeof mine);
    for (int r = 0; r < comm->size; r++)
        ranks += strcmp(all + (size_t)r * ID_BYTES, mine) == 0;
    return is_device ? ranks : 0;
}

BackendStart backend_start_of(const Config *config, const Comm *comm) {
    return (BackendStart){.vectors = config->run.simd,
                          .spmm = config->run.spmm,
                          .precision = config->run.precision,
                          .sums = config->run.bf16_sums,
                          .node_rank = comm->node_rank,
                          .node_size = comm->node_size};
}

bool agree_on_sums(const Backend *backend, BackendStart *how, const Comm *comm, Error *err) {
    const char *sums = backend != NULL && backend->sums != NULL ? backend->sums() : NULL;
    if (same_everywhere(comm, sums != NULL && strcmp(sums, "tiles") == 0))
        return true;
    how->sums = "pairs"; // ranks differ
    return backend == NULL || backend->start(how, err);
}

// Bits of different backends differ, so `auto` takes a device only where all ranks have it.
const Backend *backend_of(const Config *config, const Comm *comm, Error *err) {
    assert(strcmp(config->run.precision, "auto") != 0); // precision_take has settled it
    BackendStart how = backend_start_of(config, comm);
    const Backend *backend = backend_open(config->run.backend, &how, err);
    if (!same_everywhere(comm, row_of(backend)) &&
        strcmp(config->run.backend, backend_family.automatic) == 0)
        backend = backend_open("cpu", &how, err);
    if (comm->size > 1) // of one rank that plans for several, node_size says more
        how.device_ranks = device_ranks(backend, comm);
    if (how.device_ranks > 0 && !backend->start(&how, err))
        backend = NULL;
    if (!agree_on_sums(backend, &how, comm, err))
        backend = NULL;
    wire_use_device_memory(device_messages(config, backend, comm));
    return backend;
}
