// Prints a dataset for `fringe inspect`. For our own directory it reads only the manifest and the
// header of the arrays; other formats are loaded.

#include "internal.h"

// How many are not 0, where that is few and d is loaded.
static void print_features(const Sink *out, const Dataset *d) {
    bool loaded = d->x != NULL || d->sparse.offset != NULL;
    double all = (double)d->nodes * (double)d->features;
    double share = loaded ? (double)features_entries(d) / all : 1;
    sink_print(out, "features    %ld", d->features);
    if (share < 0.1)
        sink_print(out, ", %.2g %% of them not 0 (data.features_as)", 100 * share);
    sink_print(out, "\n");
}

// d: name and sizes.
static void print_sizes(const Sink *out, const char *format, const Dataset *d) {
    sink_print(out, "dataset     %s (%s)\n", SHOWN(d->name), format);
    if (d->origin[0] != '\0')
        sink_print(out, "origin      %s\n", SHOWN(d->origin));
    sink_print(out, "nodes       %ld\n", d->nodes);
    if (d->hyperedges > 0)
        sink_print(out, "hyperedges  %ld\npins        %ld\n", d->hyperedges, d->edges);
    else
        sink_print(out, "edges       %ld stored\n", d->edges);
    print_features(out, d);
    sink_print(out, "%s%ld%s\n", d->numeric ? "labels      " : "classes     ", d->classes,
               d->numeric      ? d->classes == 1 ? " number" : " numbers"
               : d->multilabel ? ", multi-label"
                               : "");
}

// --- the manifest

static int64_t count_of(const Json *figures, const char *key) {
    int64_t count;
    return json_get_int(figures, key, &count) ? count : 0;
}

static const char *answer_of(const Json *figures, const char *key) {
    return json_get_bool(figures, key) ? "yes" : "no";
}

static void print_graph(const Sink *out, const Json *s) {
    sink_print(out, "isolated    %ld\n", count_of(s, "isolated"));
    sink_print(out, "self-loops  %ld\n", count_of(s, "loops"));
    sink_print(out, "duplicates  %ld\n", count_of(s, "duplicates"));
    sink_print(out, "unlabelled  %ld\n", count_of(s, "unlabelled"));
    sink_print(out, "symmetric   %s\n", answer_of(s, "symmetric"));
    sink_print(out, "weights     %s\n", answer_of(s, "weighted"));
}

static void print_hypergraph(const Sink *out, const Json *s) {
    sink_print(out, "sizes       %ld to %ld, median %ld; %ld without pins\n",
               count_of(s, "size_min"), count_of(s, "size_max"), count_of(s, "size_median"),
               count_of(s, "without_pins"));
    sink_print(out, "uncovered   %ld in no hyperedge\n", count_of(s, "uncovered"));
    sink_print(out, "unlabelled  %ld\n", count_of(s, "unlabelled"));
    sink_print(out, "directed    %s\n", answer_of(s, "directed"));
    sink_print(out, "weights     %s%s\n", answer_of(s, "weighted"),
               strcmp(answer_of(s, "node_weights"), "yes") == 0 ? "; nodes have weights, too" : "");
}

static void print_statistics(const Sink *out, const Json *s, bool hypergraph) {
    sink_print(out, "splits      %ld training, %ld validation, %ld test\n", count_of(s, "train"),
               count_of(s, "val"), count_of(s, "test"));
    sink_print(out, "degrees     %ld to %ld, median %ld\n", count_of(s, "degree_min"),
               count_of(s, "degree_max"), count_of(s, "degree_median"));
    (hypergraph ? print_hypergraph : print_graph)(out, s);
}

// --- formats that are loaded

static bool load(Dataset *dataset, const char *path, Error *err) {
    Config config = {0};
    snprintf(config.data.path, sizeof config.data.path, "%s", path);
    return dataset_load(dataset, &config, err);
}

static bool inspect_loaded(const Sink *out, const char *path, Error *err) {
    CLEARED(dataset_clear) Dataset dataset = {0};
    CLEARED(json_writer_clear) JsonWriter facts = {0};
    const Format *format = format_find("auto", path, err);
    if (format == NULL || !load(&dataset, path, err))
        return false;
    json_writer_begin(&facts, false);
    dataset_put_facts(&facts, &dataset);
    json_end_object(&facts);
    CLEARED(json_drop) Json *manifest = json_parse(facts.text, facts.bytes, path, err);
    print_sizes(out, format->name, &dataset);
    print_statistics(out, json_get(manifest, "statistics"), dataset.hyperedges > 0);
    char warnings[WARNINGS_TEXT];
    if (dataset.warnings.text[0] != '\0')
        sink_print(out, "warnings    %s\n", SHOWN(warnings_join(warnings, &dataset.warnings)));
    return true;
}

// --- our own directory

// Features are not counted: that would read all of them.
static void print_manifest(const Sink *out, const Json *manifest, const Dataset *dataset) {
    const Json *figures = json_get_of(manifest, "statistics", JSON_OBJECT);
    Dataset sizes = *dataset;
    sizes.x = NULL;
    sizes.sparse = (Csr){0};
    if (sizes.name[0] == '\0')
        snprintf(sizes.name, sizeof sizes.name, "?");
    print_sizes(out, "fringe", &sizes);
    if (figures != NULL)
        print_statistics(out, figures, sizes.hyperedges > 0);
    else
        sink_print(out, "statistics  not in the manifest (written by another program)\n");
}

static void print_arrays(const Sink *out, const Tensors *map) {
    for (int i = 0; i < map->count; i++) {
        char is[100];
        const Tensor *t = &map->tensor[i];
        sink_print(out, "array       %s %s\n", SHOWN(t->name),
                   tensor_describe(is, sizeof is, t->type, t->rank, t->shape));
    }
}

// The manifest of a directory whose arrays are as it says, which *dataset maps then; json_free it.
// NULL with an error. dataset_clear *dataset either way.
static Json *open_directory(Dataset *dataset, const char *path, Error *err) {
    return dataset_map(dataset, path, err) ? json_read(DIRECTORY_FILE(path, "dataset.json"), err)
                                           : NULL;
}

bool directory_inspect(const Sink *out, const char *path, Error *err) {
    CLEARED(dataset_clear) Dataset dataset = {0};
    CLEARED(json_drop) Json *manifest = open_directory(&dataset, path, err);
    if (manifest == NULL)
        return false;
    print_manifest(out, manifest, &dataset);
    print_arrays(out, &dataset.map);
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
    CLEARED(dataset_clear) Dataset dataset = {0};
    CLEARED(json_drop) Json *manifest = open_directory(&dataset, path, err);
    if (manifest == NULL)
        return false;
    for (const Json *at = json_first(manifest); at != NULL; at = json_next(at))
        json_put_value(writer, json_key(at), at);
    return true;
}

bool dataset_put_inspected(JsonWriter *writer, const char *path, Error *err) {
    CLEARED(dataset_clear) Dataset dataset = {0};
    const Format *format = format_find("auto", path, err);
    if (format == NULL)
        return false;
    if (format->inspect != NULL)
        return put_directory(writer, path, err);
    if (!load(&dataset, path, err))
        return false;
    json_put_string(writer, "format", format->name);
    dataset_put_facts(writer, &dataset);
    return true;
}
