// Writes the shards of a cut dataset one by one, so that only one part at a time is in memory
// beside the dataset; features are streamed.
#include "internal.h"
#include <stdio.h>
#include <string.h>

static void degrees(double *degree, const Csr *csr, const int32_t *nodes, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        int64_t begin = csr->offset[nodes[i]], end = csr->offset[nodes[i] + 1];
        degree[i] = csr->weight == NULL ? (double)(end - begin) : 0.0;
        for (int64_t e = begin; e < end && csr->weight != NULL; e++)
            degree[i] += (double)csr->weight[e];
    }
}

static ShardRelation relation_of(const PartEdges *edges, int transpose) {
    return (ShardRelation){.to = NODES,
                           .from = NODES,
                           .transpose = transpose,
                           .edges = edges->csr.offset[edges->csr.rows],
                           .offset = edges->csr.offset,
                           .column = edges->csr.column,
                           .weight = edges->csr.weight,
                           .remote = edges->remote,
                           .remote_owner = edges->remote_owner,
                           .remote_row = edges->remote_row,
                           .remote_gid = edges->remote_gid};
}

// The per-node arrays of one part; `shard` points to them.
typedef struct PartRows {
    int64_t *gid;
    double *degree_in, *degree_out;
    int32_t *label;
    uint8_t *labels, *split;
} PartRows;

static void part_rows_init(PartRows *rows, Shard *shard, const Dataset *dataset, const Graph *graph,
                           const int32_t *nodes) {
    RowSet *set = &shard->set[NODES];
    int64_t own = set->own, classes = dataset->classes;
    *rows = (PartRows){.gid = ALLOC(int64_t, own, "rows of a part"),
                       .degree_in = ALLOC(double, own, "rows of a part"),
                       .degree_out = ALLOC(double, own, "rows of a part"),
                       .split = ALLOC(uint8_t, own, "rows of a part")};
    degrees(rows->degree_in, &graph->in, nodes, own);
    degrees(rows->degree_out, &graph->out, nodes, own);
    if (dataset->label != NULL)
        rows->label = ALLOC(int32_t, own, "labels of a part");
    if (dataset->labels != NULL)
        rows->labels = ALLOC(uint8_t, own * classes, "labels of a part");
    for (int64_t i = 0; i < own; i++) {
        rows->gid[i] = nodes[i];
        rows->split[i] = dataset->split[nodes[i]];
        if (rows->label != NULL)
            rows->label[i] = dataset->label[nodes[i]];
        if (rows->labels != NULL)
            memcpy(rows->labels + i * classes, dataset->labels + nodes[i] * classes,
                   (size_t)classes);
    }
    set->gid = rows->gid;
    set->degree_in = rows->degree_in;
    set->degree_out = rows->degree_out;
    shard->label = rows->label;
    shard->labels = rows->labels;
    shard->split = rows->split;
}

static void part_rows_clear(PartRows *rows) {
    memory_free(rows->gid);
    memory_free(rows->degree_in);
    memory_free(rows->degree_out);
    memory_free(rows->label);
    memory_free(rows->labels);
    memory_free(rows->split);
}

