// Fennel: nodes are streamed, and each joins the part with most of its neighbours, less a price
// that grows with the part's size (Tsourakakis, Gkantsidis, Radunovic, Vojnovic, "FENNEL: Streaming
// Graph Partitioning for Massive Scale Graphs", WSDM 2014). Node v goes to the part P that
// maximises
//
//   |N(v) in P| - a ((|P| + 1)^1.5 - |P|^1.5),   a = edges sqrt(parts) / nodes^1.5
//
// among parts with room; ties go to the smaller part, then to the lower number. A further pass
// takes each node out and places it again, now that all its neighbours have a part (Nishimura and
// Ugander, "Restreaming graph partitioning", KDD 2013).
//
// Where we differ: the stream runs from the highest degree to the lowest, ids ascending among
// equals (Awadelkarim and Ugander, "Prioritized restreaming algorithms for balanced graph
// partitioning", KDD 2020). Hubs are placed first and spread over the parts, and their communities
// gather around them: in the order of ids the cut of planted graphs is nearly twice as large
// (LIMITS 5). Of a hypergraph, |N(v) in P| is the sum of the weights of v's neighbours in its
// clique expansion (expansion.c), and the degree of v is the number of its hyperedges, which
// `edges` sums up. The order takes eight bytes per node. There is only one thread, and only
// the clique expansion draws random numbers, so the parts depend on nothing but the graph and, of a
// hypergraph, partition.seed.
#include "internal.h"

static const double tolerance = 1.03; // of a part's nodes, as in METIS
enum { PASSES_MOST = 100, NONE = -1 };

typedef struct Fennel {
    const Csr *way[2];    // edges by source, and by target if both are read; pins by node
    Expansion *expansion; // of a hypergraph; else NULL
    int ways, parts;
    int64_t nodes, limit; // limit: the most nodes of a part
    double alpha;
    int32_t *part;  // [nodes] or NONE
    int64_t *size;  // [parts]
    double *price;  // [parts] of one more node
    int64_t *count; // [-1, parts) neighbours of the node being placed; zeros between nodes
    int32_t *seen;  // [parts + 2] parts that hold a neighbour, and one more place
    int32_t leaves; // parts, rounded up to a power of two
    int32_t
        *least;    // [2 leaves] least[1]: the smallest part; least[i]: the smaller of 2i and 2i + 1
    int64_t empty; // parts without nodes
} Fennel;

// ---- sizes

// (x + 1)^1.5 - x^1.5 without cancellation, so that it grows with x.
static double step(double x) {
    double y = x + 1;
    return (3 * x * x + 3 * x + 1) / (y * sqrt(y) + x * sqrt(x));
}

static int32_t smaller(const Fennel *f, int32_t a, int32_t b) {
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    return f->size[b] < f->size[a] ? b : a;
}

static void add_to_size(Fennel *f, int32_t p, int by) {
    f->empty += (f->size[p] + by == 0) - (f->size[p] == 0);
    f->size[p] += by;
    f->price[p] = f->alpha * step((double)f->size[p]);
    for (int32_t i = (f->leaves + p) / 2; i >= 1; i /= 2)
        f->least[i] = smaller(f, f->least[2 * i], f->least[2 * i + 1]);
}

// ---- one node

// Counts the neighbours of v in each part and lists the parts that hold any. v has no part, so a
// self-loop counts for NONE, like a neighbour without a part. The loop has no branch, which would
// be unpredictable. Returns the number of listed parts.
static int count_neighbours(Fennel *f, int64_t v) {
    const int32_t *part = f->part;
    int64_t *count = f->count;
    int32_t *seen = f->seen, listed = 0;
    for (int w = 0; w < f->ways; w++) {
        const int32_t *column = f->way[w]->column;
        for (int64_t e = f->way[w]->offset[v]; e < f->way[w]->offset[v + 1]; e++) {
            int32_t p = part[column[e]];
            seen[listed] = p;
            listed += count[p]++ == 0;
        }
    }
    return listed;
}

