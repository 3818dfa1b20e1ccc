// Our dataset directory: dataset.json (manifest) and dataset.safetensors (arrays), see
// docs/data.md. The idea: the arrays are mapped, so opening costs only the pages touched. The
// manifest holds the statistics, so inspecting a dataset reads no array.

#include "internal.h"

static const char *const manifest_name = "dataset.json";
static const char *const arrays_name = "dataset.safetensors";
enum { DIRECTORY_VERSION = 1 };

char *directory_file(char out[PATH_BYTES], const char *path, const char *name) {
    bool inside = strcmp(path_name(path), manifest_name) == 0;
    return path_join(out, PATH_BYTES, inside ? FOLDER_OF(path) : path, name);
}

// --- writing

static bool write_manifest(const Dataset *dataset, const char *path, Error *err) {
    JsonWriter out;
    json_writer_begin(&out, true);
    json_put_string(&out, "format", "fringe-dataset");
    json_put_int(&out, "version", DIRECTORY_VERSION);
    dataset_put_facts(&out, dataset);
    if (dataset->ids.is_unsigned)
        json_put_bool(&out, "unsigned_ids", true);
    json_end_object(&out);
    return json_writer_store(&out, path, err);
}

static int64_t bytes_of(const NodeIds *text) {
    return text->offset != NULL ? text->offset[text->count] : 0;
}

static bool write_arrays(const Dataset *d, const char *path, Error *err) {
    int64_t n = d->nodes, e = d->edges, f = d->features, k = d->classes;
    int64_t entries = d->sparse.offset != NULL ? csr_entries(&d->sparse) : 0;
    const Tensor all[] = {
        // bytes last, so that all others are aligned
        {"edge_offset", TENSOR_I64, 1, {n + 1}, d->offset},
        {"edge_target", TENSOR_I32, 1, {e}, d->target},
        {"edge_weight", TENSOR_F32, 1, {e}, d->weight},
        {"hyperedge_weight", TENSOR_F32, 1, {d->hyperedges}, d->hyperedge_weight},
        {"node_weight", TENSOR_I32, 1, {n}, d->node_weight},
        {"id", TENSOR_I64, 1, {d->ids.count}, d->ids.number},
        {"id_offset", TENSOR_I64, 1, {d->ids.count + 1}, d->ids.offset},
        {"class_offset", TENSOR_I64, 1, {d->names.count + 1}, d->names.offset},
        {"features", TENSOR_F32, 2, {n, f}, d->x},
        {"feature_offset", TENSOR_I64, 1, {n + 1}, d->sparse.offset},
        {"feature_column", TENSOR_I32, 1, {entries}, d->sparse.column},
        {"feature_value", TENSOR_F32, 1, {entries}, d->sparse.weight},
        {"labels", TENSOR_F32, 2, {n, k}, d->numbers},
        {"labels", TENSOR_I32, 1, {n}, d->label},
        {"labels", TENSOR_U8, 2, {n, k}, d->labels},
        {"split", TENSOR_U8, 1, {n}, d->split},
        {"pin_role", TENSOR_U8, 1, {e}, d->pin_role},
        {"id_bytes", TENSOR_U8, 1, {bytes_of(&d->ids)}, d->ids.bytes},
        {"class_bytes", TENSOR_U8, 1, {bytes_of(&d->names)}, d->names.bytes},
    };
    Tensor there[sizeof all / sizeof *all];
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].data != NULL)
            there[count++] = all[i];
    return tensors_write(path, there, count, NULL, true, err);
}

bool directory_may_replace(const char *folder, Error *err) {
    if (!file_exists(DIRECTORY_FILE(folder, manifest_name)))
        return error_set(err, EXIT_CANNOT_WRITE,
                         "%s exists and is not a dataset; remove it or choose another folder",
                         folder);
    return folder_holds_only(folder, "dataset.json dataset.safetensors", err);
}

static bool fill(const void *dataset, const char *made, Error *err) {
    return write_arrays(dataset, PATH_IN(made, arrays_name), err) &&
           write_manifest(dataset, PATH_IN(made, manifest_name), err);
}

