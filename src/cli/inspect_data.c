// fringe inspect of data: datasets, partitions, the cache; and of configs.

#include "inspect.h"

// ---- the kinds "cache" and "cache entry"

// Datasets and parts in the cache are of the kinds "dataset" and "partition".
static bool is_entry(const char *path) {
    CacheKind kind;
    return cache_entry_kind(path, &kind);
}

static bool is_cache(const char *path) { return inspect_any(path, is_entry); }

static bool show_cache(const Inspection *at) {
    CLEARED(cache_list_clear) CacheList list = {0};
    if (!cache_list(&list, at->path, at->err))
        return false;
    if (at->json != NULL)
        cache_put_list(at->json, &list, at->path);
    else
        cache_print_list(&list, at->path);
    return true;
}

const Inspected inspected_cache = {"cache", NULL, is_cache, show_cache};

static bool show_entry(const Inspection *at) {
    CacheEntry entry;
    CacheKind kind = CACHE_TEMPORARY;
    cache_entry_kind(at->path, &kind);
    cache_entry_read(&entry, at->path, kind);
    if (at->json == NULL) {
        cache_print_entry(&entry);
        return true;
    }
    JSON_PUT_ARRAY(at->json, "entries")
        cache_put_entry(at->json, &entry);
    return true;
}

const Inspected inspected_entry = {"cache-entry", NULL, is_entry, show_entry};

// ---- the kind "partition"

static bool is_ranks(const char *path) {
    return inspect_is_named(path, "ranks.jsonl") &&
           inspect_holds(FOLDER_OF(path), "partition.json");
}

static bool show_partition(const Inspection *at) {
    return at->json != NULL ? partition_put_report(at->json, at->folder, NULL, at->err)
                            : partition_report(&terminal_tables, at->folder, NULL, at->err);
}

const Inspected inspected_partition = {"partition", "partition.json", is_ranks, show_partition};

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
        return error_data(err, "%s:%ld: expected the number of a part", path, file->nodes);
    size[part]++;
    file->largest = size[part] > file->largest ? size[part] : file->largest;
    file->parts = part >= file->parts ? part + 1 : file->parts;
    return true;
}

static bool read_part_file(PartFile *file, const char *path, Error *err) {
    int64_t bytes;
    CLEARED(malloc_drop) char *line = NULL;
    size_t room = 0;
    CLEARED(stream_drop) FILE *stream = file_stream(path, &bytes, err);
    *file = (PartFile){0};
    if (stream == NULL)
        return false;
    FREED int64_t *size = ALLOC(int64_t, PARTS_MOST, "sizes of parts");
    while (err->code == 0 && getline(&line, &room, stream) > 0)
        count_part(file, size, line, path, err);
    return err->code == 0;
}

static bool show_part_file(const Inspection *at) {
    PartFile file;
    if (!read_part_file(&file, at->path, at->err))
        return false;
    if (at->json == NULL) {
        printf("part file  %ld nodes in %ld parts; the largest has %ld\n", file.nodes, file.parts,
               file.largest);
        return true;
    }
    JSON_PUT(at->json, PAIR("nodes", file.nodes), PAIR("parts", file.parts),
             PAIR("largest", file.largest));
    return true;
}

const Inspected inspected_part_file = {"part-file", NULL, is_part_file, show_part_file};

// ---- the kinds "dataset" and "graph"

static bool show_dataset(const Inspection *at) {
    return at->json != NULL ? dataset_put_inspected(at->json, at->path, at->err)
                            : dataset_inspect(&terminal_tables, at->path, at->err);
}

const Inspected inspected_dataset = {"dataset", "dataset.json", NULL, show_dataset};
const Inspected inspected_graph = {"graph", NULL, dataset_is_foreign, show_dataset};

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
    CLEARED(json_drop) Json *document = json_read(path, &(Error){0});
    return document == NULL || (json_type(document) == JSON_OBJECT && has_section(document));
}

static void print_config(const Config *config) {
    printf("config     mode %s; %ld epochs, seed %ld\n", config->mode, config->train.epochs,
           config->run.seed);
    printf("data       %s\n", SHOWN(config->data.path));
    printf("model      %s, %ld layers; learning rate %g\n", config->model.layer,
           config->model.layers, config->train.lr);
    printf("cut        %s\n", SHOWN(config->partition.method));
    printf("run        %s\n", SHOWN(config->run.dir));
    printf("           fringe config show prints all keys\n");
}

static bool show_config(const Inspection *at) {
    Config config;
    CLEARED(json_drop) Json *document = json_read(at->path, at->err);
    if (document == NULL || !config_load(&config, at->path, NULL, 0, at->err))
        return false;
    if (at->json != NULL)
        config_put_all(at->json, "config", &config);
    else
        print_config(&config);
    return true;
}

const Inspected inspected_config = {"config", NULL, is_config, show_config};
