// Components: union-find over a rank's own rows and those it reads; then rounds, in which the
// smallest node id of each set goes to the readers of its rows and back, until no rank learns of a
// smaller one.
#include "internal.h"

// Elements of the sets: own nodes, own hyperedges, and the halo rows of each stage.
typedef struct Sets {
    const ProgramParts *parts;
    Topology topology;
    int64_t first[SHARD_SETS];      // element of the first own row of a set of rows
    int64_t first_halo[SHARD_SETS]; // of the first halo row of a stage
    int64_t *parent, *smallest;     // [elements]; smallest: node id, of roots
    uint8_t *covered;               // [own nodes], borrowed
    bool changed;
} Sets;

static int64_t root_of(Sets *s, int64_t element) {
    while (s->parent[element] != element) {
        s->parent[element] = s->parent[s->parent[element]];
        element = s->parent[element];
    }
    return element;
}

static void lower(Sets *s, int64_t element, int64_t label) {
    int64_t root = root_of(s, element);
    if (label < s->smallest[root]) {
        s->smallest[root] = label;
        s->changed = true;
    }
}

static void join(Sets *s, int64_t a, int64_t b) {
    int64_t from = root_of(s, a), to = root_of(s, b);
    if (from == to)
        return;
    s->parent[from] = to;
    lower(s, to, s->smallest[from]);
}

static void cover_node(Sets *s, int64_t element) {
    if (element < nodes_of(s->parts)->own)
        s->covered[element] = 1;
}

// Weights that a relation has beside those of its entries: of hyperedges, as rows or as columns.
typedef struct Weights {
    const float *row, *own, *halo; // NULL: 1
} Weights;

static void join_row(Sets *s, const Csr *csr, int64_t k, int64_t target, int64_t first,
                     const float *column_weight, bool ignore_zeros) {
    for (int64_t e = csr->offset[k]; e < csr->offset[k + 1]; e++) {
        int32_t column = csr->column[e];
        cover_node(s, target);
        cover_node(s, first + column);
        if (ignore_zeros && ((csr->weight != NULL && csr->weight[e] == 0) ||
                             (column_weight != NULL && column_weight[column] == 0)))
            continue;
        join(s, target, first + column);
    }
}

static void join_stage(Sets *s, int stage, const Weights *weights, bool ignore_zeros) {
    const Pattern *p = s->topology.pattern[stage];
    const ShardRelation *edges = &s->parts->shard->relation[p->kind.relation];
    int64_t to = s->first[edges->to], from = s->first[edges->from];
    for (int64_t i = 0; i < p->rows; i++)
        if (!ignore_zeros || weights->row == NULL || weights->row[i] != 0)
            join_row(s, &p->own, i, to + i, from, weights->own, ignore_zeros);
    for (int64_t k = 0; k < p->halo.rows; k++)
        if (!ignore_zeros || weights->row == NULL || weights->row[p->halo_row[k]] != 0)
            join_row(s, &p->halo, k, to + p->halo_row[k], s->first_halo[stage], weights->halo,
                     ignore_zeros);
    for (int64_t k = 0; k < p->plan.send_offset[p->plan.size - 1]; k++)
        cover_node(s, from + p->plan.send_row[k]); // others read it
}

// Of a graph there are none; of a hypergraph rows of stage 0 and columns of stage 1 are hyperedges.
static void join_all(Sets *s, bool ignore_zeros) {
    const float *of_edges = s->parts->shard->set[HYPEREDGES].weight;
    for (int stage = 0; stage < s->topology.stages; stage++) {
        const HaloPlan *plan = &s->topology.pattern[stage]->plan;
        FREED float *halo = NULL;
        Weights weights = {0};
        if (s->topology.stages > 1 && stage == 0)
            weights.row = of_edges;
        if (stage == 1 && comm_max_double(s->parts->comm, of_edges != NULL) > 0) {
            halo = ALLOC(float, plan->halo_count, "weights");
            topology_tell(plan, of_edges, halo, sizeof *halo);
            weights = (Weights){.own = of_edges, .halo = halo};
        }
        join_stage(s, stage, &weights, ignore_zeros);
    }
}

// The smallest ids of own sources to their readers, and those of the readers back.
static void round_of(Sets *s, int stage) {
    const Pattern *p = s->topology.pattern[stage];
    const HaloPlan *plan = &p->plan;
    int64_t from = s->first[s->parts->shard->relation[p->kind.relation].from];
    int64_t count = plan->send_offset[plan->size - 1];
    FREED int64_t *sent = ALLOC(int64_t, count, "labels");
    FREED int64_t *halo = ALLOC(int64_t, plan->halo_count, "labels");
    for (int64_t k = 0; k < count; k++)
        sent[k] = s->smallest[root_of(s, from + plan->send_row[k])];
    ring_to_readers(plan, sent, halo, sizeof *halo);
    for (int64_t h = 0; h < plan->halo_count; h++)
        lower(s, s->first_halo[stage] + h, halo[h]);
    for (int64_t h = 0; h < plan->halo_count; h++)
        halo[h] = s->smallest[root_of(s, s->first_halo[stage] + h)];
    ring_to_owners(plan, halo, sent, sizeof *sent);
    for (int64_t k = 0; k < count; k++)
        lower(s, from + plan->send_row[k], sent[k]);
}

