// Sums of low rank (Vogels et al.: PowerSGD, NeurIPS 2019, algorithm 1). Of each parameter that is
// a matrix M with more than R rows and columns, two factors travel in its place, of M_r of rank r,
// which is its gradient and what it remembers:
//
//   P = sum over ranks of M_r Q       first sum, in fp32; the other parameters are in it as they
//   are P = orthonormal columns of P      the same bits everywhere Q = sum over ranks of M_r^T P
//   second sum, in fp32 gradient = P Q^T                  and M_r - P (M_r^T P)^T is remembered
//
// Q is where the next sum starts. Both sums are those of sum.c without coding, on the host, with
// the CPU's operations whatever backend trains. Spans go through the steps from the last to the
// first, each as soon as its floats are there; one step of one span each time somebody polls.

#include "internal.h"

enum { FIRST, SECOND, SUMS };
static const char *const what = "low-rank gradients";

struct LowRank {
    const Backend *cpu;
    int rank;
    bool remembers;
    int spans;
    LowRankSpan *span; // [spans] owned
    // Spans from this one on are asked for, are in the first sum, in the second, in the gradient.
    int downloaded, projected, followed, landed;
    int64_t floats[SUMS];
    GradSync *sum[SUMS];         // owned
    DeviceFloat *gradient[SUMS]; // [floats] owned: what is summed: P and whole spans; Q
    float *factor[SUMS];         // the same for the host
    float *kept;                 // [floats of the second] owned: Q of the sum before
    int64_t errors;
    float *error;    // [errors] owned: what spans remember; NULL: nothing
    int64_t longest; // floats of a factor
    double *scratch; // [longest] owned
    Taken *taken;    // owned: the blocks of floats
};

// ---- making

