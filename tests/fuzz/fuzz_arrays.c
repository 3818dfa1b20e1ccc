// The readers of what archives hold: graphs, hypergraphs, matrices of scipy, features, labels and
// splits. No mutation of an archive finds the checksum of what it changed, so the input says what
// arrays there are, and a sound archive is made of it:
//
//   | reader | array | array | ...
//   reader: even: a dataset, odd: a matrix of scipy; from 128 on: data.undirected
//   array:  | key | type | rank | rank x extent | elements |      what is missing is 0
//   type:   64 Fortran's order, 128 big-endian

#include "fuzz_dataset.h"

#include "dataset/npy_input.h"
#include "dataset/npz_layout.h"

#include <zlib.h>

enum { ROOM = 1 << 16, MOST_ARRAYS = 12, MOST_DATA = 512, MOST_EXTENT = 64 };

// clang-format off
static const char *const keys[] = {
    "adj_data", "adj_indices", "adj_indptr", "adj_shape", "attr_data", "attr_indices",
    "attr_indptr", "attr_shape", "attr_matrix", "labels", "x", "y", "edge_index", "edge_weight",
    "data", "indices", "indptr", "shape", "format", "row", "col", "num_nodes", "hyperedge_index",
    "hyperedge_weight", "node", "hyperedge", "role", "train_mask", "val_mask", "test_mask",
    "train_idx", "val_idx", "test_idx", "features", "node_weight", "hyperedge_attr"};
// clang-format on
static const struct {
    const char *descr;
    size_t item;
} types[] = {{"f4", 4}, {"i4", 4}, {"i8", 8}, {"u1", 1}, {"b1", 1}, {"f8", 8},
             {"f2", 2}, {"i2", 2}, {"u8", 8}, {"S3", 3}, {"U3", 12}};
enum { KEYS = sizeof keys / sizeof *keys, TYPES = sizeof types / sizeof *types };

typedef struct Input {
    const uint8_t *at, *end;
} Input;

static unsigned take(Input *input) { return input->at < input->end ? *input->at++ : 0; }

// ---- the archive

typedef struct Archive {
    uint8_t bytes[ROOM];
    size_t used;
    uint8_t directory[4096];
    size_t listed;
    int members;
    bool there[KEYS];
} Archive;

static void put(uint8_t *out, size_t *used, const void *data, size_t bytes) {
    memcpy(out + *used, data, bytes);
    *used += bytes;
}

static void put_number(uint8_t *out, size_t *used, unsigned long number, int bytes) {
    for (int i = 0; i < bytes; i++)
        out[(*used)++] = (uint8_t)(number >> 8 * i);
}

// What a member and its line in the directory have in common.
static void put_facts(uint8_t *out, size_t *used, unsigned long crc, size_t size, size_t name) {
    put_number(out, used, 20, 2); // version, flags, method, time
    put_number(out, used, 0, 6);
    put_number(out, used, 33, 2); // date
    put_number(out, used, crc, 4);
    put_number(out, used, size, 4);
    put_number(out, used, size, 4);
    put_number(out, used, name, 2);
    put_number(out, used, 0, 2);
}

static void put_member(Archive *a, const char *key, const uint8_t *data, size_t size) {
    char name[32];
    size_t length = (size_t)snprintf(name, sizeof name, "%s.npy", key), at = a->used;
    unsigned long crc = crc32(0, data, (unsigned)size);
    put(a->bytes, &a->used, "PK\3\4", 4);
    put_facts(a->bytes, &a->used, crc, size, length);
    put(a->bytes, &a->used, name, length);
    put(a->bytes, &a->used, data, size);
    put(a->directory, &a->listed, "PK\1\2\24\0", 6);
    put_facts(a->directory, &a->listed, crc, size, length);
    put_number(a->directory, &a->listed, 0, 8);
    put_number(a->directory, &a->listed, 0, 2);
    put_number(a->directory, &a->listed, at, 4);
    put(a->directory, &a->listed, name, length);
    a->members++;
}

static void finish(Archive *a) {
    size_t at = a->used;
    put(a->bytes, &a->used, a->directory, a->listed);
    put(a->bytes, &a->used, "PK\5\6\0\0\0\0", 8);
    put_number(a->bytes, &a->used, (unsigned long)a->members, 2);
    put_number(a->bytes, &a->used, (unsigned long)a->members, 2);
    put_number(a->bytes, &a->used, a->listed, 4);
    put_number(a->bytes, &a->used, at, 4);
    put_number(a->bytes, &a->used, 0, 2);
}

// ---- its arrays

static void add_array(Archive *a, Input *input) {
    uint8_t data[NPY_WRITTEN + MOST_DATA];
    unsigned key = take(input) % KEYS, type = take(input), rank = take(input) % 4;
    char descr[8];
    int64_t shape[4] = {0}, bytes = (int64_t)types[type % 64 % TYPES].item;
    for (unsigned d = 0; d < rank; d++)
        bytes *= shape[d] = take(input) % MOST_EXTENT;
    if (bytes > MOST_DATA || a->there[key])
        return;
    snprintf(descr, sizeof descr, "%c%s", type & 128 ? '>' : '<', types[type % 64 % TYPES].descr);
    size_t head = npy_header((char *)data, descr, (int)rank, shape);
    char *order = memmem(data, head, "False", 5);
    if (type & 64)
        memcpy(order, "True ", 5);
    for (int64_t i = 0; i < bytes; i++)
        data[head + (size_t)i] = (uint8_t)take(input);
    put_member(a, keys[key], data, head + (size_t)bytes);
    a->there[key] = true;
}

static void read_set(Npz *npz, bool matrix, bool undirected) {
    static Config config;
    Dataset dataset = {0};
    Error err = {0};
    config.data.undirected = undirected;
    Request request = {.config = &config, .path = "fuzz", .rows = -1};
    SplitSource source = {npz, "fuzz"};
    bool ok = matrix ? matrix_take(&dataset, npz, "", VALUES_UNREAD, &err)
                     : npz_read_dataset(&dataset, npz, &request, &err);
    ok = ok && dataset_need_split(&dataset, &err) &&
         splits_read(&dataset, &config, &source, 1, &err);
    fuzz_dataset(&dataset, ok, &err);
}

FUZZER {
    static Archive archive;
    Input input = {bytes, bytes + count};
    unsigned reader = take(&input);
    memory_test_limit(1 << 15); // ids count nodes: loops over all of them take the time
    archive.used = archive.listed = 0;
    archive.members = 0;
    memset(archive.there, 0, sizeof archive.there);
    while (input.at < input.end && archive.members < MOST_ARRAYS)
        add_array(&archive, &input);
    finish(&archive);
    CLEARED(npz_drop) Npz *npz = npz_parse(archive.bytes, archive.used, "fuzz", &err);
    FUZZ_CHECK(npz != NULL);
    read_set(npz, reader % 2 == 1, reader >= 128);
}
