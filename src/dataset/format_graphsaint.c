// Sets of GraphSAINT (Zeng et al., 2020): Flickr, Reddit2, Yelp, AmazonProducts, PPI. A folder, or
// its raw/, with
//
//   adj_full.npz    CSR of scipy, all edges       feats.npy        [N, F]
//   role.json       {"tr": [nodes], "va": [...], "te": [...]}
//   class_map.json  {"0": class, ...} or {"0": [0, 1, ...], ...}, nodes in any order
//
// GraphSAINT standardizes features by the training rows, PyG and DGL do not; data.transforms
// standardize does.

#include "json_pull.h"
#include "npz_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"adj_full.npz", "feats.npy", "class_map.json", "role.json"};
enum { GRAPH, FEATURES, CLASSES, ROLES, FILES };

static bool holds_all(const char *folder) {
    char path[DATASET_PATH];
    for (int i = 0; i < FILES; i++) {
        path_join(path, sizeof path, folder, names[i]);
        if (!file_exists(path))
            return false;
    }
    return true;
}

static bool find_folder(const char *path, char folder[DATASET_PATH]) {
    if (!file_is_folder(path))
        return false;
    path_join(folder, DATASET_PATH, path, "raw");
    if (holds_all(folder))
        return true;
    snprintf(folder, DATASET_PATH, "%s", path);
    return holds_all(folder);
}

static bool matches(const char *path) {
    char folder[DATASET_PATH];
    return find_folder(path, folder);
}

static int files(const char *path, FormatFile file[FORMAT_FILES]) {
    char folder[DATASET_PATH];
    if (!find_folder(path, folder))
        return 0;
    for (int i = 0; i < FILES; i++) {
        file[i].what = names[i];
        path_join(file[i].path, DATASET_PATH, folder, names[i]);
    }
    return FILES;
}

// ---- class_map.json

typedef struct ClassMap {
    Dataset *d;
    JsonPull *pull;
    uint8_t *seen; // [nodes]
    int64_t count; // nodes so far
} ClassMap;

static bool read_node(ClassMap *map, int64_t *node, Error *err) {
    char key[64], *end;
    if (!json_pull_key(map->pull, key, err) || !json_pull_take(map->pull, ':', err))
        return false;
    *node = strtol(key, &end, 10);
    if (key[0] < '0' || key[0] > '9' || *end != '\0' || *node < 0 || *node >= map->d->nodes)
        return json_pull_error(map->pull, err, "key '%s' is not a node of 0 to %lld", key,
                               (long long)map->d->nodes - 1);
    if (map->seen[*node]++ != 0)
        return json_pull_error(map->pull, err, "node %lld is there twice", (long long)*node);
    map->count++;
    return true;
}

static bool read_class(ClassMap *map, int64_t node, Error *err) {
    Dataset *d = map->d;
    int64_t label;
    if (d->labels != NULL)
        return json_pull_error(map->pull, err, "node %lld has a class where others have a list",
                               (long long)node);
    if (d->label == NULL && (d->label = TRY(int32_t, d->nodes, "labels", err)) == NULL)
        return false;
    if (!json_pull_integer(map->pull, &label, err))
        return false;
    if (label < 0 || label >= DATASET_MAX_CLASSES)
        return json_pull_error(map->pull, err, "class %lld of node %lld is not one of 0 to %d",
                               (long long)label, (long long)node, DATASET_MAX_CLASSES - 1);
    d->label[node] = (int32_t)label;
    d->classes = label >= d->classes ? label + 1 : d->classes;
    return true;
}

// The first list says how many classes there are; it is read into a list that grows.
static bool read_first_list(ClassMap *map, int64_t node, Error *err) {
    enum { FIRST = 1 << 16 };
    Dataset *d = map->d;
    uint8_t *bits = TRY(uint8_t, FIRST, "labels", err);
    bool ok = bits != NULL;
    while (ok && !json_pull_if(map->pull, ']')) {
        int64_t bit;
        ok = (d->classes == 0 || json_pull_take(map->pull, ',', err)) &&
             json_pull_integer(map->pull, &bit, err);
        if (ok && ((bit != 0 && bit != 1) || d->classes == FIRST))
            ok = json_pull_error(map->pull, err, "label %lld of node %lld is neither 0 nor 1",
                                 (long long)bit, (long long)node);
        if (ok)
            bits[d->classes++] = (uint8_t)bit;
    }
    if (ok && d->classes == 0)
        ok = json_pull_error(map->pull, err, "the list of node %lld is empty", (long long)node);
    d->labels = ok ? TRY(uint8_t, d->nodes * d->classes, "labels", err) : NULL;
    if (d->labels != NULL)
        memcpy(d->labels + node * d->classes, bits, (size_t)d->classes);
    d->multilabel = d->labels != NULL;
    memory_free(bits);
    return d->labels != NULL;
}