bool dataset_write(const Dataset *dataset, const char *folder, Error *err) {
    char plain[PATH_BYTES];
    const char *above = FOLDER_OF(path_plain(plain, sizeof plain, folder));
    file_sweep(above); // files left by ended processes
    return file_make_folder(above, err) &&
           folder_write(plain, fill, dataset, directory_may_replace, err);
}

// --- opening

// The integer `key` of the manifest in 0..most.
static bool get_count(const Json *manifest, const char *key, int64_t most, int64_t *out,
                      Error *err) {
    return (json_get_int(manifest, key, out) && *out >= 0 && *out <= most) ||
           error_set(err, EXIT_DATA, "'%s' must be a number in 0..%lld", key, (long long)most);
}

static bool parse_manifest(Dataset *d, const Json *manifest, Error *err) {
    if (json_type(manifest) != JSON_OBJECT)
        return error_set(err, EXIT_DATA, "it is not a JSON object");
    const Json *multilabel = json_get(manifest, "multilabel");
    int64_t version = 0;
    if (strcmp(json_get_text(manifest, "format"), "fringe-dataset") != 0)
        return error_set(err, EXIT_DATA, "'format' must be \"fringe-dataset\"");
    if (!get_count(manifest, "version", INT32_MAX, &version, err))
        return false;
    if (version != DIRECTORY_VERSION)
        return error_set(err, EXIT_DATA, "version %lld is unknown; this program reads version %d",
                         (long long)version, DIRECTORY_VERSION);
    const Json *numeric = json_get(manifest, "numeric");
    if (multilabel != NULL && json_type(multilabel) != JSON_BOOL)
        return error_set(err, EXIT_DATA, "'multilabel' must be true or false");
    if (numeric != NULL && json_type(numeric) != JSON_BOOL)
        return error_set(err, EXIT_DATA, "'numeric' must be true or false");
    d->multilabel = multilabel != NULL && json_bool(multilabel);
    d->numeric = numeric != NULL && json_bool(numeric) && !d->multilabel;
    const Json *no_sign = json_get(manifest, "unsigned_ids");
    d->ids.is_unsigned = no_sign != NULL && json_type(no_sign) == JSON_BOOL && json_bool(no_sign);
    d->states_direction = true;
    const char *name = json_get_text(manifest, "name"), *origin = json_get_text(manifest, "origin");
    if (name[0] != 0)
        snprintf(d->name, sizeof d->name, "%s", name);
    if (origin[0] != 0)
        snprintf(d->origin, sizeof d->origin, "%s", origin);
    if (json_get(manifest, "hyperedges") != NULL &&
        !get_count(manifest, "hyperedges", DATASET_MAX_NODES, &d->hyperedges, err))
        return false;
    return get_count(manifest, "nodes", DATASET_MAX_NODES, &d->nodes, err) &&
           get_count(manifest, "edges", INT64_C(1) << 53, &d->edges, err) &&
           get_count(manifest, "features", DATASET_MAX_FEATURES, &d->features, err) &&
           get_count(manifest, "classes", DATASET_MAX_CLASSES, &d->classes, err);
}

static bool read_manifest(Dataset *dataset, const char *path, Error *err) {
    CLEARED(json_drop) Json *manifest = json_read(path, err);
    if (manifest == NULL)
        return false;
    return parse_manifest(dataset, manifest, err) || error_prefix(err, "%s", path);
}

static bool name_inside(const char *folder, char name[DATASET_NAME], Error *err) {
    Dataset dataset = {0};
    if (!read_manifest(&dataset, DIRECTORY_FILE(folder, manifest_name), err))
        return false;
    if (dataset.name[0] != '\0')
        memcpy(name, dataset.name, DATASET_NAME);
    return true;
}

void dataset_origin(const Config *config, char out[DATASET_ORIGIN]) {
    Dataset dataset = {0};
    const char *path = DIRECTORY_FILE(config->data.path, manifest_name);
    if (file_is_folder(config->data.path) && file_exists(path))
        read_manifest(&dataset, path, &(Error){0});
    snprintf(out, DATASET_ORIGIN, "%s", dataset.origin);
}

