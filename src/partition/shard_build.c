// Makes the shards of some parts, one by one, so that only one part at a time is in memory beside
// the dataset; features are streamed.
#include "internal.h"

// What entry e adds to the degree of its row: its weight, or that of the hyperedge that it leads
// to.
static double entry_weight(const Dataset *dataset, const Csr *csr, int64_t e) {
    if (csr->weight != NULL)
        return (double)csr->weight[e];
    int64_t h = csr->column[e] - dataset->nodes;
    return h >= 0 && dataset->hyperedge_weight != NULL ? (double)dataset->hyperedge_weight[h] : 1;
}

static double *degrees(const Dataset *dataset, const Csr *csr, const int32_t *rows, int64_t own) {
    double *degree = ALLOC(double, own, "rows of a part");
    for (int64_t i = 0; i < own; i++)
        for (int64_t e = csr->offset[rows[i]]; e < csr->offset[rows[i] + 1]; e++)
            degree[i] += entry_weight(dataset, csr, e);
    return degree;
}

static ShardRelation relation_of(const PartEdges *edges, const ShardRelation *shape) {
    return (ShardRelation){.to = shape->to,
                           .from = shape->from,
                           .transpose = shape->transpose,
                           .edges = edges->csr.offset[edges->csr.rows],
                           .offset = edges->csr.offset,
                           .column = edges->csr.column,
                           .weight = edges->csr.weight,
                           .remote = edges->remote,
                           .remote_owner = edges->remote_owner,
                           .remote_row = edges->remote_row,
                           .remote_gid = edges->remote_gid};
}

// The rows of a part of an array of all nodes, or of all hyperedges; NULL: there is no such array.
static void *own_rows(const void *all, const RowSet *set, size_t bytes) {
    char *own =
        all != NULL ? memory_alloc(memory_product(set->own, bytes), "rows of a part") : NULL;
    for (int64_t i = 0; own != NULL && i < set->own; i++)
        memcpy(own + (size_t)i * bytes, (const char *)all + (size_t)set->gid[i] * bytes, bytes);
    return own;
}

static void set_rows_init(RowSet *set, const ShardMaker *maker, int s, int p) {
    const PartOrder *order = maker->order;
    const int32_t *vertex = order_rows(order, s, p);
    int64_t own = order_own(order, s, p), *gid = ALLOC(int64_t, own, "rows of a part");
    int list = order_list(order, s, p);
    for (int64_t i = 0; i < own; i++)
        gid[i] = vertex[i] - order_first(order, s);
    set->own = own;
    set->central = order->central[list];
    set->reach = order->reach + (int64_t)list * (SHARD_HOPS + 1);
    set->gid = gid;
    set->degree_in = degrees(maker->dataset, &maker->graph->in, vertex, own);
    set->degree_out = degrees(maker->dataset, &maker->graph->out, vertex, own);
    if (s == HYPEREDGES)
        set->weight = own_rows(maker->dataset->hyperedge_weight, set, sizeof *set->weight);
}

static void labels_init(Shard *shard, const Dataset *dataset) {
    const RowSet *nodes = &shard->set[NODES];
    size_t classes = (size_t)dataset->classes;
    shard->label = own_rows(dataset->label, nodes, sizeof *dataset->label);
    shard->labels = own_rows(dataset->labels, nodes, classes);
    shard->numbers = own_rows(dataset->numbers, nodes, classes * sizeof *dataset->numbers);
    shard->split = own_rows(dataset->split, nodes, 1);
}

// The own rows of sparse features: as the part has them.
static void sparse_init(Shard *shard, const Dataset *dataset) {
    const RowSet *nodes = &shard->set[NODES];
    const Csr *from = &dataset->sparse;
    if (from->offset == NULL)
        return;
    int64_t entries = 0, at = 0;
    for (int64_t i = 0; i < nodes->own; i++)
        entries += from->offset[nodes->gid[i] + 1] - from->offset[nodes->gid[i]];
    csr_alloc(&shard->sparse, nodes->own, entries, true, "sparse features of a part");
    for (int64_t i = 0; i < nodes->own; i++) {
        int64_t first = from->offset[nodes->gid[i]];
        int64_t count = from->offset[nodes->gid[i] + 1] - first;
        memcpy(shard->sparse.column + at, from->column + first, (size_t)count * sizeof(int32_t));
        memcpy(shard->sparse.weight + at, from->weight + first, (size_t)count * sizeof(float));
        shard->sparse.offset[i + 1] = at += count;
    }
    shard->is_sparse = true;
    shard->feature_entries = entries;
}

// The arrays that were made here; a shard that is read has them in its mapping.
static void rows_clear(Shard *shard) {
    for (int s = 0; s < SHARD_SETS; s++)
        MEMORY_FREE(shard->set[s].gid, shard->set[s].degree_in, shard->set[s].degree_out,
                    shard->set[s].weight);
    csr_free(&shard->sparse);
    MEMORY_FREE(shard->label, shard->labels, shard->numbers, shard->split);
}

