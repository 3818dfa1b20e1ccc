// Ids of nodes, or of hyperedges, in a text. They need not be contiguous: they are renumbered in
// ascending order. If features or labels with R rows are given and the ids are below R but
// incomplete, each id is its row, and missing ids are isolated nodes.

#include "internal.h"

#include <string.h>

// The distinct ids, ascending: list[0..*count). NULL if there is no memory.
static int64_t *distinct_ids(const Ids *ids, int64_t *count, Error *err) {
    int64_t lists = ids->list[1] != NULL ? 2 : 1, all = lists * ids->count;
    int64_t *list = TRY(int64_t, all, "ids of a list", err);
    if (list == NULL)
        return NULL;
    for (int64_t k = 0; k < lists; k++)
        memcpy(list + k * ids->count, ids->list[k], (size_t)ids->count * sizeof *list);
    sort_int64(list, all);
    *count = 0;
    for (int64_t k = 0; k < all; k++)
        if (k == 0 || list[k] != list[k - 1])
            list[(*count)++] = list[k];
    return list;
}

// Maps ids to 0 .. n-1, their positions in the ascending list. For dense ids a table is faster than
// a search.
static bool renumber(const Ids *ids, const int64_t *list, int64_t count, Error *err) {
    int64_t largest = list[count - 1];
    if (largest == count - 1)
        return true;
    bool dense = largest < 8 * count;
    int32_t *place = dense ? TRY(int32_t, largest + 1, "places of ids", err) : NULL;
    if (dense && place == NULL)
        return false;
    for (int64_t k = 0; dense && k < count; k++)
        place[list[k]] = (int32_t)k;
    for (int k = 0; k < 2 && ids->list[k] != NULL; k++)
        for (int64_t e = 0; e < ids->count; e++) {
            int64_t *id = &ids->list[k][e];
            *id = dense ? place[*id] : sort_find(list, count, *id);
        }
    memory_free(place);
    return true;
}

static void warn_of_gaps(const Ids *ids, const int64_t *list, int64_t count, Warnings *warnings) {
    int64_t first = list[0], last = list[count - 1];
    if (last >= count)
        warnings_add(warnings,
                     "%s ids run from %lld to %lld%s; the %lld %ss are numbered 0 to %lld in "
                     "ascending order of their ids",
                     ids->noun, (long long)first, (long long)last,
                     last - first + 1 > count ? " with gaps" : "", (long long)count, ids->noun,
                     (long long)count - 1);
}

static void warn_of_first_row(const int64_t *list, int64_t count, int64_t rows,
                              Warnings *warnings) {
    if (list[0] == 1 && list[count - 1] == rows - 1 && count == rows - 1)
        warnings_add(warnings,
                     "node ids run from 1 to %lld and are taken as rows, the first of which is 0, "
                     "so node 0 has no edge; subtract 1 if ids begin at 1",
                     (long long)list[count - 1]);
}

bool ids_number(const Ids *ids, int64_t *numbers, int64_t rows, const char *path,
                Warnings *warnings, Error *err) {
    int64_t count = 0;
    int64_t *list = distinct_ids(ids, &count, err);
    if (list == NULL)
        return false;
    bool are_rows = rows > count && list[count - 1] < rows;
    *numbers = are_rows ? rows : count;
    if (are_rows)
        warn_of_first_row(list, count, rows, warnings);
    else
        warn_of_gaps(ids, list, count, warnings);
    bool ok = *numbers <= DATASET_MAX_NODES ||
              error_set(err, EXIT_DATA, "%s: %lld %ss; up to %d can be used", path,
                        (long long)*numbers, ids->noun, DATASET_MAX_NODES);
    ok = ok && (are_rows || renumber(ids, list, count, err));
    memory_free(list);
    return ok;
}
