// Ids of nodes, where they are not 0 to n - 1: a snapshot of a stream has them in a file beside its
// rows.
#include "fringe/npy.h"
#include "internal.h"

static bool path_of(const ProgramParts *parts, char *path, size_t size) {
    path_join(path, size, parts->config->data.path, "node_ids.npy");
    return file_exists(path);
}

size_t ids_bytes(const ProgramParts *parts) {
    char path[PATH_BYTES];
    bool there = parts->comm->rank == 0 && path_of(parts, path, sizeof path);
    return there ? memory_product(nodes_of(parts)->total, sizeof(uint64_t)) : 0;
}

typedef struct IdFile { // read by rank 0 in a helper thread
    const char *path;
    uint64_t *id;
    int64_t count;
} IdFile;

static void read_file(void *context, Error *err) {
    IdFile *file = context;
    CLEARED(npy_clear) Npy npy = {0};
    if (npy_read(&npy, file->path, err) && npy_to_ids(&npy, &file->id, err))
        file->count = npy.elements;
}

// The ids on rank 0, memory_free them; *count on all ranks. Collective.
static uint64_t *read_ids(const ProgramParts *parts, const char *path, int64_t *count, Error *err) {
    IdFile file = {.path = path};
    comm_on_root(parts->comm, read_file, &file, err);
    comm_broadcast(parts->comm, &file.count, sizeof file.count, 0);
    *count = file.count;
    return file.id;
}

void ids_report(ProgramRun *run) {
    const ProgramParts *parts = run->parts;
    char path[PATH_BYTES];
    bool there = parts->comm->rank == 0 && path_of(parts, path, sizeof path);
    int64_t count, nodes = nodes_of(parts)->total;
    comm_broadcast(parts->comm, &there, sizeof there, 0);
    if (!there)
        return;
    uint64_t *id = read_ids(parts, path, &count, run->err);
    if (run->err->code == 0 && count != nodes)
        error_data(run->err, "node_ids.npy has %ld ids for %ld nodes", count, nodes);
    if (run->err->code != 0)
        memory_free(id);
    else
        program_array(run, (ProgramArray){"ids.npy", "<u8", sizeof *id, 0, nodes, id});
}

static int by_id(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// The number of the node with that id; -1: none. Files of ids ascend.
static int64_t node_of(const uint64_t *known, int64_t nodes, uint64_t id) {
    if (known == NULL)
        return id < (uint64_t)nodes ? (int64_t)id : -1;
    const uint64_t *found = bsearch(&id, known, (size_t)nodes, sizeof id, by_id);
    return found != NULL ? found - known : -1;
}

// Of rank 0: marks the nodes that a file names.
static void mark_nodes(const ProgramRun *run, const uint64_t *id, int64_t count, uint8_t *listed) {
    const ProgramResult *result = run->result;
    int64_t nodes = nodes_of(run->parts)->total;
    const uint64_t *known = result->arrays > 0 ? result->array[0].data : NULL;
    for (int64_t k = 0; k < count; k++) {
        int64_t node = node_of(known, nodes, id[k]);
        if (node < 0) {
            error_data(run->err, "%s names node %lu, which the data do not have",
                       run->parts->config->program.start, id[k]);
            return;
        }
        listed[node] = 1;
    }
}

bool ids_mark(const ProgramRun *run, float *own) {
    const ProgramParts *parts = run->parts;
    const RowSet *set = nodes_of(parts);
    int64_t count;
    FREED uint64_t *id = read_ids(parts, parts->config->program.start, &count, run->err);
    FREED uint8_t *listed = ALLOC(uint8_t, set->total, "nodes of the start");
    if (parts->comm->rank == 0 && run->err->code == 0)
        mark_nodes(run, id, count, listed);
    bool ok = comm_agree(parts->comm, run->err);
    comm_broadcast(parts->comm, listed, (size_t)set->total, 0);
    for (int64_t i = 0; i < set->own; i++)
        own[i] = listed[set->gid[i]];
    return ok;
}
