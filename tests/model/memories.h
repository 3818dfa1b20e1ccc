// What the ends of a model's channels remember, and what must hold for any residual.
#pragma once

#include "flights.h"

static inline size_t memory_bytes(const Channel *channel, int flow, int slot, int round) {
    const size_t *place = channel->box[flow].residual[slot].place;
    return place != NULL ? place[round + 1] - place[round] : 0;
}

static inline uint64_t hash_of_round(const Channel *channel, int flow, int slot, int round) {
    const BoxResidual *of = &channel->box[flow].residual[slot];
    size_t bytes = memory_bytes(channel, flow, slot, round);
    return bytes > 0 ? hash_bytes((const unsigned char *)of->memory + of->place[round], bytes) : 0;
}

// Of every pair: the hash as its sender has it is the reader's.
static inline bool both_ends_agree(const Flight *f, int slot) {
    int64_t apart[16];
    int size = test_comm.size, rank = test_comm.rank;
    bool agree = true;
    for (int i = 0; i < CHANNELS; i++) {
        const Channel *channel = channel_of(f, i);
        memset(apart, 0, sizeof apart);
        for (int g = 0; g + 1 < size; g++) {
            int64_t sent = (int64_t)(hash_of_round(channel, OUTGOING, slot, g) >> 2);
            int64_t received = (int64_t)(hash_of_round(channel, INCOMING, slot, g) >> 2);
            apart[rank * size + ring_reader(rank, g, size)] += sent;
            apart[ring_sender(rank, g, size) * size + rank] -= received;
        }
        comm_sum_int64(&test_comm, apart, size * size);
        for (int k = 0; k < size * size; k++)
            agree = agree && apart[k] == 0;
    }
    return agree;
}

// Of all memories of this rank.
static inline uint64_t hash_of_all(const Flight *f) {
    uint64_t hash = 0;
    for (int i = 0; i < CHANNELS; i++)
        for (int flow = 0; flow < FLOWS; flow++)
            for (int slot = 0; slot < RESIDUALS; slot++)
                for (int g = 0; g + 1 < test_comm.size; g++)
                    hash = 31 * hash + hash_of_round(channel_of(f, i), flow, slot, g);
    return hash;
}

static inline int64_t bytes_sent(const Flight *f) {
    int64_t bytes = 0;
    for (int i = 0; i < CHANNELS; i++)
        bytes += channel_count(channel_of(f, i)).bytes_sent;
    return bytes;
}

// How many exchanges of training there were, on all ranks alike.
static inline int64_t exchanges_of(const Flight *f) {
    int64_t first = channel_of(f, 0)->exchanges;
    comm_broadcast(&test_comm, &first, sizeof first, 0);
    for (int i = 0; i < CHANNELS; i++)
        assert_int_equal(channel_of(f, i)->exchanges, first);
    return first;
}

// Evaluation changes no memory, and computes what fp32 without a residual does.
static inline void assert_evaluation_is_exact(CodecOptions options) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) coded = flight_as(&ground, options, "overlap");
    OWNED(Flight) exact = flight_of(&ground, "fp32", "overlap", NULL);
    assert_ptr_equal(coded.model->layer[1].infer.channel, channel_of(&coded, 1));
    size_t bytes = (size_t)logit_count(&coded) * sizeof(float);
    float *want = test_memory(bytes), *got = test_memory(bytes);
    for (int epoch = 0; epoch < 3; epoch++) {
        fly(&coded);
        uint64_t before = hash_of_all(&coded);
        device()->download_rows(want, model_infer(exact.model, on_device(ground.parameters[0])));
        device()->download_rows(got, model_infer(coded.model, on_device(ground.parameters[0])));
        assert_true(hash_of_all(&coded) == before);
        assert_int_equal(exchanges_of(&coded), epoch + 1);
        assert_memory_equal(got, want, bytes);
    }
}

static inline void hand_over_state(const Flight *before, Flight *after) {
    StateSection saved = model_exchanges(before->model), restored = model_exchanges(after->model);
    const char *path = test_path("exchanges.safetensors");
    assert_string_equal(saved.name, "exchanges");
    assert_ok(state_write(&saved, &test_comm, path, &err));
    comm_barrier(&test_comm);
    assert_ok(state_read(&restored, &test_comm, path, &err));
    after->epoch = before->epoch;
    assert_true(hash_of_all(after) == hash_of_all(before));
}

static inline void hand_over(const Flight *before, Flight *after) {
    hand_over_state(before, after);
    assert_int_equal(exchanges_of(after), exchanges_of(before));
}

// One that was stopped after so many epochs, and goes on in another model.
static inline void assert_resumed(CodecOptions options, const char *schedule, int stop) {
    CLEARED(ground_clear) Ground ground = ground_made();
    OWNED(Flight) whole = flight_as(&ground, options, schedule);
    OWNED(Flight) before = flight_as(&ground, options, schedule);
    OWNED(Flight) after = flight_as(&ground, options, schedule);
    for (int epoch = 0; epoch < stop; epoch++) {
        fly(&whole);
        fly(&before);
    }
    hand_over(&before, &after);
    for (int epoch = stop; epoch < stop + 3; epoch++) {
        int64_t of_whole = bytes_sent(&whole), of_after = bytes_sent(&after);
        fly_alike(&whole, &after);
        assert_int_equal(bytes_sent(&after) - of_after, bytes_sent(&whole) - of_whole);
        assert_int_equal(exchanges_of(&after), exchanges_of(&whole));
    }
}
