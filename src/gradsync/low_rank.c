// Sums of low rank (Vogels et al.: PowerSGD, NeurIPS 2019, algorithm 1). Of each parameter that is
// a matrix M with more than R rows and columns, two factors travel in its place, of M_r of rank r,
// which is its gradient and what it remembers:
//
//   P = sum over ranks of M_r Q       first sum, in fp32; the other parameters are in it as they
//   are P = orthonormal columns of P      the same bits everywhere Q = sum over ranks of M_r^T P
//   second sum, in fp32 gradient = P Q^T                  and M_r - P (M_r^T P)^T is remembered
//
// Q is where the next sum starts. Both sums are those of sum.c without coding, on the host, with
// the CPU's operations whatever backend trains. Windows go through the steps from the last to the
// first, each as soon as its floats are there; one step of one window each time somebody polls.

#include "internal.h"

enum { FIRST, SECOND, SUMS };
static const char *const what = "low-rank gradients";

struct LowRank {
    const Backend *cpu;
    int rank;
    bool remembers;
    int windows;
    Window *window; // [windows] owned
    // Windows from this one on are asked for, are in the first sum, in the second, in the gradient.
    int downloaded, projected, followed, landed;
    int64_t floats[SUMS];
    GradSync *sum[SUMS];         // owned
    DeviceFloat *gradient[SUMS]; // [floats] owned: what is summed: P and whole windows; Q
    float *factor[SUMS];         // the same for the host
    float *kept;                 // [floats of the second] owned: Q of the sum before
    int64_t errors;
    float *error;    // [errors] owned: what windows remember; NULL: nothing
    int64_t longest; // floats of a factor
    double *scratch; // [longest] owned
};

// ---- making

// The window of a parameter, behind those before it.
static Window next_window(LowRank *l, const GradSpan *span) {
    int64_t rows = span->rows, columns = span->columns, rank = l->rank;
    Window w = {.name = span->name,
                .begin = span->begin,
                .rows = rows,
                .columns = columns,
                .at = {l->floats[FIRST], l->floats[SECOND]},
                .error = l->errors,
                .factored = rows > rank && columns > rank};
    l->floats[FIRST] += w.factored ? rows * rank : rows * columns;
    if (!w.factored)
        return w;
    int64_t longer = (rows > columns ? rows : columns) * rank;
    l->floats[SECOND] += columns * rank;
    l->errors += l->remembers ? rows * columns : 0;
    l->longest = longer > l->longest ? longer : l->longest;
    return w;
}

void low_rank_floats(const GradForm *form, int64_t floats[2]) {
    LowRank l = {.rank = form->rank};
    for (int i = 0; i < form_spans(form); i++) {
        GradSpan span = form_span(form, i);
        next_window(&l, &span);
    }
    floats[0] = l.floats[FIRST];
    floats[1] = l.floats[SECOND];
}

static void alloc_floats(LowRank *l, const Allocator *host) {
    for (int s = 0; s < SUMS; s++) {
        size_t bytes = memory_product(l->floats[s], sizeof(float));
        l->gradient[s] = alloc_device(host, bytes, what);
        l->factor[s] = host_side(l->cpu, l->gradient[s], NULL);
    }
    l->kept = alloc_host(host, memory_product(l->floats[SECOND], sizeof *l->kept), what);
    l->error = alloc_host(host, memory_product(l->errors, sizeof *l->error), what);
    l->scratch = alloc_host(host, memory_product(l->longest, sizeof *l->scratch), what);
}

// Normal numbers, the same on all ranks: the first Q.
static void fill_kept(LowRank *l, uint64_t seed) {
    RandomStream stream = random_stream(seed, RANDOM_GRADIENT, 0, 1, 0);
    for (int i = 0; i < l->windows; i++) {
        const Window *w = &l->window[i];
        for (int64_t at = 0; w->factored && at < w->columns * l->rank; at++)
            l->kept[w->at[SECOND] + at] =
                (float)random_normal(stream, at / l->rank, i, at % l->rank);
    }
}

static void set_start(LowRank *l) {
    l->downloaded = l->projected = l->followed = l->landed = l->windows;
}

