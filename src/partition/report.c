// The report of a partition: statistics of each part, and rows sent between parts.
#include "internal.h"

static double percent(int64_t a, int64_t b) { return b > 0 ? 100 * (double)a / (double)b : 0.0; }

enum { REPORT_PARTS = 8 }; // more do not fit on a screen; their matrix would be wider than one

// Of the columns `central` and the next, of a graph and of a hypergraph.
static const int widths[2][2] = {{10, 10}, {9, 11}};

static int64_t rows_from_others(const Manifest *m, const PartFigures *f) {
    return m->hyperedges > 0 ? f->replicas : f->halo;
}

static void print_part(const Sink *out, const Manifest *m, const char *rank, const PartFigures *f) {
    bool star = m->hyperedges > 0;
    int64_t others = rows_from_others(m, f);
    sink_print(out, "%4s%10ld%*ld%*ld%10ld %6.1f%%%12ld %6.1f%%%8ld\n", rank, f->own,
               widths[star][0], f->central, widths[star][1],
               star ? f->hyperedges : f->own - f->central, others, percent(others, f->own),
               f->edges, percent(f->edges_remote, f->edges), f->train);
}

static void print_one(const Sink *out, const Manifest *m, int part) {
    char rank[16];
    snprintf(rank, sizeof rank, "%d", part);
    print_part(out, m, rank, &m->part[part]);
}

// Prints the ranks with the most halo rows, because the slowest rank sets the pace.
static void print_worst(const Sink *out, const Manifest *m) {
    FREED bool *printed = ALLOC(bool, m->parts, "printed ranks");
    for (int k = 0; k < REPORT_PARTS; k++) {
        int worst = -1;
        for (int p = 0; p < m->parts; p++)
            if (!printed[p] && (worst < 0 || rows_from_others(m, &m->part[p]) >
                                                 rows_from_others(m, &m->part[worst])))
                worst = p;
        printed[worst] = true;
        print_one(out, m, worst);
    }
}

static void print_parts(const Sink *out, const Manifest *m, const char *folder) {
    bool star = m->hyperedges > 0;
    sink_print(out, "%4s%10s%*s%*s%10s %7s%12s %7s%8s\n", "rank", "own", widths[star][0], "central",
               widths[star][1], star ? "hyperedges" : "marginal", star ? "replicas" : "halo",
               "ratio", star ? "pins" : "edges", "remote", "train");
    if (m->parts <= REPORT_PARTS) {
        for (int p = 0; p < m->parts; p++)
            print_one(out, m, p);
        return;
    }
    PartFigures sum = ranks_sum(m->part, m->parts);
    print_worst(out, m);
    print_part(out, m, "sum", &sum);
    const char *path = PATH_IN(folder, RANKS_FILE);
    sink_print(out, "these %d of %d ranks have the most %s; all are in\n%s\n", REPORT_PARTS,
               m->parts, star ? "replicas" : "halo rows", SHOWN(path));
}

static bool print_matrices(const Sink *out, const Manifest *m, const char *path, Error *err) {
    bool star = m->hyperedges > 0;
    if (m->symmetric)
        return messages_print(out, path, m->parts,
                              star ? "rows sent, stage 0; stage 1 sends them back"
                                   : "rows sent, both directions",
                              NULL, err);
    return messages_print(out, path, m->parts, star ? "rows sent, stage 0" : "rows sent, forward",
                          star ? "rows sent, stage 1" : "rows sent, backward", err);
}

static bool print_messages(const Sink *out, const Manifest *m, const char *folder, Error *err) {
    const char *path = PATH_IN(folder, MESSAGES_FILE);
    if (m->parts < 2)
        return true;
    if (m->parts <= REPORT_PARTS)
        return print_matrices(out, m, path, err);
    sink_print(out, "the rows that each rank sends to each other are in\n%s\n", SHOWN(path));
    return true;
}

static void print_graph(const Sink *out, const Manifest *m) {
    sink_print(out, "graph      %ld nodes, %ld stored edges, %s\n", m->nodes, m->edges,
               m->symmetric ? "symmetric" : "directed");
    sink_print(out, "parts      %d by %s, seed %ld\n", m->parts, SHOWN(m->method), m->seed);
    sink_print(out, "edge cut   %ld of %ld joined pairs (%.1f%%)\n", m->edge_cut,
               m->undirected_edges, percent(m->edge_cut, m->undirected_edges));
    sink_print(out, "halo       remote-neighbour ratio %.1f%% (mean of halo rows / own rows)\n",
               100 * ranks_halo_ratio(m->part, m->parts));
    sink_print(out, "readers    %.2f other parts read a row (mean of the rows that any reads)\n",
               ranks_multiplicity(m->part, m->parts));
    sink_print(out, "messages   %ld rows sent in each forward exchange\n", manifest_rows_sent(m));
}