static bool read_list(ClassMap *map, int64_t node, Error *err) {
    Dataset *d = map->d;
    if (d->label != NULL)
        return json_pull_error(map->pull, err, "node %lld has a list where others have a class",
                               (long long)node);
    if (d->labels == NULL)
        return read_first_list(map, node, err);
    for (int64_t k = 0; k < d->classes; k++) {
        int64_t bit;
        if ((k > 0 && !json_pull_take(map->pull, ',', err)) ||
            !json_pull_integer(map->pull, &bit, err))
            return false;
        if (bit != 0 && bit != 1)
            return json_pull_error(map->pull, err, "label %lld of node %lld is neither 0 nor 1",
                                   (long long)bit, (long long)node);
        d->labels[node * d->classes + k] = (uint8_t)bit;
    }
    return json_pull_if(map->pull, ']') ||
           json_pull_error(map->pull, err,
                           "the list of node %lld is longer than the first, of %lld",
                           (long long)node, (long long)d->classes);
}

static bool read_map(ClassMap *map, Error *err) {
    if (!json_pull_take(map->pull, '{', err))
        return false;
    while (!json_pull_if(map->pull, '}')) {
        int64_t node;
        if ((map->count > 0 && !json_pull_take(map->pull, ',', err)) ||
            !read_node(map, &node, err) ||
            !(json_pull_if(map->pull, '[') ? read_list : read_class)(map, node, err))
            return false;
        if (map->count % 65536 == 0)
            stage_progress("%lld of %lld nodes", (long long)map->count, (long long)map->d->nodes);
    }
    if (map->count != map->d->nodes)
        return json_pull_error(map->pull, err, "there are %lld nodes in it, but %lld in the graph",
                               (long long)map->count, (long long)map->d->nodes);
    return json_pull_end(map->pull, err);
}

// Classes may count from 1, as GraphSAINT allows.
static void shift_classes(Dataset *d) {
    int32_t least = INT32_MAX;
    for (int64_t i = 0; d->label != NULL && i < d->nodes; i++)
        least = d->label[i] < least ? d->label[i] : least;
    if (d->label == NULL || least == 0)
        return;
    for (int64_t i = 0; i < d->nodes; i++)
        d->label[i] -= least;
    d->classes -= least;
    warnings_add(&d->warnings, "classes count from %d in class_map.json; they are numbered from 0",
                 least);
}

static bool read_classes(Dataset *d, const char *folder, Error *err) {
    char path[DATASET_PATH];
    path_join(path, sizeof path, folder, names[CLASSES]);
    stage_begin("read", "%s", names[CLASSES]);
    ClassMap map = {.d = d,
                    .pull = json_pull_open(path, err),
                    .seen = TRY(uint8_t, d->nodes, "nodes that have a label", err)};
    bool ok = map.pull != NULL && map.seen != NULL && read_map(&map, err);
    memory_free(map.seen);
    json_pull_close(map.pull);
    if (ok)
        shift_classes(d);
    return ok;
}

// ---- role.json

static bool read_role(Dataset *d, JsonPull *pull, uint8_t split, Error *err) {
    int64_t node, count = 0;
    if (!json_pull_take(pull, ':', err) || !json_pull_take(pull, '[', err))
        return false;
    for (; !json_pull_if(pull, ']'); count++) {
        if ((count > 0 && !json_pull_take(pull, ',', err)) || !json_pull_integer(pull, &node, err))
            return false;
        if (node < 0 || node >= d->nodes)
            return json_pull_error(pull, err, "node %lld is not one of 0 to %lld", (long long)node,
                                   (long long)d->nodes - 1);
        if (d->split[node] != SPLIT_NONE)
            return json_pull_error(pull, err, "node %lld is in the roles twice", (long long)node);
        d->split[node] = split;
    }
    return true;
}

