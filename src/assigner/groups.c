// From ranges to groups, and from choices to widths (ALGORITHMS A.5, A.6). Halo row k has the
// sensitivity beta_k = c_k (D / 6) mean(range_k^2). The reader computes c_k: the sum over the rows
// v that read it of coefficient^2 (paper), or the squared sum of |coefficient| (safe). The sender
// has already scaled the row by R, so the coefficient is left[v] times the edge's weight, or times
// the sum of the weights if the edge is stored more than once. A row that is sent before post is
// scaled by the reader instead: its noise counts right[k]^2 times as much. What post does to noise
// (1 / keep of dropout, the norm's 1 / sigma^2) is taken to be the same for all rows of an
// exchange, where no factor changes a width.

#include "internal.h"

static int64_t groups_of(int64_t rows, int64_t group_size) {
    return (rows + group_size - 1) / group_size;
}

static int64_t row_sum(const ChannelAssignment *assigned, int rank, int rounds) {
    int64_t rows = 0;
    for (int g = 0; g < rounds; g++)
        rows += assigned->sent[rank * rounds + g];
    return rows;
}

// Rows that this rank sends in a ring step.
static int64_t rows_of_round(const HaloPlan *p, int round) {
    return p->send_offset[round + 1] - p->send_offset[round];
}

// What an assignment keeps of a channel; the tables of all ranks' groups on rank 0.
static void groups_alloc(ChannelAssignment *assigned, MemoryForecast *forecast, const Comm *comm,
                         int64_t group_size) {
    int64_t size = comm->size, tables = comm->rank == 0 ? size : 0, groups = 0;
    assigned->rows = assigned->plan->send_offset[size - 1];
    for (int g = 0; g < size - 1; g++)
        groups += groups_of(rows_of_round(assigned->plan, g), group_size);
    const char *what = "groups of messages";
    const Allocator allocator = {.forecast = forecast, .taken = &assigned->taken};
    size_t rows = (size_t)assigned->rows, word = sizeof(int64_t), ranks = (size_t)tables;
    assigned->coefficient = alloc_host(&allocator, rows * sizeof(float), "sensitivities");
    assigned->order = alloc_host(&allocator, rows * sizeof(int32_t), "sensitivities");
    assigned->next = alloc_host(&allocator, rows, "widths of messages");
    assigned->begin = alloc_host(&allocator, (size_t)size * word, what);
    assigned->choice = alloc_host(&allocator, (size_t)groups, what);
    assigned->sent = alloc_host(&allocator, ranks * (size_t)(size - 1) * word, what);
    assigned->start = alloc_host(&allocator, (ranks * (size_t)(size - 1) + 1) * word, what);
    assigned->piece = alloc_host(&allocator, (ranks + 1) * word, what);
    assigned->row_piece = alloc_host(&allocator, (ranks + 1) * word, what);
}

// Sums of the rows and groups of all ranks, on rank 0.
static void fill_tables(ChannelAssignment *assigned, const Comm *comm, int64_t group_size) {
    int rounds = comm->size - 1;
    for (int i = 0; i < comm->size * rounds; i++)
        assigned->start[i + 1] = assigned->start[i] + groups_of(assigned->sent[i], group_size);
    for (int r = 0; r <= comm->size; r++)
        assigned->piece[r] = assigned->start[r * rounds];
    for (int r = 0; r < comm->size; r++)
        assigned->row_piece[r + 1] = assigned->row_piece[r] + row_sum(assigned, r, rounds);
}

void groups_init(ChannelAssignment *assigned, const Comm *comm, int64_t group_size) {
    int rounds = comm->size - 1;
    groups_alloc(assigned, NULL, comm, group_size);
    FREED int64_t *mine = ALLOC(int64_t, comm->size, "groups of messages");
    for (int g = 0; g < rounds; g++) {
        mine[g] = rows_of_round(assigned->plan, g);
        assigned->begin[g + 1] = assigned->begin[g] + groups_of(mine[g], group_size);
    }
    FREED int64_t *offset = ALLOC(int64_t, comm->size + 1, "groups of messages");
    for (int r = 0; r <= comm->size; r++)
        offset[r] = (int64_t)r * rounds;
    list_gather(comm, mine, rounds, assigned->sent, offset, sizeof *mine);
    if (comm->rank == 0)
        fill_tables(assigned, comm, group_size);
}

