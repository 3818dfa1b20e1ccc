// Prints a dataset for `fringe inspect`. For our own directory it reads only the manifest and the
// header of the arrays; other formats are loaded.

#include "internal.h"

#include <stdio.h>

// How many are not 0, where that is few and d is loaded.
static void print_features(const Sink *out, const Dataset *d) {
    bool loaded = d->x != NULL || d->sparse.offset != NULL;
    double all = (double)d->nodes * (double)d->features;
    double share = loaded ? (double)features_entries(d) / all : 1;
    sink_print(out, "features    %lld", (long long)d->features);
    if (share < 0.1)
        sink_print(out, ", %.2g %% of them not 0 (data.features_as)", 100 * share);
    sink_print(out, "\n");
}

// d: name and sizes.
static void print_sizes(const Sink *out, const char *format, const Dataset *d) {
    sink_print(out, "dataset     %s (%s)\n", SHOWN(d->name), format);
    if (d->origin[0] != '\0')
        sink_print(out, "origin      %s\n", SHOWN(d->origin));
    sink_print(out, "nodes       %lld\n", (long long)d->nodes);
    if (d->hyperedges > 0)
        sink_print(out, "hyperedges  %lld\npins        %lld\n", (long long)d->hyperedges,
                   (long long)d->edges);
    else
        sink_print(out, "edges       %lld stored\n", (long long)d->edges);
    print_features(out, d);
    sink_print(out, "%s%lld%s\n", d->numeric ? "labels      " : "classes     ",
               (long long)d->classes,
               d->numeric      ? d->classes == 1 ? " number" : " numbers"
               : d->multilabel ? ", multi-label"
                               : "");
}

static void print_graph(const Sink *out, const Statistics *s) {
    sink_print(out, "isolated    %lld\n", (long long)s->isolated);
    sink_print(out, "self-loops  %lld\n", (long long)s->loops);
    sink_print(out, "duplicates  %lld\n", (long long)s->duplicates);
    sink_print(out, "unlabelled  %lld\n", (long long)s->unlabelled);
    sink_print(out, "symmetric   %s\n", s->symmetric ? "yes" : "no");
    sink_print(out, "weights     %s\n", s->weighted ? "yes" : "no");
}

static void print_hypergraph(const Sink *out, const Statistics *s) {
    sink_print(out, "sizes       %lld to %lld, median %lld; %lld without pins\n",
               (long long)s->size_min, (long long)s->size_max, (long long)s->size_median,
               (long long)s->pinless);
    sink_print(out, "uncovered   %lld in no hyperedge\n", (long long)s->isolated);
    sink_print(out, "unlabelled  %lld\n", (long long)s->unlabelled);
    sink_print(out, "directed    %s\n", s->symmetric ? "no" : "yes");
    sink_print(out, "weights     %s%s\n", s->weighted ? "yes" : "no",
               s->node_weights ? "; nodes have weights, too" : "");
}

static void print_statistics(const Sink *out, const Statistics *s) {
    sink_print(out, "splits      %lld training, %lld validation, %lld test\n",
               (long long)s->split[SPLIT_TRAIN], (long long)s->split[SPLIT_VAL],
               (long long)s->split[SPLIT_TEST]);
    sink_print(out, "degrees     %lld to %lld, median %lld\n", (long long)s->degree_min,
               (long long)s->degree_max, (long long)s->degree_median);
    (s->hyperedges > 0 ? print_hypergraph : print_graph)(out, s);
}

static bool load(Dataset *dataset, const char *path, Error *err) {
    Config config = {0};
    snprintf(config.data.path, sizeof config.data.path, "%s", path);
    return dataset_load(dataset, &config, err);
}

static bool inspect_loaded(const Sink *out, const char *path, Error *err) {
    Dataset dataset;
    Statistics statistics;
    const Format *format = format_find("auto", path, err);
    if (format == NULL || !load(&dataset, path, err))
        return false;
    dataset_statistics(&dataset, &statistics);
    print_sizes(out, format->name, &dataset);
    print_statistics(out, &statistics);
    char warnings[WARNINGS_TEXT];
    if (dataset.warnings.text[0] != '\0')
        sink_print(out, "warnings    %s\n", SHOWN(warnings_join(warnings, &dataset.warnings)));
    dataset_clear(&dataset);
    return true;
}

// --- our own directory

static int64_t count_of(const Json *object, const char *key) {
    int64_t count;
    return json_get_int(object, key, &count) ? count : 0;
}

static bool flag_of(const Json *object, const char *key) {
    const Json *value = json_get_of(object, key, JSON_BOOL);
    return value != NULL && json_bool(value);
}

