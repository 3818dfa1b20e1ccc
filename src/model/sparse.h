// Features as CSR, as the files of the model module see them; sparse.c has them.
#pragma once

#include "fringe/model.h"

typedef struct LayerRun LayerRun;

// Entries of sparse features in the order of a Csr, for dropout.
typedef struct SparseEntries {
    int64_t count;
    int32_t *listed; // [count] what is the same in a row of the Csr; on the host, owned
    const DeviceInt32 *row, *column; // [count] mirrors
    const DeviceFloat *value;        // [count] mirror
    DeviceFloat *kept;               // [count] after dropout
} SparseEntries;
enum { SPARSE_LISTS = 3 };

// Features as CSR (sparse.c).
typedef struct SparseFeatures {
    Csr rows;           // [own nodes] the shard's
    Csr transposed[2];  // [F] of the rows of level 0 and of level 1 that training needs; owned
    Aggregate *times;   // X W
    Aggregate *back[2]; // transposed times G
    SparseEntries entries[SPARSE_LISTS]; // of rows, and of transposed
    Rows padded;                         // [F, out] of layer 0: W, or its gradient
    Rows sum;                            // [rows of level 1, out] X W where it is added to rows
} SparseFeatures;

// The layer that ends the first convolution.
static inline int first_with_weights(const ModelShape *shape) {
    int l = 0;
    while (!shape->weights[l])
        l++;
    return l;
}
// The first layers may multiply the features by their weights before they aggregate.
bool first_may_multiply(const ModelShape *shape);
// NULL: this model can take sparse features as they are.
const char *why_not_sparse(const ModelShape *shape, const Config *config);
void alloc_sparse(Model *m, const Allocator *allocator);
void free_sparse(Model *m);
void upload_features(const Model *m); // rows of floats from the shard, unless the model has sparse
// Before the layers of a call: draws what dropout leaves of the entries.
void sparse_begin(Model *m);
// out[r] = in[r] W (+ out[r] if add) (+ bias if not NULL), r in rows; `in` is the layer's input or
// what it has aggregated, and of sparse features none of it is read.
void input_times(const LayerRun *run, Rows out, Range rows, Rows in, const DeviceFloat *w,
                 const DeviceFloat *bias, bool add, const Poll *poll);
// The gradient of a matrix by which features are multiplied.
void sparse_gradient(const Model *m, const Parameter *p, Rows g, const Poll *poll);
