// Look-alikes of large sets: block models with the sizes, degrees and homophily of Reddit and
// others (dcsbm_edges.c draws the edges). Sizes are those of the sets; what is not known of one, or
// is a choice of the model, is in BlockRecipe.assumed, and the dataset says so (Dataset.origin).
//
//   degrees   lognormal; a share `tail` of the nodes from a Pareto law instead; at most `most`
//   classes   of the sizes of the set, or of Zipf shares
//   blocks    several for each class; some of the nodes, the carriers, each face one or more other
//             blocks, to which their other edges lead, so that a cut leaves central rows
//             (dcsbm_faces.c)
//   labels    the class, or several labels a node: each class has likely and unlikely labels
//   features  mean of the class plus noise

#include "dcsbm.h"

// Counted from ogbn-arxiv's labels.
enum { ARXIV_CLASSES = 40 };
static const int32_t arxiv_sizes[ARXIV_CLASSES] = {
    565,   687, 4839,  2080, 5862, 4958, 1618, 589, 6232, 2820, 7869,  750,  29,   2358,
    597,   403, 27321, 515,  749,  2877, 2076, 393, 1903, 2834, 22187, 1257, 4605, 4801,
    21406, 416, 11814, 2828, 411,  1271, 7867, 127, 3524, 2369, 1507,  2029};

// BlockRecipe.homophily is the share of the edges inside blocks. Of ogbn-arxiv's edges 0.66 lie
// inside classes; here 0.02 of them lie between two blocks of one class, for its largest have many
// blocks.
static const BlockRecipe presets[] = {
    {"dcsbm", 23000, 1100000, 602, 41, 64, 0, 1, 0, 2.2, 20000, 0.78, 0.84, 0, 0.13, 0.6586, 0.1023,
     false, "everything"},
    {"reddit-like", 23000, 2300000, 602, 41, 64, 0, 1, 0, 2.2, 20000, 0.78, 0.97, 2.4, 0.13, 0.6586,
     0.1023, false, "everything but the readers of a row"},
    {"reddit", 232965, 114615892, 602, 41, 128, 0, 1, 0, 2.2, 21657, 0.78, 0.84, 0, 0.13, 0.6586,
     0.1023, false, "class shares, the form of the degrees, carriers, features"},
    {"ogbn-products", 2449029, 123718024, 100, 47, 256, 0, 1.2, 0.001, 2.2, 17481, 0.81, 0.47, 0,
     0.3, 0.0803, 0.0161, true,
     "class shares, the form and the most of the degrees, homophily, carriers, features, the "
     "split by degree"},
    {"ogbn-arxiv", 169343, 2315598, 128, 40, 128, 0, 1.1, 0.005, 2.2, 13161, 0.64, 0.6, 0, 0.3,
     0.537, 0.176, false, "the form and the most of the degrees, carriers, features"},
    {"yelp", 716847, 13954818, 300, 50, 128, 100, 1.2, 0.002, 2.3, 5000, 0.6, 0.6, 0, 0.15, 0.75,
     0.15, false, "the form and the most of the degrees, homophily, carriers, labels, features"},
    {"amazon-products", 1569960, 264339468, 200, 50, 128, 107, 1.2, 0.002, 2.3, 20000, 0.6, 0.6, 0,
     0.15, 0.8, 0.05, false,
     "the form and the most of the degrees, homophily, carriers, labels, features"},
    {"yelp-small", 20000, 390000, 300, 50, 64, 100, 1.2, 0.002, 2.3, 1000, 0.6, 0.6, 0, 0.12, 0.75,
     0.15, false, "everything but the numbers of labels and features"},
    {"amazon-small", 20000, 600000, 200, 50, 64, 107, 1.2, 0.002, 2.3, 2000, 0.6, 0.8, 0, 0.12, 0.8,
     0.05, false, "everything but the numbers of labels and features"},
};
enum { PRESETS = sizeof presets / sizeof *presets };

const char *dcsbm_name(int i) { return i < PRESETS ? presets[i].name : NULL; }

// ---- the recipe

static const BlockRecipe *preset_of(const char *name) {
    size_t length = strcspn(name, ":");
    for (int i = 0; i < PRESETS; i++)
        if (strlen(presets[i].name) == length && strncmp(name, presets[i].name, length) == 0)
            return &presets[i];
    return NULL;
}

bool is_dcsbm(const char *name) { return preset_of(name) != NULL; }

static bool scale_by(BlockRecipe *p, const char *name, double scale, Error *err) {
    double nodes = (double)p->nodes * scale, edges = (double)p->edges * scale;
    if (nodes < 2 || nodes > DATASET_MAX_NODES)
        return error_usage(err, "%s: %.0f nodes; 2 to %d can be made", name, nodes,
                           DATASET_MAX_NODES);
    p->nodes = (int64_t)nodes;
    p->edges = (int64_t)edges;
    p->most = p->most < p->nodes - 1 ? p->most : p->nodes - 1;
    return true;
}

