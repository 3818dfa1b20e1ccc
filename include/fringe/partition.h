// partition: Dataset -> parts -> shards, cached on disk.
//
// Partitioners are a table (src/partition/methods.c): metis, random, blocks, file:PATH. METIS is
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

// The edges that end (forward) or begin (backward) in the own rows of a part, as its rows read
// them. Column c < own: own row c. Column own + h: remote row h of the `remote_...` arrays. Remote
// rows are grouped by owner in ring order: group 0 belongs to part-1, group 1 to part-2, ... (mod
// parts); inside a group they ascend by their row at the owner (law 4). Inside a row columns
// ascend.
typedef struct ShardEdges {
    int64_t edges;
    const int64_t *offset; // [own+1]
    const int32_t *column; // [edges]
    const float *weight;   // [edges] or NULL
    int64_t remote;        // H
    int64_t *remote_group; // [parts] offsets: groups 0..parts-2, so `parts` entries; owned, made
                           // from remote_owner when the shard is opened
    const int32_t *remote_owner; // [H] part that has it
    const int32_t *remote_row;   // [H] row at its owner
    const int64_t *remote_gid;   // [H]
} ShardEdges;

enum { SHARD_HOPS = 16 }; // as many as a model may have layers

typedef struct Shard {
    int part, parts;
    int64_t nodes, train_nodes, val_nodes, test_nodes; // of the whole graph
    int64_t edges;                                     // of the whole graph
    int64_t own;                                       // N rows
    int64_t central;                                   // forward-central rows
    const int64_t *reach; // [SHARD_HOPS + 1] own rows that some training node is at most so many
                          // hops away from, along edges: the rows [0, reach[h])
    bool symmetric; // then `backward` equals `forward`, is not stored and points to the same arrays
    ShardEdges forward;  // sources of my rows: in-edges
    ShardEdges backward; // readers of my rows: out-edges
    const int64_t *gid;  // [own] original node ids
    const double
        *degree_in; // [own] sum of weights of in-edges in the whole graph, without added self-loops
    const double *degree_out; // [own]
    int64_t features, classes;
    bool multilabel;
    const float *x;                  // [own, features], rows as the file has them
    const int32_t *label;            // [own] or NULL
    const uint8_t *labels;           // [own, classes] or NULL
    const uint8_t *split;            // [own]
    int64_t majority;                // most frequent training class (baseline); -1 if multilabel
    char dataset_name[DATASET_NAME]; // after partition_load that of the source it was asked for
    char dataset_hash[33], partition_hash[33];
    Tensors map;
} Shard;

extern const Family method_family;
// What can be said before anything is loaded (early.c), all of it local: of the file that file:PATH
// names for `parts` parts (0: not known yet); of data.cache, which must be one that can be written,
// or hold parts.
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
