// If this failed, an npy array would be read with wrong numbers, or a header that claims more bytes
// than the file holds would be accepted.

#include "bytes.h"

#include "dataset/npy_input.h"

typedef struct Case {
    const char *dict;
    size_t bytes;        // of data
    const char *refused; // part of the sentence; NULL: must be read
} Case;

static const Case cases[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }", 48, NULL},
    {"{'shape': (4, 3), 'fortran_order': False, 'descr': '<f4'}", 48, NULL}, // any order, no comma
    {"{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(4,3)}    ", 48, NULL},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4L, 3L), }", 48, NULL}, // Python 2
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4, NULL},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 8), }", 0, NULL},
    {"{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }", 24, NULL},
    {"{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }", 6, NULL},
    {"{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", 2, NULL},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }", 47, "its shape asks for 48"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-4, 3), }", 48, "non-negative"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8), }", 48, "more"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", 48, "more"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 48, "shape"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }", 48, "asks for 4000000"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1), }", 4, "more than 4"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 4, }", 48, "not a tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3, }", 48, "shape"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (4, 3), }", 48, "neither True nor False"},
    {"{'descr': '<f4', 'fortran_order': False, }", 48, "has no 'shape'"},
    {"{'fortran_order': False, 'shape': (4, 3), }", 48, "has no 'descr'"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4, 3)}", 48, "twice"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), 'x': 1}", 48, "'x' is unknown"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3)} x", 48, "follows the header"},
    {"hello world", 48, "not a Python dict"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", 48, "object array"},
    {"{'descr': [('x', '<i4')], 'fortran_order': False, 'shape': (3,), }", 48, "plain type"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", 48, "'<c8'"},
    {"{'descr': '<f3', 'fortran_order': False, 'shape': (3,), }", 48, "'<f3'"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': (3,), }", 48, "'<f16'"},
    {"{'descr': '|f4', 'fortran_order': False, 'shape': (3,), }", 48, "'|f4'"},
    {"{'descr': '=f4', 'fortran_order': False, 'shape': (3,), }", 48, "'=f4'"},
    {"{'descr': 'f4', 'fortran_order': False, 'shape': (3,), }", 48, "'f4'"},
    {"{'descr': '<', 'fortran_order': False, 'shape': (3,), }", 48, "'<'"},
    {"{'descr': '<V4', 'fortran_order': False, 'shape': (3,), }", 48, "'<V4'"},
    {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,), }", 48, "'<M8[ns]'"},
};

static bool read_bytes(Npy *npy, const char *name, const Bytes *bytes, Error *err) {
    test_write(test_path(name), bytes->data, bytes->count);
    return npy_read(npy, test_path(name), err);
}

// An npy with this header dict.
static bool read_array(Npy *npy, const char *name, const char *dict, const void *data, size_t bytes,
                       Error *err) {
    static Bytes file;
    file.count = 0;
    put_npy(&file, dict, data, bytes);
    return read_bytes(npy, name, &file, err);
}

// An array of one value of this type.
static void read_one(Npy *npy, const char *name, const char *descr, const void *data,
                     size_t bytes) {
    const char *dict = test_text("{'descr': '%s', 'fortran_order': False, 'shape': (1,), }", descr);
    assert_ok(read_array(npy, name, dict, data, bytes, &err));
}

TEST(headers_are_believed_only_if_sound) {
    static const unsigned char zeros[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEARED(npy_clear) Npy npy = {0};
        Error err = {0};
        bool ok = read_array(&npy, "x.npy", cases[i].dict, zeros, cases[i].bytes, &err);
        if (ok != (cases[i].refused == NULL))
            fail_msg("%s: %s", cases[i].dict, ok ? "was not refused" : err.text);
        if (!ok && (strstr(err.text, cases[i].refused) == NULL || !strstr(err.text, "x.npy")))
            fail_msg("%s: the message is '%s'", cases[i].dict, err.text);
    }
}

TEST(frames_are_checked) {
    static Bytes bytes;
    const char *dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    const struct {
        int place;
        unsigned char value;
        const char *part;
    } changes[] = {{1, 'M', "begin"},  {6, 9, "version 9"}, {6, 0, "version 0"},
                   {7, 1, "version"},  {8, 5, "newline"},   {8, 200, "inside the header"},
                   {9, 255, "inside"}, {8, 0, "0 bytes"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        Npy npy;
        bytes.count = 0;
        put_npy(&bytes, dict, "\0\0\0\0", 4);
        bytes.data[changes[i].place] = changes[i].value;
        assert_refused(read_bytes(&npy, "x", &bytes, &err), EXIT_DATA, changes[i].part);
    }
    CLEARED(npy_clear) Npy npy = {0};
    assert_ok(read_array(&npy, "x", dict, "\0\0\0\0\0\0\0", 7, &err));
    assert_true(npy.trailing);
}

// Reads one element of a type from its bytes.
static double one(const char *descr, const void *data, size_t bytes, Error *said) {
    CLEARED(npy_clear) Npy npy = {0};
    FREED float *x = NULL;
    read_one(&npy, "x", descr, data, bytes);
    return npy_to_float(&npy, &x, said) ? (double)x[0] : NAN;
}

TEST(numbers_of_every_type) {
    Error err = {0};
    assert_true(one("<f2", "\x00\x3c", 2, &err) == 1);                   // 0x3c00
    assert_true(one("<f2", "\xff\x7b", 2, &err) == 65504);               // the largest half
    assert_true(one("<f2", "\x01\x00", 2, &err) == 0x1p-24);             // the smallest
    assert_true(one(">f2", "\xc0\x00", 2, &err) == -2);                  // 0xc000
    assert_true(one(">f4", "\x40\x49\x0f\xdb", 4, &err) == (float)M_PI); // 0x40490fdb
    assert_true(one("<f8", "\0\0\0\0\0\0\xf0\x3f", 8, &err) == 1);
    assert_true(one("|i1", "\xff", 1, &err) == -1);
    assert_true(one("|u1", "\xff", 1, &err) == 255);
    assert_true(one(">i2", "\xff\xfe", 2, &err) == -2);
    assert_true(one("<i4", "\x00\x00\x00\x80", 4, &err) == -2147483648.0);
    assert_true(one("<u4", "\x00\x00\x00\x80", 4, &err) == 2147483648.0);
    assert_true(one(">u8", "\0\0\0\0\0\0\1\0", 8, &err) == 256);
    assert_true(isinf(one("<f2", "\x00\x7c", 2, &err)) && err.code == 0); // stays what it was
    assert_true(isnan(one("<f8", "\0\0\0\0\0\0\xf0\x7e", 8, &err)));      // 1e303
    assert_int_equal(err.code, EXIT_DATA);
}

TEST(columns_become_rows) {
    int64_t value[6] = {1, 4, 2, 5, 3, 6}, *out; // (2, 3) by columns
    CLEARED(npy_clear) Npy npy = {0};
    assert_ok(read_array(&npy, "x", "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }",
                         value, 48, &err));
    assert_ok(npy_to_int64(&npy, &out, &err));
    for (int i = 0; i < 6; i++)
        assert_int_equal(out[i], i + 1);
    memory_free(out);
}

TEST(integers_are_integers) {
    int64_t *out;
    CLEARED(npy_clear) Npy npy = {0};
    read_one(&npy, "x", "<u8", "\0\0\0\0\0\0\0\x80", 8);
    assert_refused(npy_to_int64(&npy, &out, &err), EXIT_DATA, "too large");
}

// An array of one id of this type: the id, or a refusal.
static bool one_id(const char *descr, const void *data, size_t bytes, uint64_t *id, Error *said) {
    CLEARED(npy_clear) Npy npy = {0};
    FREED uint64_t *list = NULL;
    *said = (Error){0};
    read_one(&npy, "ids", descr, data, bytes);
    bool ok = npy_to_ids(&npy, &list, said);
    *id = ok ? list[0] : 0;
    return ok;
}

TEST(ids_have_64_bits) {
    static const struct {
        const char *descr, *data;
        size_t bytes;
        uint64_t id;
    } types[] = {{"|u1", "\xff", 1, 255},
                 {"|i1", "\x7f", 1, 127},
                 {">i2", "\x01\x02", 2, 258},
                 {"<u4", "\0\0\0\x80", 4, (uint64_t)1 << 31},
                 {"<i8", "\xff\xff\xff\xff\xff\xff\xff\x7f", 8, INT64_MAX},
                 {"<u8", "\xff\xff\xff\xff\xff\xff\xff\xff", 8, UINT64_MAX},
                 {">u8", "\x80\0\0\0\0\0\0\1", 8, ((uint64_t)1 << 63) + 1}};
    uint64_t id;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_ok(one_id(types[i].descr, types[i].data, types[i].bytes, &id, &err));
        assert_true(id == types[i].id);
    }
    assert_refused(one_id("<i4", "\xfe\xff\xff\xff", 4, &id, &err), EXIT_DATA,
                   "'ids' holds -2; ids are whole numbers from 0");
    assert_refused(one_id("|b1", "\1", 1, &id, &err), EXIT_DATA, "where ids are needed");
    assert_refused(one_id("<f4", "\0\0\0\0", 4, &id, &err), EXIT_DATA, "where integers are needed");
}

TEST(what_is_written_is_npy) {
    const float x[6] = {1, 2, 3, 4, 5, 6};
    Npy npy;
    size_t size;
    assert_ok(npy_write(test_path("w.npy"), "<f4", x, 4, 2, (int64_t[]){2, 3}, &err));
    char *text = test_read(test_path("w.npy"), &size);
    const char *dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    assert_memory_equal(text, "\x93NUMPY\1\0\x76\0", 10); // 10 + 118 = 128
    assert_memory_equal(text + 10, dict, strlen(dict));
    assert_int_equal(text[127], '\n');
    assert_int_equal(size, 128 + sizeof x);
    assert_memory_equal(text + 128, x, sizeof x);
    assert_ok(npy_read(&npy, test_path("w.npy"), &err));
    assert_int_equal(npy.rank, 2);
    assert_memory_equal(npy.data, x, sizeof x);
    npy_clear(&npy);
    assert_refused(npy_write("/no/such/folder/w.npy", "<f4", x, 4, 2, (int64_t[]){2, 3}, &err),
                   EXIT_CANNOT_WRITE, "w.npy");
}
