// Makes an entry of parts in the cache: rank 0 finds it or cuts the dataset, then all ranks make
// the shards (shards.c), then rank 0 renames the folder into place.
#include "entry.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- the entry

// The contents of the part file, and of the one of hyperedges if it exists.
static bool hash_part_files(char *out, const Config *config, const char *argument, int parts,
                            Error *err) {
    char path[PATH_BYTES], beside[PATH_BYTES];
    part_file_path(config, argument, parts, path, sizeof path);
    part_file_of(beside, sizeof beside, path, parts);
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
        if (!partition_check_file(config, parts, err) ||
            (parts > 1 && !hash_part_files(content, config, argument, parts, err)))
            return false;
    } else {
        snprintf(content, sizeof content, "%s", argument);
    }
    if (method->depends_on != NULL)
        method->depends_on(content, sizeof content, config);
    const ConfigWords *balance = &config->partition.balance;
    const char *takes = family_argument(method->name); // ":PATH" is not hashed, but its content
    int name = takes != NULL ? (int)(takes - method->name) - 1 : (int)strlen(method->name);
    int length = snprintf(text, sizeof text, "parts %d|%s|%.*s|%s|%ld|%d|%d%d|%d", PARTS_VERSION,
                          hash_of_dataset, name, method->name, content, config->partition.seed,
                          parts, config_has_word(balance, "train"),
                          config_has_word(balance, "edges"), config->partition.reorder);
    hash_bytes_text(text, (size_t)length, key);
    return true;
}

static bool parts_folder(char *out, size_t size, const Prepared *prepared, int parts, Error *err) {
    char key[33];
    if (!parts_key(key, prepared->config, prepared->hash, parts, err))
        return false;
    snprintf(out, size, "%s", ENTRY_PATH(prepared->cache, "parts", key, ""));
    return true;
}

// True if the manifest and its files are whole and every shard has its size. Each rank checks the
// contents of its own shard.
static bool parts_are_whole(const char *folder) {
    CLEARED(manifest_clear) Manifest manifest = {0};
    Error trouble = {0};
    if (!manifest_read_all(&manifest, folder, &trouble))
        return trouble.code != 0 && !error_is_damage(&trouble);
    bool ok = true;
    for (int p = 0; p < manifest.parts && ok; p++)
        ok = file_size(SHARD_PATH(folder, p, manifest.parts)) == manifest.part[p].bytes;
    return ok;
}

// If the parts were made for another source with the same contents, adds a part file with this
// source's name. Training does not need it, so a read-only cache is no error.
static void name_part_file(const Prepared *prepared, const Manifest *manifest, int set,
                           const char *folder) {
    char there[PART_FILE_NAME], wanted[PART_FILE_NAME];
    part_file_name(there, manifest->dataset_name, set, manifest->parts);
    part_file_name(wanted, prepared->name, set, manifest->parts);
    const char *path = PATH_IN(folder, wanted);
    if (!file_exists(path) && symlink(there, path) != 0 && errno != EEXIST)
        warnings_add(prepared->warnings, "%s: cannot be made: %s; the part file is %s", path,
                     strerror(errno), there);
}

// Repeats the warnings that were given when the entry was made.
static void use_parts(const Prepared *prepared, const char *folder) {
    CLEARED(manifest_clear) Manifest manifest = {0};
    if (!manifest_read(&manifest, folder, &(Error){0}))
        return;
    warnings_add_all(prepared->warnings, &manifest.warnings);
    cache_touch(folder);
    for (int set = 0; set < (manifest.hyperedges > 0 ? SHARD_SETS : 1); set++)
        name_part_file(prepared, &manifest, set, folder);
}

// ---- the cut, on rank 0

enum { MUCH = 64 << 20 }; // bytes of METIS that are worth a word

// Which file the arrays of the dataset are in, as another process may see it.
typedef struct FileName {
    int64_t inode, bytes, seconds, nanoseconds;
} FileName;

// What rank 0 tells the others.
typedef struct Announced {
    bool found; // in the cache
    bool symmetric, reorder;
    int64_t nodes, vertices;
    char folder[PATH_BYTES], temporary[PATH_BYTES]; // of the entry, and where it is made
    char dataset[PATH_BYTES]; // directory; "": its arrays are not those that were cut
    FileName arrays;
    char name[DATASET_NAME], hash[33]; // of the dataset
} Announced;

// One build, as the steps of a rank see it.
typedef struct Build {
    const Config *config;
    const Comm *comm;
    int parts;
    Announced told;
    Prepared prepared; // of rank 0
    Dataset mapped;    // of the other ranks
    bool sees;         // this rank sees the same dataset and folder as rank 0
    Graph graph;
    Manifest manifest;
    int32_t *part; // [vertices]
    uint8_t *hops; // [vertices]
    Warnings *warnings;
    Error *err;
} Build;

