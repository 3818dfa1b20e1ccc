// What an AssignerFixture's messages hold, told densely: node by node, for all ranks.
#pragma once

#include "fixture.h"

// [nodes] who owns each.
static inline int64_t *owners(const TestGraph *w) {
    int64_t *owner = TEST_ARRAY(int64_t, w->dataset.nodes);
    for (int64_t r = 0; r < w->shard.set[NODES].own; r++)
        owner[w->shard.set[NODES].gid[r]] = test_comm.rank;
    comm_sum_int64(&test_comm, owner, (int)w->dataset.nodes);
    return owner;
}

// Messages of all ranks have a cell each: a row by (node, reader), after them a partial sum by
// (target, sender). A target's owner is the one who reads its sums.
static inline int64_t cell_of(const AssignerFixture *fixture, int64_t gid, int sender, int reader) {
    int64_t size = test_comm.size, nodes = fixture->graph.dataset.nodes;
    return gid >= 0 ? gid * size + reader : (nodes - 1 - gid) * size + sender;
}
static inline int64_t cells_of(const AssignerFixture *fixture) {
    return 2 * fixture->graph.dataset.nodes * test_comm.size;
}

// [cells] bits of a message, 0: there is none; as the sending or the receiving ends have it.
static inline int64_t *widths_of(const AssignerFixture *fixture, int which, bool sent) {
    const HaloPlan *p = channel_halo_plan(fixture->channel[which]);
    const uint8_t *bits = channel_widths(fixture->channel[which], sent);
    int64_t *out = TEST_ARRAY(int64_t, cells_of(fixture));
    for (int g = 0; g + 1 < p->size && sent; g++)
        for (int64_t k = p->send_offset[g]; k < p->send_offset[g + 1]; k++)
            out[cell_of(fixture, p->source_id[p->send_row[k]], p->rank,
                        ring_reader(p->rank, g, p->size))] += bits[k];
    for (int g = 0; g + 1 < p->size && !sent; g++)
        for (int64_t h = p->receive_offset[g]; h < p->receive_offset[g + 1]; h++)
            out[cell_of(fixture, p->halo_id[h], ring_sender(p->rank, g, p->size), p->rank)] +=
                bits[h];
    comm_sum_int64(&test_comm, out, (int)cells_of(fixture));
    return out;
}

static inline bool is_one_of(const ConfigInts *widths, int64_t bits) {
    for (int i = 0; i < widths->count; i++)
        if (widths->value[i] == bits)
            return true;
    return false;
}

static inline void normalizers_agree(const AssignerFixture *fixture, const ConfigInts *widths) {
    int64_t cells = cells_of(fixture);
    for (int i = 0; i < CHANNELS; i++) {
        int64_t *sent = widths_of(fixture, i, true), *received = widths_of(fixture, i, false);
        assert_memory_equal(sent, received, (size_t)cells * sizeof *sent);
        for (int64_t k = 0; k < cells; k++)
            assert_true(sent[k] == 0 || is_one_of(widths, sent[k]));
    }
}

// Messages of each width on all ranks.
static inline void census(const AssignerFixture *fixture, int which, int64_t rows[WIDTH_MOST + 1]) {
    memset(rows, 0, (WIDTH_MOST + 1) * sizeof *rows);
    const HaloPlan *p = channel_halo_plan(fixture->channel[which]);
    for (int64_t k = 0; k < p->send_offset[p->size - 1]; k++)
        rows[channel_widths(fixture->channel[which], true)[k]]++;
    comm_sum_int64(&test_comm, rows, WIDTH_MOST + 1);
}

static inline bool all_have(const AssignerFixture *fixture, int bits) {
    for (int i = 0; i < CHANNELS; i++) {
        int64_t rows[WIDTH_MOST + 1], all = 0;
        census(fixture, i, rows);
        for (int b = 0; b <= WIDTH_MOST; b++)
            all += rows[b];
        if (rows[bits] != all)
            return false;
    }
    return true;
}
