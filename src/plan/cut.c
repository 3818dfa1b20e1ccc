// The sizes of a cut: counted from its shards, or estimated from a smaller cut.
#include "fringe/plan.h"

// ---- a cut that exists

static void count_shard(PlanCut *cut, const Shard *shard, int64_t *rows, int64_t *halo) {
    const ShardRelation *in = &shard->relation[IN_EDGES];
    int64_t own = shard->set[NODES].own, read = shard->set[in->from].own;
    for (int64_t e = 0; e < in->edges; e++)
        cut->crossing += in->column[e] >= read;
    cut->halo += (double)in->remote;
    cut->marginal += (double)(own - shard->set[NODES].central);
    *rows = *rows > own ? *rows : own;
    *halo = *halo > in->remote ? *halo : in->remote;
}

bool plan_cut_open(PlanCut *cut, const char *folder, int parts, Error *err) {
    int64_t rows = 0, halo = 0;
    *cut = (PlanCut){.parts = parts, .checked = true, .shard = ALLOC(Shard, parts, "shards")};
    for (; cut->held < parts; cut->held++) {
        if (!shard_open(&cut->shard[cut->held], folder, cut->held, err)) {
            plan_cut_clear(cut);
            return false;
        }
        count_shard(cut, &cut->shard[cut->held], &rows, &halo);
    }
    int64_t total = cut->shard->set[NODES].total;
    cut->balance = total > 0 ? (double)rows * parts / (double)total : 1;
    cut->halo_balance = cut->halo > 0 ? (double)halo * parts / cut->halo : 1;
    return true;
}

static void outline_clear(Shard *shard) {
    for (int s = 0; s < shard->sets; s++)
        MEMORY_FREE(shard->set[s].degree_in, shard->set[s].degree_out, shard->set[s].reach);
    for (int r = 0; r < shard->relations; r++)
        MEMORY_FREE(shard->relation[r].offset);
}

void plan_cut_clear(PlanCut *cut) {
    for (int k = 0; k < cut->kinds; k++) {
        for (int i = 0; i < cut->held; i++)
            pattern_counts_clear(&cut->counted[k].counts[i]);
        memory_free(cut->counted[k].counts);
    }
    for (int i = 0; i < cut->held; i++)
        if (cut->checked)
            shard_clear(&cut->shard[i]);
        else
            outline_clear(&cut->shard[i]);
    memory_free(cut->shard);
    *cut = (PlanCut){0};
}

// ---- an estimate

// An array of the outline, which readers of a Shard may not write.
static void *zeros(int64_t count, size_t size) {
    return memory_alloc(memory_product(count, size), "outline of a shard");
}

// The mean over the parts of the base, times how much larger the largest part is.
static int64_t per_rank(const PlanCut *cut, double total, double balance) {
    return (int64_t)ceil(total / cut->parts * balance);
}

static void outline_set(Shard *shard, const PlanCut *cut, int s) {
    RowSet *set = &shard->set[s];
    int64_t *reach = zeros(SHARD_HOPS + 1, sizeof *reach);
    set->own = per_rank(cut, (double)set->total, cut->balance);
    for (int h = 0; h <= SHARD_HOPS; h++) {
        int64_t total = 0;
        for (int p = 0; p < cut->base->held; p++)
            total += cut->base->shard[p].set[s].reach[h];
        int64_t mine = per_rank(cut, (double)total, cut->balance);
        reach[h] = total == set->total || mine > set->own ? set->own : mine;
    }
    set->reach = reach;
    set->degree_in = zeros(set->own, sizeof(double));
    set->degree_out = zeros(set->own, sizeof(double));
}

// Sizes, and pointers that are not NULL where the plan asks whether there is an array.
static void outline_shard(Shard *shard, const PlanCut *cut) {
    const Shard *first = &cut->base->shard[0];
    *shard = *first;
    shard->parts = cut->parts;
    shard->part = 0;
    shard->hold = NULL;
    shard->map = (Tensors){0};
    shard->sparse = (Csr){0};
    shard->feature_entries = 0;
    for (int p = 0; p < cut->base->held; p++)
        shard->feature_entries += cut->base->shard[p].feature_entries;
    shard->feature_entries /= cut->parts;
    for (int s = 0; s < shard->sets; s++)
        outline_set(shard, cut, s);
    for (int r = 0; r < shard->relations; r++) {
        ShardRelation *relation = &shard->relation[r];
        relation->offset = zeros(shard->set[relation->to].own + 1, sizeof(int64_t));
        relation->remote_round = NULL;
        relation->remote = per_rank(cut, cut->halo, cut->halo_balance);
    }
}

bool plan_cut_estimate(PlanCut *cut, PlanCut *base, const PlanGrowth *growth, int parts,
                       Error *err) {
    const Shard *first = &base->shard[0];
    int64_t nodes = first->set[NODES].total;
    if (shard_is_hypergraph(first))
        return error_config(err,
                            "%s is a hypergraph, whose growth is not estimated; make the cut "
                            "first: fringe partition CONFIG --parts %d",
                            first->dataset_name, parts);
    if (nodes < parts)
        return error_data(err, "%s has %ld nodes, fewer than %d ranks", first->dataset_name, nodes,
                          parts);
    const double *of[3] = {growth->halo, growth->crossing, growth->marginal};
    *cut = (PlanCut){.parts = parts, .held = 1, .base = base, .halo_balance = base->halo_balance};
    for (int i = 0; i < 3; i++) {
        double before = plan_curve(growth->parts, of[i], growth->count, base->parts);
        double after = plan_curve(growth->parts, of[i], growth->count, parts);
        cut->grown[i] = before > 0 ? after / before : 1;
    }
    cut->balance = plan_curve(growth->parts, growth->balance, growth->count, parts);
    cut->halo = base->halo * cut->grown[0];
    cut->crossing = base->crossing * cut->grown[1];
    cut->marginal = fmin(base->marginal * cut->grown[2], (double)nodes);
    cut->shard = ALLOC(Shard, 1, "outline of a shard");
    outline_shard(cut->shard, cut);
    return true;
}