// The fields that are the same in all shards.
static Shard shard_of_graph(const Dataset *dataset, const Graph *graph, const Manifest *manifest) {
    Shard shard = {.parts = manifest->parts,
                   .edges = dataset->edges,
                   .set[NODES].total = dataset->nodes,
                   .set[HYPEREDGES].total = dataset->hyperedges,
                   .features = dataset->features,
                   .classes = dataset->classes,
                   .multilabel = dataset->multilabel,
                   .numeric = dataset->numeric,
                   .majority = -1};
    shard_set_relations(&shard, graph_sets(graph), graph->symmetric);
    snprintf(shard.dataset_name, sizeof shard.dataset_name, "%s", manifest->dataset_name);
    memcpy(shard.dataset_hash, manifest->dataset_hash, sizeof shard.dataset_hash);
    memcpy(shard.partition_hash, manifest->partition_hash, sizeof shard.partition_hash);
    int64_t split[4] = {0};
    for (int64_t v = 0; v < dataset->nodes; v++)
        split[dataset->split[v] & 3]++;
    shard.train_nodes = split[SPLIT_TRAIN];
    shard.val_nodes = split[SPLIT_VAL];
    shard.test_nodes = split[SPLIT_TEST];
    if (dataset->label == NULL || split[SPLIT_TRAIN] == 0)
        return shard;
    FREED int64_t *count = ALLOC(int64_t, dataset->classes, "training nodes of each class");
    for (int64_t v = 0; v < dataset->nodes; v++)
        if (dataset->split[v] == SPLIT_TRAIN && dataset->label[v] >= 0)
            count[dataset->label[v]]++;
    shard.majority = 0;
    for (int64_t c = 1; c < dataset->classes; c++)
        if (count[c] > count[shard.majority])
            shard.majority = c;
    return shard;
}

// Adds the rows that part p sends and receives in one exchange of either direction.
static void count_messages(Manifest *manifest, const PartEdges *edges, const Shard *shard, int p) {
    messages_count(&manifest->sent, &edges[IN_EDGES], p);
    if (!shard_is_symmetric(shard))
        messages_count(&manifest->sent_backward, &edges[shard_backward(shard)], p);
}

static bool write_shard(const ShardMaker *maker, const Shard *shard, int p, Error *err) {
    PartFigures *figures = &maker->manifest->part[p];
    const char *path = SHARD_PATH(maker->folder, p, shard->parts);
    bool ok = shard_write(shard, maker->dataset, path, err);
    ok = ok && hash_file(path, figures->hash, err);
    figures->bytes = file_size(path);
    return ok;
}

static bool write_part(const ShardMaker *maker, Shard shard, int p, int32_t *slot, Error *err) {
    const Csr *way[2] = {&maker->graph->in, &maker->graph->out};
    PartEdges edges[SHARD_RELATIONS] = {0};
    shard.part = p;
    for (int r = 0; r < shard.relations; r++) {
        const ShardRelation *shape = &shard.relation[r];
        part_edges_init(&edges[r], &(PartReads){way[r & 1], maker->part, maker->order, p, shape->to,
                                                shape->from, slot});
        shard.relation[r] = relation_of(&edges[r], shape);
    }
    for (int s = 0; s < shard.sets; s++)
        set_rows_init(&shard.set[s], maker, s, p);
    labels_init(&shard, maker->dataset);
    sparse_init(&shard, maker->dataset);
    count_messages(maker->manifest, edges, &shard, p);
    figures_of_part(&maker->manifest->part[p], &shard, maker->part, maker->graph);
    if (!shard_is_hypergraph(&shard))
        figures_of_edges(&maker->manifest->part[p], &shard);
    bool ok = write_shard(maker, &shard, p, err);
    rows_clear(&shard);
    for (int r = 0; r < shard.relations; r++)
        part_edges_clear(&edges[r]);
    return ok;
}

// Writing to the disk began when each shard was closed, so each sync waits only briefly.
static bool sync_shards(const ShardMaker *maker, PartRange mine, Error *err) {
    bool ok = true;
    for (int p = mine.begin; p < mine.end && ok; p++)
        ok = file_sync(SHARD_PATH(maker->folder, p, maker->manifest->parts), err);
    return ok;
}

bool shards_make(const ShardMaker *maker, PartRange mine, bool say, Error *err) {
    Shard shard = shard_of_graph(maker->dataset, maker->graph, maker->manifest);
    int64_t vertices = maker->graph->vertices;
    FREED int32_t *slot = ALLOC(int32_t, vertices, "places of remote rows");
    bool ok = true;
    memset(slot, 0xff, (size_t)vertices * sizeof *slot); // -1
    for (int p = mine.begin; p < mine.end && ok; p++) {
        if (say && mine.end - mine.begin > 1)
            progress_update("%d of %d", p - mine.begin + 1, mine.end - mine.begin);
        ok = write_part(maker, shard, p, slot, err);
    }
    return ok && sync_shards(maker, mine, err);
}
