// Sections of state. Rank 0 takes distributed elements rank by rank when it saves, and scatters
// them when it restores. Each time the ranks report their numbers of elements, so that no section
// keeps a table.

#include "fringe/base/state.h"

void state_register(StateSections *sections, StateSection section) {
    if (section.name == NULL)
        return;
    assert(sections->count < STATE_SECTIONS && state_find(sections, section.name) == NULL);
    sections->section[sections->count++] = section;
}

const StateSection *state_find(const StateSections *sections, const char *name) {
    for (int i = 0; i < sections->count; i++)
        if (strcmp(sections->section[i].name, name) == 0)
            return &sections->section[i];
    return NULL;
}

// ---- saving: small pieces gather in a buffer, because a helper thread for each takes longer

enum { GATHERED = 1 << 16 };

typedef struct StateFile {
    const char *path;
    const StateWalk *named;
    bool open;
    TensorsWriter writer;
    unsigned char gathered[GATHERED];
    size_t used;
    const void *large; // that follows what has gathered
    size_t large_bytes;
    Error *err;
} StateFile;

static void open_file(void *context) {
    StateFile *f = context;
    f->open =
        tensors_writer_open(&f->writer, f->path, f->named->tensor, f->named->tensors, NULL, f->err);
}

static void write_file(void *context) {
    StateFile *f = context;
    if (f->err->code == 0 && tensors_writer_put(&f->writer, f->gathered, f->used, f->err))
        tensors_writer_put(&f->writer, f->large, f->large_bytes, f->err);
    f->used = f->large_bytes = 0;
}

static void close_file(void *context) {
    StateFile *f = context;
    write_file(f);
    tensors_writer_close(&f->writer, true, f->err);
}

// On rank 0, in the second pass.
static void write_bytes(StateWalk *w, const void *data, size_t bytes) {
    StateFile *f = w->file;
    if (f == NULL || bytes == 0)
        return;
    if (bytes <= GATHERED - f->used) {
        memcpy(f->gathered + f->used, data, bytes);
        f->used += bytes;
        return;
    }
    f->large = data;
    f->large_bytes = bytes;
    comm_on_helper(w->comm, write_file, f);
}

static void name_tensor(StateWalk *w, const Tensor *tensor) {
    if (w->comm->rank != 0 || w->writes)
        return;
    assert(w->tensors < STATE_TENSORS);
    w->tensor[w->tensors++] = *tensor;
}

void state_put_tensor(StateWalk *w, const Tensor *tensor) {
    name_tensor(w, tensor);
    write_bytes(w, tensor->data, tensor_bytes(tensor));
}

// One rank after the other sends its elements to rank 0, which writes them.
static void write_pieces(StateWalk *w, const int64_t *place, const void *mine) {
    const Comm *comm = w->comm;
    int64_t *alone = ALLOC(int64_t, comm->size + 1, "places of the ranks' state");
    write_bytes(w, mine, (size_t)place[1]);
    for (int r = 1; r < comm->size; r++) {
        if (comm->rank != 0 && comm->rank != r)
            continue;
        int64_t bytes = place[r + 1] - place[r];
        void *piece = memory_alloc(comm->rank == 0 ? (size_t)bytes : 0, "state of another rank");
        for (int k = 0; k <= comm->size; k++)
            alone[k] = k > r ? bytes : 0;
        comm_gather_v(comm, mine, piece, alone);
        write_bytes(w, piece, (size_t)bytes);
        memory_free(piece);
    }
    memory_free(alone);
}

// ---- restoring

// Data [count] in rank 0's file; NULL on the other ranks.
static const void *need(const StateWalk *w, const char *name, TensorType type, int64_t count,
                        Error *err) {
    const Tensor *found =
        w->from != NULL ? tensors_need(w->from, name, type, 1, &count, err) : NULL;
    return found != NULL ? found->data : NULL;
}

// ---- both

bool state_replicated(StateWalk *w, const char *name, TensorType type, int64_t count, void *data,
                      Error *err) {
    const Tensor tensor = tensor_vector(type, count, data, "%s", name);
    if (!w->restores) {
        state_put_tensor(w, &tensor);
        return true;
    }
    const void *found = need(w, name, type, count, err);
    if (!comm_agree(w->comm, err))
        return false;
    if (found != NULL && count > 0)
        memcpy(data, found, tensor_bytes(&tensor));
    comm_broadcast(w->comm, data, tensor_bytes(&tensor), 0);
    return true;
}

bool state_distributed(StateWalk *w, const char *name, TensorType type, int64_t count, void *mine,
                       Error *err) {
    size_t bytes = tensor_type_bytes[type];
    int64_t *place = comm_offsets(w->comm, (int64_t)memory_product(count, bytes));
    const Tensor all = tensor_vector(type, place[w->comm->size] / (int64_t)bytes, NULL, "%s", name);
    const void *found = w->restores ? need(w, name, type, all.shape[0], err) : NULL;
    bool ok = !w->restores || comm_agree(w->comm, err);
    if (!w->restores)
        name_tensor(w, &all);
    if (w->writes)
        write_pieces(w, place, mine);
    if (w->restores && ok)
        comm_scatter_v(w->comm, found, mine, place);
    memory_free(place);
    return ok;
}

// ---- whole sections

bool state_write(const StateSection *section, const Comm *comm, const char *path, Error *err) {
    StateWalk walk = {.comm = comm};
    FREED StateFile *file = ALLOC(StateFile, 1, "state to write");
    *file = (StateFile){.path = path, .named = &walk, .err = err};
    if (section->walk(section->owner, &walk, err) && comm->rank == 0)
        comm_on_helper(comm, open_file, file);
    if (comm_agree(comm, err)) {
        walk.writes = true;
        walk.file = comm->rank == 0 ? file : NULL;
        section->walk(section->owner, &walk, err);
    }
    if (file->open)
        comm_on_helper(comm, close_file, file);
    return err->code == 0;
}

typedef struct Opening {
    Tensors *file;
    const char *path;
} Opening;

static void open_tensors(void *context, Error *err) {
    const Opening *o = context;
    tensors_open(o->file, o->path, err);
}

bool state_read(const StateSection *section, const Comm *comm, const char *path, Error *err) {
    Tensors file = {0};
    if (!comm_on_root(comm, open_tensors, &(Opening){&file, path}, err))
        return false;
    StateWalk walk = {.comm = comm, .restores = true, .from = comm->rank == 0 ? &file : NULL};
    bool ok = section->walk(section->owner, &walk, err);
    if (comm->rank == 0)
        tensors_close(&file);
    return ok;
}