// The lists of groups_alloc, and the sensitivity of every row while groups are built.
void assigner_forecast(MemoryForecast *forecast, const HaloPlan *halo, const Config *config,
                       const Comm *comm) {
    ChannelAssignment assigned = {.plan = halo};
    groups_alloc(&assigned, forecast, comm, config->quantization.group_size);
    forecast_add(forecast, "sensitivities", memory_product(assigned.rows, sizeof(double)));
}

// Adds a row's coefficients to its halo columns. Copies of an edge are neighbours, because columns
// ascend inside a row (invariant 3).
static void add_row(const Csr *halo, int64_t row, float left, bool safe, float *read) {
    int64_t end = halo->offset[row + 1];
    for (int64_t e = halo->offset[row], next; e < end; e = next) {
        float m = 0;
        for (next = e; next < end && halo->column[next] == halo->column[e]; next++)
            m += halo->weight != NULL ? left * halo->weight[next] : left;
        read[halo->column[e]] += safe ? fabsf(m) : m * m;
    }
}

void groups_coefficients(ChannelAssignment *assigned, bool safe) {
    const Block *block = assigned->of.block;
    const Pattern *p = block->pattern;
    FREED float *read = ALLOC(float, p->plan.halo_count, "sensitivities");
    for (int64_t i = 0; i < p->halo.rows; i++)
        add_row(&p->halo, i, block->left != NULL ? block->left[p->halo_row[i]] : 1, safe, read);
    for (int64_t k = 0; safe && k < p->plan.halo_count; k++)
        read[k] *= read[k];
    ring_to_owners(&p->plan, read, assigned->coefficient, sizeof *read);
    for (int64_t k = 0; assigned->of.before_post && block->right != NULL && k < assigned->rows;
         k++) {
        float right = block->right[p->plan.send_row[k]];
        assigned->coefficient[k] *= right * right;
    }
}

// Squares of large ranges overflow. The cap keeps the sums of a group finite (bitwidth.h).
static const double most_beta = 1e80;

static int larger_beta_first(const void *a, const void *b, void *context) {
    const double *beta = context;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    return beta[i] != beta[j] ? (beta[i] > beta[j] ? -1 : 1) : (i > j) - (i < j);
}

static void sum_groups(const ChannelAssignment *assigned, int rounds, int64_t group_size,
                       const double *beta, Group *mine) {
    for (int g = 0; g < rounds; g++) {
        int64_t first = assigned->plan->send_offset[g], end = assigned->plan->send_offset[g + 1];
        for (int64_t k = first; k < end; k++) {
            Group *group = &mine[assigned->begin[g] + (k - first) / group_size];
            group->beta += beta[assigned->order[k]];
            group->rows++;
        }
    }
}

void groups_gather(ChannelAssignment *assigned, const Comm *comm, int64_t group_size,
                   Group *group) {
    const HaloPlan *p = assigned->plan;
    RangeStatistics *ranges = channel_ranges(assigned->of.channel);
    int rounds = comm->size - 1;
    double factor = (double)channel_columns(assigned->of.channel) / 6 /
                    (double)ranges->exchanges; // at least 1 if there are rows
    FREED double *beta = ALLOC(double, assigned->rows, "sensitivities");
    for (int64_t k = 0; k < assigned->rows; k++) {
        beta[k] =
            fmin((double)assigned->coefficient[k] * factor * (double)ranges->square[k], most_beta);
        assigned->order[k] = (int32_t)k;
    }
    for (int g = 0; g < rounds; g++)
        qsort_r(assigned->order + p->send_offset[g],
                (size_t)(p->send_offset[g + 1] - p->send_offset[g]), sizeof *assigned->order,
                larger_beta_first, beta);
    FREED Group *mine = ALLOC(Group, assigned->begin[rounds], "groups of messages");
    sum_groups(assigned, rounds, group_size, beta, mine);
    list_gather(comm, mine, assigned->begin[rounds], group, assigned->piece, sizeof *mine);
    channel_ranges_reset(assigned->of.channel);
}

void groups_spread(ChannelAssignment *assigned, const Comm *comm, int64_t group_size,
                   const uint8_t *choice, const int *width) {
    int rounds = comm->size - 1;
    list_scatter(comm, choice, assigned->piece, assigned->choice, assigned->begin[rounds], 1);
    for (int g = 0; g < rounds; g++) {
        int64_t first = assigned->plan->send_offset[g], end = assigned->plan->send_offset[g + 1];
        for (int64_t k = first; k < end; k++)
            assigned->next[assigned->order[k]] =
                (uint8_t)width[assigned->choice[assigned->begin[g] + (k - first) / group_size]];
    }
}
