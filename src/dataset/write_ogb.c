// The folder of a node property prediction set, as the ogb package unpacks it (format_ogb.c draws
// it): tables of text, compressed with gzip. ogb reads it when it gets what meta_dict.json says.
// A table is its numbers, each followed by a comma or the end of a line.

#include "writers.h"

// ---- tables

static char *put_edges(const void *context, int64_t begin, int64_t end, char *out) {
    const Dataset *d = context;
    int64_t source = begin < end ? row_of_piece(d->offset, d->nodes, 0, begin) : 0;
    for (int64_t e = begin; e < end; e++) {
        while (e >= d->offset[source + 1])
            source++;
        out = put_int(out, source);
        *out++ = ',';
        out = put_int(out, d->target[e]);
        *out++ = '\n';
    }
    return out;
}

typedef struct Numbers { // a table of them, in rows
    const Dataset *dataset;
    int64_t columns;
    char *(*put)(const Dataset *d, int64_t k, char *out); // number k
} Numbers;

static char *put_numbers(const void *context, int64_t begin, int64_t end, char *out) {
    const Numbers *numbers = context;
    for (int64_t k = begin; k < end; k++) {
        out = numbers->put(numbers->dataset, k, out);
        *out++ = (k + 1) % numbers->columns == 0 ? '\n' : ',';
    }
    return out;
}

static char *put_edge_weight(const Dataset *d, int64_t e, char *out) {
    return put_float(out, d->weight[e]);
}

static char *put_feature(const Dataset *d, int64_t k, char *out) { return put_float(out, d->x[k]); }

static char *put_label(const Dataset *d, int64_t i, char *out) {
    bool none = d->label == NULL || d->label[i] < 0;
    return none ? stpcpy(out, "nan") : put_int(out, d->label[i]);
}

static char *put_label_bit(const Dataset *d, int64_t k, char *out) {
    *out = (char)('0' + d->labels[k]);
    return out + 1;
}

static char *put_count(const void *context, UNUSED int64_t begin, UNUSED int64_t end, char *out) {
    out = put_int(out, *(const int64_t *)context);
    *out++ = '\n';
    return out;
}

typedef struct SplitOf {
    const uint8_t *split; // [nodes]
    uint8_t which;
} SplitOf;

static char *put_split(const void *context, int64_t begin, int64_t end, char *out) {
    const SplitOf *of = context;
    for (int64_t i = begin; i < end; i++)
        if (of->split[i] == of->which) {
            out = put_int(out, i);
            *out++ = '\n';
        }
    return out;
}

// ---- files

// One file in the folder that is being made.
static bool write_table(const char *folder, const char *name, const TextPieces *pieces,
                        Error *err) {
    TextFile text = {.packed = true, .total = pieces->count};
    const char *path = PATH_IN(folder, name);
    progress_begin("write", "%s", path_name(name));
    return file_writer_open(&text.file, path, err) &&
           (text_put(&text, pieces, err), file_writer_close(&text.file, true, err));
}

static bool write_raw(const Dataset *d, const char *folder, Error *err) {
    enum { NUMBER = DECIMAL_INT + 1, REAL = DECIMAL_FLOAT + 1 };
    int64_t values = d->nodes * d->features, bits = d->nodes * d->classes;
    TextPieces nodes = {1, NUMBER, put_count, &d->nodes}, edges = {1, NUMBER, put_count, &d->edges};
    TextPieces pairs = {d->edges, 2 * NUMBER, put_edges, d};
    TextPieces weights = {d->edges, REAL, put_numbers, &(Numbers){d, 1, put_edge_weight}};
    TextPieces features = {values, REAL, put_numbers, &(Numbers){d, d->features, put_feature}};
    TextPieces labels = {d->nodes, NUMBER, put_numbers, &(Numbers){d, 1, put_label}};
    TextPieces several = {bits, 2, put_numbers, &(Numbers){d, d->classes, put_label_bit}};
    return write_table(folder, "raw/num-node-list.csv.gz", &nodes, err) &&
           write_table(folder, "raw/num-edge-list.csv.gz", &edges, err) &&
           write_table(folder, "raw/edge.csv.gz", &pairs, err) &&
           (d->weight == NULL || write_table(folder, "raw/edge-feat.csv.gz", &weights, err)) &&
           (d->x == NULL || write_table(folder, "raw/node-feat.csv.gz", &features, err)) &&
           write_table(folder, "raw/node-label.csv.gz", d->multilabel ? &several : &labels, err);
}

static bool write_splits(const Dataset *d, const char *folder, Error *err) {
    static const char *const names[] = {"split/random/train.csv.gz", "split/random/valid.csv.gz",
                                        "split/random/test.csv.gz"};
    for (int s = 0; s < 3 && err->code == 0; s++) {
        SplitOf of = {d->split, (uint8_t)(SPLIT_TRAIN + s)};
        TextPieces nodes = {d->nodes, DECIMAL_INT + 1, put_split, &of};
        write_table(folder, names[s], &nodes, err);
    }
    return err->code == 0;
}

// ---- what ogb must be told

static bool write_text(const char *folder, const char *name, const char *text, Error *err) {
    return file_replace(PATH_IN(folder, name), text, strlen(text), err);
}

