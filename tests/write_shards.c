#include "write_shards.h"

#include "partition/internal.h"

bool test_write_shards(const Dataset *dataset, const int32_t *part, int parts, bool reorder,
                       const char *folder, Error *err) {
    CLEARED(graph_clear) Graph graph = {0};
    Manifest manifest;
    Comm alone;
    Warnings warnings = {0};
    if (!graph_init(&graph, dataset, 0, err))
        return false;
    comm_self(&alone);
    manifest_init(&manifest, parts, graph.symmetric);
    snprintf(manifest.method, sizeof manifest.method, "given");
    snprintf(manifest.dataset_name, sizeof manifest.dataset_name, "%s", dataset->name);
    dataset_hash(dataset, manifest.dataset_hash);
    manifest.reorder = reorder;
    uint8_t *hops = order_hops(&graph, dataset->split);
    Sharding sharding = {&alone, &manifest, dataset, &graph, part, hops, folder, true, &warnings};
    bool ok = file_make_folder(folder, err) &&
              (dataset->hyperedges == 0 ||
               hypercut_count(&manifest.hypercut, manifest.part, dataset, part, parts, 0, err)) &&
              shards_write(&sharding, err);
    memory_free(hops);
    manifest_clear(&manifest);
    return ok;
}