// ---- Patterns

typedef struct Totals { // of the Patterns of all ranks of a cut
    double rows, sources, own, boundary, halo_rows, halo_entries, partials, partial_entries,
        received;
} Totals;

static Totals totals_of(const PatternCounts *counts, int ranks) {
    Totals t = {0};
    for (int p = 0; p < ranks; p++) {
        const PatternCounts *c = &counts[p];
        t.rows += (double)c->rows;
        t.sources += (double)c->sources;
        t.own += (double)c->own_entries;
        t.boundary += (double)c->boundary;
        t.halo_rows += (double)c->halo_rows;
        t.halo_entries += (double)c->halo_entries;
        t.partials += (double)c->partials;
        t.partial_entries += (double)c->partial_entries;
        for (int g = 0; g + 1 < c->size; g++)
            t.received += (double)c->received[g];
    }
    return t;
}

// No more halo rows than edges that read them, or than there are rows elsewhere.
static void grow(Totals *t, const PlanCut *cut) {
    double halo = cut->grown[0], crossing = cut->grown[1], edges = t->own + t->boundary;
    t->boundary = fmin(t->boundary * crossing, edges);
    t->own = edges - t->boundary;
    t->received = fmin(t->received * halo, fmin(t->sources * (cut->parts - 1), t->boundary));
    t->partials = fmin(t->partials * halo, t->received);
    t->halo_rows = fmin(t->halo_rows * cut->grown[2], t->rows);
    t->halo_entries = fmin(t->halo_entries * crossing, t->boundary);
    t->partial_entries = fmin(t->partial_entries * crossing, t->boundary);
}

// As evenly as whole rows allow.
static void spread(int64_t *round, int rounds, int64_t rows) {
    for (int g = 0; g < rounds; g++)
        round[g] = rows / rounds + (g < rows % rounds);
}

static void estimate_counts(PatternCounts *out, const PlanCut *cut, const PatternCounts *base,
                            const PatternKind *kind) {
    Totals t = totals_of(base, cut->base->held);
    const Shard *shard = cut->shard;
    const ShardRelation *edges = &shard->relation[kind->relation];
    double rows = cut->balance, halo = cut->halo_balance;
    grow(&t, cut);
    pattern_counts_init(out, cut->parts);
    out->own = base->own;
    out->weighted = base->weighted;
    out->rows = set_reach(&shard->set[edges->to], kind->target_hops);
    out->sources = set_reach(&shard->set[edges->from], kind->source_hops);
    out->own_entries = per_rank(cut, t.own, rows);
    out->boundary = per_rank(cut, t.boundary, halo);
    int64_t marginal = per_rank(cut, t.halo_rows, rows);
    out->halo_rows = marginal < out->rows ? marginal : out->rows;
    out->halo_entries = per_rank(cut, t.halo_entries, halo);
    out->partials = per_rank(cut, t.partials, halo);
    out->partial_entries = per_rank(cut, t.partial_entries, halo);
    spread(out->received, cut->parts - 1, per_rank(cut, t.received, halo));
    spread(out->sent, cut->parts - 1, per_rank(cut, t.received, halo));
}

static bool counting_fits(const PlanCut *cut, const PatternKind *kind, Error *err) {
    MemoryForecast forecast = {0};
    size_t most = 0;
    for (int p = 0; p < cut->held; p++) {
        size_t bytes = pattern_bound(&cut->shard[p], kind, false).most;
        most = bytes > most ? bytes : most;
    }
    forecast_add(&forecast, "the largest Pattern", most);
    forecast_add(&forecast, "sizes of messages",
                 memory_product((int64_t)cut->parts * cut->parts, 2 * sizeof(int64_t)));
    return forecast_fits(&forecast, 0, "plan on a larger machine", err);
}

const PatternCounts *plan_cut_counts(PlanCut *cut, const PatternKind *kind, bool share,
                                     const Config *config, Error *err) {
    for (int k = 0; k < cut->kinds; k++) {
        const PlanCounted *c = &cut->counted[k];
        if (memcmp(&c->kind, kind, sizeof *kind) == 0 && c->share == share)
            return c->counts;
    }
    assert(cut->kinds < PLAN_KINDS);
    const PatternCounts *base = NULL;
    if (cut->checked ? !counting_fits(cut, kind, err)
                     : (base = plan_cut_counts(cut->base, kind, share, config, err)) == NULL)
        return NULL;
    PlanCounted *new = &cut->counted[cut->kinds++];
    *new = (PlanCounted){.kind = *kind,
                         .share = share,
                         .counts = ALLOC(PatternCounts, cut->held, "sizes of Patterns")};
    if (cut->checked)
        pattern_count(new->counts, cut->shard, cut->parts, kind, share);
    else
        estimate_counts(new->counts, cut, base, kind);
    return new->counts;
}
