// The parts of the npz reader: the names of arrays in the kinds of npz that hold a graph
// (npz_layout.c), CSR matrices (npz_csr.c), features and labels (npz_nodes.c).
#pragma once

#include "internal.h"

typedef struct NpzLayout {
    const char *csr;     // what precedes "indptr", ... of the adjacency; NULL: a list of edges
    const char *pairs;   // an array of both ends: "edge_index"; NULL: none
    const char *ends[2]; // or one of each: "src", "dst"; NULL: none
    bool coo;            // the ends are those of scipy's COO
    bool hypergraph;     // hyperedge_index, or node and hyperedge
    const char *features, *labels; // dense features, labels; NULL: none
} NpzLayout;

// Errors list the arrays that the archive has and those that are read.
bool npz_layout(NpzLayout *layout, Npz *npz, Error *err);
// Only features and labels. Errors list the arrays, if there are none of nodes and no splits.
bool npz_layout_of_nodes(NpzLayout *layout, const Npz *npz, Error *err);
// Warns of arrays that nothing reads, in one sentence.
void npz_name_unread(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Config *config);
int64_t npz_layout_rows(const NpzLayout *layout, Npz *npz); // of features or labels; -1: neither
int64_t npz_ids_end(const int64_t *id, int64_t count); // the largest and 1, at most 2^31; 0: none

// ---- npz_take.c
// Lists of any length, which the caller frees; errors name the array. npz_below: ids from 0, which
// `nouns` calls what they are.
bool npz_integers(Npz *npz, const char *key, int64_t **out, int64_t *count, Error *err);
bool npz_floats(Npz *npz, const char *key, float **out, int64_t *count, Error *err);
bool npz_below(Npz *npz, const char *key, const char *nouns, int64_t below, int32_t **out,
               int64_t *count, Error *err);
bool npz_num_nodes(Npz *npz, int64_t *nodes, Error *err); // at least 1; -1: it is not there
// Reads an array and hands it over, with the number of the nodes. Errors name the array.
typedef bool ArrayTaker(Dataset *dataset, Npy *npy, int64_t rows, Error *err);
bool npz_take(Dataset *dataset, Npz *npz, const char *key, ArrayTaker *take, Error *err);
// Prefixes an error with the file's name, unless npz_read did. Returns false.
bool npz_name_file(Error *err, const char *path);

// ---- format_npz.c
// Format.read of an open archive, which the caller closes.
bool npz_read_dataset(Dataset *dataset, Npz *npz, const Request *request, Error *err);

// ---- npz_edges.c: lists of edges
bool npz_read_edges(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Request *request,
                    Error *err);
const char *npz_weights(const Npz *npz, const Config *config); // the array; NULL: none

// ---- npz_csr.c
// What becomes of a matrix's values. Those of edges are not kept where all are 1; where they say no
// more than that there is an edge, they are not read.
typedef enum MatrixValues { VALUES_KEPT, VALUES_OF_EDGES, VALUES_UNREAD } MatrixValues;
// A CSR matrix as the file holds it, checked.
typedef struct FileCsr {
    Csr csr; // without weights if the values are not kept
    int64_t columns, entries;
    MatrixValues values;
} FileCsr;
bool file_csr_shape(FileCsr *file, Npz *npz, const char *prefix,
                    Error *err);                          // only rows and columns
bool file_csr_is_square(const FileCsr *file, Error *err); // of as many rows as a graph may have
bool npz_format(Npz *npz, char format[8],
                Error *err); // that save_npz names; "csr" if it names none
// The CSR matrix of these arrays; without a prefix one of scipy.sparse.save_npz, CSR, CSC or COO,
// as rows, of which entries of one place may be several. Memory beyond the matrix: none for COO
// whose rows ascend and for CSR with 32-bit indices. Errors name the array; then the matrix is
// empty.
bool file_matrix_read(FileCsr *file, Npz *npz, const char *prefix, MatrixValues values, Error *err);
void file_csr_clear(FileCsr *file);
// Sets the edges of a dataset from such a matrix.
bool matrix_take(Dataset *dataset, Npz *npz, const char *prefix, MatrixValues values, Error *err);
// The same of the matrix of a file whose values are not read. Errors name the file.
bool matrix_read(Dataset *dataset, const char *path, Error *err);

// ---- sparse_features.c
// The dataset's features become those of the file, which has a row for each node.
bool sparse_from_file(Dataset *dataset, const FileCsr *file, Error *err);

// ---- npz_hypergraph.c
bool npz_read_hypergraph(Dataset *dataset, Npz *npz, const NpzLayout *layout,
                         const Request *request, Error *err);

// ---- npz_nodes.c
// Reads features and labels, as far as the archive has them and the config names no files for them.
bool npz_read_nodes(Dataset *dataset, Npz *npz, const NpzLayout *layout, const Config *config,
                    Error *err);
// The features of an archive that data.features names: a matrix of scipy.sparse.save_npz, attr_...
// or dense rows.
bool npz_read_features(Dataset *dataset, Npz *npz, const Config *config, Error *err);
int64_t npz_feature_rows(Npz *npz); // -1: there are none
