// A halo by arithmetic: which rows each rank sends to which is a function of (seed, ranks, row)
// that every rank can compute for all others, so a test knows what must arrive without asking
// anyone. Lists are unsymmetric, some are empty, some ranks have no rows at all. Static functions,
// because only the tests of this module (and its bench) need it.
#pragma once

#include "fringe/exchange.h"
#include "mix.h"
#include "rows.h"

static inline uint32_t ring_mix(uint64_t a, uint64_t b) {
    uint32_t out[4],
        counter[4] = {(uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32)},
        key[2] = {17, 4};
    random_philox(out, counter, key, 10);
    return out[0];
}

// Rows of a rank: 0 to 96; every fifth rank or so has none.
static inline int64_t ring_rows(uint64_t seed, int rank) {
    uint32_t draw = ring_mix(seed, 1000 + (uint64_t)rank);
    return draw % 5 == 0 ? 0 : 1 + draw / 5 % 96;
}

// The last quarter of them stand for partial aggregates.
static inline int64_t ring_sources(uint64_t seed, int rank) {
    return ring_rows(seed, rank) - ring_rows(seed, rank) / 4;
}

static inline int64_t ring_gid(uint64_t seed, int rank, int64_t row) {
    int64_t id = rank * 1000000LL + row;
    return row < ring_sources(seed, rank) ? id : -1 - id;
}

// Whether `from` sends its row to `to`: of a quarter of the pairs none, of the others about a half.
static inline bool ring_sends(uint64_t seed, int from, int to, int64_t row) {
    uint64_t pair = 5000 + 64 * (uint64_t)from + (uint64_t)to;
    return ring_mix(seed, pair) % 4 != 0 && ring_mix(seed, pair << 32 | (uint64_t)row) % 2 != 0;
}

static inline int64_t ring_count(uint64_t seed, int from, int to) {
    int64_t count = 0;
    for (int64_t row = 0; row < ring_rows(seed, from); row++)
        count += ring_sends(seed, from, to, row);
    return count;
}

// A HaloPlan: lists and global ids.
static inline HaloPlan ring_plan(uint64_t seed, const Comm *comm) {
    int size = comm->size, rank = comm->rank;
    HaloPlan p = {.rank = rank, .size = size, .comm = comm};
    int64_t rows = ring_rows(seed, rank);
    p.sources = ring_sources(seed, rank);
    p.partials = rows - p.sources;
    p.receive_offset = TEST_ARRAY(int64_t, size);
    p.send_offset = TEST_ARRAY(int64_t, size);
    for (int g = 0; g + 1 < size; g++) {
        int sender = ring_sender(rank, g, size), reader = ring_reader(rank, g, size);
        p.receive_offset[g + 1] = p.receive_offset[g] + ring_count(seed, sender, rank);
        p.send_offset[g + 1] = p.send_offset[g] + ring_count(seed, rank, reader);
    }
    p.halo_count = p.receive_offset[size - 1];
    p.send_row = TEST_ARRAY(int32_t, p.send_offset[size - 1]);
    p.source_id = TEST_ARRAY(int64_t, rows);
    p.halo_id = TEST_ARRAY(int64_t, p.halo_count);
    for (int64_t row = 0; row < rows; row++)
        p.source_id[row] = ring_gid(seed, rank, row);
    int64_t sent = 0, read = 0;
    for (int g = 0; g + 1 < size; g++) {
        int sender = ring_sender(rank, g, size), reader = ring_reader(rank, g, size);
        for (int64_t row = 0; row < rows; row++)
            if (ring_sends(seed, rank, reader, row))
                p.send_row[sent++] = (int32_t)row;
        for (int64_t row = 0; row < ring_rows(seed, sender); row++)
            if (ring_sends(seed, sender, rank, row))
                p.halo_id[read++] = ring_gid(seed, sender, row);
    }
    return p;
}

// What row `gid` carries in a column in an epoch: 24 random bits, any exponent near 1.
static inline float ring_value(int64_t gid, int64_t column, uint32_t epoch) {
    uint32_t draw = test_mix((uint64_t)gid << 20 | (uint64_t)column, epoch);
    return ((float)(draw >> 8) - 8388608.0F) / 4194304.0F;
}

// By global id and reader, so both ends say the same without asking.
typedef int WidthOf(int64_t gid, int reader, int setting);
static inline void ring_set_widths(Channel *channel, WidthOf *width, int setting) {
    const HaloPlan *p = channel_halo_plan(channel);
    uint8_t *sent = TEST_ARRAY(uint8_t, p->send_offset[p->size - 1]);
    uint8_t *received = TEST_ARRAY(uint8_t, p->halo_count);
    for (int g = 0; g + 1 < p->size; g++)
        for (int64_t k = p->send_offset[g]; k < p->send_offset[g + 1]; k++)
            sent[k] = (uint8_t)width(p->source_id[p->send_row[k]], ring_reader(p->rank, g, p->size),
                                     setting);
    for (int64_t h = 0; h < p->halo_count; h++)
        received[h] = (uint8_t)width(p->halo_id[h], p->rank, setting);
    channel_set_widths(channel, sent, received);
}

static inline float ring_scale(int64_t gid) { return 0.1F + (float)(gid % 97) / 31.0F; }

static inline Rows ring_fill(const HaloPlan *p, int64_t columns, uint32_t epoch) {
    Rows x = test_rows(p->sources + p->partials, columns);
    for (int64_t row = 0; row < x.count; row++)
        for (int64_t c = 0; c < columns; c++)
            floats(x)[row * x.stride + c] = ring_value(p->source_id[row], c, epoch);
    return x;
}

// Rows and partial aggregates of ring_fill.
static inline RowSource ring_sent(const HaloPlan *p, Rows x, const float *right) {
    return (RowSource){.x = rows_first(x, p->sources),
                       .right = on_device(right),
                       .partials = rows_range(x, (Range){p->sources, p->sources + p->partials})};
}
