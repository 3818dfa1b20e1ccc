// random-walk: P <- r P0 + (1 - r) (A P + P0 diag(L)), where column c starts on the training nodes
// of class c, A hands what a node has to those that read it, in parts by the weights, and L is what
// came to nodes without a way out, or to hyperedges without targets: it starts again. Every column
// keeps its mass, 1.
#include "internal.h"

static bool starts_from_classes(const ProgramParts *parts) {
    return strcmp(program_start(parts, &program_random_walk), "classes") == 0;
}

static int64_t columns_of(const ProgramParts *parts) {
    return starts_from_classes(parts) ? parts->shard->classes : 1;
}

// ---- the start

static void mark_classes(const ProgramParts *parts, float *start) {
    const Shard *shard = parts->shard;
    int64_t classes = shard->classes;
    for (int64_t i = 0; i < nodes_of(parts)->reach[0]; i++)
        if (shard->multilabel)
            for (int64_t c = 0; c < classes; c++)
                start[i * classes + c] = shard->labels[i * classes + c] != 0;
        else if (shard->label[i] >= 0)
            start[i * classes + shard->label[i]] = 1;
}

// Divides each column by its number of marks. Collective.
static void share_out(const ProgramParts *parts, float *start, int64_t columns) {
    int64_t rows = nodes_of(parts)->own;
    FREED int64_t *count = ALLOC(int64_t, columns, "nodes of the start");
    for (int64_t i = 0; i < rows * columns; i++)
        count[i % columns] += start[i] != 0;
    comm_sum_int64(parts->comm, count, (int)columns);
    for (int64_t i = 0; i < rows * columns; i++)
        start[i] = start[i] != 0 ? (float)(1.0 / (double)count[i % columns]) : 0;
}

static bool fill_start(ProgramRun *run, Rows rows) {
    const ProgramParts *parts = run->parts;
    FREED float *start = ALLOC(float, rows.count *rows.columns, "start");
    bool ok = true;
    if (starts_from_classes(parts))
        mark_classes(parts, start);
    else
        ok = ids_mark(run, start);
    if (ok)
        share_out(parts, start, rows.columns);
    parts->backend->upload_rows(rows, start);
    parts->backend->finish(NULL);
    return ok;
}

// ---- the walk

typedef struct Walk {
    ProgramRun *run;
    NodeOperator op;
    Rows start, at, next; // P0, P and the next P
    Rows end[SHARD_SETS]; // one column: what each row of the set keeps of what it has: 1 of a node
                          // without a way out, its weight of a hyperedge without targets, else 0
    int64_t columns, ends[SHARD_SETS];      // such rows of all ranks
    DeviceFloat *diagonal, *sums, *scratch; // [columns, columns], [columns]
    float *host;                            // [columns, columns]
    double *mass, *began;                   // [columns]; at the start: 1, or 0 without a node
} Walk;

// Of a graph only nodes can be ends, of a hypergraph hyperedges, too.
static void mark_ends(Walk *w, int set) {
    const ProgramParts *parts = w->run->parts;
    const RowSet *rows = &parts->shard->set[set];
    FREED float *keeps = ALLOC(float, rows->own, "marks");
    for (int64_t i = 0; i < rows->own; i++) {
        float weight = rows->weight != NULL ? rows->weight[i] : 1;
        keeps[i] = rows->degree_out[i] == 0 ? weight : 0;
        w->ends[set] += rows->degree_out[i] == 0;
    }
    parts->backend->zero(w->end[set].at, rows_bytes(rows->own, 1));
    parts->backend->upload_rows(w->end[set], keeps);
    parts->backend->finish(NULL);
    w->ends[set] = program_sum(parts, w->ends[set]);
}

// For the largest set of rows.
static int64_t scratch_floats(const Backend *b, const Shard *shard, int64_t columns) {
    int64_t nodes = shard->set[NODES].own, hyperedges = shard->set[HYPEREDGES].own;
    int64_t rows = shard->sets > 1 && hyperedges > nodes ? hyperedges : nodes;
    int64_t marked = b->dense_gradient_scratch(rows, 1, columns);
    int64_t all = b->column_sums_scratch(rows, columns);
    return marked > all ? marked : all;
}

