// What the files of spectral share: the known eigenvectors, an orthonormal basis over all ranks,
// and the eigenproblem of a small matrix.
#pragma once

#include "internal.h"

enum { BLOCK = 16 }; // columns of a block: a row of them is one line of the cache

static inline int64_t whole_blocks(int64_t columns) {
    return (columns + BLOCK - 1) / BLOCK * BLOCK;
}

// ---- small_eigen.c

// value [n]: the eigenvalues of the symmetric matrix a [n, n], from the largest to the smallest.
// part [n, n - first]: row j has the entries [first, n) of the vector of value[j]. `a` is
// overwritten. Local.
void small_eigen(double *a, int64_t n, double *value, double *part, int64_t first);

// ---- zero_space.c: the eigenvectors of 1 - Theta for 0, which are known: on each component the
// roots of the degrees

typedef struct ZeroSpace {
    const Comm *comm;
    int64_t rows;    // own nodes
    int64_t count;   // components of nodes that have a degree, of all ranks
    int64_t covered; // nodes that have one, of all ranks
    // Own nodes by component: first those of several ranks, in an order that all share.
    int64_t numbers, shared;
    int32_t *number; // [own nodes] -1: no degree
    double *entry;   // [own nodes] of the normalised vector of its component
    double *sum;     // [numbers, BLOCK]
} ZeroSpace;
void zero_space_init(ZeroSpace *zero, const ProgramRun *run); // collective
void zero_space_clear(ZeroSpace *zero);
void zero_space_forecast(ProgramPlan *plan); // at most: as many components as pairs of nodes
void zero_space_remove(ZeroSpace *zero, float *block); // from [own nodes, BLOCK]. Collective.

// ---- subspace.c: an orthonormal basis, orthogonal to the zero space, which grows by blocks

typedef struct Subspace {
    const ProgramParts *parts;
    ZeroSpace zero;
    int64_t space;     // dimensions of what is not in the zero space
    int64_t columns;   // of the basis; all but its last block have BLOCK
    Rows basis;        // [own nodes, most columns]; columns that a block lacks are zero
    Rows block, spare; // [own nodes, BLOCK]; `block` is what will be appended
    double *sums;      // [most columns, BLOCK] of subspace_products
    float *host;       // [own nodes, BLOCK]
    float *host_factors;
    DeviceFloat *factors, *products, *scratch; // [most columns, BLOCK]
    uint32_t draws;                            // of random columns
} Subspace;
// `parts`, `zero` and `space` are set before. The Allocator frees its arrays. Collective.
void subspace_init(Subspace *s, const ProgramRun *run, int64_t columns, const Allocator *a);
// Allocates its arrays, or plans them: what subspace_init does first.
void subspace_alloc(Subspace *s, const ProgramParts *parts, int64_t columns, const Allocator *a);
Rows subspace_block(const Subspace *s, int64_t begin); // its columns [begin, begin + BLOCK)
void subspace_copy(const Subspace *s, Rows to, Rows from);
// s->sums = aT b over the rows of all ranks; b has BLOCK columns. Collective.
void subspace_products(Subspace *s, Rows a, Rows b);
// out = a w, or out + a w; w [a.columns, BLOCK]; `out` is no window of wider rows.
void subspace_multiply(Subspace *s, Rows out, Rows a, const float *w, bool add);
// Makes the first `live` columns of s->block orthonormal and orthogonal to the zero space and the
// basis, and appends them; where there are too few that differ, with random ones: BLOCK, or as many
// as the space has left. `coupling` [columns, BLOCK] gets basisT block as it was, `gram` [BLOCK,
// BLOCK] the products of what is left of it without the basis; NULL: not wanted. Collective.
void subspace_append(Subspace *s, int64_t live, double *coupling, double *gram);

// ---- signs.c

// Makes the largest entry of each column of embedding [own nodes, pairs] positive, of equals that
// of the lowest node. Collective.
void fix_signs(float *embedding, int64_t pairs, const ProgramParts *parts);
