// The sum over ranks, in rank order. The idea: the flat array is cut into chunks, and
// of every chunk rank r owns the r-th slice. All ranks send their share of a slice to its owner,
// the owner adds the shares of ranks 0, 1, 2, ... one after the other in float, and sends the sum
// back to all.
//
//   gradient of a rank   [ ... | slice 0 | slice 1 | ... | slice P-1 | ... ]   one chunk
//   received by rank r   [slice r of rank 0 | slice r of rank 1 | ... ]        -> added downwards
//
// A chunk is sent as soon as all of it is made, the last one first. All ranks together send 2 (P-1)
// times the array, however it is cut; shares and sums share the memory of the gradient.
//
// The slowest rank decides how long a sum takes. For every chunk a rank sends and receives at most
// 2 (P-1) messages, and an owner sends that many. Fewer owners would not save any rank a message,
// but would give some ranks more bytes. So all ranks own an equal slice of every chunk, and the
// number of messages is kept small by a small number of chunks: SLICE is the least size of a slice.

#include "internal.h"

// --- making

// All messages of a chunk are in flight at once, each in one piece (and its header). Tags tell
// chunks apart: between two ranks the shares of a chunk go before its sums.
static RingForm ring_form(bool coded, int size, int chunk) {
    int pieces = coded ? 2 : 1;
    return (RingForm){.piece = INT32_MAX - 1,
                      .rounds_in_flight = size,
                      .in_flight = pieces,
                      .headers = coded,
                      .tag = chunk * pieces,
                      .tags = pieces};
}

static void alloc_rings(GradSync *sync, const Allocator *allocator, bool coded, int size) {
    RingForm form = ring_form(coded, size, 0);
    endpoint_alloc(&sync->endpoint, allocator, sync->chunks * ring_slots(&form, size));
    for (int i = 0; i < sync->chunks; i++)
        ring_transfer_alloc(&sync->chunk[i].ring, allocator, size, ring_form(coded, size, i));
}

static void alloc_buffers(GradSync *sync, const GradForm *form, const Allocator *allocator,
                          int size) {
    bool coded = form->options.codec != NULL;
    // Slices are rounded up, so a chunk may receive a little more than it is long.
    int64_t received = sync->chunks == 0 ? 0 : sync->cut.floats + size;
    alloc_rings(sync, allocator, coded, size);
    if (coded && size > 1)
        sync->coding = coding_new(sync, form, allocator->forecast);
    else
        sync->received = alloc_pinned(allocator, memory_product(received, sizeof(float)),
                                      "gradients on their way");
    if (!allocator->backend->host_is_device)
        sync->pinned =
            alloc_pinned(allocator, memory_product(form->count, sizeof(float)), "gradients");
}

GradSync *sum_new(const Comm *comm, const Backend *backend, const GradForm *form) {
    GradSync *sync = ALLOC(GradSync, 1, "gradients");
    *sync = sync_of(comm, backend, form);
    alloc_buffers(sync, form, &(Allocator){.backend = backend, .taken = &sync->taken}, comm->size);
    endpoint_open(&sync->endpoint, comm);
    for (int i = 0; i < sync->chunks; i++) {
        Chunk *chunk = &sync->chunk[i];
        chunk->downloaded = backend->event_new();
        ring_transfer_open(&chunk->ring, &sync->endpoint,
                           i * ring_slots(&chunk->ring.form, comm->size));
    }
    if (sync->coding != NULL)
        coding_open(sync);
    return sync;
}

void sum_forecast(MemoryForecast *forecast, const Backend *backend, const GradForm *form,
                  const Comm *comm) {
    GradSync sync = sync_of(comm, backend, form);
    forecast_add(forecast, "gradients", (size_t)sync.chunks * sizeof *sync.chunk);
    if (sync.cut.bucket != NULL)
        forecast_add(forecast, "gradients", (size_t)(sync.cut.units + 1) * sizeof(int64_t));
    alloc_buffers(&sync, form, &(Allocator){.backend = backend, .forecast = forecast}, comm->size);
    coding_free(sync.coding);
    MEMORY_FREE(sync.chunk, sync.cut.bucket);
}

