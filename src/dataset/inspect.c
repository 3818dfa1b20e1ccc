// Prints a dataset for `fringe inspect`. For our own directory it reads only the manifest and the
// header of the arrays; other formats are loaded.

#include "internal.h"

#include <stdio.h>
#include <string.h>

static void print_sizes(const char *format, const char *name, int64_t nodes, int64_t edges,
                        int64_t features, int64_t classes, bool multilabel) {
    printf("dataset     %s (%s)\n", SHOWN(name), format);
    printf("nodes       %lld\n", (long long)nodes);
    printf("edges       %lld stored\n", (long long)edges);
    printf("features    %lld\n", (long long)features);
    printf("classes     %lld%s\n", (long long)classes, multilabel ? ", multi-label" : "");
}

static void print_statistics(const Statistics *s) {
    printf("splits      %lld training, %lld validation, %lld test\n",
           (long long)s->split[SPLIT_TRAIN], (long long)s->split[SPLIT_VAL],
           (long long)s->split[SPLIT_TEST]);
    printf("degrees     %lld to %lld, median %lld\n", (long long)s->degree_min,
           (long long)s->degree_max, (long long)s->degree_median);
    printf("isolated    %lld\n", (long long)s->isolated);
    printf("self-loops  %lld\n", (long long)s->loops);
    printf("duplicates  %lld\n", (long long)s->duplicates);
    printf("unlabelled  %lld\n", (long long)s->unlabelled);
    printf("symmetric   %s\n", s->symmetric ? "yes" : "no");
    printf("weights     %s\n", s->weighted ? "yes" : "no");
}

// What is shown of a dataset, from the manifest of our directory or from the loaded arrays.
typedef struct Facts {
    char format[CONFIG_WORD], name[DATASET_NAME];
    int64_t nodes, edges, features, classes;
    bool multilabel, counted; // counted: the statistics are known
    Statistics statistics;
    char warnings[WARNINGS_TEXT];
    Tensors map; // of our directory
} Facts;

static bool read_loaded(Facts *facts, const char *path, const Format *format, Error *err) {
    Config config = {0};
    Dataset dataset;
    snprintf(config.data.path, sizeof config.data.path, "%s", path);
    if (!dataset_load(&dataset, &config, err))
        return false;
    *facts = (Facts){.nodes = dataset.nodes,
                     .edges = dataset.edges,
                     .features = dataset.features,
                     .classes = dataset.classes,
                     .multilabel = dataset.multilabel,
                     .counted = true};
    snprintf(facts->format, sizeof facts->format, "%s", format->name);
    snprintf(facts->name, sizeof facts->name, "%s", dataset.name);
    dataset_statistics(&dataset, &facts->statistics);
    warnings_join(facts->warnings, &dataset.warnings);
    dataset_clear(&dataset);
    return true;
}

// --- our own directory

static int64_t count_of(const Json *object, const char *key) {
    const Json *value = object == NULL ? NULL : json_get(object, key);
    int64_t count = 0;
    return value != NULL && json_is_int64(value, &count) ? count : 0;
}

static bool flag_of(const Json *object, const char *key) {
    const Json *value = object == NULL ? NULL : json_get(object, key);
    return value != NULL && json_type(value) == JSON_BOOL && json_bool(value);
}

static Statistics statistics_of(const Json *object) {
    return (Statistics){.degree_min = count_of(object, "degree_min"),
                        .degree_median = count_of(object, "degree_median"),
                        .degree_max = count_of(object, "degree_max"),
                        .isolated = count_of(object, "isolated"),
                        .loops = count_of(object, "loops"),
                        .duplicates = count_of(object, "duplicates"),
                        .split = {[SPLIT_TRAIN] = count_of(object, "train"),
                                  [SPLIT_VAL] = count_of(object, "val"),
                                  [SPLIT_TEST] = count_of(object, "test")},
                        .unlabelled = count_of(object, "unlabelled"),
                        .symmetric = flag_of(object, "symmetric"),
                        .weighted = flag_of(object, "weighted")};
}

