// Inside the module dataset: the family of formats, text in memory, the edges as a Csr, the arrays
// beside a graph.
#pragma once

#include "fringe/dataset_events.h"
#include "fringe/npy.h"
#include "ids.h"

enum {
    DATASET_MAX_NODES = INT32_MAX,  // node ids are int32
    DATASET_MAX_FEATURES = 1 << 20, // columns; more means a damaged header
    DATASET_MAX_CLASSES = 1 << 20   // labels are class numbers, not node ids
};

// Memory for sizes read from a file: NULL and an error instead of an abort.
#define TRY(type, count, what, err)                                                                \
    ((type *)memory_try(memory_product((int64_t)(count), sizeof(type)), (what), (err)))

// ---- formats.c: the family
typedef struct NodeFiles NodeFiles; // the files beside the graph that the config names
typedef struct Text {               // a whole text (text_scanner.c)
    char *data;                     // 0-terminated; owned
    size_t bytes;
} Text;
typedef struct Request {
    const Config *config; // never NULL
    const char *path;     // resolved
    int64_t rows;         // rows of the arrays beside the graph (features, labels); -1: unknown
    NodeFiles *node_files;
} Request;
// By which the bytes of files become a bound of the memory that reading takes (plan.c).
typedef struct Factor {
    int word;   // bytes in use at most for each word of a text, beside the text
    int number; // for each whole number of an array, beside the array
} Factor;
typedef struct FormatFile { // one of the files of a dataset
    const char *what;       // "data"
    char path[PATH_BYTES];
} FormatFile;
enum { FORMAT_FILES = 16 };
typedef struct Format {
    const char *name;
    const char *endings; // of the names of its texts, which gzip may pack; NULL: `matches` tells
    // True if `path` has this format, by its name or contents. Members are asked in table order.
    // NULL: `files` finds some.
    bool (*matches)(const char *path);
    bool holds_splits; // the file is an npz, which may also hold the splits
    // Lists the files whose contents are hashed; returns their count. NULL: only the one at `path`.
    int (*files)(const char *path, FormatFile file[FORMAT_FILES]);
    // Sets the name that the dataset itself stores, if any. NULL: the path gives the name.
    bool (*name_inside)(const char *path, char name[DATASET_NAME], Error *err);
    // Prints for `fringe inspect` without loading. NULL: inspect loads the dataset.
    bool (*inspect)(const Sink *out, const char *path, Error *err);
    // Fills nodes, edges, offset, target, weight and whatever else the file holds. Edges may be in
    // any order. On failure the caller clears *dataset.
    bool (*read)(Dataset *dataset, const Request *request, Error *err);
    // The same of a text in memory; request->path is for messages. May clear the text as soon as it
    // is read; the caller clears it anyway. NULL: `read` reads the files.
    bool (*parse)(Dataset *dataset, Text *text, const Request *request, Error *err);
    Factor factor; // of the memory that `read` takes; nothing where it `maps` the arrays
    bool maps;
    bool streams; // texts are read piece by piece
} Format;
extern const Format format_npz, format_metis, format_hgr, format_pins, format_members,
    format_events, format_edges, format_fringe, format_ogb, format_mtx, format_reddit,
    format_graphsaint;
// The member named `name`, or for "auto" the one that matches the path; NULL with the list.
const Format *format_find(const char *name, const char *path, Error *err);
// The folder that holds a set's files: its raw/, or the path itself. False: neither does.
bool format_raw(const char *path, bool (*holds)(const char *folder), char folder[PATH_BYTES]);
// True with EXIT_DATA if the file is of a known kind that is not read; the sentence says how to
// convert it. (refusals.c)
bool format_is_refused(const char *path, Error *err);
// True if it begins neither as an archive nor as an array; a packed file is inflated.
bool format_begins_as_text(const char *path);
void dataset_name_of(char out[DATASET_NAME], const char *path); // "a/b/cora.npz" -> "cora"
// Resolves a path of the config: as written if it exists, else through config_resolve.
static inline char *dataset_path(char out[PATH_BYTES], const Config *config, const char *path) {
    if (file_exists(path))
        snprintf(out, PATH_BYTES, "%s", path);
    else
        config_resolve(config, path, out, PATH_BYTES);
    return out;
}
#define DATASET_PATH(config, path) dataset_path((char[PATH_BYTES]){0}, config, path)

