// dataset: makes one Dataset on one rank from files or a generator, and writes it in our own
// directory format.
//
// Formats are a table (src/dataset/formats.c): npz (gnn-benchmark CSR keys), metis (.graph), hgr
// and pins (hypergraphs), edges (text, SNAP style), mtx (Matrix Market), ogb, reddit and graphsaint
// (folders as these projects unpack them), fringe (our own directory). data.transforms is a list of
// steps applied in order, a table too. A stored edge (i, j) means that node j aggregates
// row i: the CSR here is by source, exactly as stored. A hypergraph is stored in the same arrays:
// entry (i, h) means that node i is a pin of hyperedge h. Sizes and ids from files are bounded and
// checked before they are used to allocate or index. No function is collective.
#pragma once

#include "fringe/base.h"
#include "fringe/config.h"

enum { SPLIT_NONE = 0, SPLIT_TRAIN = 1, SPLIT_VAL = 2, SPLIT_TEST = 3 };

// What a pin does in a directed hypergraph: a hyperedge reads its sources and is read by its
// targets.
enum { PIN_SOURCE = 1, PIN_TARGET = 2, PIN_BOTH = 3 };

enum { DATASET_NAME = 128, DATASET_ORIGIN = 256 };

// What a node is labelled with: one class, several of them, or numbers that a regression predicts.
typedef enum LabelKind { LABEL_CLASS, LABEL_CLASSES, LABEL_NUMBERS } LabelKind;

// The user's ids of nodes in ascending order, one for each node. Numbers, or text in the order of
// its bytes. Whoever has a copy frees it; those of an opened directory lie in its mapping.
typedef struct NodeIds {
    int64_t count;    // 0: ids are 0 to n-1, or the format has none
    int64_t *number;  // [count]; NULL: text
    bool is_unsigned; // the numbers are those of uint64_t
    char *bytes;      // of all ids, without ends
    int64_t *offset;  // [count+1] where they begin
} NodeIds;
// The i-th as text for messages and files; i itself where there are none. Returns out.
enum { NODE_ID_TEXT = 96 };
const char *node_id_text(const NodeIds *ids, int64_t i, char out[NODE_ID_TEXT]);
#define NODE_ID(ids, i) node_id_text((ids), (i), (char[NODE_ID_TEXT]){0}) // of the block
void node_ids_clear(NodeIds *ids);

// What a step of data.transforms took from the data that it was fitted to. Owned.
typedef struct FittedStep {
    int64_t columns;          // of features before the step; 0: it takes nothing from data
    double *mean, *deviation; // [columns] of the training nodes; standardize alone
    int64_t *begin;           // [columns+1] of the values of a column; one-hot alone
    float *value;             // [begin[columns]] ascending inside a column
} FittedStep;

