// The report of a partition: statistics of each part, and rows sent between parts.
#include "internal.h"
#include <inttypes.h>
#include <stdio.h>

static double percent(int64_t a, int64_t b) { return b > 0 ? 100 * (double)a / (double)b : 0.0; }

static void print_parts(const Manifest *m) {
    printf("%6s %10s %10s %10s %10s %10s %8s %12s %8s %10s\n", "rank", "own", "central", "marginal",
           "boundary", "halo", "ratio", "edges", "remote", "train");
    for (int p = 0; p < m->parts; p++) {
        const PartFigures *f = &m->part[p];
        printf("%6d %10" PRId64 " %10" PRId64 " %10" PRId64 " %10" PRId64 " %10" PRId64
               " %7.1f%% %12" PRId64 " %7.1f%% %10" PRId64 "\n",
               p, f->own, f->central, f->own - f->central, f->boundary, f->halo,
               percent(f->halo, f->own), f->edges, percent(f->edges_remote, f->edges), f->train);
    }
}

enum { REPORT_MATRIX = 32 }; // more columns do not fit on a screen

static bool print_messages(const Manifest *m, const char *folder, Error *err) {
    char path[1024];
    messages_path(path, sizeof path, folder);
    if (m->parts < 2)
        return true;
    if (m->parts <= REPORT_MATRIX)
        return messages_print(path, m->parts, m->symmetric, err);
    printf("\nrows sent: see %s\n", SHOWN(path));
    return true;
}

bool partition_report(const char *folder, const char *name, Error *err) {
    Manifest m;
    if (!manifest_read_all(&m, folder, err))
        return false;
    printf("%s: %" PRId64 " nodes, %" PRId64 " stored edges, %s; %d parts by %s, seed %" PRId64
           "\n",
           SHOWN(name != NULL ? name : m.dataset_name), m.nodes, m.edges,
           m.symmetric ? "symmetric" : "directed", m.parts, SHOWN(m.method), m.seed);
    printf("edge cut: %" PRId64 " of %" PRId64 " joined pairs (%.1f%%)\n", m.edge_cut,
           m.undirected_edges, percent(m.edge_cut, m.undirected_edges));
    printf("remote-neighbour ratio: %.1f%% (mean of halo rows / own rows); %" PRId64
           " rows sent in each forward exchange\n",
           100 * ranks_halo_ratio(m.part, m.parts), ranks_rows_sent(m.part, m.parts));
    printf("balance (largest / mean): nodes %.3f, edges %.3f, train nodes %.3f\n",
           ranks_balance(m.part, m.parts, BALANCE_NODES),
           ranks_balance(m.part, m.parts, BALANCE_EDGES),
           ranks_balance(m.part, m.parts, BALANCE_TRAIN));
    if (m.warnings.text[0] != '\0')
        printf("warnings: %s\n", SHOWN(m.warnings.text));
    printf("\n");
    print_parts(&m);
    bool ok = print_messages(&m, folder, err);
    manifest_clear(&m);
    return ok;
}