static bool is_first(const Build *b) { return b->comm->rank == 0; }
static const Dataset *dataset_of(const Build *b) {
    return is_first(b) ? &b->prepared.dataset : &b->mapped;
}

static void begin_parts(const Config *config, int parts) {
    if (parts > 1)
        progress_begin("cut", "%s, %d parts", SHOWN(config->partition.method), parts);
    else
        progress_begin("load", "the whole dataset");
}

// Says what METIS took if that was much, and begins what follows.
static void end_cut(size_t before) {
    char text[64];
    size_t most = partition_metis_memory();
    if (most > before && most >= MUCH) {
        snprintf(text, sizeof text, "METIS took %s", SHOWN_MEMORY((double)most));
        progress_end(text);
    }
    progress_begin("order", "the rows of each part");
}

static FileName file_name_of(const Dataset *dataset) {
    struct stat about = {0};
    if (stat(dataset->map.path, &about) != 0)
        return (FileName){0};
    return (FileName){(int64_t)about.st_ino, about.st_size, about.st_mtim.tv_sec,
                      about.st_mtim.tv_nsec};
}

static void manifest_begin(Manifest *manifest, const Build *b) {
    manifest_init(manifest, b->parts, b->told.symmetric);
    snprintf(manifest->method, sizeof manifest->method, "%s", b->config->partition.method);
    manifest->seed = b->config->partition.seed;
    manifest->reorder = b->told.reorder;
    snprintf(manifest->dataset_name, sizeof manifest->dataset_name, "%s", b->told.name);
    memcpy(manifest->dataset_hash, b->told.hash, sizeof manifest->dataset_hash);
}

static bool cut(Build *b) {
    const Dataset *dataset = &b->prepared.dataset;
    const Config *config = b->config;
    if (!graph_init(&b->graph, dataset, config->run.memory_limit, b->err))
        return false;
    b->told.symmetric = b->graph.symmetric;
    b->told.nodes = b->graph.nodes;
    b->told.vertices = b->graph.vertices;
    manifest_begin(&b->manifest, b);
    b->manifest.warnings = (Warnings){0}; // those of the data belong to their source
    b->part = ALLOC(int32_t, b->graph.vertices, "part of each row");
    Warnings of_cut = {0};
    size_t before = partition_metis_memory();
    bool ok = cut_graph(b->part, dataset, &b->graph, b->parts, config, &of_cut, b->err) &&
              (dataset->hyperedges == 0 ||
               hypercut_count(&b->manifest.hypercut, b->manifest.part, dataset, b->part, b->parts,
                              config->run.memory_limit, b->err));
    warnings_add_all(b->warnings, &of_cut);
    warnings_add_all(&b->manifest.warnings, &of_cut);
    if (ok)
        end_cut(before);
    if (ok)
        b->hops = order_hops(&b->graph, dataset->split);
    return ok;
}

// Sets the directory that the other ranks map. Not if what was read there differs from what is cut:
// arrays come from files beside it, or rows had to be sorted.
static void tell_dataset(Build *b) {
    const Dataset *dataset = &b->prepared.dataset;
    char folder[sizeof b->told.dataset], hash[33];
    CLEARED(dataset_clear) Dataset there = {0};
    path_folder(folder, sizeof folder, dataset->map.path);
    if (b->comm->size == 1 || !dataset_map(&there, folder, &(Error){0}))
        return;
    dataset_hash(&there, hash);
    if (strcmp(hash, b->prepared.hash) != 0)
        return;
    memcpy(b->told.dataset, folder, sizeof folder);
    b->told.arrays = file_name_of(dataset);
}

static bool prepare_and_cut(Build *b) {
    Announced *told = &b->told;
    if (!prepared_need(&b->prepared, b->err))
        return false;
    told->reorder = b->config->partition.reorder;
    tell_dataset(b);
    memcpy(told->name, b->prepared.name, sizeof told->name);
    memcpy(told->hash, b->prepared.hash, sizeof told->hash);
    file_sweep(b->config->data.cache);
    return file_temporary(told->temporary, sizeof told->temporary, told->folder, b->err) &&
           cut(b) && file_make_folder(told->temporary, b->err);
}

static void find_or_cut(void *context) {
    Build *b = context;
    Announced *told = &b->told;
    if (!is_first(b) || !prepared_init(&b->prepared, b->config, b->warnings, b->err) ||
        !parts_folder(told->folder, sizeof told->folder, &b->prepared, b->parts, b->err))
        return;
    told->found = parts_are_whole(told->folder);
    if (told->found) {
        begin_parts(b->config, b->parts);
        use_parts(&b->prepared, told->folder);
        progress_end("found in the cache");
        return;
    }
    if (file_exists(told->folder))
        warnings_add(b->warnings, "%s was damaged and is made again", told->folder);
    prepare_and_cut(b);
}

