// The files beside a graph that the config names: data.features (.npy, .npz or .csv), data.labels
// (.npy or .csv), data.nodes (.npz or .csv), data.splits. They replace what the graph's own file
// holds, and data.features, data.labels and data.splits replace what data.nodes holds.

#include "roster.h"

struct NodeFiles {
    const Config *config;
    Npy features, labels;
    NodeIds names; // of classes, of labels that are words
    Npz *archive;  // of data.features; NULL: it is not set, or is no .npz
    Npz *nodes;    // NULL: data.nodes is not set, or is no .npz
    NpzLayout layout;
    char path[PATH_BYTES]; // of data.nodes
    Roster roster;         // of data.nodes that has ids
    bool has_roster;
    TableIds ids[2]; // of data.features and data.labels, if they are tables
    bool signs;      // ids are not those of a stream
};

// A table of text, under any name but those of numpy: what begins neither as an archive nor as an
// array.
static bool is_table(const char *path) {
    return text_ends(path, ".csv .tsv .txt") ||
           (!path_ends(path, ".npy .npz") && format_begins_as_text(path));
}

// Its lines would be read as rows of three columns. Frees a text that it refuses.
static bool refuse_matrix_market(Text *text, const char *path, Error *err) {
    if (strncmp(text->data, "%%MatrixMarket", 14) != 0)
        return false;
    text_clear(text);
    error_data(err,
               "%s is a file of Matrix Market, which is read as a graph only; convert it in "
               "Python: scipy.sparse.save_npz(\"x.npz\", scipy.io.mmread(\"%s\").tocsr())",
               path, path_name(path));
    return true;
}

// Reads an .npy, or its header, or a table, that the config names; *npy stays empty if it names
// none.
static bool open_array(NodeFiles *node_files, Npy *npy, const char *path, bool labels, Error *err) {
    *npy = (Npy){0};
    if (path[0] == '\0')
        return true;
    const char *resolved = DATASET_PATH(node_files->config, path);
    if (format_is_refused(resolved, err))
        return false;
    if (!is_table(resolved))
        return npy_read(npy, resolved, err);
    Text text = {0};
    TableIds *ids = &node_files->ids[labels], *allowed = node_files->signs ? ids : NULL;
    bool ok = text_read(&text, resolved, err) && !refuse_matrix_market(&text, resolved, err) &&
              (labels ? labels_from_csv(npy, &node_files->names, allowed, &text, resolved,
                                        node_files->config, err)
                      : features_from_csv(npy, allowed, &text, resolved, node_files->config, err));
    ids->sheet.table.path = path; // the other one ends here
    if (ids->rows.path != NULL) {
        ids->rows.path = path;
        ids->rows.kind = (IdKind){0};
    }
    return ok;
}

static bool open_features(NodeFiles *node_files, Error *err) {
    const char *path = node_files->config->data.features;
    const char *resolved = DATASET_PATH(node_files->config, path);
    if (path[0] == '\0' || !npz_is_archive(resolved))
        return open_array(node_files, &node_files->features, path, false, err);
    node_files->archive = npz_open(resolved, err);
    return node_files->archive != NULL;
}

static bool open_npz(NodeFiles *node_files, Error *err) {
    node_files->nodes = npz_open(node_files->path, err);
    if (node_files->nodes == NULL)
        return false;
    node_files->has_roster = roster_is_in(node_files->nodes);
    if (node_files->has_roster && node_files->signs)
        return roster_read_npz(&node_files->roster, node_files->nodes, node_files->path,
                               node_files->config, false, err) ||
               npz_name_file(err, node_files->path);
    return npz_layout_of_nodes(&node_files->layout, node_files->nodes, err) ||
           error_prefix(err, "%s", node_files->path);
}

static bool open_nodes(NodeFiles *node_files, Error *err) {
    if (node_files->config->data.nodes[0] == '\0')
        return true;
    dataset_path(node_files->path, node_files->config, node_files->config->data.nodes);
    if (format_is_refused(node_files->path, err))
        return false;
    if (!is_table(node_files->path))
        return open_npz(node_files, err);
    node_files->has_roster = true;
    return roster_read_csv(&node_files->roster, node_files->path, node_files->config, err);
}

NodeFiles *node_files_open(const Config *config, bool stream, Error *err) {
    NodeFiles *node_files = ALLOC(NodeFiles, 1, "files beside a graph");
    node_files->config = config;
    node_files->signs = !stream;
    if (open_features(node_files, err) &&
        open_array(node_files, &node_files->labels, config->data.labels, true, err) &&
        open_nodes(node_files, err))
        return node_files;
    node_files_close(node_files);
    return NULL;
}

