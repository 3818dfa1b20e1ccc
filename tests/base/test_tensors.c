// If this failed, a damaged safetensors file would be read as if it were whole, or other programs
// could not read ours.

#include "support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const float floats[6] = {1, -2, 3.5f, 0, 1e-30f, 7};
static const int64_t integers[3] = {-1, 0, (int64_t)1 << 40};
static const unsigned char bytes3[3] = {1, 2, 3};

static size_t write_sample(const char *path, char *copy, size_t room) {
    const Tensor tensor[] = {
        {.name = "ints", .type = TENSOR_I64, .rank = 1, .shape = {3}, .data = integers},
        {.name = "flags", .type = TENSOR_U8, .rank = 1, .shape = {3}, .data = bytes3},
        {.name = "none", .type = TENSOR_F32, .rank = 2, .shape = {0, 5}, .data = NULL},
        {.name = "x", .type = TENSOR_F32, .rank = 2, .shape = {2, 3}, .data = floats},
        {.name = "scalar", .type = TENSOR_F32, .rank = 0, .data = floats},
    };
    const char *const metadata[] = {"made by", "a test", NULL};
    assert_ok(tensors_write(path, tensor, 5, metadata, false, &err));
    FILE *file = fopen(path, "rb");
    size_t bytes = fread(copy, 1, room, file);
    fclose(file);
    return bytes;
}

TEST(what_is_written_reads_back) {
    char copy[2048], text[32];
    size_t bytes = write_sample(test_path("a.safetensors"), copy, sizeof copy);
    size_t header = (unsigned char)copy[0] + 256 * (size_t)(unsigned char)copy[1];
    assert_int_equal((8 + header) % 64, 0);
    assert_int_equal(bytes, 8 + header + 24 + 3 + 0 + 24 + 4);
    assert_memory_equal(copy + 8 + header, integers, 24);

    CLEARED(tensors_close) Tensors tensors = {0};
    assert_ok(tensors_open(&tensors, test_path("a.safetensors"), &err));
    assert_int_equal(tensors.count, 5);
    int64_t shape[2] = {2, -1};
    const Tensor *x = assert_ok(tensors_need(&tensors, "x", TENSOR_F32, 2, shape, &err));
    assert_int_equal((uintptr_t)x->data % 4, 0); // behind 3 odd bytes in the file
    assert_memory_equal(x->data, floats, sizeof floats);
    assert_int_equal(tensor_elements(tensors_find(&tensors, "none")), 0);
    assert_int_equal(tensor_elements(tensors_find(&tensors, "scalar")), 1);
    assert_memory_equal(tensors_find(&tensors, "ints")->data, integers, 24);
    assert_null(tensors_find(&tensors, "y"));
    assert_string_equal(tensors_metadata(&tensors, "format", text, sizeof text), "pt");
    assert_string_equal(tensors_metadata(&tensors, "made by", text, sizeof text), "a test");
    assert_null(tensors_metadata(&tensors, "other", text, sizeof text));
    shape[0] = 3;
    assert_refused(tensors_need(&tensors, "x", TENSOR_F32, 2, shape, &err), EXIT_DATA,
                   "'x' is F32 [2, 3]; expected F32 [3, ?]");
}

TEST(a_file_cut_anywhere_is_refused) {
    char copy[2048];
    size_t bytes = write_sample(test_path("b.safetensors"), copy, sizeof copy);
    for (size_t length = 0; length < bytes; length++) {
        Tensors tensors;
        test_write(test_path("cut.safetensors"), copy, length);
        assert_refused(tensors_open(&tensors, test_path("cut.safetensors"), &err), EXIT_DATA,
                       "cut.safetensors");
        assert_true(tensors.tensor == NULL && tensors.mapping == NULL);
    }
    Tensors tensors;
    memcpy(copy + bytes, "x", 1); // one byte too many
    test_write(test_path("cut.safetensors"), copy, bytes + 1);
    assert_refused(tensors_open(&tensors, test_path("cut.safetensors"), &err), EXIT_DATA,
                   "1 bytes follow the last tensor");
}

// Opens a file made of this header and 64 bytes of data.
static bool open_header(const char *header, Error *err) {
    char file[2048] = {0};
    size_t length = strlen(header);
    file[0] = (char)(length & 0xff), file[1] = (char)(length >> 8);
    memcpy(file + 8, header, length);
    test_write(test_path("h.safetensors"), file, 8 + length + 64);
    Tensors tensors;
    *err = (Error){0};
    bool opened = tensors_open(&tensors, test_path("h.safetensors"), err);
    if (opened)
        tensors_close(&tensors);
    return opened;
}

#define ENTRY(type, shape, offsets)                                                                \
    "{\"a\": {\"dtype\": \"" type "\", \"shape\": " shape ", \"data_offsets\": " offsets "}}"

