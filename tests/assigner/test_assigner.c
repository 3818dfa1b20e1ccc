// ranks: 1 2 3 8
// If this failed, the two ends of a message would not agree on its widths, or widths would not
// follow the sensitivities of rows.
#include "cells.h"

#include "exchange/channel.h"

// ---- (a) coefficients

// [nodes] the left diagonal of the forward (backward) aggregation, from the whole dataset.
static double *left_of(const Dataset *d, const char *normalisation, bool backward) {
    double *in = TEST_ARRAY(double, d->nodes), *out = TEST_ARRAY(double, d->nodes);
    for (int64_t u = 0; u < d->nodes; u++)
        for (int64_t e = d->offset[u]; e < d->offset[u + 1]; e++) {
            double w = d->weight != NULL ? (double)d->weight[e] : 1;
            in[d->target[e]] += w;
            out[u] += w;
        }
    for (int64_t v = 0; v < d->nodes; v++) {
        if (strcmp(normalisation, "mean") == 0)
            in[v] = backward || in[v] == 0 ? 1 : 1 / in[v];
        else
            in[v] = 1 / sqrt(1 + (backward && strcmp(normalisation, "gcn") == 0 ? out[v] : in[v]));
    }
    return in;
}

// [nodes, nodes] by target and source: the matrix of the aggregation without its right diagonal,
// which is in the row that is sent. An edge stored twice counts twice.
static double *dense_matrix(const Dataset *d, const char *normalisation, bool backward) {
    double *m = TEST_ARRAY(double, d->nodes * d->nodes);
    double *left = left_of(d, normalisation, backward);
    for (int64_t u = 0; u < d->nodes; u++)
        for (int64_t e = d->offset[u]; e < d->offset[u + 1]; e++) {
            int64_t source = backward ? d->target[e] : u, target = backward ? u : d->target[e];
            double weight = d->weight != NULL ? (double)d->weight[e] : 1;
            m[target * d->nodes + source] += left[target] * weight;
        }
    return m;
}

// The right diagonal of the forward aggregation is the left one of the backward aggregation, if it
// scales rows at all; a row that is sent before post meets it at the reader.
static void count_right(double *matrix, const Dataset *d, const char *normalisation) {
    bool both = strcmp(normalisation, "mean") != 0;
    double *right = left_of(d, normalisation, strcmp(normalisation, "gcn") == 0);
    for (int64_t k = 0; both && k < d->nodes * d->nodes; k++)
        matrix[k] *= right[k % d->nodes];
}

// [cells] c of a message by ALGORITHMS A.5, from the entries of the dense matrix. Row u serves all
// targets of the rank that it travels to. What it does not serve is in the partial sum for its
// target, whose noise meets nothing but that target's diagonal, once.
static double *dense_coefficients(const AssignerFixture *fixture, int which,
                                  const char *normalisation, bool safe) {
    const Dataset *d = &fixture->graph.dataset;
    bool backward = which == 2;
    int64_t *owner = owners(&fixture->graph), *bits = widths_of(fixture, which, true), n = d->nodes;
    double *matrix = dense_matrix(d, normalisation, backward);
    double *left = left_of(d, normalisation, backward), *c = TEST_ARRAY(double, cells_of(fixture));
    if (fixture->of[which].before_post)
        count_right(matrix, d, normalisation);
    for (int64_t target = 0; target < n; target++)
        for (int64_t source = 0; source < n; source++) {
            int sender = (int)owner[source], reader = (int)owner[target];
            double m = matrix[target * n + source];
            int64_t row = cell_of(fixture, source, sender, reader);
            int64_t sum = cell_of(fixture, -1 - target, sender, reader);
            if (m == 0 || sender == reader)
                continue;
            if (bits[row] > 0)
                c[row] += safe ? fabs(m) : m * m;
            else
                c[sum] = safe ? fabs(left[target]) : left[target] * left[target];
        }
    for (int64_t k = 0; safe && k < cells_of(fixture); k++)
        c[k] *= c[k];
    for (int64_t k = 0; k < cells_of(fixture); k++)
        assert_int_equal(bits[k] > 0, c[k] > 0); // every edge is served, and nothing else sent
    return c;
}

