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

// --- the arrays, which are written and found by one list

typedef struct Field {
    Tensor of;   // without its data
    void *at;    // address of the dataset's pointer to it
    bool there;  // when it is read: such a dataset has it,
    bool needed; // and always has
} Field;
enum { FIELDS = 19 };
typedef struct Extents { // of arrays that no count says; -1: they are not there
    int64_t entries;     // of sparse features
    int64_t id_bytes, class_bytes;
} Extents;

// Bytes last, so that all others are aligned.
static void list_fields(Field out[FIELDS], Dataset *d, const Extents *of) {
    int64_t n = d->nodes, e = d->edges, f = d->features, k = d->classes, m = d->hyperedges;
    bool sparse = of->entries >= 0 && f > 0, one = !d->numeric && !d->multilabel;
    int64_t c = d->names.count;
    bool ids = of->id_bytes >= 0, names = of->class_bytes >= 0;
    const Field all[FIELDS] = {
        {{"edge_offset", TENSOR_I64, 1, {n + 1}, NULL}, &d->offset, true, true},
        {{"edge_target", TENSOR_I32, 1, {e}, NULL}, &d->target, true, true},
        {{"edge_weight", TENSOR_F32, 1, {e}, NULL}, &d->weight, m == 0, false},
        {{"hyperedge_weight", TENSOR_F32, 1, {m}, NULL}, &d->hyperedge_weight, m > 0, false},
        {{"node_weight", TENSOR_I32, 1, {n}, NULL}, &d->node_weight, m > 0, false},
        {{"id", TENSOR_I64, 1, {n}, NULL}, &d->ids.number, true, false},
        {{"id_offset", TENSOR_I64, 1, {n + 1}, NULL}, &d->ids.offset, ids, true},
        {{"class_offset", TENSOR_I64, 1, {c + 1}, NULL}, &d->names.offset, names, true},
        {{"features", TENSOR_F32, 2, {n, f}, NULL}, &d->x, !sparse, f > 0},
        {{"feature_offset", TENSOR_I64, 1, {n + 1}, NULL}, &d->sparse.offset, sparse, true},
        {{"feature_column", TENSOR_I32, 1, {of->entries}, NULL}, &d->sparse.column, sparse, true},
        {{"feature_value", TENSOR_F32, 1, {of->entries}, NULL}, &d->sparse.weight, sparse, true},
        {{"labels", TENSOR_F32, 2, {n, k}, NULL}, &d->numbers, d->numeric, true},
        {{"labels", TENSOR_I32, 1, {n}, NULL}, &d->label, one, k > 0},
        {{"labels", TENSOR_U8, 2, {n, k}, NULL}, &d->labels, d->multilabel, true},
        {{"split", TENSOR_U8, 1, {n}, NULL}, &d->split, true, false},
        {{"pin_role", TENSOR_U8, 1, {e}, NULL}, &d->pin_role, m > 0, false},
        {{"id_bytes", TENSOR_U8, 1, {of->id_bytes}, NULL}, &d->ids.bytes, ids, true},
        {{"class_bytes", TENSOR_U8, 1, {of->class_bytes}, NULL}, &d->names.bytes, names, true},
    };
    memcpy(out, all, sizeof all);
}

static int64_t bytes_of(const NodeIds *text) {
    return text->offset != NULL ? text->offset[text->count] : -1;
}

static bool write_arrays(const Dataset *dataset, const char *path, Error *err) {
    Dataset d = *dataset;
    Field field[FIELDS];
    Tensor there[FIELDS];
    int count = 0;
    const Extents of = {d.sparse.offset != NULL ? csr_entries(&d.sparse) : -1, bytes_of(&d.ids),
                        bytes_of(&d.names)};
    list_fields(field, &d, &of);
    for (int i = 0; i < FIELDS; i++) {
        there[count] = field[i].of;
        memcpy(&there[count].data, field[i].at, sizeof there->data);
        count += there[count].data != NULL;
    }
    return tensors_write(path, there, count, NULL, true, err);
}

// --- writing

static bool write_manifest(const Dataset *dataset, const char *path, Error *err) {
    JsonWriter out;
    json_writer_begin(&out, true);
    JSON_PUT(&out, PAIR("format", "fringe-dataset"), PAIR("version", DIRECTORY_VERSION));
    dataset_put_facts(&out, dataset);
    if (dataset->ids.is_unsigned)
        json_put_bool(&out, "unsigned_ids", true);
    return json_writer_store(&out, path, err);
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
           error_data(err, "'%s' must be a number in 0..%ld", key, most);
}

