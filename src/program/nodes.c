// A linear operator from nodes to nodes: one propagation on a graph, two on a hypergraph.
#include "internal.h"

CodecOptions options_of_rows(const ProgramParts *parts, Error *err) {
    return (CodecOptions){.codec = codec_find(parts->config->program.codec, err),
                          .chunk = parts->config->comm.chunk};
}

// Schedules that hand in other rows than those of this iteration are for trainings.
static const Schedule *schedule_of(const ProgramParts *parts, Error *err) {
    const Schedule *schedule = schedule_find(parts->config->comm.schedule, err);
    return schedule == NULL || !schedule->changes_result ? schedule : schedule_find("overlap", err);
}

static void make_stage(NodeOperator *op, int stage, int64_t columns, const Allocator *allocator,
                       Error *err) {
    const ProgramParts *parts = op->parts;
    const Pattern *p = op->pattern[stage];
    const ShardRelation *edges = &parts->shard->relation[p->kind.relation];
    size_t to = (size_t)parts->shard->set[edges->to].own * sizeof(float);
    size_t from = (size_t)parts->shard->set[edges->from].own * sizeof(float);
    op->left[stage] = alloc_mirror(allocator, op->block[stage].left, to, "diagonals");
    op->right[stage] = alloc_mirror(allocator, op->block[stage].right, from, "diagonals");
    OperatorForm of_block = {.block = op->block[stage],
                             .left = op->left[stage],
                             .right = op->right[stage],
                             .largest = p,
                             .sources = p->plan.sources,
                             .columns = columns};
    PropagationForm form = {.pattern = p,
                            .options = options_of_rows(parts, err),
                            .columns = columns,
                            .id = {stage, FORWARD}};
    propagation_init(&op->over[stage], operator_find(&op->operators, &of_block), &form,
                     op->buffers);
}

bool node_operator_init(NodeOperator *op, const ProgramParts *parts, const char *normalisation,
                        int64_t columns, Error *err) {
    const Shard *shard = parts->shard;
    Cover cover[SHARD_SETS];
    cover_choose(cover, parts->config->lossless.cover, shard->sets);
    *op = (NodeOperator){.parts = parts,
                         .stages = shard->sets,
                         .operators = {.backend = parts->backend, .panels = "rows"},
                         .how = {.schedule = schedule_of(parts, err), .seed = 1}};
    for (int stage = 0; stage < op->stages; stage++) {
        PatternKind kind = kind_of_stage(parts, stage, cover);
        op->pattern[stage] = pattern_new(shard, &kind, NULL, parts->comm);
        if (err->code == 0)
            block_init(&op->block[stage], normalisation, op->pattern[stage], shard, err);
    }
    if (!comm_agree(parts->comm, err))
        return false;
    Allocator allocator = {.backend = parts->backend, .taken = &op->taken};
    op->buffers = exchange_buffers_new(parts->backend);
    for (int stage = 0; stage < op->stages; stage++)
        make_stage(op, stage, columns, &allocator, err);
    if (op->stages > 1)
        op->between = alloc_rows(&allocator, shard->set[HYPEREDGES].own, columns, "rows");
    return true;
}

void node_operator_clear(NodeOperator *op) {
    for (int stage = op->stages - 1; stage >= 0; stage--)
        propagation_clear(op->parts->backend, &op->over[stage]);
    exchange_buffers_free(op->buffers);
    operators_clear(&op->operators);
    taken_free(&op->taken);
    for (int stage = op->stages - 1; stage >= 0; stage--) {
        block_clear(&op->block[stage]);
        pattern_free(op->pattern[stage]);
    }
}

void node_operator_apply(NodeOperator *op, Rows out, Rows in) {
    double since = clock_seconds();
    op->how.epoch++; // of the random numbers of messages
    for (int stage = 0; stage < op->stages; stage++)
        operator_run(&op->how, &(OperatorCall){.method = &operator_aggregate,
                                               .over = &op->over[stage],
                                               .in = stage == 0 ? in : op->between,
                                               .out = stage + 1 < op->stages ? op->between : out});
    op->seconds += clock_seconds() - since;
}

void node_operator_report(ProgramRun *run, const NodeOperator *op) {
    for (int stage = 0; stage < op->stages; stage++)
        run->bytes += channel_count(op->over[stage].channel).bytes_sent;
    if (op->parts->backend->host_is_device)
        run->aggregates = op->seconds;
}
