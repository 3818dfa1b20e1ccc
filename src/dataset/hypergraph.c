// What only a hypergraph has: the checks of its arrays, and the last steps of its readers. Pins are
// the entries of a Csr whose columns are hyperedges; their roles lie beside them.

#include "internal.h"

// --- the checks

bool hypergraph_fits(int64_t nodes, int64_t hyperedges, Error *err) {
    return (hyperedges >= 1 && nodes >= 1 && hyperedges <= INT32_MAX && nodes <= INT32_MAX &&
            nodes + hyperedges <= INT32_MAX) ||
           error_data(err,
                      "%ld nodes and %ld hyperedges; at least one of each, and together up to %d, "
                      "can be used",
                      nodes, hyperedges, INT32_MAX);
}

static bool check_pins(const Dataset *d, Error *err) {
    for (int64_t e = 0; e < d->edges; e++) {
        if (d->target[e] < 0 || d->target[e] >= d->hyperedges)
            return error_data(err, "pin %ld is of hyperedge %d, but hyperedges are 0 to %ld", e,
                              d->target[e], d->hyperedges - 1);
        if (d->pin_role != NULL && (d->pin_role[e] < PIN_SOURCE || d->pin_role[e] > PIN_BOTH))
            return error_data(err,
                              "pin %ld has role %d; roles are 1 (source), 2 (target) and 3 (both)",
                              e, d->pin_role[e]);
    }
    return true;
}

static bool check_weights(const Dataset *d, Error *err) {
    for (int64_t h = 0; d->hyperedge_weight != NULL && h < d->hyperedges; h++)
        if (!isfinite(d->hyperedge_weight[h]) || d->hyperedge_weight[h] < 0)
            return error_data(err,
                              "hyperedge %ld weighs %g; weights must be finite and not negative", h,
                              (double)d->hyperedge_weight[h]);
    for (int64_t i = 0; d->node_weight != NULL && i < d->nodes; i++)
        if (d->node_weight[i] < 0)
            return error_data(err, "node %ld weighs %d; weights must not be negative", i,
                              d->node_weight[i]);
    return true;
}

bool hypergraph_check(const Dataset *dataset, Error *err) {
    assert(dataset->weight == NULL);
    return hypergraph_fits(dataset->nodes, dataset->hyperedges, err) && check_pins(dataset, err) &&
           check_weights(dataset, err);
}

// --- counts

int64_t *hypergraph_sizes(const Dataset *dataset) {
    int64_t *size = ALLOC(int64_t, dataset->hyperedges, "sizes of hyperedges");
    for (int64_t e = 0; e < dataset->edges; e++)
        size[dataset->target[e]]++;
    return size;
}

int64_t hypergraph_uncovered(const Dataset *dataset) {
    int64_t uncovered = 0;
    for (int64_t i = 0; i < dataset->nodes; i++)
        uncovered += dataset->offset[i] == dataset->offset[i + 1];
    return uncovered;
}

// Nodes in hyperedges that are a target in none of them.
static int64_t only_sources(const Dataset *d) {
    int64_t count = 0;
    for (int64_t i = 0; d->pin_role != NULL && i < d->nodes; i++) {
        int roles = 0;
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
            roles |= d->pin_role[e];
        count += roles == PIN_SOURCE;
    }
    return count;
}

void hypergraph_warn(Dataset *dataset) {
    int64_t *size = hypergraph_sizes(dataset), without = 0;
    for (int64_t h = 0; h < dataset->hyperedges; h++)
        without += size[h] == 0;
    memory_free(size);
    warn_of_count(dataset, without, "hyperedge", "without pins");
    warn_of_count(dataset, hypergraph_uncovered(dataset), "node",
                  "in no hyperedge: a hypergraph convolution gives all of them the same output; "
                  "singletons:uncovered in data.transforms gives each a hyperedge of its own");
    warn_of_count(dataset, only_sources(dataset), "node",
                  "a target of no hyperedge: model.norm_hyper=sym, whose degrees of nodes count "
                  "targets, leaves the features of all of them out; row uses them");
}

// --- the last steps of a reader

void hypergraph_set_roles(Dataset *dataset, uint8_t *role) {
    dataset_drop(dataset, &dataset->pin_role);
    dataset->pin_role = role;
}

// The roles travel as the weights of a Csr, which is transposed twice.
static void sort_pins(Dataset *d) {
    Csr rows = dataset_csr(d), back, sorted;
    if (csr_is_ascending(&rows))
        return;
    rows.weight = d->pin_role == NULL ? NULL : ALLOC(float, d->edges, "roles of pins");
    for (int64_t e = 0; rows.weight != NULL && e < d->edges; e++)
        rows.weight[e] = d->pin_role[e];
    csr_transpose(&back, &rows, d->hyperedges);
    memory_free(rows.weight);
    csr_transpose(&sorted, &back, d->nodes);
    csr_free(&back);
    uint8_t *role = sorted.weight == NULL ? NULL : ALLOC(uint8_t, d->edges, "roles of pins");
    for (int64_t e = 0; role != NULL && e < d->edges; e++)
        role[e] = (uint8_t)sorted.weight[e];
    memory_free(sorted.weight);
    sorted.weight = NULL;
    dataset_set_csr(d, &sorted);
    hypergraph_set_roles(d, role);
}

