// Ids of nodes, or of hyperedges, in a text. They need not be contiguous: they are renumbered in
// ascending order. If features or labels with R rows are given and the ids are below R but
// incomplete, each id is its row, and missing ids are isolated nodes. If they run from 1 or more to
// R, each is its row and 1.

#include "internal.h"

const char *node_id_text(const NodeIds *ids, int64_t i, char out[NODE_ID_TEXT]) {
    int64_t bytes = ids->bytes != NULL ? ids->offset[i + 1] - ids->offset[i] : 0;
    if (ids->count == 0)
        snprintf(out, NODE_ID_TEXT, "%ld", i);
    else if (ids->number == NULL)
        snprintf(out, NODE_ID_TEXT, "%.*s%s", (int)(bytes < 80 ? bytes : 80),
                 ids->bytes + ids->offset[i], bytes < 80 ? "" : "...");
    else if (ids->is_unsigned)
        snprintf(out, NODE_ID_TEXT, "%lu", (uint64_t)ids->number[i]);
    else
        snprintf(out, NODE_ID_TEXT, "%ld", ids->number[i]);
    return out;
}

void node_ids_clear(NodeIds *ids) {
    MEMORY_FREE(ids->number, ids->bytes, ids->offset);
    *ids = (NodeIds){0};
}

// 0 to count-1.
static bool are_rows(const NodeIds *ids) {
    return ids->number != NULL && ids->count > 0 && ids->number[0] == 0 &&
           ids->number[ids->count - 1] == ids->count - 1;
}

// Numbers without a sign ascend as numbers with one do, if the highest bit is turned.
static void turn_signs(int64_t *value, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        value[k] = (int64_t)((uint64_t)value[k] ^ UINT64_C(1) << 63);
}

int64_t ids_find_number(const NodeIds *ids, int64_t number) {
    uint64_t turn = ids->is_unsigned ? UINT64_C(1) << 63 : 0;
    int64_t begin = 0, end = ids->count, wanted = (int64_t)((uint64_t)number ^ turn);
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if ((int64_t)((uint64_t)ids->number[middle] ^ turn) < wanted)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < ids->count && ids->number[begin] == number ? begin : -1;
}

// The distinct ids, ascending: list[0..*count). NULL if there is no memory.
static int64_t *distinct_ids(const IdColumns *ids, int64_t *count, Error *err) {
    int64_t all = 0;
    for (int k = 0; k < ids->columns; k++)
        all += ids->of[k].count;
    int64_t *list = TRY(int64_t, all, "ids of a list", err);
    if (list == NULL)
        return NULL;
    all = 0;
    for (int k = 0; k < ids->columns; k++) {
        memcpy(list + all, ids->of[k].value, (size_t)ids->of[k].count * sizeof *list);
        all += ids->of[k].count;
    }
    sort_int64(list, all);
    *count = 0;
    for (int64_t k = 0; k < all; k++)
        if (k == 0 || list[k] != list[k - 1])
            list[(*count)++] = list[k];
    return list;
}

// Maps ids to 0 .. n-1, their positions in the ascending list. For dense ids a table is faster than
// a search.
static bool renumber(const IdColumns *ids, const int64_t *list, int64_t count, Error *err) {
    int64_t first = list[0], largest = list[count - 1];
    if (first == 0 && largest == count - 1)
        return true;
    bool dense = first >= 0 && largest < 8 * count;
    FREED int32_t *place = dense ? TRY(int32_t, largest + 1, "places of ids", err) : NULL;
    if (dense && place == NULL)
        return false;
    for (int64_t k = 0; dense && k < count; k++)
        place[list[k]] = (int32_t)k;
    for (int k = 0; k < ids->columns; k++)
        for (int64_t e = 0; e < ids->of[k].count; e++) {
            int64_t *id = &ids->of[k].value[e];
            *id = dense ? place[*id] : sort_find(list, count, *id);
        }
    return true;
}

// Fewer than the list has room for: a copy of that length.
static bool keep_numbers(NodeIds *ids, const int64_t *list, int64_t count, bool is_unsigned,
                         Error *err) {
    int64_t *number = TRY(int64_t, count, "ids of nodes", err);
    *ids = (NodeIds){
        .count = number != NULL ? count : 0, .number = number, .is_unsigned = is_unsigned};
    if (number == NULL)
        return false;
    memcpy(number, list, (size_t)count * sizeof *number);
    if (is_unsigned)
        turn_signs(number, count);
    return true;
}

