// partition.json: the manifest of a partition (which shards, how large, which content) and its
// report (figures of each part, who sends how many rows to whom).
#include "parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char manifest_name[] = "partition.json";
static const char manifest_format[] = "fringe-partition";

void manifest_init(Manifest *manifest, int parts, bool symmetric) {
    *manifest = (Manifest){.parts = parts, .symmetric = symmetric};
    manifest->part = TAKE(PartFigures, parts, "figures of the parts");
    manifest->sent = TAKE(int64_t, (int64_t)parts * parts, "message matrix");
    if (!symmetric)
        manifest->sent_backward = TAKE(int64_t, (int64_t)parts * parts, "message matrix");
}

void manifest_clear(Manifest *manifest) {
    memory_give(manifest->part);
    memory_give(manifest->sent);
    memory_give(manifest->sent_backward);
    *manifest = (Manifest){0};
}

void shard_path(char *out, size_t size, const char *folder, int part, int parts) {
    char name[64];
    snprintf(name, sizeof name, "part-%d-of-%d.safetensors", part, parts);
    path_join(out, size, folder, name);
}

// The integers of a part under their names: written and read by the same table.
static const struct {
    const char *key;
    size_t at;
} figures[] = {{"own", offsetof(PartFigures, own)},
               {"central", offsetof(PartFigures, central)},
               {"boundary", offsetof(PartFigures, boundary)},
               {"halo", offsetof(PartFigures, halo)},
               {"halo_backward", offsetof(PartFigures, halo_backward)},
               {"edges", offsetof(PartFigures, edges)},
               {"edges_remote", offsetof(PartFigures, edges_remote)},
               {"train_nodes", offsetof(PartFigures, train)},
               {"bytes", offsetof(PartFigures, bytes)}};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static int64_t *figure(PartFigures *part, int i) {
    return (int64_t *)(void *)((char *)part + figures[i].at);
}

static double ratio(int64_t a, int64_t b) { return b > 0 ? (double)a / (double)b : 0.0; }

// Largest over mean of one figure: 1 is perfect.
static double balance(const Manifest *manifest, int which) {
    int64_t sum = 0, most = 0;
    for (int p = 0; p < manifest->parts; p++) {
        int64_t value = *figure(&manifest->part[p], which);
        sum += value;
        most = value > most ? value : most;
    }
    return sum > 0 ? (double)most * manifest->parts / (double)sum : 1.0;
}

enum { FIGURE_OWN = 0, FIGURE_EDGES = 5, FIGURE_TRAIN = 7 };

static void put_part(JsonWriter *out, const Manifest *manifest, int p) {
    PartFigures *part = &manifest->part[p];
    char path[64];
    json_begin_object(out, NULL);
    json_put_int(out, "part", p);
    for (int i = 0; i < FIGURES; i++)
        json_put_int(out, figures[i].key, *figure(part, i));
    json_put_int(out, "marginal", part->own - part->central);
    json_put_double(out, "remote_neighbour_ratio", ratio(part->halo, part->own));
    snprintf(path, sizeof path, "part-%d-of-%d.safetensors", p, manifest->parts);
    json_put_string(out, "file", path);
    json_put_string(out, "hash", part->hash);
    json_end_object(out);
}

static void put_matrix(JsonWriter *out, const char *key, const int64_t *sent, int parts) {
    json_begin_array(out, key);
    for (int a = 0; a < parts; a++) {
        json_begin_array(out, NULL);
        for (int b = 0; b < parts; b++)
            json_put_int(out, NULL, sent[(int64_t)a * parts + b]);
        json_end_array(out);
    }
    json_end_array(out);
}

// Mean over the parts of halo rows / own rows, as the papers give it.
static double mean_remote_ratio(const Manifest *manifest) {
    double sum = 0;
    for (int p = 0; p < manifest->parts; p++)
        sum += ratio(manifest->part[p].halo, manifest->part[p].own);
    return sum / manifest->parts;
}

static int64_t total(const Manifest *manifest, int which) {
    int64_t sum = 0;
    for (int p = 0; p < manifest->parts; p++)
        sum += *figure(&manifest->part[p], which);
    return sum;
}

static void put_summary(JsonWriter *out, const Manifest *manifest) {
    json_put_int(out, "edge_cut", manifest->edge_cut);
    json_put_int(out, "undirected_edges", manifest->undirected_edges);
    json_put_double(out, "remote_edge_share", ratio(total(manifest, 6), total(manifest, 5)));
    json_put_double(out, "remote_neighbour_ratio", mean_remote_ratio(manifest));
    json_put_int(out, "rows_sent", total(manifest, 3));
    json_begin_object(out, "balance");
    json_put_double(out, "nodes", balance(manifest, FIGURE_OWN));
    json_put_double(out, "edges", balance(manifest, FIGURE_EDGES));
    json_put_double(out, "train_nodes", balance(manifest, FIGURE_TRAIN));
    json_end_object(out);
}

