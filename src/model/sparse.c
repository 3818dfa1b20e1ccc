// Features of which most are 0 (data.features_as): the first layer multiplies them by its weights
// before anything is aggregated, so their zeros are never touched.
//
//   X W    the aggregate over the Csr of X, with X's numbers as weights of its entries and the rows
//          of W in place of those of nodes: a row adds its entries by ascending column
//   Xᵀ G   the aggregate over the transpose: a row of the result, which one thread makes, adds the
//          rows of G in ascending order
//
// Both multiply, round and add, from +0, so no bit depends on threads or vectors. Dropout of the
// input draws for the entries alone, by the numbers that rows of floats would draw by.
#include "internal.h"

static const char *const what = "sparse features";

bool first_may_multiply(const ModelShape *shape) {
    int l = first_with_weights(shape);
    if (!shape->aggregates[0])
        return l == 0;
    return shape->mixes == 0 && shape->kind->may_transform_first &&
           (l == 0 || shape->kind->may_transform_run);
}

const char *why_not_sparse(const ModelShape *shape, const Config *config) {
    if (shape->aggregates[0] && strcmp(config->lossless.order, "aggregate-first") == 0)
        return "lossless.order=aggregate-first aggregates them before they are multiplied";
    if (!first_may_multiply(shape))
        return "this model.layer aggregates them before they are multiplied";
    if (skips_from(shape, 0))
        return "model.skip adds them to a level";
    return NULL;
}

// ---- memory

static bool is_dropped(const ModelShape *shape) {
    return shape->input_keep < 1 && !shape->inference;
}

// X Ws is added to rows that are there.
static bool adds(const ModelShape *shape) {
    bool self = false;
    for (int i = 0; i < shape->parameter_spans; i++)
        self |= shape->parameter[i].layer == 0 && shape->parameter[i].role == ROLE_SELF_WEIGHT;
    return self;
}

// Xᵀ G is made with the gradient of X W over rows of level 0, and of X Ws or of Z over rows of
// level 1.
static bool needs_level(const ModelShape *shape, int level) {
    bool first = multiplies_first(shape, 0);
    return !shape->inference && (level == 0 ? first : adds(shape) || !first);
}

// The rows of X that training needs of that level.
static Csr first_rows(const Model *m, int level) {
    Csr csr = m->parts.shard->sparse;
    csr.rows = m->parts.patterns->rows[level];
    return csr;
}

// Of an outline, which has no rows: a share of them.
static int64_t entries_of(const Model *m, int level) {
    const Shard *shard = m->parts.shard;
    int64_t rows = m->parts.patterns->rows[level];
    if (shard->sparse.offset != NULL)
        return shard->sparse.offset[rows];
    double share = shard->set[NODES].own > 0 ? (double)rows / (double)shard->set[NODES].own : 0;
    return (int64_t)(share * (double)shard->feature_entries);
}

// Of a Csr that is not there yet only the sizes are read.
static size_t planned_bytes(const Model *m, int64_t rows, int64_t entries, int64_t sources) {
    float weight = 1;
    Csr csr = {.rows = rows, .weight = &weight};
    csr.offset = ALLOC(int64_t, rows + 1, what);
    csr.offset[rows] = entries;
    size_t bytes =
        m->parts.backend->aggregate_bytes(&csr, sources, m->shape.width[1], ROWS_FP32, "rows");
    if (!m->parts.backend->host_is_device) // which copies it
        bytes += csr_bytes_of(rows, entries, true);
    memory_free(csr.offset);
    return bytes;
}

// Which row or column each entry is in.
static void list_rows(int32_t *row, const Csr *csr) {
    for (int64_t i = 0; row != NULL && i < csr->rows; i++)
        for (int64_t e = csr->offset[i]; e < csr->offset[i + 1]; e++)
            row[e] = (int32_t)i;
}

// The entries of a Csr that dropout looks at, and what it leaves of them.
static void alloc_entries(SparseEntries *e, const Allocator *allocator, const Csr *csr,
                          int64_t count, bool transposed) {
    bool plans = allocator->forecast != NULL; // then no array is there, nor read
    size_t bytes = (size_t)count * sizeof(int32_t);
    e->count = count;
    e->listed = alloc_host(allocator, bytes, what);
    list_rows(plans ? NULL : e->listed, csr);
    const void *listed = alloc_mirror(allocator, plans ? what : (void *)e->listed, bytes, what);
    const void *column = alloc_mirror(allocator, plans ? what : (void *)csr->column, bytes, what);
    e->row = transposed ? column : listed;
    e->column = transposed ? listed : column;
    e->value = alloc_mirror(allocator, plans ? what : (void *)csr->weight, bytes, what);
    e->kept = alloc_device(allocator, bytes, what);
}

static void alloc_times(Model *m, const Allocator *allocator) {
    SparseFeatures *s = &m->sparse;
    const Shard *shard = m->parts.shard;
    int64_t width = m->shape.width[1], features = m->shape.width[0];
    s->rows = shard->sparse;
    if (allocator->forecast != NULL)
        alloc_device(allocator,
                     planned_bytes(m, shard->set[NODES].own, shard->feature_entries, features),
                     what);
    else
        s->times = m->parts.backend->aggregate_new(&s->rows, features, width, ROWS_FP32, "rows");
    s->padded = alloc_rows(allocator, features, width, what);
    if (adds(&m->shape))
        s->sum = alloc_rows(allocator, own_rows(m, 1), width, what);
    if (is_dropped(&m->shape)) {
        Csr rows = first_rows(m, 0);
        alloc_entries(&s->entries[0], allocator, &rows, entries_of(m, 0), false);
    }
}

