// spectral: the smallest eigenvalues of 1 - Theta that are not 0, and their vectors. Theta is
// D^-1/2 A D^-1/2, of a hypergraph D_v^-1/2 H W D_e^-1 HT D_v^-1/2, so these are its largest beside
// 1. Block Lanczos (Golub and Underwood): each block of the basis is the image of the one before
// without its part in the basis. All of that part is kept, not the band that exact arithmetic would
// leave, so that a basis that begins with vectors found so far needs nothing else (thick restart).
#include "spectral.h"

static const double tolerance = 1e-4; // of |Theta x - value x|
enum { CHECKED = 4, PATIENCE = 64 };  // blocks from check to check; that gain little

typedef struct Lanczos {
    ProgramRun *run;
    NodeOperator op;
    Subspace space;
    Rows from;                  // [own nodes, BLOCK] what the operator is applied to
    int64_t pairs, kept, most;  // kept: by a restart; most: columns
    int64_t done, begin;        // columns whose images are known; where the last block begins
    int64_t blocks;             // whose images were made
    double *projected;          // [most, most] basisT Theta basis, of rank 0
    double *small, *vectors;    // [most, most] of the eigenproblem of [done, done], of rank 0
    int64_t first;              // entries that `vectors` have begin here
    double *value;              // [most]
    double *coupling;           // [most + BLOCK, BLOCK]
    double gram[BLOCK * BLOCK]; // of what the image of the last block has outside of the basis
    float *combination;         // [blocks of columns][most, BLOCK]
    float *embedding;           // [own nodes, pairs] owned, as `left`
    double *left;               // [pairs] |Theta x - value x|
    double largest;             // of `left`, measured or estimated
    double lowest;              // that it was at a restart, ...
    int64_t gained;             // ... after so many blocks
} Lanczos;

// ---- set-up

static int64_t limit_of(const ProgramParts *parts, int64_t space) {
    int64_t most = BLOCK * parts->config->program.blocks;
    return most < whole_blocks(space) ? most : whole_blocks(space);
}

static int64_t kept_of(int64_t pairs, int64_t most) {
    int64_t kept = whole_blocks(pairs) + BLOCK;
    return kept < most ? kept : most - BLOCK;
}

static bool pairs_fit(Lanczos *l) {
    const ProgramParts *parts = l->run->parts;
    int64_t space = l->space.space, needed = whole_blocks(l->pairs) / BLOCK + 1;
    if (l->pairs > space)
        return error_data(
            l->run->err,
            "%s has %ld eigenvalues that are not 0 (%ld nodes with edges less %ld components), and "
            "program.pairs asks for %ld; ask for no more than there are",
            parts->shard->dataset_name, space, l->space.zero.covered, l->space.zero.count,
            l->pairs);
    if (l->most < space && l->most < needed * BLOCK)
        return error_config(
            l->run->err, "program.blocks=%ld are too few for program.pairs=%ld; set at least %ld",
            parts->config->program.blocks, l->pairs, needed);
    return true;
}

// Allocates what is beside the operator, the zero space and the basis, or plans it.
static void lanczos_alloc(Lanczos *l, const ProgramParts *parts, const Allocator *a) {
    int64_t rows = nodes_of(parts)->own, most = l->most, pairs = l->pairs;
    size_t square = parts->comm->rank == 0 ? memory_product(most * most, sizeof(double)) : 0;
    size_t combined = memory_product(most * (whole_blocks(pairs) + BLOCK), sizeof(float));
    size_t coupling = memory_product((most + BLOCK) * BLOCK, sizeof(double));
    l->from = alloc_rows(a, rows, BLOCK, "block of the basis");
    l->projected = alloc_host(a, square, "projected operator");
    l->small = alloc_host(a, square, "small eigenproblem");
    l->vectors = alloc_host(a, square, "small eigenproblem");
    l->value = alloc_host(a, (size_t)most * sizeof(double), "eigenvalues");
    l->coupling = alloc_host(a, coupling, "column products");
    l->combination = alloc_host(a, combined, "small eigenvectors");
    Allocator given = *a; // what it makes becomes the result's
    given.taken = NULL;
    l->embedding = alloc_host(&given, memory_product(rows * pairs, sizeof(float)), "embeddings");
    l->left = alloc_host(&given, (size_t)pairs * sizeof(double), "residuals");
}

