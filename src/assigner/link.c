// The link model: time of a message = theta bytes + gamma, for every ordered pair of ranks. Each
// ring round is timed separately at two sizes, with all ranks in it, because pairs share links. The
// shortest of a few times counts, because other activity only adds time. The sizes are those of
// real messages at the narrowest and the widest width, capped to keep the measurement short;
// ALGORITHMS A.6 says when the line does not hold for longer messages. Pairs that send nothing in
// the timed channel, or too little to tell theta from gamma, get the median of the others.

#include "internal.h"

enum { TIMES = 2, LEAST = 4 << 10, SMALL_MOST = 32 << 10, LARGE_MOST = 128 << 10 };
static const double least_theta = 1e-12; // seconds per byte; a problem requires theta > 0

static int64_t capped(const Channel *channel, int round, bool sent, int bits, int64_t most) {
    int64_t bytes = channel_round_bytes(channel, round, sent, bits);
    return bytes < most ? bytes : most;
}

double link_time_round(RoundTimer *time, Channel *channel, int round, int bits, int64_t most,
                       int64_t *bytes) {
    double least = 0;
    *bytes = capped(channel, round, false, bits, most);
    for (int i = 0; i < TIMES; i++) {
        double seconds = time(channel, round, capped(channel, round, true, bits, most), *bytes);
        if (i == 0 || seconds < least)
            least = seconds;
    }
    return least;
}

PairTime link_fit(double small, int64_t small_bytes, double large, int64_t large_bytes) {
    PairTime pair = {least_theta, 0, (double)large_bytes};
    if (large_bytes == 0)
        return pair;
    pair.theta = large / (double)large_bytes;
    if (large_bytes > small_bytes && large > small) {
        pair.theta = (large - small) / (double)(large_bytes - small_bytes);
        pair.gamma = small - pair.theta * (double)small_bytes;
    }
    if (pair.gamma < 0) {
        pair.gamma = 0;
        pair.theta = large / (double)large_bytes;
    }
    pair.theta = fmax(pair.theta, least_theta);
    return pair;
}

static Channel *widest_channel(const Assigner *a) {
    Channel *widest = a->assigned[0].of.channel;
    for (int i = 1; i < a->channels; i++)
        if (channel_columns(a->assigned[i].of.channel) > channel_columns(widest))
            widest = a->assigned[i].of.channel;
    return widest;
}

static void summarize(const double *value, int64_t count, double out[3]) {
    FREED double *sorted = ALLOC(double, count, "link model");
    memcpy(sorted, value, (size_t)count * sizeof *sorted);
    if (count > 0)
        out[1] = sort_median(sorted, count), out[0] = sorted[0], out[2] = sorted[count - 1];
}

void link_fill_in(PairTime *all, int64_t pairs) {
    FREED double *theta = ALLOC(double, pairs, "link model"),
                 *gamma = ALLOC(double, pairs, "link model");
    int64_t known = 0;
    for (int64_t i = 0; i < pairs; i++)
        if (all[i].bytes >= LEAST) {
            theta[known] = all[i].theta;
            gamma[known++] = all[i].gamma;
        }
    if (known > 0) {
        PairTime ordinary = {sort_median(theta, known), sort_median(gamma, known), 0};
        for (int64_t i = 0; i < pairs; i++)
            if (all[i].bytes < LEAST)
                all[i] = ordinary;
    }
}

void link_keep(Assigner *a, const PairTime *all) {
    int size = a->comm->size, rounds = size - 1;
    for (int receiver = 0; receiver < size; receiver++)
        for (int g = 0; g < rounds; g++) {
            int source = ring_sender(receiver, g, size);
            a->theta[source * rounds + g] = all[receiver * rounds + g].theta;
            a->gamma[source * rounds + g] = all[receiver * rounds + g].gamma;
        }
}

static void measure(Assigner *a, PairTime *mine) {
    const ConfigInts *widths = &a->config->quantization.bits;
    Channel *channel = widest_channel(a);
    for (int g = 0; g < a->comm->size - 1; g++) {
        int64_t small_bytes, large_bytes;
        double small = link_time_round(channel_time_round, channel, g, (int)widths->value[0],
                                       SMALL_MOST, &small_bytes);
        double large =
            link_time_round(channel_time_round, channel, g, (int)widths->value[widths->count - 1],
                            LARGE_MOST, &large_bytes);
        mine[g] = link_fit(small, small_bytes, large, large_bytes);
    }
}

void link_measure(Assigner *a) {
    int rounds = a->comm->size - 1;
    const ConfigDoubles *pinned = &a->config->quantization.link;
    FREED PairTime *mine = ALLOC(PairTime, rounds, "link model");
    FREED PairTime *all =
        ALLOC(PairTime, a->comm->rank == 0 ? a->comm->size * rounds : 0, "link model");
    FREED int64_t *offset = ALLOC(int64_t, a->comm->size + 1, "link model");
    if (pinned->count == 0)
        measure(a, mine);
    else
        for (int g = 0; g < rounds; g++) // quantization.link replaces the measurement
            mine[g] = (PairTime){fmax(pinned->value[0], least_theta), pinned->value[1], LEAST};
    for (int r = 0; r <= a->comm->size; r++)
        offset[r] = (int64_t)r * rounds;
    list_gather(a->comm, mine, rounds, all, offset, sizeof *mine);
    if (a->comm->rank == 0) {
        link_fill_in(all, offset[a->comm->size]);
        link_keep(a, all);
        summarize(a->theta, offset[a->comm->size], a->assignment.byte_seconds);
        summarize(a->gamma, offset[a->comm->size], a->assignment.message_seconds);
    }
}
