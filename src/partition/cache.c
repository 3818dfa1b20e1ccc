// The cache folder (data.cache) and its entries:
//
//   source-<hash of the files and steps>.json   -> the hash of the prepared dataset
//   fitted-<the same hash>.safetensors          what its steps took from the data, if any does
//   dataset-<hash>/                             the prepared dataset, as a dataset directory
//   parts-<key>/                                shards and manifest (manifest.c);
//                                               key = hash(dataset, method, seed, parts, ...)
//   <one of these>.fringe-tmp-...               being written or removed (file_temporary)
//
// Names are made from contents, so a renamed file is found and a changed one is not. Every entry is
// written under a unique temporary name and renamed into place. So a crash leaves no partial entry,
// and if two runs make the same entry at once, the second uses that of the first. A damaged entry
// is removed and made again, with a warning.
#include "entry.h"

enum { FITTED_MOST = 1 << 30 }; // bytes

// ---- entries

bool cache_install(const char *temporary, const char *folder, bool (*is_whole)(const char *folder),
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
        file_discard(folder, &(Error){0});
    }
    file_remove(temporary, &ignored);
    return error_set(err, EXIT_CANNOT_WRITE, "%s", first.text);
}

char *cache_entry_path(char out[PATH_BYTES], const char *cache, const char *kind, const char *hash,
                       const char *ending) {
    char name[96];
    snprintf(name, sizeof name, "%s-%s%s", kind, hash, ending);
    return path_join(out, PATH_BYTES, cache, name);
}

// ---- the prepared dataset

static bool is_hash(const char *text) {
    return strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

// The file of what the steps take from this source; false if they take nothing.
static bool fitted_path(const Prepared *prepared, char out[PATH_BYTES]) {
    const Config *config = prepared->config;
    cache_entry_path(out, prepared->cache, "fitted", prepared->source, ".safetensors");
    return config->data.fitted[0] == '\0' && dataset_steps_fit(&config->data.transforms);
}

// Caches of earlier versions lack it: then the source is read again.
static bool is_fitted(const Prepared *prepared) {
    char path[PATH_BYTES];
    CLEARED(tensors_close) Tensors map = {0};
    if (!fitted_path(prepared, path))
        return true;
    if (!tensors_open(&map, path, &(Error){0}))
        return false;
    cache_touch(path);
    return true;
}

static bool read_source_entry(Prepared *prepared) {
    const char *path = ENTRY_PATH(prepared->cache, "source", prepared->source, ".json");
    if (!file_exists(path) || !is_fitted(prepared))
        return false;
    CLEARED(json_drop) Json *document = json_read(path, &(Error){0});
    const char *hash = json_get_text(document, "dataset_hash");
    bool ok = is_hash(hash);
    if (ok) {
        Warnings said = {0};
        memcpy(prepared->hash, hash, sizeof prepared->hash);
        snprintf(said.text, sizeof said.text, "%s", json_get_text(document, "warnings"));
        warnings_add_all(prepared->warnings, &said);
        cache_touch(path);
    } else {
        warnings_add(prepared->warnings, "%s was damaged and is made again", path);
    }
    return ok;
}

static bool write_source_entry(const Prepared *prepared, Error *err) {
    const char *path = ENTRY_PATH(prepared->cache, "source", prepared->source, ".json");
    JsonWriter out;
    json_writer_begin(&out, true);
    JSON_PUT(&out, PAIR("name", prepared->dataset.name), PAIR("dataset_hash", prepared->hash));
    if (prepared->dataset.warnings.text[0] != 0) // other sources may have the same contents
        json_put_string(&out, "warnings", prepared->dataset.warnings.text);
    return json_writer_store(&out, path, err);
}

// True unless the entry is known to be damaged: other errors must not discard it.
static bool dataset_is_whole(const char *folder) {
    CLEARED(dataset_clear) Dataset dataset = {0};
    Error trouble = {0};
    return dataset_open(&dataset, folder, &trouble) || !error_is_damage(&trouble);
}

// Opens the prepared dataset in the cache if it exists and matches its name.
static bool open_prepared(Prepared *prepared) {
    char hash[33];
    Error error = {0};
    const char *folder = ENTRY_PATH(prepared->cache, "dataset", prepared->hash, "");
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
        file_discard(folder, &(Error){0});
    }
    return prepared->loaded;
}

static bool save_prepared(const Prepared *prepared, Error *err) {
    char temporary[PATH_BYTES];
    const char *folder = ENTRY_PATH(prepared->cache, "dataset", prepared->hash, "");
    if (file_exists(folder) && dataset_is_whole(folder))
        return true;
    if (!file_temporary(temporary, sizeof temporary, folder, err))
        return false;
    if (!dataset_write(&prepared->dataset, temporary, err)) {
        file_remove(temporary, &(Error){0});
        return false;
    }
    return cache_install(temporary, folder, dataset_is_whole, err);
}