void sum_free(GradSync *sync) {
    if (sync == NULL)
        return;
    assert(sync->flown == 0);
    for (int i = 0; i < sync->chunks; i++)
        sync->backend->event_free(sync->chunk[i].downloaded);
    coding_free(sync->coding);
    endpoint_clear(&sync->endpoint);
    taken_free(&sync->taken);
    MEMORY_FREE(sync->chunk, sync->cut.bucket, sync);
}

// --- a chunk on its way

// The first float of a chunk, and how many it holds.
static int64_t first_float(const GradSync *sync, const Chunk *chunk) {
    return unit_begin(&sync->cut, chunk->begin);
}

static size_t chunk_bytes(const GradSync *sync, const Chunk *chunk) {
    return (size_t)(unit_begin(&sync->cut, chunk->end) - first_float(sync, chunk)) * sizeof(float);
}

// The download runs after the operations that make the elements, which are on the same stream.
static void download_shares(GradSync *sync, Chunk *chunk) {
    int64_t first = first_float(sync, chunk);
    sync->backend->download(sync->shares + first, flat_at(sync->gradient, first),
                            chunk_bytes(sync, chunk));
    sync->backend->event_record(chunk->downloaded, STREAM_COMPUTE);
    chunk->state = SHARES_DOWNLOADED;
    chunk->coded = 0;
}

static void set_message(Transfer *transfer, float *at, int64_t floats) {
    transfer->payload = (unsigned char *)at;
    transfer->bytes = floats * (int64_t)sizeof *at;
}

// Shares of rank r are received in the r-th part of the chunk's room. (Units are floats.)
static float *room_of(const GradSync *sync, const Chunk *chunk, int r) {
    return sync->received + chunk->begin + r * chunk->slice;
}

static void set_floats(GradSync *sync, Chunk *chunk, int way) {
    int rank = sync->comm->rank;
    for (int g = 0; g < chunk->ring.rounds; g++) {
        Transfer *in = &chunk->ring.transfer[g][INCOMING],
                 *out = &chunk->ring.transfer[g][OUTGOING];
        int read = way == UP ? rank : in->peer, sent = way == UP ? out->peer : rank;
        float *to =
            way == UP ? room_of(sync, chunk, in->peer) : sync->shares + slice_begin(chunk, read);
        set_message(in, to, slice_units(chunk, read));
        set_message(out, sync->shares + slice_begin(chunk, sent), slice_units(chunk, sent));
    }
}

static void post(GradSync *sync, Chunk *chunk, int way) {
    if (sync->coding != NULL)
        coding_set_incoming(sync, chunk, way);
    else
        set_floats(sync, chunk, way);
    ring_transfer_post(&chunk->ring);
    chunk->state = way == UP ? SHARES_FLY : SUMS_FLY;
}

// own slice = ((share of rank 0 + share of rank 1) + share of rank 2) + ...
static void add_in_rank_order(GradSync *sync, Chunk *chunk) {
    int rank = sync->comm->rank;
    int64_t floats = slice_units(chunk, rank);
    float *sum = sync->shares + slice_begin(chunk, rank);
    if (floats == 0)
        return;
    memcpy(room_of(sync, chunk, rank), sum, (size_t)floats * sizeof *sum);
    memcpy(sum, room_of(sync, chunk, 0), (size_t)floats * sizeof *sum);
    for (int r = 1; r < sync->comm->size; r++) {
        const float *share = room_of(sync, chunk, r);
        for (int64_t i = 0; i < floats; i++)
            sum[i] += share[i];
    }
}

static void land(GradSync *sync, Chunk *chunk) {
    int64_t first = first_float(sync, chunk);
    sync->backend->upload(flat_at(sync->gradient, first), sync->shares + first,
                          chunk_bytes(sync, chunk));
    chunk->state = SUMMED;
}