// Allocates what a walk has beside its operator, or plans it.
static void walk_alloc(Walk *w, const ProgramParts *parts, const Allocator *a) {
    const char *what = "rows of the program";
    int64_t rows = nodes_of(parts)->own, columns = w->columns;
    size_t square = memory_product(columns * columns, sizeof(float));
    Rows *all[] = {&w->start, &w->at, &w->next};
    for (int i = 0; i < 3; i++)
        *all[i] = alloc_rows(a, rows, columns, what);
    w->diagonal = alloc_device(a, square, "column factors");
    w->sums = alloc_device(a, (size_t)columns * sizeof(float), "column sums");
    int64_t scratch = scratch_floats(parts->backend, parts->shard, columns);
    w->scratch = alloc_device(a, (size_t)scratch * sizeof(float), "scratch of sums");
    w->host = alloc_host(a, square, "column factors");
    w->mass = alloc_host(a, (size_t)columns * sizeof(double), "column sums");
    w->began = alloc_host(a, (size_t)columns * sizeof(double), "column sums");
    for (int set = 0; set < parts->shard->sets; set++)
        w->end[set] = alloc_rows(a, parts->shard->set[set].own, 1, what);
}

static bool walk_init(Walk *w, ProgramRun *run) {
    const Backend *b = run->parts->backend;
    *w = (Walk){.run = run, .columns = columns_of(run->parts)};
    if (!node_operator_init(&w->op, run->parts, "walk", w->columns, run->err))
        return false;
    walk_alloc(w, run->parts, &(Allocator){.backend = b, .taken = &w->op.taken});
    Rows *all[] = {&w->start, &w->at, &w->next};
    for (int i = 0; i < 3; i++)
        b->zero(all[i]->at, rows_bytes(all[i]->count, w->columns));
    for (int set = 0; set < run->parts->shard->sets; set++)
        mark_ends(w, set);
    return true;
}

static void walk_clear(Walk *w) { node_operator_clear(&w->op); }

// Adds w->sums to w->mass. Local.
static void add_sums(Walk *w) {
    const Backend *b = w->run->parts->backend;
    b->download(w->host, w->sums, (size_t)w->columns * sizeof(float));
    b->finish(NULL);
    for (int64_t c = 0; c < w->columns; c++)
        w->mass[c] += (double)w->host[c];
}

// w->mass: what P has in each column. Collective.
static void sum_all(Walk *w) {
    memset(w->mass, 0, (size_t)w->columns * sizeof *w->mass);
    if (w->at.count > 0) {
        w->run->parts->backend->column_sums(w->sums, w->at, w->scratch);
        add_sums(w);
    }
    comm_sum_double(w->run->parts->comm, w->mass, (int)w->columns);
}

// w->mass: what came to an end in the step that was just made. Collective.
static void sum_ended(Walk *w) {
    Rows from[SHARD_SETS] = {[NODES] = w->at, [HYPEREDGES] = w->op.between};
    memset(w->mass, 0, (size_t)w->columns * sizeof *w->mass);
    for (int set = 0; set < SHARD_SETS; set++)
        if (w->ends[set] > 0 && from[set].count > 0) {
            w->run->parts->backend->dense_gradient(w->sums, w->end[set], from[set], w->scratch,
                                                   NULL);
            add_sums(w);
        }
    comm_sum_double(w->run->parts->comm, w->mass, (int)w->columns);
}

// rows += P0 diag(w->mass). Local.
static void add_start(Walk *w, Rows rows) {
    const Backend *b = w->run->parts->backend;
    size_t bytes = (size_t)(w->columns * w->columns) * sizeof(float);
    memset(w->host, 0, bytes);
    for (int64_t c = 0; c < w->columns; c++)
        w->host[c * w->columns + c] = (float)w->mass[c];
    b->upload(w->diagonal, w->host, bytes);
    b->dense(rows, (Range){0, rows.count}, w->start, w->diagonal, NULL, true, NULL);
    b->finish(NULL); // the host's factors may change from here on
}

// next = (1 - r) next + P0 diag(r + (1 - r) L): of each column another part of the start comes in.
static void restart_by_column(Walk *w, double restart) {
    sum_ended(w);
    for (int64_t c = 0; c < w->columns; c++)
        w->mass[c] = restart + (1 - restart) * w->mass[c];
    w->run->parts->backend->add_scaled(w->next, (Range){0, w->next.count}, (RowFactor){0}, w->next,
                                       (RowFactor){.plain = (float)(1 - restart)}, w->next, NULL);
    add_start(w, w->next);
}

