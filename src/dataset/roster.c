// Reads what an .npz says about nodes by their ids. See roster.h.

#include "roster.h"

static const char *const list_keys[ROSTER_LISTS] = {"train_ids", "val_ids", "test_ids"};

static const char *key_of_list(const Npz *npz, int s) {
    bool synonym = s == 1 && !npz_has(npz, "val_ids") && npz_has(npz, "valid_ids");
    return synonym ? "valid_ids" : list_keys[s];
}

bool roster_is_in(const Npz *npz) { return npz_has(npz, "ids"); }

// ---- one array of ids

typedef struct RawIds {
    int64_t count;
    int64_t *value; // numbers, or spans of the text; owned
    char *text;     // owned
    size_t bytes;
} RawIds;

static void raw_clear(RawIds *raw) {
    MEMORY_FREE(raw->value, raw->text);
    *raw = (RawIds){0};
}

// data.ids=text: numbers as they are written.
static bool numbers_as_text(RawIds *raw, bool is_unsigned, Error *err) {
    raw->text = TRY(char, raw->count * 21 + 1, "ids of nodes", err);
    for (int64_t e = 0; raw->text != NULL && e < raw->count; e++) {
        char *at = raw->text + raw->bytes;
        int length = is_unsigned ? snprintf(at, 21, "%lu", (uint64_t)raw->value[e])
                                 : snprintf(at, 21, "%ld", raw->value[e]);
        raw->value[e] = span_of((int64_t)raw->bytes, length);
        raw->bytes += (size_t)length;
    }
    return raw->text != NULL;
}

static void note_numbers(Roster *roster, const RawIds *raw, const Npy *npy) {
    for (int64_t e = 0; e < raw->count; e++) {
        bool sign = raw->value[e] < 0;
        IdSeen *seen = !sign                   ? &roster->kind.digits
                       : npy->kind == NPY_UINT ? &roster->kind.huge
                                               : &roster->kind.negative;
        if (seen->line == 0) {
            *seen = (IdSeen){.path = roster->path, .line = e + 1};
            snprintf(seen->word, sizeof seen->word, "%ld", raw->value[e]);
        }
    }
}

static bool numbers_of_npy(Roster *roster, RawIds *raw, const Npy *npy, const Config *config,
                           bool unsigned_ids, Error *err) {
    bool ok = unsigned_ids || npy->kind == NPY_UINT ? npy_to_ids(npy, (uint64_t **)&raw->value, err)
                                                    : npy_to_int64(npy, &raw->value, err);
    if (!ok)
        return false;
    if (!unsigned_ids && ids_are_text(config))
        return numbers_as_text(raw, npy->kind == NPY_UINT, err);
    note_numbers(roster, raw, npy);
    return true;
}

static bool note_text(Roster *roster, const RawIds *raw, const Config *config, const char *key,
                      Error *err) {
    int64_t number;
    for (int64_t e = 0; e < raw->count; e++) {
        Cell cell = cell_of_span(raw->text, raw->value[e]);
        if (cell.length == 0)
            return error_data(err, "'%s': entry %ld is empty", key, e);
        id_note(&roster->kind, config, roster->path, e + 1, &cell, &number);
    }
    return true;
}

static bool read_ids(Roster *roster, RawIds *raw, const char *key, Npz *npz, const Config *config,
                     bool unsigned_ids, Error *err) {
    CLEARED(npy_clear) Npy npy = {0};
    *raw = (RawIds){0};
    if (!npz_has(npz, key))
        return true;
    if (!npz_read(npz, key, &npy, err))
        return false;
    raw->count = npy.elements;
    bool ok =
        npy.rank == 1 ||
        error_data(err, "'%s' is a list of ids, not an array of %d dimensions", key, npy.rank);
    if (ok && npy.kind == NPY_TEXT && !unsigned_ids)
        ok = npy_to_text(&npy, &raw->text, &raw->value, err) &&
             note_text(roster, raw, config, key, err);
    else
        ok = ok && numbers_of_npy(roster, raw, &npy, config, unsigned_ids, err);
    return ok;
}

// ---- all of them