bool ids_number(IdColumns *columns, NodeIds *ids, Error *err) {
    int64_t count = 0;
    if (columns->of[0].text != NULL)
        return ids_number_text(columns, ids, err);
    for (int k = 0; columns->is_unsigned && k < columns->columns; k++)
        turn_signs(columns->of[k].value, columns->of[k].count);
    FREED int64_t *list = distinct_ids(columns, &count, err);
    return list != NULL && keep_numbers(ids, list, count, columns->is_unsigned, err) &&
           renumber(columns, list, count, err);
}

// ---- nodes and their rows

// Which row belongs to which id.
static void warn_of_rows(const IdColumns *columns, const NodeIds *ids, Warnings *warnings) {
    bool gaps =
        ids->number != NULL && // the difference of any two fits 64 bits without a sign
        (uint64_t)ids->number[ids->count - 1] - (uint64_t)ids->number[0] >= (uint64_t)ids->count;
    if (ids->number != NULL && !columns->is_unsigned && ids->number[0] == 0 && !gaps)
        return;
    warnings_add(warnings,
                 "%s ids run from %s to %s%s; the %ld %ss are numbered 0 to %ld in ascending order "
                 "of their ids%s",
                 columns->noun, SHOWN(NODE_ID(ids, 0)), SHOWN(NODE_ID(ids, ids->count - 1)),
                 gaps ? " with gaps" : "", ids->count, columns->noun, ids->count - 1,
                 strcmp(columns->noun, "node") == 0
                     ? ", which is the order of rows and lists without ids"
                     : "");
}

static void warn_of_first_row(const NodeIds *ids, int64_t rows, Warnings *warnings) {
    if (ids->number[0] == 1 && ids->number[ids->count - 1] == rows - 1)
        warnings_add(warnings,
                     "node ids run from 1 to %ld and are taken as rows, the first of which is 0, "
                     "so node 0 has no edge; subtract 1 if ids begin at 1",
                     rows - 1);
}

// The least and the largest, where they can be rows; else -1.
static void find_ends(const IdColumns *columns, int64_t rows, int64_t end[2]) {
    end[0] = INT64_MAX;
    end[1] = -1;
    if (columns->of[0].text != NULL || columns->is_unsigned || rows < 0)
        end[0] = -1;
    for (int k = 0; k < columns->columns && end[0] >= 0; k++)
        for (int64_t e = 0; e < columns->of[k].count; e++) {
            int64_t id = columns->of[k].value[e];
            end[0] = id < end[0] ? id : end[0];
            end[1] = id > end[1] ? id : end[1];
        }
}

// Ids that are some of the rows stay, but are looked at for a warning.
static bool keep_rows(const int64_t end[2], NodeIds *ids, int64_t *numbers, int64_t rows,
                      Warnings *warnings) {
    NodeIds ends = {2, (int64_t[]){end[0], end[1]}, false, NULL, NULL};
    warn_of_first_row(&ends, rows, warnings);
    *ids = (NodeIds){0};
    *numbers = rows;
    return true;
}

// Each id is its row and 1: rows of which no line tells are nodes, too.
static bool count_from_one(IdColumns *columns, NodeIds *ids, int64_t *numbers, int64_t rows,
                           Warnings *warnings, Error *err) {
    int64_t *list = TRY(int64_t, rows, "ids of nodes", err);
    *numbers = rows;
    *ids = (NodeIds){.count = list != NULL ? rows : 0, .number = list};
    for (int64_t i = 0; i < ids->count; i++)
        list[i] = i + 1;
    for (int k = 0; k < columns->columns; k++)
        for (int64_t e = 0; e < columns->of[k].count; e++)
            columns->of[k].value[e]--;
    if (list != NULL)
        warn_of_rows(columns, ids, warnings);
    return list != NULL;
}

bool ids_number_nodes(IdColumns *columns, NodeIds *ids, int64_t *numbers, int64_t rows,
                      const char *path, Warnings *warnings, Error *err) {
    int64_t end[2];
    find_ends(columns, rows, end);
    if (end[0] >= 0 && end[1] < rows)
        return keep_rows(end, ids, numbers, rows, warnings);
    if (end[0] >= 1 && end[1] == rows && rows <= DATASET_MAX_NODES)
        return count_from_one(columns, ids, numbers, rows, warnings, err);
    if (!ids_number(columns, ids, err))
        return false;
    *numbers = ids->count;
    warn_of_rows(columns, ids, warnings);
    if (ids->count > DATASET_MAX_NODES)
        return error_data(err, "%s: %ld %ss; up to %d can be used", path, ids->count, columns->noun,
                          DATASET_MAX_NODES);
    if (are_rows(ids))
        node_ids_clear(ids);
    return true;
}
