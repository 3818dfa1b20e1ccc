// Arrays of an npz as readers want them: read, converted, and named in errors.

#include "npz_layout.h"

static bool read_list(Npy *npy, int64_t *count, Npz *npz, const char *key, Error *err) {
    bool ok = npz_read(npz, key, npy, err);
    *count = npy->elements;
    return ok && (npy->rank == 1 || error_data(err, "'%s' must be one-dimensional", key));
}

bool npz_integers(Npz *npz, const char *key, int64_t **out, int64_t *count, Error *err) {
    CLEARED(npy_clear) Npy npy;
    return read_list(&npy, count, npz, key, err) && npy_to_int64(&npy, out, err);
}

bool npz_floats(Npz *npz, const char *key, float **out, int64_t *count, Error *err) {
    CLEARED(npy_clear) Npy npy;
    return read_list(&npy, count, npz, key, err) && npy_take_float(&npy, out, err);
}

bool npz_below(Npz *npz, const char *key, const char *nouns, int64_t below, int32_t **out,
               int64_t *count, Error *err) {
    CLEARED(npy_clear) Npy npy;
    return read_list(&npy, count, npz, key, err) && npy_take_below(&npy, nouns, below, out, err);
}

bool npz_num_nodes(Npz *npz, int64_t *nodes, Error *err) {
    FREED int64_t *value = NULL;
    CLEARED(npy_clear) Npy npy = {0};
    *nodes = -1;
    if (!npz_has(npz, "num_nodes"))
        return true;
    bool ok = npz_read(npz, "num_nodes", &npy, err) &&
              (npy.elements == 1 || error_data(err, "'num_nodes' must be one number")) &&
              npy_to_int64(&npy, &value, err);
    *nodes = ok ? value[0] : -1;
    return ok &&
           (*nodes >= 1 || error_data(err, "'num_nodes' is %ld, but must be above 0", *nodes));
}

bool npz_take(Dataset *dataset, Npz *npz, const char *key, ArrayTaker *take, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    return npz_read(npz, key, &npy, err) &&
           (take(dataset, &npy, dataset->nodes, err) || error_prefix(err, "array '%s'", key));
}

bool npz_name_file(Error *err, const char *path) {
    size_t length = strlen(path);
    return strncmp(err->text, path, length) == 0 ? false : error_prefix(err, "%s", path);
}
