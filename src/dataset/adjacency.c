// The arrays of a dataset, its own or mapped; its edges as a Csr, and their properties.

#include "internal.h"

// Also true for the copy of an array whose place in the file was not aligned.
static bool in_mapping(const Dataset *dataset, const void *array) {
    const char *begin = dataset->map.mapping, *at = array;
    if (!dataset->mapped)
        return false;
    for (int i = 0; i < dataset->map.count; i++)
        if (dataset->map.tensor[i].data == array)
            return true;
    return at >= begin && at <= begin + dataset->map.bytes;
}

void dataset_drop(const Dataset *dataset, void *pointer) {
    void *array;
    memcpy(&array, pointer, sizeof array);
    if (!in_mapping(dataset, array))
        memory_free(array);
    memset(pointer, 0, sizeof array);
}

void *dataset_writable(Dataset *dataset, void *array, size_t bytes, const char *what) {
    if (!in_mapping(dataset, array))
        return array;
    void *copy = memory_alloc(bytes, what);
    memcpy(copy, array, bytes);
    return copy;
}

void splits_begin(Dataset *dataset) {
    dataset->split = dataset_writable(dataset, dataset->split, (size_t)dataset->nodes, "splits");
    memset(dataset->split, SPLIT_NONE, (size_t)dataset->nodes);
}

void dataset_drop_ids(Dataset *dataset) {
    dataset_drop(dataset, &dataset->ids.number);
    dataset_drop(dataset, &dataset->ids.bytes);
    dataset_drop(dataset, &dataset->ids.offset);
    dataset->ids = (NodeIds){0};
}

Csr dataset_csr(const Dataset *dataset) {
    return (Csr){dataset->nodes, dataset->offset, dataset->target, dataset->weight};
}

void dataset_set_csr(Dataset *dataset, Csr *csr) {
    dataset_drop(dataset, &dataset->offset);
    dataset_drop(dataset, &dataset->target);
    dataset_drop(dataset, &dataset->weight);
    dataset->nodes = csr->rows;
    dataset->edges = csr_entries(csr);
    dataset->offset = csr->offset;
    dataset->target = csr->column;
    dataset->weight = csr->weight;
    *csr = (Csr){0};
}

int64_t csr_loops(const Csr *csr) {
    int64_t loops = 0;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t e = csr->offset[i]; e < csr->offset[i + 1]; e++)
            loops += csr->column[e] == i;
    return loops;
}

int64_t csr_duplicates(const Csr *csr) {
    int64_t duplicates = 0;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t e = csr->offset[i] + 1; e < csr->offset[i + 1]; e++)
            duplicates += csr->column[e - 1] == csr->column[e];
    return duplicates;
}

int64_t csr_drop(Csr *rows, bool loops) {
    int64_t place = 0, begin = 0, all = csr_entries(rows);
    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t end = rows->offset[i + 1];
        for (int64_t e = begin; e < end; e++) {
            bool again = e > begin && rows->column[e] == rows->column[e - 1];
            bool drop = loops ? rows->column[e] == i : again;
            if (rows->weight != NULL && !drop)
                rows->weight[place] = rows->weight[e];
            else if (rows->weight != NULL && !loops)
                rows->weight[place - 1] += rows->weight[e];
            if (!drop)
                rows->column[place++] = rows->column[e];
        }
        rows->offset[i + 1] = place;
        begin = end;
    }
    return all - place;
}

bool dataset_is_symmetric(const Dataset *dataset) {
    if (dataset->hyperedges > 0)
        return dataset->pin_role == NULL;
    Csr edges = dataset_csr(dataset);
    return csr_is_symmetric(&edges);
}

// ---- from two arrays of nodes

bool ends_init(Ends *ends, int64_t count, Error *err) {
    *ends = (Ends){.count = count,
                   .source = TRY(int32_t, count, "ends of edges", err),
                   .target = TRY(int32_t, count, "ends of edges", err)};
    return ends->source != NULL && ends->target != NULL;
}

void ends_clear(Ends *ends) {
    MEMORY_FREE(ends->source, ends->target);
    *ends = (Ends){0};
}

// Each end behind those of its row: offset[i] is then the end of row i.
static void place_ends(Csr *rows, const Ends *ends, bool both) {
    for (int64_t e = 0; e < ends->count; e++) {
        int32_t source = ends->source[e], target = ends->target[e];
        rows->column[rows->offset[source]++] = target;
        if (both && source != target)
            rows->column[rows->offset[target]++] = source;
    }
    offsets_shift_back(rows->offset, rows->rows);
}

