// The shards of a cut, made by all ranks at once. Every rank has the dataset mapped and knows the
// part of each row. It orders the rows of its own parts, gets the order of the others, and writes
// its own shards; rank 0 then writes what is there once (manifest.c). Who makes a shard changes no
// byte of it.
#include "internal.h"

// One sharding, as the steps of a rank see it. Steps run beside the main thread.
typedef struct Work {
    const Sharding *s;
    PartOrder order;
    Graph graph; // that of *s, with the memory that this rank may use
    bool last;   // the last try to order parts by cluster
    Error *err;
} Work;

static bool is_first(const Sharding *s) { return s->comm->rank == 0; }

// Runs a step on every rank. Collective.
static bool together(Work *work, void (*step)(void *work)) {
    comm_on_helper(work->s->comm, step, work);
    return comm_agree(work->s->comm, work->err);
}

PartRange parts_of_rank(const Comm *comm, int rank, int parts, bool shared) {
    if (!shared)
        return rank == 0 ? (PartRange){0, parts} : (PartRange){parts, parts};
    return (PartRange){(int)((int64_t)parts * rank / comm->size),
                       (int)((int64_t)parts * (rank + 1) / comm->size)};
}

static PartRange range_of(const Sharding *s, int rank) {
    return parts_of_rank(s->comm, rank, s->manifest->parts, s->shared);
}

// ---- the order of rows

// Ranks of one machine share its memory.
static double share_of_memory(const Sharding *s, double turns) {
    double limit = s->graph->memory_limit;
    if (limit > 0 || s->comm->node_size == 1)
        return limit;
    return (double)(memory_in_use() + memory_available() / (size_t)turns) / (1 << 30);
}

static void order_step(void *context) {
    Work *work = context;
    const Sharding *s = work->s;
    PartRange mine = range_of(s, s->comm->rank);
    OrderInput input = {&work->graph, s->part, s->hops, s->manifest->reorder};
    if (mine.begin == mine.end)
        return;
    if (!work->last && !shards_fit(&work->graph, s->part, mine, s->manifest->parts, work->err))
        return;
    order_parts(&work->order, &input, mine, work->last || s->comm->size == 1, work->err);
}

// A part that is too large for METIS while other ranks run it, too, has another try alone.
// Collective.
static bool order_the_rest(Work *work) {
    const Comm *comm = work->s->comm;
    PartRange mine = range_of(work->s, comm->rank);
    int64_t left = 0;
    for (int p = mine.begin; p < mine.end; p++)
        left += !work->order.done[p];
    comm_sum_int64(comm, &left, 1);
    for (int rank = 0; rank < comm->size && left > 0; rank++) {
        if (rank == comm->rank) {
            work->last = true;
            work->graph.memory_limit = share_of_memory(work->s, 1);
            comm_on_helper(comm, order_step, work);
        }
        if (!comm_agree(comm, work->err))
            return false;
    }
    return true;
}

// Every rank gets the order of all rows, and what was counted with it. Collective.
static void share_order(Work *work) {
    const Sharding *s = work->s;
    PartOrder *order = &work->order;
    int lists = order->sets * order->parts;
    int64_t unclustered = order->unclustered;
    if (s->comm->size == 1)
        return;
    for (int rank = 0; rank < s->comm->size; rank++) {
        PartRange theirs = range_of(s, rank);
        for (int set = 0; set < order->sets && theirs.begin < theirs.end; set++) {
            int64_t begin = order->begin[order_list(order, set, theirs.begin)];
            int64_t end = order->begin[order_list(order, set, theirs.end - 1) + 1];
            comm_broadcast(s->comm, order->vertex + begin,
                           (size_t)(end - begin) * sizeof order->vertex[0], rank);
        }
    }
    comm_sum_int64(s->comm, order->central, lists);
    comm_sum_int64(s->comm, order->reach, lists * (SHARD_HOPS + 1));
    comm_sum_int64(s->comm, &unclustered, 1);
    order->unclustered = (int)unclustered;
}

static bool order_all(Work *work) {
    order_init(&work->order, work->s->graph, work->s->part, work->s->manifest->parts);
    work->graph.memory_limit = share_of_memory(work->s, work->s->comm->node_size);
    if (!together(work, order_step) || !order_the_rest(work))
        return false;
    share_order(work);
    order_number(&work->order);
    return true;
}

// Hashes what the shards hold: the dataset, the parts and the order of rows. Parts without clusters
// change the hash.
static void hash_parts(Manifest *manifest, const int32_t *part, const PartOrder *order,
                       int64_t vertices) {
    int64_t head[3] = {PARTS_VERSION, manifest->parts, manifest->reorder};
    Hash *hash = hash_new();
    hash_add(hash, head, sizeof head);
    hash_add(hash, manifest->dataset_hash, sizeof manifest->dataset_hash);
    hash_add(hash, part, (size_t)vertices * sizeof part[0]);
    if (order->unclustered > 0)
        hash_add(hash, order->vertex, (size_t)vertices * sizeof order->vertex[0]);
    hash_end(hash, manifest->partition_hash);
}