bool manifest_write(const Manifest *manifest, const char *folder, Error *err) {
    JsonWriter out;
    json_writer_init(&out, manifest->parts <= 16);
    json_begin_object(&out, NULL);
    json_put_string(&out, "format", manifest_format);
    json_put_int(&out, "version", PARTS_VERSION);
    json_put_string(&out, "dataset", manifest->dataset_name);
    json_put_string(&out, "dataset_hash", manifest->dataset_hash);
    json_put_string(&out, "partition_hash", manifest->partition_hash);
    json_put_string(&out, "method", manifest->method);
    json_put_int(&out, "seed", manifest->seed);
    json_put_bool(&out, "reorder", manifest->reorder);
    json_put_bool(&out, "symmetric", manifest->symmetric);
    json_put_int(&out, "parts", manifest->parts);
    json_put_int(&out, "nodes", manifest->nodes);
    json_put_int(&out, "edges", manifest->edges);
    json_put_string(&out, "remarks", manifest->remarks);
    put_summary(&out, manifest);
    json_begin_array(&out, "ranks");
    for (int p = 0; p < manifest->parts; p++)
        put_part(&out, manifest, p);
    json_end_array(&out);
    put_matrix(&out, "sent", manifest->sent, manifest->parts);
    if (!manifest->symmetric)
        put_matrix(&out, "sent_backward", manifest->sent_backward, manifest->parts);
    json_end_object(&out);
    char path[1024];
    path_join(path, sizeof path, folder, manifest_name);
    bool good = file_replace(path, out.text, out.bytes, err);
    json_writer_clear(&out);
    return good;
}

// Reading: each returns false where the value is missing or of another kind.
static bool get_int(const Json *object, const char *key, int64_t *out) {
    const Json *value = json_get(object, key);
    return value != NULL && json_type(value) == JSON_NUMBER && json_is_int64(value, out);
}

static bool get_bool(const Json *object, const char *key, bool *out) {
    const Json *value = json_get(object, key);
    if (value == NULL || json_type(value) != JSON_BOOL)
        return false;
    *out = json_bool(value);
    return true;
}

static bool get_text(const Json *object, const char *key, char *out, size_t size) {
    const Json *value = json_get(object, key);
    if (value == NULL || json_type(value) != JSON_STRING || strlen(json_string(value)) >= size)
        return false;
    strcpy(out, json_string(value));
    return true;
}

static bool get_matrix(const Json *document, const char *key, int64_t *sent, int parts) {
    const Json *rows = json_get(document, key);
    if (rows == NULL || json_type(rows) != JSON_ARRAY || json_size(rows) != parts)
        return false;
    for (const Json *row = json_first(rows); row != NULL; row = json_next(row)) {
        if (json_type(row) != JSON_ARRAY || json_size(row) != parts)
            return false;
        for (const Json *value = json_first(row); value != NULL; value = json_next(value))
            if (json_type(value) != JSON_NUMBER || !json_is_int64(value, sent++))
                return false;
    }
    return true;
}

static bool get_parts(const Json *document, Manifest *manifest) {
    const Json *list = json_get(document, "ranks");
    if (list == NULL || json_type(list) != JSON_ARRAY || json_size(list) != manifest->parts)
        return false;
    PartFigures *part = manifest->part;
    for (const Json *one = json_first(list); one != NULL; one = json_next(one), part++) {
        if (json_type(one) != JSON_OBJECT || !get_text(one, "hash", part->hash, sizeof part->hash))
            return false;
        for (int i = 0; i < FIGURES; i++)
            if (!get_int(one, figures[i].key, figure(part, i)))
                return false;
    }
    return true;
}

// Everything but the arrays.
static bool get_head(const Json *document, Manifest *m) {
    return get_text(document, "dataset", m->dataset_name, sizeof m->dataset_name) &&
           get_text(document, "dataset_hash", m->dataset_hash, sizeof m->dataset_hash) &&
           get_text(document, "partition_hash", m->partition_hash, sizeof m->partition_hash) &&
           get_text(document, "method", m->method, sizeof m->method) &&
           get_text(document, "remarks", m->remarks, sizeof m->remarks) &&
           get_int(document, "seed", &m->seed) && get_bool(document, "reorder", &m->reorder) &&
           get_int(document, "nodes", &m->nodes) && get_int(document, "edges", &m->edges) &&
           get_int(document, "edge_cut", &m->edge_cut) &&
           get_int(document, "undirected_edges", &m->undirected_edges);
}

