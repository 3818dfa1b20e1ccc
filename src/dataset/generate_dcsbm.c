// Look-alikes of large sets: block models with the sizes, degrees and homophily of Reddit and
// others (dcsbm_edges.c draws the edges). Sizes are those of the sets; what is not known of one, or
// is a choice of the model, is in Preset.assumed, and the dataset says so (Dataset.origin).
//
//   degrees   lognormal; a share `tail` of the nodes from a Pareto law instead; at most `most`
//   blocks    one for each class, of Zipf shares
//   labels    the block, or several labels a node: each block has likely and unlikely labels
//   features  mean of the block plus noise

#include "dcsbm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Preset {
    char name[CONFIG_WORD];
    int64_t nodes, edges, features, classes;
    int64_t labels; // several a node; 0: one, its class
    double spread;  // sigma of the logarithm of the weight
    double tail, exponent;
    int64_t most; // degree
    double homophily, carriers, signal, train, val;
    bool popular_first; // training nodes are those of the highest degree, then validation
    const char *assumed;
} Preset;

static const Preset presets[] = {
    {"dcsbm", 23000, 1100000, 602, 41, 0, 1, 0, 2.2, 20000, 0.78, 1, 0.13, 0.6586, 0.1023, false,
     "everything"},
    {"reddit", 232965, 114615892, 602, 41, 0, 1, 0, 2.2, 21657, 0.78, 1, 0.13, 0.6586, 0.1023,
     false, "class shares, the form of the degrees, features"},
    {"ogbn-products", 2449029, 123718024, 100, 47, 0, 1.2, 0.001, 2.2, 17481, 0.81, 1, 0.3, 0.0803,
     0.0161, true,
     "class shares, the form and the most of the degrees, homophily, features, the "
     "split by degree"},
    {"ogbn-arxiv", 169343, 2315598, 128, 40, 0, 1.1, 0.005, 2.2, 13161, 0.66, 1, 0.3, 0.537, 0.176,
     false, "class shares, the form and the most of the degrees, features"},
    {"yelp", 716847, 13954818, 300, 50, 100, 1.2, 0.002, 2.3, 5000, 0.6, 1, 0.15, 0.75, 0.15, false,
     "the form and the most of the degrees, homophily, labels, features"},
    {"amazon-products", 1569960, 264339468, 200, 50, 107, 1.2, 0.002, 2.3, 20000, 0.6, 1, 0.15, 0.8,
     0.05, false, "the form and the most of the degrees, homophily, labels, features"},
    {"yelp-small", 20000, 390000, 300, 50, 100, 1.2, 0.002, 2.3, 1000, 0.6, 1, 0.12, 0.75, 0.15,
     false, "everything but the numbers of labels and features"},
    {"amazon-small", 20000, 1000000, 200, 50, 107, 1.2, 0.002, 2.3, 2000, 0.6, 1, 0.12, 0.8, 0.05,
     false, "everything but the numbers of labels and features"},
};
enum { PRESETS = sizeof presets / sizeof *presets };

// ---- the recipe

static const Preset *preset_of(const char *name) {
    size_t length = strcspn(name, ":");
    for (int i = 0; i < PRESETS; i++)
        if (strlen(presets[i].name) == length && strncmp(name, presets[i].name, length) == 0)
            return &presets[i];
    return NULL;
}

bool is_dcsbm(const char *name) { return preset_of(name) != NULL; }