// Returns how many messages of this rank are partial sums.
static int64_t check_coefficients(const AssignerFixture *fixture, const Scene *scene,
                                  const Assigner *a, bool safe) {
    int64_t sums = 0;
    for (int i = 0; i < CHANNELS; i++) {
        const HaloPlan *p = channel_halo_plan(fixture->channel[i]);
        double *c = dense_coefficients(fixture, i, scene->normalisation, safe);
        for (int g = 0; g + 1 < p->size; g++)
            for (int64_t k = p->send_offset[g]; k < p->send_offset[g + 1]; k++) {
                int64_t gid = p->source_id[p->send_row[k]];
                int reader = ring_reader(p->rank, g, p->size);
                double want = c[cell_of(fixture, gid, p->rank, reader)];
                double got = (double)a->assigned[i].coefficient[k];
                if (!(fabs(got - want) <= 1e-5 * want)) // sums of at most 97 floats
                    fail_msg("%s, channel %d: message %lld to rank %d counts %g, densely %g",
                             scene->name, i, (long long)gid, reader, got, want);
                sums += gid < 0;
            }
    }
    return sums;
}

TEST(coefficients_are_those_of_the_matrix) {
    for (int s = 0; s < SCENES; s++)
        for (int safe = 0; safe < 2; safe++) {
            FIXTURE(&scenes[s], 8);
            snprintf(config.quantization.sensitivity, CONFIG_WORD, safe ? "safe" : "paper");
            CLEARED(assigner_drop) Assigner *a = assigner_of(&fixture, &config);
            int64_t sums = check_coefficients(&fixture, &scenes[s], a, safe);
            comm_sum_int64(&test_comm, &sums, 1);
            assert_int_equal(sums > 0, test_comm.size > 1 && scenes[s].cover == COVER_MIN);
        }
}

// ---- (b) what is assigned, and when

// beta of the send list, up to a factor that all rows share.
static double *betas_of(const Assigner *a, int which) {
    const ChannelAssignment *assigned = &a->assigned[which];
    double *beta = TEST_ARRAY(double, assigned->rows);
    for (int64_t k = 0; k < assigned->rows; k++)
        beta[k] = (double)assigned->coefficient[k] *
                  (double)channel_ranges(assigned->of.channel)->square[k];
    return beta;
}

// Squares of ranges since the last reset, by arithmetic.
static void check_trace(const AssignerFixture *fixture, int which, uint32_t first, uint32_t last) {
    const HaloPlan *p = channel_halo_plan(fixture->channel[which]);
    RangeStatistics *ranges = channel_ranges(fixture->channel[which]);
    assert_int_equal(ranges->exchanges, last - first + 1);
    for (int64_t k = 0; k < p->send_offset[p->size - 1]; k++) {
        int64_t gid = p->source_id[p->send_row[k]],
                columns = channel_columns(fixture->channel[which]);
        double least = 0, most = 0;
        for (uint32_t epoch = first; epoch <= last; epoch++) {
            float row[64];
            for (int64_t c = 0; c < columns; c++)
                row[c] = right_of(gid) * value_of(fixture->channel[which], gid, c, epoch);
            double range = step_of(row, columns, 1, false);
            least += range * range * (1 - 1e-5);
            range = 255 * step_of(row, columns, 8, fixture->bf16);
            most += range * range * (1 + 1e-5);
        }
        if (!((double)ranges->square[k] >= least && (double)ranges->square[k] <= most))
            fail_msg("node %lld: traced %g, expected %g to %g", (long long)gid,
                     (double)ranges->square[k], least, most);
    }
}

// Inside a list, of rows in full groups, larger beta has at least as many bits (ALGORITHMS A11).
static void check_order(const AssignerFixture *fixture, int which, const double *beta,
                        int64_t group_size) {
    const HaloPlan *p = channel_halo_plan(fixture->channel[which]);
    const uint8_t *bits = channel_widths(fixture->channel[which], true);
    for (int g = 0; g + 1 < p->size; g++) {
        int64_t first = p->send_offset[g], end = p->send_offset[g + 1];
        int64_t full = (end - first) / group_size * group_size;
        for (int64_t i = first; i < end; i++) {
            int64_t above = 0;
            for (int64_t j = first; j < end; j++)
                above += beta[j] > beta[i] || (beta[j] == beta[i] && j < i);
            for (int64_t j = first; j < end && above < full; j++)
                if (beta[j] > beta[i] && bits[j] < bits[i])
                    fail_msg("beta %g has %d bits, %g has %d", beta[j], bits[j], beta[i], bits[i]);
        }
    }
}

// Bytes of a row, but at least those of one of fewer bits (8 bits may take less than 7).
static int64_t charged(const AssignerFixture *fixture, int which, int bits, const Config *config) {
    const ConfigInts *widths = &config->quantization.bits;
    int64_t most = 0;
    for (int i = 0; i < widths->count && widths->value[i] <= bits; i++) {
        int64_t bytes = row_bytes(channel_columns(fixture->channel[which]), (int)widths->value[i],
                                  fixture->bf16);
        most = bytes > most ? bytes : most;
    }
    return most;
}