// Texts that are numbers ("7") become numbers where the ids are such.
static bool settle(RawIds *raw, bool text, const Roster *roster, const Config *config, Error *err) {
    if (raw->value == NULL || (raw->text != NULL) == text)
        return true;
    if (raw->text == NULL)
        return error_data(err, "some lists of ids are numbers, and some are text");
    IdKind kind = {0};
    for (int64_t e = 0; e < raw->count; e++) {
        Cell cell = cell_of_span(raw->text, raw->value[e]);
        id_note(&kind, config, roster->path, e + 1, &cell, &raw->value[e]);
    }
    memory_free(raw->text);
    raw->text = NULL;
    return true;
}

bool roster_number(Roster *roster, IdColumns *columns, Error *err) {
    columns->noun = "id";
    columns->is_unsigned |= roster->kind.huge.line > 0;
    bool any = false;
    for (int k = 0; k < columns->columns; k++)
        any = any || columns->of[k].count > 0;
    return !any || ids_number(columns, &roster->known, err);
}

static bool number_raw(Roster *roster, RawIds raw[1 + ROSTER_LISTS], bool unsigned_ids,
                       Error *err) {
    IdColumns columns = {.is_unsigned = unsigned_ids};
    for (int k = 0; k <= ROSTER_LISTS; k++)
        if (raw[k].value != NULL && raw[k].count > 0)
            columns.of[columns.columns++] = (IdColumn){raw[k].count, raw[k].value, raw[k].text};
    if (!roster_number(roster, &columns, err))
        return false;
    roster->rows = raw[0].count;
    roster->row = raw[0].value;
    raw[0].value = NULL;
    for (int s = 0; s < ROSTER_LISTS; s++) {
        roster->list[s].count = raw[1 + s].count;
        roster->list[s].id = raw[1 + s].value;
        raw[1 + s].value = NULL;
    }
    return true;
}

static bool read_all_ids(Roster *roster, Npz *npz, const Config *config, bool unsigned_ids,
                         Error *err) {
    RawIds raw[1 + ROSTER_LISTS] = {{0}};
    bool text = false;
    bool ok = read_ids(roster, &raw[0], "ids", npz, config, unsigned_ids, err);
    for (int s = 0; ok && s < ROSTER_LISTS; s++) {
        snprintf(roster->list[s].key, sizeof roster->list[s].key, "%s", key_of_list(npz, s));
        ok = read_ids(roster, &raw[1 + s], roster->list[s].key, npz, config, unsigned_ids, err);
    }
    ok = ok && (unsigned_ids || id_kind_decide(&text, &roster->kind, config, err));
    for (int k = 0; ok && k <= ROSTER_LISTS; k++)
        ok = settle(&raw[k], text, roster, config, err);
    ok = ok && number_raw(roster, raw, unsigned_ids, err);
    for (int k = 0; k <= ROSTER_LISTS; k++)
        raw_clear(&raw[k]);
    return ok;
}

// ---- each once

static bool check_distinct(const Roster *roster, const char *key, const int64_t *sorted,
                           int64_t count, Error *err) {
    for (int64_t k = 1; k < count; k++)
        if (sorted[k] == sorted[k - 1])
            return error_data(err, "'%s' holds %s twice; remove one of them", key,
                              NODE_ID(&roster->known, sorted[k]));
    return true;
}

static bool check_rows(const Roster *roster, const char *key, Error *err) {
    FREED int64_t *sorted = TRY(int64_t, roster->rows, "rows of nodes", err);
    if (sorted == NULL)
        return false;
    memcpy(sorted, roster->row, (size_t)roster->rows * sizeof *sorted);
    sort_int64(sorted, roster->rows);
    return check_distinct(roster, key, sorted, roster->rows, err);
}

// Both are sorted.
static bool check_disjoint(const Roster *roster, int one, int other, Error *err) {
    const int64_t *x = roster->list[one].id, *y = roster->list[other].id;
    for (int64_t a = 0, b = 0; a < roster->list[one].count && b < roster->list[other].count;) {
        if (x[a] == y[b])
            return error_data(err, "'%s' and '%s' both hold %s; a node is in one split",
                              roster->list[one].key, roster->list[other].key,
                              NODE_ID(&roster->known, x[a]));
        if (x[a] < y[b])
            a++;
        else
            b++;
    }
    return true;
}