// The fields that are the same in all shards.
static Shard shard_of_graph(const Dataset *dataset, const Graph *graph, const Manifest *manifest) {
    Shard shard = {.parts = manifest->parts,
                   .edges = dataset->edges,
                   .sets = 1,
                   .relations = graph->symmetric ? 1 : 2,
                   .set[NODES].total = dataset->nodes,
                   .features = dataset->x != NULL ? dataset->features : 0,
                   .classes = dataset->classes,
                   .multilabel = dataset->multilabel,
                   .majority = -1};
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

// What is needed to make one part.
typedef struct Maker {
    Manifest *manifest;
    const Dataset *dataset;
    const Graph *graph;
    const int32_t *part;
    const PartOrder *order;
    const char *folder;
    int32_t *slot; // [nodes] of -1
} Maker;

static bool write_part(const Maker *maker, Shard shard, int p, Error *err) {
    const PartOrder *order = maker->order;
    Manifest *manifest = maker->manifest;
    PartEdges forward, backward = {0};
    PartRows rows;
    shard.part = p;
    RowSet *nodes = &shard.set[NODES];
    nodes->own = order->begin[p + 1] - order->begin[p];
    nodes->central = order->central[p];
    nodes->reach = order->reach + p * (SHARD_HOPS + 1);
    part_edges_init(&forward, &maker->graph->in, maker->part, order, p, maker->slot);
    shard.relation[IN_EDGES] = relation_of(&forward, shard.relations - 1);
    messages_count(&manifest->sent, &forward, p);
    if (!maker->graph->symmetric) {
        part_edges_init(&backward, &maker->graph->out, maker->part, order, p, maker->slot);
        shard.relation[1] = relation_of(&backward, IN_EDGES);
        messages_count(&manifest->sent_backward, &backward, p);
    }
    part_rows_init(&rows, &shard, maker->dataset, maker->graph, order->node + order->begin[p]);
    PartFigures *figures = &manifest->part[p];
    figures_of_part(figures, &shard, maker->part, maker->graph);
    char path[1024];
    shard_path(path, sizeof path, maker->folder, p, manifest->parts);
    bool ok = shard_write(&shard, maker->dataset->x, path, err);
    ok = ok && hash_file(path, figures->hash, err);
    figures->bytes = file_size(path);
    part_rows_clear(&rows);
    part_edges_clear(&forward);
    part_edges_clear(&backward);
    return ok;
}

// Hashes what the shards hold: the dataset, the parts and the order of rows. Parts without clusters
// change the hash.
static void hash_parts(Manifest *manifest, const int32_t *part, const PartOrder *order,
                       int64_t nodes) {
    int64_t head[3] = {PARTS_VERSION, manifest->parts, manifest->reorder};
    Hash *hash = hash_new();
    hash_add(hash, head, sizeof head);
    hash_add(hash, manifest->dataset_hash, sizeof manifest->dataset_hash);
    hash_add(hash, part, (size_t)nodes * sizeof part[0]);
    if (order->unclustered > 0)
        hash_add(hash, order->node, (size_t)nodes * sizeof order->node[0]);
    hash_text(hash, manifest->partition_hash);
    hash_free(hash);
}

static bool write_part_file(const Manifest *manifest, const int32_t *part, const char *folder,
                            Error *err) {
    char name[PART_FILE_NAME], path[1024];
    part_file_name(name, manifest->dataset_name, manifest->parts);
    path_join(path, sizeof path, folder, name);
    return part_file_write(path, part, manifest->nodes, err);
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

static void warn_of_order(Manifest *manifest, const PartOrder *order, Warnings *warnings) {
    char text[256];
    if (order->unclustered == 0)
        return;
    snprintf(text, sizeof text,
             "%d of %d parts are too large for METIS here: their rows are not ordered by cluster, "
             "so that epochs take longer",
             order->unclustered, manifest->parts);
    warnings_add(&manifest->warnings, "%s", text);
    warnings_add(warnings, "%s", text);
}

bool shards_write(Manifest *manifest, const Dataset *dataset, const Graph *graph,
                  const int32_t *part, const char *folder, Warnings *warnings, Error *err) {
    manifest->nodes = dataset->nodes;
    manifest->edges = dataset->edges;
    snprintf(manifest->dataset_name, sizeof manifest->dataset_name, "%s", dataset->name);
    if (manifest->dataset_hash[0] == '\0')
        dataset_hash(dataset, manifest->dataset_hash);
    figures_of_cut(manifest, graph, part);
    PartOrder order;
    if (!shards_fit(graph, part, manifest->parts, err) ||
        !order_init(&order, graph, dataset->split, part, manifest->parts, manifest->reorder, err))
        return false;
    hash_parts(manifest, part, &order, dataset->nodes);
    warn_of_order(manifest, &order, warnings);
    Maker maker = {.manifest = manifest,
                   .dataset = dataset,
                   .graph = graph,
                   .part = part,
                   .order = &order,
                   .folder = folder,
                   .slot = ALLOC(int32_t, dataset->nodes, "places of remote rows")};
    memset(maker.slot, 0xff, (size_t)dataset->nodes * sizeof maker.slot[0]);
    stage_begin("write", "the shards of %d ranks", manifest->parts);
    Shard shard = shard_of_graph(dataset, graph, manifest);
    bool ok = true;
    for (int p = 0; p < manifest->parts && ok; p++) {
        stage_progress("%d of %d", p + 1, manifest->parts);
        ok = write_part(&maker, shard, p, err);
    }
    memory_free(maker.slot);
    order_clear(&order);
    return ok && write_part_file(manifest, part, folder, err) &&
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
