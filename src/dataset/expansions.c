// Steps for hypergraphs: singletons add hyperedges; clique and star make a graph. With w_h the
// weight of hyperedge h and s_h(j) its sources other than j (undirected: its pins but one):
//
//   clique   w[i,j] = sum over the h that i is a source of and j != i a target, w_h / s_h(j)
//   star     node n+h is hyperedge h: sources -> n+h -> targets, all edges weigh w_h
//
// So every hyperedge adds w_h to what a target of it reads, as in the undirected case.

#include "internal.h"

static float weight_of(const Dataset *d, int64_t hyperedge) {
    return d->hyperedge_weight == NULL ? 1 : d->hyperedge_weight[hyperedge];
}

// Checks the graph that a step makes, before memory is taken.
static bool fits(const Dataset *d, int64_t edges, size_t features, const StepInput *input,
                 Error *err) {
    MemoryForecast forecast = {0};
    char advice[160];
    snprintf(
        advice, sizeof advice,
        "the graph of %ld hyperedges would have at least %ld edges; train on the hypergraph itself",
        d->hyperedges, edges);
    forecast_add(&forecast, "edges of the graph",
                 csr_bytes_of(d->nodes + d->hyperedges, edges, true));
    forecast_add(&forecast, "pins by hyperedge", csr_bytes_of(d->hyperedges, d->edges, true));
    forecast_add(&forecast, "features of the graph", features);
    return forecast_fits(&forecast, input->memory_limit, advice, err);
}

void become_graph(Dataset *d, Csr *graph) {
    dataset_set_csr(d, graph);
    if (d->node_weight != NULL)
        warnings_add(&d->warnings, "the weights of nodes are dropped with the hyperedges");
    dataset_drop(d, &d->node_weight);
    hypergraph_set_roles(d, NULL);
    hypergraph_set_weights(d, NULL);
    d->hyperedges = 0;
    dataset_finish(d);
}

// --- singletons

bool singletons_known(const char *argument, Error *err) {
    return strcmp(argument, "uncovered") == 0 || strcmp(argument, "all") == 0 ||
           error_config(err,
                        "'singletons:%s' is neither singletons:uncovered (nodes in no hyperedge) "
                        "nor singletons:all",
                        argument);
}

// Appends weight 1 for `more` hyperedges.
static void append_weights(Dataset *d, int64_t more) {
    if (d->hyperedge_weight == NULL)
        return;
    float *weight = ALLOC(float, d->hyperedges + more, "weights of hyperedges");
    for (int64_t h = 0; h < d->hyperedges + more; h++)
        weight[h] = h < d->hyperedges ? d->hyperedge_weight[h] : 1;
    hypergraph_set_weights(d, weight);
}

static bool alone(const Dataset *d, int64_t node, bool all) {
    return all || d->offset[node] == d->offset[node + 1];
}

// Rows with one more pin, the last one, for the nodes that get a hyperedge.
static void append_pins(const Dataset *d, bool all, Csr *out, uint8_t *role) {
    int64_t place = 0, hyperedge = d->hyperedges;
    for (int64_t i = 0; i < d->nodes; i++) {
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++) {
            if (role != NULL)
                role[place] = d->pin_role[e];
            out->column[place++] = d->target[e];
        }
        if (alone(d, i, all)) {
            if (role != NULL)
                role[place] = PIN_BOTH;
            out->column[place++] = (int32_t)hyperedge++;
        }
        out->offset[i + 1] = place;
    }
}

bool add_singletons(Dataset *d, const StepInput *input, Error *err) {
    bool all = strcmp(input->argument, "all") == 0;
    int64_t more = all ? d->nodes : hypergraph_uncovered(d);
    Csr rows;
    if (!hypergraph_fits(d->nodes, d->hyperedges + more, err) ||
        !csr_try(&rows, d->nodes, d->edges + more, false, "pins of a hypergraph", err))
        return false;
    uint8_t *role = d->pin_role == NULL ? NULL : ALLOC(uint8_t, d->edges + more, "roles of pins");
    append_pins(d, all, &rows, role);
    append_weights(d, more);
    dataset_set_csr(d, &rows);
    hypergraph_set_roles(d, role);
    d->hyperedges += more;
    return true;
}

// --- clique

typedef struct Clique {
    const Dataset *d;
    Csr members;      // pins by hyperedge; the weights are roles
    int64_t *sources; // [m] source pins of a hyperedge
    int32_t *seen;    // [n] 1 + the last row that reached a node
    double *sum;      // [n] of the row's weights, where `seen` is this row
} Clique;

static void clique_init(Clique *c, const Dataset *d) {
    Csr rows = dataset_csr(d);
    *c = (Clique){.d = d,
                  .sources = ALLOC(int64_t, d->hyperedges, "sources of hyperedges"),
                  .seen = ALLOC(int32_t, d->nodes, "nodes reached"),
                  .sum = ALLOC(double, d->nodes, "weights of a row")};
    rows.weight = ALLOC(float, d->edges, "roles of pins");
    for (int64_t e = 0; e < d->edges; e++) {
        rows.weight[e] = pin_role(d, e);
        c->sources[d->target[e]] += (pin_role(d, e) & PIN_SOURCE) != 0;
    }
    csr_transpose(&c->members, &rows, d->hyperedges);
    memory_free(rows.weight);
}

static void clique_clear(Clique *c) {
    csr_free(&c->members);
    MEMORY_FREE(c->sources, c->seen, c->sum);
}