static bool parse(Preset *p, const char *name, double *scale, Error *err) {
    const RecipeKey keys[] = {
        {"scale", NULL, scale, 1e-4, 1000},
        {"nodes", &p->nodes, NULL, 2, DATASET_MAX_NODES},
        {"edges", &p->edges, NULL, 2, 1e11},
        {"features", &p->features, NULL, 0, 1 << 17},
        {"classes", &p->classes, NULL, 1, 1024},
        {"labels", &p->labels, NULL, 0, 4096},
        {"spread", NULL, &p->spread, 0, 4},
        {"tail", NULL, &p->tail, 0, 1},
        {"exponent", NULL, &p->exponent, 1.1, 10},
        {"most", &p->most, NULL, 1, DATASET_MAX_NODES},
        {"homophily", NULL, &p->homophily, 0, 1},
        {"carriers", NULL, &p->carriers, 0, 1},
        {"signal", NULL, &p->signal, 0, 1e6},
        {"train", NULL, &p->train, 0, 1},
        {"val", NULL, &p->val, 0, 1},
    };
    *p = *preset_of(name);
    *scale = 1;
    const char *values = strchr(name, ':');
    if (!recipe_parse(p->name, values == NULL ? "" : values + 1, keys,
                      (int)(sizeof keys / sizeof *keys), err))
        return false;
    double nodes = (double)p->nodes * *scale, edges = (double)p->edges * *scale;
    if (nodes < 2 || nodes > DATASET_MAX_NODES)
        return error_set(err, EXIT_USAGE, "%s: %.0f nodes; 2 to %d can be made", name, nodes,
                         DATASET_MAX_NODES);
    p->nodes = (int64_t)nodes;
    p->edges = (int64_t)edges;
    p->most = p->most < p->nodes - 1 ? p->most : p->nodes - 1;
    return true;
}

// ---- nodes

enum { NODE_BLOCK, NODE_SPLIT, NODE_CARRIES, NODE_IN_TAIL, NODE_TAIL };

static double node_uniform(uint64_t seed, int64_t node, int what) {
    return random_uniform32(draw_stream(seed, DRAW_NODE), node, 0, what);
}

// Weights with mean 1: none is above most / (mean degree).
static void draw_weights(const Preset *p, uint64_t seed, double *weight) {
    enum { TAIL_BEGINS = 5, ROUNDS = 20 }; // times the mean weight
    const double mean_degree = (double)p->edges / (double)p->nodes;
    const double mean = exp(p->spread * p->spread / 2), most = (double)p->most / mean_degree;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->nodes; i++) {
        RandomStream stream = draw_stream(seed, DRAW_WEIGHT);
        double u = node_uniform(seed, i, NODE_TAIL);
        weight[i] = node_uniform(seed, i, NODE_IN_TAIL) < p->tail
                        ? TAIL_BEGINS * pow(u, -1 / (p->exponent - 1))
                        : exp(p->spread * random_normal(stream, i, 0, 0)) / mean;
    }
    for (int round = 0; round < ROUNDS; round++) { // what is cut off is given to all
        double sum = 0;
        for (int64_t i = 0; i < p->nodes; i++)
            sum += weight[i] = fmin(weight[i], most);
        for (int64_t i = 0; i < p->nodes; i++)
            weight[i] *= (double)p->nodes / sum;
    }
}

// Cumulative shares of the blocks, ~ (k + 1)^-0.6.
static double *block_shares(int64_t blocks) {
    double *share = ALLOC(double, blocks, "shares of blocks"), sum = 0;
    for (int64_t k = 0; k < blocks; k++)
        share[k] = sum += pow((double)k + 1, -0.6);
    for (int64_t k = 0; k < blocks; k++)
        share[k] /= sum;
    return share;
}

static void draw_blocks(const Preset *p, uint64_t seed, int32_t *block, uint8_t *carries) {
    double *share = block_shares(p->classes);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->nodes; i++) {
        block[i] = pick_share(share, (int32_t)p->classes, node_uniform(seed, i, NODE_BLOCK));
        carries[i] = node_uniform(seed, i, NODE_CARRIES) < p->carriers;
    }
    memory_free(share);
}