// The span of a parameter, behind those before it.
static LowRankSpan next_span(LowRank *l, GradSpan span) {
    int64_t rows = span.rows, columns = span.columns, rank = l->rank;
    LowRankSpan w = {.name = span.name,
                     .begin = span.begin,
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
    for (int i = 0; i < form_spans(form); i++)
        next_span(&l, form_span(form, i));
    floats[0] = l.floats[FIRST];
    floats[1] = l.floats[SECOND];
}

static void alloc_floats(LowRank *l, const Allocator *host) {
    for (int s = 0; s < SUMS; s++) {
        size_t bytes = memory_product(l->floats[s], sizeof(float));
        l->gradient[s] = alloc_device(host, bytes, what);
        l->factor[s] = host_mirror(l->cpu, l->gradient[s], NULL);
    }
    l->kept = alloc_host(host, memory_product(l->floats[SECOND], sizeof *l->kept), what);
    l->error = alloc_host(host, memory_product(l->errors, sizeof *l->error), what);
    l->scratch = alloc_host(host, memory_product(l->longest, sizeof *l->scratch), what);
}

// Normal numbers, the same on all ranks: the first Q.
static void fill_kept(LowRank *l, uint64_t seed) {
    RandomKey key = random_key(seed, RANDOM_GRADIENT, 0, 1, 0);
    for (int i = 0; i < l->spans; i++) {
        const LowRankSpan *w = &l->span[i];
        for (int64_t at = 0; w->factored && at < w->columns * l->rank; at++)
            l->kept[w->at[SECOND] + at] = (float)random_normal(key, at / l->rank, i, at % l->rank);
    }
}

static void set_start(LowRank *l) {
    l->downloaded = l->projected = l->followed = l->landed = l->spans;
}

static void alloc_sums(LowRank *l, const GradSync *sync, MemoryForecast *forecast) {
    for (int s = 0; s < SUMS; s++) {
        GradForm form = {.count = l->floats[s]};
        if (forecast != NULL)
            sum_forecast(forecast, l->cpu, &form, sync->comm);
        else
            l->sum[s] = sum_new(sync->comm, l->cpu, &form);
    }
}

LowRank *low_rank_new(const GradSync *sync, const GradForm *form, MemoryForecast *forecast) {
    LowRank *l = alloc_anyway(forecast, sizeof *l, what);
    *l = (LowRank){.cpu = backend_find("cpu", &(Error){0}),
                   .rank = form->rank,
                   .remembers = form->remembers,
                   .spans = form_spans(form)};
    l->span = alloc_anyway(forecast, (size_t)l->spans * sizeof *l->span, what);
    for (int i = 0; i < l->spans; i++) {
        l->span[i] = next_span(l, form_span(form, i));
        l->span[i].downloaded = forecast == NULL ? sync->backend->event_new() : NULL;
    }
    alloc_floats(l, &(Allocator){.backend = l->cpu, .forecast = forecast, .taken = &l->taken});
    alloc_sums(l, sync, forecast);
    if (forecast == NULL)
        fill_kept(l, form->seed);
    set_start(l);
    return l;
}

void low_rank_free(LowRank *l, const Backend *backend) {
    if (l == NULL)
        return;
    for (int s = 0; s < SUMS; s++)
        sum_free(l->sum[s]);
    for (int i = 0; i < l->spans; i++)
        if (l->span[i].downloaded != NULL)
            backend->event_free(l->span[i].downloaded);
    taken_free(&l->taken);
    MEMORY_FREE(l->span, l);
}

// ---- a span on its way

static int64_t floats_of(const LowRankSpan *w) { return w->rows * w->columns; }

static float *factor_of(const LowRank *l, const LowRankSpan *w, int s) {
    return l->factor[s] + w->at[s];
}

static void download(GradSync *sync, LowRankSpan *w) {
    sync->backend->download(sync->shares + w->begin, flat_at(sync->gradient, w->begin),
                            (size_t)floats_of(w) * sizeof(float));
    sync->backend->event_record(w->downloaded, STREAM_COMPUTE);
}

// M += what is remembered, P = M Q; the span is in the first sum.
static void project(GradSync *sync, const LowRankSpan *w) {
    LowRank *l = sync->low_rank;
    float *m = sync->shares + w->begin, *to = factor_of(l, w, FIRST);
    if (w->factored) {
        for (int64_t i = 0; l->remembers && i < floats_of(w); i++)
            m[i] += l->error[w->error + i];
        factors_left(to, m, l->kept + w->at[SECOND], *w, l->rank);
    } else {
        memcpy(to, m, (size_t)floats_of(w) * sizeof *m);
    }
    sum_made(l->sum[FIRST], l->gradient[FIRST], w->at[FIRST]);
}

// P is summed: Q = M^T P, and M - P Q^T is remembered; the span is in the second sum.
static void follow(GradSync *sync, const LowRankSpan *w) {
    LowRank *l = sync->low_rank;
    float *m = sync->shares + w->begin, *p = factor_of(l, w, FIRST), *q = factor_of(l, w, SECOND);
    if (!w->factored) {
        memcpy(m, p, (size_t)floats_of(w) * sizeof *m);
        return;
    }
    // of all ranks together, so they all end; else a column that is not finite would be left out
    check_gradient(factors_orthonormal(p, w->rows, l->rank, l->scratch), w->name, sync->epoch);
    factors_right(q, m, p, *w, l->rank, l->scratch);
    if (l->remembers)
        factors_rest(l->error + w->error, m, p, q, *w, l->rank);
    sum_made(l->sum[SECOND], l->gradient[SECOND], w->at[SECOND]);
}

// Q is summed: the gradient is P Q^T.
static void land(GradSync *sync, const LowRankSpan *w) {
    LowRank *l = sync->low_rank;
    float *p = factor_of(l, w, FIRST), *q = factor_of(l, w, SECOND);
    if (w->factored) {
        factors_product(sync->shares + w->begin, p, q, *w, l->rank);
        factors_keep(l->kept + w->at[SECOND], q, p, *w, l->rank);
    }
    sync->backend->upload(flat_at(sync->gradient, w->begin), sync->shares + w->begin,
                          (size_t)floats_of(w) * sizeof(float));
}

// ---- all of them

static void download_made(GradSync *sync) {
    LowRank *l = sync->low_rank;
    while (l->downloaded > 0 && l->span[l->downloaded - 1].begin >= sync->made)
        download(sync, &l->span[--l->downloaded]);
}

static bool can_project(const GradSync *sync, const LowRank *l) {
    return l->projected > l->downloaded &&
           sync->backend->event_reached(l->span[l->projected - 1].downloaded);
}

static bool can_follow(const LowRank *l) {
    return l->followed > l->projected &&
           sum_is_over(l->sum[FIRST], l->span[l->followed - 1].at[FIRST]);
}

static bool can_land(const LowRank *l) {
    return l->landed > l->followed &&
           sum_is_over(l->sum[SECOND], l->span[l->landed - 1].at[SECOND]);
}

void low_rank_progress(void *context) {
    GradSync *sync = context;
    LowRank *l = sync->low_rank;
    download_made(sync);
    for (int s = 0; s < SUMS; s++)
        sum_progress(l->sum[s]);
    if (can_project(sync, l))
        project(sync, &l->span[--l->projected]);
    else if (can_follow(l))
        follow(sync, &l->span[--l->followed]);
    else if (can_land(l))
        land(sync, &l->span[--l->landed]);
}

// Each span is a wait of its own, so that the time limit tells a slow network from a hung rank.
typedef struct SpanWait {
    GradSync *sync;
    int span;
} SpanWait;

static bool has_landed(void *context) {
    SpanWait *waiting = context;
    low_rank_progress(waiting->sync);
    return waiting->sync->low_rank->landed <= waiting->span;
}

void low_rank_finish(GradSync *sync) {
    LowRank *l = sync->low_rank;
    for (int i = l->spans - 1; i >= 0; i--) {
        sync->backend->event_wait(l->span[i].downloaded, &(Poll){low_rank_progress, sync});
        comm_wait_until(sync->comm, has_landed, &(SpanWait){sync, i},
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

static bool walk_state(void *owner, StateWalk *walk, Error *err) {
    LowRank *l = owner;
    return state_replicated(walk, "gradients.factors", TENSOR_F32, l->floats[SECOND], l->kept,
                            err) &&
           (!l->remembers ||
            state_distributed(walk, "gradients.error", TENSOR_F32, l->errors, l->error, err));
}

StateSection low_rank_section(LowRank *l) {
    return l->floats[SECOND] == 0
               ? (StateSection){0}
               : (StateSection){.name = "gradients", .walk = walk_state, .owner = l};
}
