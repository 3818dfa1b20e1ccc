// messages.safetensors: the number of rows that each part sends to each other part, forward and,
// for a directed graph, backward; of a hypergraph in the first stage and, if it is directed, in the
// second one. Only pairs that send any are stored: parts have few neighbours,
// and a full matrix grows with the square of the parts.
//
//   forward.from, forward.to, forward.rows   I32 [pairs]      (backward. likewise)
#include "internal.h"

static int32_t *grow(int32_t *old, int64_t count, int64_t room) {
    return memory_grown(old, (size_t)count * sizeof *old, (size_t)room * sizeof *old,
                        "pairs of parts that send rows");
}

void messages_add(Messages *m, int from, int to, int64_t rows) {
    if (m->count == m->room) {
        m->room = m->room > 0 ? 2 * m->room : 1024;
        m->from = grow(m->from, m->count, m->room);
        m->to = grow(m->to, m->count, m->room);
        m->rows = grow(m->rows, m->count, m->room);
    }
    m->from[m->count] = from;
    m->to[m->count] = to;
    m->rows[m->count++] = (int32_t)rows; // a part has fewer than 2^31
}

void messages_turn(Messages *m) {
    int32_t *from = m->from;
    m->from = m->to;
    m->to = from;
}

void messages_clear(Messages *m) {
    MEMORY_FREE(m->from, m->to, m->rows);
    *m = (Messages){0};
}

enum { LISTS = 3, MATRIX_COLUMNS = 80 };
static const char *const list_names[LISTS] = {"from", "to", "rows"};

bool messages_write(const Messages *forward, const Messages *backward, const char *path,
                    Error *err) {
    const Messages *of[2] = {forward, backward};
    static const char *const way[2] = {"forward", "backward"};
    Tensor tensor[2 * LISTS];
    int count = 0;
    for (int w = 0; w < 2 && of[w] != NULL; w++) {
        const int32_t *list[LISTS] = {of[w]->from, of[w]->to, of[w]->rows};
        for (int i = 0; i < LISTS; i++)
            tensor[count++] =
                tensor_vector(TENSOR_I32, of[w]->count, list[i], "%s.%s", way[w], list_names[i]);
    }
    return tensors_write(path, tensor, count, NULL, true, err);
}

// ---- printing

typedef struct Lists {
    const int32_t *list[LISTS]; // from, to, rows
    int64_t count;
} Lists;

static bool find_lists(Lists *lists, const Tensors *map, const char *way, Error *err) {
    lists->count = -1;
    for (int i = 0; i < LISTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s.%s", way, list_names[i]);
        const Tensor *tensor = tensors_need(map, name, TENSOR_I32, 1, &lists->count, err);
        if (tensor == NULL)
            return false;
        lists->count = tensor->shape[0];
        lists->list[i] = tensor->data;
    }
    return true;
}

// One direction as a full matrix, to be freed; NULL if the file does not hold it.
static int32_t *full_matrix(const Tensors *map, const char *way, int parts, Error *err) {
    Lists lists;
    if (!find_lists(&lists, map, way, err))
        return NULL;
    int32_t *full = ALLOC(int32_t, (int64_t)parts * parts, "message matrix");
    for (int64_t k = 0; k < lists.count; k++) {
        int32_t from = lists.list[0][k], to = lists.list[1][k];
        if (from >= 0 && from < parts && to >= 0 && to < parts)
            full[from * parts + to] = lists.list[2][k];
    }
    return full;
}

static int columns_of(int32_t largest) {
    char text[16];
    return 1 + snprintf(text, sizeof text, "%d", largest);
}

static void print_square(const Sink *out, const int32_t *sent, int parts, int columns) {
    sink_print(out, "%4s", "");
    for (int b = 0; b < parts; b++)
        sink_print(out, "%*d", columns, b);
    for (int a = 0; a < parts; a++) {
        sink_print(out, "\n%4d", a);
        for (int b = 0; b < parts; b++)
            sink_print(out, "%*d", columns, sent[a * parts + b]);
    }
    sink_print(out, "\n");
}

static bool print_matrix(const Sink *out, const Tensors *map, const char *way, const char *what,
                         int parts, Error *err) {
    FREED int32_t *sent = full_matrix(map, way, parts, err);
    int32_t largest = parts - 1;
    if (sent == NULL)
        return false;
    for (int i = 0; i < parts * parts; i++)
        largest = sent[i] > largest ? sent[i] : largest;
    if (4 + parts * columns_of(largest) <= MATRIX_COLUMNS) {
        sink_print(out, "\n%s (row: from rank, column: to rank)\n", what);
        print_square(out, sent, parts, columns_of(largest));
    } else {
        sink_print(out, "\n%s: too wide to print; see --json\n", what);
    }
    return true;
}

bool messages_print(const Sink *out, const char *path, int parts, const char *forward,
                    const char *backward, Error *err) {
    CLEARED(tensors_close) Tensors map = {0};
    return tensors_open(&map, path, err) &&
           print_matrix(out, &map, "forward", forward, parts, err) &&
           (backward == NULL || print_matrix(out, &map, "backward", backward, parts, err));
}

static bool put_way(JsonWriter *writer, const char *key, const Tensors *map, const char *way,
                    Error *err) {
    Lists lists;
    if (!find_lists(&lists, map, way, err))
        return false;
    JSON_PUT_ARRAY(writer, key)
        for (int64_t k = 0; k < lists.count; k++)
            JSON_PUT_ARRAY(writer, NULL)
                for (int i = 0; i < LISTS; i++)
                    json_put_int(writer, NULL, lists.list[i][k]);
    return true;
}

bool messages_put(JsonWriter *writer, const char *path, bool symmetric, Error *err) {
    CLEARED(tensors_close) Tensors map = {0};
    return tensors_open(&map, path, err) && put_way(writer, "sent", &map, "forward", err) &&
           (symmetric || put_way(writer, "sent_backward", &map, "backward", err));
}
