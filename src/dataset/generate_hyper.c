// Generators of hypergraphs. Every number is a function of the seed and of the hyperedge or node
// alone, so nothing depends on threads.
//
//   hyper-planted  Nodes have a uniform community, hyperedges that of a uniform node. Arities are
//                  uniform in 2 .. 2 arity - 2. A pin is a node of the hyperedge's community with
//                  probability `purity`, else a node of another one. Class = community * classes /
//                  communities.
//   hyper-zipf     P(arity = a) ~ a^-s for a in 2 .. most; P(pin is vertex v) ~ 1 / (v + 1).
//                  Classes are uniform, so only features tell of them.
//
// A pin that is drawn twice is drawn again; after 16 draws per pin a hyperedge stays smaller.
// Features are those of generate.c, splits 50 / 25 / 25 %.

#include "generate.h"

enum { ARITY_MOST = 1 << 16, DRAWS = 16, HYPER_MOST = 1 << 28 };

typedef struct Hyper {
    int64_t nodes, hyperedges, communities, arity, features, classes;
    double purity, signal, s;
    bool zipf;
    uint64_t seed;
    int32_t *home;      // [n] community of a node
    int64_t *begin;     // [communities+1] into member
    int32_t *member;    // [n] nodes by community
    double *popularity; // zipf: [n] cumulative
    double *arities;    // zipf: [arity+1] cumulative
} Hyper;

static const Hyper planted = {.nodes = 20000,
                              .hyperedges = 20000,
                              .communities = 64,
                              .arity = 6,
                              .features = 64,
                              .classes = 8,
                              .purity = 0.8,
                              .signal = 0.3};
static const Hyper zipf = {.nodes = 20000,
                           .hyperedges = 20000,
                           .communities = 1,
                           .arity = 1000,
                           .signal = 1,
                           .s = 2,
                           .zipf = true};

static double uniform(const Hyper *h, int draw, int64_t row, int64_t column) {
    return random_uniform32(draw_key(h->seed, draw), row, 0, column);
}

static int64_t below(double u, int64_t count) {
    int64_t value = (int64_t)(u * (double)count);
    return value < count ? value : count - 1;
}

// --- nodes

enum { NODE_COMMUNITY, NODE_CLASS, NODE_SPLIT }; // columns of DRAW_NODE

static void draw_nodes(Hyper *h, Dataset *d) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < h->nodes; i++) {
        double split = uniform(h, DRAW_NODE, i, NODE_SPLIT);
        h->home[i] = (int32_t)below(uniform(h, DRAW_NODE, i, NODE_COMMUNITY), h->communities);
        if (d->label == NULL)
            continue;
        d->label[i] = h->zipf ? (int32_t)below(uniform(h, DRAW_NODE, i, NODE_CLASS), h->classes)
                              : (int32_t)(h->home[i] * h->classes / h->communities);
        d->split[i] = split < 0.5 ? SPLIT_TRAIN : split < 0.75 ? SPLIT_VAL : SPLIT_TEST;
    }
}

// Cumulative shares of first .. first+count-1, each ~ value^-exponent.
static double *zipf_shares(int64_t first, int64_t count, double exponent) {
    double *share = ALLOC(double, count, "shares of a Zipf law"), sum = 0;
    for (int64_t k = 0; k < count; k++)
        share[k] = sum += pow((double)(first + k), -exponent);
    for (int64_t k = 0; k < count; k++)
        share[k] /= sum;
    return share;
}

static void hyper_init(Hyper *h, Dataset *d) {
    h->home = ALLOC(int32_t, h->nodes, "communities of nodes");
    h->begin = ALLOC(int64_t, h->communities + 1, "members of communities");
    h->member = ALLOC(int32_t, h->nodes, "members of communities");
    draw_nodes(h, d);
    group_nodes(h->nodes, h->home, h->communities, h->begin, h->member);
    if (h->zipf) {
        h->popularity = zipf_shares(1, h->nodes, 1);
        h->arities = zipf_shares(2, h->arity - 1, h->s);
    }
}

static void hyper_clear(Hyper *h) {
    MEMORY_FREE(h->home, h->begin, h->member, h->popularity, h->arities);
}

// --- hyperedges

enum { HYPEREDGE_ARITY, HYPEREDGE_COMMUNITY }; // columns of DRAW_HYPEREDGE

// Never more than there are nodes.
static int64_t draw_arity(const Hyper *h, int64_t hyperedge) {
    double u = uniform(h, DRAW_HYPEREDGE, hyperedge, HYPEREDGE_ARITY);
    int64_t arity = h->zipf ? 2 + pick_share(h->arities, (int32_t)(h->arity - 1), u)
                            : 2 + below(u, 2 * h->arity - 3);
    return arity < h->nodes ? arity : h->nodes;
}

// A node of community c if u is below the purity, else of another one; v chooses it.
static int32_t planted_pin(const Hyper *h, int32_t c, double u, double v) {
    int64_t begin = h->begin[c], size = h->begin[c + 1] - begin, others = h->nodes - size;
    if (u < h->purity || others == 0)
        return h->member[begin + below(v, size)];
    int64_t place = below(v, others);
    return h->member[place < begin ? place : place + size];
}

static int32_t draw_pin(const Hyper *h, int64_t hyperedge, int32_t community, int64_t draw) {
    double u = uniform(h, DRAW_PIN, hyperedge, 2 * draw);
    if (h->zipf)
        return pick_share(h->popularity, (int32_t)h->nodes, u);
    return planted_pin(h, community, u, uniform(h, DRAW_PIN, hyperedge, 2 * draw + 1));
}