// ---- the shards, on all ranks

// A rank that sees another dataset, or none, makes no shards.
static void join(void *context) {
    Build *b = context;
    b->sees = is_first(b);
    if (is_first(b) || b->told.dataset[0] == '\0' || !file_is_folder(b->told.temporary) ||
        !dataset_map(&b->mapped, b->told.dataset, &(Error){0}))
        return;
    FileName arrays = file_name_of(&b->mapped);
    memcpy(b->mapped.name, b->told.name, sizeof b->mapped.name);
    b->sees = memcmp(&arrays, &b->told.arrays, sizeof arrays) == 0;
}

// Every rank gets what it needs to make its shards. Collective.
static bool share_cut(Build *b) {
    const Comm *comm = b->comm;
    int64_t blind;
    comm_on_helper(comm, join, b);
    blind = !b->sees;
    comm_sum_int64(comm, &blind, 1);
    if (!is_first(b)) {
        manifest_begin(&b->manifest, b);
        b->part = ALLOC(int32_t, b->told.vertices, "part of each row");
        b->hops = ALLOC(uint8_t, b->told.vertices, "order of rows");
    }
    comm_broadcast(comm, b->part, (size_t)b->told.vertices * sizeof b->part[0], 0);
    comm_broadcast(comm, b->hops, (size_t)b->told.vertices, 0);
    comm_broadcast(comm, b->manifest.part, (size_t)b->parts * sizeof b->manifest.part[0], 0);
    return blind == 0;
}

// One of several ranks keeps only the rows of its own parts.
static void keep_own_rows(void *context) {
    Build *b = context;
    RowSelection wanted = {b->part, parts_of_rank(b->comm, b->comm->rank, b->parts, true)};
    graph_clear(&b->graph);
    graph_init_rows(&b->graph, dataset_of(b), b->told.symmetric, &wanted,
                    b->config->run.memory_limit);
}

// Collective.
static bool make_shards(Build *b) {
    bool shared = share_cut(b);
    if (shared && b->comm->size > 1)
        comm_on_helper(b->comm, keep_own_rows, b);
    if (!shared && !is_first(b)) // it only takes part in what all do
        b->graph = (Graph){
            .nodes = b->told.nodes, .vertices = b->told.vertices, .symmetric = b->told.symmetric};
    Sharding sharding = {.comm = b->comm,
                         .manifest = &b->manifest,
                         .dataset = dataset_of(b),
                         .graph = &b->graph,
                         .part = b->part,
                         .hops = b->hops,
                         .folder = b->told.temporary,
                         .shared = shared,
                         .warnings = b->warnings};
    return shards_write(&sharding, b->err);
}

// ---- all of it

// Renames the finished folder into place, or removes what is there of it.
static void take_place(void *context) {
    Build *b = context;
    if (!is_first(b) || b->told.temporary[0] == '\0')
        return;
    if (b->err->code == 0)
        cache_install(b->told.temporary, b->told.folder, parts_are_whole, b->err);
    else
        file_remove(b->told.temporary, &(Error){0});
}

static void build_clear(Build *b) {
    MEMORY_FREE(b->hops, b->part);
    manifest_clear(&b->manifest);
    graph_clear(&b->graph);
    if (b->mapped.mapped)
        dataset_clear(&b->mapped);
    if (is_first(b))
        prepared_clear(&b->prepared);
}

bool parts_build(const Config *config, int parts, const Comm *comm, char *folder, size_t size,
                 Warnings *warnings, Error *err) {
    Build b = {.config = config, .comm = comm, .parts = parts, .warnings = warnings, .err = err};
    *warnings = (Warnings){0};
    comm_on_helper(comm, find_or_cut, &b);
    comm_await(comm, 0);
    bool ok = comm_agree(comm, err);
    if (ok)
        comm_broadcast(comm, &b.told, sizeof b.told, 0);
    ok = ok && (b.told.found || make_shards(&b));
    comm_on_helper(comm, take_place, &b);
    ok = comm_agree(comm, err);
    if (ok)
        snprintf(folder, size, "%s", b.told.folder);
    build_clear(&b);
    return ok;
}

bool partition_build(const Config *config, int parts, char *folder, size_t size, Warnings *warnings,
                     Error *err) {
    Comm alone;
    comm_self(&alone);
    return parts_build(config, parts, &alone, folder, size, warnings, err);
}

bool partition_folder(const Config *config, int parts, char *out, size_t size, Error *err) {
    CLEARED(prepared_clear) Prepared prepared = {0};
    return prepared_init(&prepared, config, &(Warnings){0}, err) &&
           parts_folder(out, size, &prepared, parts, err);
}