static bool lanczos_init(Lanczos *l, ProgramRun *run) {
    const ProgramParts *parts = run->parts;
    const char *name = shard_is_hypergraph(parts->shard) ? "hyper-sym" : "sym";
    *l = (Lanczos){.run = run, .pairs = parts->config->program.pairs, .largest = 1};
    l->lowest = INFINITY;
    l->space.parts = parts;
    zero_space_init(&l->space.zero, run);
    l->space.space = l->space.zero.covered - l->space.zero.count;
    l->most = limit_of(parts, l->space.space);
    l->kept = kept_of(l->pairs, l->most);
    if (!pairs_fit(l) || !node_operator_init(&l->op, parts, name, BLOCK, run->err))
        return false;
    Allocator allocator = {.backend = parts->backend, .taken = &l->op.taken};
    subspace_init(&l->space, run, l->most + BLOCK, &allocator);
    lanczos_alloc(l, parts, &allocator);
    parts->backend->zero(l->from.at, rows_bytes(l->from.count, BLOCK));
    return true;
}

static void lanczos_clear(Lanczos *l) {
    MEMORY_FREE(l->left, l->embedding);
    node_operator_clear(&l->op);
    zero_space_clear(&l->space.zero);
}

static bool is_root(const Lanczos *l) { return l->run->parts->comm->rank == 0; }

// ---- the basis

static void enter_coupling(Lanczos *l, int64_t live) {
    for (int64_t r = 0; r < l->begin + live; r++)
        for (int64_t c = 0; c < live; c++) {
            double *at = &l->projected[r * l->most + l->begin + c];
            double *across = &l->projected[(l->begin + c) * l->most + r];
            *at = *across = l->coupling[r * BLOCK + c];
        }
}

// The image of the last block, and what it adds to the basis: nothing where that fills the space.
static void step(Lanczos *l) {
    Subspace *s = &l->space;
    int64_t live = s->columns - l->done;
    l->begin = l->done;
    subspace_copy(s, l->from, subspace_block(s, l->begin));
    node_operator_apply(&l->op, s->block, l->from);
    subspace_append(s, BLOCK, l->coupling, l->gram);
    if (is_root(l))
        enter_coupling(l, live);
    l->done += live;
    l->blocks++;
}

static bool is_filled(const Lanczos *l) { return l->space.columns == l->done; }
static bool is_full(const Lanczos *l) { return is_filled(l) || l->done + BLOCK > l->most; }

// ---- pairs of the basis

static void solve_on_helper(void *context) {
    Lanczos *l = context;
    for (int64_t r = 0; r < l->done; r++)
        memcpy(l->small + r * l->done, l->projected + r * l->most,
               (size_t)l->done * sizeof *l->small);
    small_eigen(l->small, l->done, l->value, l->vectors, l->first);
}

// The entries [first, done) of the vectors, on rank 0, and the values.
static void solve(Lanczos *l, int64_t first) {
    const Comm *comm = l->run->parts->comm;
    double since = clock_seconds();
    l->first = first;
    if (is_root(l))
        comm_on_helper(comm, solve_on_helper, l);
    l->run->eigenproblem += clock_seconds() - since;
    comm_broadcast(comm, l->value, (size_t)l->done * sizeof *l->value, 0);
}

// |Theta x - value x| of pair j: what the last block gives to rows outside of the basis.
static double residual_of(const Lanczos *l, int64_t j) {
    const double *entry = l->vectors + j * (l->done - l->first) + l->begin - l->first;
    double sum = 0;
    for (int64_t r = 0; r < l->done - l->begin; r++)
        for (int64_t c = 0; c < l->done - l->begin; c++)
            sum += entry[r] * l->gram[r * BLOCK + c] * entry[c];
    return sqrt(fmax(sum, 0));
}

