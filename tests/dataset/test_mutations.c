// If this failed, a damaged file could crash the program, make it take memory without bound, or
// leak. Every sound file here is cut at every length and has every byte changed, in several ways;
// run under AddressSanitizer this shows reads out of bounds, too.

#include "bytes.h"
#include "fringe/base/terminal.h"

#include "dataset/internal.h"
#include "dataset/npy_input.h"

enum { MOST_MEMORY = 64 << 20 }; // far above what a file of a few KiB may ask for

typedef bool (*Reader)(const char *path, const unsigned char *bytes, size_t count, Error *err);

// A mutation must load or be refused with a sentence and a code, and must leak nothing.
static void try_bytes(Reader read, const char *path, const unsigned char *bytes, size_t count) {
    Error err = {0};
    size_t before = memory_in_use();
    bool ok = read(path, bytes, count, &err);
    if (!ok && (err.code == 0 || err.text[0] == '\0'))
        fail_msg("refused without a sentence");
    if (!ok && err.code != EXIT_DATA && err.code != EXIT_MEMORY && err.code != EXIT_CONFIG &&
        err.code != EXIT_IO)
        fail_msg("code %d: %s", err.code, err.text);
    assert_int_equal(memory_in_use(), before);
    if (memory_peak() - before > MOST_MEMORY)
        fail_msg("took %zu bytes for a file of %zu", memory_peak() - before, count);
}

// Cuts at every `step`-th length, then changes every `step`-th byte in five ways (all bits, one
// bit, to 0, to a digit, plus one): each byte in all ways for step 1, else in one way in turn. With
// sanitizers, where allocations are slow, the steps are wider.
static void mutate(Reader read, const char *path, const unsigned char *bytes, size_t count,
                   size_t step) {
    size_t ways = step == 1 ? 5 : 1;
#ifdef __SANITIZE_ADDRESS__
    step = step > 1 ? 3 * step + 1 : 1;
#endif
    unsigned char *copy = malloc(count);
    for (size_t length = 0; length < count; length += step)
        try_bytes(read, path, bytes, length);
    for (size_t i = 0; i < count; i += step)
        for (size_t way = 0; way < ways; way++) {
            const unsigned char other[] = {(unsigned char)~bytes[i],
                                           (unsigned char)(bytes[i] ^ 128), 0, '9',
                                           (unsigned char)(bytes[i] + 1)};
            memcpy(copy, bytes, count);
            copy[i] = other[(i / step + way) % sizeof other];
            try_bytes(read, path, copy, count);
        }
    free(copy);
}

static bool read_npy(const char *path, const unsigned char *bytes, size_t count, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    FREED float *x = NULL;
    test_write(path, bytes, count);
    if (!npy_read(&npy, path, err))
        return false;
    bool ok = npy.kind == NPY_TEXT || npy_to_float(&npy, &x, err);
    return ok;
}

static bool load_file(const char *path, const unsigned char *bytes, size_t count, Error *err) {
    Config config = {0};
    OWNED(Dataset) dataset = {0};
    snprintf(config.data.path, sizeof config.data.path, "%s", path);
    test_write(path, bytes, count);
    if (!dataset_load(&dataset, &config, err))
        return false;
    return true;
}

TEST(npy_arrays) {
    static Bytes bytes;
    const float x[6] = {1, 2, 3, 4, 5, 6};
    put_npy(&bytes, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", x, sizeof x);
    mutate(read_npy, "x.npy", bytes.data, bytes.count, 1);
}

TEST(npz_graphs) {
    for (int method = 0; method <= 8; method += 8) {
        static Bytes bytes;
        GraphFile file;
        graph_file_init(&file);
        file.method = method;
        bytes.count = 0;
        put_graph(&bytes, &file);
        mutate(load_file, test_path("m.npz"), bytes.data, bytes.count, method == 0 ? 5 : 3);
    }
}

// The checksum protects an archive's arrays, but with a correct one any number may still be wrong.
TEST(numbers_inside_npz_graphs) {
    static const int64_t wrong[] = {-1,        4,        5, 1000000, INT32_MAX, (int64_t)1 << 40,
                                    INT64_MAX, INT64_MIN};
    static Bytes bytes;
    const char *path = test_path("n.npz");
    for (int which = 0; which < EXTRA; which++) {
        GraphFile file;
        graph_file_init(&file);
        Array *array = &file.array[which];
        int count = (int)(array->bytes / 8);
        for (int k = 0; array->descr[1] == 'i' && k < count; k++)
            for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
                graph_file_init(&file);
                memcpy(array->data + 8 * k, &wrong[w], 8);
                bytes.count = 0;
                put_graph(&bytes, &file);
                try_bytes(load_file, path, bytes.data, bytes.count);
            }
    }
}

