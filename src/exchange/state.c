// The state of a channel in a checkpoint. Each rank has its own rows and residuals; either all
// ranks have rows or none, because all take the same steps.

#include "buffers.h"

enum { NAME = 64 };

static void name_of(char out[NAME], const Channel *channel, const char *what) {
    char exchange[EXCHANGE_NAME];
    snprintf(out, NAME, "%s.%s", exchange_name(channel->id, exchange), what);
}

// What a checkpoint says of rows that are kept: 0, there are none.
static int64_t kept_as(RowsType rows) { return rows == ROWS_BF16 ? 2 : 1; }

// Have the buffers room for rows of that type?
static bool has_room(const Channel *channel) {
    return channel->rows_are == ROWS_BF16 ? channel->options.rows == ROWS_BF16
                                          : box_rows_are(&channel->options) == ROWS_FP32;
}

static bool takes_rows(Channel *channel, int64_t kept, Error *err) {
    char name[NAME];
    channel->rows_are = kept == kept_as(ROWS_BF16) ? ROWS_BF16 : ROWS_FP32;
    return kept == 0 || (kept == kept_as(channel->rows_are) && has_room(channel)) ||
           error_data(err,
                      "the halo rows of %s are of another kind than this training's; train from "
                      "the start, or with the version that wrote them",
                      exchange_name(channel->id, name));
}

static bool walk_rows(Channel *channel, StateWalk *walk, Error *err) {
    const Backend *b = channel->buffers->backend;
    char name[NAME];
    int64_t kept = channel_has_rows(channel) ? kept_as(channel->rows_are) : 0;
    name_of(name, channel, "kept");
    if (!state_replicated(walk, name, TENSOR_I64, 1, &kept, err) ||
        (walk->restores && !takes_rows(channel, kept, err)))
        return false;
    int64_t count = kept != 0 ? channel->plan->halo_count * channel->columns : 0;
    FREED float *rows = ALLOC(float, count, "rows of a checkpoint");
    if (kept != 0 && !walk->restores)
        b->download_rows(rows, channel_rows(channel));
    b->finish(NULL);
    name_of(name, channel, "rows");
    bool ok = state_distributed(walk, name, TENSOR_F32, count, rows, err);
    if (walk->restores)
        channel->has_rows = ok && kept != 0;
    if (walk->restores && channel->has_rows) {
        channel->buffers->user = channel;
        b->upload_rows(channel_rows(channel), rows);
        b->finish(NULL);
    }
    return ok;
}

// What the ends remember, the number of exchanges, which refreshes depend on, and whether rows go
// as they are.
static bool walk_residuals(Channel *channel, StateWalk *walk, Error *err) {
    char name[NAME];
    int64_t direct = channel->direct;
    name_of(name, channel, "exchanges");
    bool ok = state_replicated(walk, name, TENSOR_I64, 1, &channel->exchanges, err);
    name_of(name, channel, "direct");
    ok = ok && state_replicated(walk, name, TENSOR_I64, 1, &direct, err);
    channel->direct = direct != 0;
    exchange_name(channel->id, name);
    for (int flow = 0; ok && flow < FLOWS; flow++)
        ok = box_state(&channel->box[flow], name, walk, err);
    return ok;
}

// How old the rows are that each reader has.
static bool walk_ages(Channel *channel, StateWalk *walk, Error *err) {
    char name[NAME];
    name_of(name, channel, "age");
    return state_distributed(walk, name, TENSOR_I64, channel->ring.rounds, channel->age, err);
}

bool channel_state(Channel *channel, bool rows, StateWalk *walk, Error *err) {
    assert(!channel_in_flight(channel));
    return (!rows || walk_rows(channel, walk, err)) &&
           (!channel->options.skips || walk_ages(channel, walk, err)) &&
           (!box_remembers(&channel->options) || walk_residuals(channel, walk, err));
}