static double estimate(const Lanczos *l) {
    double most = l->done < l->pairs ? 1 : 0;
    for (int64_t j = 0; j < l->pairs && is_root(l) && l->done >= l->pairs; j++)
        most = fmax(most, residual_of(l, j));
    comm_broadcast(l->run->parts->comm, &most, sizeof most, 0);
    return most;
}

// Gives the first `count` small vectors to all ranks, in blocks of columns.
static void share_vectors(Lanczos *l, int64_t count) {
    int64_t width = whole_blocks(l->done), floats = width * whole_blocks(count);
    memset(l->combination, 0, (size_t)floats * sizeof(float));
    for (int64_t j = 0; j < count && is_root(l); j++)
        for (int64_t r = 0; r < l->done; r++)
            l->combination[(j / BLOCK * width + r) * BLOCK + j % BLOCK] =
                (float)l->vectors[j * l->done + r];
    comm_broadcast(l->run->parts->comm, l->combination, (size_t)floats * sizeof(float), 0);
}

// out = the vectors [at, at + BLOCK) of those shared.
static void combine(Lanczos *l, Rows out, int64_t at) {
    int64_t width = whole_blocks(l->done);
    subspace_multiply(&l->space, out, rows_columns(l->space.basis, (Range){0, width}),
                      l->combination + at * width, false);
}

// l->space.block = Theta x - x values, with x in l->from.
static void residuals_of_block(Lanczos *l, int64_t at, int64_t count) {
    float values[BLOCK * BLOCK] = {0};
    for (int64_t c = 0; c < count; c++)
        values[c * BLOCK + c] = -(float)l->value[at + c];
    node_operator_apply(&l->op, l->space.block, l->from);
    subspace_multiply(&l->space, l->space.block, l->from, values, true);
    subspace_products(&l->space, l->space.block, l->space.block);
    for (int64_t c = 0; c < count; c++)
        l->left[at + c] = sqrt(fmax(l->space.sums[c * BLOCK + c], 0));
}

static void keep_embedding(Lanczos *l, int64_t at, int64_t count) {
    const Backend *device = l->run->parts->backend;
    float *host = l->space.host;
    device->download_rows(host, l->from);
    device->finish(NULL);
    for (int64_t i = 0; i < l->from.count; i++)
        memcpy(l->embedding + i * l->pairs + at, host + i * BLOCK, (size_t)count * sizeof *host);
}

// The pairs, and how well they solve the problem, with the operator itself.
static void measure(Lanczos *l) {
    if (l->first != 0)
        solve(l, 0);
    share_vectors(l, l->pairs);
    l->largest = 0;
    for (int64_t at = 0; at < l->pairs; at += BLOCK) {
        int64_t count = l->pairs - at < BLOCK ? l->pairs - at : BLOCK;
        combine(l, l->from, at);
        residuals_of_block(l, at, count);
        keep_embedding(l, at, count);
        for (int64_t c = at; c < at + count; c++)
            l->largest = fmax(l->largest, l->left[c]);
    }
}

// ---- the iteration

// Goes on with the best vectors of the basis and its last block, which continues them.
static void restart(Lanczos *l) {
    Subspace *s = &l->space;
    const Backend *device = l->run->parts->backend;
    int64_t live = s->columns - l->done, last = l->done;
    Rows best = rows_alloc(device, l->from.count, l->kept, "basis");
    share_vectors(l, l->kept);
    for (int64_t at = 0; at < l->kept; at += BLOCK) {
        combine(l, s->block, at);
        subspace_copy(s, rows_columns(best, (Range){at, at + BLOCK}), s->block);
    }
    subspace_copy(s, l->from, subspace_block(s, last));
    subspace_copy(s, rows_columns(s->basis, (Range){0, l->kept}), best);
    subspace_copy(s, subspace_block(s, l->kept), l->from);
    rows_free(device, &best);
    for (int64_t r = 0; r < l->kept && is_root(l); r++) {
        memset(l->projected + r * l->most, 0, (size_t)l->most * sizeof *l->projected);
        l->projected[r * l->most + r] = l->value[r];
    }
    l->done = l->kept;
    s->columns = l->kept + live;
}

