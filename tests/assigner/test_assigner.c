// ranks: 1 2 3 4 8
// If this failed, the two ends of a message would not agree on its widths, widths would not follow
// the sensitivities of rows, or an assigner would not go on from its file as it was.
#include "support.h"
#include "world.h"

#include "assigner/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- a Net: three channels as a model of two layers has them, and messages by arithmetic

enum { CHANNELS = 3, PERIOD = 4, DELAY = 2 };

typedef struct Scene {
    const char *name;
    WorldKind world;
    const char *normalisation;
    bool bf16;
} Scene;

// The last rank has no rows, where there are several.
static int but_the_last(int64_t node, int parts) {
    return (int)(node * 7 % (parts > 1 ? parts - 1 : 1));
}
// Nobody sends to or hears from anybody but the two first.
static int two_only(int64_t node, int parts) { return parts > 1 ? (int)(node % 3 == 0) : 0; }

static const Scene scenes[] = {
    {"symmetric", {.nodes = 97, .degree = 6, .features = 13, .classes = 5}, "gcn", true},
    {"directed",
     {.nodes = 97, .degree = 6, .directed = true, .features = 13, .classes = 5},
     "mean",
     false},
    {"weighted, a rank without rows",
     {.nodes = 97,
      .degree = 6,
      .weighted = true,
      .features = 33,
      .classes = 5,
      .cut = but_the_last},
     "gcn",
     false},
    {"directed, weighted, two ranks of all",
     {.nodes = 61,
      .degree = 5,
      .directed = true,
      .weighted = true,
      .features = 13,
      .classes = 5,
      .cut = two_only},
     "gcn-in",
     true},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

typedef struct Net {
    World world;
    Block block, transposed;
    bool bf16;
    Mailbox *mailbox;
    Channel *channel[CHANNELS];
    AssignedChannel of[CHANNELS];
    float *right; // [own] powers of two, so that a scaled row is exact
} Net;

static float right_of(int64_t gid) { return exp2f((float)(gid % 5 - 2)); }

static float loudness = 1; // of every 13th node

// A row's scale is of one of 11 octaves, so that rows differ in what their noise counts.
static float value_of(const Channel *channel, int64_t gid, int64_t column, uint32_t epoch) {
    RandomStream stream =
        random_stream(3, RANDOM_GENERATE, epoch, 7, channel_columns(channel) % 2 == 0);
    float u = (float)random_uniform32(stream, gid, 0, column);
    return exp2f((float)(gid * 5 % 11 - 5)) * (2 * u - 0.5F) * (gid % 13 == 0 ? loudness : 1);
}

static void net_init(Net *net, const Scene *scene, int first_width) {
    Error err = {0};
    *net = (Net){.bf16 = scene->bf16};
    world_init(&net->world, scene->world, 42, &test_comm);
    assert_ok(
        block_init(&net->block, scene->normalisation, net->world.forward, &net->world.shard, &err),
        &err);
    net->transposed = block_transpose(&net->block, net->world.backward);
    const Pattern *patterns[CHANNELS] = {net->world.forward, net->world.forward,
                                         net->world.backward};
    const int64_t columns[CHANNELS] = {scene->world.features, 16, 5};
    MessageForm form = {.codec = codec_find("integer", &err),
                        .bf16 = scene->bf16,
                        .width = first_width,
                        .piece = 1000};
    net->mailbox = mailbox_new();
    for (int i = 0; i < CHANNELS; i++) {
        int layer = i > 0, direction = i == 2 ? BACKWARD : FORWARD;
        net->channel[i] =
            channel_new(net->mailbox, patterns[i], &form, columns[i], layer, direction);
        net->of[i] = (AssignedChannel){net->channel[i], layer, direction,
                                       i == 2 ? net->transposed.left : net->block.left};
    }
    net->right = TAKE(float, net->world.shard.own, "test");
    for (int64_t r = 0; r < net->world.shard.own; r++)
        net->right[r] = right_of(net->world.shard.gid[r]);
}

static void net_clear(Net *net) {
    memory_give(net->right);
    for (int i = 0; i < CHANNELS; i++)
        channel_free(net->channel[i]);
    mailbox_free(net->mailbox);
    block_clear(&net->block);
    world_clear(&net->world);
}

static Config config_of(void) {
    Config config;
    Error err = {0};
    assert_ok(config_load(&config, NULL, NULL, 0, &err), &err);
    config.messages.period = PERIOD;
    config.messages.delay = DELAY;
    config.messages.group_size = 5;
    config.messages.link = (ConfigDoubles){2, {1e-8, 1e-6}};
    snprintf(config.messages.solver, CONFIG_WORD, "exact");
    return config;
}

static Assigner *assigner_of(Net *net, const Config *config) {
    Error err = {0};
    Assigner *a = assigner_new(config, &test_comm, 5, net->of, CHANNELS, &err);
    if (a == NULL)
        fail_msg("%s", err.text);
    return a;
}

// ---- exchanges that check themselves

typedef struct Look {
    Channel *channel;
    const uint8_t *bits; // [H] of the receive list
    uint32_t epoch;
    bool exact, bf16;
    int64_t mixed; // rows seen
} Look;

static void no_own_part(void *context, OwnPart part, const Poll *poll) {
    (void)context, (void)part, (void)poll;
}

// What a step may be: parameters in bf16 have 8 bits, and the minimum is rounded down.
static double step_of(const float *row, int64_t columns, int bits, bool bf16) {
    double low = INFINITY, high = -INFINITY, levels = (double)((1 << bits) - 1);
    for (int64_t c = 0; c < columns; c++) {
        low = fmin(low, (double)row[c]);
        high = fmax(high, (double)row[c]);
    }
    double down = bf16 ? ldexp(fabs(low), -7) : 0;
    return (high - low + down) / levels * (bf16 ? 1 + ldexp(1, -6) : 1 + ldexp(1, -20));
}

static int distinct(const float *row, int64_t columns) {
    int count = 0;
    for (int64_t c = 0; c < columns; c++) {
        bool seen = false;
        for (int64_t d = 0; d < c && !seen; d++)
            seen = row[d] == row[c];
        count += !seen;
    }
    return count;
}

static void look_at_row(Look *look, int64_t gid, int bits, const float *row) {
    int64_t columns = channel_columns(look->channel);
    float sent[64];
    assert_true(columns <= 64);
    for (int64_t c = 0; c < columns; c++)
        sent[c] = right_of(gid) * value_of(look->channel, gid, c, look->epoch);
    if (look->exact) {
        assert_memory_equal(row, sent, (size_t)columns * sizeof(float));
        return;
    }
    double step = step_of(sent, columns, bits, look->bf16);
    for (int64_t c = 0; c < columns; c++)
        if (!(fabs((double)row[c] - (double)sent[c]) <= step))
            fail_msg("node %lld, column %lld, %d bits: received %g, sent %g, step %g",
                     (long long)gid, (long long)c, bits, (double)row[c], (double)sent[c], step);
    if (bits <= 8 && distinct(row, columns) > 1 << bits)
        fail_msg("node %lld: more than %d values in %d bits", (long long)gid, 1 << bits, bits);
    look->mixed++;
}

static void halo_part(void *context, Rows landed, int begin, int end, bool last, const Poll *poll) {
    (void)last, (void)poll;
    Look *look = context;
    const Pattern *p = channel_pattern(look->channel);
    for (int64_t h = p->receive_offset[begin]; h < p->receive_offset[end]; h++)
        look_at_row(look, p->halo_gid[h], look->bits[h], landed.at + h * landed.stride);
}

// Of one row: a width is one plane, or planes of 1, 2 and 4 bits (codec.h).
static int64_t row_bytes(int64_t columns, int bits, bool bf16) {
    int64_t bytes = bf16 ? 4 : 8;
    for (int plane = 1; plane <= 16; plane *= 2)
        bytes += bits & plane ? (columns * plane + 7) / 8 : 0;
    return bytes;
}

// Headers, parameters and payload of all messages that this rank sends (ALGORITHMS A.1).
static int64_t bytes_of(const Channel *channel, bool bf16) {
    const Pattern *p = channel_pattern(channel);
    const uint8_t *bits = channel_widths(channel, true);
    int64_t bytes = 0;
    for (int g = 0; g + 1 < p->size; g++)
        bytes += p->send_offset[g + 1] > p->send_offset[g] ? 64 : 0;
    for (int64_t k = 0; k < p->send_offset[p->size - 1]; k++)
        bytes += row_bytes(channel_columns(channel), bits[k], bf16);
    return bytes;
}

static void exchange(const Net *net, int which, uint32_t epoch, bool exact) {
    static const char *const names[] = {"blocking", "overlap", "central"};
    Error err = {0};
    Channel *channel = net->channel[which];
    const Pattern *p = channel_pattern(channel);
    Rows x = rows_take(p->sources, channel_columns(channel), "test");
    for (int64_t r = 0; r < p->sources; r++)
        for (int64_t c = 0; c < x.columns; c++)
            x.at[r * x.stride + c] = value_of(channel, p->gid[r], c, epoch);
    Look look = {.channel = channel,
                 .bits = channel_widths(channel, false),
                 .epoch = epoch,
                 .exact = exact,
                 .bf16 = net->bf16};
    int64_t before = channel_count(channel).bytes_sent, takes = memory_takes();
    schedule_find(names[epoch % 3], &err)
        ->run(channel, &(SentRows){.x = x, .right = net->right}, (Occasion){9, epoch, exact},
              &(ExchangeWork){no_own_part, halo_part, &look});
    assert_int_equal(memory_takes(), takes);
    if (!exact) {
        assert_int_equal(channel_count(channel).bytes_sent - before, bytes_of(channel, net->bf16));
        assert_int_equal(look.mixed, p->halo_count);
    }
    rows_give(&x);
}

// One epoch as the trainer makes it. An exact exchange in between changes nothing.
static const Assignment *epoch_of(const Net *net, Assigner *a, uint32_t epoch) {
    Error err = {0};
    assert_ok(assigner_before(a, epoch, &err), &err);
    for (int i = 0; i < CHANNELS; i++)
        exchange(net, i, epoch, false);
    const Assignment *assignment = assigner_after(a, epoch);
    for (int i = 0; i < CHANNELS; i++) {
        ChannelTrace *trace = channel_trace(net->channel[i]);
        int64_t rows = a->lot[i].rows, exchanges = trace->exchanges;
        float *square = TAKE(float, rows, "test");
        memcpy(square, trace->square, (size_t)rows * sizeof *square);
        exchange(net, i, epoch, true);
        assert_memory_equal(square, trace->square, (size_t)rows * sizeof *square);
        assert_int_equal(exchanges, trace->exchanges);
        memory_give(square);
    }
    return assignment;
}

static void epochs_of(const Net *net, Assigner *a, uint32_t first, uint32_t last) {
    for (uint32_t epoch = first; epoch <= last; epoch++)
        epoch_of(net, a, epoch);
}

// ---- the same told densely: node by node, for all ranks

// [nodes] who owns each.
static int64_t *owners(const World *w) {
    int64_t *owner = TAKE(int64_t, w->dataset.nodes, "test");
    for (int64_t r = 0; r < w->shard.own; r++)
        owner[w->shard.gid[r]] = test_comm.rank;
    comm_sum_int64(&test_comm, owner, (int)w->dataset.nodes);
    return owner;
}

// [nodes, ranks] bits of the message of a node to a rank, 0: there is none; as the sending or the
// receiving ends have it.
static int64_t *widths_of(const Net *net, int which, bool sent) {
    const Pattern *p = channel_pattern(net->channel[which]);
    const uint8_t *bits = channel_widths(net->channel[which], sent);
    int size = test_comm.size;
    int64_t *out = TAKE(int64_t, net->world.dataset.nodes * size, "test");
    for (int g = 0; g + 1 < size && sent; g++)
        for (int64_t k = p->send_offset[g]; k < p->send_offset[g + 1]; k++)
            out[p->gid[p->send_row[k]] * size + (p->rank + 1 + g) % size] += bits[k];
    for (int64_t h = 0; h < p->halo_count && !sent; h++)
        out[p->halo_gid[h] * size + p->rank] += bits[h];
    comm_sum_int64(&test_comm, out, (int)net->world.dataset.nodes * size);
    return out;
}

static bool is_one_of(const ConfigInts *widths, int64_t bits) {
    for (int i = 0; i < widths->count; i++)
        if (widths->value[i] == bits)
            return true;
    return false;
}

static void ends_agree(const Net *net, const ConfigInts *widths) {
    int64_t cells = net->world.dataset.nodes * test_comm.size;
    for (int i = 0; i < CHANNELS; i++) {
        int64_t *sent = widths_of(net, i, true), *received = widths_of(net, i, false);
        assert_memory_equal(sent, received, (size_t)cells * sizeof *sent);
        for (int64_t k = 0; k < cells; k++)
            assert_true(sent[k] == 0 || is_one_of(widths, sent[k]));
        memory_give(received);
        memory_give(sent);
    }
}

// Messages of each width on all ranks.
static void census(const Net *net, int which, int64_t rows[WIDTH_MOST + 1]) {
    memset(rows, 0, (WIDTH_MOST + 1) * sizeof *rows);
    const Pattern *p = channel_pattern(net->channel[which]);
    for (int64_t k = 0; k < p->send_offset[p->size - 1]; k++)
        rows[channel_widths(net->channel[which], true)[k]]++;
    comm_sum_int64(&test_comm, rows, WIDTH_MOST + 1);
}

static bool all_have(const Net *net, int bits) {
    for (int i = 0; i < CHANNELS; i++) {
        int64_t rows[WIDTH_MOST + 1], all = 0;
        census(net, i, rows);
        for (int b = 0; b <= WIDTH_MOST; b++)
            all += rows[b];
        if (rows[bits] != all)
            return false;
    }
    return true;
}

// ---- (a) coefficients

// [nodes] the left diagonal of the forward (backward) aggregation, from the whole dataset.
static double *left_of(const Dataset *d, const char *normalisation, bool backward) {
    double *in = TAKE(double, d->nodes, "test"), *out = TAKE(double, d->nodes, "test");
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
    memory_give(out);
    return in;
}

// [nodes, ranks] c of the message of a node to a rank, by ALGORITHMS A.5 without the sender's
// diagonal, which is in the row.
static double *dense_coefficients(const World *w, const char *normalisation, bool backward,
                                  bool safe) {
    const Dataset *d = &w->dataset;
    int size = test_comm.size;
    int64_t *owner = owners(w);
    double *left = left_of(d, normalisation, backward);
    double *c = TAKE(double, d->nodes *size, "test");
    for (int64_t u = 0; u < d->nodes; u++)
        for (int64_t e = d->offset[u]; e < d->offset[u + 1]; e++) {
            int64_t source = backward ? d->target[e] : u, reader = backward ? u : d->target[e];
            double m = left[reader] * (d->weight != NULL ? (double)d->weight[e] : 1);
            c[source * size + owner[reader]] += safe ? fabs(m) : m * m;
        }
    for (int64_t k = 0; safe && k < d->nodes * size; k++)
        c[k] *= c[k];
    memory_give(left);
    memory_give(owner);
    return c;
}

static void check_coefficients(const Net *net, const Scene *scene, const Assigner *a, bool safe) {
    for (int i = 0; i < CHANNELS; i++) {
        const Pattern *p = channel_pattern(net->channel[i]);
        double *c = dense_coefficients(&net->world, scene->normalisation, i == 2, safe);
        for (int g = 0; g + 1 < p->size; g++)
            for (int64_t k = p->send_offset[g]; k < p->send_offset[g + 1]; k++) {
                int64_t gid = p->gid[p->send_row[k]];
                double want = c[gid * p->size + (p->rank + 1 + g) % p->size];
                double got = (double)a->lot[i].coefficient[k];
                if (!(fabs(got - want) <= 1e-5 * want)) // sums of at most 97 floats
                    fail_msg("%s, channel %d: node %lld to rank %d counts %g, densely %g",
                             scene->name, i, (long long)gid, (p->rank + 1 + g) % p->size, got,
                             want);
            }
        memory_give(c);
    }
}

static void coefficients_are_those_of_the_matrix(void **state) {
    (void)state;
    for (int s = 0; s < SCENES; s++)
        for (int safe = 0; safe < 2; safe++) {
            Net net;
            Config config = config_of();
            snprintf(config.messages.sensitivity, CONFIG_WORD, safe ? "safe" : "paper");
            net_init(&net, &scenes[s], 8);
            Assigner *a = assigner_of(&net, &config);
            check_coefficients(&net, &scenes[s], a, safe);
            assigner_free(a);
            net_clear(&net);
        }
}

// ---- (b) what is assigned, and when

// beta of the send list, up to a factor that all rows share.
static double *betas_of(const Assigner *a, int which) {
    const Lot *lot = &a->lot[which];
    double *beta = TAKE(double, lot->rows, "test");
    for (int64_t k = 0; k < lot->rows; k++)
        beta[k] = (double)lot->coefficient[k] * (double)channel_trace(lot->of.channel)->square[k];
    return beta;
}

// Squares of ranges since the last reset, by arithmetic.
static void check_trace(const Net *net, int which, uint32_t first, uint32_t last) {
    const Pattern *p = channel_pattern(net->channel[which]);
    ChannelTrace *trace = channel_trace(net->channel[which]);
    assert_int_equal(trace->exchanges, last - first + 1);
    for (int64_t k = 0; k < p->send_offset[p->size - 1]; k++) {
        int64_t gid = p->gid[p->send_row[k]], columns = channel_columns(net->channel[which]);
        double least = 0, most = 0;
        for (uint32_t epoch = first; epoch <= last; epoch++) {
            float row[64];
            for (int64_t c = 0; c < columns; c++)
                row[c] = right_of(gid) * value_of(net->channel[which], gid, c, epoch);
            double range = step_of(row, columns, 1, false);
            least += range * range * (1 - 1e-5);
            range = 255 * step_of(row, columns, 8, net->bf16);
            most += range * range * (1 + 1e-5);
        }
        if (!((double)trace->square[k] >= least && (double)trace->square[k] <= most))
            fail_msg("node %lld: traced %g, expected %g to %g", (long long)gid,
                     (double)trace->square[k], least, most);
    }
}

// Inside a list, of rows in full groups, larger beta has at least as many bits (ALGORITHMS A11).
static void check_order(const Net *net, int which, const double *beta, int64_t group_size) {
    const Pattern *p = channel_pattern(net->channel[which]);
    const uint8_t *bits = channel_widths(net->channel[which], true);
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
static int64_t charged(const Net *net, int which, int bits, const Config *config) {
    const ConfigInts *widths = &config->messages.widths;
    int64_t most = 0;
    for (int i = 0; i < widths->count && widths->value[i] <= bits; i++) {
        int64_t bytes =
            row_bytes(channel_columns(net->channel[which]), (int)widths->value[i], net->bf16);
        most = bytes > most ? bytes : most;
    }
    return most;
}

// Seconds of an exchange by the pinned link: the slowest pair of each round, or the slowest sender.
static double predicted(const Net *net, int which, const Config *config) {
    int64_t *bits = widths_of(net, which, true), *owner = owners(&net->world);
    int size = test_comm.size;
    bool by_sender = strcmp(config->messages.wait, "sender") == 0;
    double *round = TAKE(double, size, "test"), *sender = TAKE(double, size, "test"), sum = 0;
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++) {
            double bytes = 0;
            for (int64_t node = 0; node < net->world.dataset.nodes; node++)
                if (owner[node] == from && bits[node * size + to] > 0)
                    bytes += (double)charged(net, which, (int)bits[node * size + to], config);
            double seconds =
                bytes > 0 ? config->messages.link.value[0] * bytes + config->messages.link.value[1]
                          : 0;
            int g = (to - from + size) % size;
            round[g] = fmax(round[g], seconds);
            sender[from] += seconds;
        }
    for (int i = 0; i < size; i++)
        sum = by_sender ? fmax(sum, sender[i]) : sum + round[i];
    memory_give(sender);
    memory_give(round);
    memory_give(owner);
    memory_give(bits);
    return sum;
}

static void check_report(const Net *net, const Config *config, const Assignment *assignment,
                         int64_t asked, int64_t taken) {
    assert_int_equal(assignment->asked, asked);
    assert_int_equal(assignment->taken, taken);
    assert_int_equal(assignment->parts, CHANNELS);
    for (int i = 0; i < CHANNELS; i++) {
        const AssignmentPart *part = &assignment->part[i];
        int64_t rows[WIDTH_MOST + 1];
        census(net, i, rows);
        assert_memory_equal(part->rows, rows, sizeof rows);
        assert_int_equal(part->layer, i > 0);
        assert_int_equal(part->direction, i == 2);
        double want = predicted(net, i, config);
        if (test_comm.rank != 0)
            continue;
        assert_string_equal(part->by, test_comm.size > 1 ? "exact" : part->by);
        assert_true(part->objective >= part->bound - 1e-12 && part->objective >= 0);
        assert_near(part->predicted, want, 1e-12 + 1e-9 * want);
    }
}

// Two assignments: nothing changes before asked + delay; then both ends have what was decided.
static void try_adaptive(const Scene *scene, const Config *config) {
    Net net;
    net_init(&net, scene, 8);
    Assigner *a = assigner_of(&net, config);
    epochs_of(&net, a, 1, PERIOD);
    assert_true(all_have(&net, 8));
    double *beta[CHANNELS];
    for (int i = 0; i < CHANNELS; i++) {
        check_trace(&net, i, 1, PERIOD);
        beta[i] = betas_of(a, i);
    }
    uint32_t asked = PERIOD + 1, taken = asked + (uint32_t)config->messages.delay;
    for (uint32_t epoch = asked; epoch < taken; epoch++) {
        assert_null(epoch_of(&net, a, epoch));
        assert_true(all_have(&net, 8));
    }
    const Assignment *assignment = epoch_of(&net, a, taken);
    assert_non_null(assignment);
    ends_agree(&net, &config->messages.widths);
    for (int i = 0; i < CHANNELS; i++) {
        check_order(&net, i, beta[i], config->messages.group_size);
        check_trace(&net, i, asked, taken);
        memory_give(beta[i]);
    }
    check_report(&net, config, assignment, asked, taken);
    for (uint32_t epoch = taken + 1; epoch < taken + PERIOD; epoch++)
        assert_null(epoch_of(&net, a, epoch));
    check_report(&net, config, epoch_of(&net, a, taken + PERIOD), asked + PERIOD, taken + PERIOD);
    ends_agree(&net, &config->messages.widths);
    assigner_free(a);
    net_clear(&net);
}

static void widths_follow_sensitivities_at_both_ends(void **state) {
    (void)state;
    for (int s = 0; s < SCENES; s++) {
        Config config = config_of();
        config.messages.delay = s % 3; // 0: taken when asked
        try_adaptive(&scenes[s], &config);
    }
}

static void groups_of_any_size_and_widths_of_any_kind(void **state) {
    (void)state;
    Config config = config_of();
    config.messages.group_size = 1;
    try_adaptive(&scenes[0], &config);
    config.messages.group_size = 1000000; // one group a list
    try_adaptive(&scenes[0], &config);
    config = config_of();
    config.messages.widths = (ConfigInts){8, {1, 3, 4, 5, 6, 7, 8, 16}};
    try_adaptive(&scenes[1], &config);
    config.messages.widths = (ConfigInts){1, {4}};
    try_adaptive(&scenes[2], &config);
    snprintf(config.messages.wait, CONFIG_WORD, "sender");
    config.messages.widths = (ConfigInts){3, {2, 4, 8}};
    try_adaptive(&scenes[0], &config);
    try_adaptive(&scenes[3], &config);
}

// With a link that makes bits and variance worth the same, all three widths are in use: else the
// tests above could be passed by one width.
static void widths_are_mixed(void **state) {
    (void)state;
    Net net;
    Config config = config_of();
    net_init(&net, &scenes[0], 8);
    Assigner *a = assigner_of(&net, &config);
    epochs_of(&net, a, 1, PERIOD + 1 + DELAY);
    for (int i = 0; i < CHANNELS && test_comm.size > 1; i++) {
        int64_t rows[WIDTH_MOST + 1];
        census(&net, i, rows);
        assert_true(rows[2] > 0 && rows[4] > 0 && rows[8] > 0);
    }
    assigner_free(a);
    net_clear(&net);
}

// Widths of all rows after the first assignment.
static void settle(Net *net, const Config *config, const Scene *scene) {
    net_init(net, scene, 3);
    Assigner *a = assigner_of(net, config);
    epochs_of(net, a, 1, PERIOD + 1 + DELAY);
    assigner_free(a);
}

static void ends_of_lambda_and_time_that_is_hidden(void **state) {
    (void)state;
    Net net;
    Config config = config_of();
    config.messages.lambda = 1;
    settle(&net, &config, &scenes[0]);
    assert_true(all_have(&net, 8));
    net_clear(&net);

    config.messages.lambda = 0.5;
    config.messages.link = (ConfigDoubles){2, {1e-18, 0}}; // any own part covers it
    settle(&net, &config, &scenes[0]);
    assert_true(test_comm.size == 1 || !all_have(&net, 8));
    ends_agree(&net, &config.messages.widths);
    net_clear(&net);

    snprintf(config.messages.time, CONFIG_WORD, "hidden");
    settle(&net, &config, &scenes[0]);
    assert_true(all_have(&net, 8));
    net_clear(&net);
}

// Ranges whose squares are no floats any more count most, and end nothing.
static void rows_too_loud_to_square_get_the_most(void **state) {
    (void)state;
    Net net;
    Config config = config_of();
    config.messages.group_size = 1;
    config.messages.lambda = 0.99;
    loudness = 1e25F;
    settle(&net, &config, &scenes[0]);
    for (int i = 0; i < CHANNELS; i++) {
        const Pattern *p = channel_pattern(net.channel[i]);
        for (int64_t k = 0; k < p->send_offset[p->size - 1]; k++)
            if (p->gid[p->send_row[k]] % 13 == 0)
                assert_int_equal(channel_widths(net.channel[i], true)[k], 8);
    }
    loudness = 1;
    net_clear(&net);
}

static void uniform_keeps_the_first_width(void **state) {
    (void)state;
    Net net;
    Config config = config_of();
    snprintf(config.messages.assign, CONFIG_TEXT, "uniform");
    settle(&net, &config, &scenes[1]);
    assert_true(all_have(&net, 3));
    net_clear(&net);
}

// ---- (d) random

// Messages of one node to two readers: how many have other bits.
static int64_t differing_readers(const Net *net, int which) {
    int64_t *bits = widths_of(net, which, true), count = 0;
    int size = test_comm.size;
    for (int64_t node = 0; node < net->world.dataset.nodes; node++)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < i; j++)
                count += bits[node * size + i] > 0 && bits[node * size + j] > 0 &&
                         bits[node * size + i] != bits[node * size + j];
    memory_give(bits);
    return count;
}

