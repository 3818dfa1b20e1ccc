// State: what an object puts into a checkpoint and restores when a run is resumed. An object whose
// state a resumed run needs registers a section: a name and a function that walks over its tensors,
// for both. The code that writes and reads checkpoints knows nothing else of it, and a section
// knows tensors, not files.
//
// State is replicated (all ranks hold the same; rank 0's is written) or distributed (each rank
// holds its own elements, stored in the order of ranks); a section may mix them. A run is resumed
// on as many ranks as wrote it, each with its own elements.
#pragma once

#include "fringe/base/comm.h"
#include "fringe/base/exchange_id.h"
#include "fringe/base/tensors.h"

enum { STATE_TENSORS = 8 * EXCHANGES_MOST, STATE_SECTIONS = 16 }; // 8 for each exchange

// A file of tensors begins with their names and sizes. So a section is walked over twice to save
// it: first its tensors are named, then they are written, each when the walk comes to it.
typedef struct StateWalk {
    const Comm *comm; // borrowed
    bool restores;    // else it saves
    bool writes;      // the second time that it saves
    int tensors;      // rank 0: that were named
    Tensor tensor[STATE_TENSORS];
    struct StateFile *file; // rank 0, when it writes
    const Tensors *from;    // rank 0, when it restores; NULL on the others. Borrowed
} StateWalk;

typedef struct StateSection {
    const char *name; // of its file, NAME.safetensors; a literal
    // Saves or restores the state. Called twice to save, and puts the same both times; all ranks
    // then take part in all of its collective steps even after a failure, and it returns false with
    // an error. Where it restores: EXIT_DATA if the file has no such state or one of another shape;
    // all ranks return false with the same error, and the owner is unusable. Collective.
    bool (*walk)(void *owner, StateWalk *walk, Error *err);
    void *owner; // borrowed, outlives the section
} StateSection;

typedef struct StateSections {
    int count;
    StateSection section[STATE_SECTIONS]; // in the order in which they are written and restored
} StateSections;

// Adds a section; its name must be unique. One whose name is NULL is none and is not added.
void state_register(StateSections *sections, StateSection section);
const StateSection *state_find(const StateSections *sections, const char *name); // NULL: none

// ---- for walks: saves data [count], which is borrowed during the call, or reads it. False on all
// ranks if the file has no such tensor of that type and size (EXIT_DATA). Collective.

bool state_replicated(StateWalk *walk, const char *name, TensorType type, int64_t count, void *data,
                      Error *err);
// mine [count]: the elements of this rank. Rank 0 holds that of one other rank at a time.
bool state_distributed(StateWalk *walk, const char *name, TensorType type, int64_t count,
                       void *mine, Error *err);
void state_put_tensor(StateWalk *walk, const Tensor *tensor); // of any shape; where it saves
// From the owner's fields to a copy of them that is saved or read (`store`), or back.
static inline void state_copy(void *copy, void *own, size_t bytes, bool store) {
    memcpy(store ? copy : own, store ? own : copy, bytes);
}

// ---- for checkpoints

// Saves a section; rank 0 writes and flushes it in a helper thread. False with an error on the
// ranks where it failed; the caller makes them agree. Collective.
bool state_write(const StateSection *section, const Comm *comm, const char *path, Error *err);
// Restores a section from rank 0's file. Collective (agrees on errors).
bool state_read(const StateSection *section, const Comm *comm, const char *path, Error *err);
