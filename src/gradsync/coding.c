// A sum whose shares and sums are coded. A slice is rows of buckets; a MessageBox makes its bytes.
//
//   every rank   share of slice o  --up, sent-->  owner o           for each other owner o
//   owner        shares of ranks 0, 1, 2, ... decoded and added in this order
//                sum  --down, sent-->  all ranks, the owner too     coded once
//   every rank   sums  decoded
//
// An owner reads its own message as the others do, so that all ranks hold the same bits. A chunk
// codes one slice each time it advances: who polls waits no longer than that.

#include "internal.h"

// ---- floats

// Row i holds the floats of bucket first + i, filled up with zeros.
static void gather(const GradSync *sync, Rows rows, int64_t first) {
    for (int64_t i = 0; i < rows.count; i++) {
        int64_t begin = unit_begin(&sync->cut, first + i);
        int64_t floats = unit_begin(&sync->cut, first + i + 1) - begin;
        float *row = row_at(sync->coding, rows, i);
        memcpy(row, sync->shares + begin, (size_t)floats * sizeof *row);
        memset(row + floats, 0, (size_t)(rows.stride - floats) * sizeof *row);
    }
}

static void scatter(const GradSync *sync, Rows rows, int64_t first) {
    for (int64_t i = 0; i < rows.count; i++) {
        int64_t begin = unit_begin(&sync->cut, first + i);
        int64_t floats = unit_begin(&sync->cut, first + i + 1) - begin;
        memcpy(sync->shares + begin, row_at(sync->coding, rows, i), (size_t)floats * sizeof(float));
    }
}

static void add(const Coding *c, Rows sum, Rows share) {
    float *to = row_at(c, sum, 0);
    const float *from = row_at(c, share, 0);
    for (int64_t i = 0; i < sum.count * sum.stride; i++)
        to[i] += from[i];
}

// ---- one slice

static int chunk_index(const GradSync *sync, const Chunk *chunk) {
    return (int)(chunk - sync->chunk);
}

static int message_at(const GradSync *sync, const Chunk *chunk, int way, int flow, int i) {
    return chunk_index(sync, chunk) * messages_of(sync->coding, way, flow) + i;
}

static BoxStep step_of(const GradSync *sync, int way) {
    return box_step(&sync->coding->options[way], sync->sums);
}

// Of the parameter that holds this float; NULL without spans.
static const char *name_at(const Coding *c, int64_t at) {
    int i = c->spans - 1;
    while (i > 0 && c->span[i].begin > at)
        i--;
    return c->span[i].name;
}

// A value that cannot be coded ends the job.
static void check_finite(const GradSync *sync, const MessageBox *box, int message, int64_t first) {
    int64_t bad = box->bad[message] - 1;
    if (bad >= 0)
        check_gradient(false, name_at(sync->coding, unit_begin(&sync->cut, first + bad)),
                       sync->epoch);
}

// A message that lies in its box.
typedef struct Coded {
    int message;
    int64_t bytes;
    uint64_t checksum; // of its payload
} Coded;

// Codes rows of the buckets from `first` on.
static Coded encode(GradSync *sync, int way, int message, Rows rows, int64_t first) {
    Coding *c = sync->coding;
    MessageBox *box = &c->box[way][OUTGOING];
    MessageSource source = {
        .x = rows,
        .partials = {.columns = rows.columns, .stride = rows.stride},
        .row = (const void *)c->row,
        .gid = (const void *)(c->id + first),
        .random = random_of_kind(random_key(sync->seed, RANDOM_GRADIENT, sync->epoch, 0, way),
                                 sync->random),
        .peer = c->rank};
    Coded coded = {.message = message};
    if (rows.count == 0)
        return coded;
    coded.bytes = box_encode(box, message, step_of(sync, way), source, rows.count, NULL);
    box_download(box, message, coded.bytes, NULL);
    box_wait_made(box, message, NULL);
    check_finite(sync, box, message, first);
    coded.checksum = box_checksum(box, message, coded.bytes, NULL);
    return coded;
}

// What a header says of the slice of `owner`.
static MessageHeader header_of(const GradSync *sync, const Chunk *chunk, int way, int from, int to,
                               int owner) {
    return (MessageHeader){.layer = (uint8_t)chunk_index(sync, chunk),
                           .direction = (uint8_t)(GRADIENT_SHARES + way),
                           .epoch = sync->epoch,
                           .source = (uint32_t)from,
                           .target = (uint32_t)to,
                           .columns = (uint32_t)sync->coding->slice.columns,
                           .sequence = (uint64_t)sync->sums,
                           .rows = (uint64_t)slice_units(chunk, owner)};
}

// Headers of all coded messages say their length, so that a wrong one is found before it is used.
static void set_outgoing(GradSync *sync, Chunk *chunk, int way, int g, Coded coded) {
    Coding *c = sync->coding;
    Transfer *transfer = &chunk->ring.transfer[g][OUTGOING];
    const MessageBox *box = &c->box[way][OUTGOING];
    int owner = way == UP ? transfer->peer : c->rank;
    transfer->varies = box_rows(box, coded.message) > 0; // rows may take no byte
    transfer->bytes = coded.bytes;
    transfer->payload = box_host_message(box, coded.message);
    transfer->header = header_of(sync, chunk, way, c->rank, transfer->peer, owner);
    transfer->header.bytes = (uint64_t)coded.bytes;
    transfer->header.payload = coded.checksum;
    message_seal(&transfer->header);
}

