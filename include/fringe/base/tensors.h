// safetensors files: an 8-byte little-endian header length, a JSON header (padded with spaces so
// that the data starts at a multiple of 64), then the tensors, one after the other, without holes.
// Files are read through mmap, so a rank pays only for the pages it touches, and written in chunks,
// so that a tensor larger than memory can be streamed. Metadata "format": "pt" is always written
// (TRAPS 19). Source: the safetensors format page.
#pragma once

#include "fringe/base/error.h"
#include "fringe/base/file.h"
#include "fringe/base/sink.h"

typedef enum TensorType {
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_I32,
    TENSOR_I64,
    TENSOR_U8,
    TENSOR_BF16,
    TENSOR_TYPES
} TensorType;
extern const char *const tensor_type_names[TENSOR_TYPES]; // "F32", ...
extern const size_t tensor_type_bytes[TENSOR_TYPES];

enum { TENSOR_RANK = 3 };
typedef struct Tensor {
    char name[128];
    TensorType type;
    int rank; // number of dimensions, 0..3
    int64_t shape[TENSOR_RANK];
    const void *data; // reading: in the mapping; writing: what tensors_write stores (may be NULL if
                      // 0 bytes)
} Tensor;

// A tensor of one dimension; its name is printed. The data is borrowed.
Tensor tensor_vector(TensorType type, int64_t count, const void *data, const char *name, ...)
    __attribute__((format(printf, 4, 5)));
// "F32 [3, ?]": extents below 0 are any.
const char *tensor_describe(char *out, size_t size, TensorType type, int rank,
                            const int64_t *shape);

typedef struct Tensors { // a mapped file
    char path[PATH_BYTES];
    int count;
    Tensor *tensor; // owned
    void *mapping;
    size_t bytes;
    bool lent; // the mapping is memory of somebody else
} Tensors;

// Maps a file and checks its header: types, shapes, offsets that tile the data exactly.
// EXIT_NO_INPUT if it does not exist, EXIT_DATA if it is damaged.
bool tensors_open(Tensors *tensors, const char *path, Error *err);
void tensors_close(Tensors *tensors);
// Prints name, type and shape of each tensor under `title`.
void tensors_print(const Sink *out, const Tensors *tensors, const char *title);
const Tensor *tensors_find(const Tensors *tensors, const char *name); // NULL if there is none
// The tensor of that name, type and shape (-1: any extent); NULL with an error that says what was
// found.
const Tensor *tensors_need(const Tensors *tensors, const char *name, TensorType type, int rank,
                           const int64_t *shape, Error *err);
int64_t tensor_elements(const Tensor *tensor);
size_t tensor_bytes(const Tensor *tensor);
const char *tensors_metadata(const Tensors *tensors, const char *key, char *out,
                             size_t size); // NULL: none

// Writes a whole file (not durable by itself: the caller syncs or renames). `metadata` is pairs of
// key and value, ended by NULL; may be NULL.
bool tensors_write(const char *path, const Tensor *tensor, int count, const char *const *metadata,
                   bool sync, Error *err);
// The same, durable and atomic: written to a temporary file, synced, renamed over `path`.
bool tensors_replace(const char *path, const Tensor *tensor, int count, const char *const *metadata,
                     Error *err);

// Streaming: open with all shapes known, then put the bytes of each tensor in order, in any chunks.
typedef struct TensorsWriter {
    FileWriter file;
    int64_t data_bytes, put_bytes;
} TensorsWriter;
bool tensors_writer_open(TensorsWriter *writer, const char *path, const Tensor *tensor, int count,
                         const char *const *metadata, Error *err);
bool tensors_writer_put(TensorsWriter *writer, const void *data, size_t bytes, Error *err);
bool tensors_writer_close(TensorsWriter *writer, bool sync, Error *err);
