// Reddit (Hamilton et al., 2017) as DGL and PyG download it: a folder with reddit_data.npz
// (feature, label, node_types) and reddit_graph.npz, a COO matrix of scipy.
// reddit_self_loop_graph.npz has a self-loop at every node, which layers add themselves; so they
// are dropped.

#include "npz_layout.h"

static const char data_name[] = "reddit_data.npz";
static const char *const graph_names[] = {"reddit_graph.npz", "reddit_self_loop_graph.npz"};

enum { DATA, GRAPH, FILES };

static bool find_in(FormatFile file[FORMAT_FILES], const char *folder) {
    file[DATA].what = "data";
    file[GRAPH].what = "graph";
    path_join(file[DATA].path, PATH_BYTES, folder, data_name);
    for (int i = 0; i < 2; i++) {
        path_join(file[GRAPH].path, PATH_BYTES, folder, graph_names[i]);
        if (file_exists(file[DATA].path) && file_exists(file[GRAPH].path))
            return true;
    }
    return false;
}

// The folder itself, the raw/ of PyG, or the folder that `path` is a file of.
static int files(const char *path, FormatFile file[FORMAT_FILES]) {
    static const char *const inside[] = {".", "raw", "Reddit/raw", "reddit_self_loop", "reddit"};
    if (!file_is_folder(path)) {
        const char *name = path_name(path);
        bool ours = strcmp(name, data_name) == 0 || strcmp(name, graph_names[0]) == 0 ||
                    strcmp(name, graph_names[1]) == 0;
        return ours && find_in(file, FOLDER_OF(path)) ? FILES : 0;
    }
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (find_in(file, PATH_IN(path, inside[i])))
            return FILES;
    return 0;
}

static bool name_inside(UNUSED const char *path, char name[DATASET_NAME], UNUSED Error *err) {
    snprintf(name, DATASET_NAME, "reddit");
    return true;
}

// ---- nodes

static bool take_types(Dataset *d, Npy *npy, int64_t rows, Error *err) {
    FREED int64_t *type = NULL;
    if (npy->rank != 1 || npy->elements != rows)
        return error_data(err, "it needs %ld entries, one for each node", rows);
    if (!npy_to_int64(npy, &type, err) || !dataset_need_split(d, err))
        return false;
    for (int64_t i = 0; err->code == 0 && i < rows; i++)
        if (type[i] < SPLIT_NONE || type[i] > SPLIT_TEST)
            error_data(err, "node %ld has type %ld; 1 is training, 2 validation, 3 test", i,
                       type[i]);
        else
            d->split[i] = (uint8_t)type[i];
    return err->code == 0;
}

static bool read_nodes(Dataset *d, const char *path, const Config *config, Error *err) {
    CLEARED(npz_drop) Npz *npz = npz_open(path, err);
    progress_begin("read", "%s", data_name);
    bool ok =
        npz != NULL && npz_take(d, npz, "node_types", take_types, err) &&
        (config->data.labels[0] != '\0' || npz_take(d, npz, "label", labels_from_npy, err)) &&
        (config->data.features[0] != '\0' || npz_take(d, npz, "feature", features_from_npy, err));
    return ok || npz_name_file(err, path);
}

// ---- edges

static void drop_loops(Dataset *d) {
    Csr rows = dataset_csr(d);
    int64_t loops = csr_drop(&rows, true);
    d->edges -= loops;
    warn_of_count(d, loops, "self-loop", "of the file dropped; layers add their own");
}

static bool read(Dataset *d, const Request *request, Error *err) {
    FormatFile file[FORMAT_FILES];
    if (files(request->path, file) == 0)
        return error_data(err, "%s: there are no %s and %s in it", request->path, data_name,
                          graph_names[0]);
    if (!matrix_read(d, file[GRAPH].path, err))
        return false;
    if (strcmp(path_name(file[GRAPH].path), graph_names[1]) == 0)
        drop_loops(d);
    return read_nodes(d, file[DATA].path, request->config, err);
}

const Format format_reddit = {.name = "reddit",
                              .files = files,
                              .name_inside = name_inside,
                              .read = read,
                              .factor.number = 12};