// All values are texts, as in the table of its own sets that ogb has.
static bool write_meta(const Dataset *d, const char *folder, Error *err) {
    char tasks[24], classes[24];
    snprintf(tasks, sizeof tasks, "%ld", d->multilabel ? d->classes : 1);
    snprintf(classes, sizeof classes, "%ld", d->multilabel ? 2 : d->classes);
    const char *const pairs[][2] = {
        {"version", "1"},
        {"url", "None"},
        {"download_name", "None"},
        {"num tasks", tasks},
        {"num classes", classes},
        {"task type", d->multilabel ? "binary classification" : "multiclass classification"},
        {"eval metric", d->multilabel ? "rocauc" : "acc"},
        {"add_inverse_edge", "False"},
        {"has_node_attr", d->x != NULL ? "True" : "False"},
        {"has_edge_attr", d->weight != NULL ? "True" : "False"},
        {"additional node files", "None"},
        {"additional edge files", "None"},
        {"is hetero", "False"},
        {"binary", "False"},
        {"split", "random"},
    };
    CLEARED(json_writer_clear) JsonWriter out;
    json_writer_begin(&out, true);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        json_put_string(&out, pairs[i][0], pairs[i][1]);
    json_end_object(&out);
    return write_text(folder, "meta_dict.json", out.text, err);
}

static const char readme[] =
    "Written by fringe convert. The ogb package reads this folder, FOLDER, with\n"
    "\n"
    "    import json\n"
    "    from ogb.nodeproppred import NodePropPredDataset\n"
    "    meta = json.load(open(\"FOLDER/meta_dict.json\")) | {\"dir_path\": \"FOLDER\"}\n"
    "    data = NodePropPredDataset(\"ogbn-converted\", meta_dict=meta)\n"
    "\n"
    "Edges are written as they are stored, in each direction that is stored. Nodes keep their\n"
    "numbers, so there is no mapping to others. nan in raw/node-label.csv.gz is no label.\n";

// ---- the folder

// The loaders of the ogb package keep what they have read in processed/, which must exist. It is of
// no use when the folder is replaced.
static const char entries[] =
    "RELEASE_v1.txt meta_dict.json mapping mapping/README.md processed processed/data_processed "
    "processed/geometric_data_processed.pt processed/pre_filter.pt processed/pre_transform.pt raw "
    "raw/num-node-list.csv.gz raw/num-edge-list.csv.gz raw/edge.csv.gz raw/edge-feat.csv.gz "
    "raw/node-feat.csv.gz raw/node-label.csv.gz split split/random split/random/train.csv.gz "
    "split/random/valid.csv.gz split/random/test.csv.gz";

static bool make_folders(const char *made, bool splits, Error *err) {
    static const char *const names[] = {"raw", "mapping", "processed", "split/random"};
    for (int i = 0; i < (splits ? 4 : 3) && err->code == 0; i++)
        file_make_folder(PATH_IN(made, names[i]), err);
    return err->code == 0;
}

// Files that were closed are on the disk; so are their names then.
static bool flush_folders(const char *made, bool splits, Error *err) {
    static const char *const names[] = {"", "raw", "mapping", "processed", "split", "split/random"};
    for (int i = 0; i < (splits ? 6 : 4) && err->code == 0; i++)
        file_sync(PATH_IN(made, names[i]), err);
    return err->code == 0;
}

static bool fill_folder(const void *dataset, const char *made, Error *err) {
    const Dataset *d = dataset;
    bool splits = any_split(d);
    return make_folders(made, splits, err) && write_raw(d, made, err) &&
           (!splits || write_splits(d, made, err)) && write_meta(d, made, err) &&
           write_text(made, "mapping/README.md", readme, err) &&
           write_text(made, "RELEASE_v1.txt", "", err) && flush_folders(made, splits, err);
}

// A set that was downloaded has no meta_dict.json.
static bool may_replace(const char *path, Error *err) {
    if (!file_exists(PATH_IN(path, "meta_dict.json")))
        return error_set(err, EXIT_CANNOT_WRITE,
                         "%s exists and is not a folder that fringe convert wrote; remove it or "
                         "choose another one",
                         path);
    return folder_holds_only(path, entries, err);
}

static bool write_folder(const Writing *writing, Error *err) {
    return folder_write(writing->path, fill_folder, writing->dataset, may_replace, err);
}

// ---- what it cannot hold

static void remark_splits(const Writing *writing) {
    const Dataset *d = writing->dataset;
    static const char *const names[] = {"training", "validation", "test"};
    if (!any_split(d))
        warnings_add(writing->remarks, "there are no splits, so split/ is left out");
    for (int s = 0; any_split(d) && s < 3; s++)
        if (!has_split(d, SPLIT_TRAIN + s))
            warnings_add(writing->remarks,
                         "there are no %s nodes: get_idx_split of ogb fails on the empty list",
                         names[s]);
}

static bool fits(const Writing *writing, Error *err) {
    const Dataset *d = writing->dataset;
    if (d->hyperedges > 0)
        return error_data(err, "it is a hypergraph, and ogb has graphs only; \"clique\" or "
                               "\"star\" in data.transforms make a graph of it");
    if (d->edges == 0)
        return error_data(
            err,
            "there are no edges, and the tables of ogb must have some; --to npz keeps the nodes");
    if (d->numeric)
        return error_data(
            err, "its labels are numbers, and ogb's node sets have classes; --to npz keeps them");
    if (d->classes == 0)
        warnings_add(writing->remarks, "there are no labels: each is written as nan");
    if (d->weight != NULL)
        warnings_add(writing->remarks,
                     d->x != NULL
                         ? "weights of edges are written as raw/edge-feat.csv.gz, which ogb reads "
                           "and fringe does not"
                         : "weights of edges are written as raw/edge-feat.csv.gz, which ogb reads; "
                           "fringe refuses sets that have it and no features of nodes");
    remark_classes(writing);
    remark_splits(writing);
    return true;
}

const FormatWriter writer_ogb = {
    .name = "ogb", .fits = fits, .write = write_folder, .may_replace = may_replace};
