// The size of a dataset in words.
#include "internal.h"

const char *shard_size_text(char out[SHARD_SIZE_TEXT], const Shard *shard) {
    int64_t nodes = shard->set[NODES].total;
    bool symmetric = shard_is_symmetric(shard);
    if (shard_is_hypergraph(shard))
        snprintf(out, SHARD_SIZE_TEXT, "%ld nodes, %ld hyperedges, %ld pins (%s)", nodes,
                 shard->set[HYPEREDGES].total, shard->edges, symmetric ? "undirected" : "directed");
    else
        snprintf(out, SHARD_SIZE_TEXT, "%ld nodes, %ld edges (%s)", nodes, shard->edges,
                 symmetric ? "symmetric" : "directed");
    return out;
}
