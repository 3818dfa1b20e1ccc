// A source of an npy array's bytes: memory, a file, or a member of an archive.
#pragma once

#include "fringe/npy.h"

enum { NPY_HEADER = 1 << 14 }; // NumPy itself refuses headers above 10,000 bytes

typedef struct NpyInput {
    // Reads exactly the next `bytes` bytes, or false with an error.
    bool (*pull)(void *context, void *into, size_t bytes, Error *err);
    void *context;
    size_t bytes; // of the whole input
} NpyInput;

// npy_head reads only the header: `data` stays NULL, *bytes is the size of the elements. npy_from
// also reads the data. Errors do not name the file: the caller prefixes its name.
bool npy_head(Npy *npy, const char *name, NpyInput *input, size_t *bytes, Error *err);
bool npy_from(Npy *npy, const char *name, NpyInput *input, Error *err);
// Tests lend a file's bytes until npz_close; `path` is for messages.
Npz *npz_parse(const void *bytes, size_t count, const char *path, Error *err);

// ---- writing
enum { NPY_WRITTEN = 512 };
// A header of version 1 for elements in C order, padded so that the data starts at a multiple of
// 64. Returns its length.
size_t npy_header(char out[NPY_WRITTEN], const char *descr, int rank, const int64_t *shape);
