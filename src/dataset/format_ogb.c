// Node property prediction sets as the ogb package unpacks them: a folder with raw/ and split/.
//
//   raw/edge.csv.gz            source,target                      or raw/data.npz
//   raw/node-feat.csv.gz       numbers                               edge_index, node_feat
//   raw/node-label.csv.gz      a class, or 0 and 1 for each class or raw/node-label.npz
//   raw/num-node-list.csv.gz   one number; num-edge-list likewise
//   split/TYPE/{train,valid,test}.csv.gz                             one node a line
//
// Sets that are split by sales rank (ogbn-products) store one direction of each edge, and the
// package adds the other (add_inverse_edge); so does this reader, as data.undirected does for
// others.

#include "ogb.h"

// ---- tables

static bool table_read(const OgbFolder *f, const char *name, OgbTable *table, Error *err) {
    int64_t lines;
    const char *path = PATH_IN(f->raw, name);
    progress_begin("read", "%s", name);
    if (!text_blocks(path, ogb_take_rows, table, &lines, err))
        return false;
    return lines >= table->rows ||
           error_data(err,
                      "%s: it has %ld lines, but %s says %ld; it is cut, or of another dataset",
                      path, lines, table->counted_by, table->rows);
}

static bool count_read(const OgbFolder *f, const char *name, int64_t *count, int64_t most,
                       Error *err) {
    OgbTable table = {1, "the format", false, ogb_count, count};
    if (!table_read(f, name, &table, err))
        return false;
    return (*count >= 1 && *count <= most) ||
           error_data(err, "%s/%s says %ld; 1 to %ld can be read", f->raw, name, *count, most);
}

// ---- edges

// An edge takes at least four bytes of text, which gzip makes at most DEFLATE_EXPANDS times
// smaller.
static int64_t most_edges(const OgbFolder *f) {
    int64_t bytes = file_size(PATH_IN(f->raw, "edge.csv.gz"));
    return bytes < 0 ? INT64_MAX / 16 : bytes * DEFLATE_EXPANDS / 4 + 1;
}

static bool read_edges(Dataset *d, const OgbFolder *f, const Config *config, Error *err) {
    int64_t nodes = 0, edges = 0;
    if (!count_read(f, "num-node-list.csv.gz", &nodes, DATASET_MAX_NODES, err) ||
        !count_read(f, "num-edge-list.csv.gz", &edges, most_edges(f), err))
        return false;
    OgbEdges edge = {.nodes = nodes};
    OgbTable table = {edges, "num-edge-list.csv.gz", false, ogb_edge, &edge};
    bool ok = ends_init(&edge.ends, edges, err) && table_read(f, "edge.csv.gz", &table, err) &&
              ends_to_rows(d, &edge.ends, nodes, f->inverse || config->data.undirected, err);
    ends_clear(&edge.ends);
    return ok;
}

// ---- features and labels

static bool columns_of(const OgbFolder *f, const char *name, int64_t most, int64_t *columns,
                       Error *err) {
    const char *path = PATH_IN(f->raw, name);
    *columns = text_columns(path, err);
    return *columns >= 0 && ((*columns >= 1 && *columns <= most) ||
                             error_data(err, "%s: its first line has %ld columns", path, *columns));
}

static bool read_features(Dataset *d, const OgbFolder *f, const Config *config, Error *err) {
    if (config->data.features[0] != '\0' || !ogb_has(f->raw, "node-feat.csv.gz"))
        return true;
    if (!columns_of(f, "node-feat.csv.gz", DATASET_MAX_FEATURES, &d->features, err))
        return false;
    d->x = TRY(float, d->nodes * d->features, "features", err);
    if (d->x == NULL)
        return false;
    OgbTable table = {d->nodes, "num-node-list.csv.gz", false, ogb_features, d};
    return table_read(f, "node-feat.csv.gz", &table, err);
}

