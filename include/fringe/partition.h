// partition: Dataset -> parts -> shards, cached on disk.
//
// Partitioners are a table (src/partition/methods.c): metis, metis:star, random, blocks, fennel,
// fennel:N, file:PATH. A row says what its method reads, and only that is built. Only metis.c calls
// METIS and checks its input and output (TRAPS 11). A shard holds all data of one rank in one
// safetensors file; a rank maps only its own. The cache key is made of content hashes, not of
// names.
//
// The order of a part's own rows is fixed here (invariant 1, halo.h): by hops from the training
// nodes; at each distance forward-central rows first, then forward-marginal ones; inside those,
// cluster by cluster for locality.
//
// A hypergraph has two sets of rows, its nodes and its hyperedges, and both are cut. In the
// partition room it is a graph of n + m vertices (its star graph), nodes first, whose edges are its
// pins; a cut then is one array part[n + m]. Methods cut the nodes; a method that leaves hyperedges
// uncut gets them by the majority rule (src/partition/homes.c).
#pragma once

#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/dataset.h"

enum { SHARD_HOPS = 16 }; // told apart; a model of more aggregates takes farther rows as one

// Rows of one kind. A graph has one set, its nodes; a hypergraph has its hyperedges, too.
typedef struct RowSet {
    int64_t total;            // rows of the whole graph
    int64_t own;              // N: rows of this part
    int64_t central;          // own rows that read no other part in the first relation to this set
    const int64_t *reach;     // [SHARD_HOPS + 1] own rows [0, reach[h]) are at most h hops along
                              // edges from a training node
    const int64_t *gid;       // [own] original ids
    const double *degree_in;  // [own] sum of weights of in-edges in the whole graph, without added
                              // self-loops. Nodes of a hypergraph: d_v, the sum of w_h over the
                              // hyperedges with v as target; hyperedges: a_h, their source pins
    const double *degree_out; // [own] likewise of out-edges; of the hyperedges with v as source; of
                              // target pins
    const float *weight;      // [own] of hyperedges: w_h; NULL: all 1
} RowSet;

// One direction of edges: row i of the set `to` reads columns, which are rows of the set `from`.
// Column c < set[from].own is own row c. Column set[from].own + h is remote row h of the
// `remote_...` arrays. Remote rows are grouped by owner in ring order: round 0 belongs to part-1,
// round 1 to part-2, ... (mod parts); inside a round they ascend by their row at the owner
// (invariant 4). Inside a row columns ascend.
typedef struct ShardRelation {
    int to, from;  // sets
    int transpose; // the relation with reversed edges; this one if it is symmetric
    int64_t edges;
    const int64_t *offset; // [set[to].own + 1]
    const int32_t *column; // [edges]
    const float *weight;   // [edges] or NULL
    int64_t remote;        // H
    int64_t *remote_round; // [parts] offsets: rounds 0..parts-2, so `parts` entries; owned, made
                           // from remote_owner when the shard is opened
    const int32_t *remote_owner; // [H] part that owns it
    const int32_t *remote_row;   // [H] row at its owner
    const int64_t *remote_gid;   // [H]
} ShardRelation;

enum { NODES = 0, HYPEREDGES = 1, SHARD_SETS = 2 }; // NODES have features, labels and splits
// A graph has the relation in which nodes read their sources, and its transpose unless that is
// equal. A hypergraph has two stages of them: hyperedges read nodes, then nodes read hyperedges. If
// every pin is source and target, these are each other's transpose; else each has its own.
//
//   graph                   IN_EDGES: nodes <- nodes         1: its transpose, if not symmetric
//   hypergraph              IN_EDGES: hyperedges <- nodes    1: nodes <- hyperedges
//   directed hypergraph     IN_EDGES: hyperedges <- sources  1: its transpose
//                           2: targets <- hyperedges         3: its transpose
enum { IN_EDGES = 0, SHARD_RELATIONS = 4 };

typedef struct CacheHold CacheHold; // keeps an entry of the cache from being pruned

