// The numbering law of halo.h, sentence by sentence. On this rank: sizes, offsets, order. Across
// ranks (deep): every owner names the global ids it would send, and the reader compares them with
// its own list of halo rows; that is laws 4 and 5 at once.
#include "fringe/halo.h"
#include <string.h>

// Law 7.
static bool offsets_are_valid(const int64_t *offset, int64_t groups, int64_t end) {
    if (offset[0] != 0 || offset[groups] != end)
        return false;
    for (int64_t i = 0; i < groups; i++)
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

// Law 2: ranges ascend, do not touch, and name no row with halo columns.
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

// Law 5, this rank's half: each send list ascends.
static bool send_lists_are_valid(const Pattern *pattern) {
    for (int g = 0; g + 1 < pattern->size; g++)
        for (int64_t k = pattern->send_offset[g]; k < pattern->send_offset[g + 1]; k++) {
            int64_t before = k > pattern->send_offset[g] ? pattern->send_row[k - 1] : -1;
            if (pattern->send_row[k] <= before ||
                pattern->send_row[k] >= pattern->sources + pattern->pre.rows)
                return false;
        }
    return true;
}

static bool local_is_valid(const Pattern *p) {
    return p->size >= 1 && p->rank >= 0 && p->rank < p->size && p->own.rows == p->rows &&
           p->halo.rows <= p->rows && (p->own.weight == NULL) == (p->halo.weight == NULL) &&
           offsets_are_valid(p->receive_offset, p->size - 1, p->halo_count) &&
           offsets_are_valid(p->send_offset, p->size - 1, p->send_offset[p->size - 1]) &&
           csr_is_valid(&p->own, p->sources) && csr_is_valid(&p->halo, p->halo_count) &&
           csr_is_valid(&p->pre, p->sources) && halo_rows_are_valid(p) && ranges_are_valid(p) &&
           send_lists_are_valid(p);
}

// Ids travel over the send lists and arrive as the reader's list. Collective.
static bool ids_agree(const Pattern *pattern) {
    const Comm *comm = pattern->comm;
    int64_t *offset = ring_offsets_at_owners(comm, pattern->receive_offset);
    int64_t wrong = memcmp(offset, pattern->send_offset, (size_t)comm->size * sizeof *offset) != 0;
    memory_give(offset);
    comm_sum_int64(comm, &wrong, 1);
    if (wrong > 0)
        return false;
    int64_t sent = pattern->send_offset[comm->size - 1];
    int64_t *from = TAKE(int64_t, sent, "check of a Pattern");
    int64_t *to = TAKE(int64_t, pattern->halo_count, "check of a Pattern");
    for (int64_t k = 0; k < sent; k++)
        from[k] = pattern->gid[pattern->send_row[k]];
    ring_to_readers(comm, pattern->send_offset, from, pattern->receive_offset, to, sizeof *to);
    wrong = memcmp(to, pattern->halo_gid, (size_t)pattern->halo_count * sizeof *to) != 0;
    comm_sum_int64(comm, &wrong, 1);
    memory_give(to);
    memory_give(from);
    return wrong == 0;
}

typedef struct Check {
    const Pattern *pattern;
    bool valid;
} Check;

static void check_aside(void *context) {
    Check *check = context;
    check->valid = local_is_valid(check->pattern);
}

bool pattern_is_valid(const Pattern *pattern, bool deep) {
    if (!deep)
        return local_is_valid(pattern);
    Check check = {.pattern = pattern};
    comm_aside(pattern->comm, check_aside, &check);
    int64_t wrong = !check.valid;
    comm_sum_int64(pattern->comm, &wrong, 1); // a rank that fails must not leave the others waiting
    return wrong == 0 && ids_agree(pattern);
}
