// Pattern + diagonals -> Block. The normalisations are a table (ALGORITHMS A.3). d_in and d_out are
// partials of edge weights (edge counts without weights) over the whole graph, without added
// self-loops. `mean` is the smallest row and the one to copy.
#include "fringe/halo.h"

typedef enum Diagonal {
    ONE,            // not stored
    ROOT_IN,        // 1 / sqrt(d_in + 1)
    ROOT_OUT,       // 1 / sqrt(d_out + 1)
    MEAN,           // 1 / d_in, or 1 for a row that reads nothing
    MEAN_WITH_SELF, // 1 / (d_in + 1)
    ROOT,           // 1 / sqrt(d_in), or 0 for a row that reads nothing
    WEIGHT,         // w
    WEIGHTED_MEAN,  // w / d_in, or 0 for a row that reads nothing
    SHARE           // w / d_out, or 0 for a row that nothing reads
} Diagonal;

// Both diagonals of a Block whose rows are nodes, and of one whose rows are hyperedges. The columns
// of a graph are nodes, too; those of a hypergraph are of the other set.
static const struct Normalisation {
    const char *name;
    bool self;
    struct {
        Diagonal left, right;
    } to[SHARD_SETS];
} normalisations[] = {
    // self; left = 1/sqrt(d_in + 1), right = 1/sqrt(d_out + 1): DGL's "both"
    {"gcn", true, {[NODES] = {ROOT_IN, ROOT_OUT}}},
    // self; left = right = 1/sqrt(d_in + 1): DGL's "in", PyG
    {"gcn-in", true, {[NODES] = {ROOT_IN, ROOT_IN}}},
    // left = 1/max(1, d_in): GraphSAGE
    {"mean", false, {[NODES] = {MEAN, ONE}}},
    // self; left = 1/(d_in + 1): GraphSAGE-gcn, AdaQP's SAGE
    {"mean-self", true, {[NODES] = {MEAN_WITH_SELF, ONE}}},
    // self; no division: GIN with ε = 0
    {"sum", true, {[NODES] = {ONE, ONE}}},
    // D_v^-1/2 H · W D_e^-1 Hᵀ D_v^-1/2: HGNN
    {"hyper-sym", false, {[NODES] = {ROOT, ONE}, [HYPEREDGES] = {WEIGHTED_MEAN, ROOT}}},
    // D_v^-1 H · W D_e^-1 Hᵀ: PyG's HypergraphConv
    {"hyper-row", false, {[NODES] = {MEAN, ONE}, [HYPEREDGES] = {WEIGHTED_MEAN, ONE}}},
    // D_e^-1 Hᵀ, and D_v^-1 H W after the hyperedges' own weights: HNHN
    {"hyper-mean", false, {[NODES] = {MEAN, WEIGHT}, [HYPEREDGES] = {MEAN, ONE}}},
    // A D_out^-1, or H W D_e^-1 · Hᵀ D_out^-1: what a row has goes to those that read it
    {"walk", false, {[NODES] = {ONE, SHARE}, [HYPEREDGES] = {ONE, SHARE}}},
    // D^-1/2 A D^-1/2 of a symmetric graph, without self-loops of its own
    {"sym", false, {[NODES] = {ROOT, ROOT}}},
};
const Family normalisation_family = FAMILY("normalisation", NULL, normalisations);

// What a diagonal entry divides, and by what; in double, so that degrees are exact.
typedef struct Quotient {
    double top, bottom;
    bool root; // of the bottom
} Quotient;

static Quotient quotient(Diagonal diagonal, const RowSet *set, int64_t i) {
    double in = set->degree_in[i], out = set->degree_out[i];
    double weight = set->weight != NULL ? (double)set->weight[i] : 1.0;
    double read = in == 0 ? 1 : in; // a row that reads nothing is 0 whatever divides it
    switch (diagonal) {
    case ROOT_IN:
        return (Quotient){1, in + 1, true};
    case ROOT_OUT:
        return (Quotient){1, out + 1, true};
    case MEAN:
        return (Quotient){1, read, false};
    case MEAN_WITH_SELF:
        return (Quotient){1, in + 1, false};
    case ROOT:
        return (Quotient){in != 0, read, true};
    case WEIGHT:
        return (Quotient){weight, 1, false};
    case WEIGHTED_MEAN:
        return (Quotient){in != 0 ? weight : 0, read, false};
    case SHARE:
        return (Quotient){out != 0 ? weight : 0, out == 0 ? 1 : out, false};
    case ONE:
        break;
    }
    return (Quotient){1, 1, false};
}

// Negative weights may make a divisor 0 or negative; that is an error of the dataset.
static bool diagonal_fill(float **out, Diagonal diagonal, const RowSet *set, const char *name,
                          Error *err) {
    if (diagonal == ONE)
        return true;
    *out = ALLOC(float, set->own, "diagonal of a Block");
    for (int64_t i = 0; i < set->own; i++) {
        Quotient q = quotient(diagonal, set, i);
        if (!(q.bottom > 0))
            return error_data(
                err,
                "%s: the edge weights at node %ld sum to %g, so its row cannot be normalised; "
                "weights must be positive (or use data.transforms 'binary')",
                name, set->gid[i], set->degree_in[i]);
        (*out)[i] = (float)(q.top / (q.root ? sqrt(q.bottom) : q.bottom));
    }
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
    Diagonal left = row->to[edges->to].left, right = row->to[edges->to].right;
    if (diagonal_fill(&block->left, left, to, shard->dataset_name, err) &&
        diagonal_fill(&block->right, right, from, shard->dataset_name, err))
        return true;
    block_clear(block);
    return false;
}

void block_clear(Block *block) {
    MEMORY_FREE(block->left, block->right);
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