static void alloc_sums(LowRank *l, const GradSync *sync, MemoryPlan *plan) {
    for (int s = 0; s < SUMS; s++) {
        GradForm form = {.count = l->floats[s]};
        if (plan != NULL)
            sum_plan(plan, l->cpu, &form, sync->comm);
        else
            l->sum[s] = sum_new(sync->comm, l->cpu, &form);
    }
}

LowRank *low_rank_new(const GradSync *sync, const GradForm *form, MemoryPlan *plan) {
    Error err = {0};
    LowRank *l = alloc_anyway(plan, sizeof *l, what);
    *l = (LowRank){.cpu = backend_find("cpu", &err),
                   .rank = form->rank,
                   .remembers = form->remembers,
                   .windows = form_spans(form)};
    l->window = alloc_anyway(plan, (size_t)l->windows * sizeof *l->window, what);
    for (int i = 0; i < l->windows; i++) {
        GradSpan span = form_span(form, i);
        l->window[i] = next_window(l, &span);
        l->window[i].downloaded = plan == NULL ? sync->backend->event_new() : NULL;
    }
    alloc_floats(l, &(Allocator){.backend = l->cpu, .plan = plan});
    alloc_sums(l, sync, plan);
    if (plan == NULL)
        fill_kept(l, form->seed);
    set_start(l);
    return l;
}

void low_rank_free(LowRank *l, const Backend *backend) {
    if (l == NULL)
        return;
    for (int s = 0; s < SUMS; s++) {
        sum_free(l->sum[s]);
        l->cpu->free(l->gradient[s]);
    }
    for (int i = 0; i < l->windows; i++)
        if (l->window[i].downloaded != NULL)
            backend->event_free(l->window[i].downloaded);
    memory_free(l->scratch);
    memory_free(l->error);
    memory_free(l->kept);
    memory_free(l->window);
    memory_free(l);
}

// ---- a window on its way

static int64_t floats_of(const Window *w) { return w->rows * w->columns; }

static float *factor_of(const LowRank *l, const Window *w, int s) {
    return l->factor[s] + w->at[s];
}

static void download(GradSync *sync, Window *w) {
    sync->backend->download(sync->shares + w->begin, flat_window(sync->gradient, w->begin),
                            (size_t)floats_of(w) * sizeof(float));
    sync->backend->event_record(w->downloaded, STREAM_COMPUTE);
}

static void add_error(const LowRank *l, const Window *w, float *m) {
    for (int64_t i = 0; l->remembers && i < floats_of(w); i++)
        m[i] += l->error[w->error + i];
}

// M += what is remembered, P = M Q; the window is in the first sum.
static void project(GradSync *sync, const Window *w) {
    LowRank *l = sync->low_rank;
    float *m = sync->shares + w->begin, *to = factor_of(l, w, FIRST);
    if (w->factored) {
        add_error(l, w, m);
        factors_left(to, m, l->kept + w->at[SECOND], *w, l->rank);
    } else {
        memcpy(to, m, (size_t)floats_of(w) * sizeof *m);
    }
    sum_made(l->sum[FIRST], l->gradient[FIRST], w->at[FIRST]);
}

// Of all ranks together, so they all end. Else a column that is not finite would be left out.
static void make_orthonormal(const GradSync *sync, const Window *w, float *p) {
    LowRank *l = sync->low_rank;
    CHECK(factors_orthonormal(p, w->rows, l->rank, l->scratch), EXIT_DIVERGED,
          "the gradient%s%s is not finite in epoch %u; lower train.lr or set train.clip_norm",
          w->name == NULL ? "" : " of ", w->name == NULL ? "" : w->name, sync->epoch);
}

// P is summed: Q = M^T P, and M - P Q^T is remembered; the window is in the second sum.
static void follow(GradSync *sync, const Window *w) {
    LowRank *l = sync->low_rank;
    float *m = sync->shares + w->begin, *p = factor_of(l, w, FIRST), *q = factor_of(l, w, SECOND);
    if (!w->factored) {
        memcpy(m, p, (size_t)floats_of(w) * sizeof *m);
        return;
    }
    make_orthonormal(sync, w, p);
    factors_right(q, m, p, *w, l->rank, l->scratch);
    if (l->remembers)
        factors_rest(l->error + w->error, m, p, q, *w, l->rank);
    sum_made(l->sum[SECOND], l->gradient[SECOND], w->at[SECOND]);
}

