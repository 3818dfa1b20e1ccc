// fringe inspect of data: datasets, partitions, the cache; and of configs.

#include "inspect.h"

#include <stdlib.h>
#include <string.h>

// ---- the kinds "cache" and "cache entry"

static bool is_entry_path(const char *path, void *context) {
    CacheKind kind;
    bool *found = context;
    *found = cache_entry_kind(path, &kind);
    return !*found;
}

static bool is_cache(const char *path) {
    bool found = false;
    if (file_is_folder(path))
        inspect_each(path, is_entry_path, &found);
    return found;
}

static bool print_cache(const char *path, Error *err) {
    CacheList list;
    if (!cache_list(&list, path, err))
        return false;
    cache_print_list(&list, path);
    cache_list_clear(&list);
    return true;
}

static bool put_cache(JsonWriter *w, const char *path, Error *err) {
    CacheList list;
    if (!cache_list(&list, path, err))
        return false;
    cache_put_list(w, &list, path);
    cache_list_clear(&list);
    return true;
}

const Inspected inspected_cache = {"cache", is_cache, print_cache, put_cache};

// Datasets and parts in the cache are of the kinds "dataset" and "partition".
static bool is_entry(const char *path) {
    CacheKind kind;
    return cache_entry_kind(path, &kind);
}

static bool print_entry(const char *path, Error *err) {
    CacheEntry entry;
    CacheKind kind = CACHE_TEMPORARY;
    (void)err;
    cache_entry_kind(path, &kind);
    cache_entry_read(&entry, path, kind);
    cache_print_entry(&entry);
    return true;
}

static bool put_entry(JsonWriter *w, const char *path, Error *err) {
    CacheEntry entry;
    CacheKind kind = CACHE_TEMPORARY;
    (void)err;
    cache_entry_kind(path, &kind);
    cache_entry_read(&entry, path, kind);
    json_begin_array(w, "entries");
    cache_put_entry(w, &entry);
    json_end_array(w);
    return true;
}

const Inspected inspected_entry = {"cache-entry", is_entry, print_entry, put_entry};

// ---- the kind "partition"

static bool is_partition(const char *path) {
    char folder[PATH_BYTES];
    return inspect_holds(path, "partition.json") || inspect_is_named(path, "partition.json") ||
           (inspect_is_named(path, "ranks.jsonl") &&
            inspect_holds(inspect_folder(folder, path), "partition.json"));
}

static bool print_partition(const char *path, Error *err) {
    char folder[PATH_BYTES];
    return partition_report(&terminal_tables, inspect_folder(folder, path), NULL, err);
}

static bool put_partition(JsonWriter *w, const char *path, Error *err) {
    char folder[PATH_BYTES];
    return partition_put_report(w, inspect_folder(folder, path), NULL, err);
}

const Inspected inspected_partition = {"partition", is_partition, print_partition, put_partition};

// ---- the kind "part file": <name>.part.K, one part per line

typedef struct PartFile {
    int64_t nodes, parts, largest;
} PartFile;
enum { PARTS_MOST = 1 << 20 };

static bool is_part_file(const char *path) {
    const char *mark = strstr(path_name(path), ".part.");
    return mark != NULL && !file_is_folder(path) && mark[6] != 0 &&
           strspn(mark + 6, "0123456789") == strlen(mark + 6);
}

static bool count_part(PartFile *file, int64_t *size, const char *line, const char *path,
                       Error *err) {
    char *end;
    long part = strtol(line, &end, 10);
    file->nodes++;
    if (end == line || (*end != '\n' && *end != 0) || part < 0 || part >= PARTS_MOST)
        return error_set(err, EXIT_DATA, "%s:%lld: expected the number of a part", path,
                         (long long)file->nodes);
    size[part]++;
    file->largest = size[part] > file->largest ? size[part] : file->largest;
    file->parts = part >= file->parts ? part + 1 : file->parts;
    return true;
}