typedef struct Shard {
    int part, parts;
    int64_t train_nodes, val_nodes, test_nodes; // of the whole graph
    int64_t edges;                              // of the whole graph; pins
    int sets, relations;
    RowSet set[SHARD_SETS];
    ShardRelation relation[SHARD_RELATIONS];
    int64_t features, classes;       // classes: of labels that are numbers how many a node has
    bool multilabel, numeric;        // as of a Dataset
    const float *x;                  // [own nodes, features], rows as the file has them
    bool is_sparse;                  // features are the next two in place of x (data.features_as)
    Csr sparse;                      // [own nodes] rows; arrays lie in the file, NULL in an outline
    int64_t feature_entries;         // of these rows
    const int32_t *label;            // [own nodes] or NULL
    const uint8_t *labels;           // [own nodes, classes] or NULL
    const float *numbers;            // [own nodes, classes] or NULL
    const uint8_t *split;            // [own nodes]
    int64_t majority;                // most frequent training class (baseline); -1 if there is none
    char dataset_name[DATASET_NAME]; // after partition_load that of the requested source
    char dataset_hash[33], partition_hash[33];
    Tensors map;
    CacheHold *hold; // of the folder that it was opened in; owned
} Shard;

// The transposed relation, for the backward direction.
static inline const ShardRelation *shard_transposed(const Shard *shard, int relation) {
    return &shard->relation[shard->relation[relation].transpose];
}
static inline bool shard_is_hypergraph(const Shard *shard) { return shard->sets > 1; }
static inline bool shard_is_symmetric(const Shard *shard) {
    return shard->relations == shard->sets;
}
static inline LabelKind shard_labels(const Shard *shard) {
    return shard->numeric ? LABEL_NUMBERS : shard->multilabel ? LABEL_CLASSES : LABEL_CLASS;
}
// The relation of an aggregate in forward direction: of a graph always IN_EDGES; of a hypergraph
// stage 0 leads to hyperedges and stage 1 to nodes.
static inline int shard_relation_of(const Shard *shard, int stage) {
    return stage * (shard->relations / 2);
}

// The size of the whole dataset in words: "600 nodes, 5986 edges (symmetric)".
enum { SHARD_SIZE_TEXT = 128 };
const char *shard_size_text(char out[SHARD_SIZE_TEXT], const Shard *shard);

extern const Family method_family;
// Checks before anything is loaded (early.c). Local. The member that partition.method names accepts
// its argument; the file of file:PATH for `parts` parts exists (0, which is not known yet, and 1,
// which reads none: for any number of parts); data.cache can be written or already holds parts.
bool partition_method_fits(const char *word, Error *err);
bool partition_check_file(const Config *config, int parts, Error *err);
bool partition_check_cache(const Config *config, Error *err);
// The graph has that many nodes, if its folder or the cache says how many it has.
bool partition_check_ranks(const Config *config, int ranks, Error *err);

// All steps: prepared dataset cache, parts, shards. Rank 0 prepares and cuts in a helper thread
// while the others wait; then every rank makes its shard and maps it. Where a rank does not see the
// dataset that rank 0 has cut, rank 0 makes all shards. If everything is cached, only the shard is
// read. On rank 0 *warnings gets those of the loader and the partitioner; may be NULL. Collective.
bool partition_load(Shard *shard, const Config *config, const Comm *comm, Warnings *warnings,
                    Error *err);
void shard_clear(Shard *shard);
// Rows of `row_bytes` bytes for each own node, from all ranks, in the order of the original nodes:
// on rank 0, which frees them (memory_free); NULL elsewhere. Collective.
void *shard_gather(const Shard *shard, const Comm *comm, const void *own, size_t row_bytes);
// The same in blocks: rank 0 calls `take` with rows of consecutive nodes from `first` on, in
// ascending order, and nobody holds more than its own rows and some MiB. `take` returns false with
// an error, which all ranks then have. Collective.
typedef bool RowTaker(void *context, int64_t first, int64_t rows, const void *row, Error *err);
bool shard_gather_blocks(const Shard *shard, const Comm *comm, const void *own, size_t row_bytes,
                         RowTaker *take, void *context, Error *err);
size_t shard_gather_bytes(const Shard *shard, size_t row_bytes); // that it takes at most

// The user's ids of the nodes and names of the classes of the prepared dataset, as copies that the
// caller clears; count 0: there are none. Not collective.
bool partition_names(const Config *config, NodeIds *ids, NodeIds *classes, Error *err);

