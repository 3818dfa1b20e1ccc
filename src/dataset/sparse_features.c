// Features of which most are 0, as CSR (data.features_as): from a file that has them so, from rows
// of floats, and back.
//
// The one idea: there is one such matrix for a set of rows. Columns ascend, entries of one place
// are added up in the order of the file, as in rows of floats, and no 0 is stored. So the bytes do
// not tell where it came from.
#include "npz_layout.h"

// Above this share of numbers that are not 0 rows of floats train faster: by 15 % where they are
// multiplied into 64 columns, by 20 % into 256; and as CSR each takes two.
static const double dense_from = 0.1;

static bool says(const Config *config, const char *word) {
    return strcmp(config->data.features_as, word) == 0;
}

bool sparse_is_wanted(const Config *config, int64_t rows, int64_t columns, int64_t entries) {
    return says(config, "sparse") ||
           (says(config, "auto") && (double)entries < dense_from * (double)rows * (double)columns);
}

void features_drop(Dataset *d) {
    dataset_drop(d, &d->x);
    dataset_drop(d, &d->sparse.offset);
    dataset_drop(d, &d->sparse.column);
    dataset_drop(d, &d->sparse.weight);
    d->sparse.rows = 0;
}

// ---- from a file

// A row in ascending order of columns, entries of one column in the order of the file: few, and
// mostly in order already.
static void sort_row(int32_t *column, float *value, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        int32_t key = column[i];
        float with = value[i];
        int64_t k = i;
        for (; k > 0 && column[k - 1] > key; k--) {
            column[k] = column[k - 1];
            value[k] = value[k - 1];
        }
        column[k] = key;
        value[k] = with;
    }
}

// Adds up what stands in one place and drops zeros. Returns the entries that are left, at `to`.
static int64_t merge_row(Csr *csr, int64_t to, int64_t begin, int64_t end) {
    const int64_t first = to;
    for (int64_t e = begin; e < end;) {
        int32_t column = csr->column[e];
        float sum = 0;
        for (; e < end && csr->column[e] == column; e++)
            sum += csr->weight[e];
        csr->column[to] = column;
        csr->weight[to] = sum;
        to += sum != 0;
    }
    return to - first;
}

bool sparse_from_file(Dataset *d, const FileCsr *file, Error *err) {
    Csr csr;
    if (!csr_try(&csr, file->csr.rows, file->entries, true, "sparse features", err))
        return false;
    memcpy(csr.column, file->csr.column, (size_t)file->entries * sizeof *csr.column);
    memcpy(csr.weight, file->csr.weight, (size_t)file->entries * sizeof *csr.weight);
    for (int64_t i = 0; i < csr.rows; i++) {
        int64_t begin = file->csr.offset[i], end = file->csr.offset[i + 1];
        sort_row(csr.column + begin, csr.weight + begin, end - begin);
        csr.offset[i + 1] = csr.offset[i] + merge_row(&csr, csr.offset[i], begin, end);
    }
    features_drop(d);
    d->sparse = csr;
    d->features = file->columns;
    return true;
}

// ---- from rows of floats, and back

int64_t features_entries(const Dataset *d) {
    if (d->sparse.offset != NULL)
        return csr_entries(&d->sparse);
    int64_t entries = 0, all = d->x != NULL ? d->nodes * d->features : 0;
#pragma omp parallel for schedule(static) reduction(+ : entries) if (all > 65536)
    for (int64_t k = 0; k < all; k++)
        entries += d->x[k] != 0;
    return entries;
}

static bool make_sparse(Dataset *d, int64_t entries, Error *err) {
    Csr csr;
    if (!csr_try(&csr, d->nodes, entries, true, "sparse features", err))
        return false;
    int64_t at = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        const float *row = d->x + i * d->features;
        for (int64_t f = 0; f < d->features; f++)
            if (row[f] != 0) {
                csr.column[at] = (int32_t)f;
                csr.weight[at++] = row[f];
            }
        csr.offset[i + 1] = at;
    }
    features_drop(d);
    d->sparse = csr;
    return true;
}

bool features_make_dense(Dataset *d, Error *err) {
    if (d->sparse.offset == NULL)
        return true;
    float *x = TRY(float, d->nodes * d->features, "features as dense float32 rows", err);
    if (x == NULL)
        return false;
    sparse_put_rows(&d->sparse, d->features, x);
    features_drop(d);
    d->x = x;
    return true;
}

bool features_settle(Dataset *d, const Config *config, Error *err) {
    if (d->features == 0)
        return true;
    if (!says(config, "sparse") && !says(config, "auto"))
        return features_make_dense(d, err);
    int64_t entries = features_entries(d);
    if (!sparse_is_wanted(config, d->nodes, d->features, entries))
        return features_make_dense(d, err);
    return d->sparse.offset != NULL || make_sparse(d, entries, err);
}

bool sparse_check(const Dataset *d, Error *err) {
    const Csr *csr = &d->sparse;
    if (!csr_is_valid(csr, d->features))
        return error_data(err, "the offsets or columns of its sparse features are out of range");
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t e = csr->offset[i]; e < csr->offset[i + 1]; e++)
            if (!isfinite(csr->weight[e]))
                return error_data(err, "feature %d of node %ld is %s; features must be finite",
                                  csr->column[e], i,
                                  isnan(csr->weight[e]) ? "not a number" : "infinite");
    return true;
}
