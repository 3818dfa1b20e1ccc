// The binary variant of an ogb set (as ogbn-papers100M): raw/data.npz with edge_index, node_feat
// and num_nodes_list, and raw/node-label.npz with node_label, whose missing labels are not a
// number.

#include "npz_layout.h"
#include "ogb.h"

static bool nodes_of_npz(Npz *npz, int64_t *nodes, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    FREED int64_t *count = NULL;
    if (!npz_read(npz, "num_nodes_list", &npy, err) || !npy_to_int64(&npy, &count, err))
        return false;
    *nodes = npy.elements == 1 ? count[0] : 0;
    return (*nodes >= 1 && *nodes <= DATASET_MAX_NODES) ||
           error_data(err, "'num_nodes_list' must be the number of nodes of one graph, 1 to %d",
                      DATASET_MAX_NODES);
}

static bool edges_of_npz(Dataset *d, Npz *npz, const OgbFolder *f, const Config *config,
                         Error *err) {
    Npy npy;
    CLEARED(pairs_clear) Pairs pairs = {0};
    int64_t nodes;
    bool both = f->inverse || config->data.undirected;
    if (!nodes_of_npz(npz, &nodes, err) || !npz_read(npz, "edge_index", &npy, err))
        return false;
    bool ok = pairs_from_npy(&pairs, &npy, false, err);
    npy_clear(&npy);
    ok = ok && pairs_to_numbered_rows(d, &pairs, nodes, both, err);
    return ok || error_prefix(err, "array 'edge_index'");
}

bool ogb_read_binary(Dataset *d, const OgbFolder *f, const Config *config, Error *err) {
    const char *data = PATH_IN(f->raw, "data.npz");
    const char *label = PATH_IN(f->raw, "node-label.npz");
    Npz *npz = npz_open(data, err);
    bool ok = npz != NULL && edges_of_npz(d, npz, f, config, err) &&
              (config->data.features[0] != '\0' || !npz_has(npz, "node_feat") ||
               npz_take(d, npz, "node_feat", features_from_npy, err));
    npz_close(npz);
    if (!ok)
        return npz_name_file(err, data);
    npz = npz_open(label, err);
    ok = npz != NULL && (config->data.labels[0] != '\0' || !npz_has(npz, "node_label") ||
                         npz_take(d, npz, "node_label", labels_from_npy, err));
    npz_close(npz);
    return ok || npz_name_file(err, label);
}