static bool parse_manifest(Dataset *d, const Json *manifest, Error *err) {
    if (json_type(manifest) != JSON_OBJECT)
        return error_data(err, "it is not a JSON object");
    const Json *multilabel = json_get(manifest, "multilabel");
    int64_t version = 0;
    if (strcmp(json_get_text(manifest, "format"), "fringe-dataset") != 0)
        return error_data(err, "'format' must be \"fringe-dataset\"");
    if (!get_count(manifest, "version", INT32_MAX, &version, err))
        return false;
    if (version != DIRECTORY_VERSION)
        return error_data(err, "version %ld is unknown; this program reads version %d", version,
                          DIRECTORY_VERSION);
    const Json *numeric = json_get(manifest, "numeric");
    if (multilabel != NULL && json_type(multilabel) != JSON_BOOL)
        return error_data(err, "'multilabel' must be true or false");
    if (numeric != NULL && json_type(numeric) != JSON_BOOL)
        return error_data(err, "'numeric' must be true or false");
    d->multilabel = json_get_bool(manifest, "multilabel");
    d->numeric = json_get_bool(manifest, "numeric") && !d->multilabel;
    d->ids.is_unsigned = json_get_bool(manifest, "unsigned_ids");
    d->states_direction = true;
    const char *name = json_get_text(manifest, "name");
    if (name[0] != 0)
        snprintf(d->name, sizeof d->name, "%s", name);
    snprintf(d->origin, sizeof d->origin, "%s", json_get_text(manifest, "origin"));
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

static int64_t extent_of(const Tensors *map, const char *name) {
    const Tensor *tensor = tensors_find(map, name);
    return tensor == NULL ? -1 : tensor->rank == 1 ? tensor->shape[0] : 0;
}

static bool bind_fields(Dataset *d, const Extents *of, Error *err) {
    Field field[FIELDS];
    d->names.count = of->class_bytes >= 0 ? d->classes : 0;
    list_fields(field, d, of);
    for (int i = 0; i < FIELDS; i++) {
        const Tensor *want = &field[i].of, *found = tensors_find(&d->map, want->name);
        if (!field[i].there || (!field[i].needed && found == NULL))
            continue;
        found = tensors_need(&d->map, want->name, want->type, want->rank, want->shape, err);
        if (found == NULL)
            return false;
        memcpy(field[i].at, &found->data, sizeof found->data);
    }
    return true;
}

// Text of names: offsets that ascend within the bytes.
static bool text_fits(const NodeIds *text, const char *what, int64_t bytes, Error *err) {
    bool ok = text->bytes == NULL || (text->offset[0] == 0 && text->offset[text->count] == bytes);
    for (int64_t i = 0; ok && text->bytes != NULL && i < text->count; i++)
        ok = text->offset[i] <= text->offset[i + 1];
    return ok || error_data(err, "'%s_offset' does not ascend from 0 to the end of '%s_bytes'",
                            what, what);
}

// The arrays point into the mapping; what the manifest says and what is there must agree.
static bool bind_arrays(Dataset *d, Error *err) {
    const Tensors *map = &d->map;
    const Extents of = {extent_of(map, "feature_column"), extent_of(map, "id_bytes"),
                        extent_of(map, "class_bytes")};
    if (!bind_fields(d, &of, err))
        return false;
    d->ids.count = d->ids.number != NULL || d->ids.bytes != NULL ? d->nodes : 0;
    d->sparse.rows = d->sparse.offset != NULL ? d->nodes : 0;
    if (d->sparse.offset != NULL && d->sparse.offset[d->nodes] != of.entries)
        return error_data(err, "'feature_offset' does not end with the length of 'feature_column'");
    if (!text_fits(&d->ids, "id", of.id_bytes, err) ||
        !text_fits(&d->names, "class", of.class_bytes, err))
        return false;
    if (d->features == 0)
        d->x = NULL;
    return dataset_need_split(d, err);
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
        snprintf(hyperedges, sizeof hyperedges, "%ld hyperedges, ", d->hyperedges);
    return error_data(err, "%s (%s says %ld nodes, %s%ld edges, %ld features, %ld classes%s)",
                      said.text, path, d->nodes, hyperedges, d->edges, d->features, d->classes,
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
        return error_data(err, "%s: there are no nodes", folder);
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
