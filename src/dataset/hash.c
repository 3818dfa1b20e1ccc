// Content hashes for caches: of a loaded dataset, and of its files and steps. The idea: names are
// not hashed, so a renamed file is the same dataset and a changed file is not.

#include "parts.h"

enum { SOURCE_VERSION = 13 }; // raise it when the output of a reader or a step changes

static void add_array(Hash *hash, const char *what, const void *array, size_t bytes) {
    char head[64];
    int length =
        snprintf(head, sizeof head, "%s %d %zu;", what, array != NULL, array == NULL ? 0 : bytes);
    hash_add(hash, head, (size_t)length);
    if (array != NULL)
        hash_add(hash, array, bytes);
}

static void add_hypergraph(Hash *hash, const Dataset *d) {
    size_t hyperedges = (size_t)d->hyperedges;
    add_array(hash, "hyperedges", &d->hyperedges, sizeof d->hyperedges);
    add_array(hash, "role", d->pin_role, (size_t)d->edges);
    add_array(hash, "hyperedge weight", d->hyperedge_weight,
              hyperedges * sizeof *d->hyperedge_weight);
    add_array(hash, "node weight", d->node_weight, (size_t)d->nodes * sizeof *d->node_weight);
}

// Nothing where there are none, so that datasets without names keep their hash.
static void add_names(Hash *hash, const char *what, const NodeIds *names) {
    size_t count = (size_t)names->count;
    if (count == 0)
        return;
    add_array(hash, what, names->number, count * sizeof *names->number);
    add_array(hash, what, names->offset, (count + 1) * sizeof *names->offset);
    add_array(hash, what, names->bytes, names->offset != NULL ? (size_t)names->offset[count] : 0);
}

void dataset_hash(const Dataset *d, char text[33]) {
    size_t n = (size_t)d->nodes, edges = (size_t)d->edges;
    int64_t sizes[] = {d->nodes, d->edges, d->features, d->classes, d->multilabel};
    Hash *hash = hash_new();
    add_array(hash, "sizes", sizes, sizeof sizes);
    add_array(hash, "offset", d->offset, (n + 1) * sizeof *d->offset);
    add_array(hash, "target", d->target, edges * sizeof *d->target);
    add_array(hash, "weight", d->weight, edges * sizeof *d->weight);
    add_array(hash, "x", d->x, n * (size_t)d->features * sizeof *d->x);
    if (d->sparse.offset != NULL) { // else datasets keep their hash
        size_t entries = (size_t)csr_entries(&d->sparse);
        add_array(hash, "x offset", d->sparse.offset, (n + 1) * sizeof *d->sparse.offset);
        add_array(hash, "x column", d->sparse.column, entries * sizeof *d->sparse.column);
        add_array(hash, "x value", d->sparse.weight, entries * sizeof *d->sparse.weight);
    }
    add_array(hash, "label", d->label, n * sizeof *d->label);
    add_array(hash, "labels", d->labels, n * (size_t)d->classes);
    if (d->numeric) // else datasets keep their hash
        add_array(hash, "numbers", d->numbers, n * (size_t)d->classes * sizeof *d->numbers);
    add_array(hash, "split", d->split, n);
    if (d->hyperedges > 0)
        add_hypergraph(hash, d);
    add_names(hash, "id", &d->ids);
    add_names(hash, "class", &d->names);
    hash_end(hash, text);
}

static void add_text(Hash *hash, const char *what, const char *value) {
    add_array(hash, what, value, strlen(value));
}

// Adds the contents of a file if the config names it.
static bool add_file(Hash *hash, const char *what, const Config *config, const char *path,
                     Error *err) {
    char text[33] = "";
    if (path[0] != '\0' && !hash_file(DATASET_PATH(config, path), text, err))
        return false;
    add_text(hash, what, text);
    return true;
}