// Writes up to `arity` distinct nodes; returns their count. seen[node] is 1 + the last hyperedge
// that drew it.
static int64_t draw_pins(const Hyper *h, int64_t hyperedge, int64_t arity, int32_t *out,
                         int32_t *seen) {
    int64_t first = below(uniform(h, DRAW_HYPEREDGE, hyperedge, HYPEREDGE_COMMUNITY), h->nodes);
    int64_t count = 0;
    for (int64_t draw = 0; count < arity && draw < DRAWS * arity; draw++) {
        int32_t node = draw_pin(h, hyperedge, h->home[first], draw);
        if (seen[node] == hyperedge + 1)
            continue;
        seen[node] = (int32_t)(hyperedge + 1);
        out[count++] = node;
    }
    return count;
}

// The members of hyperedge k are out->column[out->offset[k] ..), size[k] of them.
static void draw_all(const Hyper *h, Csr *out, int64_t *size) {
#pragma omp parallel
    {
        FREED int32_t *seen = ALLOC(int32_t, h->nodes, "nodes of a hyperedge");
#pragma omp for schedule(dynamic, 256)
        for (int64_t k = 0; k < h->hyperedges; k++) {
            int64_t begin = out->offset[k];
            size[k] = draw_pins(h, k, out->offset[k + 1] - begin, out->column + begin, seen);
        }
    }
}

// Closes the gaps that hyperedges smaller than their arity leave.
static void close_gaps(Csr *members, const int64_t *size) {
    int64_t place = 0;
    for (int64_t k = 0; k < members->rows; k++) {
        int64_t begin = members->offset[k];
        memmove(members->column + place, members->column + begin,
                (size_t)size[k] * sizeof *members->column);
        members->offset[k] = place;
        place += size[k];
    }
    members->offset[members->rows] = place;
}

static bool make_hyperedges(const Hyper *h, Dataset *d, Error *err) {
    CLEARED(csr_free) Csr members = {0};
    Csr rows;
    FREED int64_t *arity = ALLOC(int64_t, h->hyperedges, "sizes of hyperedges");
    int64_t pins = 0;
    for (int64_t k = 0; k < h->hyperedges; k++)
        pins += arity[k] = draw_arity(h, k);
    if (!csr_try(&members, h->hyperedges, pins, false, "pins of a hypergraph", err))
        return false;
    for (int64_t k = 0; k < h->hyperedges; k++)
        members.offset[k + 1] = members.offset[k] + arity[k];
    draw_all(h, &members, arity);
    close_gaps(&members, arity);
    csr_transpose(&rows, &members, h->nodes);
    dataset_set_csr(d, &rows);
    d->hyperedges = h->hyperedges;
    return true;
}

// --- the generators

static bool parse_planted(Hyper *h, const char *text, Error *err) {
    const RecipeKey keys[] = {
        {"nodes", &h->nodes, NULL, 2, HYPER_MOST},
        {"hyperedges", &h->hyperedges, NULL, 1, HYPER_MOST},
        {"communities", &h->communities, NULL, 1, 1 << 20},
        {"purity", NULL, &h->purity, 0, 1},
        {"arity", &h->arity, NULL, 2, ARITY_MOST / 2},
        {"features", &h->features, NULL, 0, 1 << 17},
        {"classes", &h->classes, NULL, 1, 1024},
        {"signal", NULL, &h->signal, 0, 1e6},
    };
    if (!recipe_parse("hyper-planted", text, keys, (int)(sizeof keys / sizeof *keys), err))
        return false;
    return h->classes <= h->communities ||
           error_usage(err,
                       "hyper-planted: %ld classes of %ld communities; a class has at least one",
                       h->classes, h->communities);
}

static bool parse_zipf(Hyper *h, const char *text, Error *err) {
    const RecipeKey keys[] = {
        {"vertices", &h->nodes, NULL, 2, HYPER_MOST},
        {"hyperedges", &h->hyperedges, NULL, 1, HYPER_MOST},
        {"s", NULL, &h->s, 0, 10},
        {"most", &h->arity, NULL, 2, ARITY_MOST},
        {"features", &h->features, NULL, 0, 1 << 17},
        {"classes", &h->classes, NULL, 0, 1024},
        {"signal", NULL, &h->signal, 0, 1e6},
    };
    return recipe_parse("hyper-zipf", text, keys, (int)(sizeof keys / sizeof *keys), err);
}

// The text after the generator's name and an optional colon; NULL if `name` has another name.
static const char *values_of(const char *name, const char *generator) {
    size_t length = strlen(generator);
    if (strncmp(name, generator, length) != 0 || (name[length] != '\0' && name[length] != ':'))
        return NULL;
    return name + length + (name[length] == ':');
}

bool is_hyper(const char *name) {
    return values_of(name, "hyper-planted") != NULL || values_of(name, "hyper-zipf") != NULL;
}

static bool parse(Hyper *h, const char *name, Error *err) {
    const char *of_planted = values_of(name, "hyper-planted");
    *h = of_planted != NULL ? planted : zipf;
    return of_planted != NULL ? parse_planted(h, of_planted, err)
                              : parse_zipf(h, values_of(name, "hyper-zipf"), err);
}

bool generate_hyper(Dataset *dataset, const char *name, int64_t seed, Error *err) {
    Hyper h;
    if (!parse(&h, name, err) || !hypergraph_fits(h.nodes, h.hyperedges, err) ||
        !alloc_nodes(dataset, h.zipf ? "hyper-zipf" : "hyper-planted", h.nodes, h.classes, err))
        return false;
    h.seed = (uint64_t)seed;
    progress_begin("generate", "%s: nodes and hyperedges", name);
    hyper_init(&h, dataset);
    bool ok = make_hyperedges(&h, dataset, err);
    hyper_clear(&h);
    return ok && draw_features(dataset, name, h.features, h.signal, h.seed, err);
}