static bool check_lists(Roster *roster, Error *err) {
    for (int s = 0; s < ROSTER_LISTS; s++) {
        if (roster->list[s].count > 0)
            sort_int64(roster->list[s].id, roster->list[s].count);
        if (!check_distinct(roster, roster->list[s].key, roster->list[s].id, roster->list[s].count,
                            err))
            return false;
        for (int before = 0; before < s; before++)
            if (!check_disjoint(roster, before, s, err))
                return false;
    }
    return true;
}

// ---- features and labels

static bool fits(const Roster *roster, const char *key, int64_t rows, Error *err) {
    return rows == roster->rows ||
           error_data(err,
                      "'%s' has %ld row%s, but 'ids' has %ld entries; entry i is the id of row i",
                      key, rows, rows == 1 ? "" : "s", roster->rows);
}

static bool array_fits(const Roster *roster, Npz *npz, const char *key, Error *err) {
    Npy npy;
    if (key == NULL || !npz_has(npz, key))
        return true;
    return npz_look(npz, key, &npy, err) && (npy.rank == 0 || fits(roster, key, npy.shape[0], err));
}

static bool sparse_fits(const Roster *roster, Npz *npz, Error *err) {
    FileCsr shape;
    return !npz_has(npz, "attr_shape") || (file_csr_shape(&shape, npz, "attr_", err) &&
                                           fits(roster, "attr_shape", shape.csr.rows, err));
}

// Reads the rows as the nodes of a dataset without edges.
static bool read_rows(Roster *roster, Npz *npz, const NpzLayout *layout, const Config *config,
                      Error *err) {
    static const Config only;
    labels_are(&roster->data, config);
    if (!array_fits(roster, npz, layout->features, err) ||
        !array_fits(roster, npz, layout->labels, err) || !sparse_fits(roster, npz, err))
        return false;
    roster->data.nodes = roster->rows;
    return (npz_read_nodes(&roster->data, npz, layout, &only, err) &&
            features_check(&roster->data, err)) ||
           error_prefix(err, "%s (its row i is node i in what follows)", roster->path);
}

// Lists of rows and masks would be read as if there were no ids.
static bool check_keys(const Npz *npz, const NpzLayout *layout, Error *err) {
    static const char *const of_rows[] = {"train_idx",  "val_idx",  "test_idx",
                                          "train_mask", "val_mask", "test_mask"};
    bool any = layout->features != NULL || layout->labels != NULL || npz_has(npz, "attr_shape");
    for (int s = 0; s < ROSTER_LISTS; s++)
        any = any || npz_has(npz, key_of_list(npz, s));
    for (int k = 0; k < 2 * ROSTER_LISTS; k++)
        if (npz_has(npz, of_rows[k]))
            return error_data(
                err, "'%s' is about rows, but beside 'ids' a split is a list of ids; name it '%s'",
                of_rows[k], list_keys[k % ROSTER_LISTS]);
    return any || error_data(err, "there is nothing about nodes beside 'ids'; add any of "
                                  "'features', 'labels', 'train_ids', 'val_ids', 'test_ids'");
}

bool roster_keys_fit(const Npz *npz, Error *err) {
    NpzLayout layout;
    if (!roster_is_in(npz))
        return error_data(err, "there is no array 'ids'; add the list of the nodes' ids in the "
                               "order of the rows, numpy.savez(path, ids=..., features=...)");
    return npz_layout_of_nodes(&layout, npz, err) && check_keys(npz, &layout, err);
}

bool roster_read_npz(Roster *roster, Npz *npz, const char *path, const Config *config,
                     bool unsigned_ids, Error *err) {
    NpzLayout layout;
    *roster = (Roster){.path = path};
    return roster_keys_fit(npz, err) && npz_layout_of_nodes(&layout, npz, err) &&
           read_all_ids(roster, npz, config, unsigned_ids, err) && check_rows(roster, "ids", err) &&
           check_lists(roster, err) && read_rows(roster, npz, &layout, config, err);
}

void roster_close(Roster *roster) {
    node_ids_clear(&roster->known);
    memory_free(roster->row);
    for (int s = 0; s < ROSTER_LISTS; s++)
        memory_free(roster->list[s].id);
    dataset_clear(&roster->data);
    *roster = (Roster){0};
}