static void random_widths_are_drawn_per_message(void **state) {
    (void)state;
    Net first, second;
    Config config = config_of();
    snprintf(config.messages.assign, CONFIG_TEXT, "random");
    settle(&first, &config, &scenes[0]);
    settle(&second, &config, &scenes[0]);
    ends_agree(&first, &config.messages.widths);
    Assigner *a = assigner_of(&second, &config);
    for (int i = 0; i < CHANNELS && test_comm.size > 1; i++) {
        int64_t cells = first.world.dataset.nodes * test_comm.size, rows[WIDTH_MOST + 1];
        int64_t *x = widths_of(&first, i, true), *y = widths_of(&second, i, true);
        assert_memory_equal(x, y, (size_t)cells * sizeof *x);
        census(&first, i, rows);
        assert_true(rows[2] > 0 && rows[4] > 0 && rows[8] > 0);
        if (test_comm.size > 2)
            assert_true(differing_readers(&first, i) > 0);
        memory_give(y);
        memory_give(x);
    }
    epochs_of(&second, a, 1 + PERIOD, 1 + 2 * PERIOD + DELAY); // drawn anew
    int64_t changed = 0;
    for (int i = 0; i < CHANNELS; i++) {
        int64_t cells = first.world.dataset.nodes * test_comm.size;
        int64_t *x = widths_of(&first, i, true), *y = widths_of(&second, i, true);
        for (int64_t k = 0; k < cells; k++)
            changed += x[k] != y[k];
        memory_give(y);
        memory_give(x);
    }
    assert_true(changed > 0 || test_comm.size == 1);
    assigner_free(a);
    net_clear(&second);
    net_clear(&first);
}

