// Files made byte by byte, valid or with one defect each: npy arrays, zip archives, and a small
// gnn-benchmark graph in which any array can be changed. Independent of the readers under test.
#pragma once

#include "support.h"

#include <zlib.h>

typedef struct Bytes {
    unsigned char data[1 << 14];
    size_t count;
} Bytes;

static inline void put_bytes(Bytes *out, const void *data, size_t bytes) {
    assert_true(out->count + bytes <= sizeof out->data);
    if (bytes > 0)
        memcpy(out->data + out->count, data, bytes);
    out->count += bytes;
}

static inline void put_number(Bytes *out, uint64_t value, int bytes) { // little endian
    for (int i = 0; i < bytes; i++)
        put_bytes(out, &(unsigned char){(unsigned char)(i < 8 ? value >> (8 * i) : 0)}, 1);
}

// An npy of version 1 with this header dict.
static inline void put_npy(Bytes *out, const char *dict, const void *data, size_t bytes) {
    size_t length = strlen(dict) + 1;
    put_bytes(out, "\x93NUMPY\1\0", 8);
    put_number(out, length, 2);
    put_bytes(out, dict, length - 1);
    put_bytes(out, "\n", 1);
    put_bytes(out, data, bytes);
}

// --- zip

typedef struct Member {
    char name[40];
    Bytes content;
    int method;            // 0 stored, 8 deflated; others: stored bytes under that number
    uint32_t crc_change;   // xor'ed onto the checksum
    uint32_t size_instead; // of the uncompressed size, if not 0
    uint16_t flags;
} Member;

static inline void deflate_bytes(Bytes *out, const Bytes *in) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)in->data;
    stream.avail_in = (uInt)in->count;
    stream.next_out = out->data;
    stream.avail_out = sizeof out->data;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out->count = stream.total_out;
    deflateEnd(&stream);
}

// Version, flags, method, time, date, checksum, sizes: what both headers of a member share.
static inline void put_member_fields(Bytes *out, const Member *m, size_t packed) {
    put_number(out, 20, 2);
    put_number(out, m->flags, 2);
    put_number(out, (uint64_t)m->method, 2);
    put_number(out, 0, 2);
    put_number(out, 0x21, 2);
    put_number(out, crc32(0, m->content.data, (uInt)m->content.count) ^ m->crc_change, 4);
    put_number(out, packed, 4);
    put_number(out, m->size_instead != 0 ? m->size_instead : m->content.count, 4);
    put_number(out, strlen(m->name), 2);
    put_number(out, 0, 2); // no extra field
}

static inline void put_zip(Bytes *out, const Member *members, int count) {
    static Bytes packed[32];
    size_t place[32];
    for (int i = 0; i < count; i++) {
        const Member *m = &members[i];
        place[i] = out->count;
        packed[i] = m->content;
        if (m->method == 8)
            deflate_bytes(&packed[i], &m->content);
        put_bytes(out, "PK\3\4", 4);
        put_member_fields(out, m, packed[i].count);
        put_bytes(out, m->name, strlen(m->name));
        put_bytes(out, packed[i].data, packed[i].count);
    }
    size_t directory = out->count;
    for (int i = 0; i < count; i++) {
        put_bytes(out, "PK\1\2\x14\0", 6);
        put_member_fields(out, &members[i], packed[i].count);
        put_number(out, 0, 2 + 2 + 2 + 4); // comment, disk, attributes
        put_number(out, place[i], 4);
        put_bytes(out, members[i].name, strlen(members[i].name));
    }
    size_t end = out->count;
    put_bytes(out, "PK\5\6\0\0\0\0", 8);
    put_number(out, (uint64_t)count, 2);
    put_number(out, (uint64_t)count, 2);
    put_number(out, end - directory, 4);
    put_number(out, directory, 4);
    put_number(out, 0, 2);
}

// --- a graph: 0 - 1 - 2 - 3, both directions; features (4, 3); labels; splits

enum {
    ADJ_DATA,
    ADJ_INDICES,
    ADJ_INDPTR,
    ADJ_SHAPE,
    ATTR_DATA,
    ATTR_INDICES,
    ATTR_INDPTR,
    ATTR_SHAPE,
    LABELS,
    TRAIN,
    VAL,
    TEST,
    EXTRA, // an array that nothing needs: class_names, a pickle
    ARRAYS
};

