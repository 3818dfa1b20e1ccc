// Opening a dataset directory of Reddit's size, whose arrays are mapped: all checks of what is in
// it are made each time, on pages that are in memory. Next to it, hashing the same files, which
// says whether the cache knows them, and the least time in which so many bytes can be read.
//
//   open_rate [--strict] [--percent=100] [--rounds=7] [--threads=2]
//
// smoke: --rounds=1
#include "bench.h"
#include "fringe/dataset.h"

#include <omp.h>

static const char *path;
static Config config;

static void make_set(int64_t percent) {
    path = bench_print("%s/set", bench_folder());
    snprintf(config.data.path, sizeof config.data.path, "%.*s", CONFIG_TEXT - 1, path);
    bench_dataset(path, bench_recipe(bench_print("reddit:scale=%g", (double)percent / 100)), NULL);
}

static void open_set(void *context) {
    CLEARED(dataset_clear) Dataset d = {0};
    need(dataset_open(&d, path, &err));
    *(size_t *)context = d.map.bytes;
    CHECK(d.mapped, EXIT_BUG, "another dataset was opened");
}

static void hash_set(void *context) {
    char text[33];
    (void)context;
    need(dataset_source_hash(&config, text, &err));
}

BENCH(open_rate) {
    int threads = (int)bench_option("--threads", 2);
    omp_set_num_threads(threads);
    make_set(bench_option("--percent", 100));
    size_t bytes = 0;
    double median[2];
    BenchCase cases[] = {{"open", open_set, &bytes}, {"hash", hash_set, NULL}};
    bench_compare(cases, 2, (int)bench_option("--rounds", 7), median);
    BenchLimits limits = bench_limits(threads, (size_t)1 << 28);
    bench_at_most(median[0], "s", 1, "1 s", 1, "opening and checking a mapped Reddit");
    bench_at_most(median[1], "s", 0, "reading in order",
                  (double)bytes / (limits.sequential_read * 1e9), "hashing its files");
}