static int compare_falling(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Weights above which a share of the nodes lies: of training, then of training and validation.
static void popular(const Preset *p, const double *weight, double above[2]) {
    double *sorted = ALLOC(double, p->nodes, "weights, sorted");
    memcpy(sorted, weight, (size_t)p->nodes * sizeof *sorted);
    qsort(sorted, (size_t)p->nodes, sizeof *sorted, compare_falling);
    above[0] = sorted[(int64_t)(p->train * (double)(p->nodes - 1))];
    above[1] = sorted[(int64_t)(fmin(1, p->train + p->val) * (double)(p->nodes - 1))];
    memory_free(sorted);
}

static void draw_splits(const Preset *p, uint64_t seed, const double *weight, uint8_t *split) {
    double above[2] = {1 - p->train, 1 - p->train - p->val};
    if (p->popular_first)
        popular(p, weight, above);
    for (int64_t i = 0; i < p->nodes; i++) {
        double rank = p->popular_first ? weight[i] : 1 - node_uniform(seed, i, NODE_SPLIT);
        split[i] = rank > above[0] ? SPLIT_TRAIN : rank > above[1] ? SPLIT_VAL : SPLIT_TEST;
    }
}

// ---- several labels a node

// The chance of a label in a block: every block has a few labels that most of its nodes have, and
// labels differ in how many nodes have them elsewhere. So labels of a block come together.
static double label_chance(uint64_t seed, int64_t block, int64_t label) {
    RandomStream stream = draw_stream(seed, DRAW_LABEL);
    double likely = random_uniform32(stream, -1 - block, 0, label);
    double popularity = 1 / (1 + (double)label / 4);
    return likely < 0.08 ? 0.75 : 0.01 + 0.15 * popularity * likely;
}

static bool draw_labels(Dataset *d, const Preset *p, const int32_t *block, uint64_t seed,
                        Error *err) {
    d->labels = TRY(uint8_t, p->nodes * p->labels, "labels", err);
    if (d->labels == NULL)
        return false;
    d->multilabel = true;
    d->classes = p->labels;
    double *chance = ALLOC(double, p->classes * p->labels, "labels of blocks");
    for (int64_t b = 0; b < p->classes; b++)
        for (int64_t l = 0; l < p->labels; l++)
            chance[b * p->labels + l] = label_chance(seed, b, l);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->nodes; i++)
        for (int64_t l = 0; l < p->labels; l++)
            d->labels[i * p->labels + l] = random_uniform32(draw_stream(seed, DRAW_LABEL), i, 0,
                                                            l) < chance[block[i] * p->labels + l];
    memory_free(chance);
    return true;
}

// ---- all of it

static bool draw_graph(Dataset *d, const Preset *p, uint64_t seed, Error *err) {
    double *weight = TRY(double, p->nodes, "weights of nodes", err);
    uint8_t *carries = TRY(uint8_t, p->nodes, "weights of nodes", err);
    Csr rows;
    bool ok = weight != NULL && carries != NULL;
    if (ok) {
        draw_weights(p, seed, weight);
        draw_blocks(p, seed, d->label, carries);
        draw_splits(p, seed, weight, d->split);
        BlockModel model = {p->nodes, p->edges, p->classes, p->homophily, p->carriers,
                            seed,     d->label, weight,     carries};
        ok = dcsbm_edges(&model, &rows, err);
    }
    memory_free(carries);
    memory_free(weight);
    if (ok)
        dataset_set_csr(d, &rows);
    return ok;
}

bool generate_dcsbm(Dataset *d, const char *name, int64_t seed, Error *err) {
    Preset p;
    double scale;
    if (!parse(&p, name, &scale, err))
        return false;
    snprintf(d->name, sizeof d->name, "%s", p.name);
    snprintf(d->origin, sizeof d->origin, "generated as %.120s; assumed: %.100s", name, p.assumed);
    stage_begin("generate", "%s: nodes and edges", name);
    d->classes = p.classes;
    d->label = TRY(int32_t, p.nodes, "labels", err);
    d->split = TRY(uint8_t, p.nodes, "splits", err);
    if (err->code != 0 || !draw_graph(d, &p, (uint64_t)seed, err))
        return false;
    stage_begin("generate", "%s: features", name);
    if (p.features > 0) {
        d->x = TRY(float, p.nodes *p.features, "features", err);
        d->features = d->x == NULL ? 0 : p.features;
        if (d->x == NULL)
            return false;
        draw_features(d, p.signal, (uint64_t)seed);
    }
    bool ok = p.labels == 0 || draw_labels(d, &p, d->label, (uint64_t)seed, err);
    if (p.labels > 0) { // the blocks are nobody's labels
        memory_free(d->label);
        d->label = NULL;
    }
    return ok;
}