static void print_hypergraph(const Sink *out, const Manifest *m) {
    const HyperCut *cut = &m->hypercut;
    Workload workload = ranks_workload(m->part, m->parts);
    sink_print(out, "hypergraph %ld nodes, %ld hyperedges, %ld pins, %s\n", m->nodes, m->hyperedges,
               m->edges, m->symmetric ? "undirected" : "directed");
    sink_print(out, "parts      %d by %s, seed %ld\n", m->parts, SHOWN(m->method), m->seed);
    sink_print(out, "replicas   R = %ld", cut->replicas);
    if (m->symmetric)
        sink_print(out, ", 2 R = %ld", 2 * cut->replicas);
    sink_print(out, ", replication factor %.3f ((n + R) / n)\n", hypercut_factor(m));
    sink_print(out, "cut        %ld of %ld hyperedges (%.1f%%), connectivity - 1: %ld\n", cut->cut,
               m->hyperedges, percent(cut->cut, m->hyperedges), cut->connectivity);
    if (cut->weighted)
        sink_print(out, "weight     %.6g of %.6g is that of cut hyperedges\n", cut->weight_cut,
                   cut->weight);
    sink_print(out, "messages   %ld rows sent in both stages with lossless.cover=replicas\n",
               manifest_rows_sent(m));
    sink_print(out, "workload   CoV %.3f, largest / mean %.3f (nodes, hyperedges and replicas)\n",
               workload.variation, workload.largest);
}

static void print_whole(const Sink *out, const Manifest *m, const char *name) {
    sink_print(out, "dataset    %s\n", SHOWN(name));
    (m->hyperedges > 0 ? print_hypergraph : print_graph)(out, m);
    sink_print(out, "balance    nodes %.3f, %s %.3f, train nodes %.3f (largest part / mean)\n",
               ranks_balance(m->part, m->parts, BALANCE_NODES),
               m->hyperedges > 0 ? "pins" : "edges",
               ranks_balance(m->part, m->parts, BALANCE_EDGES),
               ranks_balance(m->part, m->parts, BALANCE_TRAIN));
}

bool partition_report(const Sink *out, const char *folder, const char *name, Error *err) {
    CLEARED(manifest_clear) Manifest m = {0};
    if (!manifest_read_all(&m, folder, err))
        return false;
    print_whole(out, &m, name != NULL ? name : m.dataset_name);
    if (m.warnings.text[0] != '\0')
        sink_print(out, "warnings   %s\n", SHOWN(m.warnings.text));
    sink_print(out, "\n");
    print_parts(out, &m, folder);
    return print_messages(out, &m, folder, err);
}

// ---- as JSON

static void put_part(JsonWriter *writer, const PartFigures *f, bool star) {
    JSON_PUT_OBJECT(writer, NULL) {
        JSON_PUT(writer, PAIR("own", f->own), PAIR("central", f->central),
                 PAIR("marginal", f->own - f->central), PAIR("boundary", f->boundary),
                 PAIR("halo", f->halo), PAIR("halo_backward", f->halo_backward),
                 PAIR(star ? "pins" : "edges", f->edges),
                 PAIR(star ? "pins_remote" : "edges_remote", f->edges_remote),
                 PAIR("train", f->train), PAIR("bytes", f->bytes));
        if (star)
            JSON_PUT(writer, PAIR("hyperedges", f->hyperedges), PAIR("replicas", f->replicas),
                     PAIR("workload", ranks_work(f)));
    }
}

static void put_whole(JsonWriter *writer, const Manifest *m, const char *name) {
    bool star = m->hyperedges > 0;
    JSON_PUT(writer, PAIR("dataset", name), PAIR("nodes", m->nodes));
    if (star)
        json_put_int(writer, "hyperedges", m->hyperedges);
    JSON_PUT(writer, PAIR(star ? "pins" : "edges", m->edges), PAIR("symmetric", m->symmetric),
             PAIR("method", m->method), PAIR("seed", m->seed));
    if (star) {
        hypercut_put(writer, m);
    } else {
        JSON_PUT(writer, PAIR("edge_cut", m->edge_cut), PAIR("joined_pairs", m->undirected_edges),
                 PAIR("multiplicity", ranks_multiplicity(m->part, m->parts)));
    }
    JSON_PUT(writer, PAIR("remote_neighbour_ratio", ranks_halo_ratio(m->part, m->parts)),
             PAIR("rows_sent", manifest_rows_sent(m)),
             PAIR("balance_nodes", ranks_balance(m->part, m->parts, BALANCE_NODES)),
             PAIR(star ? "balance_pins" : "balance_edges",
                  ranks_balance(m->part, m->parts, BALANCE_EDGES)),
             PAIR("balance_train", ranks_balance(m->part, m->parts, BALANCE_TRAIN)),
             PAIR("warnings", m->warnings.text));
}

bool partition_put_report(JsonWriter *writer, const char *folder, const char *name, Error *err) {
    CLEARED(manifest_clear) Manifest m = {0};
    if (!manifest_read_all(&m, folder, err))
        return false;
    put_whole(writer, &m, name != NULL ? name : m.dataset_name);
    JSON_PUT_ARRAY(writer, "parts")
        for (int p = 0; p < m.parts; p++)
            put_part(writer, &m.part[p], m.hyperedges > 0);
    return m.parts < 2 || messages_put(writer, PATH_IN(folder, MESSAGES_FILE), m.symmetric, err);
}