// *parts: for how many of them the multiplicity is.
static bool parse(BlockRecipe *p, int64_t *parts, const char *name, Error *err) {
    double scale = 1;
    const RecipeKey keys[] = {
        {"scale", NULL, &scale, 1e-4, 1000},
        {"nodes", &p->nodes, NULL, 2, DATASET_MAX_NODES},
        {"edges", &p->edges, NULL, 2, 1e11},
        {"features", &p->features, NULL, 0, 1 << 17},
        {"classes", &p->classes, NULL, 1, 1024},
        {"blocks", &p->blocks, NULL, 1, 4096},
        {"labels", &p->labels, NULL, 0, 4096},
        {"spread", NULL, &p->spread, 0, 4},
        {"tail", NULL, &p->tail, 0, 1},
        {"exponent", NULL, &p->exponent, 1.1, 10},
        {"most", &p->most, NULL, 1, DATASET_MAX_NODES},
        {"homophily", NULL, &p->homophily, 0, 1},
        {"carriers", NULL, &p->carriers, 0, 1},
        {"multiplicity", NULL, &p->multiplicity, 1, 63},
        {"parts", parts, NULL, 2, 64},
        {"signal", NULL, &p->signal, 0, 1e6},
        {"train", NULL, &p->train, 0, 1},
        {"val", NULL, &p->val, 0, 1},
    };
    *p = *preset_of(name);
    *parts = 0;
    const char *values = strchr(name, ':');
    if (!recipe_parse(p->name, values == NULL ? "" : values + 1, keys,
                      (int)(sizeof keys / sizeof *keys), err))
        return false;
    if (*parts > 0 && p->multiplicity == 0)
        return error_usage(
            err,
            "%s: parts says for how many METIS parts the multiplicity is; set multiplicity too",
            name);
    *parts = *parts > 0 ? *parts : 4;
    return scale_by(p, name, scale, err);
}

// ---- nodes

// Weights with mean 1: none is above most / (mean degree).
static void draw_weights(const BlockRecipe *p, uint64_t seed, double *weight) {
    enum { TAIL_BEGINS = 5, ROUNDS = 20 }; // times the mean weight
    const double mean_degree = (double)p->edges / (double)p->nodes;
    const double mean = exp(p->spread * p->spread / 2), most = (double)p->most / mean_degree;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->nodes; i++) {
        RandomKey key = draw_key(seed, DRAW_WEIGHT);
        double u = dcsbm_uniform(seed, i, NODE_TAIL);
        weight[i] = dcsbm_uniform(seed, i, NODE_IN_TAIL) < p->tail
                        ? TAIL_BEGINS * pow(u, -1 / (p->exponent - 1))
                        : exp(p->spread * random_normal(key, i, 0, 0)) / mean;
    }
    for (int round = 0; round < ROUNDS; round++) { // what is cut off is given to all
        double sum = 0;
        for (int64_t i = 0; i < p->nodes; i++)
            sum += weight[i] = fmin(weight[i], most);
        for (int64_t i = 0; i < p->nodes; i++)
            weight[i] *= (double)p->nodes / sum;
    }
}

typedef struct Blocks {
    int64_t count;
    double *share;     // [count] cumulative
    int32_t *class_of; // [count]
} Blocks;

// The share of the nodes that a class has, up to a factor: of the set itself, or of a Zipf law.
static double class_weight(const BlockRecipe *p, int64_t class) {
    if (strcmp(p->name, "ogbn-arxiv") == 0 && p->classes == ARXIV_CLASSES)
        return arxiv_sizes[class];
    return pow((double)class + 1, -0.6);
}

// A class has blocks of equal shares, as many as fit its own share, and at least one; but no more
// than have room for the edges. Blocks of a class lie apart, so that what faces each other is
// mostly of two classes.
static Blocks blocks_of(const BlockRecipe *p) {
    enum { ROOM = 16 }; // nodes of a block for each edge of a node
    int64_t most = p->nodes * p->nodes / (ROOM * (p->edges + 1)) + 1;
    int64_t wanted = p->blocks < most ? p->blocks : most, k = 0, room = wanted + p->classes;
    Blocks b = {.share = ALLOC(double, room, "blocks"), .class_of = ALLOC(int32_t, room, "blocks")};
    double *size = ALLOC(double, room, "blocks"), sum = 0, done = 0;
    FREED int32_t *class_of = ALLOC(int32_t, room, "blocks");
    for (int64_t c = 0; c < p->classes; c++)
        sum += class_weight(p, c);
    for (int64_t c = 0; c < p->classes; c++) {
        double share = class_weight(p, c) / sum;
        int64_t count = (int64_t)lround(share * (double)wanted);
        count = count < 1 ? 1 : count;
        for (int64_t i = 0; i < count && k < room; i++, k++) {
            size[k] = share / (double)count;
            class_of[k] = (int32_t)c;
        }
    }
    b.count = k;
    int64_t step = (int64_t)(0.618 * (double)k) | 1;
    while (step < k && k % step == 0 && step > 1)
        step += 2;
    for (int64_t i = 0, at = 0; i < k; i++, at = (at + step) % k) {
        while (size[at] == 0) // visited: the step has a common divisor with the number of blocks
            at = (at + 1) % k;
        b.share[i] = done += size[at];
        b.class_of[i] = class_of[at];
        size[at] = 0;
    }
    memory_free(size);
    return b;
}

