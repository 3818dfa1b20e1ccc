// partition: Dataset -> parts -> shards, cached on disk.
//
// Partitioners are a table (src/partition/methods.c): metis, random, blocks, fennel, fennel:N,
// file:PATH; a row says what its method looks at, and only that is made. METIS is
// known to metis.c only; what goes in is checked before and what comes out after (TRAPS 11). A
// shard is all one rank keeps, in one safetensors file; a rank maps its own and no other. The cache
// key is made of content hashes, never of names.
//
// The order of a part's own rows is fixed here (numbering law 1, halo.h): by hops from the training
// nodes; at each distance forward-central rows first, then forward-marginal ones; inside those,
// cluster by cluster for locality.
#ifndef FRINGE_PARTITION_H
#define FRINGE_PARTITION_H

#include "fringe/base.h"
#include "fringe/config.h"
#include "fringe/dataset.h"

enum { SHARD_HOPS = 16 }; // as many as a model may have layers

// Rows of one kind. A graph has one set, its nodes.
typedef struct RowSet {
    int64_t total;        // rows of the whole graph
    int64_t own;          // N of them in this part
    int64_t central;      // own rows that read no other part, along the first relation to this set
    const int64_t *reach; // [SHARD_HOPS + 1] own rows that some training node is at most so many
                          // hops away from, along edges: the rows [0, reach[h])
    const int64_t *gid;   // [own] original ids
    const double *degree_in;  // [own] sum of weights of in-edges in the whole graph, without added
                              // self-loops
    const double *degree_out; // [own] likewise of out-edges
} RowSet;

// One direction of edges: row i of the set `to` reads columns, which are rows of the set `from`.
// Column c < set[from].own: own row c. Column set[from].own + h: remote row h of the `remote_...`
// arrays. Remote rows are grouped by owner in ring order: group 0 belongs to part-1, group 1 to
// part-2, ... (mod parts); inside a group they ascend by their row at the owner (law 4). Inside a
// row columns ascend.
typedef struct ShardRelation {
    int to, from;  // sets
    int transpose; // the relation with the same edges turned round; itself if it is symmetric
    int64_t edges;
    const int64_t *offset; // [set[to].own + 1]
    const int32_t *column; // [edges]
    const float *weight;   // [edges] or NULL
    int64_t remote;        // H
    int64_t *remote_group; // [parts] offsets: groups 0..parts-2, so `parts` entries; owned, made
                           // from remote_owner when the shard is opened
    const int32_t *remote_owner; // [H] part that has it
    const int32_t *remote_row;   // [H] row at its owner
    const int64_t *remote_gid;   // [H]
} ShardRelation;

enum { NODES = 0, SHARD_SETS = 2 };         // the set that has features, labels and splits
enum { IN_EDGES = 0, SHARD_RELATIONS = 4 }; // the relation in which nodes read their sources

typedef struct Shard {
    int part, parts;
    int64_t train_nodes, val_nodes, test_nodes; // of the whole graph
    int64_t edges;                              // of the whole graph
    int sets, relations;
    RowSet set[SHARD_SETS];
    ShardRelation relation[SHARD_RELATIONS]; // a symmetric graph has one, a directed one two
    int64_t features, classes;
    bool multilabel;
    const float *x;                  // [own nodes, features], rows as the file has them
    const int32_t *label;            // [own nodes] or NULL
    const uint8_t *labels;           // [own nodes, classes] or NULL
    const uint8_t *split;            // [own nodes]
    int64_t majority;                // most frequent training class (baseline); -1 if multilabel
    char dataset_name[DATASET_NAME]; // after partition_load that of the source it was asked for
    char dataset_hash[33], partition_hash[33];
    Tensors map;
} Shard;

// The relation on the way back: who reads the rows that `relation` reads.
static inline const ShardRelation *shard_transposed(const Shard *shard, int relation) {
    return &shard->relation[shard->relation[relation].transpose];
}
static inline bool shard_is_symmetric(const Shard *shard) {
    return shard->relation[IN_EDGES].transpose == IN_EDGES;
}

extern const Family method_family;
// What can be said before anything is loaded (early.c), all of it local: may the member that
// partition.method names have that argument; is the file there that file:PATH names for `parts`
// parts (0: not known yet); data.cache must be one that can be written, or hold parts.
bool partition_method_fits(const char *word, Error *err);
bool partition_check_file(const Config *config, int parts, Error *err);
bool partition_check_cache(const Config *config, Error *err);

// The whole road: prepared dataset cache, parts, shards; rank 0 works (comm_aside), the others
// wait; then every rank maps its shard. With everything cached nothing is read but the shard.
// *warnings is filled on rank 0 with those of the loader and the partitioner; may be NULL.
// Collective.
bool partition_load(Shard *shard, const Config *config, const Comm *comm, Warnings *warnings,
                    Error *err);
void shard_clear(Shard *shard);

// The local part of that road: makes sure that the cache holds the shards of `parts` parts, and
// says in which folder. Fills *warnings. Two processes may do so at once.
bool partition_build(const Config *config, int parts, char *folder, size_t size, Warnings *warnings,
                     Error *err);
// Moves a folder found damaged out of the cache; the next partition_build makes it anew.
void partition_discard(const char *folder);

// Only the cut: part[n] in 0..parts-1. Local. No part is empty but for `file:`, which says so
// in a warning (METIS leaves parts empty on tiny graphs: they get a node each, with a warning).
// Parts > nodes is an error.
bool partition_cut(int32_t *part, const Dataset *dataset, int parts, const Config *config,
                   Error *err, Warnings *warnings);

// Writes the shards of all parts, the manifest (partition.json, ranks.jsonl, messages.safetensors)
// and <name>.part.K under `folder`; durable. Local (rank 0).
bool partition_write_shards(const Dataset *dataset, const int32_t *part, int parts, bool reorder,
                            const char *folder, Error *err);
// Maps and checks one. Of the files that all ranks read it reads a few KiB, whatever the number of
// parts.
bool shard_open(Shard *shard, const char *folder, int part, Error *err);

// Folder in the cache that partition_load uses for this config and number of parts.
bool partition_folder(const Config *config, int parts, char *out, size_t size, Error *err);

// The report (stdout or a file): own, central, marginal, halo per rank, remote-neighbour ratio,
// edge cut, balance, message matrix of few parts; read from the manifest of `folder`. `name` is
// what the dataset is called, NULL: as it was when the cut was made.
bool partition_report(const char *folder, const char *name, Error *err);

#endif