int64_t dataset_nodes(const char *folder) {
    Dataset dataset = {0};
    const char *path = DIRECTORY_FILE(folder, manifest_name);
    bool known = file_exists(path) && read_manifest(&dataset, path, &(Error){0});
    return known ? dataset.nodes : -1;
}

// A tensor's data, or NULL: with an error where it must be there.
static void *find_array(const Tensors *map, const char *name, bool needed, TensorType type,
                        int rank, int64_t rows, int64_t columns, Error *err) {
    if (!needed && tensors_find(map, name) == NULL)
        return NULL;
    const Tensor *tensor =
        tensors_need(map, name, type, rank, (const int64_t[]){rows, columns}, err);
    return tensor == NULL ? NULL : (void *)(uintptr_t)tensor->data;
}

static void bind_hypergraph(Dataset *d, Error *err) {
    const Tensors *map = &d->map;
    int64_t m = d->hyperedges;
    d->pin_role = find_array(map, "pin_role", false, TENSOR_U8, 1, d->edges, 0, err);
    d->hyperedge_weight = find_array(map, "hyperedge_weight", false, TENSOR_F32, 1, m, 0, err);
    d->node_weight = find_array(map, "node_weight", false, TENSOR_I32, 1, d->nodes, 0, err);
}

// Text of `count` names: offsets that ascend within the bytes.
static bool bind_text(NodeIds *text, const Tensors *map, const char *what, int64_t count,
                      Error *err) {
    char bytes[32], offset[32];
    snprintf(bytes, sizeof bytes, "%s_bytes", what);
    snprintf(offset, sizeof offset, "%s_offset", what);
    const Tensor *all = tensors_find(map, bytes);
    if (all == NULL)
        return true;
    text->offset = find_array(map, offset, true, TENSOR_I64, 1, count + 1, 0, err);
    text->bytes = text->offset != NULL
                      ? find_array(map, bytes, true, TENSOR_U8, 1, all->shape[0], 0, err)
                      : NULL;
    bool ok = text->bytes != NULL && text->offset[0] == 0 && text->offset[count] == all->shape[0];
    for (int64_t i = 0; ok && i < count; i++)
        ok = text->offset[i] <= text->offset[i + 1];
    text->count = ok ? count : 0;
    return ok || err->code != 0 ||
           error_set(err, EXIT_DATA, "'%s' does not ascend from 0 to the end of '%s'", offset,
                     bytes);
}

static void bind_ids(Dataset *d, Error *err) {
    d->ids.number = find_array(&d->map, "id", false, TENSOR_I64, 1, d->nodes, 0, err);
    d->ids.count = d->ids.number != NULL ? d->nodes : 0;
    bind_text(&d->ids, &d->map, "id", d->nodes, err);
    bind_text(&d->names, &d->map, "class", d->classes, err);
}

// Rows of floats, or their CSR.
static void bind_features(Dataset *d, Error *err) {
    const Tensors *map = &d->map;
    const Tensor *column = tensors_find(map, "feature_column");
    if (column == NULL || d->features == 0) {
        d->x =
            find_array(map, "features", d->features > 0, TENSOR_F32, 2, d->nodes, d->features, err);
        return;
    }
    int64_t entries = column->rank == 1 ? column->shape[0] : 0;
    d->sparse = (Csr){
        .rows = d->nodes,
        .offset = find_array(map, "feature_offset", true, TENSOR_I64, 1, d->nodes + 1, 0, err),
        .column = find_array(map, "feature_column", true, TENSOR_I32, 1, entries, 0, err),
        .weight = find_array(map, "feature_value", true, TENSOR_F32, 1, entries, 0, err)};
    if (err->code == 0 && d->sparse.offset[d->nodes] != entries)
        error_set(err, EXIT_DATA,
                  "'feature_offset' does not end with the length of 'feature_column'");
}