static void alloc_back(Model *m, const Allocator *allocator, int level) {
    SparseFeatures *s = &m->sparse;
    const Backend *b = m->parts.backend;
    int64_t features = m->shape.width[0], rows = m->parts.patterns->rows[level];
    int64_t entries = entries_of(m, level);
    Csr *back = &s->transposed[level];
    if (allocator->forecast != NULL) {
        alloc_device(allocator, planned_bytes(m, features, entries, rows), what);
        forecast_add(allocator->forecast, what, csr_bytes_of(features, entries, true));
    } else {
        Csr of = first_rows(m, level);
        csr_transpose(back, &of, features);
        s->back[level] = b->aggregate_new(back, rows, m->shape.width[1], ROWS_FP32, "rows");
    }
    if (is_dropped(&m->shape)) {
        alloc_entries(&s->entries[1 + level], allocator, back, entries, true);
        if (allocator->forecast == NULL)
            b->aggregate_weights(s->back[level], s->entries[1 + level].kept);
    }
}

void alloc_sparse(Model *m, const Allocator *allocator) {
    if (!m->shape.sparse)
        return;
    alloc_times(m, allocator);
    for (int level = 0; level < 2; level++)
        if (needs_level(&m->shape, level))
            alloc_back(m, allocator, level);
}

void free_sparse(Model *m) {
    SparseFeatures *s = &m->sparse;
    for (int level = 1; level >= 0; level--) {
        m->parts.backend->aggregate_free(s->back[level]);
        csr_free(&s->transposed[level]);
    }
    m->parts.backend->aggregate_free(s->times);
}

// ---- in an epoch

void sparse_begin(Model *m) {
    const Backend *b = m->parts.backend;
    bool drops = m->training && m->shape.input_keep < 1;
    b->aggregate_weights(m->sparse.times, drops ? m->sparse.entries[0].kept : NULL);
    for (int i = 0; i < SPARSE_LISTS && drops; i++) {
        const SparseEntries *e = &m->sparse.entries[i];
        if (e->count > 0)
            b->dropout_entries(e->kept, e->value, e->count, e->row, e->column, m->shape.input_keep,
                               layer_dropout(m, 0), m->on.gid[NODES], NULL);
    }
}

static void times(const Model *m, Rows out, Range rows, const DeviceFloat *w, bool add,
                  const Poll *poll) {
    const Backend *b = m->parts.backend;
    const SparseFeatures *s = &m->sparse;
    Rows to = add ? s->sum : out;
    b->pad_rows(s->padded, w);
    b->aggregate_prepare(s->times, s->padded, NULL, poll);
    b->aggregate_rows(s->times, to, rows, false, NULL, poll);
    if (add)
        b->add_scaled(out, rows, (RowFactor){.plain = 1}, out, (RowFactor){.plain = 1}, to, poll);
}

void input_times(const LayerRun *run, Rows out, Range rows, Rows in, const DeviceFloat *w,
                 const DeviceFloat *bias, bool add, const Poll *poll) {
    const Model *m = run->m;
    if (run->l > 0 || !m->shape.sparse) {
        m->parts.backend->dense(out, rows, in, w, bias, add, poll);
        return;
    }
    times(m, out, rows, w, add, poll);
    if (bias != NULL)
        m->parts.backend->add_bias(out, rows, bias, poll);
}

void sparse_gradient(const Model *m, const Parameter *p, Rows g, const Poll *poll) {
    const Backend *b = m->parts.backend;
    const SparseFeatures *s = &m->sparse;
    int level = multiplies_first(&m->shape, 0) && p->role == ROLE_WEIGHT ? 0 : 1;
    assert(g.count == m->parts.patterns->rows[level]);
    b->aggregate_prepare(s->back[level], g, NULL, poll);
    b->aggregate_rows(s->back[level], s->padded, (Range){0, s->padded.count}, false, NULL, poll);
    b->unpad_rows(flat_at(m->gradient, p->begin), s->padded);
    if (m->sync != NULL)
        gradsync_made(m->sync, m->gradient, p->begin);
}

// ---- a model that needs rows of floats

enum { BLOCK = 1 << 20 }; // floats that are made at once

void upload_features(const Model *m) {
    const Shard *shard = m->parts.shard;
    const Backend *b = m->parts.backend;
    if (m->shape.sparse)
        return;
    if (!shard->is_sparse) {
        b->upload_rows(m->x, shard->x);
        return;
    }
    int64_t columns = shard->features, most = columns < BLOCK ? BLOCK / columns : 1;
    FREED float *block = ALLOC(float, most *columns, what);
    for (int64_t begin = 0; begin < m->x.count; begin += most) {
        int64_t end = begin + most < m->x.count ? begin + most : m->x.count;
        Csr csr = shard->sparse;
        csr.rows = end - begin;
        csr.offset += begin;
        memset(block, 0, (size_t)((end - begin) * columns) * sizeof *block);
        sparse_put_rows(&csr, columns, block);
        b->upload_rows(rows_range(m->x, (Range){begin, end}), block);
        b->finish(NULL); // the block is used again
    }
}
