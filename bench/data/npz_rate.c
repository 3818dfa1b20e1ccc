// Reading npz files into a dataset with its checks, against numpy and scipy to the same checked
// CSR, in turns: a look-alike of Reddit as fringe convert writes it (CSR), and as DGL downloads it
// (COO, two files). Next to these, what zlib and libdeflate need to inflate the same files on one
// thread.
//
//   npz_rate [--strict] [--percent=40] [--rounds=5] [--threads=2]
//
// --percent: of the nodes and edges of the set. Rates are in bytes of unpacked arrays. Python
// reports its own seconds, without its start. PYTHON names an interpreter with numpy and scipy.
//
// smoke: --rounds=1
#include "bench.h"
#include "fringe/dataset.h"

#include <libdeflate.h>
#include <omp.h>
#include <zip.h>
#include <zlib.h>

enum { PATH = 1200, ROUNDS = 64, FILES = 2 };

typedef struct Set {
    const char *name, *path; // in the folder of the bench
    const char *file[FILES]; // NULL: none
    const char *python;      // reads it from the folder d into the matrix m and the features x
    int64_t nodes, edges;
} Set;

static Set sets[] = {
    {"CSR, one file",
     "csr.npz",
     {"csr.npz"},
     "f = numpy.load(d + '/csr.npz'); x = f['attr_matrix']; y = f['labels']; "
     "m = sp.csr_matrix((f['adj_data'], f['adj_indices'], f['adj_indptr']), f['adj_shape'])",
     0,
     0},
    {"COO as DGL's Reddit",
     "reddit",
     {"reddit/reddit_data.npz", "reddit/reddit_graph.npz"},
     "f = numpy.load(d + '/reddit/reddit_data.npz'); x = f['feature']; y = f['label']; "
     "s = f['node_types']; m = sp.load_npz(d + '/reddit/reddit_graph.npz').tocsr()",
     0,
     0}};

static const char *folder;

static void path_of(char out[PATH], const char *name) {
    snprintf(out, PATH, "%s/%s", folder, name);
}

// Runs Python with the bench's folder as d; the number that it prints, or -1.
static double ask_python(const char *program) {
    double number = -1;
    bool ok = bench_ask_python(&number, 1,
                               "import numpy, time, os, zipfile, scipy.sparse as sp; d = '%s'; %s",
                               folder, program);
    return ok ? number : -1;
}

// ---- the files

static void write_csr(int64_t percent, Set *set) {
    char path[PATH];
    CLEARED(dataset_clear) Dataset d = {0};
    Warnings remarks = {0};
    path_of(path, set->file[0]);
    need(dataset_generate(&d, bench_recipe(bench_print("reddit:scale=%g", (double)percent / 100)),
                          1, &err));
    need(dataset_convert(&d, &(Conversion){.path = path}, &remarks, &err));
    set->nodes = d.nodes;
    set->edges = d.edges;
}

// The same set with 32-bit ids and floats and 64-bit values, deflated as numpy and scipy do.
static bool write_coo(const Set *from, Set *set) {
    set->nodes = from->nodes;
    set->edges = from->edges;
    return ask_python(
               "f = numpy.load(d + '/csr.npz'); os.mkdir(d + '/reddit'); "
               "n = len(f['labels']); t = numpy.zeros(n, int); "
               "t[f['train_idx']] = 1; t[f['val_idx']] = 2; t[f['test_idx']] = 3; "
               "numpy.savez_compressed(d + '/reddit/reddit_data.npz', feature=f['attr_matrix'], "
               "label=f['labels'], node_types=t, node_ids=numpy.arange(n)); "
               "row = numpy.repeat(numpy.arange(n, dtype='i4'), numpy.diff(f['adj_indptr'])); "
               "sp.save_npz(d + '/reddit/reddit_graph.npz', sp.coo_matrix((numpy.ones(len(row), "
               "int), (row, f['adj_indices'])), (n, n))); print(1)") > 0;
}

// ---- inflating alone

typedef struct Stream {
    unsigned char *packed, *out;
    size_t packed_bytes, bytes;
    double zlib, libdeflate; // seconds
} Stream;

static void inflate_both(Stream *s) {
    z_stream z = {.next_in = s->packed, .next_out = s->out};
    size_t got = 0, in = s->packed_bytes, out = s->bytes;
    double begin = clock_seconds();
    CHECK(inflateInit2(&z, -15) == Z_OK, EXIT_BUG, "zlib does not start");
    for (int status = Z_OK; status == Z_OK;) { // it counts in 32 bits
        z.avail_in = (uInt)(in < 1 << 30 ? in : 1 << 30);
        z.avail_out = (uInt)(out < 1 << 30 ? out : 1 << 30);
        in -= z.avail_in, out -= z.avail_out;
        status = inflate(&z, Z_NO_FLUSH);
        in += z.avail_in, out += z.avail_out;
    }
    inflateEnd(&z);
    CHECK(in == 0 && out == 0, EXIT_BUG, "zlib did not inflate the whole");
    s->zlib += clock_seconds() - begin;
    begin = clock_seconds();
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    CHECK(libdeflate_deflate_decompress(d, s->packed, s->packed_bytes, s->out, s->bytes, &got) ==
                  LIBDEFLATE_SUCCESS &&
              got == s->bytes,
          EXIT_BUG, "libdeflate did not inflate the whole");
    libdeflate_free_decompressor(d);
    s->libdeflate += clock_seconds() - begin;
}

