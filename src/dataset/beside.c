// The files beside a graph that the config names: data.features and data.labels (.npy), data.nodes
// (.npz), data.splits. They replace what the graph's own file holds, and data.features, data.labels
// and data.splits replace what data.nodes holds.

#include "npz_layout.h"

#include <string.h>

struct Beside {
    const Config *config;
    Npy features, labels;
    Npz *nodes; // NULL: data.nodes is not set
    NpzLayout layout;
    char path[PATH_BYTES]; // of nodes
};

typedef bool NpyReader(Npy *npy, const char *path, Error *err);

// Reads an .npy, or its header, that the config names; *npy stays empty if it names none.
static bool open_array(Npy *npy, NpyReader *read, const Config *config, const char *path,
                       Error *err) {
    char resolved[PATH_BYTES];
    *npy = (Npy){0};
    if (path[0] == '\0')
        return true;
    dataset_path(config, path, resolved);
    return read(npy, resolved, err);
}

static bool open_nodes(Beside *beside, Error *err) {
    if (beside->config->data.nodes[0] == '\0')
        return true;
    dataset_path(beside->config, beside->config->data.nodes, beside->path);
    beside->nodes = npz_open(beside->path, err);
    return beside->nodes != NULL && (npz_layout_of_nodes(&beside->layout, beside->nodes, err) ||
                                     error_prefix(err, "%s", beside->path));
}

static Beside *open_with(NpyReader *read, const Config *config, Error *err) {
    Beside *beside = ALLOC(Beside, 1, "files beside a graph");
    beside->config = config;
    if (open_array(&beside->features, read, config, config->data.features, err) &&
        open_array(&beside->labels, read, config, config->data.labels, err) &&
        open_nodes(beside, err))
        return beside;
    beside_close(beside);
    return NULL;
}

Beside *beside_open(const Config *config, Error *err) { return open_with(npy_read, config, err); }

Beside *beside_look(const Config *config) { return open_with(npy_look, config, &(Error){0}); }

void beside_close(Beside *beside) {
    if (beside == NULL)
        return;
    npy_clear(&beside->features);
    npy_clear(&beside->labels);
    npz_close(beside->nodes);
    memory_free(beside);
}

int64_t beside_rows(const Beside *beside) {
    const Npy *array = beside->features.rank > 0 ? &beside->features : &beside->labels;
    if (array->rank > 0)
        return array->shape[0];
    return beside->nodes == NULL ? -1 : npz_layout_rows(&beside->layout, beside->nodes);
}

static bool take_arrays(Dataset *dataset, Beside *beside, Error *err) {
    const Config *config = beside->config;
    if (beside->features.data != NULL &&
        (!features_from_npy(dataset, &beside->features, dataset->nodes, err) ||
         !features_check(dataset, err)))
        return error_prefix(err, "%s", config->data.features);
    if (beside->labels.data != NULL &&
        !labels_from_npy(dataset, &beside->labels, dataset->nodes, err))
        return error_prefix(err, "%s", config->data.labels);
    return true;
}

// ---- data.nodes by ids

static bool has_ids(const Beside *beside) {
    return beside->nodes != NULL && npz_has(beside->nodes, "ids");
}

static void leave_nodes(Beside *beside) {
    npz_close(beside->nodes);
    beside->nodes = NULL;
}

bool beside_join(Dataset *dataset, Beside *beside, const uint64_t *id, Error *err) {
    if (!has_ids(beside))
        return true;
    leave_nodes(beside);
    return dataset_join(dataset, id, beside->path, 0, err);
}

void beside_plan_join(Tally *tally, Beside *beside) {
    if (!has_ids(beside))
        return;
    join_plan(tally, beside->nodes);
    leave_nodes(beside);
}

// ---- by rows

static bool take_nodes(Dataset *dataset, Beside *beside, Error *err) {
    if (beside->nodes == NULL)
        return true;
    if (has_ids(beside))
        warnings_add(
            &dataset->warnings,
            "%s: 'ids' is not read, since only nodes of data.format=events have ids: row i "
            "is that of node i",
            path_name(beside->path));
    return (npz_read_nodes(dataset, beside->nodes, &beside->layout, beside->config, err) &&
            features_check(dataset, err)) ||
           npz_name_file(err, beside->path);
}

static bool take_splits(Dataset *dataset, const Beside *beside, const char *inside, Error *err) {
    SplitSource source[2] = {{beside->nodes, beside->path}};
    int count = beside->nodes != NULL;
    if (inside != NULL) {
        source[count] = (SplitSource){npz_open(inside, err), inside};
        if (source[count].npz == NULL)
            return false;
    }
    bool ok = splits_read(dataset, beside->config, source, count + (inside != NULL), err);
    if (inside != NULL)
        npz_close(source[count].npz);
    return ok;
}

bool beside_take(Dataset *dataset, Beside *beside, const char *inside, Error *err) {
    return take_nodes(dataset, beside, err) && take_arrays(dataset, beside, err) &&
           take_splits(dataset, beside, inside, err);
}

// ---- the plan

size_t beside_bytes(const Beside *beside) {
    return memory_product(beside->features.elements, (size_t)beside->features.item) +
           memory_product(beside->labels.elements, (size_t)beside->labels.item);
}

void beside_plan(Tally *tally, Beside *beside) {
    tally_add(tally, memory_product(beside->features.elements, sizeof(float)));
    tally_add(tally, memory_product(beside->labels.elements, sizeof(int64_t)));
    if (beside->nodes != NULL)
        npz_plan_nodes(tally, beside->nodes, &beside->layout, beside->config);
}
