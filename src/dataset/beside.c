// The files beside a graph that the config names: data.features and data.labels (.npy or .csv),
// data.nodes (.npz or .csv), data.splits. They replace what the graph's own file holds, and
// data.features, data.labels and data.splits replace what data.nodes holds.

#include "roster.h"

#include <string.h>

struct Beside {
    const Config *config;
    Npy features, labels;
    NodeIds names; // of classes, of labels that are words
    Npz *nodes;    // NULL: data.nodes is not set, or is no .npz
    NpzLayout layout;
    char path[PATH_BYTES]; // of data.nodes
    Roster roster;         // of data.nodes that has ids
    bool has_roster;
    bool signs; // ids are not those of a stream
};

// A table of text, under any name but those of numpy: what begins neither as an archive nor as an
// array.
static bool is_table(const char *path) {
    return text_ends(path, ".csv .tsv .txt") ||
           (!path_ends(path, ".npy .npz") && format_begins_as_text(path));
}

// Reads an .npy, or its header, or a table, that the config names; *npy stays empty if it names
// none.
static bool open_array(Beside *beside, Npy *npy, const char *path, bool labels, Error *err) {
    char resolved[PATH_BYTES];
    *npy = (Npy){0};
    if (path[0] == '\0')
        return true;
    dataset_path(beside->config, path, resolved);
    if (format_is_refused(resolved, err))
        return false;
    if (!is_table(resolved))
        return npy_read(npy, resolved, err);
    Text text = {0};
    return text_read(&text, resolved, err) &&
           (labels ? labels_from_csv(npy, &beside->names, &text, resolved, beside->config, err)
                   : features_from_csv(npy, &text, resolved, beside->config, err));
}

static bool open_npz(Beside *beside, Error *err) {
    beside->nodes = npz_open(beside->path, err);
    if (beside->nodes == NULL)
        return false;
    beside->has_roster = roster_is_in(beside->nodes);
    if (beside->has_roster && beside->signs)
        return roster_read_npz(&beside->roster, beside->nodes, beside->path, beside->config, false,
                               err) ||
               npz_name_file(err, beside->path);
    return npz_layout_of_nodes(&beside->layout, beside->nodes, err) ||
           error_prefix(err, "%s", beside->path);
}

static bool open_nodes(Beside *beside, Error *err) {
    if (beside->config->data.nodes[0] == '\0')
        return true;
    dataset_path(beside->config, beside->config->data.nodes, beside->path);
    if (format_is_refused(beside->path, err))
        return false;
    if (!is_table(beside->path))
        return open_npz(beside, err);
    beside->has_roster = true;
    return roster_read_csv(&beside->roster, beside->path, beside->config, err);
}

Beside *beside_open(const Config *config, bool stream, Error *err) {
    Beside *beside = ALLOC(Beside, 1, "files beside a graph");
    beside->config = config;
    beside->signs = !stream;
    if (open_array(beside, &beside->features, config->data.features, false, err) &&
        open_array(beside, &beside->labels, config->data.labels, true, err) &&
        open_nodes(beside, err))
        return beside;
    beside_close(beside);
    return NULL;
}

void beside_close(Beside *beside) {
    if (beside == NULL)
        return;
    npy_clear(&beside->features);
    npy_clear(&beside->labels);
    node_ids_clear(&beside->names);
    npz_close(beside->nodes);
    roster_close(&beside->roster);
    memory_free(beside);
}

// Where ids are row numbers, one more than the largest of the roster.
static int64_t roster_rows(const Beside *beside) {
    const NodeIds *known = &beside->roster.known;
    if (known->count == 0 || known->number == NULL || known->is_unsigned ||
        known->number[known->count - 1] >= DATASET_MAX_NODES)
        return -1;
    return known->number[known->count - 1] + 1;
}