static bool read_part_file(PartFile *file, const char *path, Error *err) {
    int64_t bytes;
    char *line = NULL;
    size_t room = 0;
    FILE *stream = file_stream(path, &bytes, err);
    *file = (PartFile){0};
    if (stream == NULL)
        return false;
    int64_t *size = ALLOC(int64_t, PARTS_MOST, "sizes of parts");
    while (err->code == 0 && getline(&line, &room, stream) > 0)
        count_part(file, size, line, path, err);
    free(line);
    memory_free(size);
    fclose(stream);
    return err->code == 0;
}

static bool print_part_file(const char *path, Error *err) {
    PartFile file;
    if (!read_part_file(&file, path, err))
        return false;
    printf("part file  %lld nodes in %lld parts; the largest has %lld\n", (long long)file.nodes,
           (long long)file.parts, (long long)file.largest);
    return true;
}

static bool put_part_file(JsonWriter *w, const char *path, Error *err) {
    PartFile file;
    if (!read_part_file(&file, path, err))
        return false;
    json_put_int(w, "nodes", file.nodes);
    json_put_int(w, "parts", file.parts);
    json_put_int(w, "largest", file.largest);
    return true;
}

const Inspected inspected_part_file = {"part-file", is_part_file, print_part_file, put_part_file};

// ---- the kinds "dataset" and "graph"

static bool is_dataset(const char *path) {
    return inspect_is_named(path, "dataset.json") || inspect_holds(path, "dataset.json");
}

static bool is_graph(const char *path) { return dataset_is_foreign(path); }

static bool print_dataset(const char *path, Error *err) {
    return dataset_inspect(&terminal_tables, path, err);
}

const Inspected inspected_dataset = {"dataset", is_dataset, print_dataset, dataset_put_inspected};
const Inspected inspected_graph = {"graph", is_graph, print_dataset, dataset_put_inspected};

// ---- the kind "config"

static bool has_section(const Json *document) {
    for (int i = 0; config_key_at(i) != NULL; i++) {
        char section[CONFIG_WORD];
        const char *path = config_key_at(i)->path;
        snprintf(section, sizeof section, "%.*s", (int)strcspn(path, "."), path);
        if (json_get(document, section) != NULL)
            return true;
    }
    return false;
}

// An object with a section of a config; what is no JSON is taken for one, to say what is wrong.
static bool is_config(const char *path) {
    if (!inspect_ends(path, ".json"))
        return false;
    Json *document = json_read(path, &(Error){0});
    bool is = document == NULL || (json_type(document) == JSON_OBJECT && has_section(document));
    json_free(document);
    return is;
}

static bool load(Config *config, const char *path, Error *err) {
    Json *document = json_read(path, err);
    json_free(document);
    return document != NULL && config_load(config, path, NULL, 0, err);
}

static bool print_config(const char *path, Error *err) {
    Config config;
    if (!load(&config, path, err))
        return false;
    printf("config     mode %s; %lld epochs, seed %lld\n", config.mode,
           (long long)config.train.epochs, (long long)config.run.seed);
    printf("data       %s\n", SHOWN(config.data.path));
    printf("model      %s, %lld layers; learning rate %g\n", config.model.layer,
           (long long)config.model.layers, config.train.lr);
    printf("cut        %s\n", SHOWN(config.partition.method));
    printf("run        %s\n", SHOWN(config.run.dir));
    printf("           fringe config show prints all keys\n");
    return true;
}

static bool put_config(JsonWriter *w, const char *path, Error *err) {
    Config config;
    if (!load(&config, path, err))
        return false;
    char *text = config_to_json(&config);
    Json *document = json_parse(text, strlen(text), path, err);
    if (document != NULL)
        json_put_value(w, "config", document);
    json_free(document);
    memory_free(text);
    return document != NULL;
}

const Inspected inspected_config = {"config", is_config, print_config, put_config};