static bool read_labels(Dataset *d, const OgbFolder *f, const Config *config, Error *err) {
    const char *name = "node-label.csv.gz";
    int64_t columns;
    if (config->data.labels[0] != '\0' || !ogb_has(f->raw, name))
        return true;
    if (!columns_of(f, name, DATASET_MAX_CLASSES, &columns, err))
        return false;
    d->multilabel = columns > 1;
    if (d->multilabel)
        d->labels = TRY(uint8_t, d->nodes * columns, "labels", err);
    else
        d->label = TRY(int32_t, d->nodes, "labels", err);
    d->classes = d->multilabel ? columns : 0;
    OgbTable table = {d->nodes, "num-node-list.csv.gz", !d->multilabel,
                      d->multilabel ? ogb_classes : ogb_class, d};
    if (err->code != 0 || !table_read(f, name, &table, err))
        return false;
    for (int64_t i = 0; !d->multilabel && i < d->nodes; i++)
        d->classes = d->label[i] >= d->classes ? d->label[i] + 1 : d->classes;
    return true;
}

// ---- splits

static bool read_ids(Dataset *d, const char *path, uint8_t split, Error *err) {
    CLEARED(text_clear) Text text = {0};
    int64_t node;
    if (!text_read(&text, path, err))
        return false;
    Scan scan = scan_text(&text, path);
    for (; err->code == 0 && scan.at < scan.end; scan_next_line(&scan)) {
        if (scan_at_line_end(&scan) || !scan_int64(&scan, &node, "a node", err))
            continue;
        if (node < 0 || node >= d->nodes)
            scan_error(&scan, err, "node %ld is not one of 0 to %ld", node, d->nodes - 1);
        else if (d->split[node] != SPLIT_NONE)
            scan_error(&scan, err, "node %ld is in the splits twice", node);
        else
            d->split[node] = split;
    }
    return err->code == 0;
}

static const char *const split_names[] = {"train.csv.gz", "valid.csv.gz", "test.csv.gz"};

static bool read_splits(Dataset *d, const OgbFolder *f, Error *err) {
    bool ok = dataset_need_split(d, err);
    for (int s = 0; ok && f->split[0] != '\0' && s < 3; s++)
        ok = read_ids(d, PATH_IN(f->split, split_names[s]), (uint8_t)(SPLIT_TRAIN + s), err);
    return ok;
}

// ---- the format

static bool name_inside(const char *path, char name[DATASET_NAME], UNUSED Error *err) {
    OgbFolder f;
    if (ogb_find(&f, path, &(Error){0}))
        dataset_name_of(name, f.root);
    return true;
}

static const char *const tables[] = {"num-node-list.csv.gz", "num-edge-list.csv.gz", "edge.csv.gz",
                                     "node-feat.csv.gz",     "node-label.csv.gz",    "data.npz",
                                     "node-label.npz"};

static int files(const char *path, FormatFile file[FORMAT_FILES]) {
    OgbFolder f;
    int count = 0;
    if (!ogb_find(&f, path, &(Error){0}))
        return 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (ogb_has(f.raw, tables[i])) {
            file[count].what = tables[i];
            path_join(file[count++].path, PATH_BYTES, f.raw, tables[i]);
        }
    for (int s = 0; f.split[0] != '\0' && s < 3; s++) {
        file[count].what = split_names[s];
        path_join(file[count++].path, PATH_BYTES, f.split, split_names[s]);
    }
    return count;
}

static bool read(Dataset *d, const Request *request, Error *err) {
    OgbFolder f;
    if (!ogb_find(&f, request->path, err))
        return false;
    const Config *config = request->config;
    bool ok = f.binary ? ogb_read_binary(d, &f, config, err)
                       : read_edges(d, &f, config, err) && read_labels(d, &f, config, err) &&
                             read_features(d, &f, config, err);
    return ok && read_splits(d, &f, err);
}

const Format format_ogb = {.name = "ogb",
                           .matches = ogb_is,
                           .files = files,
                           .name_inside = name_inside,
                           .read = read,
                           .streams = true,
                           .factor = {.word = 16, .number = 24}};
