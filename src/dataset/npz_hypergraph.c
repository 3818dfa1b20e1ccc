// A hypergraph in an npz: hyperedge_index [2, pins] as in PyG (row 0: nodes, row 1: hyperedges), or
// node [pins] and hyperedge [pins] with an optional role [pins]; and hyperedge_weight
// [hyperedges], num_nodes and node_weight [nodes]. Ids are numbers from 0.

#include "npz_layout.h"

static bool read_roles(Pins *pins, Npz *npz, Error *err) {
    int64_t *role = NULL, count = 0;
    bool ok = npz_integers(npz, "role", &role, &count, err);
    if (ok && count != pins->count)
        ok = error_data(err, "'role' has %ld entries, but there are %ld pins", count, pins->count);
    pins->role = ok ? TRY(uint8_t, count, "roles of pins", err) : NULL;
    for (int64_t p = 0; pins->role != NULL && err->code == 0 && p < count; p++) {
        if (role[p] < PIN_SOURCE || role[p] > PIN_BOTH)
            error_data(
                err, "'role' holds %ld at entry %ld; roles are 1 (source), 2 (target) and 3 (both)",
                role[p], p);
        pins->role[p] = (uint8_t)role[p];
    }
    memory_free(role);
    return err->code == 0;
}

static bool read_two_arrays(Pins *pins, Npz *npz, Error *err) {
    int64_t hyperedges = 0;
    if (!npz_integers(npz, "node", &pins->node, &pins->count, err) ||
        !npz_integers(npz, "hyperedge", &pins->hyperedge, &hyperedges, err))
        return false;
    if (hyperedges != pins->count)
        return error_data(err,
                          "'node' has %ld entries, but 'hyperedge' has %ld; each pair is a pin",
                          pins->count, hyperedges);
    return !npz_has(npz, "role") || read_roles(pins, npz, err);
}

static bool split_rows(Pins *pins, const Npy *npy, Error *err) {
    int64_t *ids = NULL, count = npy->elements / 2;
    if (npy->rank != 2 || npy->shape[0] != 2)
        return error_data(err,
                          "'hyperedge_index' must be an array (2, pins): nodes, then hyperedges");
    bool ok = npy_to_int64(npy, &ids, err) && pins_init(pins, count, err);
    for (int64_t p = 0; ok && p < count; p++) {
        pins->node[p] = ids[p];
        pins->hyperedge[p] = ids[count + p];
    }
    pins->count = count;
    memory_free(ids);
    return ok;
}

static bool read_index(Pins *pins, Npz *npz, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    return npz_read(npz, "hyperedge_index", &npy, err) && split_rows(pins, &npy, err);
}

// *hyperedges: those that have pins, which becomes those that have weights.
static bool read_weights(Dataset *dataset, Npz *npz, int64_t *hyperedges, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    if (!npz_has(npz, "hyperedge_weight"))
        return true;
    if (!npz_read(npz, "hyperedge_weight", &npy, err))
        return false;
    bool ok = npy.elements >= *hyperedges ||
              error_data(err,
                         "'hyperedge_weight' has %ld entr%s, but hyperedge %ld has pins; it needs "
                         "one number for each hyperedge",
                         npy.elements, npy.elements == 1 ? "y" : "ies", *hyperedges - 1);
    *hyperedges = npy.elements;
    return ok && npy_to_float(&npy, &dataset->hyperedge_weight, err);
}

static bool read_node_weights(Dataset *dataset, Npz *npz, Error *err) {
    int64_t *weight = NULL, count = 0;
    if (!npz_has(npz, "node_weight"))
        return true;
    bool ok = npz_integers(npz, "node_weight", &weight, &count, err) &&
              rows_fit(dataset, "'node_weight'", count, err);
    dataset->node_weight = ok ? TRY(int32_t, count, "weights of nodes", err) : NULL;
    for (int64_t i = 0; dataset->node_weight != NULL && err->code == 0 && i < count; i++) {
        if (weight[i] < 0 || weight[i] > INT32_MAX)
            error_data(err, "'node_weight' holds %ld at entry %ld; 0 to %d can be used", weight[i],
                       i, INT32_MAX);
        dataset->node_weight[i] = (int32_t)weight[i];
    }
    memory_free(weight);
    return err->code == 0;
}

// Few pins may not announce any number of nodes.
static bool said_fits(int64_t said, int64_t named, int64_t pins, int64_t rows, Error *err) {
    enum { NODES_OF_A_PIN = 16, NODES_OF_ANY_FILE = 1 << 20 };
    if (said < named)
        return error_data(err, "'num_nodes' is %ld, but node %ld has a pin", said, named - 1);
    if (rows > 0 && rows != said)
        return error_data(err, "'num_nodes' is %ld, but features or labels have %ld rows", said,
                          rows);
    return rows > 0 || said <= pins * NODES_OF_A_PIN + NODES_OF_ANY_FILE ||
           error_data(err, "'num_nodes' is %ld, which is too much for %ld pins", said, pins);
}

// If neither rows nor num_nodes say how many nodes there are, the largest id does.
static bool count_nodes(int64_t *nodes, const Pins *pins, Npz *npz, int64_t hyperedges,
                        int64_t rows, Error *err) {
    int64_t named = npz_ids_end(pins->node, pins->count), said;
    if (!npz_num_nodes(npz, &said, err) ||
        (said >= 0 && !said_fits(said, named, pins->count, rows, err)))
        return false;
    *nodes = rows > 0 ? rows : said >= 0 ? said : named;
    return *nodes >= named || rows != hyperedges ||
           error_data(err, HYPEREDGE_FEATURES, "features", rows, named);
}

static bool make(Dataset *dataset, const Pins *pins, Npz *npz, int64_t rows, Error *err) {
    int64_t nodes = 0, hyperedges = npz_ids_end(pins->hyperedge, pins->count);
    if (pins->count == 0)
        return error_data(err, "there are no pins in it");
    if (npz_has(npz, "hyperedge_attr"))
        return error_data(err, "it holds 'hyperedge_attr', but features of hyperedges are not "
                               "used; leave that array out");
    return read_weights(dataset, npz, &hyperedges, err) &&
           count_nodes(&nodes, pins, npz, hyperedges, rows, err) &&
           pins_to_rows(dataset, pins, nodes, hyperedges, err) &&
           read_node_weights(dataset, npz, err);
}

bool npz_read_hypergraph(Dataset *dataset, Npz *npz, const NpzLayout *layout,
                         const Request *request, Error *err) {
    CLEARED(pins_clear) Pins pins = {0};
    int64_t rows = npz_layout_rows(layout, npz);
    return (npz_has(npz, "hyperedge_index") ? read_index : read_two_arrays)(&pins, npz, err) &&
           make(dataset, &pins, npz, rows > 0 ? rows : request->rows, err);
}
