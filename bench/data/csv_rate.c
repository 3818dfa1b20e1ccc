// Reading a csv.gz of features (100 columns, as ogbn-products has it) into a dataset, against
// zlib's inflate of the same file alone, and against pandas where python3 has it; all in turns.
//
//   csv_rate [--strict] [--rows=250000] [--rounds=5] [--threads=2]
//
// Parsing goes on while the file is inflated, so the least time is that of the longer of the two.
//
// smoke: --rows=200 --rounds=1
#include "../../src/dataset/internal.h"
#include "bench.h"

#include <omp.h>
#include <zlib.h>

enum { COLUMNS = 100 };

static const char *folder, *features;
static int64_t text_bytes;

static void put_gz(const char *name, const char *text) {
    const char *path = bench_print("%s/%s", folder, name);
    gzFile file = gzopen(path, "wb");
    CHECK(file != NULL && gzputs(file, text) >= 0 && gzclose(file) == Z_OK, EXIT_CANNOT_WRITE,
          "%s cannot be written", path);
}

// Numbers as OGB prints them: shortest decimals of normal floats.
static void write_features(int64_t rows) {
    features = bench_print("%s/node-feat.csv.gz", folder);
    gzFile file = gzopen(features, "wb6");
    char line[COLUMNS * 16];
    CHECK(file != NULL, EXIT_CANNOT_WRITE, "%s cannot be written", features);
    for (int64_t r = 0; r < rows; r++) {
        int at = 0;
        for (int c = 0; c < COLUMNS; c++)
            at += sprintf(line + at, "%.7g%c",
                          random_normal(random_key(1, RANDOM_FEATURES, 0, 0, 0), r, 0, c),
                          c + 1 < COLUMNS ? ',' : '\n');
        text_bytes += at;
        CHECK(gzwrite(file, line, (unsigned)at) == at, EXIT_CANNOT_WRITE, "the disk is full");
    }
    gzclose(file);
}

static void make_set(int64_t rows) {
    folder = bench_folder();
    put_gz("num-node-list.csv.gz", bench_print("%lld\n", (long long)rows));
    put_gz("num-edge-list.csv.gz", "1\n");
    put_gz("edge.csv.gz", "0,1\n");
    write_features(rows);
}

static void read_set(void *context) {
    int64_t rows = *(int64_t *)context;
    static Config config;
    CLEARED(dataset_clear) Dataset d = {0};
    snprintf(config.data.path, sizeof config.data.path, "%.500s", folder);
    need(dataset_load(&d, &config, &err));
    CHECK(d.nodes == rows && d.features == COLUMNS, EXIT_BUG, "another dataset was read");
}

static void inflate_alone(void *context) {
    (void)context;
    static char piece[1 << 18];
    gzFile file = gzopen(features, "rb");
    int64_t bytes = 0;
    gzbuffer(file, 1 << 18);
    for (int got; (got = gzread(file, piece, sizeof piece)) > 0;)
        bytes += got;
    gzclose(file);
    CHECK(bytes == text_bytes, EXIT_BUG, "the file is not whole");
}

BENCH(csv_rate) {
    int64_t rows = bench_option("--rows", 250000);
    omp_set_num_threads((int)bench_option("--threads", 2));
    make_set(rows);
    double pandas = 0, median[2], mega = (double)text_bytes / 1e6;
    BenchCase cases[] = {{"fringe", read_set, &rows}, {"inflate", inflate_alone, NULL}};
    bench_compare(cases, 2, (int)bench_option("--rounds", 5), median);
    bench_at_least(mega / median[0], "MB/s", 0.8, "zlib's inflate alone", mega / median[1],
                   "csv.gz of 100 columns into a dataset");
    if (bench_ask_python(&pandas, 1,
                         "import pandas, time; t = time.monotonic(); "
                         "pandas.read_csv('%s', compression='gzip', header=None).values.astype("
                         "'float32'); print(time.monotonic() - t)",
                         features))
        bench_at_least(mega / median[0], "MB/s", 3, "pandas.read_csv", mega / pandas,
                       "the same against pandas");
    else
        printf("the same against pandas: not run, python3 has no pandas (PYTHON names another)\n");
}