static bool loading_fits(const Config *config, Error *err) {
    MemoryForecast forecast = {0};
    dataset_forecast(&forecast, config);
    return forecast_fits(&forecast, config->run.memory_limit,
                         "load it on a larger machine and keep data.cache, or let `fringe "
                         "partition` cut it there",
                         err);
}

// The arrays then lie in the file and not in memory.
static bool map_saved(Prepared *prepared, Error *err) {
    Warnings warnings = prepared->dataset.warnings;
    char name[DATASET_NAME];
    memcpy(name, prepared->dataset.name, sizeof name);
    const char *folder = ENTRY_PATH(prepared->cache, "dataset", prepared->hash, "");
    cache_release(prepared->hold);
    prepared->hold = cache_hold(folder);
    dataset_clear(&prepared->dataset);
    prepared->loaded = dataset_map(&prepared->dataset, folder, err);
    prepared->dataset.warnings = warnings;
    memcpy(prepared->dataset.name, name, sizeof name);
    return prepared->loaded;
}

static bool save_fitted(const Prepared *prepared, Error *err) {
    char path[PATH_BYTES];
    return !fitted_path(prepared, path) ||
           fitted_write(&prepared->dataset, &prepared->config->data.transforms, path, err);
}

// Loads the original and caches the result. A dataset directory without steps is its own prepared
// form and is not copied.
static bool load_original(Prepared *prepared, Error *err) {
    const Config *config = prepared->config;
    progress_begin("read", "%s", SHOWN(prepared->name));
    if (!loading_fits(config, err) || !dataset_load(&prepared->dataset, config, err))
        return false;
    prepared->loaded = true;
    warnings_add_all(prepared->warnings, &prepared->dataset.warnings);
    dataset_hash(&prepared->dataset, prepared->hash);
    bool as_it_is = prepared->dataset.mapped && config->data.transforms.count == 0;
    return save_fitted(prepared, err) &&
           (as_it_is || (save_prepared(prepared, err) && map_saved(prepared, err))) &&
           write_source_entry(prepared, err);
}

void prepared_clear(Prepared *prepared) {
    if (prepared->loaded)
        dataset_clear(&prepared->dataset);
    cache_release(prepared->hold);
    prepared->hold = NULL;
    prepared->loaded = false;
}

bool prepared_init(Prepared *prepared, const Config *config, Warnings *warnings, Error *err) {
    *prepared = (Prepared){.config = config, .cache = config->data.cache, .warnings = warnings};
    progress_begin("read", "the source files");
    if (!config_make_cache(config, err) || !dataset_source_hash(config, prepared->source, err) ||
        !dataset_name(config, prepared->name, err))
        return false;
    if (read_source_entry(prepared) || load_original(prepared, err))
        return true;
    prepared_clear(prepared);
    return false;
}

int64_t prepared_nodes(const Config *config, int64_t most) {
    Warnings unused = {0};
    Prepared known = {.config = config, .cache = config->data.cache, .warnings = &unused};
    int64_t nodes = dataset_nodes(config->data.path);
    if (nodes >= 0 && config->data.transforms.count == 0)
        return nodes;
    if (file_size(config->data.path) > most || file_is_folder(config->data.path) ||
        !dataset_source_hash(config, known.source, &(Error){0}) || !read_source_entry(&known))
        return -1;
    return dataset_nodes(ENTRY_PATH(known.cache, "dataset", known.hash, ""));
}

bool prepared_need(Prepared *prepared, Error *err) {
    if (!prepared->loaded && !open_prepared(prepared) && !load_original(prepared, err))
        return false;
    memcpy(prepared->dataset.name, prepared->name, sizeof prepared->name);
    return true;
}

static bool copy_file(const char *from, const char *to, Error *err) {
    size_t bytes;
    FREED char *data = file_read(from, FITTED_MOST, &bytes, err);
    return data != NULL && file_replace(to, data, bytes, err);
}

bool partition_fitted(const Config *config, const char *path, Error *err) {
    CLEARED(prepared_clear) Prepared prepared = {0};
    char from[PATH_BYTES];
    if (!dataset_steps_fit(&config->data.transforms))
        return true;
    if (config->data.fitted[0] != '\0')
        return copy_file(config->data.fitted, path, err);
    return prepared_init(&prepared, config, &(Warnings){0}, err) && fitted_path(&prepared, from) &&
           copy_file(from, path, err);
}