void node_files_close(NodeFiles *node_files) {
    if (node_files == NULL)
        return;
    npy_clear(&node_files->features);
    npy_clear(&node_files->labels);
    node_ids_clear(&node_files->names);
    npz_close(node_files->archive);
    npz_close(node_files->nodes);
    roster_close(&node_files->roster);
    table_ids_clear(&node_files->ids[0]);
    table_ids_clear(&node_files->ids[1]);
    memory_free(node_files);
}

// Where ids are row numbers, one more than the largest of the roster.
static int64_t roster_rows(const NodeFiles *node_files) {
    const NodeIds *known = &node_files->roster.known;
    if (known->count == 0 || known->number == NULL || known->is_unsigned ||
        known->number[known->count - 1] >= DATASET_MAX_NODES)
        return -1;
    return known->number[known->count - 1] + 1;
}

int64_t node_files_rows(const NodeFiles *node_files) {
    if (node_files->archive != NULL)
        return npz_feature_rows(node_files->archive);
    const Npy *array = node_files->features.rank > 0 ? &node_files->features : &node_files->labels;
    if (array->rank > 0)
        return array->shape[0];
    if (node_files->has_roster)
        return roster_rows(node_files);
    return node_files->nodes == NULL ? -1 : npz_layout_rows(&node_files->layout, node_files->nodes);
}

// ---- ids among features

static double id_as_feature(const NodeIds *ids, int64_t node) {
    return (double)(ids->count == 0    ? (float)node
                    : ids->is_unsigned ? (float)(uint64_t)ids->number[node]
                                       : (float)ids->number[node]);
}

static double at(const Dataset *d, int64_t node, int64_t column) {
    return (double)d->x[node * d->features + column];
}

// The numbers of a column are the ids of all nodes, in their order or in another one.
typedef enum IdsOfColumn { NO_IDS, IDS_IN_ORDER, IDS_IN_DISORDER } IdsOfColumn;
static IdsOfColumn ids_of_column(const Dataset *d, int64_t column) {
    bool in_order = true;
    double sum = 0, ids = 0; // the same of the same numbers, but for what rounding leaves
    for (int64_t i = 0; i < d->nodes; i++) {
        double id = id_as_feature(&d->ids, i), x = at(d, i, column);
        if (x != floor(x))
            return NO_IDS;
        in_order = in_order && x == id;
        sum += x;
        ids += id;
    }
    if (in_order || fabs(sum - ids) > 1e-9 * fabs(ids))
        return in_order ? IDS_IN_ORDER : NO_IDS;
    FREED float *sorted = ALLOC(float, d->nodes, "a column of features");
    for (int64_t i = 0; i < d->nodes; i++)
        sorted[i] = (float)at(d, i, column);
    sort_float(sorted, d->nodes);
    for (int64_t i = 0; i < d->nodes; i++)
        if ((double)sorted[i] != id_as_feature(&d->ids, i))
            return NO_IDS;
    return IDS_IN_DISORDER;
}

// In the order of the nodes ids are a feature like the others, which is said of the first column.
// In another order the rows of a table are those of other nodes; an array may hold such a feature.
static bool ids_are_no_features(Dataset *dataset, const char *path, bool table, Error *err) {
    const int64_t least = 4; // nodes whose ids are no accident
    if (dataset->x == NULL || dataset->features < 2 || dataset->nodes < least ||
        (dataset->ids.count > 0 && dataset->ids.number == NULL))
        return true;
    for (int64_t c = 0; c < (table ? dataset->features : 1); c++) {
        IdsOfColumn are = ids_of_column(dataset, c);
        if (are == IDS_IN_ORDER && c == 0)
            warnings_add(&dataset->warnings,
                         "%s: its first feature is the ids of the nodes, and one like the others; "
                         "leave it out%s",
                         path_name(path),
                         table ? ", or say in data.columns that its column is the id" : "");
        if (are == IDS_IN_DISORDER && table)
            return error_data(
                err,
                "its feature %ld is the ids of the nodes, and its rows are not in the "
                "ascending order of these; say in data.columns={\"id\": ...} which "
                "column that is",
                c + 1);
    }
    return true;
}

static bool take_by_id(Dataset *dataset, NodeFiles *node_files, Error *err) {
    for (int k = 0; k < 2; k++) {
        Roster *rows = &node_files->ids[k].rows;
        if (rows->path != NULL &&
            !roster_join(dataset, &dataset->ids, rows, "the graph", true, err))
            return npz_name_file(err, rows->path);
    }
    return true;
}

