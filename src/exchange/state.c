// The state of a channel in a checkpoint. Each rank has its own rows and memories; either all ranks
// have rows or none, because all take the same steps.

#include "buffers.h"

#include <stdio.h>

enum { NAME = 64 };

static void name_of(char out[NAME], const Channel *channel, const char *what) {
    char exchange[EXCHANGE_NAME];
    snprintf(out, NAME, "%s.%s", exchange_name(channel->id, exchange), what);
}

static int64_t memory_bytes(const Channel *channel, int side) {
    return (int64_t)channel->memories.place[side][channel->ring.rounds];
}

static const char *const memory_name[SIDES] = {
    [INCOMING] = "memory.received", [OUTGOING] = "memory.sent"};

static int64_t halo_floats(const Channel *channel) {
    return channel->plan->halo_count * channel->columns;
}

// --- saving

static void save_rows(Channel *channel, StateWriter *writer) {
    char name[NAME];
    int64_t kept = channel_has_rows(channel), count = kept ? halo_floats(channel) : 0;
    float *rows = ALLOC(float, count, "rows to write");
    if (kept)
        channel->buffers->backend->download_rows(rows, channel_rows(channel));
    channel->buffers->backend->finish(NULL);
    name_of(name, channel, "kept");
    state_put_copy(writer, name, TENSOR_I64, 1, &kept);
    name_of(name, channel, "rows");
    state_put_by_rank(writer, name, TENSOR_F32, count, rows);
    memory_free(rows);
}

static void save_memory(Channel *channel, int side, StateWriter *writer) {
    char name[NAME];
    int64_t bytes = memory_bytes(channel, side);
    unsigned char *memory = memory_alloc((size_t)bytes, "memories of rows");
    channel->buffers->backend->download(memory, channel->memories.memory[side], (size_t)bytes);
    channel->buffers->backend->finish(NULL);
    name_of(name, channel, memory_name[side]);
    state_put_by_rank(writer, name, TENSOR_U8, bytes, memory);
    memory_free(memory);
}

void channel_save(Channel *channel, bool rows, StateWriter *writer) {
    assert(!channel_in_flight(channel));
    if (rows)
        save_rows(channel, writer);
    for (int side = 0; side < SIDES && channel->memories.of != NULL; side++)
        save_memory(channel, side, writer);
}

// --- restoring

static bool restore_rows(Channel *channel, const StateReader *reader, Error *err) {
    char name[NAME];
    int64_t kept = 0;
    name_of(name, channel, "kept");
    if (!state_get(reader, name, TENSOR_I64, 1, &kept, err))
        return false;
    int64_t count = kept ? halo_floats(channel) : 0;
    float *rows = ALLOC(float, count, "rows to read");
    name_of(name, channel, "rows");
    bool ok = state_get_by_rank(reader, name, TENSOR_F32, count, rows, err);
    channel->has_rows = ok && kept;
    if (channel->has_rows) {
        channel->buffers->user = channel;
        channel->buffers->backend->upload_rows(channel_rows(channel), rows);
        channel->buffers->backend->finish(NULL);
    }
    memory_free(rows);
    return ok;
}

static bool restore_memory(Channel *channel, int side, const StateReader *reader, Error *err) {
    char name[NAME];
    int64_t bytes = memory_bytes(channel, side);
    unsigned char *memory = memory_alloc((size_t)bytes, "memories of rows");
    name_of(name, channel, memory_name[side]);
    bool ok = state_get_by_rank(reader, name, TENSOR_U8, bytes, memory, err);
    if (ok)
        channel->buffers->backend->upload(channel->memories.memory[side], memory, (size_t)bytes);
    channel->buffers->backend->finish(NULL);
    memory_free(memory);
    return ok;
}

bool channel_restore(Channel *channel, bool rows, const StateReader *reader, Error *err) {
    assert(!channel_in_flight(channel));
    bool ok = !rows || restore_rows(channel, reader, err);
    for (int side = 0; ok && side < SIDES && channel->memories.of != NULL; side++)
        ok = restore_memory(channel, side, reader, err);
    return ok;
}
