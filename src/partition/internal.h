// Inside the partition room: the graph in both directions, the order of rows, the edges of one
// part, the statistics of a cut. A hypergraph is its star graph here: vertices are the nodes and
// then the hyperedges, and rows of each set are numbered inside their part.
#pragma once

#include "fringe/partition.h"

// Part of every cache key: raise it when the bytes of a shard or the order of its rows change.
enum {
    PARTS_VERSION = 3,
    PARTS_MOST = 1 << 20, // parts of a graph; readers of files check this bound
};

// ---- hold.c: entries of the cache in use
// Keeps the folder of parts or of a dataset from being pruned until the release, or the end of the
// process. NULL if it does not exist or cannot be locked.
CacheHold *cache_hold(const char *folder);
// The exclusive lock, for its removal; NULL with *is_used if another process holds it, or if that
// cannot be known. A folder without a manifest has no lock: NULL without *is_used.
CacheHold *cache_seize(const char *folder, bool *is_used);
void cache_release(CacheHold *hold); // NULL is allowed
// Sets the time of its last use to now, if the cache can be written.
void cache_touch(const char *path);

// ---- graph.c: the stored edges, by source and by target
typedef struct Graph {
    int64_t nodes;
    int64_t vertices; // nodes; of a hypergraph nodes, then hyperedges
    int64_t edges;    // stored edges; pins
    // By source: as the dataset has it, borrowed from it. Of a hypergraph owned: a node leads to
    // the hyperedges that it is a source of, a hyperedge to its targets.
    Csr out;
    Csr in; // by target; owned, or the arrays of `out` if symmetric
    bool symmetric;
    int32_t *scratch;    // [largest out-degree + in-degree] for graph_neighbours; owned
    double memory_limit; // GiB that this process may use; 0: all available memory
} Graph;

// False if the edges that must be made do not fit into the memory that is left.
bool graph_init(Graph *graph, const Dataset *dataset, double memory_limit, Error *err);
// The vertices of the parts [begin, end).
typedef struct PartRange {
    int begin, end;
} PartRange;
typedef struct RowSelection {
    const int32_t *part; // [vertices]
    PartRange parts;
} RowSelection;
// Only the wanted rows of what a graph has to own (`in`; of a hypergraph both); the others are
// empty there. `symmetric`: as graph_init has found.
void graph_init_rows(Graph *graph, const Dataset *dataset, bool symmetric,
                     const RowSelection *selection, double memory_limit);
void graph_clear(Graph *graph);
// Writes the distinct neighbours of v in either direction, ascending and without v, to
// graph->scratch. Returns their count.
int64_t graph_neighbours(const Graph *graph, int64_t v);
// The pins of each hyperedge, whatever their role, ascending. False if they do not fit into the
// memory that is left.
bool hyperedge_pins(Csr *pins, const Dataset *dataset, double memory_limit, Error *err);
static inline int graph_sets(const Graph *graph) { return graph->vertices > graph->nodes ? 2 : 1; }

// ---- methods.c: the family
typedef struct CutInput {
    const Dataset *dataset;
    const Graph *graph; // as Method.reads requires
    int parts;
    const Config *config;
    const char *argument; // the text after "name:"; "" if there is none
} CutInput;
typedef enum MethodReads { // the data that a method reads and that must be in memory
    READS_NODES,           // no edges: CutInput.graph is NULL
    READS_EDGES, // the dataset's edges; CutInput.graph only if it already exists, else NULL
    READS_GRAPH, // CutInput.graph, with the transpose
} MethodReads;
typedef struct Method {
    const char *name;
    MethodReads reads;
    bool reads_file;      // its argument is a part file, which may leave parts empty
    bool may_leave_empty; // cut_graph fills such parts
    // Writes the config values besides partition.* that decide its cut; NULL: there are none.
    void (*depends_on)(char *out, size_t size, const Config *config);
    bool (*fits)(const char *argument, Error *err); // true if the argument is valid; NULL: any
    bool (*cut)(int32_t *part, const CutInput *input, Warnings *warnings, Error *err);
} Method;
extern const Method method_metis, method_metis_star, method_random, method_blocks, method_file,
    method_fennel, method_fennel_passes, method_srp;