// ---- (e) files

static void same_bytes(const void *a, const void *b, int64_t count, size_t size) {
    if (count > 0)
        assert_memory_equal(a, b, (size_t)count * size);
}

static void same_state(const Assigner *a, const Assigner *b) {
    assert_int_equal(a->pending, b->pending);
    assert_int_equal(a->asked, b->asked);
    assert_int_equal(a->taken, b->taken);
    for (int i = 0; i < CHANNELS; i++) {
        const Lot *x = &a->lot[i], *y = &b->lot[i];
        ChannelTrace *s = channel_trace(x->of.channel), *t = channel_trace(y->of.channel);
        same_bytes(channel_widths(x->of.channel, true), channel_widths(y->of.channel, true),
                   x->rows, 1);
        same_bytes(channel_widths(x->of.channel, false), channel_widths(y->of.channel, false),
                   x->pattern->halo_count, 1);
        same_bytes(x->next, y->next, x->rows, 1);
        same_bytes(s->square, t->square, x->rows, sizeof *s->square);
        assert_int_equal(s->exchanges, t->exchanges);
    }
}

static void state_comes_back(void **state) {
    (void)state;
    static const uint32_t stops[] = {2, PERIOD + 1, PERIOD + 1 + DELAY, 2 * PERIOD};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        Net net, other;
        Error err = {0};
        Config config = config_of();
        const Scene *scene = &scenes[i % SCENES];
        const char *path = test_path("messages.safetensors");
        net_init(&net, scene, 8);
        net_init(&other, scene, 8);
        Assigner *a = assigner_of(&net, &config), *b = assigner_of(&other, &config);
        epochs_of(&net, a, 1, stops[i]);
        assert_ok(assigner_write(a, path, &err), &err);
        assert_ok(assigner_read(b, path, &err), &err);
        same_state(a, b);
        assert_true(a->pending == (stops[i] == PERIOD + 1 ? WIDTHS_DECIDED : NOTHING_PENDING));
        for (uint32_t epoch = stops[i] + 1; epoch <= 2 * PERIOD + 1 + DELAY; epoch++) {
            bool first = epoch_of(&net, a, epoch) != NULL;
            assert_int_equal(first, epoch_of(&other, b, epoch) != NULL);
            for (int c = 0; c < CHANNELS; c++)
                assert_true(a->pending == ANSWER_PENDING || a->lot[c].rows == 0 ||
                            memcmp(a->lot[c].next, b->lot[c].next, (size_t)a->lot[c].rows) == 0);
        }
        same_state(a, b);
        assigner_free(b);
        assigner_free(a);
        net_clear(&other);
        net_clear(&net);
    }
}

