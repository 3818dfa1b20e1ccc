// Pattern + diagonals -> Block. The normalisations are a table (ALGORITHMS A.3). d_in and d_out are
// sums of edge weights (edge counts without weights) over the whole graph, without added
// self-loops. `mean` is the smallest row and the one to copy.
#include "fringe/halo.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum Diagonal {
    ONE,           // not stored
    ROOT_IN,       // 1 / sqrt(d_in + 1)
    ROOT_OUT,      // 1 / sqrt(d_out + 1)
    MEAN,          // 1 / d_in, or 1 for a row that reads nothing
    MEAN_WITH_SELF // 1 / (d_in + 1)
} Diagonal;

static const struct Normalisation {
    const char *name;
    bool self;
    Diagonal left, right;
} normalisations[] = {
    // self; left = 1/sqrt(d_in + 1), right = 1/sqrt(d_out + 1): DGL's "both"
    {"gcn", true, ROOT_IN, ROOT_OUT},
    // self; left = right = 1/sqrt(d_in + 1): DGL's "in", PyG
    {"gcn-in", true, ROOT_IN, ROOT_IN},
    // left = 1/max(1, d_in): GraphSAGE
    {"mean", false, MEAN, ONE},
    // self; left = 1/(d_in + 1): GraphSAGE-gcn, AdaQP's SAGE
    {"mean-self", true, MEAN_WITH_SELF, ONE},
    // self; no division: GIN with ε = 0
    {"sum", true, ONE, ONE},
};
const Family normalisation_family = FAMILY("normalisation", NULL, normalisations);

// The divisor of a diagonal entry; in double, so that degrees are exact.
static double divisor(Diagonal diagonal, double in, double out) {
    switch (diagonal) {
    case ROOT_IN:
        return in + 1;
    case ROOT_OUT:
        return out + 1;
    case MEAN:
        return in == 0 ? 1 : in;
    case MEAN_WITH_SELF:
        return in + 1;
    case ONE:
        break;
    }
    return 1;
}

// Negative weights may make a divisor 0 or negative; that is an error of the dataset.
static bool diagonal_fill(float **out, Diagonal diagonal, const RowSet *set, const char *name,
                          Error *err) {
    *out = NULL;
    if (diagonal == ONE)
        return true;
    float *value = ALLOC(float, set->own, "diagonal of a Block");
    for (int64_t i = 0; i < set->own; i++) {
        double d = divisor(diagonal, set->degree_in[i], set->degree_out[i]);
        if (!(d > 0)) {
            memory_free(value);
            return error_set(err, EXIT_DATA,
                             "%s: the edge weights at node %lld sum to %g, so its row cannot be "
                             "normalised; weights must be positive (or use data.transforms "
                             "'binary')",
                             name, (long long)set->gid[i], set->degree_in[i]);
        }
        bool root = diagonal == ROOT_IN || diagonal == ROOT_OUT;
        value[i] = (float)(1.0 / (root ? sqrt(d) : d));
    }
    *out = value;
    return true;
}

bool block_init(Block *block, const char *normalisation, const Pattern *pattern, const Shard *shard,
                Error *err) {
    *block = (Block){.pattern = pattern};
    const struct Normalisation *row = family_find(&normalisation_family, normalisation, NULL, err);
    if (row == NULL)
        return false;
    const ShardRelation *edges = &shard->relation[pattern->kind.relation];
    assert(!row->self || edges->to == edges->from);
    block->self = row->self;
    const RowSet *to = &shard->set[edges->to], *from = &shard->set[edges->from];
    if (diagonal_fill(&block->left, row->left, to, shard->dataset_name, err) &&
        diagonal_fill(&block->right, row->right, from, shard->dataset_name, err))
        return true;
    block_clear(block);
    return false;
}

void block_clear(Block *block) {
    memory_free(block->left);
    memory_free(block->right);
    *block = (Block){0};
}

Block block_on(const Block *block, const Pattern *pattern) {
    Block on = *block;
    on.pattern = pattern;
    return on;
}

// (L A R)^T = R A^T L
Block block_transpose(const Block *block, const Pattern *transposed) {
    return (Block){
        .pattern = transposed, .left = block->right, .right = block->left, .self = block->self};
}
