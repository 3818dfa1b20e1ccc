// fringe inspect of files of arrays: .npy, shards and other .safetensors.

#include "inspect.h"

#include "fringe/npy.h"

// ---- the kind "array"

static bool is_array(const char *path) { return inspect_ends(path, ".npy"); }

typedef struct ValueRange {
    double least, most;
    int64_t not_numbers;
} ValueRange;

// Text arrays have no range.
static bool read_range(const Npy *npy, ValueRange *range, Error *err) {
    FREED float *value = NULL;
    *range = (ValueRange){.least = NAN, .most = NAN};
    if (npy->kind == NPY_TEXT)
        return true;
    if (!npy_to_float(npy, &value, err))
        return false;
    for (int64_t i = 0; i < npy->elements; i++) {
        range->not_numbers += !isfinite(value[i]);
        range->least = fmin(range->least, value[i]); // fmin ignores NaN
        range->most = fmax(range->most, value[i]);
    }
    return true;
}

// "float32", "int64", "U17" as numpy names it.
static const char *type_of(const Npy *npy, char out[32]) {
    const char *name = npy->kind == NPY_FLOAT  ? "float"
                       : npy->kind == NPY_INT  ? "int"
                       : npy->kind == NPY_UINT ? "uint"
                                               : NULL;
    if (name != NULL)
        snprintf(out, 32, "%s%d", name, 8 * npy->item);
    else
        snprintf(out, 32, "%s", npy->kind == NPY_BOOL ? "bool" : "text");
    return out;
}

static void print_shape(const int64_t *shape, int rank) {
    printf("[");
    for (int d = 0; d < rank; d++)
        printf("%s%ld", d > 0 ? ", " : "", shape[d]);
    printf("]");
}

static void print_npy(const Npy *npy, const ValueRange *range) {
    char type[32];
    printf("array      ");
    print_shape(npy->shape, npy->rank);
    printf(" %s", type_of(npy, type));
    if (!isnan(range->least))
        printf(", %.6g to %.6g", range->least, range->most);
    if (range->not_numbers > 0)
        printf(", %ld not finite", range->not_numbers);
    printf("\n");
}

static void put_shape(JsonWriter *w, const int64_t *shape, int rank) {
    JSON_PUT_ARRAY(w, "shape")
        for (int d = 0; d < rank; d++)
            json_put_int(w, NULL, shape[d]);
}

static void put_npy(JsonWriter *w, const Npy *npy, const ValueRange *range) {
    char type[32];
    put_shape(w, npy->shape, npy->rank);
    JSON_PUT(w, PAIR("type", type_of(npy, type)), PAIR("least", range->least),
             PAIR("most", range->most), PAIR("not_finite", range->not_numbers));
}

static bool show_array(const Inspection *at) {
    CLEARED(npy_clear) Npy npy = {0};
    ValueRange range;
    if (!npy_read(&npy, at->path, at->err))
        return false;
    bool ok = read_range(&npy, &range, at->err);
    if (at->json != NULL)
        put_npy(at->json, &npy, &range);
    else if (ok)
        print_npy(&npy, &range);
    return ok;
}

const Inspected inspected_array = {"array", NULL, is_array, show_array};

// ---- the kinds "tensors" and "shard"

static bool is_tensors(const char *path) { return inspect_ends(path, ".safetensors"); }

static bool is_shard(const char *path) {
    char hash[64];
    CLEARED(tensors_close) Tensors map = {0};
    if (!is_tensors(path) || !tensors_open(&map, path, &(Error){0}))
        return false;
    return tensors_metadata(&map, "partition_hash", hash, sizeof hash) != NULL &&
           tensors_metadata(&map, "part", hash, sizeof hash) != NULL;
}

static const char *fact(const Tensors *map, const char *key, char out[256]) {
    return tensors_metadata(map, key, out, 256) != NULL ? out : "?";
}

static void print_shard(const Tensors *map) {
    char a[256], b[256], c[256], d[256];
    printf("shard      part %s of %s parts of %s (%s nodes)\n", fact(map, "part", a),
           fact(map, "parts", b), SHOWN(fact(map, "dataset_name", c)), fact(map, "nodes", d));
    printf("rows       %s own, %s of them central; %s halo rows\n", fact(map, "own", a),
           fact(map, "central", b), fact(map, "forward.remote", c));
    printf("hashes     data %.8s, cut %.8s\n", fact(map, "dataset_hash", a),
           fact(map, "partition_hash", b));
}

void inspect_put_tensors(JsonWriter *w, const Tensors *map) {
    JSON_PUT_ARRAY(w, "tensors")
        for (int i = 0; i < map->count; i++) {
            const Tensor *tensor = &map->tensor[i];
            JSON_PUT_OBJECT(w, NULL) {
                JSON_PUT(w, PAIR("name", tensor->name),
                         PAIR("type", tensor_type_names[tensor->type]));
                put_shape(w, tensor->shape, tensor->rank);
            }
        }
}

static void put_shard(JsonWriter *w, const Tensors *map) {
    static const char *const keys[] = {"dataset_name", "dataset_hash", "partition_hash",
                                       "part",         "parts",        "nodes",
                                       "own",          "central",      "forward.remote"};
    char text[256];
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        json_put_string(w, keys[i], tensors_metadata(map, keys[i], text, sizeof text));
}

static bool show_file(const Inspection *at, bool shard) {
    CLEARED(tensors_close) Tensors map = {0};
    if (!tensors_open(&map, at->path, at->err))
        return false;
    if (at->json == NULL) {
        if (shard)
            print_shard(&map);
        tensors_print(&terminal_tables, &map, shard ? path_name(at->path) : at->path);
    } else {
        if (shard)
            put_shard(at->json, &map);
        json_put_int(at->json, "bytes", (int64_t)map.bytes);
        inspect_put_tensors(at->json, &map);
    }
    return true;
}

static bool show_shard(const Inspection *at) { return show_file(at, true); }
static bool show_tensors(const Inspection *at) { return show_file(at, false); }

const Inspected inspected_shard = {"shard", NULL, is_shard, show_shard};
const Inspected inspected_tensors = {"tensors", NULL, is_tensors, show_tensors};