// The part of a file up to `bytes`, with the byte at `at` set, if `at` is in it.
static void spoil(const char *path, const char *from, int64_t bytes, int64_t at, int value) {
    if (test_comm.rank != 0)
        return;
    static unsigned char content[1 << 20];
    FILE *file = fopen(from, "rb");
    assert_non_null(file);
    int64_t size = (int64_t)fread(content, 1, sizeof content, file);
    fclose(file);
    if (at >= 0 && at < size)
        content[at] = (unsigned char)value;
    test_write(path, content, (size_t)(bytes < 0 || bytes > size ? size : bytes));
}

static int64_t file_bytes(const char *path) {
    int64_t bytes = 0;
    if (test_comm.rank == 0) {
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        bytes = ftell(file);
        fclose(file);
    }
    comm_broadcast(&test_comm, &bytes, sizeof bytes, 0);
    return bytes;
}

// Where a tensor's data begins in a file; -1: it has none.
static int64_t place_of(const char *path, const char *name) {
    int64_t at = -1;
    Tensors file;
    Error err = {0};
    if (test_comm.rank == 0) {
        assert_ok(tensors_open(&file, path, &err), &err);
        const Tensor *tensor = tensors_find(&file, name);
        if (tensor != NULL && tensor_bytes(tensor) > 0)
            at = (const char *)tensor->data - (const char *)file.mapping;
        tensors_close(&file);
    }
    comm_broadcast(&test_comm, &at, sizeof at, 0);
    return at;
}

