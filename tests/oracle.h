// The slow, obvious truth: GCN and GraphSAGE on a dense matrix in double precision, written from
// the formulas of ALGORITHMS A.3 without looking at the program. For small graphs (n up to a few
// hundred).
#ifndef FRINGE_TESTS_ORACLE_H
#define FRINGE_TESTS_ORACLE_H

#include "fringe/model.h"

typedef struct OracleGraph {
    int n;
    double *a;             // [n, n] a[v*n+u]: weight of the message u -> v, 0 if there is none
    const float *x;        // [n, F]
    const int32_t *label;  // [n] or NULL
    const uint8_t *labels; // [n, K] or NULL
    const uint8_t *split;  // [n]
} OracleGraph;

// Dense matrix of a dataset; its features, labels and split are borrowed.
OracleGraph oracle_graph(const Dataset *dataset);
void oracle_clear(OracleGraph *graph);

// The mean loss over training nodes. gradient [parameter_count] or NULL; logits [n, K] or NULL.
// training: dropout on.
double oracle_loss(const OracleGraph *graph, const ModelShape *shape, const double *parameters,
                   bool training, uint64_t seed, uint32_t epoch, double *gradient, double *logits);

#endif
