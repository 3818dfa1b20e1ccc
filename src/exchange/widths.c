// The bit widths of a channel's rows, and the ranges from which the assigner chooses them.

#include "buffers.h"

const HaloPlan *channel_halo_plan(const Channel *channel) { return channel->plan; }

int64_t channel_columns(const Channel *channel) { return channel->columns; }

const uint8_t *channel_widths(const Channel *channel, bool sent) {
    return channel->box[sent ? OUTGOING : INCOMING].bits;
}

void channel_set_widths(Channel *channel, const uint8_t *sent, const uint8_t *received) {
    assert(channel->options.codec->has_widths);
    channel_drain(channel);
    channel_draw_all(channel);
    box_set_widths(&channel->box[OUTGOING], sent);
    box_set_widths(&channel->box[INCOMING], received);
}

RangeStatistics *channel_ranges(Channel *channel) {
    return channel->options.codec->has_widths ? &channel->ranges : NULL;
}

void channel_ranges_reset(Channel *channel) {
    channel->ranges.exchanges = 0;
    memset(channel->ranges.square, 0,
           (size_t)channel_flow_rows(channel->plan, OUTGOING) * sizeof *channel->ranges.square);
}

// A row of D values in steps of S adds D S^2 / 6 on average (ALGORITHMS A.1).
double channel_noise(const Channel *channel) {
    const MessageBox *box = &channel->box[OUTGOING];
    double sum = 0;
    for (int64_t k = 0; k < channel_flow_rows(channel->plan, OUTGOING); k++) {
        double step = (double)box->range[k] / (double)((1 << box->bits[k]) - 1);
        sum += step * step;
    }
    return sum * (double)channel->columns / 6;
}

// Of a sampled row 1/P squares count, so that the sum has the mean of all rows'.
void channel_add_ranges(Channel *channel, const Poll *poll) {
    const float *range = channel->box[OUTGOING].range;
    const uint8_t *drawn = channel->sample.on ? channel->sample.rows[OUTGOING].drawn : NULL;
    float weight = drawn != NULL ? (float)(1 / channel->options.sample.probability) : 1;
    box_download_ranges(&channel->box[OUTGOING], poll);
    const int64_t *offset = channel_offsets(channel->plan, OUTGOING);
    for (int g = 0; g < channel->ring.rounds; g++)
        for (int64_t k = offset[g]; k < offset[g + 1]; k++) {
            if (drawn != NULL && !drawn[k])
                continue;
            if (channel_sends(channel, g))
                channel->ranges.square[k] += weight * *range * *range;
            range++;
        }
    channel->ranges.exchanges++;
}
