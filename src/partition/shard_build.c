// Writes the shards of a cut dataset one by one, so that only one part at a time is in memory
// beside the dataset; features are streamed.
#include "internal.h"
#include <stdio.h>
#include <string.h>

// What is needed to make one part.
typedef struct Maker {
    Manifest *manifest;
    const Dataset *dataset;
    const Graph *graph;
    const int32_t *part;
    const PartOrder *order;
    const char *folder;
    int32_t *slot; // [vertices] of -1
} Maker;

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

// The arrays of a set of rows of one part, and those that only nodes have; a shard points to them.
typedef struct SetRows {
    int64_t *gid;
    double *degree_in, *degree_out;
    float *weight;
} SetRows;
typedef struct PartRows {
    SetRows set[SHARD_SETS];
    int32_t *label;
    uint8_t *labels, *split;
} PartRows;

static void set_rows_init(SetRows *rows, RowSet *set, const Maker *maker, int s, int p) {
    const Dataset *dataset = maker->dataset;
    const PartOrder *order = maker->order;
    const int32_t *vertex = order_rows(order, s, p);
    const float *weight = s == HYPEREDGES ? dataset->hyperedge_weight : NULL;
    int64_t own = order_own(order, s, p);
    *rows = (SetRows){.gid = ALLOC(int64_t, own, "rows of a part"),
                      .degree_in = degrees(dataset, &maker->graph->in, vertex, own),
                      .degree_out = degrees(dataset, &maker->graph->out, vertex, own),
                      .weight = weight != NULL ? ALLOC(float, own, "rows of a part") : NULL};
    for (int64_t i = 0; i < own; i++) {
        rows->gid[i] = vertex[i] - order_first(order, s);
        if (weight != NULL)
            rows->weight[i] = weight[rows->gid[i]];
    }
    set->own = own;
    set->central = order->central[order_group(order, s, p)];
    set->reach = order->reach + (int64_t)order_group(order, s, p) * (SHARD_HOPS + 1);
    set->gid = rows->gid;
    set->degree_in = rows->degree_in;
    set->degree_out = rows->degree_out;
    set->weight = rows->weight;
}

static void labels_init(PartRows *rows, Shard *shard, const Dataset *dataset) {
    const RowSet *nodes = &shard->set[NODES];
    int64_t own = nodes->own, classes = dataset->classes;
    rows->split = ALLOC(uint8_t, own, "rows of a part");
    if (dataset->label != NULL)
        rows->label = ALLOC(int32_t, own, "labels of a part");
    if (dataset->labels != NULL)
        rows->labels = ALLOC(uint8_t, own * classes, "labels of a part");
    for (int64_t i = 0; i < own; i++) {
        int64_t v = nodes->gid[i];
        rows->split[i] = dataset->split[v];
        if (rows->label != NULL)
            rows->label[i] = dataset->label[v];
        if (rows->labels != NULL)
            memcpy(rows->labels + i * classes, dataset->labels + v * classes, (size_t)classes);
    }
    shard->label = rows->label;
    shard->labels = rows->labels;
    shard->split = rows->split;
}

static void part_rows_clear(PartRows *rows) {
    for (int s = 0; s < SHARD_SETS; s++) {
        memory_free(rows->set[s].gid);
        memory_free(rows->set[s].degree_in);
        memory_free(rows->set[s].degree_out);
        memory_free(rows->set[s].weight);
    }
    memory_free(rows->label);
    memory_free(rows->labels);
    memory_free(rows->split);
}