// The same for a node of a hypergraph, by weight.
static int weigh_neighbours(Fennel *f, int64_t v) {
    const Expansion *x = f->expansion;
    int64_t neighbours = expansion_neighbours(f->expansion, v);
    int32_t listed = 0;
    for (int64_t k = 0; k < neighbours; k++) {
        int32_t p = f->part[x->node[k]];
        f->seen[listed] = p;
        listed += f->count[p] == 0;
        f->count[p] += x->weight[k];
    }
    return listed;
}

static bool is_better(const Fennel *f, int32_t p, int32_t best) {
    double mine = (double)f->count[p] - f->price[p];
    double other = (double)f->count[best] - f->price[best];
    if (mine != other)
        return mine > other;
    return f->size[p] != f->size[best] ? f->size[p] < f->size[best] : p < best;
}

// Of the parts without a neighbour the smallest is the best, so only that one is considered.
static int32_t best_part(Fennel *f, int64_t v) {
    int32_t best = f->least[1];
    int listed = f->expansion != NULL ? weigh_neighbours(f, v) : count_neighbours(f, v);
    for (int k = 0; k < listed; k++) {
        int32_t p = f->seen[k];
        if (p != NONE && f->size[p] < f->limit && is_better(f, p, best))
            best = p;
    }
    for (int k = 0; k < listed; k++)
        f->count[f->seen[k]] = 0;
    return best;
}

// The first pass; `left` nodes including v have no part yet. The last nodes fill empty parts.
static void place(Fennel *f, int64_t v, int64_t left) {
    f->part[v] = left <= f->empty ? f->least[1] : best_part(f, v);
    add_to_size(f, f->part[v], 1);
}

// A further pass. True if v has changed its part; the only node of a part stays.
static bool place_again(Fennel *f, int64_t v) {
    int32_t before = f->part[v];
    if (f->size[before] == 1)
        return false;
    add_to_size(f, before, -1);
    f->part[v] = NONE;
    f->part[v] = best_part(f, v);
    add_to_size(f, f->part[v], 1);
    return f->part[v] != before;
}

// ---- the stream

// The bucket of v, by descending degree.
static int64_t bucket_of(const Fennel *f, int64_t v) {
    int64_t degree = 0, most = f->nodes - 1;
    for (int w = 0; w < f->ways; w++)
        degree += f->way[w]->offset[v + 1] - f->way[w]->offset[v];
    return degree < most ? most - degree : 0;
}

static int32_t *stream_order(const Fennel *f) {
    int32_t *order = ALLOC(int32_t, f->nodes, "order of the stream");
    int32_t *begin = ALLOC(int32_t, f->nodes, "order of the stream"), sum = 0;
    for (int64_t v = 0; v < f->nodes; v++)
        begin[bucket_of(f, v)]++;
    for (int64_t b = 0; b < f->nodes; b++) {
        int32_t count = begin[b];
        begin[b] = sum;
        sum += count;
    }
    for (int64_t v = 0; v < f->nodes; v++)
        order[begin[bucket_of(f, v)]++] = (int32_t)v;
    memory_free(begin);
    return order;
}

static void stream(Fennel *f, int passes) {
    FREED int32_t *order = stream_order(f);
    for (int64_t i = 0; i < f->nodes; i++)
        place(f, order[i], f->nodes - i);
    bool moved = true;
    for (int pass = 1; pass < passes && moved; pass++) {
        moved = false;
        for (int64_t i = 0; i < f->nodes; i++)
            moved |= place_again(f, order[i]);
    }
}

// ---- the member

static void fennel_init(Fennel *f) {
    int64_t entries = 0, parts = f->parts;
    for (int w = 0; w < f->ways; w++)
        entries += csr_entries(f->way[w]);
    double nodes = (double)f->nodes,
           weight = f->expansion != NULL ? (double)f->expansion->scale : 1;
    f->alpha = 0.5 * weight * (double)entries * sqrt(f->parts) / (nodes * sqrt(nodes));
    f->limit = (int64_t)(tolerance * nodes / f->parts);
    if (f->limit < (f->nodes + parts - 1) / parts)
        f->limit = (f->nodes + parts - 1) / parts;
    for (f->leaves = 1; f->leaves < f->parts;)
        f->leaves *= 2;
    f->size = ALLOC(int64_t, parts, "parts of Fennel");
    f->price = ALLOC(double, parts, "parts of Fennel");
    f->count = ALLOC(int64_t, parts + 1, "parts of Fennel") + 1;
    f->seen = ALLOC(int32_t, parts + 2, "parts of Fennel");
    f->least = ALLOC(int32_t, 2 * (int64_t)f->leaves, "parts of Fennel");
    f->empty = parts;
    for (int32_t p = 0; p < f->leaves; p++)
        f->least[f->leaves + p] = p < f->parts ? p : NONE;
    for (int32_t i = f->leaves - 1; i >= 1; i--)
        f->least[i] = f->least[2 * i]; // all parts are empty
    for (int32_t p = 0; p < f->parts; p++)
        f->price[p] = f->alpha * step(0);
    memset(f->part, 0xff, (size_t)f->nodes * sizeof f->part[0]);
}