// Of all rows and partial sums that one rank sends another.
static int64_t bytes_between(const AssignerFixture *fixture, int which, const int64_t *bits,
                             const int64_t *owner, int from, int to, const Config *config) {
    int64_t bytes = 0;
    for (int64_t node = 0; node < fixture->graph.dataset.nodes; node++) {
        int64_t row = owner[node] == from ? bits[cell_of(fixture, node, from, to)] : 0;
        int64_t sum = owner[node] == to ? bits[cell_of(fixture, -1 - node, from, to)] : 0;
        bytes += row > 0 ? charged(fixture, which, (int)row, config) : 0;
        bytes += sum > 0 ? charged(fixture, which, (int)sum, config) : 0;
    }
    return bytes;
}

// Seconds of an exchange by the pinned link: the slowest pair of each round, or the slowest sender.
static double predicted(const AssignerFixture *fixture, int which, const Config *config) {
    int64_t *bits = widths_of(fixture, which, true), *owner = owners(&fixture->graph);
    int size = test_comm.size;
    bool by_sender = strcmp(config->quantization.wait, "sender") == 0;
    double *round = TEST_ARRAY(double, size), *sender = TEST_ARRAY(double, size), sum = 0;
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++) {
            double bytes = (double)bytes_between(fixture, which, bits, owner, from, to, config);
            double seconds = bytes > 0 ? config->quantization.link.value[0] * bytes +
                                             config->quantization.link.value[1]
                                       : 0;
            int g = (to - from + size) % size;
            round[g] = fmax(round[g], seconds);
            sender[from] += seconds;
        }
    for (int i = 0; i < size; i++)
        sum = by_sender ? fmax(sum, sender[i]) : sum + round[i];
    return sum;
}

static void check_report(const AssignerFixture *fixture, const Config *config,
                         const Assignment *assignment, int64_t asked, int64_t taken) {
    assert_int_equal(assignment->requested, asked);
    assert_int_equal(assignment->applied, taken);
    assert_int_equal(assignment->parts, CHANNELS);
    for (int i = 0; i < CHANNELS; i++) {
        const AssignmentPart *part = &assignment->part[i];
        int64_t rows[WIDTH_MOST + 1];
        census(fixture, i, rows);
        assert_memory_equal(part->rows, rows, sizeof rows);
        assert_int_equal(part->id.layer, i > 0);
        assert_int_equal(part->id.direction, i == 2);
        double want = predicted(fixture, i, config);
        if (test_comm.rank != 0)
            continue;
        assert_string_equal(part->by, test_comm.size > 1 ? "exact" : part->by);
        assert_true(part->objective >= part->bound && part->bound >= part->lp_bound);
        assert_true(part->lp_bound >= 0);
        assert_near(part->predicted, want, 1e-12 + 1e-9 * want);
    }
}

// Two assignments: nothing changes before asked + delay, or the end of the period; then both ends
// have what was decided.
static void try_adaptive(const Scene *scene, const Config *config) {
    CLEARED(fixture_clear) AssignerFixture fixture = {0};
    fixture_init(&fixture, scene, 8);
    CLEARED(assigner_drop) Assigner *a = assigner_of(&fixture, config);
    epochs_of(&fixture, a, 1, PERIOD);
    assert_true(all_have(&fixture, 8));
    double *beta[CHANNELS];
    for (int i = 0; i < CHANNELS; i++) {
        check_trace(&fixture, i, 1, PERIOD);
        beta[i] = betas_of(a, i);
    }
    int64_t delay = config->quantization.delay < PERIOD ? config->quantization.delay : PERIOD - 1;
    uint32_t asked = PERIOD + 1, taken = asked + (uint32_t)delay;
    for (uint32_t epoch = asked; epoch < taken; epoch++) {
        assert_null(epoch_of(&fixture, a, epoch));
        assert_true(all_have(&fixture, 8));
    }
    const Assignment *assignment = epoch_of(&fixture, a, taken);
    assert_non_null(assignment);
    normalizers_agree(&fixture, &config->quantization.bits);
    for (int i = 0; i < CHANNELS; i++) {
        check_order(&fixture, i, beta[i], config->quantization.group_size);
        check_trace(&fixture, i, asked, taken);
    }
    check_report(&fixture, config, assignment, asked, taken);
    for (uint32_t epoch = taken + 1; epoch < taken + PERIOD; epoch++)
        assert_null(epoch_of(&fixture, a, epoch));
    check_report(&fixture, config, epoch_of(&fixture, a, taken + PERIOD), asked + PERIOD,
                 taken + PERIOD);
    normalizers_agree(&fixture, &config->quantization.bits);
}

