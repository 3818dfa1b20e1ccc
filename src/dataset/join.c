// Features, labels and splits of nodes that are known by the user's ids: rows of a roster go to the
// places of their nodes; or random features that depend on the id only.

#include "roster.h"

typedef struct Join {
    Dataset *dataset;
    const Roster *roster;
    const char *where; // "the stream"
    int32_t *node;     // [roster->known.count] of each id; -1: it is not there. Owned
} Join;

static int64_t find_node(const Join *join, const NodeIds *ids, int64_t known) {
    const NodeIds *of = &join->roster->known;
    if (of->number == NULL)
        return ids_find_text(ids, of->bytes + of->offset[known],
                             of->offset[known + 1] - of->offset[known]);
    int64_t number = of->number[known];
    if (ids->count > 0)
        return ids_find_number(ids, number);
    return number >= 0 && number < join->dataset->nodes ? number : -1;
}

static bool find_nodes(Join *join, const NodeIds *ids, Error *err) {
    int64_t count = join->roster->known.count;
    join->node = TRY(int32_t, count, "nodes of rows", err);
    if (join->node == NULL)
        return false;
    if ((ids->count > 0 ? ids->number : join->roster->known.number) == NULL &&
        join->roster->known.number != NULL)
        return error_data(err, "its ids are numbers, but those of the edges are text");
    if (join->roster->known.number == NULL && ids->number != NULL && count > 0)
        return error_data(err, "its ids are text, but those of the edges are numbers");
#pragma omp parallel for schedule(static) if (count > 65536)
    for (int64_t k = 0; k < count; k++)
        join->node[k] = (int32_t)find_node(join, ids, k);
    return true;
}

static int32_t node_of_row(const Join *join, int64_t row) {
    return join->node[join->roster->row[row]];
}

static int64_t found_rows(const Join *join) {
    int64_t found = 0;
    for (int64_t r = 0; r < join->roster->rows; r++)
        found += node_of_row(join, r) >= 0;
    return found;
}

static bool has_splits(const Roster *roster) {
    bool any = roster->has_split;
    for (int s = 0; s < ROSTER_LISTS; s++)
        any = any || roster->list[s].id != NULL;
    return any;
}

static void warn_of_rows(const Join *join) {
    const bool features = join->roster->data.x != NULL, labels = join->roster->data.classes > 0;
    const int64_t known = found_rows(join);
    char rest[200];
    snprintf(rest, sizeof rest, "in %.100s of a node that is not in %s",
             path_name(join->roster->path), join->where);
    warn_of_count(join->dataset, join->roster->rows - known, "row", rest);
    snprintf(rest, sizeof rest, "without a row in %.100s: %s%s%s", path_name(join->roster->path),
             features ? "no features" : "", features && labels ? ", " : "",
             labels ? "no label" : "");
    if (has_splits(join->roster))
        text_add(rest, sizeof rest, ", ", "no split");
    warn_of_count(join->dataset, join->dataset->nodes - known, "node", rest);
}

// ---- features and labels

// What the rows hold, `bytes` each, at the places of their nodes.
static void put_rows(const Join *join, void *to, const void *from, size_t bytes) {
    for (int64_t r = 0; r < join->roster->rows; r++)
        if (node_of_row(join, r) >= 0)
            memcpy((char *)to + (size_t)node_of_row(join, r) * bytes,
                   (const char *)from + (size_t)r * bytes, bytes);
}

static bool take_features(const Join *join, const Dataset *rows, Error *err) {
    Dataset *d = join->dataset;
    if (rows->x == NULL)
        return true;
    features_drop(d);
    d->features = rows->features;
    d->x = TRY(float, d->nodes * rows->features, "features", err);
    if (d->x != NULL)
        put_rows(join, d->x, rows->x, (size_t)rows->features * sizeof *d->x);
    return d->x != NULL;
}

// The same array of all nodes: what the rows hold, and `none` of nodes without a row.
static void *of_nodes(const Join *join, const void *rows, size_t bytes, int none, Error *err) {
    size_t all = memory_product(join->dataset->nodes, bytes);
    void *out = rows != NULL ? memory_try(all, "labels", err) : NULL;
    if (out == NULL)
        return NULL;
    memset(out, none, all);
    put_rows(join, out, rows, bytes);
    return out;
}

static bool take_labels(const Join *join, Dataset *rows, Error *err) {
    Dataset *d = join->dataset;
    if (rows->label == NULL && rows->labels == NULL && rows->numbers == NULL)
        return true;
    size_t columns = (size_t)rows->classes;
    // bytes 255 are -1 as an integer, and not a number as a float
    int32_t *label = of_nodes(join, rows->label, sizeof *label, 255, err);
    uint8_t *labels = of_nodes(join, rows->labels, columns, 0, err);
    float *numbers = of_nodes(join, rows->numbers, columns * sizeof *numbers, 255, err);
    if (label == NULL && labels == NULL && numbers == NULL)
        return false;
    labels_drop(d);
    d->label = label;
    d->labels = labels;
    d->numbers = numbers;
    d->classes = rows->classes;
    d->multilabel = labels != NULL;
    d->numeric = numbers != NULL;
    d->names = rows->names;
    rows->names = (NodeIds){0};
    return true;
}