static void refused(Assigner *a, const char *path, ExitCode code, const char *part) {
    Error err = {0};
    assert_refused(assigner_read(a, path, &err), &err, code, part);
    assert_null(strchr(err.text, '\n')); // one sentence
}

static void damaged_and_foreign_files_are_refused(void **state) {
    (void)state;
    Net net, other;
    Error err = {0};
    Config config = config_of();
    const char *path = test_path("whole.safetensors"), *bad = test_path("bad.safetensors");
    net_init(&net, &scenes[0], 8);
    net_init(&other, &scenes[3], 8); // another graph
    Assigner *a = assigner_of(&net, &config), *b = assigner_of(&other, &config);
    epochs_of(&net, a, 1, PERIOD + 1);
    assert_ok(assigner_write(a, path, &err), &err);
    int64_t bytes = file_bytes(path);
    for (int64_t cut = 0; cut < bytes; cut += 1 + bytes / 13) {
        spoil(bad, path, cut, -1, 0);
        refused(a, bad, EXIT_DATA, "bad.safetensors");
    }
    if (test_comm.size > 1)
        refused(b, path, EXIT_DATA, "layer0.forward");
    refused(a, test_path("nothing"), EXIT_NO_INPUT, "nothing");
    static const char *const names[] = {"layer0.forward.widths", "layer1.backward.next"};
    static const int widths[] = {0, 9, 15, 17, 255};
    for (int i = 0; i < 10; i++) {
        int64_t at = place_of(path, names[i % 2]);
        if (at < 0)
            continue; // one rank sends nothing
        spoil(bad, path, -1, at, widths[i / 2]);
        refused(a, bad, EXIT_DATA, names[i % 2]);
    }
    int64_t pending = bytes - (3 + CHANNELS) * 8 + 8; // the second of the counters, which lie last
    spoil(bad, path, -1, pending, 77);                // no state that is known
    refused(a, bad, EXIT_DATA, "counters");
    assert_ok(assigner_read(a, path, &err), &err); // and nothing is the worse for it
    epochs_of(&net, a, PERIOD + 2, PERIOD + 1 + DELAY);
    ends_agree(&net, &config.messages.widths);
    assigner_free(b);
    assigner_free(a);
    net_clear(&other);
    net_clear(&net);
}

