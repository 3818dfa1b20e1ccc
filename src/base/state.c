// Sections of state. Rank 0 gathers distributed elements when it saves and scatters them when it
// restores. Each time the ranks report their numbers of elements, so that no section keeps a table.

#include "fringe/base/state.h"

#include "fringe/base/memory.h"

#include <stdio.h>
#include <string.h>

void state_register(StateSections *sections, StateSection section) {
    assert(sections->count < STATE_SECTIONS && state_find(sections, section.name) == NULL);
    sections->section[sections->count++] = section;
}

const StateSection *state_find(const StateSections *sections, const char *name) {
    for (int i = 0; i < sections->count; i++)
        if (strcmp(sections->section[i].name, name) == 0)
            return &sections->section[i];
    return NULL;
}

// ---- saving

void state_put(StateWriter *w, const char *name, TensorType type, int64_t count, const void *data) {
    if (w->comm->rank != 0)
        return;
    assert(w->tensors < STATE_TENSORS);
    Tensor *tensor = &w->tensor[w->tensors++];
    *tensor = (Tensor){.type = type, .rank = 1, .shape = {count}, .data = data};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
}

static void keep(StateWriter *w, void *memory) {
    assert(w->taken < STATE_TENSORS);
    w->memory[w->taken++] = memory;
}

void state_put_copy(StateWriter *w, const char *name, TensorType type, int64_t count,
                    const void *data) {
    size_t bytes = memory_product(count, tensor_type_bytes[type]);
    if (w->comm->rank != 0)
        return;
    keep(w, memcpy(memory_alloc(bytes, "state to write"), data, bytes));
    state_put(w, name, type, count, w->memory[w->taken - 1]);
}

void *state_try(StateWriter *w, size_t bytes, const char *what, Error *err) {
    void *memory = memory_try(bytes, what, err);
    keep(w, memory);
    return memory;
}

// Where each rank's elements begin, in bytes: [size + 1]; memory_free. Collective.
static int64_t *places_of(const Comm *comm, int64_t count, size_t bytes) {
    int64_t *place = ALLOC(int64_t, comm->size + 1, "places of the ranks' state");
    int64_t own = (int64_t)memory_product(count, bytes);
    comm_all_gather(comm, &own, place + 1, sizeof own);
    for (int r = 0; r < comm->size; r++)
        place[r + 1] += place[r];
    return place;
}

void state_put_by_rank(StateWriter *w, const char *name, TensorType type, int64_t count,
                       const void *mine) {
    const Comm *comm = w->comm;
    size_t bytes = tensor_type_bytes[type];
    int64_t *place = places_of(comm, count, bytes), all = comm->rank == 0 ? place[comm->size] : 0;
    void *joined = memory_alloc((size_t)all, "state of all ranks");
    comm_gather_v(comm, mine, joined, place);
    keep(w, joined);
    state_put(w, name, type, all / (int64_t)bytes, joined);
    memory_free(place);
}

// ---- restoring

// Data [count] in rank 0's file; NULL on the other ranks.
static const void *need(const StateReader *reader, const char *name, TensorType type, int64_t count,
                        Error *err) {
    const Tensor *found =
        reader->file != NULL ? tensors_need(reader->file, name, type, 1, &count, err) : NULL;
    return found != NULL ? found->data : NULL;
}

bool state_get(const StateReader *reader, const char *name, TensorType type, int64_t count,
               void *data, Error *err) {
    const void *found = need(reader, name, type, count, err);
    size_t bytes = memory_product(count, tensor_type_bytes[type]);
    if (!comm_agree(reader->comm, err))
        return false;
    if (found != NULL && bytes > 0)
        memcpy(data, found, bytes);
    comm_broadcast(reader->comm, data, bytes, 0);
    return true;
}

// Rank 0 sends each rank its elements; the others send nothing.
static void hand_out(const Comm *comm, const void *all, const int64_t *place, void *mine) {
    int64_t *from = ALLOC(int64_t, comm->size + 1, "places of the ranks' state");
    int64_t *to = ALLOC(int64_t, comm->size + 1, "places of the ranks' state");
    for (int r = 0; r <= comm->size; r++) {
        from[r] = comm->rank == 0 ? place[r] : 0;
        to[r] = r > 0 ? place[comm->rank + 1] - place[comm->rank] : 0;
    }
    comm_all_to_all_v(comm, all, from, mine, to);
    memory_free(to);
    memory_free(from);
}

bool state_get_by_rank(const StateReader *reader, const char *name, TensorType type, int64_t count,
                       void *mine, Error *err) {
    const Comm *comm = reader->comm;
    size_t bytes = tensor_type_bytes[type];
    int64_t *place = places_of(comm, count, bytes);
    const void *found = need(reader, name, type, place[comm->size] / (int64_t)bytes, err);
    bool ok = comm_agree(comm, err);
    if (ok)
        hand_out(comm, found, place, mine);
    memory_free(place);
    return ok;
}

// ---- whole sections

typedef struct Writing {
    const StateWriter *writer;
    const char *path;
    Error *err;
} Writing;

static void write_tensors(void *context) {
    const Writing *w = context;
    tensors_write(w->path, w->writer->tensor, w->writer->tensors, NULL, true, w->err);
}

bool state_write(const StateSection *section, const Comm *comm, const char *path, Error *err) {
    StateWriter writer = {.comm = comm};
    if (section->save(section->owner, &writer, err) && comm->rank == 0 && path != NULL)
        comm_aside(comm, write_tensors, &(Writing){&writer, path, err});
    for (int i = 0; i < writer.taken; i++)
        memory_free(writer.memory[i]);
    return err->code == 0;
}

typedef struct Opening {
    Tensors *file;
    const char *path;
    bool open;
    Error *err;
} Opening;

static void open_tensors(void *context) {
    Opening *o = context;
    o->open = tensors_open(o->file, o->path, o->err);
}

bool state_read(const StateSection *section, const Comm *comm, const char *path, Error *err) {
    Tensors file = {0};
    Opening opening = {.file = &file, .path = path, .err = err};
    if (comm->rank == 0)
        comm_aside(comm, open_tensors, &opening);
    StateReader reader = {.comm = comm, .file = comm->rank == 0 ? &file : NULL};
    bool ok = comm_agree(comm, err) && section->restore(section->owner, &reader, err);
    if (opening.open)
        tensors_close(&file);
    return ok;
}