// The member that `word` names, and its argument; NULL with EXIT_CONFIG.
const Method *method_find(const char *word, const char **argument, Error *err);
// False with EXIT_CONFIG.
bool cut_is_possible(const char *name, int64_t nodes, int parts, Error *err);
// Cuts by config.partition; graph may be NULL if the method's `reads` allows it.
bool cut_graph(int32_t *part, const Dataset *dataset, const Graph *graph, int parts,
               const Config *config, Warnings *warnings, Error *err);

// ---- order.c: invariant 1
typedef struct PartOrder {
    int parts, sets;
    int64_t nodes;    // vertices before the hyperedges
    int64_t *begin;   // [sets * parts + 1] where a list of rows begins in `vertex`
    int32_t *vertex;  // [vertices] list by list, in row order
    int32_t *row;     // [vertices] row of a vertex in its list
    int64_t *central; // [sets * parts] forward-central rows
    int64_t *reach;   // [sets * parts, SHARD_HOPS + 1] rows at most h hops from a training node
    bool *done;       // [parts] its rows are in their order
    int unclustered;  // parts too large for METIS; their rows are not ordered by cluster
} PartOrder;
typedef struct OrderInput {
    const Graph *graph; // with the rows of the parts that are ordered
    const int32_t *part;
    const uint8_t *hops; // order_hops
    bool reorder;        // by clusters, too
} OrderInput;
// The rows of a set in a part are a list.
static inline int order_list(const PartOrder *order, int set, int part) {
    return set * order->parts + part;
}
static inline int64_t order_own(const PartOrder *order, int set, int part) {
    int list = order_list(order, set, part);
    return order->begin[list + 1] - order->begin[list];
}
static inline const int32_t *order_rows(const PartOrder *order, int set, int part) {
    return order->vertex + order->begin[order_list(order, set, part)];
}
// The vertex with id 0 of a set.
static inline int64_t order_first(const PartOrder *order, int set) {
    return set == NODES ? 0 : order->nodes;
}
// [vertices] hops to a training node, at most SHARD_HOPS + 1; from the whole graph. Free it with
// memory_free.
uint8_t *order_hops(const Graph *graph, const uint8_t *split);
// Lists the rows of all parts, not yet in their order.
void order_init(PartOrder *order, const Graph *graph, const int32_t *part, int parts);
// Orders the rows of some parts, and counts central and reach there. A part that is too large for
// METIS is not done until the last try.
bool order_parts(PartOrder *order, const OrderInput *input, PartRange mine, bool last, Error *err);
void order_number(PartOrder *order); // sets row[] when all parts are done
void order_clear(PartOrder *order);

// ---- expansion.c: the neighbours of a node of a hypergraph
typedef struct Expansion {
    const Dataset *dataset;
    Csr pins; // of each hyperedge
    RandomKey random;
    float scale;     // weight that one pin adds to its node
    int64_t count;   // neighbours of the last node asked for
    int32_t *node;   // [nodes] these
    int32_t *weight; // [nodes] and what each weighs, at least 1
    float *sum;      // [nodes] zeros between calls
} Expansion;
// False if the pins of hyperedges do not fit into the memory that is left.
bool expansion_init(Expansion *expansion, const Dataset *dataset, int64_t seed, double memory_limit,
                    Error *err);
void expansion_clear(Expansion *expansion);
// Writes the neighbours of v, distinct and without v, and their weights. Returns their count.
int64_t expansion_neighbours(Expansion *expansion, int64_t v);

