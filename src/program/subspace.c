// An orthonormal basis over all ranks, in floats: products of columns are summed over the ranks in
// double. A block is made orthogonal to all before it, and its columns to each other by the
// eigenvectors of their products, until little of it is lost by that: once more is enough (Kahan).
#include "spectral.h"

enum { PASSES = 12 };
static const double dropped = 1e-9; // columns of which no more than the root of it is left
static const double much = .5;      // of what a pass leaves: it need not be repeated

void subspace_alloc(Subspace *s, const ProgramParts *parts, int64_t columns, const Allocator *a) {
    int64_t rows = nodes_of(parts)->own;
    int64_t scratch = parts->backend->dense_gradient_scratch(rows, columns, BLOCK);
    size_t bytes = memory_product(columns * BLOCK, sizeof(float));
    s->basis = alloc_rows(a, rows, columns, "basis");
    s->block = alloc_rows(a, rows, BLOCK, "block of the basis");
    s->spare = alloc_rows(a, rows, BLOCK, "block of the basis");
    s->factors = alloc_device(a, bytes, "column factors");
    s->products = alloc_device(a, bytes, "column products");
    s->scratch = alloc_device(a, (size_t)scratch * sizeof(float), "scratch of products");
    s->sums = alloc_host(a, memory_product(columns * BLOCK, sizeof(double)), "column products");
    s->host = alloc_host(a, memory_product(rows * BLOCK, sizeof(float)), "block of the basis");
    s->host_factors = alloc_host(a, bytes, "column factors");
}

void subspace_init(Subspace *s, const ProgramRun *run, int64_t columns, const Allocator *a) {
    const Backend *b = run->parts->backend;
    int64_t rows = nodes_of(run->parts)->own;
    subspace_alloc(s, run->parts, columns, a);
    b->zero(s->basis.at, rows_bytes(rows, columns));
    b->zero(s->block.at, rows_bytes(rows, BLOCK));
}

Rows subspace_block(const Subspace *s, int64_t begin) {
    return rows_columns(s->basis, (Range){begin, begin + BLOCK});
}

void subspace_copy(const Subspace *s, Rows to, Rows from) {
    s->parts->backend->add_scaled(to, (Range){0, to.count}, (RowFactor){0}, from,
                                  (RowFactor){.plain = 1}, from, NULL);
}

void subspace_products(Subspace *s, Rows a, Rows b) {
    const Backend *device = s->parts->backend;
    int64_t count = a.columns * BLOCK;
    size_t bytes = (size_t)count * sizeof(float);
    if (a.columns == 0)
        return;
    if (a.count > 0)
        device->dense_gradient(s->products, a, b, s->scratch, NULL);
    else
        device->zero(s->products, bytes);
    device->download(s->host_factors, s->products, bytes);
    device->finish(NULL);
    for (int64_t i = 0; i < count; i++)
        s->sums[i] = (double)s->host_factors[i];
    comm_sum_double(s->parts->comm, s->sums, (int)count);
}

void subspace_multiply(Subspace *s, Rows out, Rows a, const float *w, bool add) {
    const Backend *device = s->parts->backend;
    if (a.columns == 0)
        return;
    device->upload(s->factors, w, (size_t)(a.columns * BLOCK) * sizeof(float));
    device->dense(out, (Range){0, out.count}, a, s->factors, NULL, add, NULL);
    device->finish(NULL); // the host's factors may change from here on
}

// ---- a block to append

// Columns [live, want) are random: by node, so that they are the same on any ranks.
static void draw(Subspace *s, int64_t live, int64_t want) {
    const RowSet *set = nodes_of(s->parts);
    RandomKey key =
        random_key((uint64_t)s->parts->config->run.seed, RANDOM_PROGRAM, s->draws++, 0, 0);
    double scale = 1 / sqrt((double)s->space); // columns of length 1, about
    for (int64_t i = 0; i < set->own; i++)
        for (int64_t c = live; c < want && set->degree_in[i] > 0; c++)
            s->host[i * BLOCK + c] = (float)(scale * random_normal(key, set->gid[i], 0, c));
}

static void leave_zero_space(Subspace *s, int64_t live, int64_t want) {
    const Backend *device = s->parts->backend;
    device->download_rows(s->host, s->block);
    device->finish(NULL);
    if (live < want)
        draw(s, live, want);
    zero_space_remove(&s->zero, s->host);
    device->upload_rows(s->block, s->host);
    device->finish(NULL);
}

// s->sums: the products of the basis with the block, whose part in the basis is subtracted.
static void leave_basis(Subspace *s) {
    Rows basis = rows_columns(s->basis, (Range){0, whole_blocks(s->columns)});
    subspace_products(s, basis, s->block);
    for (int64_t i = 0; i < basis.columns * BLOCK; i++)
        s->host_factors[i] = -(float)s->sums[i];
    subspace_multiply(s, s->block, basis, s->host_factors, true);
}

typedef struct Turned { // the same on all ranks
    int64_t live;
    double least;                // that was left of a column, squared
    float factor[BLOCK * BLOCK]; // what makes orthonormal columns of those of the block
} Turned;

static void turn(Turned *turned, const double *gram, int64_t want) {
    double a[BLOCK * BLOCK], value[BLOCK], vector[BLOCK * BLOCK];
    for (int r = 0; r < BLOCK; r++)
        for (int c = 0; c < BLOCK; c++)
            a[r * BLOCK + c] = (gram[r * BLOCK + c] + gram[c * BLOCK + r]) / 2;
    small_eigen(a, BLOCK, value, vector, 0);
    for (int64_t c = 0; c < want && value[c] >= dropped; c++) {
        turned->live = c + 1;
        turned->least = value[c];
        for (int r = 0; r < BLOCK; r++)
            turned->factor[r * BLOCK + c] = (float)(vector[c * BLOCK + r] / sqrt(value[c]));
    }
}

static Turned make_orthonormal(Subspace *s, int64_t want) {
    Turned turned = {0};
    if (s->parts->comm->rank == 0)
        turn(&turned, s->sums, want);
    comm_broadcast(s->parts->comm, &turned, sizeof turned, 0);
    subspace_multiply(s, s->spare, s->block, turned.factor, false);
    Rows last = s->block;
    s->block = s->spare;
    s->spare = last;
    return turned;
}

static void keep(double *out, const Subspace *s, int64_t columns) {
    if (out != NULL)
        memcpy(out, s->sums, (size_t)(columns * BLOCK) * sizeof *out);
}

void subspace_append(Subspace *s, int64_t live, double *coupling, double *gram) {
    int64_t left = s->space - s->columns, want = left < BLOCK ? left : BLOCK;
    bool good = false;
    for (int pass = 0; pass < PASSES && !good; pass++) {
        leave_zero_space(s, live, want);
        leave_basis(s);
        keep(pass == 0 ? coupling : NULL, s, whole_blocks(s->columns));
        subspace_products(s, s->block, s->block);
        keep(pass == 0 ? gram : NULL, s, BLOCK);
        if (want == 0)
            return;
        Turned turned = make_orthonormal(s, want);
        live = turned.live;
        good = live == want && turned.least >= much;
    }
    CHECK(live == want, EXIT_BUG, "a basis of %ld columns could not be continued", s->columns);
    subspace_copy(s, subspace_block(s, whole_blocks(s->columns)), s->block);
    s->columns += want;
}