TEST(headers_are_not_believed) {
    assert_ok(open_header(ENTRY("F32", "[4, 4]", "[0, 64]"), &err));
    static const struct {
        const char *header, *part;
    } bad[] = {
        {ENTRY("F16", "[32]", "[0, 64]"), "type 'F16' is not read"},
        {ENTRY("F32", "[4, 4]", "[0, 60]"), "takes 60 bytes, but its type and shape need 64"},
        {ENTRY("F32", "[4, 5]", "[0, 80]"), "truncated"},
        {ENTRY("F32", "[4, 4]", "[64, 0]"), "lies at"},
        {ENTRY("F32", "[4, 4]", "[-64, 0]"), "lies at"},
        {ENTRY("F32", "[15]", "[4, 64]"), "does not begin where"},
        {ENTRY("F32", "[15]", "[0, 60]"), "4 bytes follow"},
        {ENTRY("F32", "[-4, -4]", "[0, 64]"), "not a count"},
        {ENTRY("F32", "[1.5]", "[0, 64]"), "not a count"},
        {ENTRY("F32", "[1, 1, 1, 16]", "[0, 64]"), "more than 3 dimensions"},
        {ENTRY("F32", "[4000000000000, 4000000000000]", "[0, 64]"), "larger than any file"},
        {ENTRY("F32", "[4000000000000, 0, 4000000000000]", "[0, 64]"), "larger than any file"},
        {ENTRY("F32", "[4, 4]", "[0]"), "pair of positions"},
        {ENTRY("F32", "16", "[0, 64]"), "'shape' is missing"},
        {"{\"a\": {\"shape\": [16], \"data_offsets\": [0, 64]}}", "'dtype' is missing"},
        {"{\"a\": 3}", "not described by an object"},
        {"[]", "not a JSON object"},
        {"{", "the text ends"},
        {"{}", "64 bytes follow"},
        {"{\"__metadata__\": {\"format\": 3}}", "object of strings"},
        {"{\"a\": {\"dtype\": \"U8\", \"shape\": [40], \"data_offsets\": [0, 40]},"
         " \"b\": {\"dtype\": \"U8\", \"shape\": [40], \"data_offsets\": [24, 64]}}",
         "does not begin where"}, // they overlap
        {"{\"a\": {\"dtype\": \"U8\", \"shape\": [64], \"data_offsets\": [0, 64]},"
         " \"a\": {\"dtype\": \"U8\", \"shape\": [64], \"data_offsets\": [0, 64]}}",
         "is there twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(open_header(bad[i].header, &err), EXIT_DATA, bad[i].part);
}

TEST(a_missing_file_is_missing_input) {
    Tensors tensors;
    assert_refused(tensors_open(&tensors, test_path("absent.safetensors"), &err), EXIT_NO_INPUT,
                   "absent.safetensors");
    assert_refused(tensors_open(&tensors, test_folder(), &err), EXIT_DATA,
                   "is not a regular file but a folder");
}

// The pages beyond the new end are gone while the mapping is not: the first look at them must end
// in a sentence.
TEST(a_file_that_shrinks_while_it_is_read_is_named) {
    enum { FLOATS = 1 << 16 };
    float *data = TEST_ARRAY(float, FLOATS);
    Tensor tensor = {.name = "x", .type = TENSOR_F32, .rank = 1, .shape = {FLOATS}, .data = data};
    const char *path = test_path("shrinks.safetensors"), *said = test_path("said");
    assert_ok(tensors_write(path, &tensor, 1, NULL, false, &err));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        Tensors tensors;
        volatile float sum = 0;
        if (freopen(said, "w", stderr) == NULL || !tensors_open(&tensors, path, &(Error){0}) ||
            truncate(path, 8192) != 0)
            _exit(1);
        for (int i = 0; i < FLOATS; i++)
            sum += ((const float *)tensors.tensor[0].data)[i];
        _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_IO);
    size_t bytes;
    char *text = test_read(said, &bytes);
    assert_non_null(strstr(text, "shrinks.safetensors: became shorter while it was read\n"));
}

// Signals are as they were once nothing is mapped, and a SIGBUS of somebody else's stays one.
TEST(the_signal_of_a_shrunk_file_is_lent) {
    char copy[2048];
    write_sample(test_path("signals.safetensors"), copy, sizeof copy);
    struct sigaction before, open, after;
    Tensors one, two;
    sigaction(SIGBUS, NULL, &before);
    assert_ok(tensors_open(&one, test_path("signals.safetensors"), &err));
    assert_ok(tensors_open(&two, test_path("signals.safetensors"), &err));
    tensors_close(&one);
    sigaction(SIGBUS, NULL, &open);
    tensors_close(&two);
    sigaction(SIGBUS, NULL, &after);
    assert_true(open.sa_sigaction != before.sa_sigaction);
    assert_true(after.sa_sigaction == before.sa_sigaction);
}

TEST(data_may_stream_in_any_pieces) {
    const Tensor tensor[] = {
        {.name = "x", .type = TENSOR_F32, .rank = 2, .shape = {2, 3}},
        {.name = "ints", .type = TENSOR_I64, .rank = 1, .shape = {3}},
    };
    TensorsWriter writer;
    const char *path = test_path("s.safetensors");
    assert_ok(tensors_writer_open(&writer, path, tensor, 2, NULL, &err));
    assert_ok(tensors_writer_put(&writer, floats, 5, &err));
    assert_ok(tensors_writer_put(&writer, (const char *)floats + 5, 19, &err));
    assert_ok(tensors_writer_put(&writer, integers, 24, &err));
    assert_ok(tensors_writer_close(&writer, true, &err));
    CLEARED(tensors_close) Tensors tensors = {0};
    assert_ok(tensors_open(&tensors, path, &err));
    assert_memory_equal(tensors_find(&tensors, "x")->data, floats, sizeof floats);
    assert_memory_equal(tensors_find(&tensors, "ints")->data, integers, sizeof integers);
}