// True once the chunk's messages of this state have all arrived and left.
static bool messages_are_over(Chunk *chunk) {
    ring_transfer_progress(&chunk->ring);
    if (!ring_transfer_over(&chunk->ring))
        return false;
    chunk->state++;
    chunk->coded = 0;
    return true;
}

static void advance(GradSync *sync, Chunk *chunk) {
    if (chunk->state == SHARES_DOWNLOADED && !sync->backend->event_reached(chunk->downloaded))
        return;
    if ((chunk->state == SHARES_FLY || chunk->state == SUMS_FLY) && !messages_are_over(chunk))
        return;
    if (sync->coding != NULL && !coding_step(sync, chunk))
        return;
    if (sync->coding == NULL && chunk->state == SHARES_ARRIVED)
        add_in_rank_order(sync, chunk); // what the sums overwrite has been sent
    if (chunk->state == SUMS_ARRIVED)
        land(sync, chunk);
    else
        post(sync, chunk, chunk->state == SHARES_DOWNLOADED ? UP : DOWN);
}

void sum_progress(void *context) {
    GradSync *sync = context;
    comm_beat(sync->comm);
    for (int i = sync->chunks - 1; i >= sync->chunks - sync->flown; i--)
        if (sync->chunk[i].state != SUMMED)
            advance(sync, &sync->chunk[i]);
}

void sum_made(GradSync *sync, DeviceFloat *gradient, int64_t from) {
    assert(0 <= from && from <= sync->made); // more than made: the last sum was not finished
    assert(sync->flown == 0 || sync->gradient == gradient);
    sync->gradient = gradient;
    sync->shares = host_mirror(sync->backend, gradient, sync->pinned);
    sync->made = from;
    while (sync->flown < sync->chunks) {
        Chunk *next = &sync->chunk[sync->chunks - 1 - sync->flown];
        if (first_float(sync, next) < from)
            break;
        download_shares(sync, next);
        sync->flown++;
    }
    sum_progress(sync);
}

bool sum_is_over(const GradSync *sync, int64_t from) {
    for (int i = sync->chunks - 1; i >= 0; i--) {
        if (unit_begin(&sync->cut, sync->chunk[i].end) <= from)
            break;
        if (i < sync->chunks - sync->flown || sync->chunk[i].state != SUMMED)
            return false;
    }
    return true;
}

// Each chunk is a wait of its own, so that the time limit tells a slow network from a hung rank.
typedef struct ChunkWait {
    GradSync *sync;
    const Chunk *chunk;
} ChunkWait;

static bool arrived(void *context) {
    ChunkWait *waiting = context;
    sum_progress(waiting->sync);
    return waiting->chunk->state == SUMMED;
}

void sum_finish(GradSync *sync, DeviceFloat *gradient) {
    sum_made(sync, gradient, 0);
    for (int i = sync->chunks - 1; i >= 0; i--) {
        sync->backend->event_wait(sync->chunk[i].downloaded, &(Poll){sum_progress, sync});
        comm_wait_until(sync->comm, arrived, &(ChunkWait){sync, &sync->chunk[i]},
                        "the sum of the weight gradients");
    }
    sync->flown = 0;
    sync->made = sync->cut.floats;
}

// Since the start.
static int64_t bytes_sent(const GradSync *sync) {
    int64_t bytes = 0;
    for (int i = 0; i < sync->chunks; i++)
        bytes += sync->chunk[i].ring.bytes_sent;
    return bytes;
}

void sum_begin(GradSync *sync, uint32_t epoch) {
    assert(sync->flown == 0);
    sync->epoch = epoch;
    sync->sums++;
    sync->bytes_sent = bytes_sent(sync);
}

int64_t sum_bytes(const GradSync *sync) {
    if (sync->coding != NULL)
        return bytes_sent(sync) - sync->bytes_sent;
    return gradsync_bytes_of(sync->cut.floats, sync->comm->size, sync->comm->rank);
}