// ---- attributes.c: features and labels
// True if an array has one row for each node.
bool rows_fit(const Dataset *dataset, const char *what, int64_t rows, Error *err);
// The sentence about as many rows as hyperedges; it takes `what`, rows and nodes.
#define HYPEREDGE_FEATURES                                                                         \
    "%s have %ld rows, as many as there are hyperedges, but there are %ld nodes: features have "   \
    "one row for each node, and features of hyperedges are not used"
// Takes dense [n, F] floats, or labels [n] or [n, K], from an array, which may lose its data.
// `rows` is n, or -1 for any.
bool features_from_npy(Dataset *dataset, Npy *npy, int64_t rows, Error *err);
bool labels_from_npy(Dataset *dataset, Npy *npy, int64_t rows, Error *err);
// What data.labels_are says of labels (n, K), for the dataset that is being read.
void labels_are(Dataset *dataset, const Config *config);
void labels_drop(Dataset *dataset); // of any kind
// numpy's text as spans of one text in UTF-8; the caller frees both. (npy_text.c)
bool npy_to_text(const Npy *npy, char **text, int64_t **span, Error *err);

// ---- splits.c
typedef struct SplitSource {
    Npz *npz;
    const char *path;
} SplitSource;
// Reads the three index arrays (or masks of n bools) that config.data.split_keys names: .npy files,
// members of config.data.splits, or of the first of `sources` that has one of them, or the array
// 'split' of words there; none may have.
// The labels are there. Errors name the file.
bool splits_read(Dataset *dataset, const Config *config, const SplitSource *sources, int count,
                 Error *err);
// True if that array of an archive is one of the three.
bool splits_read_key(const Config *config, const Npz *npz, const char *key);
static inline bool has_split(const Dataset *dataset, int split) { // a node is in it
    return memchr(dataset->split, split, (size_t)dataset->nodes) != NULL;
}
static inline bool any_split(const Dataset *d) {
    return has_split(d, SPLIT_TRAIN) || has_split(d, SPLIT_VAL) || has_split(d, SPLIT_TEST);
}
// Takes memory for all nodes in no split, unless there are splits.
static inline bool dataset_need_split(Dataset *dataset, Error *err) {
    if (dataset->split == NULL)
        dataset->split = TRY(uint8_t, dataset->nodes, "splits", err);
    return dataset->split != NULL;
}
// Draws them as data.splits says (draw_splits.c). The labels are there.
bool splits_draw(Dataset *dataset, const Config *config, Error *err);
// The name of an index array in the config, or the default name.
const char *split_key(const Config *config, int which);

// ---- split_words.c
int split_of_word(const char *word, int64_t length); // SPLIT_*, none for no text; -1: no such word
bool splits_are_words(Npz *npz);                     // NULL: they are not
// Puts each node into the split that its word names.
bool splits_read_words(Dataset *dataset, const SplitSource *source, Error *err);

