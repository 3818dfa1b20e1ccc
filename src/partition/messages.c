// messages.safetensors: the number of rows that each part sends to each other part, forward and,
// for a directed graph, backward. Only pairs that send any are stored: parts have few neighbours,
// and a full matrix grows with the square of the parts.
//
//   forward.from, forward.to, forward.rows   I32 [pairs]      (backward. likewise)
#include "internal.h"
#include <stdio.h>
#include <string.h>

static int32_t *grow(int32_t *old, int64_t count, int64_t room) {
    int32_t *larger = ALLOC(int32_t, room, "pairs of parts that send rows");
    if (count > 0)
        memcpy(larger, old, (size_t)count * sizeof *old);
    memory_free(old);
    return larger;
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

void messages_clear(Messages *m) {
    memory_free(m->from);
    memory_free(m->to);
    memory_free(m->rows);
    *m = (Messages){0};
}

enum { LISTS = 3 };
static const char *const list_names[LISTS] = {"from", "to", "rows"};

bool messages_write(const Messages *forward, const Messages *backward, const char *path,
                    Error *err) {
    const Messages *of[2] = {forward, backward};
    static const char *const way[2] = {"forward", "backward"};
    Tensor tensor[2 * LISTS];
    int count = 0;
    for (int w = 0; w < 2 && of[w] != NULL; w++) {
        const int32_t *list[LISTS] = {of[w]->from, of[w]->to, of[w]->rows};
        for (int i = 0; i < LISTS; i++, count++) {
            tensor[count] =
                (Tensor){.type = TENSOR_I32, .rank = 1, .shape = {of[w]->count}, .data = list[i]};
            snprintf(tensor[count].name, sizeof tensor[count].name, "%s.%s", way[w], list_names[i]);
        }
    }
    return tensors_write(path, tensor, count, NULL, true, err);
}

// ---- printing

// One direction as a full matrix, to be freed; NULL if the file does not hold it.
static int32_t *full_matrix(const Tensors *map, const char *way, int parts, Error *err) {
    const int32_t *list[LISTS];
    int64_t count = -1;
    for (int i = 0; i < LISTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s.%s", way, list_names[i]);
        const Tensor *tensor = tensors_need(map, name, TENSOR_I32, 1, &count, err);
        if (tensor == NULL)
            return NULL;
        count = tensor->shape[0];
        list[i] = tensor->data;
    }
    int32_t *full = ALLOC(int32_t, (int64_t)parts * parts, "message matrix");
    for (int64_t k = 0; k < count; k++)
        if (list[0][k] >= 0 && list[0][k] < parts && list[1][k] >= 0 && list[1][k] < parts)
            full[list[0][k] * parts + list[1][k]] = list[2][k];
    return full;
}

static bool print_matrix(const Tensors *map, const char *way, const char *what, int parts,
                         Error *err) {
    int32_t *sent = full_matrix(map, way, parts, err);
    if (sent == NULL)
        return false;
    printf("\n%s (row: from rank, column: to rank)\n%6s", what, "");
    for (int b = 0; b < parts; b++)
        printf(" %8d", b);
    for (int a = 0; a < parts; a++) {
        printf("\n%6d", a);
        for (int b = 0; b < parts; b++)
            printf(" %8d", sent[a * parts + b]);
    }
    printf("\n");
    memory_free(sent);
    return true;
}

bool messages_print(const char *path, int parts, bool symmetric, Error *err) {
    Tensors map;
    if (!tensors_open(&map, path, err))
        return false;
    bool ok =
        print_matrix(&map, "forward",
                     symmetric ? "rows sent, both directions" : "rows sent, forward", parts, err) &&
        (symmetric || print_matrix(&map, "backward", "rows sent, backward", parts, err));
    tensors_close(&map);
    return ok;
}
