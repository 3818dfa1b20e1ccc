// The cache folder (data.cache) and its entries:
//
//   source-<hash of the files and steps>.json   -> the hash of the prepared dataset
//   dataset-<hash>/                             the prepared dataset, as a dataset directory
//   parts-<key>/                                shards and manifest (manifest.c);
//                                               key = hash(dataset, method, seed, parts, ...)
//   <one of these>.fringe-tmp-...               being written or removed (file_temporary)
//
// Names are made from contents, so a renamed file is found and a changed one is not. Every entry is
// written under a unique temporary name and renamed into place. So a crash leaves no partial entry,
// and if two runs make the same entry at once, the second uses that of the first. A damaged entry
// is removed and made again, with a warning.
#include "internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- entries

// Renames a folder, then removes it, so that no process sees it partly removed. Open mappings of
// its files stay valid.
void partition_discard(const char *folder) {
    char aside[1024];
    Error ignored = {0};
    if (file_exists(folder) && file_temporary(aside, sizeof aside, folder, &ignored) &&
        file_rename(folder, aside, &ignored))
        file_remove(aside, &ignored);
}

// Renames a finished temporary folder into place. If another run was faster and its entry is whole,
// that one is used.
static bool install(const char *temporary, const char *folder, bool (*is_whole)(const char *folder),
                    Error *err) {
    Error first = {0}, ignored = {0};
    for (int attempt = 0; attempt < 3; attempt++) {
        first = (Error){0};
        if (file_rename(temporary, folder, &first))
            return true;
        if (file_exists(folder) && is_whole(folder)) {
            file_remove(temporary, &ignored);
            return true;
        }
        partition_discard(folder);
    }
    file_remove(temporary, &ignored);
    return error_set(err, EXIT_CANNOT_WRITE, "%s", first.text);
}

static void entry_path(char *out, size_t size, const char *cache, const char *kind,
                       const char *hash, const char *ending) {
    char name[96];
    snprintf(name, sizeof name, "%s-%s%s", kind, hash, ending);
    path_join(out, size, cache, name);
}

// ---- the prepared dataset

// What is known about config.data so far.
typedef struct Prepared {
    const Config *config;
    const char *cache;
    char source[33], hash[33];
    char name[DATASET_NAME]; // of this source; another source may have the same contents
    Dataset dataset;
    bool loaded;
    CacheHold *hold; // of the prepared dataset
    Warnings *warnings;
} Prepared;

