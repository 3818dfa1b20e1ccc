// partition.json: the manifest of a partition. The idea: no file that every rank reads grows with
// the number of parts. So there are three files beside the shards:
//
//   partition.json         what was cut and how, sums over all parts, hashes of the other two
//   files:
//                          read by every rank
//   ranks.jsonl            one line per part with its statistics, size and hash (ranks.c): a rank
//                          reads its own line
//   messages.safetensors   rows sent between parts (messages.c): read by the report
#include "internal.h"

static const char manifest_name[] = "partition.json";
static const char manifest_format[] = "fringe-partition";

void manifest_init(Manifest *manifest, int parts, bool symmetric) {
    *manifest = (Manifest){.parts = parts, .symmetric = symmetric};
    manifest->part = ALLOC(PartFigures, parts, "figures of the parts");
}

void manifest_clear(Manifest *manifest) {
    memory_free(manifest->part);
    messages_clear(&manifest->sent);
    messages_clear(&manifest->sent_backward);
    *manifest = (Manifest){0};
}

char *shard_path(char out[PATH_BYTES], const char *folder, int part, int parts) {
    char name[64];
    snprintf(name, sizeof name, "part-%d-of-%d.safetensors", part, parts);
    return path_join(out, PATH_BYTES, folder, name);
}

int64_t manifest_rows_sent(const Manifest *m) {
    PartFigures sum = ranks_sum(m->part, m->parts);
    return sum.halo + (m->hyperedges > 0 ? sum.halo_backward : 0);
}

// ---- writing

static void put_summary(JsonWriter *out, const Manifest *manifest) {
    const PartFigures *part = manifest->part;
    int parts = manifest->parts;
    if (manifest->hyperedges > 0) {
        json_put_int(out, "hyperedges", manifest->hyperedges);
        hypercut_put(out, manifest);
    } else {
        JSON_PUT(out, PAIR("edge_cut", manifest->edge_cut),
                 PAIR("undirected_edges", manifest->undirected_edges));
    }
    JSON_PUT(out, PAIR("remote_edge_share", ranks_remote_share(part, parts)),
             PAIR("remote_neighbour_ratio", ranks_halo_ratio(part, parts)),
             PAIR("rows_sent", manifest_rows_sent(manifest)));
    JSON_PUT_OBJECT(out, "balance")
        JSON_PUT(out, PAIR("nodes", ranks_balance(part, parts, BALANCE_NODES)),
                 PAIR("edges", ranks_balance(part, parts, BALANCE_EDGES)),
                 PAIR("train_nodes", ranks_balance(part, parts, BALANCE_TRAIN)));
}

static bool write_manifest(const Manifest *manifest, const char *folder, Error *err) {
    JsonWriter out;
    json_writer_begin(&out, true);
    JSON_PUT(&out, PAIR("format", manifest_format), PAIR("version", PARTS_VERSION),
             PAIR("dataset", manifest->dataset_name), PAIR("dataset_hash", manifest->dataset_hash),
             PAIR("partition_hash", manifest->partition_hash),
             PAIR("ranks_hash", manifest->ranks_hash),
             PAIR("messages_hash", manifest->messages_hash), PAIR("method", manifest->method),
             PAIR("seed", manifest->seed), PAIR("reorder", manifest->reorder),
             PAIR("symmetric", manifest->symmetric), PAIR("parts", manifest->parts),
             PAIR("nodes", manifest->nodes), PAIR("edges", manifest->edges));
    char warnings[WARNINGS_TEXT];
    json_put_string(&out, "remarks", warnings_join(warnings, &manifest->warnings));
    put_summary(&out, manifest);
    return json_writer_store(&out, PATH_IN(folder, manifest_name), err);
}

bool manifest_write(Manifest *manifest, const char *folder, Error *err) {
    const Messages *backward = manifest->symmetric ? NULL : &manifest->sent_backward;
    const char *ranks = PATH_IN(folder, RANKS_FILE);
    const char *messages = PATH_IN(folder, MESSAGES_FILE);
    return ranks_write(manifest->part, manifest->parts, ranks, err) &&
           hash_file(ranks, manifest->ranks_hash, err) &&
           messages_write(&manifest->sent, backward, messages, err) &&
           hash_file(messages, manifest->messages_hash, err) &&
           write_manifest(manifest, folder, err);
}

