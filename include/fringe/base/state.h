// State: what an object hands to a checkpoint and takes back when a run goes on. Whoever holds
// state that a resumed run needs registers a section of it: a name and two functions. Who writes
// and reads checkpoints knows nothing else of it, and a section knows tensors, not files.
//
// State is replicated (all ranks hold the same, rank 0's is written) or belongs to ranks (each
// holds its own elements, which lie in the file in the order of ranks). state_put and state_get are
// for the first kind, state_put_by_rank and state_get_by_rank for the second; a section may mix
// them. A run is resumed on as many ranks as wrote it, each with the elements it had.
#ifndef FRINGE_BASE_STATE_H
#define FRINGE_BASE_STATE_H

#include "fringe/base/comm.h"
#include "fringe/base/tensors.h"

enum { STATE_TENSORS = 128, STATE_SECTIONS = 16 };

typedef struct StateWriter { // what a section saves; only rank 0 has tensors
    const Comm *comm;        // borrowed
    int tensors, taken;
    Tensor tensor[STATE_TENSORS];
    void *memory[STATE_TENSORS]; // [taken] owned until the section is written
} StateWriter;

typedef struct StateReader { // what a section restores from
    const Comm *comm;        // borrowed
    const Tensors *file;     // rank 0; NULL on the others. Borrowed
} StateReader;

typedef struct StateSection {
    const char *name; // of its file, NAME.safetensors; a literal
    // Puts the state into the writer; what is put stays as it is until the section is written. All
    // ranks call all of its collective steps, whatever fails; false with an error where something
    // did. Collective.
    bool (*save)(void *owner, StateWriter *writer, Error *err);
    // Takes the state from a file that may lack it or hold another one (EXIT_DATA). False on all
    // ranks with the error of one; the owner is then of no use any more. Collective.
    bool (*restore)(void *owner, const StateReader *reader, Error *err);
    void *owner; // borrowed, outlives the section
} StateSection;

typedef struct StateSections {
    int count;
    StateSection section[STATE_SECTIONS]; // in the order in which they are written and restored
} StateSections;

// Adds a section under a name that no other one has.
void state_register(StateSections *sections, StateSection section);
const StateSection *state_find(const StateSections *sections, const char *name); // NULL: none

// ---- for save: data [count] is borrowed until the section is written

void state_put(StateWriter *writer, const char *name, TensorType type, int64_t count,
               const void *data);
// The same of data that is copied at once.
void state_put_copy(StateWriter *writer, const char *name, TensorType type, int64_t count,
                    const void *data);
// `mine` [count] of each rank, one rank's behind the other's. Collective.
void state_put_by_rank(StateWriter *writer, const char *name, TensorType type, int64_t count,
                       const void *mine);
// Memory that lives until the section is written; NULL with EXIT_MEMORY where there is none left.
void *state_try(StateWriter *writer, size_t bytes, const char *what, Error *err);

// ---- for restore: false on all ranks if the file has no such tensor of that type and size
// (EXIT_DATA). Collective.

// data [count] of rank 0's file to all ranks.
bool state_get(const StateReader *reader, const char *name, TensorType type, int64_t count,
               void *data, Error *err);
// mine [count], the elements of this rank.
bool state_get_by_rank(const StateReader *reader, const char *name, TensorType type, int64_t count,
                       void *mine, Error *err);

// ---- for checkpoints

// Saves a section and has rank 0 write and flush it, aside; path NULL there: nothing is written.
// False with an error where something failed: the ranks agree on it afterwards. Collective.
bool state_write(const StateSection *section, const Comm *comm, const char *path, Error *err);
// Restores a section from rank 0's file. Collective (agrees on errors).
bool state_read(const StateSection *section, const Comm *comm, const char *path, Error *err);

#endif