static int role_of(const char *key) {
    static const char *const keys[] = {"tr", "va", "te"};
    for (int k = 0; k < 3; k++)
        if (strcmp(key, keys[k]) == 0)
            return SPLIT_TRAIN + k;
    return SPLIT_NONE;
}

static bool read_roles_of(Dataset *d, JsonPull *pull, Error *err) {
    int found = 0;
    char key[64];
    if (!json_pull_take(pull, '{', err))
        return false;
    for (; !json_pull_if(pull, '}'); found++) {
        if ((found > 0 && !json_pull_take(pull, ',', err)) || !json_pull_key(pull, key, err))
            return false;
        if (role_of(key) == SPLIT_NONE)
            return json_pull_error(pull, err, "the role '%s' is not tr, va or te", key);
        if (!read_role(d, pull, (uint8_t)role_of(key), err))
            return false;
    }
    return (found == 3 || json_pull_error(pull, err, "the three roles tr, va and te are needed")) &&
           json_pull_end(pull, err);
}

static bool read_roles(Dataset *d, const char *folder, Error *err) {
    char path[DATASET_PATH];
    path_join(path, sizeof path, folder, names[ROLES]);
    d->split = TRY(uint8_t, d->nodes, "splits", err);
    JsonPull *pull = d->split != NULL ? json_pull_open(path, err) : NULL;
    bool ok = pull != NULL && read_roles_of(d, pull, err);
    json_pull_close(pull);
    return ok;
}

// ---- the format

static bool read_features(Dataset *d, const char *folder, Error *err) {
    char path[DATASET_PATH];
    Npy npy;
    path_join(path, sizeof path, folder, names[FEATURES]);
    stage_begin("read", "%s", names[FEATURES]);
    if (!npy_read(&npy, path, err))
        return false;
    bool ok = features_from_npy(d, &npy, d->nodes, err) || error_prefix(err, "%s", path);
    npy_clear(&npy);
    return ok;
}

static bool read(Dataset *d, const Request *request, Error *err) {
    char folder[DATASET_PATH], path[DATASET_PATH];
    const Config *config = request->config;
    if (!find_folder(request->path, folder))
        return error_set(err, EXIT_DATA,
                         "%s: it needs adj_full.npz, feats.npy, class_map.json and role.json",
                         request->path);
    path_join(path, sizeof path, folder, names[GRAPH]);
    return matrix_read(d, path, -1, err) &&
           (config->data.features[0] != '\0' || read_features(d, folder, err)) &&
           (config->data.labels[0] != '\0' || read_classes(d, folder, err)) &&
           read_roles(d, folder, err);
}

static void plan_features(Tally *tally, const char *folder) {
    char path[DATASET_PATH];
    Npy npy;
    path_join(path, sizeof path, folder, names[FEATURES]);
    if (!npy_look(&npy, path, &(Error){0}))
        return;
    size_t raw = memory_product(npy.elements, (size_t)npy.item);
    bool taken = npy.kind == NPY_FLOAT && npy.item == 4;
    tally_add(tally, taken ? raw : raw + memory_product(npy.elements, sizeof(float)));
    tally_sub(tally, taken ? 0 : raw);
    tally->features = npy.rank == 2 ? npy.shape[1] : 0;
}

// A label takes at least two bytes of text, "0,"; a class four.
static void plan_classes(Tally *tally, const char *folder) {
    char path[DATASET_PATH];
    path_join(path, sizeof path, folder, names[CLASSES]);
    size_t nodes = (size_t)tally->nodes, text = (size_t)file_size(path);
    size_t lists = text / 2 > nodes * sizeof(int32_t) ? text / 2 : nodes * sizeof(int32_t);
    tally_add(tally, lists + nodes);
    tally_sub(tally, nodes);
}

static void plan(Tally *tally, const Request *request) {
    char folder[DATASET_PATH], path[DATASET_PATH];
    if (!find_folder(request->path, folder))
        return;
    path_join(path, sizeof path, folder, names[GRAPH]);
    matrix_plan(tally, path);
    plan_features(tally, folder);
    plan_classes(tally, folder);
    tally_add(tally, (size_t)tally->nodes);
}

const Format format_graphsaint = {
    .name = "graphsaint", .matches = matches, .files = files, .read = read, .plan = plan};