static void step(Walk *w) {
    double restart = w->run->parts->config->program.restart;
    node_operator_apply(&w->op, w->next, w->at);
    if (w->ends[NODES] + w->ends[HYPEREDGES] > 0)
        restart_by_column(w, restart);
    else
        w->run->parts->backend->add_scaled(w->next, (Range){0, w->next.count},
                                           (RowFactor){.plain = (float)(1 - restart)}, w->next,
                                           (RowFactor){.plain = (float)restart}, w->start, NULL);
    Rows last = w->at;
    w->at = w->next;
    w->next = last;
}

static void begin(Walk *w) {
    w->run->parts->backend->copy(w->at.at, w->start.at, rows_bytes(w->start.count, w->columns));
    sum_all(w);
    for (int64_t c = 0; c < w->columns; c++)
        w->began[c] = round(w->mass[c]);
}

// How far the mass of a column is from what it was, at most.
static double mass_lost(Walk *w) {
    double most = 0;
    sum_all(w);
    for (int64_t c = 0; c < w->columns; c++) {
        double lost = fabs(w->mass[c] - w->began[c]);
        most = lost > most || isnan(lost) ? lost : most;
    }
    return most;
}

// What rounding may take: half a unit in the last place of each number that a row adds up. The
// restart brings its part of all mass anew, so iterations before the last 1 / r count no more.
static double rounding(const Walk *w) {
    const ProgramParts *parts = w->run->parts;
    int64_t longest = longest_row(w->op.pattern, w->op.stages);
    double most = comm_max_double(parts->comm, (double)longest) * 0x1p-24;
    return most * (double)w->op.stages / fmax(parts->config->program.restart, 1e-2);
}

// Rows that add up very many numbers round much of the mass away: it starts again.
static void check_mass(Walk *w) {
    ProgramRun *run = w->run;
    bool exact = strcmp(run->parts->config->program.codec, "fp32") == 0;
    double most = exact ? 1e-5 : 1e-2, lost = mass_lost(w);
    if (lost > most && lost <= rounding(w)) {
        program_figure(run, "mass put back", lost);
        for (int64_t c = 0; c < w->columns; c++)
            w->mass[c] = w->began[c] - w->mass[c];
        add_start(w, w->at);
        lost = mass_lost(w);
    }
    program_figure(run, "mass lost", lost);
    if (!(lost <= most))
        error_set(run->err, EXIT_BUG, "a random walk lost %g of its mass", lost);
}

static void report_ends(const Walk *w) {
    ProgramRun *run = w->run;
    const RowSet *set = nodes_of(run->parts);
    int64_t without = 0;
    for (int64_t i = 0; i < set->own; i++)
        without += set->degree_in[i] == 0;
    program_count(run, "nodes that read nothing", program_sum(run->parts, without));
    program_count(run, "nodes without a way out", w->ends[NODES]);
    if (shard_is_hypergraph(run->parts->shard))
        program_count(run, "hyperedges without targets", w->ends[HYPEREDGES]);
}

static void iterate(Walk *w) {
    ProgramRun *run = w->run;
    int64_t most = program_iterations(run, &program_random_walk);
    begin(w);
    double since = clock_seconds();
    for (int64_t i = 1; i <= most && run->err->code == 0; i++) {
        step(w);
        program_goes_on(run, i, "of", (double)most);
    }
    run->seconds = clock_seconds() - since;
    node_operator_report(run, &w->op);
}

static void run(ProgramRun *run) {
    CLEARED(walk_clear) Walk w = {0};
    if (!walk_init(&w, run))
        return;
    if (fill_start(run, w.start))
        iterate(&w);
    if (run->err->code == 0) {
        check_mass(&w);
        report_ends(&w);
        scores_report(run, w.at, NULL);
    }
}

static int64_t row_bytes(const ProgramParts *parts) {
    return columns_of(parts) * (int64_t)sizeof(float);
}

static void plan(ProgramPlan *plan) {
    const ProgramParts *parts = plan->parts;
    Walk w = {.columns = columns_of(parts)};
    plan_node_operator(plan, w.columns);
    walk_alloc(&w, parts, &plan->allocator);
    alloc_host(&plan->allocator, memory_product(nodes_of(parts)->own, (size_t)row_bytes(parts)),
               "result"); // or the start, before
}

const Program program_random_walk = {.name = "random-walk",
                                     .also = "rw",
                                     .keys = "iterations restart start codec",
                                     .start = "classes",
                                     .several = true,
                                     .iterations = 10,
                                     .plan = plan,
                                     .row_bytes = row_bytes,
                                     .run = run};