typedef struct Array {
    const char *key; // NULL: left out
    const char *descr;
    char shape[24];
    unsigned char data[256];
    size_t bytes;
} Array;

typedef struct GraphFile {
    Array array[ARRAYS];
    int method;
} GraphFile;

static inline void reshape(Array *a, const char *shape) {
    snprintf(a->shape, sizeof a->shape, "%s", shape);
}

// A list of numbers, or rows of so many columns.
static inline void set_numbers(Array *a, const char *key, const char *descr, int columns,
                               const void *value, size_t count, size_t size) {
    *a = (Array){.key = key, .descr = descr, .bytes = count * size};
    memcpy(a->data, value, a->bytes);
    if (columns == 0)
        snprintf(a->shape, sizeof a->shape, "(%zu,)", count);
    else
        snprintf(a->shape, sizeof a->shape, "(%zu, %d)", count / (size_t)columns, columns);
}
#define SET_NUMBERS(a, key, descr, type, columns, ...)                                             \
    set_numbers(a, key, descr, columns, (type[]){__VA_ARGS__},                                     \
                sizeof((type[]){__VA_ARGS__}) / sizeof(type), sizeof(type))
#define SET_INTS(a, key, ...) SET_NUMBERS(a, key, "<i8", int64_t, 0, __VA_ARGS__)
#define SET_FLOATS(a, key, ...) SET_NUMBERS(a, key, "<f4", float, 0, __VA_ARGS__)
#define SET_INT_ROWS(a, key, columns, ...) SET_NUMBERS(a, key, "<i8", int64_t, columns, __VA_ARGS__)
#define SET_FLOAT_ROWS(a, key, columns, ...) SET_NUMBERS(a, key, "<f4", float, columns, __VA_ARGS__)
#define INTS(file, which, key, ...) SET_INTS(&(file)->array[which], key, __VA_ARGS__)
#define FLOATS(file, which, key, ...) SET_FLOATS(&(file)->array[which], key, __VA_ARGS__)

static inline void graph_file_init(GraphFile *g) {
    *g = (GraphFile){.method = 8};
    FLOATS(g, ADJ_DATA, "adj_data", 1, 1, 1, 1, 1, 1);
    INTS(g, ADJ_INDICES, "adj_indices", 1, 0, 2, 1, 3, 2);
    INTS(g, ADJ_INDPTR, "adj_indptr", 0, 1, 3, 5, 6);
    INTS(g, ADJ_SHAPE, "adj_shape", 4, 4);
    FLOATS(g, ATTR_DATA, "attr_data", 1, 2, 3, 4);
    INTS(g, ATTR_INDICES, "attr_indices", 0, 2, 1, 0);
    INTS(g, ATTR_INDPTR, "attr_indptr", 0, 2, 3, 3, 4);
    INTS(g, ATTR_SHAPE, "attr_shape", 4, 3);
    INTS(g, LABELS, "labels", 0, 1, 0, 1);
    INTS(g, TRAIN, "train_idx", 0);
    INTS(g, VAL, "val_idx", 1);
    INTS(g, TEST, "test_idx", 2, 3);
    g->array[EXTRA] = (Array){"class_names", "|O", "(2,)", "pickle", 6};
}

static inline void put_graph(Bytes *out, const GraphFile *g) {
    static Member members[ARRAYS];
    int count = 0;
    for (int i = 0; i < ARRAYS; i++) {
        const Array *a = &g->array[i];
        char dict[128];
        if (a->key == NULL)
            continue;
        Member *m = &members[count++];
        *m = (Member){.method = g->method};
        snprintf(m->name, sizeof m->name, "%s.npy", a->key);
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                 a->descr, a->shape);
        put_npy(&m->content, dict, a->data, a->bytes);
    }
    put_zip(out, members, count);
}

static inline const char *write_graph(const GraphFile *file, const char *name) {
    static Bytes bytes;
    bytes.count = 0;
    put_graph(&bytes, file);
    test_write(test_path(name), bytes.data, bytes.count);
    return test_path(name);
}

// Any other arrays.
static inline const char *write_arrays(const Array *array, int count, const char *name) {
    static GraphFile file;
    file = (GraphFile){.method = 8};
    memcpy(file.array, array, (size_t)count * sizeof *array);
    return write_graph(&file, name);
}
