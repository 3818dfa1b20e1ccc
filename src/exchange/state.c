// The state of a channel in a checkpoint. Each rank has its own rows and residuals; either all
// ranks have rows or none, because all take the same steps.

#include "buffers.h"

#include <stdio.h>

enum { NAME = 64 };

static void name_of(char out[NAME], const Channel *channel, const char *what) {
    char exchange[EXCHANGE_NAME];
    snprintf(out, NAME, "%s.%s", exchange_name(channel->id, exchange), what);
}

static int64_t halo_floats(const Channel *channel) {
    return channel->plan->halo_count * channel->columns;
}

// What a checkpoint says of rows that are kept: 0, there are none.
static int64_t kept_as(RowsType rows) { return rows == ROWS_BF16 ? 2 : 1; }

// --- saving

static void save_rows(Channel *channel, StateWriter *writer) {
    char name[NAME];
    bool has = channel_has_rows(channel);
    int64_t kept = has ? kept_as(channel->rows_are) : 0, count = has ? halo_floats(channel) : 0;
    float *rows = ALLOC(float, count, "rows to write");
    if (has)
        channel->buffers->backend->download_rows(rows, channel_rows(channel));
    channel->buffers->backend->finish(NULL);
    name_of(name, channel, "kept");
    state_put(writer, name, TENSOR_I64, 1, &kept);
    name_of(name, channel, "rows");
    state_put_by_rank(writer, name, TENSOR_F32, count, rows);
    memory_free(rows);
}

// What the ends remember, the number of exchanges, which refreshes depend on, and whether rows go
// as they are.
static void save_residuals(const Channel *channel, StateWriter *writer) {
    char name[NAME];
    name_of(name, channel, "exchanges");
    int64_t direct = channel->direct;
    state_put(writer, name, TENSOR_I64, 1, &channel->exchanges);
    name_of(name, channel, "direct");
    state_put(writer, name, TENSOR_I64, 1, &direct);
    exchange_name(channel->id, name);
    for (int flow = 0; flow < FLOWS; flow++)
        box_save(&channel->box[flow], name, writer);
}

// How old the rows are that each reader has.
static void save_ages(const Channel *channel, StateWriter *writer) {
    char name[NAME];
    name_of(name, channel, "age");
    state_put_by_rank(writer, name, TENSOR_I64, channel->ring.rounds, channel->age);
}

void channel_save(Channel *channel, bool rows, StateWriter *writer) {
    assert(!channel_in_flight(channel));
    if (rows)
        save_rows(channel, writer);
    if (channel->options.skips)
        save_ages(channel, writer);
    if (box_remembers(&channel->options))
        save_residuals(channel, writer);
}

// --- restoring

// Have the buffers room for rows of that type?
static bool has_room(const Channel *channel) {
    return channel->rows_are == ROWS_BF16 ? channel->options.rows == ROWS_BF16
                                          : box_rows_are(&channel->options) == ROWS_FP32;
}

static bool restore_rows(Channel *channel, const StateReader *reader, Error *err) {
    char name[NAME];
    int64_t kept = 0;
    name_of(name, channel, "kept");
    if (!state_get(reader, name, TENSOR_I64, 1, &kept, err))
        return false;
    channel->rows_are = kept == kept_as(ROWS_BF16) ? ROWS_BF16 : ROWS_FP32;
    if (kept != 0 && (kept != kept_as(channel->rows_are) || !has_room(channel)))
        return error_set(err, EXIT_DATA,
                         "the halo rows of %s are of another kind than this training's; train "
                         "from the start, or with the version that wrote them",
                         exchange_name(channel->id, name));
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

static bool restore_residuals(Channel *channel, const StateReader *reader, Error *err) {
    char name[NAME];
    name_of(name, channel, "exchanges");
    int64_t direct = 0;
    bool ok = state_get(reader, name, TENSOR_I64, 1, &channel->exchanges, err);
    name_of(name, channel, "direct");
    ok = ok && state_get(reader, name, TENSOR_I64, 1, &direct, err);
    channel->direct = direct != 0;
    exchange_name(channel->id, name);
    for (int flow = 0; ok && flow < FLOWS; flow++)
        ok = box_restore(&channel->box[flow], name, reader, err);
    return ok;
}

static bool restore_ages(Channel *channel, const StateReader *reader, Error *err) {
    char name[NAME];
    name_of(name, channel, "age");
    return state_get_by_rank(reader, name, TENSOR_I64, channel->ring.rounds, channel->age, err);
}

bool channel_restore(Channel *channel, bool rows, const StateReader *reader, Error *err) {
    assert(!channel_in_flight(channel));
    return (!rows || restore_rows(channel, reader, err)) &&
           (!channel->options.skips || restore_ages(channel, reader, err)) &&
           (!box_remembers(&channel->options) || restore_residuals(channel, reader, err));
}
