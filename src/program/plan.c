// The memory of a program, before anything of it is there. A run has three phases, which take
// memory one after the other: components; the program itself; rows that go to rank 0. What is
// planned is the largest of them. Patterns are made in the first two, so their sizes are not known:
// as many rows travel between two ranks as one reads of the other, or as read something, whichever
// are fewer.
#include "internal.h"

// ---- Patterns

typedef struct Boundary { // what a rank reads of others, by rounds of the ring
    int64_t rows, entries;
    int64_t *reading; // [parts] own rows that read something
} Boundary;

static Boundary boundary_of(const Shard *shard, const ShardRelation *edges) {
    Boundary b = {.reading = ALLOC(int64_t, shard->parts, "sizes of messages")};
    int64_t own = shard->set[edges->from].own;
    for (int64_t i = 0; i < shard->set[edges->to].own && edges->remote > 0; i++) {
        int64_t e = edges->offset[i + 1];
        for (int last = shard->parts; e > edges->offset[i] && edges->column[e - 1] >= own; e--) {
            int64_t remote = edges->column[e - 1] - own;
            int round = last < shard->parts ? last : shard->parts - 2;
            while (remote < edges->remote_round[round])
                round--;
            b.reading[round] += round != last;
            last = round;
        }
        b.rows += e < edges->offset[i + 1];
        b.entries += edges->offset[i + 1] - e;
    }
    return b;
}

// At most; at both ends of every message. Collective.
static void count_messages(PatternCounts *counts, const ProgramParts *parts,
                           const ShardRelation *edges, const Boundary *boundary, Cover cover) {
    const Comm *comm = parts->comm;
    FREED int64_t *all = ALLOC(int64_t, comm->size * comm->size, "sizes of messages");
    for (int g = 0; g + 1 < comm->size; g++) {
        int64_t sources = edges->remote_round[g + 1] - edges->remote_round[g];
        int64_t targets = boundary->reading[g];
        counts->received[g] = cover == COVER_SOURCES                        ? sources
                              : cover == COVER_TARGETS || targets < sources ? targets
                                                                            : sources;
    }
    comm_all_gather(comm, counts->received, all, (size_t)comm->size * sizeof *all);
    for (int g = 0; g + 1 < comm->size; g++) {
        counts->sent[g] = all[ring_reader(comm->rank, g, comm->size) * comm->size + g];
        counts->partials += cover == COVER_SOURCES ? 0 : counts->sent[g];
    }
}

// Free it with pattern_free. Collective.
static Pattern *outline_of(const ProgramParts *parts, int stage, const Cover cover[SHARD_SETS]) {
    const Shard *shard = parts->shard;
    PatternKind kind = kind_of_stage(parts, stage, cover);
    const ShardRelation *edges = &shard->relation[kind.relation];
    Boundary boundary = boundary_of(shard, edges);
    CLEARED(pattern_counts_clear) PatternCounts counts = {0};
    pattern_counts_init(&counts, parts->comm->size);
    counts.rows = shard->set[edges->to].own;
    counts.sources = shard->set[edges->from].own;
    counts.own_entries = edges->edges - boundary.entries;
    counts.own = edges->remote == 0 ? OWN_OF_SHARD : OWN_COPIED;
    counts.weighted = edges->weight != NULL;
    counts.halo_rows = boundary.rows;
    counts.halo_entries = boundary.entries;
    count_messages(&counts, parts, edges, &boundary, kind.cover);
    Pattern *pattern = pattern_outline(&counts, &kind, shard, NULL, parts->comm);
    memory_free(boundary.reading);
    return pattern;
}

void plan_patterns(ProgramPlan *plan, const Cover cover[SHARD_SETS]) {
    const Shard *shard = plan->parts->shard;
    MemoryForecast making = plan->phase;
    size_t kept = 0, most = 0;
    for (int stage = 0; stage < shard->sets; stage++) {
        PatternKind kind = kind_of_stage(plan->parts, stage, cover);
        PatternBytes bytes = pattern_bound(shard, &kind, false);
        most = kept + bytes.most > most ? kept + bytes.most : most;
        kept += bytes.kept;
    }
    forecast_add(&making, "Patterns", most);
    plan_phase(plan, &making);
    forecast_add(&plan->phase, "Patterns", kept);
}

// Of the widest stage: what this rank sends and receives in a round.
static int64_t most_in_a_round(const ProgramParts *parts) {
    int64_t most = 0;
    for (int stage = 0; stage < parts->shard->sets; stage++) {
        Pattern *p = outline_of(parts, stage, cover_of_sources);
        int64_t rows = p->plan.send_offset[p->plan.size - 1] + p->plan.halo_count;
        most = rows > most ? rows : most;
        pattern_free(p);
    }
    return most;
}

// Elements of the sets of rows of both kinds, and of all halos.
static int64_t rows_of_all(const ProgramParts *parts) {
    const Shard *shard = parts->shard;
    int64_t rows = 0;
    for (int set = 0; set < shard->sets; set++)
        rows += shard->set[set].own + shard->relation[shard_relation_of(shard, set)].remote;
    return rows;
}