// ---- splits

static bool has_label(const Dataset *d, const NodeIds *known, int64_t id, int32_t node,
                      const char *key, Error *err) {
    return dataset_is_labelled(d, node) ||
           error_data(err,
                      "'%s' holds %s, which has no label; take it out of '%s' or give it a label",
                      key, NODE_ID(known, id), key);
}

static bool put_split(const Join *join, int s, Error *err) {
    const Roster *roster = join->roster;
    Dataset *d = join->dataset;
    int64_t unknown = 0;
    char rest[100];
    for (int64_t k = 0; k < roster->list[s].count; k++) {
        int64_t id = roster->list[s].id[k];
        int32_t node = join->node[id];
        unknown += node < 0;
        if (node < 0)
            continue;
        if (!has_label(d, &roster->known, id, node, roster->list[s].key, err))
            return false;
        d->split[node] = (uint8_t)(SPLIT_TRAIN + s);
    }
    snprintf(rest, sizeof rest, "in '%s' of a node that is not in %s", roster->list[s].key,
             join->where);
    warn_of_count(d, unknown, "id", rest);
    return true;
}

static bool take_splits(const Join *join, Error *err) {
    Dataset *d = join->dataset;
    const Roster *roster = join->roster;
    if (!has_splits(roster))
        return true;
    if (!dataset_need_split(d, err))
        return false;
    splits_begin(d);
    if (roster->has_split)
        put_rows(join, d->split, roster->data.split, 1);
    for (int s = 0; s < ROSTER_LISTS; s++)
        if (roster->list[s].id != NULL && !put_split(join, s, err))
            return false;
    return true;
}

// ---- all of it

// Rows of other nodes alone are those of another graph, or its ids are counted in another way.
static bool some_are_found(const Join *join, Error *err) {
    return join->roster->rows == 0 || found_rows(join) > 0 ||
           error_data(err,
                      "none of its %ld ids is one of %s; both must call a node the same, and "
                      "data.columns={\"id\": ...} names the column of ids",
                      join->roster->rows, join->where);
}

bool roster_join(Dataset *dataset, const NodeIds *ids, Roster *roster, const char *where,
                 bool whole, Error *err) {
    Join join = {.dataset = dataset, .roster = roster, .where = where};
    bool ok = find_nodes(&join, ids, err) && (!whole || some_are_found(&join, err)) &&
              take_features(&join, &roster->data, err) && take_labels(&join, &roster->data, err);
    if (ok && (roster->data.x != NULL || roster->data.classes > 0))
        warn_of_rows(&join);
    ok = ok && take_splits(&join, err);
    warnings_add_all(&dataset->warnings, &roster->warnings);
    warnings_add_all(&dataset->warnings, &roster->data.warnings);
    memory_free(join.node);
    return ok;
}

// ---- of streams

static bool join_random(Dataset *dataset, const uint64_t *id, const char *width, int64_t seed,
                        Error *err) {
    int64_t columns;
    if (!random_width(&columns, width, DATASET_MAX_FEATURES, err))
        return false;
    features_drop(dataset);
    dataset->features = columns;
    dataset->x = TRY(float, dataset->nodes *columns, "random features", err);
    if (dataset->x != NULL)
        random_rows(dataset->x, dataset->nodes, columns, seed, id);
    return dataset->x != NULL;
}

// The F of "random:F"; NULL: a path.
static const char *width_of(const char *nodes) {
    static const char random[] = "random:";
    return strncmp(nodes, random, sizeof random - 1) == 0 ? nodes + sizeof random - 1 : NULL;
}

bool dataset_join_fits(const char *nodes, Error *err) {
    int64_t columns;
    if (width_of(nodes) != NULL)
        return random_width(&columns, width_of(nodes), DATASET_MAX_FEATURES, err);
    CLEARED(npz_drop) Npz *npz = npz_open(nodes, err);
    return npz != NULL && (roster_keys_fit(npz, err) || npz_name_file(err, nodes));
}

bool dataset_join(Dataset *dataset, const uint64_t *id, const char *nodes, int64_t seed,
                  Error *err) {
    static const Config nothing;
    if (width_of(nodes) != NULL)
        return join_random(dataset, id, width_of(nodes), seed, err);
    NodeIds ids = {dataset->nodes, (int64_t *)(uintptr_t)id, true, NULL, NULL};
    CLEARED(roster_close) Roster roster = {0};
    CLEARED(npz_drop) Npz *npz = npz_open(nodes, err);
    bool ok = npz != NULL && roster_read_npz(&roster, npz, nodes, &nothing, true, err) &&
              roster_join(dataset, &ids, &roster, "the stream", false, err);
    return ok || npz_name_file(err, nodes);
}
