// One part cut again. The edges of a part, the rows that it reads from others included, are all in
// its shard. So when its own rows are cut into pieces, the halo rows of each piece can be counted
// exactly, at the cost of one part, and tell how a cut of the whole graph into more parts grows.
#include "internal.h"

// The edges between own rows, as a graph of its own: row i reads its columns. Own columns come
// first, because columns ascend.
static void inner_graph(Dataset *inner, const Shard *shard) {
    const ShardRelation *in = &shard->relation[IN_EDGES];
    int64_t own = shard->set[NODES].own;
    const char *what = "edges inside a part";
    inner->nodes = own;
    inner->offset = ALLOC(int64_t, own + 1, what);
    for (int64_t i = 0; i < own; i++) {
        int64_t end = in->offset[i + 1];
        while (end > in->offset[i] && in->column[end - 1] >= own)
            end--;
        inner->offset[i + 1] = inner->offset[i] + end - in->offset[i];
    }
    inner->edges = inner->offset[own];
    inner->target = ALLOC(int32_t, inner->edges, what);
    for (int64_t i = 0; i < own; i++)
        memcpy(inner->target + inner->offset[i], in->column + in->offset[i],
               (size_t)(inner->offset[i + 1] - inner->offset[i]) * sizeof *inner->target);
    inner->split = ALLOC(uint8_t, own, what);
    memcpy(inner->split, shard->split, (size_t)own);
}

static bool cut_inner(int32_t *piece, const Shard *shard, int pieces, const Config *config,
                      Error *err) {
    const ShardRelation *in = &shard->relation[IN_EDGES];
    size_t bytes = csr_bytes_of(shard->set[NODES].own, in->edges, false);
    if (!forecast_fits_one("edges inside a part", bytes, config->run.memory_limit,
                           "cut the graph into more parts first", err))
        return false;
    Dataset inner = {0};
    snprintf(inner.name, sizeof inner.name, "%s", shard->dataset_name);
    inner_graph(&inner, shard);
    bool ok = partition_cut(piece, &inner, pieces, config, err, &(Warnings){0});
    MEMORY_FREE(inner.split, inner.target, inner.offset);
    return ok;
}

// seen[column] is the last piece that read that row, plus 1. Rows are visited piece by piece.
static void count_piece(PartPieces *out, const Shard *shard, const int32_t *piece, int32_t which,
                        int32_t *seen) {
    const ShardRelation *in = &shard->relation[IN_EDGES];
    int64_t own = shard->set[NODES].own, rows = 0;
    for (int64_t i = 0; i < own; i++) {
        bool marginal = false;
        if (piece[i] != which)
            continue;
        rows++;
        for (int64_t e = in->offset[i]; e < in->offset[i + 1]; e++) {
            int32_t column = in->column[e];
            if (column < own && piece[column] == which)
                continue;
            marginal = true;
            out->crossing++;
            out->halo += seen[column] != which + 1;
            seen[column] = which + 1;
        }
        out->marginal += marginal;
    }
    out->largest = rows > out->largest ? rows : out->largest;
}

bool partition_cut_again(PartPieces *out, const Shard *shard, int pieces, const Config *config,
                         Error *err) {
    const Method *method = method_find(config->partition.method, NULL, err);
    int64_t own = shard->set[NODES].own;
    *out = (PartPieces){0};
    if (method == NULL)
        return false;
    if (method->reads_file && pieces > 1)
        return error_config(err,
                            "partition.method '%s' reads a cut from a file, so no finer one can be "
                            "estimated; name a method that cuts, such as metis",
                            config->partition.method);
    if (own < pieces)
        return error_data(err, "%s: a part of %ld nodes cannot be cut into %d pieces",
                          shard->dataset_name, own, pieces);
    FREED int32_t *piece = ALLOC(int32_t, own, "pieces of a part");
    bool ok = pieces == 1 || cut_inner(piece, shard, pieces, config, err);
    FREED int32_t *seen =
        ALLOC(int32_t, own + shard->relation[IN_EDGES].remote, "rows read by a piece");
    for (int p = 0; p < pieces && ok; p++)
        count_piece(out, shard, piece, p, seen);
    return ok;
}