// The fields that are the same in all shards.
static Shard shard_of_graph(const Dataset *dataset, const Graph *graph, const Manifest *manifest) {
    Shard shard = {.parts = manifest->parts,
                   .edges = dataset->edges,
                   .set[NODES].total = dataset->nodes,
                   .set[HYPEREDGES].total = dataset->hyperedges,
                   .features = dataset->x != NULL ? dataset->features : 0,
                   .classes = dataset->classes,
                   .multilabel = dataset->multilabel,
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
    int64_t *count = ALLOC(int64_t, dataset->classes, "training nodes of each class");
    for (int64_t v = 0; v < dataset->nodes; v++)
        if (dataset->split[v] == SPLIT_TRAIN && dataset->label[v] >= 0)
            count[dataset->label[v]]++;
    shard.majority = 0;
    for (int64_t c = 1; c < dataset->classes; c++)
        if (count[c] > count[shard.majority])
            shard.majority = c;
    memory_free(count);
    return shard;
}

// Adds the rows that part p sends and receives in one exchange of either direction.
static void count_messages(Manifest *manifest, const PartEdges *edges, const Shard *shard, int p) {
    messages_count(&manifest->sent, &edges[IN_EDGES], p);
    if (!shard_is_symmetric(shard))
        messages_count(&manifest->sent_backward, &edges[shard_backward(shard)], p);
}

static bool write_shard(const Maker *maker, const Shard *shard, int p, Error *err) {
    PartFigures *figures = &maker->manifest->part[p];
    char path[1024];
    shard_path(path, sizeof path, maker->folder, p, shard->parts);
    bool ok = shard_write(shard, maker->dataset->x, path, err);
    ok = ok && hash_file(path, figures->hash, err);
    figures->bytes = file_size(path);
    return ok;
}

static bool write_part(const Maker *maker, Shard shard, int p, Error *err) {
    const Csr *way[2] = {&maker->graph->in, &maker->graph->out};
    PartEdges edges[SHARD_RELATIONS] = {0};
    PartRows rows = {0};
    shard.part = p;
    for (int r = 0; r < shard.relations; r++) {
        const ShardRelation *shape = &shard.relation[r];
        part_edges_init(&edges[r], &(PartReads){way[r & 1], maker->part, maker->order, p, shape->to,
                                                shape->from, maker->slot});
        shard.relation[r] = relation_of(&edges[r], shape);
    }
    for (int s = 0; s < shard.sets; s++)
        set_rows_init(&rows.set[s], &shard.set[s], maker, s, p);
    labels_init(&rows, &shard, maker->dataset);
    count_messages(maker->manifest, edges, &shard, p);
    figures_of_part(&maker->manifest->part[p], &shard, maker->part, maker->graph);
    if (!shard_is_hypergraph(&shard))
        figures_of_edges(&maker->manifest->part[p], &shard);
    bool ok = write_shard(maker, &shard, p, err);
    part_rows_clear(&rows);
    for (int r = 0; r < shard.relations; r++)
        part_edges_clear(&edges[r]);
    return ok;
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
    hash_text(hash, manifest->partition_hash);
    hash_free(hash);
}

static bool write_part_files(const Manifest *m, const int32_t *part, const char *folder,
                             Error *err) {
    return partition_write_part_file(folder, m->dataset_name, NODES, part, m->nodes, m->parts,
                                     err) &&
           (m->hyperedges == 0 ||
            partition_write_part_file(folder, m->dataset_name, HYPEREDGES, part + m->nodes,
                                      m->hyperedges, m->parts, err));
}

// Counts what is known before any shard is made.
static bool count_cut(Manifest *manifest, const Dataset *dataset, const Graph *graph,
                      const int32_t *part, Error *err) {
    if (dataset->hyperedges > 0)
        return hypercut_count(&manifest->hypercut, manifest->part, dataset, part, manifest->parts,
                              graph->memory_limit, err);
    figures_of_cut(manifest, graph, part);
    return true;
}

// Writing to the disk began when each shard was closed, so each sync waits only briefly.
static bool sync_shards(const Manifest *manifest, const char *folder, Error *err) {
    bool ok = true;
    for (int p = 0; p < manifest->parts && ok; p++) {
        char path[1024];
        shard_path(path, sizeof path, folder, p, manifest->parts);
        ok = file_sync(path, err);
    }
    return ok;
}

static const double uneven = 1.5; // pins of the largest part over the mean

static void warn(Manifest *manifest, Warnings *warnings, const char *text) {
    warnings_add(&manifest->warnings, "%s", text);
    warnings_add(warnings, "%s", text);
}

static void warn_of_order(Manifest *manifest, const PartOrder *order, Warnings *warnings) {
    char text[256];
    if (order->unclustered == 0)
        return;
    snprintf(text, sizeof text,
             "%d of %d parts are too large for METIS here: their rows are not ordered by cluster, "
             "so that epochs take longer",
             order->unclustered, manifest->parts);
    warn(manifest, warnings, text);
}

// The rank with the most pins computes longest, and the others wait for it. Methods that cut nodes
// leave the pins to chance.
static void warn_of_pins(Manifest *manifest, Warnings *warnings) {
    double balance = ranks_balance(manifest->part, manifest->parts, BALANCE_EDGES);
    char text[256];
    if (manifest->hyperedges == 0 || balance <= uneven)
        return;
    snprintf(text, sizeof text,
             "the largest part has %.1f times the mean number of pins, so the other ranks wait for "
             "it; with partition.balance=edges metis balances the pins of nodes, and metis:star "
             "balances those of hyperedges",
             balance);
    warn(manifest, warnings, text);
}

bool shards_write(Manifest *manifest, const Dataset *dataset, const Graph *graph,
                  const int32_t *part, const char *folder, Warnings *warnings, Error *err) {
    manifest->nodes = dataset->nodes;
    manifest->hyperedges = dataset->hyperedges;
    manifest->edges = dataset->edges;
    snprintf(manifest->dataset_name, sizeof manifest->dataset_name, "%s", dataset->name);
    if (manifest->dataset_hash[0] == '\0')
        dataset_hash(dataset, manifest->dataset_hash);
    PartOrder order;
    if (!count_cut(manifest, dataset, graph, part, err) ||
        !shards_fit(graph, part, manifest->parts, err) ||
        !order_init(&order, graph, dataset->split, part, manifest->parts, manifest->reorder, err))
        return false;
    hash_parts(manifest, part, &order, graph->vertices);
    warn_of_order(manifest, &order, warnings);
    Maker maker = {.manifest = manifest,
                   .dataset = dataset,
                   .graph = graph,
                   .part = part,
                   .order = &order,
                   .folder = folder,
                   .slot = ALLOC(int32_t, graph->vertices, "places of remote rows")};
    memset(maker.slot, 0xff, (size_t)graph->vertices * sizeof maker.slot[0]);
    stage_begin("write", "the shards of %d ranks", manifest->parts);
    Shard shard = shard_of_graph(dataset, graph, manifest);
    bool ok = true;
    for (int p = 0; p < manifest->parts && ok; p++) {
        stage_progress("%d of %d", p + 1, manifest->parts);
        ok = write_part(&maker, shard, p, err);
    }
    if (dataset->hyperedges > 0) // the second stage sends from hyperedges back to nodes
        messages_turn(&manifest->sent_backward);
    if (ok)
        warn_of_pins(manifest, warnings);
    memory_free(maker.slot);
    order_clear(&order);
    return ok && write_part_files(manifest, part, folder, err) &&
           sync_shards(manifest, folder, err) && manifest_write(manifest, folder, err) &&
           file_sync(folder, err);
}

bool partition_write_shards(const Dataset *dataset, const int32_t *part, int parts, bool reorder,
                            const char *folder, Error *err) {
    Graph graph;
    Manifest manifest;
    Warnings warnings = {0};
    if (!graph_init(&graph, dataset, 0, err))
        return false;
    manifest_init(&manifest, parts, graph.symmetric);
    snprintf(manifest.method, sizeof manifest.method, "given");
    manifest.reorder = reorder;
    bool ok = file_make_folder(folder, err) &&
              shards_write(&manifest, dataset, &graph, part, folder, &warnings, err);
    manifest_clear(&manifest);
    graph_clear(&graph);
    return ok;
}