// ---- reading

// False if the value is missing or has another type.
static bool get_bool(const Json *object, const char *key, bool *out) {
    *out = json_get_bool(object, key);
    return json_get_of(object, key, JSON_BOOL) != NULL;
}

// A partition without hyperedges is one of a graph.
static bool get_cut(const Json *document, Manifest *m) {
    HyperCut *cut = &m->hypercut;
    if (json_get(document, "hyperedges") == NULL)
        return json_get_int(document, "edge_cut", &m->edge_cut) &&
               json_get_int(document, "undirected_edges", &m->undirected_edges);
    cut->weight = json_get_number(document, "weight");
    cut->weight_cut = json_get_number(document, "cut_weight");
    cut->weighted = !isnan(cut->weight) && !isnan(cut->weight_cut);
    return json_get_int(document, "hyperedges", &m->hyperedges) &&
           json_get_int(document, "replicas", &cut->replicas) &&
           json_get_int(document, "cut_hyperedges", &cut->cut) &&
           json_get_int(document, "connectivity_minus_1", &cut->connectivity);
}

static bool get_head(const Json *document, Manifest *m) {
    return json_copy_text(document, "dataset", m->dataset_name, sizeof m->dataset_name) &&
           json_copy_text(document, "dataset_hash", m->dataset_hash, sizeof m->dataset_hash) &&
           json_copy_text(document, "partition_hash", m->partition_hash,
                          sizeof m->partition_hash) &&
           json_copy_text(document, "ranks_hash", m->ranks_hash, sizeof m->ranks_hash) &&
           json_copy_text(document, "messages_hash", m->messages_hash, sizeof m->messages_hash) &&
           json_copy_text(document, "method", m->method, sizeof m->method) &&
           json_copy_text(document, "remarks", m->warnings.text, sizeof m->warnings.text) &&
           json_get_int(document, "seed", &m->seed) && get_bool(document, "reorder", &m->reorder) &&
           get_bool(document, "symmetric", &m->symmetric) &&
           json_get_int(document, "nodes", &m->nodes) &&
           json_get_int(document, "edges", &m->edges) && get_cut(document, m);
}

static bool manifest_parse(Manifest *manifest, const Json *document) {
    int64_t version, parts;
    if (strcmp(json_get_text(document, "format"), manifest_format) != 0 ||
        !json_get_int(document, "version", &version) || version != PARTS_VERSION ||
        !json_get_int(document, "parts", &parts) || parts < 1 || parts > PARTS_MOST)
        return false;
    manifest->parts = (int)parts;
    return get_head(document, manifest);
}

bool manifest_read(Manifest *manifest, const char *folder, Error *err) {
    *manifest = (Manifest){0};
    const char *path = PATH_IN(folder, manifest_name);
    CLEARED(json_drop) Json *document = json_read(path, err);
    if (document == NULL)
        return false;
    if (manifest_parse(manifest, document))
        return true;
    manifest_clear(manifest);
    return error_data(err,
                      "%s: not a partition of this version of fringe (version %d); remove the "
                      "folder and let fringe make it again",
                      path, PARTS_VERSION);
}

static bool check_beside(const char *path, const char *hash, Error *err) {
    char now[33];
    if (!hash_file(path, now, err))
        return false;
    return strcmp(now, hash) == 0 ||
           error_data(err,
                      "%s: damaged (its content is not what partition.json says); remove its "
                      "folder and let fringe make it again",
                      path);
}

bool manifest_read_all(Manifest *manifest, const char *folder, Error *err) {
    if (!manifest_read(manifest, folder, err))
        return false;
    const char *ranks = PATH_IN(folder, RANKS_FILE);
    const char *messages = PATH_IN(folder, MESSAGES_FILE);
    manifest->part = ALLOC(PartFigures, manifest->parts, "figures of the parts");
    if (check_beside(ranks, manifest->ranks_hash, err) &&
        check_beside(messages, manifest->messages_hash, err) &&
        ranks_read(manifest->part, manifest->parts, ranks, err))
        return true;
    manifest_clear(manifest);
    return false;
}