static Statistics statistics_of(const Json *object, const Dataset *sizes) {
    bool hypergraph = sizes->hyperedges > 0;
    return (Statistics){.degree_min = count_of(object, "degree_min"),
                        .degree_median = count_of(object, "degree_median"),
                        .degree_max = count_of(object, "degree_max"),
                        .isolated = count_of(object, hypergraph ? "uncovered" : "isolated"),
                        .hyperedges = sizes->hyperedges,
                        .pins = sizes->edges,
                        .size_min = count_of(object, "size_min"),
                        .size_median = count_of(object, "size_median"),
                        .size_max = count_of(object, "size_max"),
                        .pinless = count_of(object, "without_pins"),
                        .loops = count_of(object, "loops"),
                        .duplicates = count_of(object, "duplicates"),
                        .split = {[SPLIT_TRAIN] = count_of(object, "train"),
                                  [SPLIT_VAL] = count_of(object, "val"),
                                  [SPLIT_TEST] = count_of(object, "test")},
                        .unlabelled = count_of(object, "unlabelled"),
                        .symmetric = hypergraph ? !flag_of(object, "directed")
                                                : flag_of(object, "symmetric"),
                        .weighted = flag_of(object, "weighted"),
                        .node_weights = flag_of(object, "node_weights")};
}

// Features are not counted: that would read all of them.
static void print_manifest(const Sink *out, const Json *manifest, const Dataset *dataset) {
    const Json *figures = json_get_of(manifest, "statistics", JSON_OBJECT);
    Dataset sizes = *dataset;
    sizes.x = NULL;
    sizes.sparse = (Csr){0};
    if (sizes.name[0] == '\0')
        snprintf(sizes.name, sizeof sizes.name, "?");
    print_sizes(out, "fringe", &sizes);
    if (figures != NULL) {
        Statistics statistics = statistics_of(figures, &sizes);
        print_statistics(out, &statistics);
    } else {
        sink_print(out, "statistics  not in the manifest (written by another program)\n");
    }
}

static void print_arrays(const Sink *out, const Tensors *map) {
    for (int i = 0; i < map->count; i++) {
        const Tensor *tensor = &map->tensor[i];
        sink_print(out, "array       %s %s [", SHOWN(tensor->name),
                   tensor_type_names[tensor->type]);
        for (int d = 0; d < tensor->rank; d++)
            sink_print(out, "%s%lld", d == 0 ? "" : ", ", (long long)tensor->shape[d]);
        sink_print(out, "]\n");
    }
}

// The manifest of a directory whose arrays are as it says, which *dataset maps then; json_free and
// dataset_clear them. NULL with an error.
static Json *open_directory(Dataset *dataset, const char *path, Error *err) {
    if (!dataset_map(dataset, path, err))
        return NULL;
    Json *manifest = json_read(DIRECTORY_FILE(path, "dataset.json"), err);
    if (manifest == NULL)
        dataset_clear(dataset);
    return manifest;
}

bool directory_inspect(const Sink *out, const char *path, Error *err) {
    Dataset dataset;
    Json *manifest = open_directory(&dataset, path, err);
    if (manifest == NULL)
        return false;
    print_manifest(out, manifest, &dataset);
    print_arrays(out, &dataset.map);
    json_free(manifest);
    dataset_clear(&dataset);
    return true;
}

bool dataset_inspect(const Sink *out, const char *path, Error *err) {
    if (file_is_denied(path, err))
        return false;
    if (!file_exists(path))
        return error_set(err, EXIT_NO_INPUT, "%s: there is no such file or folder", path);
    const Format *format = format_find("auto", path, err);
    if (format == NULL)
        return false;
    return format->inspect != NULL ? format->inspect(out, path, err)
                                   : inspect_loaded(out, path, err);
}

// --- JSON

static bool put_directory(JsonWriter *writer, const char *path, Error *err) {
    Dataset dataset;
    Json *manifest = open_directory(&dataset, path, err);
    if (manifest == NULL)
        return false;
    for (const Json *at = json_first(manifest); at != NULL; at = json_next(at))
        json_put_value(writer, json_key(at), at);
    json_free(manifest);
    dataset_clear(&dataset);
    return true;
}

bool dataset_put_inspected(JsonWriter *writer, const char *path, Error *err) {
    Dataset dataset;
    const Format *format = format_find("auto", path, err);
    if (format == NULL)
        return false;
    if (format->inspect != NULL)
        return put_directory(writer, path, err);
    if (!load(&dataset, path, err))
        return false;
    json_put_string(writer, "format", format->name);
    dataset_put_facts(writer, &dataset);
    dataset_clear(&dataset);
    return true;
}
