// A channel's row memories. Both ends go through the same steps with the same bytes, so that their
// memories stay equal bit for bit:
//
//   sender     rows --before_encode--> encoded rows --codec--> bytes --codec--> after_decode
//   receiver                                                   bytes --codec--> after_decode -->
//   rows

#include "buffers.h"

static const RowMemory *memory_of(const CodecOptions *options) {
    const RowMemory *memory = options->memory;
    return memory != NULL && memory->bytes != NULL ? memory : NULL;
}

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

static int64_t longest_message(const HaloPlan *plan) {
    int64_t most = 0;
    for (int g = 0; g + 1 < plan->size; g++)
        if (channel_group_rows(plan, OUTGOING, g) > most)
            most = channel_group_rows(plan, OUTGOING, g);
    return most;
}

// --- making

static void alloc_side(RowMemories *m, const Channel *channel, const Allocator *allocator,
                       int side) {
    const char *what = "memories of rows";
    int rounds = channel->plan->size - 1;
    size_t end = 0;
    m->place[side] = alloc_host(allocator, (size_t)(rounds + 1) * sizeof end, what);
    for (int g = 0; g < rounds; g++) {
        end += aligned(m->of->bytes(channel_group_rows(channel->plan, side, g), channel->columns));
        if (m->place[side] != NULL)
            m->place[side][g + 1] = end;
    }
    m->memory[side] = alloc_device(allocator, end, what);
}

static size_t row_bytes(const Channel *channel) {
    return (size_t)longest_message(channel->plan) * sizeof(int32_t);
}

static size_t gid_bytes(const Channel *channel) {
    return (size_t)channel_side_rows(channel->plan, OUTGOING) * sizeof(int64_t);
}

void row_memories_alloc(RowMemories *m, const Channel *channel, const Allocator *allocator) {
    const char *what = "memories of rows";
    *m = (RowMemories){.of = memory_of(&channel->options)};
    if (m->of == NULL)
        return;
    for (int side = 0; side < SIDES; side++)
        alloc_side(m, channel, allocator, side);
    m->rows = alloc_rows(allocator, longest_message(channel->plan), channel->columns, what);
    m->device_row = alloc_device(allocator, row_bytes(channel), what);
    m->device_gid = alloc_device(allocator, gid_bytes(channel), what);
    m->row = alloc_pinned_side(allocator, m->device_row, row_bytes(channel), what);
    m->gid = alloc_pinned_side(allocator, m->device_gid, gid_bytes(channel), what);
}

void row_memories_fill(RowMemories *m, const Channel *channel) {
    const Backend *b = channel->buffers->backend;
    const HaloPlan *plan = channel->plan;
    if (m->of == NULL)
        return;
    for (int side = 0; side < SIDES; side++)
        b->message_zero(m->memory[side], m->place[side][plan->size - 1]);
    for (int64_t k = 0; k < longest_message(plan); k++)
        m->row[k] = (int32_t)k;
    for (int64_t k = 0; k < channel_side_rows(plan, OUTGOING); k++)
        m->gid[k] = plan->source_id[plan->send_row[k]];
    b->message_upload(m->device_row, m->row, row_bytes(channel));
    b->message_upload(m->device_gid, m->gid, gid_bytes(channel));
}

void row_memories_clear(RowMemories *m, const Backend *backend) {
    if (m->of == NULL)
        return;
    pinned_side_free(backend, m->gid);
    pinned_side_free(backend, m->row);
    backend->free(m->device_gid);
    backend->free(m->device_row);
    rows_free(backend, &m->rows);
    for (int side = 0; side < SIDES; side++) {
        backend->free(m->memory[side]);
        memory_free(m->place[side]);
    }
}

// --- the steps

static bool is_used(const Channel *channel) {
    return channel->memories.of != NULL && channel->memories.used;
}

static DeviceByte *memory_at(const RowMemories *m, int side, int group) {
    return byte_window(m->memory[side], (int64_t)m->place[side][group]);
}

// Rows come before partial sums in every group, since its list ascends.
static int64_t own_rows(const HaloPlan *plan, int group) {
    int64_t at = plan->send_offset[group];
    while (at < plan->send_offset[group + 1] && plan->send_row[at] < plan->sources)
        at++;
    return at - plan->send_offset[group];
}

void row_memories_before_encode(Channel *channel, int group, MessageSource *source,
                                const Poll *poll) {
    const Backend *b = channel->buffers->backend;
    const RowMemories *m = &channel->memories;
    if (!is_used(channel))
        return;
    int64_t count = channel_group_rows(channel->plan, OUTGOING, group);
    int64_t own = own_rows(channel->plan, group);
    DeviceByte *scratch = channel_message(channel, OUTGOING, group);
    b->pack_fp32(scratch, source, count, poll);
    b->unpack_fp32(m->rows, 0, scratch, count, poll);
    m->of->before_encode(b, memory_at(m, OUTGOING, group), rows_first(m->rows, count), poll);
    source->x = rows_first(m->rows, own);
    source->scale = NULL;
    source->sums = rows_range(m->rows, (Range){own, count});
    source->row = m->device_row;
    source->gid = int64_window(m->device_gid, channel->plan->send_offset[group]);
}

void row_memories_after_encode(Channel *channel, int group, const MessageLayout *layout,
                               const Poll *poll) {
    const Backend *b = channel->buffers->backend;
    const RowMemories *m = &channel->memories;
    if (!is_used(channel))
        return;
    channel->codec->decode(b, m->rows, 0, layout, channel_message(channel, OUTGOING, group), poll);
    m->of->after_decode(b, memory_at(m, OUTGOING, group), rows_first(m->rows, layout->rows), poll);
}

void row_memories_after_decode(Channel *channel, int group) {
    const int64_t *offset = channel->plan->receive_offset;
    const RowMemories *m = &channel->memories;
    if (!is_used(channel))
        return;
    m->of->after_decode(
        channel->buffers->backend, memory_at(m, INCOMING, group),
        rows_range(channel_rows(channel), (Range){offset[group], offset[group + 1]}),
        &channel->poll);
}
