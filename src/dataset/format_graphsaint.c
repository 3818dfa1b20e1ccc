// Sets of GraphSAINT (Zeng et al., 2020): Flickr, Reddit2, Yelp, AmazonProducts, PPI. A folder, or
// its raw/, with
//
//   adj_full.npz    CSR of scipy, all edges       feats.npy        [N, F]
//   role.json       {"tr": [nodes], "va": [...], "te": [...]}
//   class_map.json  {"0": class, ...} or {"0": [0, 1, ...], ...}, nodes in any order
//
// GraphSAINT standardizes features by the training rows, PyG and DGL do not; data.transforms
// standardize does.

#include "graphsaint.h"
#include "npz_layout.h"

static const char *const names[] = {"adj_full.npz", "feats.npy", "class_map.json", "role.json"};
enum { GRAPH, FEATURES, CLASSES, ROLES, FILES };

static bool holds_all(const char *folder) {
    for (int i = 0; i < FILES; i++)
        if (!file_exists(PATH_IN(folder, names[i])))
            return false;
    return true;
}

static int files(const char *path, FormatFile file[FORMAT_FILES]) {
    char folder[PATH_BYTES];
    if (!format_raw(path, holds_all, folder))
        return 0;
    for (int i = 0; i < FILES; i++) {
        file[i].what = names[i];
        path_join(file[i].path, PATH_BYTES, folder, names[i]);
    }
    return FILES;
}

// ---- the files

static bool read_classes(Dataset *d, const char *path, Error *err) {
    progress_begin("read", "%s", names[CLASSES]);
    CLEARED(json_pull_drop) JsonPull *pull = json_pull_open(path, err);
    return pull != NULL && graphsaint_classes(d, pull, err);
}

static bool read_roles(Dataset *d, const char *path, Error *err) {
    CLEARED(json_pull_drop)
    JsonPull *pull = dataset_need_split(d, err) ? json_pull_open(path, err) : NULL;
    return pull != NULL && graphsaint_roles(d, pull, err);
}

static bool read_features(Dataset *d, const char *path, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    progress_begin("read", "%s", names[FEATURES]);
    return npy_read(&npy, path, err) &&
           (features_from_npy(d, &npy, d->nodes, err) || error_prefix(err, "%s", path));
}

// ---- the format

static bool read(Dataset *d, const Request *request, Error *err) {
    FormatFile file[FORMAT_FILES];
    const Config *config = request->config;
    if (files(request->path, file) == 0)
        return error_data(err, "%s: it needs adj_full.npz, feats.npy, class_map.json and role.json",
                          request->path);
    return matrix_read(d, file[GRAPH].path, err) &&
           (config->data.features[0] != '\0' || read_features(d, file[FEATURES].path, err)) &&
           (config->data.labels[0] != '\0' || read_classes(d, file[CLASSES].path, err)) &&
           read_roles(d, file[ROLES].path, err);
}

const Format format_graphsaint = {
    .name = "graphsaint", .files = files, .read = read, .factor.number = 12};