// ---- balance.c: what a cut balances, a column of weights each
typedef int64_t BalanceWeight(const CutInput *input, int64_t v);
typedef struct BalanceColumn {
    BalanceWeight *of;
    int64_t divisor;
} BalanceColumn;
typedef struct Balance {
    const CutInput *input;
    int columns;
    BalanceColumn column[4];
} Balance;
// vertices: nodes, or those of the star graph. EXIT_CONFIG if partition.balance names anything
// else.
bool balance_init(Balance *balance, const CutInput *input, int64_t vertices, Error *err);
int64_t balance_weight(const Balance *balance, int column, int64_t v);

// ---- homes.c
// Gives every hyperedge, part[n + h], a home by the majority rule.
bool homes_fill(int32_t *part, const Dataset *dataset, int parts, double memory_limit, Error *err);

// ---- metis.c
// Puts the rows of part p, its nodes and then its hyperedges, into `clusters` clusters of
// neighbours: cluster[rows]. False if the part is too large for METIS (EXIT_MEMORY, EXIT_DATA) or
// METIS was interrupted (EXIT_STOPPED).
bool metis_clusters(int32_t *cluster, const Graph *graph, const int32_t *part,
                    const PartOrder *order, int p, int clusters, Error *err);

// ---- partfile.c: <name>.part.K and <name>.hpart.K
// The file of "file:PATH" for K parts: PATH, or PATH.part.K if PATH does not exist.
void part_file_path(const Config *config, const char *argument, int parts, char *out, size_t size);
// The file of the hyperedges beside that of the nodes: NAME.hpart.K beside NAME.part.K or NAME.
void part_file_of(char *out, size_t size, const char *path, int parts);
// The name of the part file of a dataset: <name>.part.K, of HYPEREDGES <name>.hpart.K.
enum { PART_FILE_NAME = 192 };
void part_file_name(char out[PART_FILE_NAME], const char *dataset, int set, int parts);
// Sets part[rows] from the text of a file; `set` is NODES or HYPEREDGES, `path` for messages.
bool part_file_parse(int32_t *part, int64_t rows, int set, int parts, const char *path,
                     const char *text, size_t bytes, Error *err);

// ---- edges.c: one relation of one part
typedef struct PartEdges {
    Csr csr; // columns [0, own): own rows; own + h: remote row h
    int64_t remote;
    int32_t *remote_owner; // [remote]
    int32_t *remote_row;   // [remote]
    int64_t *remote_gid;   // [remote]
} PartEdges;
// What the rows of part p in the set `to` read in the set `from`.
typedef struct PartReads {
    const Csr *adjacency; // graph->in for forward edges, graph->out for backward ones
    const int32_t *part;
    const PartOrder *order;
    int p, to, from;
    int32_t *slot; // [vertices] of -1 before and after part_edges_init
} PartReads;
void part_edges_init(PartEdges *edges, const PartReads *reads);
int64_t part_edges_block(int64_t columns); // entries that it holds twice, at most
void part_edges_clear(PartEdges *edges);

// ---- messages.c: messages.safetensors
// Rows sent from one part to another, forward or backward, for pairs that send any. A full matrix
// of 10,000 parts would take 800 MB.
typedef struct Messages {
    int64_t count, room;
    int32_t *from, *to, *rows; // [room]; owned
} Messages;
void messages_add(Messages *messages, int from, int to, int64_t rows);
void messages_turn(Messages *messages); // what was received was sent, and the other way round
void messages_clear(Messages *messages);
// Writes both directions into one file; backward: NULL if it equals forward.
bool messages_write(const Messages *forward, const Messages *backward, const char *path,
                    Error *err);
// Prints the full matrices, for few parts; `path`: the file of messages_write. backward: the title
// of the second one; NULL if there is none.
bool messages_print(const Sink *out, const char *path, int parts, const char *forward,
                    const char *backward, Error *err);
// Writes the lists "sent" and, unless it equals that, "sent_backward" of [from, to, rows].
bool messages_put(JsonWriter *writer, const char *path, bool symmetric, Error *err);

