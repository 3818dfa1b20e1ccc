// Checks of the arrays of a shard that was read from a file: every offset, column, id and label
// against its bounds, so that a damaged file ends with a sentence and not with a crash.
#include "internal.h"

bool shard_damaged(const Shard *shard, Error *err, const char *what) {
    return error_data(err, "%s: damaged (%s); remove its folder and let fringe make it again",
                      shard->map.path, what);
}

static bool offsets_are_good(const int64_t *offset, int64_t lists, int64_t end) {
    bool ok = offset[0] == 0 && offset[lists] == end;
    for (int64_t i = 0; i < lists; i++)
        ok = ok && offset[i] <= offset[i + 1] && offset[i + 1] <= end;
    return ok;
}

static bool check_columns(const Shard *shard, const ShardRelation *edges) {
    int64_t columns = shard->set[edges->from].own + edges->remote;
    for (int64_t i = 0; i < shard->set[edges->to].own; i++)
        for (int64_t e = edges->offset[i]; e < edges->offset[i + 1]; e++) {
            int32_t before = e > edges->offset[i] ? edges->column[e - 1] : 0;
            if (edges->column[e] < before || edges->column[e] >= columns)
                return false;
        }
    return true;
}

// Checks that owners are in ring order and the rows of each ascend. rows[g + 1] gets the number of
// rows of round g.
static bool check_remote(const Shard *shard, const ShardRelation *edges, int64_t *rows) {
    int64_t total = shard->set[edges->from].total;
    int before = -1; // round of the previous row
    for (int64_t h = 0; h < edges->remote; h++) {
        int owner = edges->remote_owner[h];
        if (owner < 0 || owner >= shard->parts || owner == shard->part)
            return false;
        int g = ring_round(shard->part, owner, shard->parts);
        int32_t row_before = g == before ? edges->remote_row[h - 1] : -1;
        if (g < before || edges->remote_row[h] <= row_before || edges->remote_row[h] >= total ||
            edges->remote_gid[h] < 0 || edges->remote_gid[h] >= total)
            return false;
        before = g;
        rows[g + 1]++;
    }
    return true;
}

static bool check_edges(const Shard *shard, ShardRelation *edges, Error *err) {
    if (!offsets_are_good(edges->offset, shard->set[edges->to].own, edges->edges))
        return shard_damaged(shard, err, "offsets");
    if (!check_columns(shard, edges))
        return shard_damaged(shard, err, "columns");
    edges->remote_round = ALLOC(int64_t, shard->parts, "rounds of remote rows");
    if (!check_remote(shard, edges, edges->remote_round))
        return shard_damaged(shard, err, "remote rows");
    offsets_sum(edges->remote_round, shard->parts - 1);
    return true;
}

static bool check_set(const Shard *shard, const RowSet *set, Error *err) {
    for (int h = 0; h <= SHARD_HOPS; h++)
        if (set->reach[h] < (h > 0 ? set->reach[h - 1] : 0) || set->reach[h] > set->own)
            return shard_damaged(shard, err, "reach");
    for (int64_t i = 0; i < set->own; i++) {
        if (set->gid[i] < 0 || set->gid[i] >= set->total)
            return shard_damaged(shard, err, "ids");
        if (set->weight != NULL && !(set->weight[i] >= 0))
            return shard_damaged(shard, err, "weights of hyperedges");
    }
    return true;
}

static bool check_labels(const Shard *shard, Error *err) {
    for (int64_t i = 0; i < shard->set[NODES].own; i++)
        if (shard->split[i] > SPLIT_TEST ||
            (shard->label != NULL && (shard->label[i] < -1 || shard->label[i] >= shard->classes)))
            return shard_damaged(shard, err, "labels");
    return shard->majority < (shard->classes > 0 ? shard->classes : 1) ||
           shard_damaged(shard, err, "majority");
}

static bool check_sparse(const Shard *shard, Error *err) {
    const Csr *csr = &shard->sparse;
    bool ok = csr->offset == NULL || (csr->offset[csr->rows] == shard->feature_entries &&
                                      csr_is_valid(csr, shard->features));
    return ok || shard_damaged(shard, err, "sparse features");
}

bool shard_check(Shard *shard, Error *err) {
    for (int i = 0; i < shard->sets; i++)
        if (!check_set(shard, &shard->set[i], err))
            return false;
    if (!check_labels(shard, err) || !check_sparse(shard, err))
        return false;
    for (int r = 0; r < shard->relations; r++)
        if (!check_edges(shard, &shard->relation[r], err))
            return false;
    return true;
}