static void print_arrays(const Tensors *map) {
    for (int i = 0; i < map->count; i++) {
        const Tensor *tensor = &map->tensor[i];
        printf("array       %s %s [", SHOWN(tensor->name), tensor_type_names[tensor->type]);
        for (int d = 0; d < tensor->rank; d++)
            printf("%s%lld", d == 0 ? "" : ", ", (long long)tensor->shape[d]);
        printf("]\n");
    }
}

static void read_manifest(Facts *facts, const Json *manifest) {
    const Json *name = json_get(manifest, "name"), *figures = json_get(manifest, "statistics");
    bool named = name != NULL && json_type(name) == JSON_STRING;
    *facts = (Facts){.format = "fringe",
                     .nodes = count_of(manifest, "nodes"),
                     .edges = count_of(manifest, "edges"),
                     .features = count_of(manifest, "features"),
                     .classes = count_of(manifest, "classes"),
                     .multilabel = flag_of(manifest, "multilabel"),
                     .counted = figures != NULL && json_type(figures) == JSON_OBJECT};
    snprintf(facts->name, sizeof facts->name, "%s", named ? json_string(name) : "?");
    if (facts->counted)
        facts->statistics = statistics_of(figures);
}

static bool read_directory(Facts *facts, const char *path, Error *err) {
    char file[DATASET_PATH];
    if (!directory_agrees(path, err))
        return false;
    directory_file(path, "dataset.json", file);
    Json *manifest = json_read(file, err);
    if (manifest == NULL)
        return false;
    read_manifest(facts, manifest);
    json_free(manifest);
    directory_file(path, "dataset.safetensors", file);
    return tensors_open(&facts->map, file, err);
}

// --- both

static bool read_facts(Facts *facts, const char *path, Error *err) {
    *facts = (Facts){0};
    if (!file_exists(path))
        return error_set(err, EXIT_NO_INPUT, "%s: there is no such file or folder", path);
    const Format *format = format_find("auto", path, err);
    if (format == NULL)
        return false;
    return format == &format_fringe ? read_directory(facts, path, err)
                                    : read_loaded(facts, path, format, err);
}

bool dataset_inspect(const char *path, Error *err) {
    Facts facts;
    if (!read_facts(&facts, path, err))
        return false;
    print_sizes(facts.format, facts.name, facts.nodes, facts.edges, facts.features, facts.classes,
                facts.multilabel);
    if (facts.counted)
        print_statistics(&facts.statistics);
    else
        printf("statistics  not in the manifest (written by another program)\n");
    if (facts.warnings[0] != '\0')
        printf("warnings    %s\n", SHOWN(facts.warnings));
    print_arrays(&facts.map);
    if (facts.map.mapping != NULL)
        tensors_close(&facts.map);
    return true;
}

static void put_statistics(JsonWriter *w, const Statistics *s) {
    json_put_int(w, "train", s->split[SPLIT_TRAIN]);
    json_put_int(w, "validation", s->split[SPLIT_VAL]);
    json_put_int(w, "test", s->split[SPLIT_TEST]);
    json_put_int(w, "degree_min", s->degree_min);
    json_put_int(w, "degree_median", s->degree_median);
    json_put_int(w, "degree_max", s->degree_max);
    json_put_int(w, "isolated", s->isolated);
    json_put_int(w, "loops", s->loops);
    json_put_int(w, "duplicates", s->duplicates);
    json_put_int(w, "unlabelled", s->unlabelled);
    json_put_bool(w, "symmetric", s->symmetric);
    json_put_bool(w, "weighted", s->weighted);
}

bool dataset_put_inspected(JsonWriter *w, const char *path, Error *err) {
    Facts facts;
    if (!read_facts(&facts, path, err))
        return false;
    json_put_string(w, "format", facts.format);
    json_put_string(w, "name", facts.name);
    json_put_int(w, "nodes", facts.nodes);
    json_put_int(w, "edges", facts.edges);
    json_put_int(w, "features", facts.features);
    json_put_int(w, "classes", facts.classes);
    json_put_bool(w, "multilabel", facts.multilabel);
    if (facts.counted)
        put_statistics(w, &facts.statistics);
    json_put_string(w, "warnings", facts.warnings);
    if (facts.map.mapping != NULL)
        tensors_close(&facts.map);
    return true;
}