// ---- (f) the link model, measured

static void links_are_measured(void **state) {
    (void)state;
    for (int s = 0; s < SCENES; s++) {
        Net net;
        Config config = config_of();
        config.messages.link = (ConfigDoubles){0};
        net_init(&net, &scenes[s], 8);
        Assigner *a = assigner_of(&net, &config);
        epochs_of(&net, a, 1, PERIOD + DELAY);
        const Assignment *assignment = epoch_of(&net, a, PERIOD + 1 + DELAY);
        assert_non_null(assignment);
        ends_agree(&net, &config.messages.widths);
        int pairs = test_comm.rank == 0 ? test_comm.size * (test_comm.size - 1) : 0;
        for (int i = 0; i < pairs; i++) {
            assert_true(a->theta[i] > 0 && isfinite(a->theta[i]));
            assert_true(a->gamma[i] >= 0 && isfinite(a->gamma[i]));
        }
        if (pairs > 0) {
            assert_true(assignment->byte_seconds[0] > 0);
            assert_true(assignment->byte_seconds[0] <= assignment->byte_seconds[1]);
            assert_true(assignment->byte_seconds[1] <= assignment->byte_seconds[2]);
            assert_true(assignment->message_seconds[0] <= assignment->message_seconds[2]);
        }
        assigner_free(a);
        net_clear(&net);
    }
}

static void wrong_rule_names_the_list(void **state) {
    (void)state;
    Error err = {0};
    assert_refused(assigner_known("adaptiv", &err), &err, EXIT_CONFIG,
                   "adaptive, uniform, random, replay:RUN");
    err = (Error){0};
    assert_refused(assigner_known("replay:", &err), &err, EXIT_CONFIG, "replay:RUN");
    err = (Error){0};
    assert_ok(assigner_known("replay:x", &err), &err);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(coefficients_are_those_of_the_matrix),
    cmocka_unit_test(widths_follow_sensitivities_at_both_ends),
    cmocka_unit_test(groups_of_any_size_and_widths_of_any_kind),
    cmocka_unit_test(widths_are_mixed),
    cmocka_unit_test(ends_of_lambda_and_time_that_is_hidden),
    cmocka_unit_test(rows_too_loud_to_square_get_the_most),
    cmocka_unit_test(uniform_keeps_the_first_width),
    cmocka_unit_test(random_widths_are_drawn_per_message),
    cmocka_unit_test(state_comes_back),
    cmocka_unit_test(damaged_and_foreign_files_are_refused),
    cmocka_unit_test(links_are_measured),
    cmocka_unit_test(wrong_rule_names_the_list),
};

TEST_MAIN(tests)