// ---- text_scanner.c: a whole text file, plain or gzip, and a parser of its numbers
bool text_read(Text *text, const char *path, Error *err);
// The file for text_pull, and its size. NULL with an error.
struct gzFile_s *text_open(const char *path, int64_t *size, Error *err);
// Fills `out` as far as the file goes, which it inflates if it is packed, and returns the bytes:
// fewer than `room` at its end or with an error. No text holds a zero byte.
size_t text_pull(struct gzFile_s *file, char *out, size_t room, Error *err);
// The first bytes of a text, inflated if it is packed: `size` - 1 at most, and a 0. How many.
size_t text_head(const char *path, char *head, size_t size);
// True if it ends in one of the words, or in one of them and ".gz": ".csv .tsv".
bool text_ends(const char *path, const char *endings);
void text_clear(Text *text);
// Makes room for at least `wanted` bytes: exactly that at first, then half as much again.
bool text_grow(Text *text, size_t *room, size_t wanted, Error *err);
int64_t text_lines(const Text *text);
int64_t text_newlines(const char *data, size_t bytes);
typedef struct Scan { // a position in a text
    const char *at, *end;
    int64_t line; // of `at`, from 1
    const char *path;
} Scan;
Scan scan_text(const Text *text, const char *path);
bool scan_at_line_end(Scan *scan); // skips blanks; true at '\n', "\r\n" or the end
void scan_next_line(Scan *scan);   // moves after the next '\n'
void scan_skip_comma(Scan *scan);  // after blanks, if there is one
// Reads the next number of the line after optional blanks. Errors name file, line and `what`.
bool scan_skip_comments(Scan *scan); // lines that begin with %; false if that was all
bool scan_int64(Scan *scan, int64_t *out, const char *what, Error *err);
bool scan_float(Scan *scan, float *out, const char *what, Error *err);
// A number of at least 0, which `what` ("hyperedge") weighs.
bool scan_weight(Scan *scan, float *out, const char *what, Error *err);
bool scan_error(const Scan *scan, Error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- text_blocks.c: a text file, plain or gzip, that need not fit into memory
typedef struct TextBlock {
    Scan scan;     // over whole lines that end in a 0; scan.line is their number in the file
    int64_t first; // lines of the file before it
} TextBlock;
// Called for each block, by several threads at once and in any order.
typedef bool TextTaker(void *context, TextBlock *block, Error *err);
// Reads the whole file and sets *lines to how many it has. False with the error of the earliest
// block that has one; errors of blocks name the file themselves (scan_error).
bool text_blocks(const char *path, TextTaker *take, void *context, int64_t *lines, Error *err);
// Words between commas in the first line of the file; 0: it is empty, -1 with an error.
int64_t text_columns(const char *path, Error *err);
enum { DEFLATE_EXPANDS = 1032 }; // the factor by which inflated bytes are more, at most
// text_blocks in blocks of `room` bytes, the longest line, which so many threads parse; 0: the one
// that reads them.
bool text_blocks_of(const char *path, size_t room, int parsers, TextTaker *take, void *context,
                    int64_t *lines, Error *err);

// ---- pairs.c: edges as pairs of ids
typedef struct Pairs {
    int64_t count;
    int64_t *source, *target; // [count] ids of the file, then of the graph
    float *weight;            // [count], or NULL if the lines have two columns
} Pairs;
void pairs_clear(Pairs *pairs);
// Takes memory for `count` pairs without weights; no pair is in it yet.
bool pairs_init(Pairs *pairs, int64_t count, Error *err);
// Reads an array (2, E) or (E, 2) of ids, with or without a sign. Clear the pairs also after an
// error.
bool pairs_from_npy(Pairs *pairs, const Npy *npy, bool signs, Error *err);
// Takes the weights of the pairs, one for each.
bool pairs_set_weights(Pairs *pairs, const Npy *npy, Error *err);
typedef struct PairIds { // what the ids of pairs are
    const char *text;    // that they are spans of; NULL: numbers
    bool is_unsigned;
    bool undirected; // each pair stands for both directions
} PairIds;
// Sets edges and ids of the dataset. Renumbers the ids, with those of data.nodes.
bool pairs_to_rows(Dataset *dataset, Pairs *pairs, const PairIds *are, const Request *request,
                   Error *err);
// The same of ids that are nodes 0 to n-1.
bool pairs_to_numbered_rows(Dataset *dataset, Pairs *pairs, int64_t nodes, bool undirected,
                            Error *err);

// ---- pins.c: the pins of a hypergraph as a list
typedef struct Pins {
    int64_t count;
    int64_t *node, *hyperedge; // [count] ids of the file, then of the dataset
    uint8_t *role;             // [count] PIN_..., or NULL
} Pins;
void pins_clear(Pins *pins);
// Takes memory for `room` pins without roles; no pin is in it yet. Clear the pins also after an
// error.
bool pins_init(Pins *pins, int64_t room, Error *err);
// Sets everything of a hypergraph but its weights.
bool pins_to_rows(Dataset *dataset, const Pins *pins, int64_t nodes, int64_t hyperedges,
                  Error *err);

// ---- hypergraph.c
bool hypergraph_fits(int64_t nodes, int64_t hyperedges, Error *err); // both numbers
bool hypergraph_check(const Dataset *dataset, Error *err);
// Sorts the pins of every node and merges equal ones, drops pins that no node reads, and arrays
// that say nothing. Call it after hypergraph_check.
void hypergraph_finish(Dataset *dataset);
void hypergraph_warn(Dataset *dataset);                       // of legal, but odd contents
int64_t *hypergraph_sizes(const Dataset *dataset);            // [m] pins of every hyperedge; owned
int64_t hypergraph_uncovered(const Dataset *dataset);         // nodes in no hyperedge
void hypergraph_set_roles(Dataset *dataset, uint8_t *role);   // takes over; NULL: both
void hypergraph_set_weights(Dataset *dataset, float *weight); // takes over; NULL: all 1
static inline uint8_t pin_role(const Dataset *dataset, int64_t pin) {
    return dataset->pin_role == NULL ? PIN_BOTH : dataset->pin_role[pin];
}

// ---- format_events.c
bool stream_is_lenient(const Config *config); // stream.strict=false is said

// ---- node_files.c
typedef struct IdKind IdKind;
const IdKind *
node_files_id_kind(const NodeFiles *node_files); // of the ids of data.nodes; NULL: no NodeFiles
bool node_files_have_ids(const NodeFiles *node_files); // data.nodes names its rows by ids
// Adds the ids of data.nodes as columns of the same kind as the others.
// The caller frees the value of the column that this adds.
bool node_files_add_ids(NodeFiles *node_files, IdColumns *columns, Error *err);
// NULL with an error. stream: data.path is one, whose ids have no sign.
NodeFiles *node_files_open(const Config *config, bool stream, Error *err);
void node_files_close(NodeFiles *node_files);
CLEARED_POINTER(node_files_drop, NodeFiles, node_files_close)
int64_t node_files_rows(const NodeFiles *node_files); // of features or labels; -1: there are none
// Reads features, labels and splits; the splits may also be in the npz at `inside` (NULL: none).
bool node_files_take(Dataset *dataset, NodeFiles *node_files, const char *inside, Error *err);
// For formats whose nodes have ids: id[nodes], ascending. Takes the arrays of data.nodes if these
// have `ids`; node_files_take then passes over data.nodes.
bool node_files_join(Dataset *dataset, NodeFiles *node_files, const uint64_t *id, Error *err);

// ---- adjacency.c: the edges of a dataset as a Csr
// Edges as two arrays of nodes.
typedef struct Ends {
    int64_t count;
    int32_t *source, *target; // [count]
} Ends;
bool ends_init(Ends *ends, int64_t count, Error *err); // clear them also after an error
void ends_clear(Ends *ends);
// Sets nodes and edges of a dataset; with `both` also the reverse of each edge that is no
// self-loop. Rows ascend.
bool ends_to_rows(Dataset *dataset, const Ends *ends, int64_t nodes, bool both, Error *err);
// The union of a matrix, whose rows ascend, and its transpose. An edge is there as often as in the
// direction that has more of it. If both directions have other weights the larger one is kept, or,
// with the ids of nodes, the error names the edge.
bool csr_unite(Csr *out, const Csr *there, const Csr *back, const NodeIds *ids, Error *err);

// ---- sort_rows.c: sorts a matrix without weights, in place; columns are below `columns`
void csr_sort_columns(Csr *csr, int64_t columns);
// Sets nodes and edges. The dataset takes over the arrays; *csr becomes empty.
void dataset_set_csr(Dataset *dataset, Csr *csr);
int64_t csr_loops(const Csr *csr);      // entries (i, i)
int64_t csr_duplicates(const Csr *csr); // entries equal to the previous one; rows must ascend
// Drops loops, or duplicates, whose weights are added to that of the first, in place. How many.
int64_t csr_drop(Csr *rows, bool loops);

// ---- sparse_features.c
// Does data.features_as want as CSR what has so many entries?
bool sparse_is_wanted(const Config *config, int64_t rows, int64_t columns, int64_t entries);
void features_drop(Dataset *dataset); // dense or sparse; how many there are is left as it is
int64_t features_entries(const Dataset *dataset); // that are not 0
bool features_make_dense(Dataset *dataset, Error *err);
// Keeps features as data.features_as says.
bool features_settle(Dataset *dataset, const Config *config, Error *err);
bool sparse_check(const Dataset *dataset, Error *err); // columns in range, values finite

// ---- check.c
bool features_check(const Dataset *dataset, Error *err); // all finite
// Sorts rows and drops weights that are all 1. Call it after dataset_check.
void dataset_finish(Dataset *dataset);
// Warns of legal contents that are often a mistake: self-loops, duplicate edges, missing labels.
void dataset_warn_of_oddities(Dataset *dataset);
// Warns that "COUNT NOUNs REST", if there are any.
static inline void warn_of_count(Dataset *dataset, int64_t count, const char *noun,
                                 const char *rest) {
    if (count > 0)
        warnings_add(&dataset->warnings, "%ld %s%s %s", count, noun, count == 1 ? "" : "s", rest);
}

// ---- directions.c
// Warns where (nearly) no edge has its reverse, and neither the file nor the config says that this
// is meant. Rows ascend.
void warn_of_one_direction(Dataset *dataset, const Config *config);

// ---- adjacency.c
void dataset_drop_ids(Dataset *dataset); // of nodes
// Frees the array that *pointer leads to, unless the mapping holds it, and makes that NULL.
void dataset_drop(const Dataset *dataset, void *pointer);
// The array itself, or a copy if the read-only mapping holds it.
void *dataset_writable(Dataset *dataset, void *array, size_t bytes, const char *what);
void splits_begin(Dataset *dataset); // no node is in one, and the array can be written

// ---- folders.c: folders that are written under another name and then moved to their place
// False with EXIT_CANNOT_WRITE if the folder, if there is one, holds anything but `known`: paths in
// it, between blanks. It would be deleted with the folder.
bool folder_holds_only(const char *folder, const char *known, Error *err);
// Has a folder filled under a temporary name and moves it to `folder`, in the place of one that is
// there if that may be replaced. Nothing is left of a failure.
typedef bool FillFolder(const void *context, const char *made, Error *err);
bool folder_write(const char *folder, FillFolder *fill, const void *context,
                  bool (*may_replace)(const char *folder, Error *err), Error *err);

// ---- format_fringe.c
// The path of a file in a dataset directory; `path` is the folder or its dataset.json.
char *directory_file(char out[PATH_BYTES], const char *path, const char *name); // returns out
#define DIRECTORY_FILE(path, name) directory_file((char[PATH_BYTES]){0}, path, name)

// ---- prepare.c, one_hot.c, expansions.c: steps of data.transforms
typedef struct StepInput {
    const char *argument; // after the colon of the step's name
    int64_t seed;
    double memory_limit; // GiB; 0: what the machine has
    FittedStep *fitted;  // of this step; filled by it, or, if `known`, what it applies
    bool known;
} StepInput;
// What steps take from the data that they are fitted to (fitted.c).
void fitted_clear(Dataset *dataset);
// Empty ones for the steps, unless they are those of data.fitted.
void fitted_begin(Dataset *dataset, int steps);
// Takes them from the file of data.fitted, if it is set. EXIT_CONFIG: it is of other steps.
bool fitted_read(Dataset *dataset, const Config *config, Error *err);
static inline bool fitted_takes(const FittedStep *fitted, const Dataset *dataset, Error *err) {
    return fitted->columns == dataset->features ||
           error_data(err,
                      "the data have %ld features of a node where the training had %ld; give the "
                      "same columns in data.features or data.nodes",
                      dataset->features, fitted->columns);
}

// What steps that read features ask for first.
static inline bool has_features(const Dataset *dataset, Error *err) {
    return dataset->features > 0 ||
           error_config(err, "the dataset has no features; create them with random:D or degree, or "
                             "name a file in data.features");
}
// The dataset is a graph from now on; *graph is empty afterwards.
void become_graph(Dataset *dataset, Csr *graph);
bool singletons_known(const char *argument, Error *err);
bool add_singletons(Dataset *dataset, const StepInput *input, Error *err);
bool expand_cliques(Dataset *dataset, const StepInput *input, Error *err);
bool expand_star(Dataset *dataset, const StepInput *input, Error *err);
bool one_hot_known(const char *argument, Error *err);
bool one_hot(Dataset *dataset, const StepInput *input, Error *err);
// The D of random:D, from 1 to `most`.
bool random_width(int64_t *columns, const char *argument, int64_t most, Error *err);
// x[nodes, columns]: standard normals of (seed, id[i], column); without `id` the number i is the
// id.
void random_rows(float *x, int64_t nodes, int64_t columns, int64_t seed, const uint64_t *id);

// ---- statistics.c
int64_t dataset_isolated(const Dataset *dataset); // nodes without an edge in any direction
void dataset_put_facts(JsonWriter *writer, const Dataset *dataset); // name, sizes, statistics

// ---- inspect.c
// From manifest and array header.
bool directory_inspect(const Sink *out, const char *path, Error *err);
// ---- format_fringe.c
bool directory_may_replace(const char *folder, Error *err); // it holds a dataset and nothing else
