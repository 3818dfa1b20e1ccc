// Cuts a dataset and says what that took:
//   bench_cut CONFIG PARTS [--turns=5] [--out=NAME] [KEY=VALUE...]
// prints seconds, the least of all turns, and the peak of this process's resident memory in MiB;
// with --out it writes NAME.part.K and, of a hypergraph, NAME.hpart.K. What others compare set-up
// times with (bench/run.sh savings), and how bench/run.sh srp runs partitioners.
#include "bench.h"
#include "fringe/partition.h"

enum { SETTINGS = 32 };

static double cut(int32_t *part, const Dataset *dataset, int parts, const Config *config) {
    Error err = {0};
    Warnings warnings = {0};
    double since = clock_seconds();
    need(partition_cut(part, dataset, parts, config, &err, &warnings), &err);
    return clock_seconds() - since;
}

static void write_parts(const char *out, const int32_t *part, const Dataset *d, int parts) {
    char folder[1024];
    Error err = {0};
    path_folder(folder, sizeof folder, out);
    const char *name = path_name(out);
    need(partition_write_part_file(folder, name, NODES, part, d->nodes, parts, &err), &err);
    need(d->hyperedges == 0 || partition_write_part_file(folder, name, HYPEREDGES, part + d->nodes,
                                                         d->hyperedges, parts, &err),
         &err);
}

int main(int argc, char **argv) {
    const char *setting[SETTINGS], *out = NULL;
    int settings = 0;
    for (int i = 3; i < argc; i++)
        if (strncmp(argv[i], "--out=", 6) == 0)
            out = argv[i] + 6;
        else if (argv[i][0] != '-' && settings < SETTINGS)
            setting[settings++] = argv[i];
    if (argc < 3 || argc - 3 > SETTINGS) {
        fprintf(stderr, "usage: bench_cut CONFIG PARTS [--turns=5] [--out=NAME] [KEY=VALUE...]\n");
        return EXIT_USAGE;
    }
    Config config;
    CLEARED(dataset_clear) Dataset dataset = {0};
    Error err = {0};
    need(config_load(&config, argv[1], setting, settings, &err), &err);
    need(dataset_load(&dataset, &config, &err), &err);
    int parts = atoi(argv[2]);
    int64_t turns = bench_option(argc, argv, "--turns", 5);
    CLEARED(memory_drop)
    int32_t *part = ALLOC(int32_t, dataset.nodes + dataset.hyperedges, "parts");
    double least = 1e9;
    for (int64_t turn = 0; turn < turns; turn++)
        least = fmin(least, cut(part, &dataset, parts, &config));
    printf("%.6f %.1f\n", least, bench_status("VmHWM:") / (1 << 20));
    if (out != NULL)
        write_parts(out, part, &dataset, parts);
    return EXIT_OK;
}