static bool take_arrays(Dataset *dataset, NodeFiles *node_files, Error *err) {
    const Config *config = node_files->config;
    if (node_files->archive != NULL &&
        (!npz_read_features(dataset, node_files->archive, config, err) ||
         !features_check(dataset, err)))
        return npz_name_file(err, DATASET_PATH(config, config->data.features));
    if (node_files->features.data != NULL &&
        (!features_from_npy(dataset, &node_files->features, dataset->nodes, err) ||
         !features_check(dataset, err) ||
         !ids_are_no_features(dataset, config->data.features,
                              is_table(DATASET_PATH(config, config->data.features)), err)))
        return error_prefix(err, "%s", config->data.features);
    if (node_files->labels.data != NULL &&
        (!labels_are_in_order(dataset, &node_files->ids[1], err) ||
         !labels_from_npy(dataset, &node_files->labels, dataset->nodes, err)))
        return error_prefix(err, "%s", config->data.labels);
    if (node_files->names.count > 0) {
        node_ids_clear(&dataset->names);
        dataset->names = node_files->names;
        node_files->names = (NodeIds){0};
    }
    return true;
}

// ---- data.nodes by ids

const IdKind *node_files_id_kind(const NodeFiles *node_files) {
    static const IdKind none;
    return node_files != NULL ? &node_files->roster.kind : &none;
}

bool node_files_have_ids(const NodeFiles *node_files) {
    return node_files != NULL && node_files->has_roster;
}

bool node_files_add_ids(NodeFiles *node_files, IdColumns *columns, Error *err) {
    if (!node_files_have_ids(node_files) || node_files->roster.known.count == 0)
        return true;
    NodeIds *known = &node_files->roster.known;
    bool text = columns->of[0].text != NULL;
    if (text == (known->number != NULL))
        return error_data(err,
                          "%s: its ids are %s, but those of the edges are %s; set data.ids=text to "
                          "take all of them as names",
                          node_files->path, text ? "numbers" : "text", text ? "text" : "numbers");
    int64_t *value = TRY(int64_t, known->count, "ids of nodes", err);
    for (int64_t k = 0; value != NULL && k < known->count; k++)
        value[k] = text ? span_of(known->offset[k], known->offset[k + 1] - known->offset[k])
                        : known->number[k];
    columns->of[columns->columns++] =
        (IdColumn){value != NULL ? known->count : 0, value, text ? known->bytes : NULL};
    return value != NULL;
}

bool node_files_join(Dataset *dataset, NodeFiles *node_files, const uint64_t *id, Error *err) {
    if (!node_files->has_roster)
        return true;
    npz_close(node_files->nodes);
    node_files->nodes = NULL;
    node_files->has_roster = false;
    return dataset_join(dataset, id, node_files->path, 0, err);
}

// ---- by rows

static bool take_nodes(Dataset *dataset, NodeFiles *node_files, Error *err) {
    if (node_files->has_roster)
        return roster_join(dataset, &dataset->ids, &node_files->roster, "the graph", true, err) ||
               npz_name_file(err, node_files->path);
    if (node_files->nodes == NULL)
        return true;
    return (npz_read_nodes(dataset, node_files->nodes, &node_files->layout, node_files->config,
                           err) &&
            features_check(dataset, err)) ||
           npz_name_file(err, node_files->path);
}

static bool take_splits(Dataset *dataset, const NodeFiles *node_files, const char *inside,
                        Error *err) {
    CLEARED(npz_drop) Npz *own = inside != NULL ? npz_open(inside, err) : NULL;
    SplitSource source[2] = {{node_files->nodes, node_files->path}};
    int count = node_files->nodes != NULL && !node_files->has_roster;
    if (inside != NULL && own == NULL)
        return false;
    source[count] = (SplitSource){own, inside};
    return splits_read(dataset, node_files->config, source, count + (inside != NULL), err);
}

// Data of which most nodes have no label often says so by a word.
static void warn_of_unknown(Dataset *dataset) {
    char name[NODE_ID_TEXT];
    for (int64_t k = 0; dataset->label != NULL && k < dataset->names.count; k++) {
        int64_t nodes = 0;
        if (!column_is_word(node_id_text(&dataset->names, k, name),
                            "unknown unlabeled unlabelled undefined"))
            continue;
        for (int64_t i = 0; i < dataset->nodes; i++)
            nodes += dataset->label[i] == k;
        warnings_add(&dataset->warnings,
                     "%ld nodes are of the class '%s', which is one like the others; leave the "
                     "label of nodes that have none empty",
                     nodes, SHOWN(name));
    }
}

bool node_files_take(Dataset *dataset, NodeFiles *node_files, const char *inside, Error *err) {
    bool ok = take_nodes(dataset, node_files, err) && take_by_id(dataset, node_files, err) &&
              take_arrays(dataset, node_files, err) &&
              take_splits(dataset, node_files, inside, err);
    if (ok)
        warn_of_unknown(dataset);
    return ok;
}
