// Compressed sparse rows. The idea: transposing by counting takes linear time and yields ascending
// rows, so transposing twice sorts. Symmetry is checked against the transpose without storing it.
#include "fringe/base/sparse.h"
#include "fringe/base/memory.h"

size_t csr_bytes(const Csr *csr) {
    return csr_bytes_of(csr->rows, csr_entries(csr), csr->weight != NULL);
}

size_t csr_bytes_of(int64_t rows, int64_t entries, bool weighted) {
    return memory_product(rows + 1, sizeof(int64_t)) +
           memory_product(entries, sizeof(int32_t) + (weighted ? sizeof(float) : 0));
}

void csr_alloc(Csr *csr, int64_t rows, int64_t entries, bool weighted, const char *what) {
    *csr = (Csr){.rows = rows,
                 .offset = ALLOC(int64_t, rows + 1, what),
                 .column = ALLOC(int32_t, entries, what),
                 .weight = weighted ? ALLOC(float, entries, what) : NULL};
}

bool csr_try(Csr *csr, int64_t rows, int64_t entries, bool weighted, const char *what, Error *err) {
    *csr = (Csr){.rows = rows};
    csr->offset = memory_try(memory_product(rows + 1, sizeof(int64_t)), what, err);
    if (csr->offset != NULL)
        csr->column = memory_try(memory_product(entries, sizeof(int32_t)), what, err);
    if (csr->column != NULL && weighted)
        csr->weight = memory_try(memory_product(entries, sizeof(float)), what, err);
    if (csr->column != NULL && (!weighted || csr->weight != NULL))
        return true;
    csr_free(csr);
    return false;
}

void csr_free(Csr *csr) {
    MEMORY_FREE(csr->weight, csr->column, csr->offset);
    *csr = (Csr){0};
}

void offsets_sum(int64_t *offset, int64_t rows) {
    for (int64_t i = 0; i < rows; i++)
        offset[i + 1] += offset[i];
}

void offsets_shift_back(int64_t *offset, int64_t rows) {
    memmove(offset + 1, offset, (size_t)rows * sizeof *offset);
    offset[0] = 0;
}

void csr_transpose_some(Csr *out, const Csr *in, int64_t columns, const bool *wanted) {
    const char *what = "transposed edges";
    *out = (Csr){.rows = columns, .offset = ALLOC(int64_t, columns + 1, what)};
    for (int64_t e = 0; e < csr_entries(in); e++)
        out->offset[in->column[e] + 1] += wanted == NULL || wanted[in->column[e]];
    offsets_sum(out->offset, columns);
    out->column = ALLOC(int32_t, csr_entries(out), what);
    out->weight = in->weight != NULL ? ALLOC(float, csr_entries(out), what) : NULL;
    for (int64_t i = 0; i < in->rows; i++)
        for (int64_t e = in->offset[i]; e < in->offset[i + 1]; e++) {
            if (wanted != NULL && !wanted[in->column[e]])
                continue;
            int64_t at = out->offset[in->column[e]]++;
            out->column[at] = (int32_t)i;
            if (in->weight != NULL)
                out->weight[at] = in->weight[e];
        }
    offsets_shift_back(out->offset, columns);
}

void csr_transpose(Csr *out, const Csr *in, int64_t columns) {
    csr_transpose_some(out, in, columns, NULL);
}

bool csr_from_pairs(Csr *out, int64_t rows, int64_t count, const int32_t *row,
                    const int32_t *column, const float *weight, const char *what, Error *err) {
    if (!csr_try(out, rows, count, weight != NULL, what, err))
        return false;
    for (int64_t e = 0; e < count; e++)
        out->offset[row[e] + 1]++;
    offsets_sum(out->offset, rows);
    for (int64_t e = 0; e < count; e++) {
        int64_t at = out->offset[row[e]]++;
        out->column[at] = column[e];
        if (weight != NULL)
            out->weight[at] = weight[e];
    }
    offsets_shift_back(out->offset, rows);
    return true;
}

bool csr_is_ascending(const Csr *csr) {
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t e = csr->offset[i] + 1; e < csr->offset[i + 1]; e++)
            if (csr->column[e - 1] > csr->column[e])
                return false;
    return true;
}

bool csr_is_valid(const Csr *csr, int64_t columns) {
    if (csr->offset[0] != 0)
        return false;
    for (int64_t i = 0; i < csr->rows; i++)
        if (csr->offset[i] > csr->offset[i + 1])
            return false;
    for (int64_t e = 0; e < csr_entries(csr); e++)
        if (csr->column[e] < 0 || csr->column[e] >= columns)
            return false;
    return csr_is_ascending(csr);
}

// Compares in the order in which the transpose would be filled: its next entry in row c is i.
bool csr_is_symmetric(const Csr *csr) {
    FREED int64_t *next = ALLOC(int64_t, csr->rows, "symmetry of edges");
    memcpy(next, csr->offset, (size_t)csr->rows * sizeof *next);
    bool same = true;
    for (int64_t i = 0; i < csr->rows && same; i++)
        for (int64_t e = csr->offset[i]; e < csr->offset[i + 1] && same; e++) {
            int32_t c = csr->column[e];
            int64_t back = next[c]++;
            same = back < csr->offset[c + 1] && csr->column[back] == i &&
                   (csr->weight == NULL || csr->weight[back] == csr->weight[e]);
        }
    return same;
}

void sparse_put_rows(const Csr *csr, int64_t columns, float *x) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t e = csr->offset[i]; e < csr->offset[i + 1]; e++)
            x[i * columns + csr->column[e]] = csr->weight[e];
}