// Keeps the pins that are marked. Takes over the marks.
static void keep_pins(Dataset *d, uint8_t *marked) {
    Csr kept;
    int64_t count = 0, place = 0;
    for (int64_t e = 0; e < d->edges; e++)
        count += marked[e];
    csr_alloc(&kept, d->nodes, count, false, "pins");
    uint8_t *role = d->pin_role == NULL ? NULL : ALLOC(uint8_t, count, "roles of pins");
    for (int64_t i = 0; i < d->nodes; i++) {
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++) {
            if (!marked[e])
                continue;
            if (role != NULL)
                role[place] = d->pin_role[e];
            kept.column[place++] = d->target[e];
        }
        kept.offset[i + 1] = place;
    }
    memory_free(marked);
    dataset_set_csr(d, &kept);
    hypergraph_set_roles(d, role);
}

// A pin that is listed more than once has all the roles that it is listed with.
static void merge_duplicates(Dataset *d) {
    Csr rows = dataset_csr(d);
    int64_t copies = csr_duplicates(&rows);
    if (copies == 0)
        return;
    uint8_t *marked = ALLOC(uint8_t, d->edges, "pins to keep");
    if (d->pin_role != NULL)
        d->pin_role = dataset_writable(d, d->pin_role, (size_t)d->edges, "roles of pins");
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t e = d->offset[i], first = e; e < d->offset[i + 1]; e++) {
            marked[e] = e == d->offset[i] || d->target[e] != d->target[e - 1];
            first = marked[e] ? e : first;
            if (d->pin_role != NULL)
                d->pin_role[first] |= d->pin_role[e];
        }
    keep_pins(d, marked);
    warn_of_count(d, copies, "pin", "listed again in the same hyperedge, and kept once");
}

// No node reads a hyperedge without targets, so its pins are dropped; its id stays.
static void drop_targetless(Dataset *d) {
    if (d->pin_role == NULL)
        return;
    uint8_t *roles = ALLOC(uint8_t, d->hyperedges, "roles in hyperedges");
    uint8_t *marked = ALLOC(uint8_t, d->edges, "pins to keep");
    int64_t targetless = 0;
    for (int64_t e = 0; e < d->edges; e++)
        roles[d->target[e]] |= d->pin_role[e];
    for (int64_t h = 0; h < d->hyperedges; h++)
        targetless += roles[h] == PIN_SOURCE;
    for (int64_t e = 0; e < d->edges; e++)
        marked[e] = roles[d->target[e]] != PIN_SOURCE;
    memory_free(roles);
    warn_of_count(d, targetless, "hyperedge",
                  "without a target, which no node reads: the pins are dropped");
    if (targetless > 0)
        keep_pins(d, marked);
    else
        memory_free(marked);
}

static void drop_defaults(Dataset *d) {
    bool both = d->pin_role != NULL, unit = d->hyperedge_weight != NULL,
         one = d->node_weight != NULL;
    for (int64_t e = 0; both && e < d->edges; e++)
        both = d->pin_role[e] == PIN_BOTH;
    for (int64_t h = 0; unit && h < d->hyperedges; h++)
        unit = d->hyperedge_weight[h] == 1;
    for (int64_t i = 0; one && i < d->nodes; i++)
        one = d->node_weight[i] == 1;
    if (both)
        hypergraph_set_roles(d, NULL);
    if (unit)
        hypergraph_set_weights(d, NULL);
    if (one)
        dataset_drop(d, &d->node_weight);
}

void hypergraph_set_weights(Dataset *dataset, float *weight) {
    dataset_drop(dataset, &dataset->hyperedge_weight);
    dataset->hyperedge_weight = weight;
}

void hypergraph_finish(Dataset *dataset) {
    sort_pins(dataset);
    merge_duplicates(dataset);
    drop_targetless(dataset);
    drop_defaults(dataset);
}

// ---- the star graph

// Counts and then, at `next`, lists the columns of each row. A call with `column` NULL only counts.
static void lead(const Dataset *d, bool by_target, const bool *wanted, int64_t *next,
                 int32_t *column) {
    int of_node = by_target ? PIN_TARGET : PIN_SOURCE, of_hyperedge = PIN_BOTH ^ of_node;
    for (int64_t v = 0; v < d->nodes; v++)
        for (int64_t e = d->offset[v]; e < d->offset[v + 1]; e++) {
            int64_t h = d->nodes + d->target[e];
            bool there = (pin_role(d, e) & of_node) != 0 && (wanted == NULL || wanted[v]);
            bool back = (pin_role(d, e) & of_hyperedge) != 0 && (wanted == NULL || wanted[h]);
            if (column != NULL && there)
                column[next[v]] = (int32_t)h;
            if (column != NULL && back)
                column[next[h]] = (int32_t)v;
            next[v] += there;
            next[h] += back;
        }
}

Csr dataset_star(const Dataset *d, bool by_target, const bool *wanted) {
    int64_t rows = d->nodes + d->hyperedges;
    Csr star = {.rows = rows, .offset = ALLOC(int64_t, rows + 1, "pins both ways")};
    lead(d, by_target, wanted, star.offset + 1, NULL);
    offsets_sum(star.offset, rows);
    star.column = ALLOC(int32_t, csr_entries(&star), "pins both ways");
    lead(d, by_target, wanted, star.offset, star.column);
    offsets_shift_back(star.offset, rows);
    return star;
}

// A pin that is source and target has two.
int64_t dataset_star_entries(const Dataset *d) {
    int64_t entries = 2 * d->edges;
    for (int64_t e = 0; d->pin_role != NULL && e < d->edges; e++)
        entries -= d->pin_role[e] != PIN_BOTH;
    return entries;
}