// Labels go from each own source to its readers, and those of halo rows back.
static int64_t bytes_of_round(const Sets *s) {
    int64_t rows = topology_sent(&s->topology);
    for (int stage = 0; stage < s->topology.stages; stage++)
        rows += s->topology.pattern[stage]->plan.halo_count;
    return rows * (int64_t)sizeof(int64_t);
}

static void sets_init(Sets *s, const ProgramParts *parts, uint8_t *covered) {
    int64_t count = 0;
    *s = (Sets){.parts = parts, .covered = covered};
    topology_init(&s->topology, parts);
    for (int set = 0; set < parts->shard->sets; set++, count += parts->shard->set[set - 1].own)
        s->first[set] = count;
    for (int stage = 0; stage < s->topology.stages; stage++) {
        s->first_halo[stage] = count;
        count += s->topology.pattern[stage]->plan.halo_count;
    }
    s->parent = ALLOC(int64_t, count, "sets of components");
    s->smallest = ALLOC(int64_t, count, "sets of components");
    for (int64_t i = 0; i < count; i++) {
        s->parent[i] = i;
        s->smallest[i] = i < nodes_of(parts)->own ? nodes_of(parts)->gid[i] : INT64_MAX;
    }
}

// The nodes of the largest component; rank 0 counts.
static int64_t largest_of(const ProgramParts *parts, const int64_t *component) {
    int64_t nodes = nodes_of(parts)->total, largest = 0;
    FREED int64_t *all = shard_gather(parts->shard, parts->comm, component, sizeof *component);
    if (all != NULL) {
        FREED int64_t *count = ALLOC(int64_t, nodes, "sizes of components");
        for (int64_t i = 0; i < nodes; i++) {
            int64_t of_this = ++count[all[i]];
            largest = of_this > largest ? of_this : largest;
        }
    }
    comm_broadcast(parts->comm, &largest, sizeof largest, 0);
    return largest;
}

void components_find(Components *c, const ProgramParts *parts, bool ignore_zeros) {
    const RowSet *set = nodes_of(parts);
    Sets s;
    *c = (Components){.component = ALLOC(int64_t, set->own, "components"),
                      .covered = ALLOC(uint8_t, set->own, "covered nodes")};
    sets_init(&s, parts, c->covered);
    join_all(&s, ignore_zeros);
    double since = clock_seconds();
    do {
        s.changed = false;
        for (int stage = 0; stage < s.topology.stages; stage++)
            round_of(&s, stage);
        c->rounds++;
    } while (program_sum(parts, s.changed) > 0);
    c->seconds = clock_seconds() - since;
    c->bytes = c->rounds * bytes_of_round(&s);
    int64_t count[2] = {0};
    for (int64_t i = 0; i < set->own; i++) {
        c->component[i] = s.smallest[root_of(&s, i)];
        count[0] += c->covered[i] && c->component[i] == set->gid[i];
        count[1] += c->covered[i];
    }
    MEMORY_FREE(s.smallest, s.parent);
    topology_clear(&s.topology);
    c->count = program_sum(parts, count[0]);
    c->nodes = program_sum(parts, count[1]);
    c->largest = largest_of(parts, c->component);
}

void components_clear(Components *c) {
    MEMORY_FREE(c->covered, c->component);
    *c = (Components){0};
}

uint8_t *components_reached(const Components *c, const ProgramParts *parts) {
    const RowSet *set = nodes_of(parts);
    int64_t total, *seeds = program_gather(parts, c->component, set->reach[0], &total);
    sort_int64(seeds, total);
    uint8_t *reached = ALLOC(uint8_t, set->own, "reached nodes");
    for (int64_t i = 0; i < set->own; i++)
        reached[i] = sort_find(seeds, total, c->component[i]) >= 0;
    memory_free(seeds);
    return reached;
}

// ---- the program

static void run(ProgramRun *run) {
    const ProgramParts *parts = run->parts;
    int64_t *copy = ALLOC(int64_t, nodes_of(parts)->own, "components");
    memcpy(copy, run->components->component, (size_t)nodes_of(parts)->own * sizeof *copy);
    run->iterations = run->components->rounds;
    run->seconds = run->components->seconds;
    run->bytes = run->components->bytes;
    program_array(run, (ProgramArray){"components.npy", "<i8", sizeof *copy, 0, 0, copy});
}

static void plan(ProgramPlan *plan) {
    int64_t own = nodes_of(plan->parts)->own;
    alloc_host(&plan->allocator, memory_product(own, sizeof(int64_t)), "result");
}

static int64_t row_bytes(UNUSED const ProgramParts *parts) { return sizeof(int64_t); }

const Program program_components = {
    .name = "components", .keys = "", .plan = plan, .row_bytes = row_bytes, .run = run};
