// State: what an object puts into a checkpoint and restores when a run is resumed. An object whose
// state a resumed run needs registers a section: a name and two functions. The code that writes and
// reads checkpoints knows nothing else of it, and a section knows tensors, not files.
//
// State is replicated (all ranks hold the same; rank 0's is written) or distributed (each rank
// holds its own elements, stored in the order of ranks). state_put and state_get are for the first
// kind, state_put_by_rank and state_get_by_rank for the second; a section may mix them. A run is
// resumed on as many ranks as wrote it, each with its own elements.
#ifndef FRINGE_BASE_STATE_H
#define FRINGE_BASE_STATE_H

#include "fringe/base/comm.h"
#include "fringe/base/exchange_id.h"
#include "fringe/base/tensors.h"

enum { STATE_TENSORS = 8 * EXCHANGES_MOST, STATE_SECTIONS = 16 }; // 8 for each exchange

// A file of tensors begins with their names and sizes. So a section saves twice: first its tensors
// are named, then they are written, each while it is put.
typedef struct StateWriter {
    const Comm *comm; // borrowed
    bool writes;      // the second time
    int tensors;      // rank 0: that were named
    Tensor tensor[STATE_TENSORS];
    struct StateFile *file; // rank 0, when it writes
} StateWriter;

typedef struct StateReader { // what a section restores from
    const Comm *comm;        // borrowed
    const Tensors *file;     // rank 0; NULL on the others. Borrowed
} StateReader;

typedef struct StateSection {
    const char *name; // of its file, NAME.safetensors; a literal
    // Puts the state into the writer. Called twice for a file, and puts the same both times. All
    // ranks take part in all of its collective steps even after a failure; false with an error
    // then. Collective.
    bool (*save)(void *owner, StateWriter *writer, Error *err);
    // Restores the state from a file. EXIT_DATA if the file has no such state or one of another
    // shape. On failure all ranks return false with the same error, and the owner is unusable.
    // Collective.
    bool (*restore)(void *owner, const StateReader *reader, Error *err);
    void *owner; // borrowed, outlives the section
} StateSection;

typedef struct StateSections {
    int count;
    StateSection section[STATE_SECTIONS]; // in the order in which they are written and restored
} StateSections;

// Adds a section; its name must be unique.
void state_register(StateSections *sections, StateSection section);
const StateSection *state_find(const StateSections *sections, const char *name); // NULL: none

// ---- for save: data [count] is borrowed during the call

void state_put(StateWriter *writer, const char *name, TensorType type, int64_t count,
               const void *data);
void state_put_tensor(StateWriter *writer, const Tensor *tensor); // of any shape
// Joins `mine` [count] of all ranks in rank order. Rank 0 holds that of one other rank at a time.
// Collective.
void state_put_by_rank(StateWriter *writer, const char *name, TensorType type, int64_t count,
                       const void *mine);

// ---- for restore: false on all ranks if the file has no such tensor of that type and size
// (EXIT_DATA). Collective.

// Reads data [count] from rank 0's file to all ranks.
bool state_get(const StateReader *reader, const char *name, TensorType type, int64_t count,
               void *data, Error *err);
// Reads mine [count], the elements of this rank.
bool state_get_by_rank(const StateReader *reader, const char *name, TensorType type, int64_t count,
                       void *mine, Error *err);

// ---- for checkpoints

// Saves a section; rank 0 writes and flushes it in a helper thread. False with an error on the
// ranks where it failed; the caller makes them agree. Collective.
bool state_write(const StateSection *section, const Comm *comm, const char *path, Error *err);
// Restores a section from rank 0's file. Collective (agrees on errors).
bool state_read(const StateSection *section, const Comm *comm, const char *path, Error *err);

#endif