typedef struct Dataset {
    char name[DATASET_NAME];
    char origin[DATASET_ORIGIN]; // where a generated one comes from, and what is assumed of it; ""
    int64_t nodes;               // n, at most 2^31 - 1
    int64_t hyperedges;          // m, 0: a graph; n + m is at most 2^31 - 1
    int64_t edges;               // E stored entries: edges, or pins
    int64_t *offset;             // [n+1] by source
    int32_t *target; // [E] edge source -> target, or the hyperedge of a pin; ascending inside each
                     // row after loading; the pins of a node are distinct
    float *weight;   // [E] or NULL (all 1); NULL for a hypergraph
    uint8_t *pin_role;       // [E] PIN_...; NULL: a graph, or every pin is source and target
    float *hyperedge_weight; // [m], at least 0; NULL: a graph, or all 1
    int32_t *node_weight;    // [n], at least 0, of a hypergraph: what metis and metis:star balance;
                             // NULL: all 1
    int64_t features;        // F, 0 if there are none
    float *x;                // [n, F] or NULL
    Csr sparse;              // [n] rows: features in place of x (data.features_as), columns ascend,
                             // none is 0; offset NULL: they are dense
    int64_t classes;         // K, 0 if there are no labels; of numbers how many a node has
    bool multilabel;
    bool numeric; // labels are numbers
    enum { LABELS_AUTO, LABELS_CLASSES, LABELS_SEVERAL, LABELS_NUMBERS } labels_are; // as read
    int32_t *label;  // [n], -1 = none; NULL if multilabel, numeric or no labels
    uint8_t *labels; // [n, K] 0/1 if multilabel
    float *numbers;  // [n, K] if numeric; not a number: none
    NodeIds ids;     // of nodes
    NodeIds names;   // text: [K] names of classes; count 0: they are numbers
    uint8_t *split;  // [n] SPLIT_...; never NULL (all SPLIT_NONE without splits)
    int fitted_steps;
    FittedStep *fitted; // [fitted_steps] of data.transforms, as they were applied; NULL: none were
    bool fitted_before; // they come from data.fitted
    Tensors map;        // the arrays of an opened directory point into this mapping
    bool mapped;
    bool states_direction; // its file says whether edges stand once or in both directions
    Warnings warnings;     // of the loader: "2 self-loops stored"
} Dataset;

extern const Family format_family, step_family;
// Checks before anything is loaded: the file at `path` has a known format, by its name or by
// `format` (data.format); the step exists and may have its argument.
bool dataset_format_fits(const char *format, const char *path, Error *err);
// The name of the format that reads data.path; NULL: it is not known.
const char *dataset_format_name(const Config *config);
bool dataset_step_fits(const char *word, Error *err);
bool dataset_is_foreign(const char *path); // a file or folder of a format that is not our own

// Loads what config.data names and applies data.transforms. Warnings go to dataset->warnings.
bool dataset_load(Dataset *dataset, const Config *config, Error *err);
// A bound of the memory that dataset_load will have in use, without data.transforms: the bytes of
// the files that config.data names times a factor of their format. Nothing is added for an
// unreadable file (dataset_load then reports it). Headers and the beginnings of texts are read.
void dataset_forecast(MemoryForecast *forecast, const Config *config);
// Only applies the steps (data.transforms). memory_limit: in GiB, as run.memory_limit; 0: what the
// machine has. EXIT_MEMORY if a step needs more.
bool dataset_prepare(Dataset *dataset, const ConfigWords *steps, int64_t seed, double memory_limit,
                     Error *err);
void dataset_clear(Dataset *dataset);
// True if a step of data.transforms takes something from the data that it is fitted to.
bool dataset_steps_fit(const ConfigWords *steps);
// Writes what the steps of data.transforms took from the data, for data.fitted: safetensors with
// F64 `N.mean` and `N.deviation` [columns], or I64 `N.begin` and F32 `N.value`, of step N from 0;
// the steps are its metadata `transforms`. Durable.
bool fitted_write(const Dataset *dataset, const ConfigWords *steps, const char *path, Error *err);
// False with EXIT_DATA and what to do: no node is in the training split.
bool dataset_can_train(const Dataset *dataset, Error *err);
bool dataset_needs_split(const char *name, Error *err); // sets that error; always false

// Checks sizes, ids in range, finite features, labels of split nodes, disjoint splits. Every reader
// ends with it; call it also after dataset_open.
bool dataset_check(const Dataset *dataset, const char *name, Error *err);
// Pattern and weights are symmetric; of a hypergraph: every pin is source and target.
bool dataset_is_symmetric(const Dataset *dataset);
// False where it has labels and that node has none.
bool dataset_is_labelled(const Dataset *dataset, int64_t node);
Csr dataset_csr(const Dataset *dataset); // its edges by source, or pins; borrowed, read-only
// The star graph of a hypergraph, whose node n + h is hyperedge h, without weights; csr_free it. By
// source a node leads to the hyperedges that it is a source of, and a hyperedge to its targets;
// by_target: the other way. Rows ascend where those of the dataset do; rows that are not wanted
// [nodes + hyperedges] are empty, NULL: all are.
Csr dataset_star(const Dataset *dataset, bool by_target, const bool *wanted);
int64_t dataset_star_entries(const Dataset *dataset); // of all its rows