// ---- ranks.c: ranks.jsonl
typedef struct PartFigures {                                    // the statistics of one part
    int64_t own, central, boundary, halo, halo_backward, train; // of nodes
    int64_t edges, edges_remote;  // edges to its nodes; pins of its hyperedges
    int64_t hyperedges, replicas; // 0 for a graph; replicas: of nodes of other parts
    int64_t bytes;                // of its shard
    char hash[33];                // of its shard
} PartFigures;
// One line of RANKS_LINE bytes for each part, so that a rank reads only its own.
enum { RANKS_LINE = 384 };
bool ranks_write(const PartFigures *part, int parts, const char *path, Error *err);
bool ranks_read_one(PartFigures *figures, int part, const char *path, Error *err);
bool ranks_read(PartFigures *part, int parts, const char *path, Error *err); // [parts]
// Largest part over mean: 1 is perfect.
typedef enum BalanceOf { BALANCE_NODES, BALANCE_EDGES, BALANCE_TRAIN } BalanceOf;
double ranks_balance(const PartFigures *part, int parts, BalanceOf of);
// Mean over the parts of halo rows / own rows, as in the papers.
double ranks_halo_ratio(const PartFigures *part, int parts);
// How many other parts read a row in the mean, of the rows that any reads; 0 if there are none.
double ranks_multiplicity(const PartFigures *part, int parts);
double ranks_remote_share(const PartFigures *part, int parts); // remote edges / edges, of all parts
PartFigures ranks_sum(const PartFigures *part, int parts);     // of all parts; without a hash
// Rows of a part of a hypergraph: its nodes, its hyperedges and the replicas there.
static inline int64_t ranks_work(const PartFigures *part) {
    return part->own + part->hyperedges + part->replicas;
}
typedef struct Workload {
    double variation; // standard deviation of ranks_work over mean
    double largest;   // largest over mean
} Workload;
Workload ranks_workload(const PartFigures *part, int parts);

// ---- replicas.c: what a cut of a hypergraph costs
typedef struct HyperCut {
    int64_t replicas; // R: sum over nodes of the parts other than its home with a hyperedge of it
    int64_t cut;      // hyperedges whose pins have more than one home
    int64_t connectivity;      // sum over hyperedges of the distinct homes of its pins - 1
    bool weighted;             // weights of hyperedges are given; else they count as 1
    double weight, weight_cut; // of all hyperedges, and of those that are cut
} HyperCut;
// Fills *cut and, in the figures of each part, which are 0, pins, hyperedges and replicas. False if
// the pins of hyperedges do not fit into memory.
bool hypercut_count(HyperCut *cut, PartFigures *figures, const Dataset *dataset,
                    const int32_t *part, int parts, double memory_limit, Error *err);

// ---- manifest.c: partition.json
typedef struct Manifest {
    char dataset_name[128], dataset_hash[33], partition_hash[33];
    char ranks_hash[33], messages_hash[33]; // of the other two files
    char method[CONFIG_TEXT];
    int64_t seed;
    bool reorder, symmetric;
    int parts;
    int64_t nodes, hyperedges, edges;   // edges: stored edges, or pins
    int64_t edge_cut, undirected_edges; // of a graph
    HyperCut hypercut;                  // of a hypergraph
    Warnings warnings;                  // of loader and partitioner
    PartFigures *part;                  // [parts]; owned; NULL if only partition.json was read
    Messages sent, sent_backward;       // only while shards are made; backward empty if symmetric
} Manifest;
void manifest_init(Manifest *manifest, int parts, bool symmetric);
void manifest_clear(Manifest *manifest);
// Writes partition.json and the other two files, and fills their hashes.
bool manifest_write(Manifest *manifest, const char *folder, Error *err);
// Reads partition.json, which is small for any number of parts.
bool manifest_read(Manifest *manifest, const char *folder, Error *err);
// Also reads the statistics of all parts and checks the other two files.
bool manifest_read_all(Manifest *manifest, const char *folder, Error *err);
// Rows sent in a forward exchange; of a hypergraph in both stages, if each replica receives a row
// and sends one back.
int64_t manifest_rows_sent(const Manifest *manifest);
double hypercut_factor(const Manifest *manifest); // (nodes + replicas) / nodes
// Writes the measures of a hypergraph as members of the writer's open object.
void hypercut_put(JsonWriter *writer, const Manifest *manifest);
// The files of a cut.
#define RANKS_FILE "ranks.jsonl"
#define MESSAGES_FILE "messages.safetensors"
char *shard_path(char out[PATH_BYTES], const char *folder, int part, int parts); // returns out
#define SHARD_PATH(folder, part, parts) shard_path((char[PATH_BYTES]){0}, folder, part, parts)

