// The binary variant of an ogb set (as ogbn-papers100M): raw/data.npz with edge_index, node_feat
// and num_nodes_list, and raw/node-label.npz with node_label, whose missing labels are not a
// number.

#include "npz_layout.h"
#include "ogb.h"

static bool nodes_of_npz(Npz *npz, int64_t *nodes, Error *err) {
    Npy npy;
    int64_t *count = NULL;
    if (!npz_read(npz, "num_nodes_list", &npy, err))
        return false;
    bool ok = npy_to_int64(&npy, &count, err);
    if (ok && (npy.elements != 1 || count[0] < 1 || count[0] > DATASET_MAX_NODES))
        ok = error_set(err, EXIT_DATA,
                       "'num_nodes_list' must be the number of nodes of one graph, 1 to %d",
                       DATASET_MAX_NODES);
    *nodes = ok ? count[0] : 0;
    memory_free(count);
    npy_clear(&npy);
    return ok;
}

static bool edges_of_npz(Dataset *d, Npz *npz, const OgbFolder *f, const Config *config,
                         Error *err) {
    Npy npy;
    Pairs pairs = {0};
    int64_t nodes;
    bool both = f->inverse || config->data.undirected;
    if (!nodes_of_npz(npz, &nodes, err) || !npz_read(npz, "edge_index", &npy, err))
        return false;
    bool ok = pairs_from_npy(&pairs, &npy, false, err);
    npy_clear(&npy);
    ok = ok && pairs_to_numbered_rows(d, &pairs, nodes, both, err);
    pairs_clear(&pairs);
    return ok || error_prefix(err, "array 'edge_index'");
}

static bool array_of_npz(Dataset *d, Npz *npz, const char *key,
                         bool (*take)(Dataset *, Npy *, int64_t, Error *), Error *err) {
    Npy npy;
    if (!npz_has(npz, key))
        return true;
    if (!npz_read(npz, key, &npy, err))
        return false;
    bool ok = take(d, &npy, d->nodes, err) || error_prefix(err, "array '%s'", key);
    npy_clear(&npy);
    return ok;
}

bool ogb_read_binary(Dataset *d, const OgbFolder *f, const Config *config, Error *err) {
    char data[PATH_BYTES], label[PATH_BYTES];
    path_join(data, sizeof data, f->raw, "data.npz");
    path_join(label, sizeof label, f->raw, "node-label.npz");
    Npz *npz = npz_open(data, err);
    bool ok = npz != NULL && edges_of_npz(d, npz, f, config, err) &&
              (config->data.features[0] != '\0' ||
               array_of_npz(d, npz, "node_feat", features_from_npy, err));
    npz_close(npz);
    if (!ok)
        return npz_name_file(err, data);
    npz = npz_open(label, err);
    ok = npz != NULL && (config->data.labels[0] != '\0' ||
                         array_of_npz(d, npz, "node_label", labels_from_npy, err));
    npz_close(npz);
    return ok || npz_name_file(err, label);
}

// ---- the plan

static int64_t plan_array(Tally *tally, const char *path, const char *key, size_t item,
                          int64_t *columns) {
    Npy npy;
    Npz *npz = npz_open(path, &(Error){0});
    int64_t count = 0;
    if (npz != NULL && npz_has(npz, key) && npz_look(npz, key, &npy, &(Error){0})) {
        count = tally_array(tally, &npy, item);
        *columns = npy.rank == 2 ? npy.shape[1] : 1;
        tally->nodes = npy.rank > 0 ? npy.shape[0] : 0;
    }
    npz_close(npz);
    return count;
}

// Pairs of 64-bit ids, then of 32-bit ones, then rows; as format_edges.c has it.
static void plan_edges(Tally *tally, const OgbFolder *f, const char *path, const Config *config) {
    Npy npy;
    Npz *npz = npz_open(path, &(Error){0});
    if (npz != NULL && npz_look(npz, "edge_index", &npy, &(Error){0})) {
        int64_t both = f->inverse || config->data.undirected ? 2 : 1;
        size_t ids = memory_product(npy.elements, sizeof(int64_t));
        size_t ends = (size_t)both * ids / 2;
        tally->edges = npy.elements / 2 * both;
        tally_add(tally, memory_product(npy.elements, (size_t)npy.item) + ids + (size_t)both * ids);
        tally_sub(tally, memory_product(npy.elements, (size_t)npy.item) + ids);
        tally_add(tally, ends + tally_rows(tally, tally->edges));
        tally_sub(tally, ends + (size_t)both * ids);
    }
    npz_close(npz);
}

void ogb_plan_binary(Tally *tally, const OgbFolder *f, const Config *config) {
    char data[PATH_BYTES], label[PATH_BYTES];
    int64_t columns = 1;
    path_join(data, sizeof data, f->raw, "data.npz");
    path_join(label, sizeof label, f->raw, "node-label.npz");
    Tally first = *tally; // the number of nodes, before the rows of edges need it
    plan_array(&first, label, "node_label", sizeof(int32_t), &columns);
    tally->nodes = first.nodes;
    plan_edges(tally, f, data, config);
    plan_array(tally, data, "node_feat", sizeof(float), &tally->features);
    plan_array(tally, label, "node_label", sizeof(int32_t), &columns);
    tally_add(tally, (size_t)tally->nodes);
}
