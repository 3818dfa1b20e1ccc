// Cuts a dataset and says what that took:
//   bench_cut CONFIG PARTS [--turns=5] [--out=NAME] [KEY=VALUE...]
// prints seconds, the least of all turns, and the peak of this process's resident memory in MiB;
// with --out it writes NAME.part.K and, of a hypergraph, NAME.hpart.K. What others compare set-up
// times with (bench/run.sh savings), and how bench/run.sh srp runs partitioners.
#include "bench.h"
#include "fringe/partition.h"

enum { SETTINGS = 32 };

static double cut(int32_t *part, const Dataset *dataset, int parts, const Config *config) {
    double since = clock_seconds();
    need(partition_cut(part, dataset, parts, config, &err, &(Warnings){0}));
    return clock_seconds() - since;
}

static void write_parts(const char *out, const int32_t *part, const Dataset *d, int parts) {
    char folder[1024];
    path_folder(folder, sizeof folder, out);
    const char *name = path_name(out);
    need(partition_write_part_file(folder, name, NODES, part, d->nodes, parts, &err));
    need(d->hyperedges == 0 || partition_write_part_file(folder, name, HYPEREDGES, part + d->nodes,
                                                         d->hyperedges, parts, &err));
}

BENCH(cut) {
    const char *words[SETTINGS] = {NULL}, *out = bench_text("--out", NULL);
    int count = bench_settings(words, SETTINGS);
    CHECK(count >= 2, EXIT_USAGE,
          "usage: bench_cut CONFIG PARTS [--turns=5] [--out=NAME] [KEY=VALUE...]");
    Config config;
    CLEARED(dataset_clear) Dataset dataset = {0};
    need(config_load(&config, words[0], words + 2, count - 2, &err));
    need(dataset_load(&dataset, &config, &err));
    int parts = atoi(words[1]);
    int64_t turns = bench_option("--turns", 5);
    FREED int32_t *part = ALLOC(int32_t, dataset.nodes + dataset.hyperedges, "parts");
    double least = 1e9;
    for (int64_t turn = 0; turn < turns; turn++)
        least = fmin(least, cut(part, &dataset, parts, &config));
    printf("%.6f %.1f\n", least, bench_status("VmHWM:") / (1 << 20));
    if (out != NULL)
        write_parts(out, part, &dataset, parts);
}