static void blocks_clear(Blocks *b) { MEMORY_FREE(b->share, b->class_of); }

static void draw_blocks(const BlockRecipe *p, uint64_t seed, const Blocks *b, int32_t *block) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->nodes; i++)
        block[i] = pick_share(b->share, (int32_t)b->count, dcsbm_uniform(seed, i, NODE_BLOCK));
}

// Weights above which a share of the nodes lies: of training, then of training and validation.
static void popular(const BlockRecipe *p, const double *weight, double above[2]) {
    FREED double *sorted = ALLOC(double, p->nodes, "weights, sorted");
    memcpy(sorted, weight, (size_t)p->nodes * sizeof *sorted);
    sort_falling(sorted, p->nodes);
    above[0] = sorted[(int64_t)(p->train * (double)(p->nodes - 1))];
    above[1] = sorted[(int64_t)(fmin(1, p->train + p->val) * (double)(p->nodes - 1))];
}

static void draw_splits(const BlockRecipe *p, uint64_t seed, const double *weight, uint8_t *split) {
    double above[2] = {1 - p->train, 1 - p->train - p->val};
    if (p->popular_first)
        popular(p, weight, above);
    for (int64_t i = 0; i < p->nodes; i++) {
        double rank = p->popular_first ? weight[i] : 1 - dcsbm_uniform(seed, i, NODE_SPLIT);
        split[i] = rank > above[0] ? SPLIT_TRAIN : rank > above[1] ? SPLIT_VAL : SPLIT_TEST;
    }
}

// ---- several labels a node

// The chance of a label in a class: every class has a few labels that most of its nodes have, and
// labels differ in how many nodes have them elsewhere. So labels of a class come together.
static double label_chance(uint64_t seed, int64_t class, int64_t label) {
    RandomKey key = draw_key(seed, DRAW_LABEL);
    double likely = random_uniform32(key, -1 - class, 0, label);
    double popularity = 1 / (1 + (double)label / 4);
    return likely < 0.08 ? 0.75 : 0.01 + 0.15 * popularity * likely;
}

static bool draw_labels(Dataset *d, const BlockRecipe *p, const int32_t *class, uint64_t seed,
                        Error *err) {
    d->labels = TRY(uint8_t, p->nodes * p->labels, "labels", err);
    if (d->labels == NULL)
        return false;
    d->multilabel = true;
    d->classes = p->labels;
    FREED double *chance = ALLOC(double, p->classes * p->labels, "labels of classes");
    for (int64_t b = 0; b < p->classes; b++)
        for (int64_t l = 0; l < p->labels; l++)
            chance[b * p->labels + l] = label_chance(seed, b, l);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->nodes; i++)
        for (int64_t l = 0; l < p->labels; l++)
            d->labels[i * p->labels + l] = random_uniform32(draw_key(seed, DRAW_LABEL), i, 0, l) <
                                           chance[class[i] * p -> labels + l];
    return true;
}

// ---- all of it

// The edges; labels become the classes of the blocks.
static bool draw_graph(Dataset *d, const BlockRecipe *p, int64_t parts, uint64_t seed, Error *err) {
    FREED double *weight = TRY(double, p->nodes, "weights of nodes", err);
    CLEARED(blocks_clear) Blocks blocks = blocks_of(p);
    CLEARED(dcsbm_faces_clear)
    BlockModel model = {.recipe = p,
                        .blocks = blocks.count,
                        .carriers = blocks.count > 1 ? p->carriers : 0,
                        .parts = parts,
                        .seed = seed,
                        .block = d->label,
                        .weight = weight};
    Csr rows;
    if (weight == NULL)
        return false;
    draw_weights(p, seed, weight);
    draw_blocks(p, seed, &blocks, d->label);
    draw_splits(p, seed, weight, d->split);
    if (!dcsbm_faces(&model, err) || !dcsbm_edges(&model, &rows, err))
        return false;
    for (int64_t i = 0; i < p->nodes; i++)
        d->label[i] = blocks.class_of[d->label[i]];
    dataset_set_csr(d, &rows);
    return true;
}

bool generate_dcsbm(Dataset *d, const char *name, int64_t seed, Error *err) {
    BlockRecipe p;
    int64_t parts;
    if (!parse(&p, &parts, name, err))
        return false;
    snprintf(d->origin, sizeof d->origin, "generated as %.100s; assumed: %.120s", name, p.assumed);
    progress_begin("generate", "%s: nodes and edges", name);
    if (!alloc_nodes(d, p.name, p.nodes, p.classes, err) ||
        !draw_graph(d, &p, parts, (uint64_t)seed, err) ||
        !draw_features(d, name, p.features, p.signal, (uint64_t)seed, err))
        return false;
    if (p.labels == 0)
        return true;
    bool ok = draw_labels(d, &p, d->label, (uint64_t)seed, err);
    dataset_drop(d, &d->label); // the classes are nobody's labels
    return ok;
}
