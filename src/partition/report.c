// The report of a partition: statistics of each part, and rows sent between parts.
#include "internal.h"
#include <inttypes.h>
#include <stdio.h>

static double percent(int64_t a, int64_t b) { return b > 0 ? 100 * (double)a / (double)b : 0.0; }

static void print_parts(const Manifest *m) {
    printf("%4s %8s %8s %8s %8s %8s %7s %10s %6s %7s\n", "rank", "own", "central", "marginal",
           "boundary", "halo", "ratio", "edges", "remote", "train");
    for (int p = 0; p < m->parts; p++) {
        const PartFigures *f = &m->part[p];
        printf("%4d %8" PRId64 " %8" PRId64 " %8" PRId64 " %8" PRId64 " %8" PRId64
               " %6.1f%% %10" PRId64 " %5.1f%% %7" PRId64 "\n",
               p, f->own, f->central, f->own - f->central, f->boundary, f->halo,
               percent(f->halo, f->own), f->edges, percent(f->edges_remote, f->edges), f->train);
    }
}

enum { REPORT_MATRIX = 16 }; // more columns do not fit on a screen

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

static void print_whole(const Manifest *m, const char *name) {
    printf("dataset    %s\n", SHOWN(name));
    printf("graph      %" PRId64 " nodes, %" PRId64 " stored edges, %s\n", m->nodes, m->edges,
           m->symmetric ? "symmetric" : "directed");
    printf("parts      %d by %s, seed %" PRId64 "\n", m->parts, SHOWN(m->method), m->seed);
    printf("edge cut   %" PRId64 " of %" PRId64 " joined pairs (%.1f%%)\n", m->edge_cut,
           m->undirected_edges, percent(m->edge_cut, m->undirected_edges));
    printf("halo       remote-neighbour ratio %.1f%% (mean of halo rows / own rows)\n",
           100 * ranks_halo_ratio(m->part, m->parts));
    printf("messages   %" PRId64 " rows sent in each forward exchange\n",
           ranks_rows_sent(m->part, m->parts));
    printf("balance    nodes %.3f, edges %.3f, train nodes %.3f (largest part / mean)\n",
           ranks_balance(m->part, m->parts, BALANCE_NODES),
           ranks_balance(m->part, m->parts, BALANCE_EDGES),
           ranks_balance(m->part, m->parts, BALANCE_TRAIN));
}

bool partition_report(const char *folder, const char *name, Error *err) {
    Manifest m;
    if (!manifest_read_all(&m, folder, err))
        return false;
    print_whole(&m, name != NULL ? name : m.dataset_name);
    if (m.warnings.text[0] != '\0')
        printf("warnings   %s\n", SHOWN(m.warnings.text));
    printf("\n");
    print_parts(&m);
    bool ok = print_messages(&m, folder, err);
    manifest_clear(&m);
    return ok;
}

// ---- as JSON

static void put_part(JsonWriter *writer, const PartFigures *f) {
    const struct {
        const char *key;
        int64_t value;
    } row[] = {{"own", f->own},
               {"central", f->central},
               {"marginal", f->own - f->central},
               {"boundary", f->boundary},
               {"halo", f->halo},
               {"halo_backward", f->halo_backward},
               {"edges", f->edges},
               {"edges_remote", f->edges_remote},
               {"train", f->train},
               {"bytes", f->bytes}};
    json_begin_object(writer, NULL);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        json_put_int(writer, row[i].key, row[i].value);
    json_end_object(writer);
}

static void put_whole(JsonWriter *writer, const Manifest *m, const char *name) {
    json_put_string(writer, "dataset", name);
    json_put_int(writer, "nodes", m->nodes);
    json_put_int(writer, "edges", m->edges);
    json_put_bool(writer, "symmetric", m->symmetric);
    json_put_string(writer, "method", m->method);
    json_put_int(writer, "seed", m->seed);
    json_put_int(writer, "edge_cut", m->edge_cut);
    json_put_int(writer, "joined_pairs", m->undirected_edges);
    json_put_double(writer, "remote_neighbour_ratio", ranks_halo_ratio(m->part, m->parts));
    json_put_int(writer, "rows_sent", ranks_rows_sent(m->part, m->parts));
    json_put_double(writer, "balance_nodes", ranks_balance(m->part, m->parts, BALANCE_NODES));
    json_put_double(writer, "balance_edges", ranks_balance(m->part, m->parts, BALANCE_EDGES));
    json_put_double(writer, "balance_train", ranks_balance(m->part, m->parts, BALANCE_TRAIN));
    json_put_string(writer, "warnings", m->warnings.text);
}

bool partition_put_report(JsonWriter *writer, const char *folder, const char *name, Error *err) {
    Manifest m;
    char path[1024];
    if (!manifest_read_all(&m, folder, err))
        return false;
    put_whole(writer, &m, name != NULL ? name : m.dataset_name);
    json_begin_array(writer, "parts");
    for (int p = 0; p < m.parts; p++)
        put_part(writer, &m.part[p]);
    json_end_array(writer);
    messages_path(path, sizeof path, folder);
    bool ok = m.parts < 2 || messages_put(writer, path, m.symmetric, err);
    manifest_clear(&m);
    return ok;
}
