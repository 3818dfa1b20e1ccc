// How long METIS takes to cut a graph: bench_cut CONFIG PARTS [KEY=VALUE...] prints seconds, the
// least of five. What others compare set-up times with (bench/savings.py).
#include "fringe/partition.h"

#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 5, SETTINGS = 32 };

int main(int argc, char **argv) {
    if (argc < 3 || argc - 3 > SETTINGS) {
        fprintf(stderr, "usage: bench_cut CONFIG PARTS [KEY=VALUE...]\n");
        return EXIT_USAGE;
    }
    Config config;
    Dataset dataset;
    Error err = {0};
    Warnings warnings = {0};
    CHECK(config_load(&config, argv[1], (const char *const *)argv + 3, argc - 3, &err) &&
              dataset_load(&dataset, &config, &err),
          EXIT_DATA, "%s", err.text);
    int parts = atoi(argv[2]);
    int32_t *part = ALLOC(int32_t, dataset.nodes + dataset.hyperedges, "parts");
    double least = 1e9;
    for (int turn = 0; turn < TURNS; turn++) {
        double since = clock_seconds();
        CHECK(partition_cut(part, &dataset, parts, &config, &err, &warnings), EXIT_DATA, "%s",
              err.text);
        double seconds = clock_seconds() - since;
        least = seconds < least ? seconds : least;
    }
    printf("%.6f\n", least);
    memory_free(part);
    dataset_clear(&dataset);
    return EXIT_OK;
}