static void set_incoming(GradSync *sync, Chunk *chunk, int way, int g) {
    Coding *c = sync->coding;
    Transfer *transfer = &chunk->ring.transfer[g][INCOMING];
    const MessageBox *box = &c->box[way][INCOMING];
    int message = message_at(sync, chunk, way, INCOMING, way == UP ? g : transfer->peer);
    int owner = way == UP ? c->rank : transfer->peer;
    transfer->varies = box_rows(box, message) > 0;
    transfer->bytes = 0;
    transfer->payload = box_host_message(box, message);
    transfer->expected = header_of(sync, chunk, way, transfer->peer, c->rank, owner);
    transfer->expected.bytes = (uint64_t)box_bytes(box, step_of(sync, way), message);
}

// The rows of message `message`, whose bytes have arrived.
static void decode(GradSync *sync, int way, int message, Rows rows, int64_t bytes) {
    if (rows.count > 0)
        box_decode(&sync->coding->box[way][INCOMING], message, step_of(sync, way), rows, 0, bytes,
                   NULL);
}

// The same, of a message of another rank, once its payload is found to be what was sent.
static void decode_received(GradSync *sync, Chunk *chunk, int way, int rank, Rows rows) {
    Coding *c = sync->coding;
    const Transfer *transfer = &chunk->ring.transfer[ring_round(c->rank, rank, c->size)][INCOMING];
    const MessageBox *box = &c->box[way][INCOMING];
    int i = way == UP ? ring_round(c->rank, rank, c->size) : rank;
    int message = message_at(sync, chunk, way, INCOMING, i);
    MessageHeader expected = transfer->expected;
    Error err = {0};
    if (rows.count == 0)
        return;
    if (step_of(sync, way).codec->varies)
        expected.bytes = (uint64_t)transfer->bytes;
    uint64_t sum = message_payload_checksum(transfer->payload, (size_t)transfer->bytes, NULL);
    CHECK(message_check(&transfer->header, &expected, &sum, &err), EXIT_INTEGRITY, "%s", err.text);
    assert(transfer->payload == box_host_message(box, message));
    decode(sync, way, message, rows, transfer->bytes);
}

// ---- the steps of a chunk

// Share `g` of the other ranks' slices becomes bytes.
static void code_share(GradSync *sync, Chunk *chunk, int g) {
    Coding *c = sync->coding;
    int owner = ring_reader(c->rank, g, c->size),
        message = message_at(sync, chunk, UP, OUTGOING, g);
    int64_t first = slice_begin(chunk, owner);
    Rows rows = rows_first(c->slice, slice_units(chunk, owner));
    gather(sync, rows, first);
    note_moments(c, chunk_index(sync, chunk), owner, rows);
    note_memory(c, chunk_index(sync, chunk), owner, message, rows);
    set_outgoing(sync, chunk, UP, g, encode(sync, UP, message, rows, first));
}

static Rows sum_of(const GradSync *sync, const Chunk *chunk) {
    const int64_t *offset = sync->coding->offset[DOWN][OUTGOING] + chunk_index(sync, chunk);
    return rows_range(sync->coding->sum, (Range){offset[0], offset[1]});
}

// sum = share of rank 0 + share of rank 1 + ..., one after the other. The own share is not coded.
static void add_share(GradSync *sync, Chunk *chunk, int rank) {
    Coding *c = sync->coding;
    Rows sum = sum_of(sync, chunk), to = rank == 0 ? sum : rows_first(c->slice, sum.count);
    if (rank == c->rank) {
        gather(sync, to, slice_begin(chunk, rank));
        note_moments(c, chunk_index(sync, chunk), rank, to);
    } else {
        decode_received(sync, chunk, UP, rank, to);
    }
    if (rank > 0)
        add(c, sum, to);
}

// All other ranks are sent the same bytes; this one reads them, too.
static void code_sum(GradSync *sync, Chunk *chunk) {
    Coding *c = sync->coding;
    int message = message_at(sync, chunk, DOWN, OUTGOING, 0);
    int own = message_at(sync, chunk, DOWN, INCOMING, c->rank);
    Coded coded = encode(sync, DOWN, message, sum_of(sync, chunk), slice_begin(chunk, c->rank));
    for (int g = 0; g + 1 < c->size; g++)
        set_outgoing(sync, chunk, DOWN, g, coded);
    memcpy(box_host_message(&c->box[DOWN][INCOMING], own),
           box_host_message(&c->box[DOWN][OUTGOING], message), (size_t)coded.bytes);
    chunk->own_bytes = coded.bytes;
}

static void read_sum(GradSync *sync, Chunk *chunk, int owner) {
    Coding *c = sync->coding;
    Rows rows = rows_first(c->slice, slice_units(chunk, owner));
    if (owner == c->rank)
        decode(sync, DOWN, message_at(sync, chunk, DOWN, INCOMING, owner), rows, chunk->own_bytes);
    else
        decode_received(sync, chunk, DOWN, owner, rows);
    scatter(sync, rows, slice_begin(chunk, owner));
}

bool coding_step(GradSync *sync, Chunk *chunk) {
    int size = sync->coding->size, i = chunk->coded++;
    if (chunk->state == SHARES_DOWNLOADED) {
        code_share(sync, chunk, i);
        return i + 1 == size - 1;
    }
    if (chunk->state == SUMS_ARRIVED) {
        read_sum(sync, chunk, i);
        return i + 1 == size;
    }
    if (i < size)
        add_share(sync, chunk, i);
    else
        code_sum(sync, chunk);
    return i == size;
}

void coding_set_incoming(GradSync *sync, Chunk *chunk, int way) {
    for (int g = 0; g < chunk->ring.rounds; g++)
        set_incoming(sync, chunk, way, g);
}
