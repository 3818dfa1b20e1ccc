// The two JSON files of GraphSAINT's sets: classes and roles of nodes (graphsaint.h).

#include "graphsaint.h"

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
        return json_pull_error(map->pull, err, "key '%s' is not a node of 0 to %ld", key,
                               map->d->nodes - 1);
    if (map->seen[*node]++ != 0)
        return json_pull_error(map->pull, err, "node %ld is there twice", *node);
    map->count++;
    return true;
}

static bool read_class(ClassMap *map, int64_t node, Error *err) {
    Dataset *d = map->d;
    int64_t label;
    if (d->labels != NULL)
        return json_pull_error(map->pull, err, "node %ld has a class where others have a list",
                               node);
    if (d->label == NULL && (d->label = TRY(int32_t, d->nodes, "labels", err)) == NULL)
        return false;
    if (!json_pull_integer(map->pull, &label, err))
        return false;
    if (label < 0 || label >= DATASET_MAX_CLASSES)
        return json_pull_error(map->pull, err, "class %ld of node %ld is not one of 0 to %d", label,
                               node, DATASET_MAX_CLASSES - 1);
    d->label[node] = (int32_t)label;
    d->classes = label >= d->classes ? label + 1 : d->classes;
    return true;
}

enum { LABELS_MOST = 1 << 16 }; // of a node

// The labels behind '['. The first list says how many classes there are, and is read to its end.
static bool read_bits(ClassMap *map, int64_t node, uint8_t *bits, bool first, Error *err) {
    Dataset *d = map->d;
    for (int64_t k = 0, bit; first ? !json_pull_if(map->pull, ']') : k < d->classes; k++) {
        if ((k > 0 && !json_pull_take(map->pull, ',', err)) ||
            !json_pull_integer(map->pull, &bit, err))
            return false;
        if (bit != 0 && bit != 1)
            return json_pull_error(map->pull, err, "label %ld of node %ld is neither 0 nor 1", bit,
                                   node);
        if (k == LABELS_MOST)
            return json_pull_error(map->pull, err, "node %ld has more than %d labels", node,
                                   LABELS_MOST);
        bits[k] = (uint8_t)bit;
        d->classes = first ? k + 1 : d->classes;
    }
    return true;
}

static bool read_first_list(ClassMap *map, int64_t node, Error *err) {
    Dataset *d = map->d;
    FREED uint8_t *bits = TRY(uint8_t, LABELS_MOST, "labels", err);
    if (bits == NULL || !read_bits(map, node, bits, true, err))
        return false;
    if (d->classes == 0)
        return json_pull_error(map->pull, err, "the list of node %ld is empty", node);
    d->labels = TRY(uint8_t, d->nodes * d->classes, "labels", err);
    if (d->labels != NULL)
        memcpy(d->labels + node * d->classes, bits, (size_t)d->classes);
    d->multilabel = d->labels != NULL;
    return d->labels != NULL;
}

static bool read_list(ClassMap *map, int64_t node, Error *err) {
    Dataset *d = map->d;
    if (d->label != NULL)
        return json_pull_error(map->pull, err, "node %ld has a list where others have a class",
                               node);
    if (d->labels == NULL)
        return read_first_list(map, node, err);
    return read_bits(map, node, d->labels + node * d->classes, false, err) &&
           (json_pull_if(map->pull, ']') ||
            json_pull_error(map->pull, err, "the list of node %ld is longer than the first, of %ld",
                            node, d->classes));
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
            progress_update("%ld of %ld nodes", map->count, map->d->nodes);
    }
    if (map->count != map->d->nodes)
        return json_pull_error(map->pull, err, "there are %ld nodes in it, but %ld in the graph",
                               map->count, map->d->nodes);
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

bool graphsaint_classes(Dataset *d, JsonPull *pull, Error *err) {
    FREED uint8_t *seen = TRY(uint8_t, d->nodes, "nodes that have a label", err);
    ClassMap map = {.d = d, .pull = pull, .seen = seen};
    bool ok = seen != NULL && read_map(&map, err);
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
            return json_pull_error(pull, err, "node %ld is not one of 0 to %ld", node,
                                   d->nodes - 1);
        if (d->split[node] != SPLIT_NONE)
            return json_pull_error(pull, err, "node %ld is in the roles twice", node);
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

bool graphsaint_roles(Dataset *d, JsonPull *pull, Error *err) {
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
