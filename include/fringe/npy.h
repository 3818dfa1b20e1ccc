// npy and npz arrays (numpy.lib.format); part of what the module dataset shows. libzip opens the
// archives; the header of each array is read here. Object arrays (pickles) are refused, or skipped
// where a reader does not need them.
#pragma once

#include "fringe/base.h"

typedef enum NpyKind {
    NPY_FLOAT = 'f',
    NPY_INT = 'i',
    NPY_UINT = 'u',
    NPY_BOOL = 'b',
    NPY_TEXT = 'U'
} NpyKind;
enum { NPY_RANK = 4 };
typedef struct Npy {
    char name[256]; // "adj_data" or the file's name; for messages
    NpyKind kind;
    int item; // bytes per element
    bool big_endian, fortran;
    bool wide; // text: letters of 4 bytes (U), not of one (S)
    int rank;
    int64_t shape[NPY_RANK];
    int64_t elements;
    unsigned char *data; // raw elements as stored; owned
    bool trailing;       // bytes after the data (a warning)
} Npy;

bool npy_read(Npy *npy, const char *path, Error *err);
bool npy_look(Npy *npy, const char *path, Error *err); // its type and shape, without its data
void npy_clear(Npy *npy);
// Converted to C order and native type, memory_alloc'n. False if a value does not fit the type.
bool npy_to_int64(const Npy *npy, int64_t **out, Error *err); // integer and bool kinds
bool npy_to_ids(const Npy *npy, uint64_t **out, Error *err);  // integer kinds, at least 0
bool npy_to_float(const Npy *npy, float **out, Error *err);   // all numeric kinds
// The same of an array that is not needed any more: what is stored in that type already is taken
// over without a copy (npy_is_taken: 32-bit numbers). npy_take_below: integers of 0 to below-1, at
// most 2^31; the sentence calls them `nouns` ("nodes").
bool npy_is_taken(const Npy *npy);
bool npy_take_float(Npy *npy, float **out, Error *err);
bool npy_take_below(Npy *npy, const char *nouns, int64_t below, int32_t **out, Error *err);

typedef struct Npz Npz;                // an open archive
bool npz_is_archive(const char *path); // by its name or its first bytes
Npz *npz_open(const char *path, Error *err);
void npz_close(Npz *npz);
CLEARED_POINTER(npz_drop, Npz, npz_close)
int npz_count(const Npz *npz);
const char *npz_key(const Npz *npz, int index);
void npz_list(const Npz *npz, char *out, size_t size); // "a, b, c", or "none", as far as it fits
bool npz_has(const Npz *npz, const char *key);
// Type and shape of an array, without its data.
bool npz_look(Npz *npz, const char *key, Npy *out, Error *err);
bool npz_read(Npz *npz, const char *key, Npy *out, Error *err);
// True if every element is 1; without the array in memory. False if it is damaged, or so large that
// npz_read refuses it.
bool npz_is_all_one(Npz *npz, const char *key);
// Reads up to 4 arrays at the same time, so that npz_read has them at once. Passes over arrays that
// are not taken over (npy_is_taken), since a converted copy would be in memory beside all of them,
// and over those that are not there or damaged: npz_read says so.
void npz_read_ahead(Npz *npz, int count, const char *const *key);

// Writes a C-order array: type '<f4' or '<i8'. For predictions (durable).
bool npy_write(const char *path, const char *descr, const void *data, size_t item, int rank,
               const int64_t *shape, Error *err);
// The same in pieces: opens a file beside `path` with the header, for file_writer_put and, in any
// case, file_writer_take_place. After an error there is nothing to close.
bool npy_begin(FileWriter *writer, const char *path, const char *descr, int rank,
               const int64_t *shape, Error *err);

// An array of an npz that npz_write asks for piece by piece.
typedef struct NpzOut {
    const char *key, *descr; // numpy's type: "<f4"
    size_t item;             // bytes of an element
    int rank;                // 1 or 2
    int64_t shape[2];
    bool packed; // deflated, else stored
    // Puts the elements [first, first + count) into `out`, which ascend from call to call. An array
    // may be asked for again from its beginning. False with an error.
    bool (*make)(void *context, int64_t first, int64_t count, void *out, Error *err);
    void *context; // borrowed
} NpzOut;
// Writes an archive of `count` arrays, at most NPZ_OUT of them: complete and flushed, or not at
// all. EXIT_CANNOT_WRITE, EXIT_IO, or what `make` says.
enum { NPZ_OUT = 16 };
bool npz_write(const char *path, const NpzOut *array, int count, Error *err);
