// Generators: synthetic graphs that resemble real ones for a partitioner and a model. Communities
// are planted (generate_edges.c); several form a class. A node's features are its class mean plus
// noise: too weak a signal alone, but clear in the mean over its neighbours, most of which share
// its class. Only boundary nodes (`carriers`) have edges to another community, and each to one
// community only. So a cut along communities leaves central rows: with P equal parts about carriers
// * (1 - 1/P) of the rows are marginal, and a part's halo is that fraction of its own rows.

#include "generate.h"

static const Recipe recipes[] = {
    {"reddit-small", 23000, 1100000, 602, 41, 64, 0.84, 2.9, 0.05, 0.13, 1.0},
    {"reddit-medium", 233000, 11400000, 602, 41, 256, 0.84, 2.4, 0.05, 0.13, 1.0},
    {"products-small", 24500, 1240000, 100, 47, 64, 0.47, 2.4, 0.05, 0.3, 1.0},
    {"tiny", 600, 6000, 16, 5, 10, 0.7, 1.9, 0.05, 0.6, 0.7},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

const char *dataset_generator_list(void) {
    return "reddit-small, reddit-medium, products-small, tiny, hyper-planted, hyper-zipf, and "
           "planted:KEY=VALUE,... (reddit-small with some of nodes, edges, features, classes, "
           "communities, carriers, abroad, visitors, signal, spread changed), "
           "hyper-planted:KEY=VALUE,... (a hypergraph; nodes, hyperedges, communities, purity, "
           "arity, features, classes, signal), hyper-zipf:KEY=VALUE,... (vertices, hyperedges, s, "
           "most, features, classes, signal); and look-alikes of large sets: " DCSBM_NAMES;
}

const char *dataset_generator_name(int i) {
    static const char *const others[] = {"planted:", "hyper-planted", "hyper-zipf"};
    enum { OTHERS = sizeof others / sizeof *others };
    return i < RECIPES            ? recipes[i].name
           : i < RECIPES + OTHERS ? others[i - RECIPES]
                                  : dcsbm_name(i - RECIPES - OTHERS);
}

// --- recipes

static bool set_number(const RecipeKey *keys, int count, const char *key, double value) {
    for (int i = 0; i < count; i++) {
        if (strcmp(key, keys[i].key) != 0)
            continue;
        if (!(value >= keys[i].least && value <= keys[i].most))
            return false;
        if (keys[i].count != NULL)
            *keys[i].count = (int64_t)value;
        else
            *keys[i].number = value;
        return true;
    }
    return false;
}

bool recipe_parse(const char *generator, const char *text, const RecipeKey *keys, int count,
                  Error *err) {
    char copy[CONFIG_TEXT], *rest = text[0] == '\0' ? NULL : copy, *entry;
    snprintf(copy, sizeof copy, "%s", text);
    while ((entry = strsep(&rest, ",")) != NULL) {
        char *equals = strchr(entry, '='), *end = NULL;
        if (equals != NULL)
            *equals = '\0';
        double value = equals == NULL ? NAN : strtod(equals + 1, &end);
        if (equals == NULL || end == equals + 1 || *end != '\0' ||
            !set_number(keys, count, entry, value))
            return error_usage(
                err, "%s: '%s' is not KEY=NUMBER with a known key in its range; there are %s",
                generator, entry, dataset_generator_list());
    }
    return true;
}

// Parses "nodes=1000,edges=9000", which changes values of reddit-small.
static bool parse_recipe(Recipe *recipe, const char *text, Error *err) {
    const RecipeKey keys[] = {
        {"nodes", &recipe->nodes, NULL, 2, PLANTED_MAX_NODES},
        {"edges", &recipe->edges, NULL, 1, 1e11},
        {"features", &recipe->features, NULL, 0, 1 << 17},
        {"classes", &recipe->classes, NULL, 1, 1024},
        {"communities", &recipe->communities, NULL, 1, 2048},
        {"carriers", NULL, &recipe->carriers, 0, 1},
        {"abroad", NULL, &recipe->abroad, 0, 1e6},
        {"visitors", NULL, &recipe->visitors, 0, 1},
        {"signal", NULL, &recipe->signal, 0, 1e6},
        {"spread", NULL, &recipe->spread, 0, 4},
    };
    *recipe = recipes[0];
    snprintf(recipe->name, sizeof recipe->name, "planted");
    return recipe_parse("planted", text, keys, (int)(sizeof keys / sizeof *keys), err);
}

static bool find_recipe(Recipe *recipe, const char *name, Error *err) {
    for (int i = 0; i < RECIPES; i++)
        if (strcmp(name, recipes[i].name) == 0) {
            *recipe = recipes[i];
            return true;
        }
    if (strncmp(name, "planted:", 8) == 0)
        return parse_recipe(recipe, name + 8, err);
    const char *names[GENERATORS_MOST];
    int count = 0;
    while (count < GENERATORS_MOST && dataset_generator_name(count) != NULL) {
        names[count] = dataset_generator_name(count);
        count++;
    }
    const char *closest = family_closest(name, names, count);
    if (closest != NULL)
        return error_usage(err, "there is no generator '%s'; did you mean %s?", name, closest);
    return error_usage(err, "there is no generator '%s'; there are %s", name,
                       dataset_generator_list());
}

// --- communities

typedef struct Shares { // sizes of classes and communities as shares that add up to 1
    int32_t communities;
    int32_t *class_of; // [communities]
    double *community; // [communities] cumulative
    double *class;     // [classes] cumulative
} Shares;

// Class sizes follow a flattened Zipf law, share ~ (k + 1)^-0.6. A class has communities in
// proportion, at least one, of equal shares.
static Shares make_shares(const Recipe *recipe) {
    int64_t classes = recipe->classes;
    Shares shares = {.class = ALLOC(double, classes, "shares of classes")};
    double sum = 0, done = 0;
    for (int64_t k = 0; k < classes; k++)
        sum += shares.class[k] = pow((double)k + 1, -0.6);
    FREED int32_t *count = ALLOC(int32_t, classes, "communities of classes");
    for (int64_t k = 0; k < classes; k++) {
        double wanted = shares.class[k] / sum * (double)recipe->communities;
        count[k] = wanted < 1 ? 1 : (int32_t)lround(wanted);
        shares.communities += count[k];
    }
    shares.class_of = ALLOC(int32_t, shares.communities, "classes of communities");
    shares.community = ALLOC(double, shares.communities, "shares of communities");
    for (int64_t k = 0, c = 0; k < classes; k++) {
        double each = shares.class[k] / sum / count[k];
        for (int32_t i = 0; i < count[k]; i++, c++) {
            shares.class_of[c] = (int32_t)k;
            shares.community[c] = done += each;
        }
        shares.class[k] = done;
    }
    return shares;
}

static void shares_clear(Shares *shares) {
    MEMORY_FREE(shares->class_of, shares->community, shares->class);
}

int32_t pick_share(const double *cumulative, int32_t count, double u) {
    int32_t low = 0, high = count - 1;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (cumulative[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// --- nodes

enum { NODE_HOME, NODE_CARRIER, NODE_PARTNER, NODE_VISITOR, NODE_CLASS, NODE_SPLIT };

static double node_uniform(const Planted *p, int64_t node, int what) {
    return random_uniform32(draw_key(p->seed, DRAW_NODE), node, 0, what);
}

// Shares of Reddit: 153,431 / 23,831 / 55,703 of 232,965.
static uint8_t split_of(double u) {
    const double train = 153431.0 / 232965, val = 23831.0 / 232965;
    return u < train ? SPLIT_TRAIN : u < train + val ? SPLIT_VAL : SPLIT_TEST;
}

static void draw_nodes(Planted *p, const Shares *shares, Dataset *dataset) {
    const Recipe *recipe = p->recipe;
    RandomKey weights = draw_key(p->seed, DRAW_WEIGHT);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < recipe->nodes; i++) {
        int32_t home =
            pick_share(shares->community, shares->communities, node_uniform(p, i, NODE_HOME));
        int32_t others = shares->communities - 1;
        int32_t partner = (int32_t)(node_uniform(p, i, NODE_PARTNER) * others);
        bool carrier = others > 0 && node_uniform(p, i, NODE_CARRIER) < recipe->carriers;
        bool visitor = node_uniform(p, i, NODE_VISITOR) < recipe->visitors;
        p->home[i] = home;
        p->partner[i] = carrier ? partner + (partner >= home) : -1;
        p->weight[i] = exp(recipe->spread * random_normal(weights, i, 0, 0));
        dataset->label[i] = visitor ? pick_share(shares->class, (int32_t)recipe->classes,
                                                 node_uniform(p, i, NODE_CLASS))
                                    : shares->class_of[home];
        dataset->split[i] = split_of(node_uniform(p, i, NODE_SPLIT));
    }
}

void group_nodes(int64_t nodes, const int32_t *key, int64_t keys, int64_t *begin, int32_t *list) {
    for (int64_t i = 0; i < nodes; i++)
        if (key[i] >= 0)
            begin[key[i] + 1]++;
    offsets_sum(begin, keys);
    for (int64_t i = 0; i < nodes; i++)
        if (key[i] >= 0)
            list[begin[key[i]]++] = (int32_t)i;
    offsets_shift_back(begin, keys);
}

static void planted_init(Planted *p, const Shares *shares, Dataset *dataset) {
    int64_t n = p->recipe->nodes, c = shares->communities;
    // mean number of nodes of one community that face a given other one
    double facing = p->recipe->carriers * (double)n / ((double)c * (double)(c - 1));
    p->communities = shares->communities;
    p->abroad = c < 2 || facing <= 0 ? 0 : fmin(1, p->recipe->abroad / facing);
    p->home = ALLOC(int32_t, n, "communities of nodes");
    p->partner = ALLOC(int32_t, n, "facing communities of nodes");
    p->weight = ALLOC(double, n, "wanted degrees");
    p->begin = ALLOC(int64_t, c + 1, "members of communities");
    p->member = ALLOC(int32_t, n, "members of communities");
    p->facing = ALLOC(int64_t, c * c + 1, "carriers of pairs of communities");
    p->carrier = ALLOC(int32_t, n, "carriers of pairs of communities");
    p->total = ALLOC(double, c, "wanted degrees of communities");
    draw_nodes(p, shares, dataset);
    group_nodes(n, p->home, c, p->begin, p->member);
    FREED int32_t *pair = ALLOC(int32_t, n, "pairs of communities");
    for (int64_t i = 0; i < n; i++)
        pair[i] = p->partner[i] < 0 ? -1 : p->home[i] * p->communities + p->partner[i];
    group_nodes(n, pair, c * c, p->facing, p->carrier);
}

static void planted_clear(Planted *p) {
    MEMORY_FREE(p->home, p->partner, p->weight, p->begin, p->member, p->facing, p->carrier,
                p->total);
}

// --- features

// Four standard normals from the four words of a block: Box-Muller, cosine and sine.
static inline void four_normals(double out[4], RandomKey key, int64_t row, int64_t block) {
    uint32_t word[4];
    random_block(word, key, row, 0, (uint32_t)block);
    for (int k = 0; k < 4; k += 2) {
        double radius = sqrt(-2 * log(((double)word[k] + 0.5) * 0x1p-32));
        double angle = 2 * M_PI * (((double)word[k + 1] + 0.5) * 0x1p-32);
        out[k] = radius * cos(angle);
        out[k + 1] = radius * sin(angle);
    }
}

// out[f] = center[f] + scale * normal number f of the row; center may be NULL.
static void draw_row(float *out, const float *center, double scale, int64_t columns, RandomKey key,
                     int64_t row) {
    double normal[4];
    for (int64_t f = 0; f < columns; f++) {
        if (f % 4 == 0)
            four_normals(normal, key, row, f / 4);
        out[f] = (center == NULL ? 0 : center[f]) + (float)(scale * normal[f % 4]);
    }
}

bool draw_features(Dataset *dataset, const char *name, int64_t columns, double signal,
                   uint64_t seed, Error *err) {
    progress_begin("generate", "%s: features", name);
    if (columns == 0)
        return true;
    dataset->x = TRY(float, dataset->nodes *columns, "features", err);
    if (dataset->x == NULL)
        return false;
    dataset->features = columns;
    int64_t classes = dataset->classes > 0 ? dataset->classes : 1;
    FREED float *mean = ALLOC(float, classes *columns, "means of classes");
    RandomKey means = draw_key(seed, DRAW_MEAN), noise = draw_key(seed, DRAW_NOISE);
    for (int64_t k = 0; k < dataset->classes; k++)
        draw_row(mean + k * columns, NULL, signal, columns, means, k);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < dataset->nodes; i++) {
        int64_t class = dataset->label == NULL ? 0 : dataset->label[i];
        draw_row(dataset->x + i * columns, mean + class * columns, 1, columns, noise, i);
    }
    return true;
}

bool alloc_nodes(Dataset *dataset, const char *name, int64_t nodes, int64_t classes, Error *err) {
    snprintf(dataset->name, sizeof dataset->name, "%s", name);
    dataset->classes = classes;
    dataset->split = TRY(uint8_t, nodes, "splits", err);
    dataset->label = classes > 0 ? TRY(int32_t, nodes, "labels", err) : NULL;
    return err->code == 0;
}

static bool generate_graph(Dataset *dataset, const char *name, int64_t seed, Error *err) {
    Recipe recipe;
    Csr rows;
    if (!find_recipe(&recipe, name, err))
        return false;
    progress_begin("generate", "%s: nodes and edges", name);
    if (!alloc_nodes(dataset, recipe.name, recipe.nodes, recipe.classes, err))
        return false;
    Planted planted = {.recipe = &recipe, .seed = (uint64_t)seed};
    Shares shares = make_shares(&recipe);
    planted_init(&planted, &shares, dataset);
    bool ok = planted_edges(&planted, &rows, err);
    planted_clear(&planted);
    shares_clear(&shares);
    if (!ok)
        return false;
    dataset_set_csr(dataset, &rows);
    return draw_features(dataset, name, recipe.features, recipe.signal, (uint64_t)seed, err);
}

bool dataset_generate(Dataset *dataset, const char *name, int64_t seed, Error *err) {
    *dataset = (Dataset){0};
    if ((is_hyper(name)   ? generate_hyper
         : is_dcsbm(name) ? generate_dcsbm
                          : generate_graph)(dataset, name, seed, err))
        return true;
    dataset_clear(dataset);
    return false;
}