// ---- a linear operator

static void plan_stage(ProgramPlan *plan, BufferSizes *shared, Operators *operators,
                       const Pattern *outline, int64_t columns) {
    const ProgramParts *parts = plan->parts;
    const ShardRelation *edges = &parts->shard->relation[outline->kind.relation];
    static float one; // stands for diagonals, which nobody reads
    OperatorForm of_block = {.block = {.pattern = outline, .left = &one, .right = &one},
                             .largest = outline,
                             .sources = outline->plan.sources,
                             .columns = columns};
    PropagationForm form = {
        .pattern = outline, .options = options_of_rows(parts, &(Error){0}), .columns = columns};
    int64_t ends = parts->shard->set[edges->to].own + parts->shard->set[edges->from].own;
    forecast_add(&plan->phase, "diagonals", memory_product(ends, sizeof(float)));
    if (!parts->backend->host_is_device)
        forecast_add_device(&plan->phase, "diagonals", memory_product(ends, sizeof(float)));
    operator_find(operators, &of_block);
    propagation_forecast(&plan->phase, shared, parts->backend, &form);
}

void plan_node_operator(ProgramPlan *plan, int64_t columns) {
    const ProgramParts *parts = plan->parts;
    const Shard *shard = parts->shard;
    Operators operators = {.backend = parts->backend, .forecast = &plan->phase, .panels = "rows"};
    BufferSizes shared = {0};
    Cover cover[SHARD_SETS];
    Pattern *outline[SHARD_SETS];
    cover_choose(cover, parts->config->lossless.cover, shard->sets);
    plan_patterns(plan, cover);
    for (int stage = 0; stage < shard->sets; stage++) {
        outline[stage] = outline_of(parts, stage, cover);
        plan_stage(plan, &shared, &operators, outline[stage], columns);
    }
    exchange_buffers_forecast(&plan->phase, parts->backend, &shared);
    if (shard->sets > 1)
        alloc_rows(&plan->allocator, shard->set[HYPEREDGES].own, columns, "rows");
    for (int stage = 0; stage < shard->sets; stage++)
        pattern_free(outline[stage]);
}

// ---- phases

static void add_items(MemoryForecast *to, const MemoryForecast *from, bool on_device) {
    for (int i = 0; i < from->count; i++)
        if (from->item[i].on_device == on_device)
            (on_device ? forecast_add_device : forecast_add)(to, from->item[i].what,
                                                             from->item[i].bytes);
}

// Of the host and of the device, what is planned is the phase that takes most of it.
void plan_phase(ProgramPlan *plan, const MemoryForecast *phase) {
    MemoryForecast before = *plan->most;
    bool host = forecast_total(phase) > forecast_total(&before),
         device = forecast_device_total(phase) > forecast_device_total(&before);
    *plan->most = (MemoryForecast){0};
    add_items(plan->most, host ? phase : &before, false);
    add_items(plan->most, device ? phase : &before, true);
}

void plan_gather(ProgramPlan *plan, int64_t row_bytes) {
    int64_t nodes = plan->parts->comm->rank == 0 ? nodes_of(plan->parts)->total : 0;
    forecast_add(&plan->phase, "gathered rows",
                 shard_gather_bytes(plan->parts->shard, (size_t)row_bytes) +
                     memory_product(nodes, (size_t)row_bytes));
}

// What is there in all phases but the last.
static void begin_phase(ProgramPlan *plan, bool components) {
    int64_t own = nodes_of(plan->parts)->own;
    plan->phase = (MemoryForecast){0};
    forecast_add(&plan->phase, "ids", ids_bytes(plan->parts));
    if (components)
        forecast_add(&plan->phase, "components", memory_product(own, sizeof(int64_t) + 1));
}

static void plan_components(ProgramPlan *plan) {
    const ProgramParts *parts = plan->parts;
    begin_phase(plan, true);
    plan_patterns(plan, cover_of_sources);
    forecast_add(&plan->phase, "sets of components",
                 memory_product(rows_of_all(parts), 2 * sizeof(int64_t)));
    forecast_add(&plan->phase, "labels", memory_product(most_in_a_round(parts), sizeof(int64_t)));
    plan_phase(plan, &plan->phase);
    begin_phase(plan, true);
    plan_gather(plan, sizeof(int64_t));
    plan_phase(plan, &plan->phase);
}

bool program_forecast(MemoryForecast *out, const char *name, const ProgramParts *parts,
                      Error *err) {
    const Program *program = program_find(name, err);
    if (program == NULL || !program_suits(program, parts, err))
        return false;
    ProgramPlan plan = {.parts = parts, .most = out};
    plan.allocator = (Allocator){.backend = parts->backend, .forecast = &plan.phase};
    plan_components(&plan);
    begin_phase(&plan, true);
    program->plan(&plan);
    plan_phase(&plan, &plan.phase);
    begin_phase(&plan, false);
    int64_t row = program->row_bytes(parts);
    forecast_add(&plan.phase, "result", memory_product(nodes_of(parts)->own, (size_t)row));
    plan_gather(&plan, row);
    plan_phase(&plan, &plan.phase);
    return true;
}
