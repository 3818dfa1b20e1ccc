// Who reads whom: Patterns without kernels, for programs that are not linear.
#include "internal.h"

PatternKind kind_of_stage(const ProgramParts *parts, int stage, const Cover cover[SHARD_SETS]) {
    int relation = shard_relation_of(parts->shard, stage);
    return (PatternKind){.relation = relation,
                         .target_hops = HOPS_ALL,
                         .source_hops = HOPS_ALL,
                         .cover = cover[parts->shard->relation[relation].to]};
}

void topology_init(Topology *topology, const ProgramParts *parts) {
    *topology = (Topology){.stages = parts->shard->sets};
    for (int stage = 0; stage < topology->stages; stage++) {
        PatternKind kind = kind_of_stage(parts, stage, cover_of_sources);
        topology->pattern[stage] = pattern_new(parts->shard, &kind, NULL, parts->comm);
    }
}

void topology_clear(Topology *topology) {
    for (int stage = 0; stage < topology->stages; stage++)
        pattern_free(topology->pattern[stage]);
    *topology = (Topology){0};
}

void topology_tell(const HaloPlan *plan, const void *own, void *received, size_t bytes) {
    int64_t count = plan->send_offset[plan->size - 1];
    FREED char *sent = memory_alloc((size_t)count * bytes, "rows to send");
    for (int64_t k = 0; k < count; k++)
        memcpy(sent + (size_t)k * bytes, (const char *)own + (size_t)plan->send_row[k] * bytes,
               bytes);
    ring_to_readers(plan, sent, received, bytes);
}

int64_t topology_sent(const Topology *topology) {
    int64_t rows = 0;
    for (int stage = 0; stage < topology->stages; stage++) {
        const HaloPlan *plan = &topology->pattern[stage]->plan;
        rows += plan->send_offset[plan->size - 1];
    }
    return rows;
}

static int64_t longest_of(const Pattern *p, int64_t most) {
    for (int64_t i = 0, k = 0; i < p->rows; i++) {
        int64_t count = p->own.offset[i + 1] - p->own.offset[i];
        if (k < p->halo.rows && p->halo_row[k] == i) {
            count += p->halo.offset[k + 1] - p->halo.offset[k];
            k++;
        }
        most = count > most ? count : most;
    }
    return most;
}

int64_t longest_row(Pattern *const *pattern, int stages) {
    int64_t most = 0;
    for (int stage = 0; stage < stages; stage++)
        most = longest_of(pattern[stage], most);
    return most;
}