// ---- the shards

static void make_step(void *context) {
    Work *work = context;
    const Sharding *s = work->s;
    PartRange mine = range_of(s, s->comm->rank);
    ShardMaker maker = {s->manifest, s->dataset, &work->graph, s->part, &work->order, s->folder};
    if (mine.begin == mine.end)
        return;
    if (s->dataset->hyperedges == 0)
        figures_of_cut(s->manifest, &work->graph, s->part, mine);
    hash_parts(s->manifest, s->part, &work->order, work->graph.vertices);
    shards_make(&maker, mine, is_first(s), work->err);
}

static void gather_figures(const Sharding *s) {
    PartRange mine = range_of(s, s->comm->rank);
    PartFigures *part = s->manifest->part;
    FREED int64_t *offset = comm_offsets(s->comm, (mine.end - mine.begin) * (int64_t)sizeof *part);
    comm_gather_v(s->comm, part + mine.begin, part, offset);
}

static int32_t *gather_list(const Sharding *s, int32_t *piece, const int64_t *offset) {
    int64_t all = is_first(s) ? offset[s->comm->size] / (int64_t)sizeof(int32_t) : 0;
    int32_t *list = ALLOC(int32_t, all, "pairs of parts that send rows");
    comm_gather_v(s->comm, piece, list, offset);
    memory_free(piece);
    return list;
}

// Rank 0 gets the pairs of all parts, in their order. Collective.
static void gather_messages(const Sharding *s, Messages *m) {
    int64_t item = sizeof(int32_t), *offset = comm_offsets(s->comm, m->count * item);
    m->from = gather_list(s, m->from, offset);
    m->to = gather_list(s, m->to, offset);
    m->rows = gather_list(s, m->rows, offset);
    m->count = m->room = is_first(s) ? offset[s->comm->size] / item : 0;
    memory_free(offset);
}

static void gather_all(const Sharding *s) {
    Manifest *m = s->manifest;
    int64_t sums[2] = {m->edge_cut, m->undirected_edges};
    if (s->comm->size == 1)
        return;
    comm_sum_int64(s->comm, sums, 2);
    m->edge_cut = sums[0];
    m->undirected_edges = sums[1];
    gather_figures(s);
    gather_messages(s, &m->sent);
    gather_messages(s, &m->sent_backward);
}

// ---- the files that are there once

static bool write_part_files(const Manifest *m, const int32_t *part, const char *folder,
                             Error *err) {
    return partition_write_part_file(folder, m->dataset_name, NODES, part, m->nodes, m->parts,
                                     err) &&
           (m->hyperedges == 0 ||
            partition_write_part_file(folder, m->dataset_name, HYPEREDGES, part + m->nodes,
                                      m->hyperedges, m->parts, err));
}

static const double uneven = 1.5; // pins of the largest part over the mean

static void warn_of_order(Warnings *warnings, const PartOrder *order) {
    if (order->unclustered > 0)
        warnings_add(warnings,
                     "%d of %d parts are too large for METIS here: their rows are not ordered by "
                     "cluster, so that epochs take longer",
                     order->unclustered, order->parts);
}

// The rank with the most pins computes longest, and the others wait for it. Methods that cut nodes
// leave the pins to chance.
static void warn_of_pins(Warnings *warnings, const Manifest *manifest) {
    double balance = ranks_balance(manifest->part, manifest->parts, BALANCE_EDGES);
    if (manifest->hyperedges > 0 && balance > uneven)
        warnings_add(warnings,
                     "the largest part has %.1f times the mean number of pins, so the other ranks "
                     "wait for it; with partition.balance=edges metis balances the pins of nodes, "
                     "and metis:star balances those of hyperedges",
                     balance);
}

static void finish_step(void *context) {
    Work *work = context;
    const Sharding *s = work->s;
    Warnings found = {0};
    if (!is_first(s))
        return;
    if (s->dataset->hyperedges > 0) // the second stage sends from hyperedges back to nodes
        messages_turn(&s->manifest->sent_backward);
    warn_of_order(&found, &work->order);
    warn_of_pins(&found, s->manifest);
    warnings_add_all(&s->manifest->warnings, &found);
    warnings_add_all(s->warnings, &found);
    (void)(write_part_files(s->manifest, s->part, s->folder, work->err) &&
           manifest_write(s->manifest, s->folder, work->err) && file_sync(s->folder, work->err));
}

bool shards_write(const Sharding *s, Error *err) {
    Work work = {.s = s, .graph = *s->graph, .err = err};
    s->manifest->nodes = s->dataset->nodes;
    s->manifest->hyperedges = s->dataset->hyperedges;
    s->manifest->edges = s->dataset->edges;
    bool ok = order_all(&work);
    if (ok && is_first(s))
        progress_begin("write", "the shards of %d ranks", s->manifest->parts);
    ok = ok && together(&work, make_step);
    if (ok)
        gather_all(s);
    ok = ok && together(&work, finish_step);
    order_clear(&work.order);
    return ok;
}
