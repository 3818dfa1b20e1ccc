// What the files of the dataset room share: the family of formats, text in memory, the edges as a
// Csr, the arrays that lie beside a graph.
#ifndef FRINGE_DATASET_INTERNAL_H
#define FRINGE_DATASET_INTERNAL_H

#include "fringe/dataset.h"
#include "fringe/npy.h"

enum {
    DATASET_MAX_NODES = INT32_MAX,    // node ids are int32
    DATASET_MAX_FEATURES = 1 << 20,   // columns; more is a damaged header
    DATASET_MAX_CLASSES = 1 << 20,    // labels are numbers of classes, not ids of nodes
    DATASET_PATH = CONFIG_TEXT + 1024 // a resolved path
};

// Memory for sizes that come from a file: NULL and an error instead of an abort.
#define TRY(type, count, what, err)                                                                \
    ((type *)memory_try(memory_product((int64_t)(count), sizeof(type)), (what), (err)))

// ---- formats.c: the family
typedef struct Request {
    const Config *config; // never NULL
    const char *path;     // resolved
    int64_t rows;         // rows of the arrays beside the graph (features, labels); -1: none given
} Request;
// What loading has in use, step by step, before any of it is taken (plan.c).
typedef struct Tally {
    size_t now, most;
    int64_t nodes, edges, features; // as far as the files tell
    size_t weight;                  // bytes of an edge's weight
    bool mapped;                    // arrays lie in the file
    bool symmetric;                 // both directions of each edge are counted already
} Tally;
void tally_take(Tally *tally, size_t bytes);
void tally_give(Tally *tally, size_t bytes);
size_t tally_rows(const Tally *tally, int64_t edges); // offsets, targets and weights
// An array read from a file and made numbers of `item` bytes, which stay; the array itself goes.
// Returns how many.
int64_t tally_array(Tally *tally, const Npy *npy, size_t item);
typedef struct FormatFile { // one of the files that make a dataset
    const char *what;       // "data"
    char path[DATASET_PATH];
} FormatFile;
enum { FORMAT_FILES = 8 };
typedef struct Format {
    const char *name;
    // Is it that of `path`, by its name or by what lies there? Members are asked in the order of
    // the table.
    bool (*matches)(const char *path);
    bool reads_splits; // `read` looks for config.data.split_keys, too
    // The files that make it, whose contents decide its hash; returns how many. NULL: the one at
    // `path`.
    int (*files)(const char *path, FormatFile file[FORMAT_FILES]);
    // The name that it gives itself, kept where it gives none. NULL: it has the name of its path.
    bool (*name_inside)(const char *path, char name[DATASET_NAME], Error *err);
    // What `fringe inspect` prints without loading it. NULL: it is loaded.
    bool (*inspect)(const char *path, Error *err);
    // Fills nodes, edges, offset, target, weight, and what else the file holds. Edges may come
    // in any order. On failure the caller clears *dataset.
    bool (*read)(Dataset *dataset, const Request *request, Error *err);
    // Follows `read` with what it takes and gives; stops where the file cannot be made out.
    void (*plan)(Tally *tally, const Request *request);
} Format;
extern const Format format_npz, format_metis, format_edges, format_fringe;
// The member named `name`, or for "auto" the one that fits the path; NULL with the list.
const Format *format_find(const char *name, const char *path, Error *err);
// A file a config names: as it stands if it exists, else as config_resolve finds it.
void dataset_path(const Config *config, const char *path, char out[DATASET_PATH]);
// Is it a file, and does its name end in one of `endings` (the last is NULL)?
bool format_file_ends(const char *path, const char *const *endings);

// ---- attributes.c: features, labels and splits as arrays of their own
// Dense [n, F] floats, or labels [n] or [n, K], from an array; takes over nothing. `rows` is n, or
// -1 for any.
bool features_from_npy(Dataset *dataset, const Npy *npy, int64_t rows, Error *err);
bool labels_from_npy(Dataset *dataset, const Npy *npy, int64_t rows, Error *err);
// The three index arrays (or masks of n bools) named by config.data.split_keys: .npy files, members
// of config.data.splits, or of `inside` (NULL: none), where all three may be missing. Errors name
// the file.
bool splits_read(Dataset *dataset, const Config *config, Npz *inside, const char *inside_path,
                 Error *err);
// The index array names of a config; the usual three if it names none.
const char *split_key(const Config *config, int which);

// ---- text_scanner.c: a whole text file, plain or gzip, and numbers read from it by hand
typedef struct Text {
    char *data; // 0-terminated; owned
    size_t bytes;
} Text;
bool text_read(Text *text, const char *path, Error *err);
void text_clear(Text *text);
typedef struct TextFacts { // of a whole file, read through without keeping it
    size_t bytes;
    int64_t lines, largest; // largest: of the first two numbers of all lines
    char first[256];        // the beginning of the first line that is no comment
    bool packed;            // by gzip
} TextFacts;
bool text_facts(TextFacts *facts, const char *path);
size_t text_most(const TextFacts *facts); // bytes that text_read has in use at most

typedef struct Scan { // a position in a text
    const char *at, *end;
    int64_t line; // of `at`, from 1
    const char *path;
} Scan;
Scan scan_text(const Text *text, const char *path);
bool scan_at_line_end(Scan *scan); // skips blanks; true at '\n', "\r\n" or the end
void scan_next_line(Scan *scan);   // behind the next '\n'
// The next number of the line; an error that names file, line and what it was to be. Blanks, and a
// comma where `comma`, may stand before it.
bool scan_int64(Scan *scan, int64_t *out, const char *what, Error *err);
bool scan_float(Scan *scan, float *out, const char *what, Error *err);
bool scan_error(const Scan *scan, Error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- adjacency.c: the edges of a dataset as a Csr
// Sets nodes and edges; the dataset takes over the arrays, *csr is emptied.
void dataset_set_csr(Dataset *dataset, Csr *csr);
int64_t csr_loops(const Csr *csr);      // entries (i, i)
int64_t csr_duplicates(const Csr *csr); // entries equal to the one before; rows ascend

// ---- check.c
bool features_check(const Dataset *dataset, Error *err); // finite, all of them
// Sorts rows and drops weights that are all 1; after dataset_check.
void dataset_finish(Dataset *dataset);
// Warns of what is legal but often a mistake: self-loops, edges stored twice, missing labels.
void dataset_warn_of_oddities(Dataset *dataset);
void dataset_give(Dataset *dataset, const void *array); // unless it lies in the mapping
// The array itself, or a copy if it lies in the read-only mapping.
void *dataset_writable(Dataset *dataset, void *array, size_t bytes, const char *what);

// ---- format_fringe.c
// The file of a dataset directory: `path` is the folder, or its dataset.json.
void directory_file(const char *path, const char *name, char out[DATASET_PATH]);

// ---- statistics.c
typedef struct Statistics {
    int64_t degree_min, degree_median, degree_max; // stored edges that leave a node
    int64_t isolated;                              // nodes without any edge, in or out
    int64_t loops, duplicates;
    int64_t split[4]; // nodes with SPLIT_NONE, _TRAIN, _VAL, _TEST
    int64_t unlabelled;
    bool symmetric, weighted;
} Statistics;
void dataset_statistics(const Dataset *dataset, Statistics *out);

// ---- inspect.c
bool directory_inspect(const char *path, Error *err); // from its manifest and its arrays' header

#endif