// The name of the dataset of config.data: that of a dataset directory, else the file name without
// endings. Reads no array.
bool dataset_name(const Config *config, char out[DATASET_NAME], Error *err);

// Where the dataset of config.data comes from, if its folder says that it was generated; else "".
void dataset_origin(const Config *config, char out[DATASET_ORIGIN]);
// What stands behind the name of one that only looks like a real set; else "".
static inline const char *dataset_look_alike(const char *origin) {
    return strncmp(origin, "generated as", 12) == 0 ? " (synthetic look-alike by fringe generate)"
                                                    : "";
}

// Our directory: dataset.json (manifest) and dataset.safetensors (edge_offset I64, edge_target I32,
// edge_weight F32, features F32, labels I32 [n], U8 [n,K] or F32 [n,K], split U8; of hypergraphs
// pin_role U8, hyperedge_weight F32, node_weight I32); see docs/data.md.
bool dataset_write(const Dataset *dataset, const char *folder,
                   Error *err); // durable: temporary folder, rename
bool dataset_open(Dataset *dataset, const char *folder, Error *err); // mmap; read-only arrays
// The same without looking at the arrays, which this or another process has written or checked.
bool dataset_map(Dataset *dataset, const char *folder, Error *err);
// The nodes that the manifest of such a folder names; -1 if there is none that can be read.
int64_t dataset_nodes(const char *folder);

// A dataset in a format of another program.
typedef struct Conversion {
    const char *path;   // what is written: a file, or the folder of a format that is one
    const char *format; // a word of writer_family; NULL: the path tells it
    bool replace;       // what has the path already, if it is a file or dataset of that format
    bool stored;        // the arrays of an npz are not deflated
} Conversion;
extern const Family writer_family; // --to
// Checks before anything is read: the format is known, its folder is there and can be written, the
// path is free or may be replaced, and it is none of the files that config.data names. EXIT_USAGE,
// EXIT_CANNOT_WRITE.
bool dataset_conversion_fits(const Conversion *conversion, const Config *config, Error *err);
// The memory that writing takes beside the dataset.
void dataset_conversion_forecast(MemoryForecast *forecast, const Dataset *dataset);
// Writes it: complete and flushed, or not at all. Says in `remarks` what the format leaves out.
// EXIT_DATA with the step of data.transforms that helps if the format cannot hold the dataset;
// EXIT_CANNOT_WRITE, EXIT_IO.
bool dataset_convert(const Dataset *dataset, const Conversion *conversion, Warnings *remarks,
                     Error *err);

// Hash of the prepared contents: sizes, edges, weights, features, labels, split; no names.
void dataset_hash(const Dataset *dataset, char text[33]);
// Cache key of config.data before loading: hash of the contents of its files and of the steps.
bool dataset_source_hash(const Config *config, char text[33], Error *err);

// Generators ("reddit-small", "reddit-medium", and parametric ones): a table. The same seed gives
// the same bytes at any thread count. False with the list if the name is unknown.
bool dataset_generate(Dataset *dataset, const char *name, int64_t seed, Error *err);
const char *dataset_generator_list(void); // "reddit-small, reddit-medium, ...", and their values
// The name of a generator, with a ':' at its end if it needs values; NULL: i is past the last one.
const char *dataset_generator_name(int i);

// Prints header and statistics for `fringe inspect`; for our directory without reading the data.
bool dataset_inspect(const Sink *out, const char *path, Error *err);
// The same as members of the writer's open object.
bool dataset_put_inspected(JsonWriter *writer, const char *path, Error *err);