// The arrays point into the mapping; what the manifest says and what is there must agree.
static bool bind_arrays(Dataset *d, Error *err) {
    const Tensors *map = &d->map;
    int64_t n = d->nodes;
    d->offset = find_array(map, "edge_offset", true, TENSOR_I64, 1, n + 1, 0, err);
    d->target = find_array(map, "edge_target", true, TENSOR_I32, 1, d->edges, 0, err);
    if (d->hyperedges > 0)
        bind_hypergraph(d, err);
    else
        d->weight = find_array(map, "edge_weight", false, TENSOR_F32, 1, d->edges, 0, err);
    bind_features(d, err);
    if (d->numeric)
        d->numbers = find_array(map, "labels", true, TENSOR_F32, 2, n, d->classes, err);
    else if (d->multilabel)
        d->labels = find_array(map, "labels", true, TENSOR_U8, 2, n, d->classes, err);
    else
        d->label = find_array(map, "labels", d->classes > 0, TENSOR_I32, 1, n, 0, err);
    d->split = find_array(map, "split", false, TENSOR_U8, 1, n, 0, err);
    bind_ids(d, err);
    if (err->code != 0)
        return false;
    if (d->features == 0)
        d->x = NULL;
    if (d->split == NULL)
        d->split = TRY(uint8_t, n, "splits", err);
    return d->split != NULL;
}

// What the arrays were expected to be is the manifest's word. The error names their file already.
static bool say_manifest(const Dataset *d, const char *folder, Error *err) {
    char hyperedges[48] = "";
    Error said = *err;
    if (err->code != EXIT_DATA)
        return false;
    const char *path = DIRECTORY_FILE(folder, manifest_name);
    *err = (Error){0};
    if (d->hyperedges > 0)
        snprintf(hyperedges, sizeof hyperedges, "%lld hyperedges, ", (long long)d->hyperedges);
    return error_set(err, EXIT_DATA,
                     "%s (%s says %lld nodes, %s%lld edges, %lld features, %lld classes%s)",
                     said.text, path, (long long)d->nodes, hyperedges, (long long)d->edges,
                     (long long)d->features, (long long)d->classes,
                     d->multilabel ? ", several of them per node" : "");
}

static bool open_unchecked(Dataset *dataset, const char *folder, Error *err) {
    const char *path = DIRECTORY_FILE(folder, manifest_name);
    if (!file_exists(path))
        return error_set(err, EXIT_NO_INPUT, "%s: there is no %s in it, so it is not a dataset",
                         folder, manifest_name);
    if (!read_manifest(dataset, path, err))
        return false;
    if (dataset->nodes < 1)
        return error_set(err, EXIT_DATA, "%s: there are no nodes", folder);
    if (!tensors_open(&dataset->map, DIRECTORY_FILE(folder, arrays_name), err))
        return false;
    dataset->mapped = true;
    return bind_arrays(dataset, err) || say_manifest(dataset, folder, err);
}

bool dataset_open(Dataset *dataset, const char *folder, Error *err) {
    *dataset = (Dataset){0};
    if (!open_unchecked(dataset, folder, err) || !dataset_check(dataset, folder, err)) {
        dataset_clear(dataset);
        return false;
    }
    dataset_finish(dataset);
    dataset_warn_of_oddities(dataset);
    return true;
}

bool dataset_map(Dataset *dataset, const char *folder, Error *err) {
    *dataset = (Dataset){0};
    if (open_unchecked(dataset, folder, err))
        return true;
    dataset_clear(dataset);
    return false;
}

static bool read_directory(Dataset *dataset, const Request *request, Error *err) {
    return open_unchecked(dataset, request->path, err);
}

static bool matches(const char *path) {
    return file_is_folder(path) || strcmp(path_name(path), manifest_name) == 0;
}

static int files(const char *path, FormatFile file[FORMAT_FILES]) {
    file[0].what = "manifest";
    directory_file(file[0].path, path, manifest_name);
    file[1].what = "arrays";
    directory_file(file[1].path, path, arrays_name);
    return 2;
}

const Format format_fringe = {.name = "fringe",
                              .matches = matches,
                              .files = files,
                              .name_inside = name_inside,
                              .inspect = directory_inspect,
                              .read = read_directory,
                              .maps = true};