static bool is_hash(const char *text) {
    return strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

static bool read_source_entry(Prepared *prepared) {
    char path[1024];
    Error ignored = {0};
    entry_path(path, sizeof path, prepared->cache, "source", prepared->source, ".json");
    if (!file_exists(path))
        return false;
    Json *document = json_read(path, &ignored);
    const Json *hash = document != NULL && json_type(document) == JSON_OBJECT
                           ? json_get(document, "dataset_hash")
                           : NULL;
    bool ok = hash != NULL && json_type(hash) == JSON_STRING && is_hash(json_string(hash));
    if (ok) {
        memcpy(prepared->hash, json_string(hash), sizeof prepared->hash);
        cache_touch(path);
    } else {
        warnings_add(prepared->warnings, "%s was damaged and is made again", path);
    }
    json_free(document);
    return ok;
}

static bool write_source_entry(const Prepared *prepared, Error *err) {
    char path[1024];
    entry_path(path, sizeof path, prepared->cache, "source", prepared->source, ".json");
    JsonWriter out;
    json_writer_init(&out, true);
    json_begin_object(&out, NULL);
    json_put_string(&out, "name", prepared->dataset.name);
    json_put_string(&out, "dataset_hash", prepared->hash);
    json_end_object(&out);
    bool ok = file_replace(path, out.text, out.bytes, err);
    json_writer_clear(&out);
    return ok;
}

// True unless the entry is known to be damaged: other errors must not discard it.
static bool dataset_is_whole(const char *folder) {
    Dataset dataset;
    Error trouble = {0};
    if (!dataset_open(&dataset, folder, &trouble))
        return !error_is_damage(&trouble);
    dataset_clear(&dataset);
    return true;
}

// Opens the prepared dataset in the cache if it exists and matches its name.
static bool open_prepared(Prepared *prepared) {
    char folder[1024], hash[33];
    Error error = {0};
    entry_path(folder, sizeof folder, prepared->cache, "dataset", prepared->hash, "");
    if (!file_exists(folder))
        return false;
    prepared->hold = cache_hold(folder);
    cache_touch(folder);
    if (dataset_open(&prepared->dataset, folder, &error)) {
        dataset_hash(&prepared->dataset, hash);
        prepared->loaded = strcmp(hash, prepared->hash) == 0;
        if (!prepared->loaded)
            dataset_clear(&prepared->dataset);
    }
    if (!prepared->loaded && (error.code == 0 || error_is_damage(&error))) {
        warnings_add(prepared->warnings, "%s was damaged and is made again", folder);
        partition_discard(folder);
    }
    return prepared->loaded;
}

static bool save_prepared(const Prepared *prepared, Error *err) {
    char temporary[1024], folder[1024];
    entry_path(folder, sizeof folder, prepared->cache, "dataset", prepared->hash, "");
    if (file_exists(folder) && dataset_is_whole(folder))
        return true;
    if (!file_temporary(temporary, sizeof temporary, folder, err))
        return false;
    if (!dataset_write(&prepared->dataset, temporary, err)) {
        Error ignored = {0};
        file_remove(temporary, &ignored);
        return false;
    }
    return install(temporary, folder, dataset_is_whole, err);
}

static bool loading_fits(const Config *config, Error *err) {
    MemoryPlan plan = {0};
    dataset_plan(&plan, config);
    return memory_plan_fits(&plan, config->run.memory_limit,
                            "load it on a larger machine and keep data.cache, or let `fringe "
                            "partition` cut it there",
                            err);
}

// Loads the original and caches the result. A dataset directory without steps is its own prepared
// form and is not copied.
static bool load_original(Prepared *prepared, Error *err) {
    const Config *config = prepared->config;
    stage_begin("read", "%s", SHOWN(prepared->name));
    if (!loading_fits(config, err) || !dataset_load(&prepared->dataset, config, err))
        return false;
    prepared->loaded = true;
    warnings_add_all(prepared->warnings, &prepared->dataset.warnings);
    dataset_hash(&prepared->dataset, prepared->hash);
    bool as_it_is = prepared->dataset.mapped && config->data.transforms.count == 0;
    return (as_it_is || save_prepared(prepared, err)) && write_source_entry(prepared, err);
}

static void prepared_clear(Prepared *prepared) {
    if (prepared->loaded)
        dataset_clear(&prepared->dataset);
    cache_release(prepared->hold);
    prepared->hold = NULL;
    prepared->loaded = false;
}

// Fills prepared->hash, from the cache if the source is known there.
static bool prepared_init(Prepared *prepared, const Config *config, Warnings *warnings,
                          Error *err) {
    *prepared = (Prepared){.config = config, .cache = config->data.cache, .warnings = warnings};
    stage_begin("read", "the source files");
    if (!config_make_cache(config, err) || !dataset_source_hash(config, prepared->source, err) ||
        !dataset_name(config, prepared->name, err))
        return false;
    if (read_source_entry(prepared) || load_original(prepared, err))
        return true;
    prepared_clear(prepared);
    return false;
}

// ---- the parts

// The contents of the part file, and of the one of hyperedges if it exists.
static bool hash_part_files(char *out, const Config *config, const char *argument, int parts,
                            Error *err) {
    char path[1024], beside[1024];
    part_file_path(config, argument, parts, path, sizeof path);
    part_file_beside(beside, sizeof beside, path, parts);
    return hash_file(path, out, err) &&
           (!file_exists(beside) || hash_file(beside, out + strlen(out), err));
}

// Hashes everything that determines the bytes of the shards.
static bool parts_key(char key[33], const Config *config, const char *hash_of_dataset, int parts,
                      Error *err) {
    const char *argument;
    char content[256] = "", text[768];
    const Method *method = method_find(config->partition.method, &argument, err);
    if (method == NULL)
        return false;
    if (method->reads_file) {
        if (!hash_part_files(content, config, argument, parts, err))
            return false;
    } else {
        snprintf(content, sizeof content, "%s", argument);
    }
    if (method->depends_on != NULL)
        method->depends_on(content, sizeof content, config);
    bool train = false, edges = false;
    for (int i = 0; i < config->partition.balance.count; i++) {
        train = train || strcmp(config->partition.balance.word[i], "train") == 0;
        edges = edges || strcmp(config->partition.balance.word[i], "edges") == 0;
    }
    const char *takes = family_argument(method->name); // ":PATH" is not hashed, but its content
    int name = takes != NULL ? (int)(takes - method->name) - 1 : (int)strlen(method->name);
    int length =
        snprintf(text, sizeof text, "parts %d|%s|%.*s|%s|%lld|%d|%d%d|%d", PARTS_VERSION,
                 hash_of_dataset, name, method->name, content, (long long)config->partition.seed,
                 parts, train, edges, config->partition.reorder);
    Hash *hash = hash_new();
    hash_add(hash, text, (size_t)length);
    hash_text(hash, key);
    hash_free(hash);
    return true;
}

static bool parts_folder(char *out, size_t size, const Prepared *prepared, int parts, Error *err) {
    char key[33];
    if (!parts_key(key, prepared->config, prepared->hash, parts, err))
        return false;
    entry_path(out, size, prepared->cache, "parts", key, "");
    return true;
}

// True if the manifest and its files are whole and every shard has its size. Each rank checks the
// contents of its own shard.
static bool parts_are_whole(const char *folder) {
    Manifest manifest;
    Error trouble = {0};
    char path[1024];
    if (!manifest_read_all(&manifest, folder, &trouble))
        return trouble.code != 0 && !error_is_damage(&trouble);
    bool ok = true;
    for (int p = 0; p < manifest.parts && ok; p++) {
        shard_path(path, sizeof path, folder, p, manifest.parts);
        ok = file_size(path) == manifest.part[p].bytes;
    }
    manifest_clear(&manifest);
    return ok;
}

// If the parts were made for another source with the same contents, adds a part file with this
// source's name. Training does not need it, so a read-only cache is no error.
static void name_part_file(const Prepared *prepared, const Manifest *manifest, int set,
                           const char *folder) {
    char there[PART_FILE_NAME], wanted[PART_FILE_NAME], path[2048];
    part_file_name(there, manifest->dataset_name, set, manifest->parts);
    part_file_name(wanted, prepared->name, set, manifest->parts);
    path_join(path, sizeof path, folder, wanted);
    if (!file_exists(path) && symlink(there, path) != 0 && errno != EEXIST)
        warnings_add(prepared->warnings, "%s: cannot be made: %s; the part file is %s", path,
                     strerror(errno), there);
}

// Repeats the warnings that were given when the entry was made.
static void use_parts(const Prepared *prepared, const char *folder) {
    Manifest manifest;
    Error ignored = {0};
    if (!manifest_read(&manifest, folder, &ignored))
        return;
    warnings_add_all(prepared->warnings, &manifest.warnings);
    cache_touch(folder);
    for (int set = 0; set < (manifest.hyperedges > 0 ? SHARD_SETS : 1); set++)
        name_part_file(prepared, &manifest, set, folder);
    manifest_clear(&manifest);
}

static bool make_parts(const Prepared *prepared, int parts, const char *temporary, Error *err) {
    const Dataset *dataset = &prepared->dataset;
    const Config *config = prepared->config;
    Graph graph;
    if (!graph_init(&graph, dataset, config->run.memory_limit, err))
        return false;
    int32_t *part = ALLOC(int32_t, graph.vertices, "part of each row");
    Manifest manifest;
    manifest_init(&manifest, parts, graph.symmetric);
    snprintf(manifest.method, sizeof manifest.method, "%s", config->partition.method);
    manifest.warnings = dataset->warnings;
    memcpy(manifest.dataset_hash, prepared->hash, sizeof manifest.dataset_hash);
    manifest.seed = config->partition.seed;
    manifest.reorder = config->partition.reorder;
    Warnings of_cut = {0};
    bool ok = cut_graph(part, dataset, &graph, parts, config, &of_cut, err);
    warnings_add_all(prepared->warnings, &of_cut);
    warnings_add_all(&manifest.warnings, &of_cut);
    ok = ok && file_make_folder(temporary, err) &&
         shards_write(&manifest, dataset, &graph, part, temporary, prepared->warnings, err);
    manifest_clear(&manifest);
    memory_free(part);
    graph_clear(&graph);
    return ok;
}

static bool build_parts(Prepared *prepared, int parts, const char *folder, Error *err) {
    if (!prepared->loaded && !open_prepared(prepared) && !load_original(prepared, err))
        return false;
    char temporary[1024];
    memcpy(prepared->dataset.name, prepared->name, sizeof prepared->name);
    file_sweep(prepared->cache);
    if (!file_temporary(temporary, sizeof temporary, folder, err))
        return false;
    if (!make_parts(prepared, parts, temporary, err)) {
        Error ignored = {0};
        file_remove(temporary, &ignored);
        return false;
    }
    return install(temporary, folder, parts_are_whole, err);
}

static void begin_parts_stage(const Config *config, int parts) {
    if (parts > 1)
        stage_begin("cut", "%s, %d parts", SHOWN(config->partition.method), parts);
    else
        stage_begin("load", "the whole dataset");
}

bool partition_build(const Config *config, int parts, char *folder, size_t size, Warnings *warnings,
                     Error *err) {
    Prepared prepared;
    *warnings = (Warnings){0};
    if (!prepared_init(&prepared, config, warnings, err))
        return false;
    bool ok = parts_folder(folder, size, &prepared, parts, err);
    if (ok && parts_are_whole(folder)) {
        begin_parts_stage(config, parts);
        use_parts(&prepared, folder);
        stage_end("found in the cache");
    } else if (ok) {
        if (file_exists(folder))
            warnings_add(warnings, "%s was damaged and is made again", folder);
        ok = build_parts(&prepared, parts, folder, err);
    }
    prepared_clear(&prepared);
    return ok;
}

bool partition_folder(const Config *config, int parts, char *out, size_t size, Error *err) {
    Prepared prepared;
    Warnings unused = {0};
    if (!prepared_init(&prepared, config, &unused, err))
        return false;
    bool ok = parts_folder(out, size, &prepared, parts, err);
    prepared_clear(&prepared);
    return ok;
}
