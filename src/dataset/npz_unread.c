// Arrays of an npz that nothing reads: they are named, since their owner may think otherwise.

#include "npz_layout.h"

static bool is_same(const char *key, const char *read) {
    return read != NULL && strcmp(key, read) == 0;
}

// Read by one kind of file or another; what a file calls itself.
static bool is_known(const char *key, const NpzLayout *layout) {
    static const char of_matrix[] = "data indices indptr shape format";
    static const char of_coo[] = "data shape format is_coo_array";
    static const char of_hypergraph[] = "hyperedge_index hyperedge_weight node hyperedge role "
                                        "num_nodes node_weight num_hyperedges";
    if (strncmp(key, "attr_", 5) == 0 || (layout->csr != NULL && strncmp(key, "adj_", 4) == 0))
        return true;
    return (layout->csr != NULL && layout->csr[0] == '\0' && text_lists(of_matrix, key)) ||
           (layout->coo && text_lists(of_coo, key)) ||
           (layout->hypergraph && text_lists(of_hypergraph, key)) ||
           text_lists("num_nodes n num_edges num_classes", key);
}

static bool is_read(const char *key, const Npz *npz, const NpzLayout *layout,
                    const Config *config) {
    return is_known(key, layout) || is_same(key, layout->pairs) || is_same(key, layout->ends[0]) ||
           is_same(key, layout->ends[1]) || is_same(key, layout->features) ||
           is_same(key, layout->labels) || splits_read_key(config, npz, key) ||
           (layout->csr == NULL && is_same(key, npz_weights(npz, config)));
}

void npz_name_unread(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Config *config) {
    char names[300] = "";
    int count = 0;
    for (int i = 0; i < npz_count(npz); i++) {
        Npy npy;
        const char *key = npz_key(npz, i);
        bool numbers =
            npz_look(npz, key, &npy, &(Error){0}) && npy.kind != NPY_TEXT && npy.rank > 0;
        if (!numbers || is_read(key, npz, layout, config))
            continue;
        if (strcmp(key, "split") == 0) {
            warnings_add(&dataset->warnings,
                         "array 'split' holds numbers, whose meaning is not known, and is not "
                         "read; save words: numpy.array([\"train\", \"val\", \"test\"])[split]");
            continue;
        }
        if (strlen(names) < 220)
            text_add(names, sizeof names, ", ", "'%.60s'", key);
        count++;
    }
    if (count > 0)
        warnings_add(
            &dataset->warnings,
            "array%s %s %s not read; data.weights=NAME takes one with a number for each edge "
            "as weights",
            count == 1 ? "" : "s", SHOWN(names), count == 1 ? "is" : "are");
}