TEST(widths_follow_sensitivities_at_both_ends) {
    for (int s = 0; s < SCENES; s++) {
        Config config = config_of();
        config.quantization.delay = s < 3 ? s : 9; // 0: taken when asked; 9: longer than the period
        try_adaptive(&scenes[s], &config);
    }
}

TEST(groups_of_any_size_and_widths_of_any_kind) {
    Config config = config_of();
    config.quantization.group_size = 1;
    try_adaptive(&scenes[0], &config);
    config.quantization.group_size = 1000000; // one group a list
    try_adaptive(&scenes[0], &config);
    config = config_of();
    config.quantization.bits = (ConfigInts){8, {1, 3, 4, 5, 6, 7, 8, 16}};
    try_adaptive(&scenes[1], &config);
    config.quantization.bits = (ConfigInts){1, {4}};
    try_adaptive(&scenes[2], &config);
    snprintf(config.quantization.wait, CONFIG_WORD, "sender");
    config.quantization.bits = (ConfigInts){3, {2, 4, 8}};
    try_adaptive(&scenes[0], &config);
    try_adaptive(&scenes[3], &config);
}

// With a link that makes bits and variance worth the same, all three widths are in use: else the
// tests above could be passed by one width.
TEST(widths_are_mixed) {
    FIXTURE(&scenes[0], 8);
    CLEARED(assigner_drop) Assigner *a = assigner_of(&fixture, &config);
    epochs_of(&fixture, a, 1, PERIOD + 1 + DELAY);
    for (int i = 0; i < CHANNELS && test_comm.size > 1; i++) {
        int64_t rows[WIDTH_MOST + 1];
        census(&fixture, i, rows);
        assert_true(rows[2] > 0 && rows[4] > 0 && rows[8] > 0);
    }
}

TEST(normalizers_of_lambda_and_time_that_is_hidden) {
    CLEARED(fixture_clear) AssignerFixture fixture = {0};
    Config config = config_of();
    config.quantization.lambda = 1;
    settle(&fixture, &config, &scenes[0]);
    assert_true(all_have(&fixture, 8));

    config.quantization.lambda = 0.5;
    config.quantization.link = (ConfigDoubles){2, {1e-18, 0}}; // any own part covers it
    settle(&fixture, &config, &scenes[0]);
    assert_true(test_comm.size == 1 || !all_have(&fixture, 8));
    normalizers_agree(&fixture, &config.quantization.bits);

    snprintf(config.quantization.time, CONFIG_WORD, "hidden");
    settle(&fixture, &config, &scenes[0]);
    assert_true(all_have(&fixture, 8));

    config.quantization.link =
        (ConfigDoubles){3, {1e-8, 0, 0}}; // pinned, too: nothing is covered ...
    settle(&fixture, &config, &scenes[0]);
    assert_true(test_comm.size == 1 || !all_have(&fixture, 8));
    config.quantization.link.value[2] = 3600; // ... or everything
    settle(&fixture, &config, &scenes[0]);
    assert_true(all_have(&fixture, 8));
}

// What every rank covers: the time of the rank that covers least.
TEST(time_is_hidden_where_every_rank_hides_it) {
    FIXTURE(&scenes[0], 8);
    snprintf(config.quantization.time, CONFIG_WORD, "hidden");
    CLEARED(assigner_drop) Assigner *a = assigner_of(&fixture, &config);
    a->assigned[0].exchanges = 2;
    fixture.channel[0]->seconds.covered = a->assigned[0].covered + 6 + 2 * test_comm.rank;
    assert_true(assigned_hidden(a, &a->assigned[0]) == 3);
}

// Ranges whose squares are no floats any more count most, and end nothing.
TEST(rows_too_loud_to_square_get_the_most) {
    CLEARED(fixture_clear) AssignerFixture fixture = {0};
    Config config = config_of();
    config.quantization.group_size = 1;
    config.quantization.lambda = 0.99;
    loudness = 1e25F;
    settle(&fixture, &config, &scenes[0]);
    for (int i = 0; i < CHANNELS; i++) {
        const HaloPlan *p = channel_halo_plan(fixture.channel[i]);
        for (int64_t k = 0; k < p->send_offset[p->size - 1]; k++)
            if (p->source_id[p->send_row[k]] % 13 == 0)
                assert_int_equal(channel_widths(fixture.channel[i], true)[k], 8);
    }
    loudness = 1;
}