int64_t beside_rows(const Beside *beside) {
    const Npy *array = beside->features.rank > 0 ? &beside->features : &beside->labels;
    if (array->rank > 0)
        return array->shape[0];
    if (beside->has_roster)
        return roster_rows(beside);
    return beside->nodes == NULL ? -1 : npz_layout_rows(&beside->layout, beside->nodes);
}

static bool take_arrays(Dataset *dataset, Beside *beside, Error *err) {
    const Config *config = beside->config;
    if (beside->features.data != NULL &&
        (!features_from_npy(dataset, &beside->features, dataset->nodes, err) ||
         !features_check(dataset, err)))
        return error_prefix(err, "%s", config->data.features);
    if (beside->labels.data != NULL &&
        !labels_from_npy(dataset, &beside->labels, dataset->nodes, err))
        return error_prefix(err, "%s", config->data.labels);
    if (beside->names.count > 0) {
        node_ids_clear(&dataset->names);
        dataset->names = beside->names;
        beside->names = (NodeIds){0};
    }
    return true;
}

// ---- data.nodes by ids

const IdKind *beside_id_kind(const Beside *beside) {
    static const IdKind none;
    return beside != NULL ? &beside->roster.kind : &none;
}

bool beside_has_ids(const Beside *beside) { return beside != NULL && beside->has_roster; }

bool beside_add_ids(Beside *beside, IdColumns *columns, Error *err) {
    if (!beside_has_ids(beside) || beside->roster.known.count == 0)
        return true;
    NodeIds *known = &beside->roster.known;
    bool text = columns->of[0].text != NULL;
    if (text == (known->number != NULL))
        return error_set(err, EXIT_DATA,
                         "%s: its ids are %s, but those of the edges are %s; set "
                         "data.ids=text to take all of them as names",
                         beside->path, text ? "numbers" : "text", text ? "text" : "numbers");
    int64_t *value = TRY(int64_t, known->count, "ids of nodes", err);
    for (int64_t k = 0; value != NULL && k < known->count; k++)
        value[k] = text ? span_of(known->offset[k], known->offset[k + 1] - known->offset[k])
                        : known->number[k];
    columns->of[columns->columns++] =
        (IdColumn){value != NULL ? known->count : 0, value, text ? known->bytes : NULL};
    return value != NULL;
}

bool beside_join(Dataset *dataset, Beside *beside, const uint64_t *id, Error *err) {
    if (!beside->has_roster)
        return true;
    npz_close(beside->nodes);
    beside->nodes = NULL;
    beside->has_roster = false;
    return dataset_join(dataset, id, beside->path, 0, err);
}

// ---- by rows

static bool take_nodes(Dataset *dataset, Beside *beside, Error *err) {
    if (beside->has_roster)
        return roster_join(dataset, &dataset->ids, &beside->roster, "the graph", err) ||
               npz_name_file(err, beside->path);
    if (beside->nodes == NULL)
        return true;
    return (npz_read_nodes(dataset, beside->nodes, &beside->layout, beside->config, err) &&
            features_check(dataset, err)) ||
           npz_name_file(err, beside->path);
}

static bool take_splits(Dataset *dataset, const Beside *beside, const char *inside, Error *err) {
    SplitSource source[2] = {{beside->nodes, beside->path}};
    int count = beside->nodes != NULL && !beside->has_roster;
    if (inside != NULL) {
        source[count] = (SplitSource){npz_open(inside, err), inside};
        if (source[count].npz == NULL)
            return false;
    }
    bool ok = splits_read(dataset, beside->config, source, count + (inside != NULL), err);
    if (inside != NULL)
        npz_close(source[count].npz);
    return ok;
}

bool beside_take(Dataset *dataset, Beside *beside, const char *inside, Error *err) {
    return take_nodes(dataset, beside, err) && take_arrays(dataset, beside, err) &&
           take_splits(dataset, beside, inside, err);
}

// A byte of a table costs so many, in its cells, numbers and places.
enum { CSV_FACTOR = 40 };