// Writes what the steps of data.transforms took from the data of a training into `path`, for
// data.fitted; nothing if they take nothing. Durable. Not collective.
bool partition_fitted(const Config *config, const char *path, Error *err);

// The local part of it: makes sure that the cache holds the shards of `parts` parts, and sets
// `folder` to theirs. Fills *warnings. Several processes may do so at once.
bool partition_build(const Config *config, int parts, char *folder, size_t size, Warnings *warnings,
                     Error *err);

// ---- the entries of data.cache, for `fringe cache`. Local; may take long.

typedef enum CacheKind {
    CACHE_SOURCE,
    CACHE_FITTED,
    CACHE_DATASET,
    CACHE_PARTS,
    CACHE_TEMPORARY
} CacheKind;
typedef struct CacheEntry {
    char path[PATH_BYTES];
    CacheKind kind;             // temporary: being written, or left by a process that was killed
    char dataset[DATASET_NAME]; // "": unknown
    int parts;                  // of CACHE_PARTS; 0: unknown
    double bytes, age;          // size, and seconds since a command used it last
    bool is_used;               // by a living process
} CacheEntry;
typedef struct CacheList {
    int count;
    CacheEntry
        *entry; // [count] parts before datasets before sources, each from the youngest; owned
} CacheList;
// Lists the entries in that folder; a missing folder holds none.
bool cache_list(CacheList *list, const char *cache, Error *err);
void cache_list_clear(CacheList *list);
// True if the path has the name of an entry.
bool cache_entry_kind(const char *path, CacheKind *kind);
void cache_entry_read(CacheEntry *entry, const char *path, CacheKind kind);
// Removes an entry. False without an error if a living process uses it.
bool cache_remove(const CacheEntry *entry, Error *err);

// The most memory in bytes that METIS had in use in one of its processes that this process has
// started, with its graph; 0: none, as when the parts were in the cache.
size_t partition_metis_memory(void);
// METIS is killed when is_asked() becomes true, and its cut ends with EXIT_STOPPED. Any thread may
// call is_asked.
void partition_stops_when(bool (*is_asked)(void));

// Only the cut: part[n + m] in 0..parts-1, of nodes and then of hyperedges. Local. Only `file:` may
// leave a part without nodes, with a warning. (METIS does so on tiny graphs; such parts get one
// node each, with a warning.) Parts > nodes is an error.
bool partition_cut(int32_t *part, const Dataset *dataset, int parts, const Config *config,
                   Error *err, Warnings *warnings);

// Writes only NAME.part.K (set NODES) or NAME.hpart.K (HYPEREDGES) into the folder. Local.
bool partition_write_part_file(const char *folder, const char *name, int set, const int32_t *part,
                               int64_t rows, int parts, Error *err);
// Maps and checks one shard. It reads only a few KiB of the files shared by all ranks, for any
// number of parts.
bool shard_open(Shard *shard, const char *folder, int part, Error *err);

// Folder in the cache that partition_load uses for this config and number of parts.
bool partition_folder(const Config *config, int parts, char *out, size_t size, Error *err);

// What finer cuts would have: the totals over the pieces of one part that is cut again.
typedef struct PartPieces {
    int64_t halo;     // rows that the pieces read from other pieces and other parts
    int64_t crossing; // edges of their rows that come from there
    int64_t marginal; // rows that have such an edge
    int64_t largest;  // own rows of the largest piece
} PartPieces;
// Cuts the own rows of a graph's shard into `pieces` (1: counts the part as it is), by
// config.partition, and counts what each piece reads. The edges inside the part are copied
// meanwhile. False with EXIT_CONFIG for methods that read a file, with EXIT_MEMORY, or with the
// method's error. Local; may take long.
bool partition_cut_again(PartPieces *out, const Shard *shard, int pieces, const Config *config,
                         Error *err);

// Prints the report: own, central, marginal and halo rows per rank, remote-neighbour ratio, readers
// of a row, edge cut, balance, and the message matrix if there are few parts; read from the
// manifest of `folder`. `name` is the dataset's name; NULL: the one when the cut was made.
bool partition_report(const Sink *out, const char *folder, const char *name, Error *err);
// The same as members of the writer's open object, with all messages as [from, to, rows].
bool partition_put_report(JsonWriter *writer, const char *folder, const char *name, Error *err);