static bool manifest_parse(Manifest *manifest, const Json *document) {
    int64_t version, parts;
    bool symmetric;
    char format[32];
    if (json_type(document) != JSON_OBJECT ||
        !get_text(document, "format", format, sizeof format) ||
        strcmp(format, manifest_format) != 0 || !get_int(document, "version", &version) ||
        version != PARTS_VERSION || !get_int(document, "parts", &parts) || parts < 1 ||
        parts > 1 << 20 || !get_bool(document, "symmetric", &symmetric))
        return false;
    const Json *list = json_get(document, "ranks"); // bounds what manifest_init takes
    if (list == NULL || json_type(list) != JSON_ARRAY || json_size(list) != parts)
        return false;
    const Json *sent = json_get(document, "sent");
    if (sent == NULL || json_type(sent) != JSON_ARRAY || json_size(sent) != parts)
        return false;
    manifest_init(manifest, (int)parts, symmetric);
    return get_head(document, manifest) && get_parts(document, manifest) &&
           get_matrix(document, "sent", manifest->sent, manifest->parts) &&
           (symmetric ||
            get_matrix(document, "sent_backward", manifest->sent_backward, manifest->parts));
}

bool manifest_read(Manifest *manifest, const char *folder, Error *err) {
    *manifest = (Manifest){0};
    char path[1024];
    path_join(path, sizeof path, folder, manifest_name);
    Json *document = json_read(path, err);
    if (document == NULL)
        return false;
    bool good = manifest_parse(manifest, document);
    json_free(document);
    if (good)
        return true;
    manifest_clear(manifest);
    return error_set(err, EXIT_DATA,
                     "%s: not a partition of this version of fringe (version %d); remove the "
                     "folder and let fringe make it again",
                     path, PARTS_VERSION);
}

// ---- the report

static void print_parts(const Manifest *m) {
    printf("%6s %10s %10s %10s %10s %10s %8s %12s %8s %10s\n", "rank", "own", "central", "marginal",
           "boundary", "halo", "ratio", "edges", "remote", "train");
    for (int p = 0; p < m->parts; p++) {
        const PartFigures *f = &m->part[p];
        printf("%6d %10" PRId64 " %10" PRId64 " %10" PRId64 " %10" PRId64 " %10" PRId64
               " %7.1f%% %12" PRId64 " %7.1f%% %10" PRId64 "\n",
               p, f->own, f->central, f->own - f->central, f->boundary, f->halo,
               100 * ratio(f->halo, f->own), f->edges, 100 * ratio(f->edges_remote, f->edges),
               f->train);
    }
}

enum { REPORT_MATRIX = 32 }; // more columns fit no screen

static void print_matrix(const Manifest *m, const char *what, const int64_t *sent) {
    if (m->parts < 2)
        return;
    if (m->parts > REPORT_MATRIX) {
        printf("\n%s: %d x %d, see partition.json\n", what, m->parts, m->parts);
        return;
    }
    printf("\n%s (row: from rank, column: to rank)\n%6s", what, "");
    for (int b = 0; b < m->parts; b++)
        printf(" %8d", b);
    for (int a = 0; a < m->parts; a++) {
        printf("\n%6d", a);
        for (int b = 0; b < m->parts; b++)
            printf(" %8" PRId64, sent[(int64_t)a * m->parts + b]);
    }
    printf("\n");
}

bool partition_report(const char *folder, Error *err) {
    Manifest m;
    if (!manifest_read(&m, folder, err))
        return false;
    printf("%s: %" PRId64 " nodes, %" PRId64 " stored edges, %s; %d parts by %s, seed %" PRId64
           "\n",
           SHOWN(m.dataset_name), m.nodes, m.edges, m.symmetric ? "symmetric" : "directed", m.parts,
           SHOWN(m.method), m.seed);
    printf("edge cut: %" PRId64 " of %" PRId64 " joined pairs (%.1f%%)\n", m.edge_cut,
           m.undirected_edges, 100 * ratio(m.edge_cut, m.undirected_edges));
    printf("remote-neighbour ratio: %.1f%% (mean of halo rows / own rows); %" PRId64
           " rows sent in each forward exchange\n",
           100 * mean_remote_ratio(&m), total(&m, 3));
    printf("balance (largest / mean): nodes %.3f, edges %.3f, train nodes %.3f\n",
           balance(&m, FIGURE_OWN), balance(&m, FIGURE_EDGES), balance(&m, FIGURE_TRAIN));
    if (m.remarks[0] != '\0')
        printf("remarks: %s\n", SHOWN(m.remarks));
    printf("\n");
    print_parts(&m);
    print_matrix(&m, m.symmetric ? "rows sent, both directions" : "rows sent, forward", m.sent);
    if (!m.symmetric)
        print_matrix(&m, "rows sent, backward", m.sent_backward);
    manifest_clear(&m);
    return true;
}
