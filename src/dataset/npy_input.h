// How the bytes of an npy array arrive: from memory, a file, or a member of an archive.
#ifndef FRINGE_DATASET_NPY_INPUT_H
#define FRINGE_DATASET_NPY_INPUT_H

#include "fringe/npy.h"

enum { NPY_HEADER = 1 << 14 }; // NumPy itself refuses headers above 10,000 bytes

typedef struct NpyInput {
    // The next `bytes` bytes, all of them, or false with an error.
    bool (*pull)(void *context, void *into, size_t bytes, Error *err);
    void *context;
    size_t bytes; // how many there are
} NpyInput;

// Reads header and data. Errors do not say where: the caller puts its name before them.
// Only what is said of an array: `data` stays NULL. *bytes: of its elements.
bool npy_head(Npy *npy, const char *name, NpyInput *input, size_t *bytes, Error *err);
bool npy_from(Npy *npy, const char *name, NpyInput *input, Error *err);

#endif