// Adds the members of a file.
static void inflate_file(const char *name, Stream *sum) {
    char path[PATH];
    zip_stat_t stat;
    path_of(path, name);
    zip_t *zip = zip_open(path, ZIP_RDONLY, NULL);
    CHECK(zip != NULL, EXIT_BUG, "%s cannot be opened", path);
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); i++) {
        CHECK(zip_stat_index(zip, (zip_uint64_t)i, 0, &stat) == 0, EXIT_BUG, "no directory");
        Stream s = {.packed = ALLOC(unsigned char, stat.comp_size, "packed"),
                    .out = ALLOC(unsigned char, stat.size, "unpacked"),
                    .packed_bytes = stat.comp_size,
                    .bytes = stat.size};
        zip_file_t *file = zip_fopen_index(zip, (zip_uint64_t)i, ZIP_FL_COMPRESSED);
        CHECK(zip_fread(file, s.packed, stat.comp_size) == (zip_int64_t)stat.comp_size, EXIT_BUG,
              "%s cannot be read", path);
        memset(s.out, 1, s.bytes); // its pages are there
        inflate_both(&s);
        sum->bytes += s.bytes;
        sum->zlib += s.zlib;
        sum->libdeflate += s.libdeflate;
        zip_fclose(file);
        memory_free(s.packed);
        memory_free(s.out);
    }
    zip_discard(zip);
}

// ---- in turns

static double read_set(const Set *set) {
    static Config config;
    char path[PATH];
    CLEARED(dataset_clear) Dataset d = {0};
    path_of(path, set->path);
    snprintf(config.data.path, sizeof config.data.path, "%.*s", CONFIG_TEXT - 1, path);
    double begin = clock_seconds();
    need(dataset_load(&d, &config, &err));
    double seconds = clock_seconds() - begin;
    CHECK(d.nodes == set->nodes && d.edges == set->edges, EXIT_BUG, "another dataset was read");
    return seconds;
}

// -1 without numpy and scipy.
static double read_with_python(const Set *set) {
    char program[2048];
    snprintf(program, sizeof program,
             "t = time.monotonic(); %s; m.check_format(full_check=True); m.has_canonical_format; "
             "assert numpy.isfinite(x).all() and numpy.isfinite(m.data).all(); "
             "t = time.monotonic() - t; assert m.shape[0] == %lld and m.nnz == %lld; print(t)",
             set->python, (long long)set->nodes, (long long)set->edges);
    return ask_python(program);
}

static void say_rate(const Set *set, const char *what, double rate, double ours) {
    Figure figure = {
        .value = rate, .unit = "MB/s", .against = "fringe", .limit = ours, .ratio = ours / rate};
    snprintf(figure.name, sizeof figure.name, "%s: %s, one thread", set->name, what);
    bench_figure(&figure);
}

static void measure(const Set *set, int rounds) {
    double ours[ROUNDS], theirs[ROUNDS];
    Stream sum = {0};
    for (int i = 0; i < FILES && set->file[i] != NULL; i++)
        inflate_file(set->file[i], &sum);
    read_set(set);
    for (int r = 0; r < rounds && r < ROUNDS; r++) {
        theirs[r] = read_with_python(set);
        ours[r] = read_set(set);
    }
    double mega = (double)sum.bytes / 1e6, fringe = mega / bench_median(ours, rounds);
    say_rate(set, "zlib's inflate", mega / sum.zlib, fringe);
    say_rate(set, "libdeflate's inflate", mega / sum.libdeflate, fringe);
    double peer = mega / bench_median(theirs, rounds);
    if (peer > 0)
        bench_at_least(fringe, "MB/s", 1.3, "numpy + scipy", peer, "%s: into a checked dataset",
                       set->name);
    else
        printf(
            "%s: into a checked dataset: %.0f MB/s; python3 has no numpy and scipy (PYTHON names "
            "another), so there is no peer\n",
            set->name, fringe);
}

BENCH(npz_rate) {
    int rounds = (int)bench_option("--rounds", 5);
    omp_set_num_threads((int)bench_option("--threads", 2));
    folder = bench_folder();
    write_csr(bench_option("--percent", 40), &sets[0]);
    measure(&sets[0], rounds);
    if (write_coo(&sets[0], &sets[1]))
        measure(&sets[1], rounds);
}