static bool stalls(Lanczos *l) {
    if (l->largest < .9 * l->lowest) {
        l->lowest = l->largest;
        l->gained = l->blocks;
    }
    return l->blocks - l->gained >= PATIENCE;
}

// True if the pairs are there. Of a basis that fills the space they are exact.
static bool examine(Lanczos *l) {
    solve(l, is_full(l) ? 0 : l->begin);
    l->largest = estimate(l);
    if (!(l->largest <= tolerance) && !is_filled(l))
        return false;
    measure(l);
    return is_filled(l) || l->largest <= tolerance;
}

static void iterate(Lanczos *l) {
    subspace_append(&l->space, 0, NULL, NULL);
    for (;;) {
        step(l);
        bool whole = is_full(l);
        if ((whole || l->blocks % CHECKED == 0) && examine(l))
            return;
        if (!program_goes_on(l->run, l->blocks, "residual", l->largest))
            return;
        if (whole && stalls(l)) {
            measure(l);
            return;
        }
        if (whole)
            restart(l);
    }
}

// ---- the result

static void warn(Lanczos *l) {
    char *warning = l->run->result->warning;
    int64_t reached = 0;
    for (int64_t j = 0; j < l->pairs; j++)
        reached += l->left[j] <= tolerance;
    if (reached < l->pairs)
        snprintf(warning, sizeof l->run->result->warning,
                 "spectral ended after %ld blocks with %ld of %ld pairs within %g; the largest "
                 "residual is %.3g (residuals.npy has all), and more program.blocks may help",
                 l->blocks, reached, l->pairs, tolerance, l->largest);
}

static void report(Lanczos *l) {
    ProgramRun *run = l->run;
    double *values = NULL;
    program_count(run, "pairs", l->pairs);
    program_count(run, "blocks", l->blocks);
    program_count(run, "zero space", l->space.zero.count);
    program_figure(run, "largest residual", l->largest);
    warn(l);
    fix_signs(l->embedding, l->pairs, l->run->parts);
    if (is_root(l)) {
        values = ALLOC(double, l->pairs, "eigenvalues");
        for (int64_t j = 0; j < l->pairs; j++)
            values[j] = 1 - l->value[j];
    }
    program_array(run,
                  (ProgramArray){"eigenvalues.npy", "<f8", sizeof(double), 0, l->pairs, values});
    program_array(run,
                  (ProgramArray){"residuals.npy", "<f8", sizeof(double), 0, l->pairs, l->left});
    program_array(
        run, (ProgramArray){"embeddings.npy", "<f4", sizeof(float), l->pairs, 0, l->embedding});
    l->left = NULL;
    l->embedding = NULL;
}

static void run(ProgramRun *run) {
    CLEARED(lanczos_clear) Lanczos l = {0};
    if (!lanczos_init(&l, run))
        return;
    double since = clock_seconds();
    iterate(&l);
    run->seconds = clock_seconds() - since;
    node_operator_report(run, &l.op);
    run->iterations = l.blocks;
    if (run->err->code == 0)
        report(&l);
}

static int64_t row_bytes(const ProgramParts *parts) {
    return parts->config->program.pairs * (int64_t)sizeof(float);
}

static void plan(ProgramPlan *plan) {
    const ProgramParts *parts = plan->parts;
    Lanczos l = {.pairs = parts->config->program.pairs};
    l.most = limit_of(parts, nodes_of(parts)->total);
    plan_node_operator(plan, BLOCK);
    zero_space_forecast(plan);
    subspace_alloc(&l.space, parts, l.most + BLOCK, &plan->allocator);
    lanczos_alloc(&l, parts, &plan->allocator);
    if (l.most < nodes_of(parts)->total) // of a restart
        alloc_rows(&plan->allocator, nodes_of(parts)->own, kept_of(l.pairs, l.most), "basis");
}

const Program program_spectral = {.name = "spectral",
                                  .keys = "pairs blocks codec",
                                  .undirected = true,
                                  .ignores_zeros = true,
                                  .plan = plan,
                                  .row_bytes = row_bytes,
                                  .run = run};