// Adds what node i sends through hyperedge h. Writes newly reached nodes to out[*count ..), unless
// out is NULL.
static void reach(Clique *c, int64_t i, int64_t h, int32_t *out, int64_t *count) {
    for (int64_t p = c->members.offset[h]; p < c->members.offset[h + 1]; p++) {
        int32_t j = c->members.column[p], role = (int32_t)c->members.weight[p];
        if (j == i || (role & PIN_TARGET) == 0)
            continue;
        if (c->seen[j] != i + 1) {
            c->seen[j] = (int32_t)(i + 1);
            c->sum[j] = 0;
            if (out != NULL)
                out[*count] = j;
            ++*count;
        }
        int64_t others = c->sources[h] - ((role & PIN_SOURCE) != 0);
        c->sum[j] += weight_of(c->d, h) / (double)others;
    }
}

// The number of nodes that i has an edge to; they are left in `sum`, and written to out.
static int64_t reach_all(Clique *c, int64_t i, int32_t *out) {
    int64_t count = 0;
    for (int64_t e = c->d->offset[i]; e < c->d->offset[i + 1]; e++)
        if (pin_role(c->d, e) & PIN_SOURCE)
            reach(c, i, c->d->target[e], out, &count);
    return count;
}

static int compare_nodes(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void fill_cliques(Clique *c, Csr *out) {
    memset(c->seen, 0, (size_t)c->d->nodes * sizeof *c->seen);
    for (int64_t i = 0; i < c->d->nodes; i++) {
        int32_t *row = out->column + out->offset[i];
        int64_t count = reach_all(c, i, row);
        qsort(row, (size_t)count, sizeof *row, compare_nodes);
        for (int64_t k = 0; k < count; k++)
            out->weight[out->offset[i] + k] = (float)c->sum[row[k]];
        out->offset[i + 1] = out->offset[i] + count;
    }
}

// The pairs of one hyperedge, a source and another node that is a target, are distinct; so the
// largest number of them is a bound that takes no time.
static int64_t least_edges(const Dataset *d) {
    int64_t *of_role[PIN_BOTH + 1], largest = 0;
    for (int role = PIN_SOURCE; role <= PIN_BOTH; role++)
        of_role[role] = ALLOC(int64_t, d->hyperedges, "sizes of hyperedges");
    for (int64_t e = 0; e < d->edges; e++)
        of_role[d->pin_role == NULL ? PIN_BOTH : d->pin_role[e]][d->target[e]]++;
    for (int64_t h = 0; h < d->hyperedges; h++) {
        int64_t both = of_role[PIN_BOTH][h];
        int64_t pairs = (of_role[PIN_SOURCE][h] + both) * (of_role[PIN_TARGET][h] + both) - both;
        largest = pairs > largest ? pairs : largest;
    }
    for (int role = PIN_SOURCE; role <= PIN_BOTH; role++)
        memory_free(of_role[role]);
    return largest;
}

static bool make_cliques(Clique *c, Csr *out, const StepInput *input, Error *err) {
    int64_t edges = 0;
    for (int64_t i = 0; i < c->d->nodes; i++)
        edges += reach_all(c, i, NULL);
    if (!fits(c->d, edges, 0, input, err) ||
        !csr_try(out, c->d->nodes, edges, true, "edges of a graph", err))
        return false;
    fill_cliques(c, out);
    return true;
}

bool expand_cliques(Dataset *d, const StepInput *input, Error *err) {
    Clique clique;
    Csr graph;
    if (!fits(d, least_edges(d), 0, input, err))
        return false;
    clique_init(&clique, d);
    bool ok = make_cliques(&clique, &graph, input, err);
    clique_clear(&clique);
    if (ok)
        become_graph(d, &graph);
    return ok;
}

// --- star

// Both edges of a pin weigh what its hyperedge weighs.
static void weigh_star(const Dataset *d, Csr *star) {
    star->weight = ALLOC(float, csr_entries(star), "edges of a graph");
    for (int64_t i = 0; i < star->rows; i++)
        for (int64_t e = star->offset[i]; e < star->offset[i + 1]; e++)
            star->weight[e] = weight_of(d, (i < d->nodes ? star->column[e] : i) - d->nodes);
}

// A copy of an array of rows, with zeros for the hyperedges.
static void *longer(Dataset *d, void *array, int64_t columns, size_t item, const char *what) {
    if (array == NULL)
        return NULL;
    void *copy = memory_alloc(memory_product((d->nodes + d->hyperedges) * columns, item), what);
    memcpy(copy, array, memory_product(d->nodes * columns, item));
    dataset_drop(d, &array);
    return copy;
}

// Hyperedges have features 0, no label and no split.
static void append_rows(Dataset *d) {
    d->x = longer(d, d->x, d->features, sizeof *d->x, "features");
    d->labels = longer(d, d->labels, d->classes, sizeof *d->labels, "labels");
    d->split = longer(d, d->split, 1, sizeof *d->split, "splits");
    d->label = longer(d, d->label, 1, sizeof *d->label, "labels");
    for (int64_t h = 0; d->label != NULL && h < d->hyperedges; h++)
        d->label[d->nodes + h] = -1;
    d->numbers = longer(d, d->numbers, d->classes, sizeof *d->numbers, "labels");
    for (int64_t i = 0; d->numbers != NULL && i < d->hyperedges * d->classes; i++)
        d->numbers[d->nodes * d->classes + i] = NAN;
}

bool expand_star(Dataset *d, const StepInput *input, Error *err) {
    size_t features = memory_product((d->nodes + d->hyperedges) * d->features, sizeof *d->x);
    if (!fits(d, dataset_star_entries(d), features, input, err))
        return false;
    Csr graph = dataset_star(d, false, NULL);
    if (d->hyperedge_weight != NULL)
        weigh_star(d, &graph);
    append_rows(d);
    become_graph(d, &graph);
    return true;
}