TEST(texts) {
    static const char *const metis = "% c\n4 3 11 2\n1 2 2 5\n1 2 1 5 3 6\n1 2 2 6 4 7\n1 2 3 7\n";
    static const char *const edges = "# c\n0 1 0.5\r\n1 2 1e-3\n2 30 7.25\n";
    mutate(load_file, test_path("m.graph"), (const unsigned char *)metis, strlen(metis), 2);
    mutate(load_file, test_path("m.txt"), (const unsigned char *)edges, strlen(edges), 2);
}

// Reads it from memory that ends where the text does.
static bool parse_hgr(const char *path, const unsigned char *bytes, size_t count, Error *err) {
    static const Config config;
    OWNED(Dataset) dataset = {0};
    CLEARED(text_clear) Text text = {ALLOC(char, count + 1, "text"), count};
    memcpy(text.data, bytes, count);
    bool ok = format_hgr.parse(&dataset, &text, &(Request){&config, path, .rows = -1}, err) &&
              dataset_need_split(&dataset, err) && dataset_check(&dataset, path, err);
    if (ok)
        dataset_finish(&dataset);
    return ok;
}

TEST(hypergraphs) {
    static const char *const hgr = "% c\n3 4 11\n2 1 2\r\n0.5 2 3 4 2\n1e1 4\n7\n0\n% d\n2\n12\n";
    static const char *const pins = "# c\n0 10 0.5 s\n1 10 0.5 b\n3 11 2 t\n0 11 2 s\n";
    mutate(parse_hgr, "m.hgr", (const unsigned char *)hgr, strlen(hgr), 1);
    mutate(load_file, test_path("m.hgr"), (const unsigned char *)hgr, strlen(hgr), 3);
    mutate(load_file, test_path("m.pins"), (const unsigned char *)pins, strlen(pins), 2);
}

static bool load_stream(const char *path, const unsigned char *bytes, size_t count, Error *err) {
    Config config = {.data.format = "events"};
    OWNED(Dataset) dataset = {0};
    snprintf(config.data.path, sizeof config.data.path, "%s", path);
    test_write(path, bytes, count);
    dataset_forecast(&(MemoryForecast){0}, &config);
    if (!dataset_load(&dataset, &config, err))
        return false;
    return true;
}

TEST(streams) {
    static const char *const text = "fringe-stream 1\n+h 7 w=0.5 1 20\n+v 20 7 8\r\n= a\n-p 8 20\n";
    static Bytes binary;
    put_bytes(&binary, "FRNGSTRM\1\0\0\0", 12);
    put_bytes(&binary, "\1\1\0\0\2\0\0\0\7\0\0\0\0\0\0\0\0\0\0\x3f", 20); // +h 7 w=0.5
    put_number(&binary, 1, 8);
    put_number(&binary, 20, 8);
    put_bytes(&binary, "\6\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16); // -v 1
    mutate(load_stream, test_path("m.events"), (const unsigned char *)text, strlen(text), 1);
    mutate(load_stream, test_path("b.events"), binary.data, binary.count, 1);
}

// --- our directory

static const char *directory; // the folder that write_part and the reader agree on

static bool open_with(const char *name, const unsigned char *bytes, size_t count, Error *err) {
    char path[2048];
    OWNED(Dataset) dataset = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    test_write(path, bytes, count);
    if (!dataset_open(&dataset, directory, err))
        return false;
    return dataset_inspect(&terminal_tables, directory, err);
}

// The last: it silences stdout.
TEST(directories) {
    static const char *const names[] = {"dataset.json", "dataset.safetensors"};
    OWNED(Dataset) made = {0};
    char path[2048];
    directory = test_path("directory");
    assert_ok(dataset_generate(
        &made, "planted:nodes=20,edges=40,features=2,classes=2,communities=2", 1, &err));
    assert_ok(dataset_write(&made, directory, &err));
    FILE *quiet = freopen("/dev/null", "w", stdout); // inspect prints
    assert_non_null(quiet);
    for (int i = 0; i < 2; i++) {
        size_t count;
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        char *whole = test_read(path, &count);
        mutate(open_with, names[i], (unsigned char *)whole, count, 3);
        test_write(path, whole, count);
    }
}
