// Checks the invariants of halo.h. On this rank: sizes, offsets and order. Between ranks
// (deep): every owner sends the global ids of its send lists, and the reader compares them with the
// ids of its halo rows, which checks invariants 4 and 5 together.
#include "fringe/halo.h"

// Invariant 7.
static bool offsets_are_valid(const int64_t *offset, int64_t lists, int64_t end) {
    if (offset[0] != 0 || offset[lists] != end)
        return false;
    for (int64_t i = 0; i < lists; i++)
        if (offset[i] > offset[i + 1])
            return false;
    return true;
}

// The rows of the halo Csr: ascending, each with a column.
static bool halo_rows_are_valid(const Pattern *pattern) {
    for (int64_t k = 0; k < pattern->halo.rows; k++) {
        int64_t before = k > 0 ? pattern->halo_row[k - 1] : -1;
        if (pattern->halo_row[k] <= before || pattern->halo_row[k] >= pattern->rows ||
            pattern->halo.offset[k] == pattern->halo.offset[k + 1])
            return false;
    }
    return true;
}

// Invariant 2: ranges ascend, do not touch, and name no row with halo columns.
static bool ranges_are_valid(const Pattern *pattern) {
    int64_t k = 0, before = -1;
    if (pattern->range_count < 0 || pattern->range_count > PATTERN_RANGES)
        return false;
    for (int r = 0; r < pattern->range_count; r++) {
        Range range = pattern->central[r];
        if (range.begin <= before || range.begin >= range.end || range.end > pattern->rows)
            return false;
        while (k < pattern->halo.rows && pattern->halo_row[k] < range.begin)
            k++;
        if (k < pattern->halo.rows && pattern->halo_row[k] < range.end)
            return false;
        before = range.end;
    }
    return true;
}

// Invariant 5, this rank's half: each send list ascends.
static bool send_lists_are_valid(const HaloPlan *plan) {
    for (int g = 0; g + 1 < plan->size; g++)
        for (int64_t k = plan->send_offset[g]; k < plan->send_offset[g + 1]; k++) {
            int64_t before = k > plan->send_offset[g] ? plan->send_row[k - 1] : -1;
            if (plan->send_row[k] <= before || plan->send_row[k] >= plan->sources + plan->partials)
                return false;
        }
    return true;
}

static bool plan_is_valid(const HaloPlan *plan) {
    return plan->size >= 1 && plan->rank >= 0 && plan->rank < plan->size &&
           offsets_are_valid(plan->receive_offset, plan->size - 1, plan->halo_count) &&
           offsets_are_valid(plan->send_offset, plan->size - 1,
                             plan->send_offset[plan->size - 1]) &&
           send_lists_are_valid(plan);
}

static bool local_is_valid(const Pattern *p) {
    return plan_is_valid(&p->plan) && p->own.rows == p->rows && p->halo.rows <= p->rows &&
           p->partial.rows == p->plan.partials &&
           (p->own.weight == NULL) == (p->halo.weight == NULL) &&
           csr_is_valid(&p->own, p->plan.sources) && csr_is_valid(&p->halo, p->plan.halo_count) &&
           csr_is_valid(&p->partial, p->plan.sources) && halo_rows_are_valid(p) &&
           ranges_are_valid(p);
}

// Sends the ids of the send lists and compares them with halo_id. Collective.
static bool ids_agree(const HaloPlan *plan) {
    const Comm *comm = plan->comm;
    FREED int64_t *offset = ring_offsets_at_owners(comm, plan->receive_offset);
    int64_t wrong = memcmp(offset, plan->send_offset, (size_t)plan->size * sizeof *offset) != 0;
    comm_sum_int64(comm, &wrong, 1);
    if (wrong > 0)
        return false;
    int64_t sent = plan->send_offset[plan->size - 1];
    FREED int64_t *from = ALLOC(int64_t, sent, "check of a Pattern");
    FREED int64_t *to = ALLOC(int64_t, plan->halo_count, "check of a Pattern");
    for (int64_t k = 0; k < sent; k++)
        from[k] = plan->source_id[plan->send_row[k]];
    ring_to_readers(plan, from, to, sizeof *to);
    wrong = memcmp(to, plan->halo_id, (size_t)plan->halo_count * sizeof *to) != 0;
    comm_sum_int64(comm, &wrong, 1);
    return wrong == 0;
}

typedef struct Check {
    const Pattern *pattern;
    bool valid;
} Check;

static void check_on_helper(void *context) {
    Check *check = context;
    check->valid = local_is_valid(check->pattern);
}

bool pattern_is_valid(const Pattern *pattern, bool deep) {
    if (!deep)
        return local_is_valid(pattern);
    const Comm *comm = pattern->plan.comm;
    Check check = {.pattern = pattern};
    comm_on_helper(comm, check_on_helper, &check);
    int64_t wrong = !check.valid;
    comm_sum_int64(comm, &wrong, 1); // all ranks learn it, so none waits for one that failed
    return wrong == 0 && ids_agree(&pattern->plan);
}