// ---- figures.c: the statistics of a cut
// Counts the rows that part p reads from each other part.
void messages_count(Messages *sent, const PartEdges *edges, int p);
void figures_of_part(PartFigures *figures, const Shard *shard, const int32_t *part,
                     const Graph *graph);
void figures_of_edges(PartFigures *figures, const Shard *shard); // of a graph
// Adds the joined pairs {u, v} with u > v and v in these parts, and those that are cut.
void figures_of_cut(Manifest *manifest, const Graph *graph, const int32_t *part, PartRange mine);

// ---- shard_file.c: the file of one shard. x: [nodes, features] of the whole dataset, or NULL.
bool shard_write(const Shard *shard, const Dataset *dataset, const char *path, Error *err);
// Sets the sets and the relations of a shard as the table in partition.h has them. Rows of an odd
// relation are those of graph->out, of an even one those of graph->in.
void shard_set_relations(Shard *shard, int sets, bool symmetric);
// The relation that leads along graph->out to the rows to which IN_EDGES leads: what these are read
// by. IN_EDGES itself if it is symmetric.
static inline int shard_backward(const Shard *shard) {
    return shard_is_symmetric(shard) ? IN_EDGES : shard->relations - 1;
}

// ---- shard_check.c: what was read
// False, with a sentence that names the file and what is wrong in it.
bool shard_damaged(const Shard *shard, Error *err, const char *what);
// Checks every array of a shard against its bounds, and makes its rounds of remote rows.
bool shard_check(Shard *shard, Error *err);

// ---- shard_plan.c
// False if the shards of these parts cannot be made, one after the other, in the memory that is
// left.
bool shards_fit(const Graph *graph, const int32_t *part, PartRange mine, int parts, Error *err);

// ---- shard_build.c
typedef struct ShardMaker {
    Manifest *manifest;
    const Dataset *dataset;
    const Graph *graph; // with the rows of the parts that are made
    const int32_t *part;
    const PartOrder *order;
    const char *folder;
} ShardMaker;
// Writes and syncs the shards of some parts, and adds their statistics and messages to the
// manifest. say: tell the terminal which one it is at.
bool shards_make(const ShardMaker *maker, PartRange mine, bool say, Error *err);

// ---- shards.c
typedef struct Sharding {
    const Comm *comm;
    // The same on all ranks but for method, seed, remarks and hypercut, which rank 0 has alone. On
    // rank 0 all of it is filled afterwards.
    Manifest *manifest;
    const Dataset *dataset;
    const Graph *graph; // with the rows of the parts of this rank, at least
    const int32_t *part;
    const uint8_t *hops; // order_hops
    const char *folder;  // exists
    bool shared;         // every rank sees the dataset and the folder; else rank 0 makes all shards
    Warnings *warnings;  // of rank 0
} Sharding;
// The parts that a rank makes the shards of.
PartRange parts_of_rank(const Comm *comm, int rank, int parts, bool shared);
// Writes all files of a partition. Warnings about the order of rows are added to the manifest's and
// to `warnings`. Collective.
bool shards_write(const Sharding *sharding, Error *err);