static void fennel_clear(Fennel *f) {
    MEMORY_FREE(f->least, f->seen, f->count - 1, f->price, f->size);
}

static bool fennel_fits(const CutInput *input, Error *err) {
    MemoryForecast forecast = {0};
    forecast_add(&forecast, "order of the stream",
                 memory_product(input->dataset->nodes, 2 * sizeof(int32_t)));
    forecast_add(&forecast, "parts of Fennel", memory_product(input->parts + 1, 44));
    return forecast_fits(&forecast, input->config->run.memory_limit,
                         "cut on a larger machine and use file:PATH", err);
}

// "" means one pass.
static bool read_passes(const char *argument, int *passes, Error *err) {
    size_t length = strlen(argument);
    *passes = length == 0 ? 1 : 0;
    for (size_t i = 0; i < length && *passes <= PASSES_MOST; i++)
        *passes = argument[i] >= '0' && argument[i] <= '9' ? 10 * *passes + argument[i] - '0'
                                                           : PASSES_MOST + 1;
    return (*passes >= 1 && *passes <= PASSES_MOST) ||
           error_config(err,
                        "partition.method: fennel:%.40s: the passes over the nodes are a number "
                        "from 1 to %d",
                        argument, PASSES_MOST);
}

static bool fits(const char *argument, Error *err) {
    int passes;
    return read_passes(argument, &passes, err);
}

static void fennel_run(Fennel *f, int passes) {
    fennel_init(f);
    stream(f, passes);
    fennel_clear(f);
}

static void cut_nodes(int32_t *part, const CutInput *input, int passes, Warnings *warnings) {
    const Graph *graph = input->graph;
    Csr out = dataset_csr(input->dataset);
    bool symmetric = graph != NULL ? graph->symmetric : csr_is_symmetric(&out);
    bool both = !symmetric && graph != NULL;
    if (!symmetric && !both)
        warnings_add(warnings,
                     "fennel read the edges of a directed graph only by source: the edges "
                     "by target are not in memory");
    fennel_run(&(Fennel){.way = {&out, both ? &graph->in : NULL},
                         .ways = both ? 2 : 1,
                         .parts = input->parts,
                         .nodes = input->dataset->nodes,
                         .part = part},
               passes);
}

static bool cut_nodes_of_hypergraph(int32_t *part, const CutInput *input, int passes, Error *err) {
    CLEARED(expansion_clear) Expansion expansion = {0};
    Csr out = dataset_csr(input->dataset);
    if (!expansion_init(&expansion, input->dataset, input->config->partition.seed,
                        input->config->run.memory_limit, err))
        return false;
    fennel_run(&(Fennel){.way = {&out},
                         .ways = 1,
                         .expansion = &expansion,
                         .parts = input->parts,
                         .nodes = input->dataset->nodes,
                         .part = part},
               passes);
    return true;
}

static bool cut_fennel(int32_t *part, const CutInput *input, Warnings *warnings, Error *err) {
    int passes;
    if (!read_passes(input->argument, &passes, err) || !fennel_fits(input, err))
        return false;
    if (input->dataset->hyperedges > 0)
        return cut_nodes_of_hypergraph(part, input, passes, err);
    cut_nodes(part, input, passes, warnings);
    return true;
}
const Method method_fennel = {
    .name = "fennel", .reads = READS_EDGES, .fits = fits, .cut = cut_fennel};
const Method method_fennel_passes = {
    .name = "fennel:N", .reads = READS_EDGES, .fits = fits, .cut = cut_fennel};