// Q is summed: the gradient is P Q^T.
static void land(GradSync *sync, const Window *w) {
    LowRank *l = sync->low_rank;
    float *p = factor_of(l, w, FIRST), *q = factor_of(l, w, SECOND);
    if (w->factored) {
        factors_product(sync->shares + w->begin, p, q, *w, l->rank);
        factors_keep(l->kept + w->at[SECOND], q, p, *w, l->rank);
    }
    sync->backend->upload(flat_window(sync->gradient, w->begin), sync->shares + w->begin,
                          (size_t)floats_of(w) * sizeof(float));
}

// ---- all of them

static void download_made(GradSync *sync) {
    LowRank *l = sync->low_rank;
    while (l->downloaded > 0 && l->window[l->downloaded - 1].begin >= sync->made)
        download(sync, &l->window[--l->downloaded]);
}

static bool can_project(const GradSync *sync, const LowRank *l) {
    return l->projected > l->downloaded &&
           sync->backend->event_reached(l->window[l->projected - 1].downloaded);
}

static bool can_follow(const LowRank *l) {
    return l->followed > l->projected &&
           sum_is_over(l->sum[FIRST], l->window[l->followed - 1].at[FIRST]);
}

static bool can_land(const LowRank *l) {
    return l->landed > l->followed &&
           sum_is_over(l->sum[SECOND], l->window[l->landed - 1].at[SECOND]);
}

void low_rank_progress(void *context) {
    GradSync *sync = context;
    LowRank *l = sync->low_rank;
    download_made(sync);
    for (int s = 0; s < SUMS; s++)
        sum_progress(l->sum[s]);
    if (can_project(sync, l))
        project(sync, &l->window[--l->projected]);
    else if (can_follow(l))
        follow(sync, &l->window[--l->followed]);
    else if (can_land(l))
        land(sync, &l->window[--l->landed]);
}

// Each window is a wait of its own, so that the time limit tells a slow network from a hung rank.
typedef struct Landing {
    GradSync *sync;
    int window;
} Landing;

static bool has_landed(void *context) {
    Landing *landing = context;
    low_rank_progress(landing->sync);
    return landing->sync->low_rank->landed <= landing->window;
}

void low_rank_finish(GradSync *sync) {
    LowRank *l = sync->low_rank;
    for (int i = l->windows - 1; i >= 0; i--) {
        sync->backend->event_wait(l->window[i].downloaded, &(Poll){low_rank_progress, sync});
        comm_wait_until(sync->comm, has_landed, &(Landing){sync, i},
                        "the sum of the weight gradients");
    }
    for (int s = 0; s < SUMS; s++)
        sum_finish(l->sum[s], l->gradient[s]);
    set_start(l);
    sync->made = sync->cut.floats;
}

void low_rank_begin(GradSync *sync) {
    for (int s = 0; s < SUMS; s++)
        sum_begin(sync->low_rank->sum[s], sync->epoch);
}

int64_t low_rank_bytes(const LowRank *l) {
    return sum_bytes(l->sum[FIRST]) + sum_bytes(l->sum[SECOND]);
}

// ---- the state of a checkpoint

static bool save(void *owner, StateWriter *writer, Error *err) {
    const LowRank *l = owner;
    (void)err;
    state_put(writer, "gradients.factors", TENSOR_F32, l->floats[SECOND], l->kept);
    if (l->remembers)
        state_put_by_rank(writer, "gradients.error", TENSOR_F32, l->errors, l->error);
    return true;
}

static bool restore(void *owner, const StateReader *reader, Error *err) {
    LowRank *l = owner;
    return state_get(reader, "gradients.factors", TENSOR_F32, l->floats[SECOND], l->kept, err) &&
           (!l->remembers ||
            state_get_by_rank(reader, "gradients.error", TENSOR_F32, l->errors, l->error, err));
}

StateSection low_rank_section(LowRank *l) {
    return l->floats[SECOND] == 0
               ? (StateSection){0}
               : (StateSection){.name = "gradients", .save = save, .restore = restore, .owner = l};
}