bool ends_to_rows(Dataset *dataset, const Ends *ends, int64_t nodes, bool both, Error *err) {
    CLEARED(csr_free)
    Csr rows = {.rows = nodes, .offset = TRY(int64_t, nodes + 1, "edges of a graph", err)};
    for (int64_t e = 0; rows.offset != NULL && e < ends->count; e++) {
        rows.offset[ends->source[e] + 1]++;
        rows.offset[ends->target[e] + 1] += both && ends->source[e] != ends->target[e];
    }
    if (rows.offset != NULL) {
        offsets_sum(rows.offset, nodes);
        rows.column = TRY(int32_t, csr_entries(&rows), "edges of a graph", err);
    }
    if (rows.column != NULL) {
        place_ends(&rows, ends, both);
        csr_sort_columns(&rows, nodes);
        dataset_set_csr(dataset, &rows);
    }
    return err->code == 0;
}

// ---- with the other directions

// Where the entries of row i with that column end, from `e` on.
static int64_t run_end(const Csr *csr, int64_t i, int64_t e) {
    int64_t end = e;
    while (end < csr->offset[i + 1] && csr->column[end] == csr->column[e])
        end++;
    return end;
}

static bool same_weights(const Csr *a, int64_t p, const Csr *b, int64_t q, int64_t count) {
    if (a->weight == NULL)
        return true;
    sort_float(a->weight + p, count);
    sort_float(b->weight + q, count);
    return memcmp(a->weight + p, b->weight + q, (size_t)count * sizeof *a->weight) == 0;
}

typedef struct Union { // of a matrix and its transpose
    const Csr *there, *back;
    Csr out; // out.column == NULL: entries are only counted
    int64_t place;
    bool larger;     // of two directions with other weights the larger one is kept
    int64_t both[2]; // else the first edge of such directions; both[0] < 0: none
} Union;

static void put_run(Union *u, const Csr *from, int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; e++, u->place++) {
        if (u->out.column == NULL)
            continue;
        u->out.column[u->place] = from->column[e];
        if (from->weight != NULL)
            u->out.weight[u->place] = from->weight[e];
    }
}

static void unite_row(Union *u, int64_t i) {
    const Csr *a = u->there, *b = u->back;
    int64_t p = a->offset[i], q = b->offset[i];
    while (p < a->offset[i + 1] || q < b->offset[i + 1]) {
        bool in_a = p < a->offset[i + 1], in_b = q < b->offset[i + 1];
        if (in_a && in_b && a->column[p] != b->column[q]) {
            in_a = a->column[p] < b->column[q];
            in_b = !in_a;
        }
        int64_t p_end = in_a ? run_end(a, i, p) : p, q_end = in_b ? run_end(b, i, q) : q;
        int64_t less = p_end - p < q_end - q ? p_end - p : q_end - q;
        bool first = p_end - p >= q_end - q;
        if (less > 0 && u->larger && a->weight != NULL)
            first = a->weight[p] >= b->weight[q];
        else if (less > 0 && u->out.column == NULL && less == p_end - p && less == q_end - q &&
                 !same_weights(a, p, b, q, less) && u->both[0] < 0) {
            u->both[0] = i;
            u->both[1] = a->column[p];
        }
        put_run(u, first ? a : b, first ? p : q, first ? p_end : q_end);
        p = p_end;
        q = q_end;
    }
}

static bool differ(const int64_t both[2], const NodeIds *ids, Error *err) {
    return error_data(err,
                      "an edge is to stand for both directions (by data.undirected, or the file "
                      "says so), but that from %s to %s is listed in both, with other weights; "
                      "leave data.undirected out, or keep one of the two lines",
                      NODE_ID(ids, both[0]), NODE_ID(ids, both[1]));
}

bool csr_unite(Csr *out, const Csr *there, const Csr *back, const NodeIds *ids, Error *err) {
    Union u = {.there = there, .back = back, .larger = ids == NULL, .both = {-1, -1}};
    for (int64_t i = 0; i < there->rows; i++)
        unite_row(&u, i);
    if ((u.both[0] >= 0 && !differ(u.both, ids, err)) ||
        !csr_try(&u.out, there->rows, u.place, there->weight != NULL, "edges of a graph", err))
        return false;
    u.place = 0;
    for (int64_t i = 0; i < there->rows; i++) {
        unite_row(&u, i);
        u.out.offset[i + 1] = u.place;
    }
    *out = u.out;
    return true;
}
