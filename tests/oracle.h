// The slow, obvious truth: GCN and GraphSAGE on a dense matrix, HGNN and HNHN on a dense incidence
// matrix in double precision, written from the formulas of ALGORITHMS A.3 and C.5 without looking
// at the program. For small graphs (n up to a few hundred).
#pragma once

#include "fringe/model.h"

typedef struct OracleGraph {
    int n, m;              // m: hyperedges, 0: a graph
    double *a;             // [n, n] a[v*n+u]: weight of the message u -> v, 0 if there is none
    double *source;        // [n, m] H of the sources: 1 where node v is a source of hyperedge h
    double *target;        // [n, m] H of the targets
    double *w;             // [m] weights of the hyperedges
    const float *x;        // [n, F]
    const int32_t *label;  // [n] or NULL
    const uint8_t *labels; // [n, K] or NULL
    const float *numbers;  // [n, K] or NULL
    const uint8_t *split;  // [n]
    const double *row;     // [n] factors of the losses of rows; NULL: 1
    const double *classes; // [K] and of classes; NULL: 1
    double smoothing, positive; // of labels; of classes that a row has, where it has several; 0: 1
    double sum;                 // what the loss is divided by; 0: the training nodes
    const double *wanted;       // [n, K]: the loss is 1/2 |Z - wanted|^2; NULL: that of the labels
    // Factors of the entries of the aggregation matrix, or of each stage, in the layers from
    // factor_layer on; NULL: none.
    const double *factor[2];
    int factor_layer;
} OracleGraph;

// Dense matrices of a dataset; its features, labels and split are borrowed.
OracleGraph oracle_graph(const Dataset *dataset);

// The mean loss over training nodes. gradient [parameter_count] or NULL; logits [n, K] or NULL.
// training: dropout on.
double oracle_loss(const OracleGraph *graph, const ModelShape *shape, const double *parameters,
                   bool training, uint64_t seed, uint32_t epoch, double *gradient, double *logits);

// The operator of one convolution on a hypergraph, [n, n], as the papers write it: one formula, or
// the product of its two stages. The caller frees it.
double *oracle_hyper_operator(const OracleGraph *graph, const char *normalisation);
double *oracle_hyper_stages(const OracleGraph *graph, const char *normalisation);
// One stage: [m, n] from nodes to hyperedges (0), or [n, m] back (1).
double *oracle_hyper_stage(const OracleGraph *graph, const char *normalisation, int stage);

// ---- oracle_post.c for oracle.c

// The parameters of a layer, and their gradients.
typedef struct OracleWindows {
    const double *w, *ws, *bias, *gamma, *beta, *w2, *bias2, *epsilon, *wy;
    double *dw, *dws, *dbias, *dgamma, *dbeta, *dw2, *dbias2, *depsilon, *dwy;
    const double *running; // mean and variance of norms of columns
} OracleWindows;

typedef struct OracleTime {
    bool training;
    bool training_statistics; // of norms of columns
    uint64_t seed;
    uint32_t epoch;
    RandomKind random;
} OracleTime;

// 0 where dropout sets an element to 0, else 1 / keep.
double oracle_mask(double keep, const OracleTime *time, int layer, int64_t row, int64_t column);
// out [n, D] = post(z [n, D]) behind layer l.
void oracle_post(const ModelShape *shape, const OracleWindows *w, int l, int64_t n, const double *z,
                 double *out, const OracleTime *time);
// d [n, D], of its output, becomes that of z; `late` is that of the output before dropout, if
// dropout is the last step.
void oracle_post_back(const ModelShape *shape, const OracleWindows *w, int l, int64_t n,
                      const double *z, double *d, const double *late, const OracleTime *time);

// ---- oracle_operators.c for oracle.c, and back

// The aggregation matrix of a graph by its definition, [n, n]. The caller frees it.
double *oracle_aggregation(const OracleGraph *graph, const char *normalisation);
// Whether a training node's label is an input (train.label_input), which then does not count in the
// loss; and A_Y, the aggregate of these labels, [n, K]. The caller frees it.
bool oracle_is_input(const OracleGraph *graph, const ModelShape *shape, const OracleTime *time,
                     int64_t v);
double *oracle_label_aggregate(const OracleGraph *graph, const ModelShape *shape,
                               const OracleTime *time, const double *stage);
// Zeros. The caller frees them.
double *oracle_matrix(int64_t rows, int64_t columns);
// out [m, n] += op(a) op(b), inner length k; ta, tb: op is the transpose
void oracle_product(double *out, const double *a, bool ta, const double *b, bool tb, int64_t m,
                    int64_t k, int64_t n);
