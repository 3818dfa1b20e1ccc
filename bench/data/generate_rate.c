// How fast the look-alikes of large sets are drawn: nodes, edges, removal of duplicates and rows in
// memory, without features; beside the least time that their bytes take at the copying rate of the
// same run (each stored entry is written twice and read twice).
//
//   generate_rate [--strict] [--rounds=2] [--threads=2] [--first=0]
//
// smoke: --rounds=1
#include "bench.h"
#include "fringe/dataset.h"

#include <omp.h>

BENCH(generate_rate) {
    static const char *const names[] = {"reddit:features=0", "ogbn-products:features=0"};
    int threads = (int)bench_option("--threads", 2);
    int rounds = (int)bench_option("--rounds", 2);
    omp_set_num_threads(threads);
    BenchLimits limits = bench_limits(threads, (size_t)1 << 28);
    for (int i = (int)bench_option("--first", 0); i < 2; i++) {
        double seconds[8];
        int64_t edges = 0;
        for (int r = 0; r < rounds && r < 8; r++) {
            CLEARED(dataset_clear) Dataset d = {0};
            double begin = clock_seconds();
            need(dataset_generate(&d, bench_recipe(names[i]), 1, &err));
            seconds[r] = clock_seconds() - begin;
            edges = d.edges;
        }
        double median = bench_median(seconds, rounds < 8 ? rounds : 8);
        double least = (double)edges * 16 / (limits.memory_copy * 1e9);
        Figure figure = {.value = (double)edges / median / 1e6,
                         .unit = "M/s",
                         .against = "at the copying rate",
                         .limit = (double)edges / least / 1e6,
                         .ratio = (double)edges / median / 20e6,
                         .bar = 1};
        snprintf(figure.name, sizeof figure.name, "%s, %d threads", names[i], threads);
        bench_figure(&figure);
    }
}