static bool add_dataset(Hash *hash, const Config *config, Error *err) {
    const char *path = DATASET_PATH(config, config->data.path);
    if (!file_exists(path) && !parts_are(path))
        return error_set(err, EXIT_NO_INPUT, "%s: there is no such file or folder (data.path)",
                         path);
    const Format *format = format_find(config->data.format, path, err);
    if (format == NULL)
        return false;
    add_text(hash, "format", format->name);
    CLEARED(parts_clear) Parts parts = {0};
    if (format->files == NULL && parts_find(&parts, path)) {
        for (int i = 0; i < parts.count; i++)
            if (!file_is_folder(parts.path[i]) &&
                !add_file(hash, "part", config, parts.path[i], err))
                return false;
        return true;
    }
    if (format->files == NULL)
        return add_file(hash, "data", config, path, err);
    FormatFile file[FORMAT_FILES];
    int count = format->files(path, file);
    for (int i = 0; i < count; i++)
        if (!add_file(hash, file[i].what, config, file[i].path, err))
            return false;
    return true;
}

static bool add_splits(Hash *hash, const Config *config, Error *err) {
    if (!config_splits_are_drawn(config))
        return add_file(hash, "splits", config, config->data.splits, err);
    add_text(hash, "drawn", config->data.splits);
    add_array(hash, "split seed", &config->data.split_seed, sizeof config->data.split_seed);
    return true;
}

static bool add_weights(Hash *hash, const Config *config, Error *err) {
    if (config_names_file(config->data.weights))
        return add_file(hash, "weights", config, config->data.weights, err);
    if (config->data.weights[0] != '\0')
        add_text(hash, "weights", config->data.weights);
    return true;
}

// What text files are said to hold; nothing where nothing is said.
static void add_words(Hash *hash, const Config *config) {
    for (int i = 0; i < config->data.columns.count; i++)
        add_text(hash, "column", config->data.columns.word[i]);
    if (config->data.ids[0] != '\0' && strcmp(config->data.ids, "auto") != 0)
        add_text(hash, "ids", config->data.ids);
    if (config->data.hyperedges[0] != '\0' && strcmp(config->data.hyperedges, "auto") != 0)
        add_text(hash, "hyperedges", config->data.hyperedges);
    if (config->data.features_as[0] != '\0' && strcmp(config->data.features_as, "dense") != 0)
        add_text(hash, "features as", config->data.features_as);
    if (config->data.labels_are[0] != '\0' && strcmp(config->data.labels_are, "auto") != 0)
        add_text(hash, "labels are", config->data.labels_are);
}

static bool add_source(Hash *hash, const Config *config, Error *err) {
    char version[32];
    snprintf(version, sizeof version, "%d", SOURCE_VERSION);
    add_text(hash, "version", version);
    if (!add_dataset(hash, config, err) ||
        !add_file(hash, "features", config, config->data.features, err) ||
        !add_file(hash, "labels", config, config->data.labels, err) ||
        !add_splits(hash, config, err) || !add_weights(hash, config, err) ||
        (config->data.nodes[0] != '\0' &&
         !add_file(hash, "nodes", config, config->data.nodes, err)))
        return false;
    if (config->data.split_row != 0)
        add_array(hash, "split row", &config->data.split_row, sizeof config->data.split_row);
    for (int which = 0; which < 3; which++) {
        const char *key = split_key(config, which);
        if (!config_names_file(key))
            add_text(hash, "split", key);
        else if (!add_file(hash, "split file", config, key, err))
            return false;
    }
    add_words(hash, config);
    if (stream_is_lenient(config))
        add_text(hash, "strict", "0");
    add_text(hash, "undirected", config->data.undirected ? "1" : "0");
    if (config->data.fitted[0] != '\0' &&
        !add_file(hash, "fitted", config, config->data.fitted, err))
        return false;
    for (int i = 0; i < config->data.transforms.count; i++)
        add_text(hash, "step", config->data.transforms.word[i]);
    return true;
}

bool dataset_source_hash(const Config *config, char text[33], Error *err) {
    Hash *hash = hash_new();
    bool ok = add_source(hash, config, err);
    hash_end(hash, text);
    return ok;
}
