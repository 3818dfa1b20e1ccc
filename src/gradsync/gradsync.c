// Weight gradients between ranks, in rank order. The idea: the flat array is cut into chunks, and
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

#include "fringe/gradsync.h"

#include "fringe/wire.h"

#include <string.h>

// All messages of a chunk are posted at once. With many ranks there are few chunks, at last one.
enum {
    SLICE = 8192, // least floats of a slice: MPI sends them eagerly, and fewer would cost the same
    CHUNKS = 32,  // at most
};

typedef enum State {
    SHARES_DOWNLOADED,
    SHARES_FLY,
    SUMS_FLY,
    SUMMED
} State; // of a chunk in flight

typedef struct Chunk {
    State state;
    int64_t begin, end;      // in the gradient
    int64_t slice;           // floats that a rank owns; the last ranks may own fewer
    float *received;         // [size, slice]
    DeviceEvent *downloaded; // owned: its shares are on the host
    RingTransfer ring;       // its messages: shares, then sums
} Chunk;

struct GradSync {
    const Comm *comm;  // borrowed
    Endpoint endpoint; // of all chunks
    int64_t count;
    int64_t made;           // elements [made, count) are made
    const Backend *backend; // borrowed
    DeviceFloat *gradient;  // borrowed from the first gradsync_made to gradsync_finish
    float *shares;          // its host side, which MPI reads and writes
    float *pinned;          // [count] owned: that, where the host may not touch the gradient
    int chunks;
    int flown; // chunks that were sent for this sum: the last ones of the array
    Chunk *chunk;
    float *received;
};

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Floats of a slice of all chunks but the last.
static int64_t slice_of(int64_t count, int size) {
    int64_t slice = ceil_div(ceil_div(count, CHUNKS), size);
    return slice < SLICE ? SLICE : slice;
}

static int chunks_of(int64_t count, int size) {
    return size == 1 ? 0 : (int)ceil_div(count, slice_of(count, size) * size);
}

// --- making

// Which floats the i-th chunk holds, and how many of them a rank owns.
static Chunk chunk_of(int64_t count, int size, int i) {
    int64_t whole = slice_of(count, size) * size, begin = i * whole;
    int64_t end = begin + whole < count ? begin + whole : count;
    return (Chunk){.begin = begin, .end = end, .slice = ceil_div(end - begin, size)};
}

static void cut(GradSync *sync) {
    int size = sync->comm->size;
    for (int i = 0; i < sync->chunks; i++) {
        Chunk chunk = chunk_of(sync->count, size, i);
        chunk.received = sync->received + chunk.begin;
        chunk.downloaded = sync->backend->event_new();
        chunk.ring = sync->chunk[i].ring;
        ring_transfer_open(&chunk.ring, &sync->endpoint, i * ring_slots(&chunk.ring.form, size));
        sync->chunk[i] = chunk;
    }
}

// Slices are rounded up, so a chunk may receive a little more than it is long.
static int64_t received_floats(int64_t count, int size) { return size == 1 ? 0 : count + size; }

// All messages of a chunk are in flight at once, each in one piece. The tag is the chunk: between
// two ranks its shares go before its sums.
static RingForm ring_form(int size, int chunk) {
    return (RingForm){
        .piece = INT32_MAX - 1, .window = size, .in_flight = 1, .tag = chunk, .tags = 1};
}

static void alloc_rings(GradSync *sync, MemoryPlan *plan, int size) {
    RingForm form = ring_form(size, 0);
    endpoint_alloc(&sync->endpoint, plan, sync->chunks * ring_slots(&form, size));
    for (int i = 0; i < sync->chunks; i++) {
        RingTransfer planned, *ring = plan != NULL ? &planned : &sync->chunk[i].ring;
        ring_transfer_alloc(ring, plan, size, ring_form(size, i));
    }
}

static void alloc_buffers(GradSync *sync, const Allocator *allocator, int size) {
    size_t bytes = memory_product(received_floats(sync->count, size), sizeof(float));
    sync->chunk = alloc_host(allocator, memory_product(sync->chunks, sizeof(Chunk)), "gradients");
    alloc_rings(sync, allocator->plan, size);
    sync->received = alloc_pinned(allocator, bytes, "gradients on their way");
    if (!allocator->backend->host_is_device)
        sync->pinned =
            alloc_pinned(allocator, memory_product(sync->count, sizeof(float)), "gradients");
}

static GradSync sync_of(const Backend *backend, int64_t count, int size) {
    return (GradSync){
        .backend = backend, .count = count, .made = count, .chunks = chunks_of(count, size)};
}

GradSync *gradsync_new(const Comm *comm, const Backend *backend, int64_t count) {
    assert(count >= 0 && slice_of(count, comm->size) <= INT32_MAX / (int64_t)sizeof(float));
    GradSync *sync = ALLOC(GradSync, 1, "gradients");
    *sync = sync_of(backend, count, comm->size);
    sync->comm = comm;
    alloc_buffers(sync, &(Allocator){.backend = backend}, comm->size);
    endpoint_open(&sync->endpoint, comm);
    cut(sync);
    return sync;
}

void gradsync_plan(MemoryPlan *plan, const Backend *backend, int64_t count, int size) {
    GradSync sync = sync_of(backend, count, size);
    alloc_buffers(&sync, &(Allocator){.backend = backend, .plan = plan}, size);
}

void gradsync_free(GradSync *sync) {
    if (sync == NULL)
        return;
    assert(sync->flown == 0);
    for (int i = 0; i < sync->chunks; i++) {
        sync->backend->event_free(sync->chunk[i].downloaded);
        ring_transfer_clear(&sync->chunk[i].ring);
    }
    sync->backend->free_pinned(sync->pinned);
    sync->backend->free_pinned(sync->received);
    endpoint_clear(&sync->endpoint);
    memory_free(sync->chunk);
    memory_free(sync);
}

// --- a chunk on its way

// The slice of rank r: where it begins in the gradient, and its floats.
static int64_t slice_begin(const Chunk *chunk, int r) {
    int64_t begin = chunk->begin + r * chunk->slice;
    return begin < chunk->end ? begin : chunk->end;
}

static int slice_floats(const Chunk *chunk, int r) {
    int64_t left = chunk->end - slice_begin(chunk, r);
    return (int)(left < chunk->slice ? left : chunk->slice);
}

static void set_message(Transfer *transfer, float *at, int floats) {
    transfer->payload = (unsigned char *)at;
    transfer->bytes = (int64_t)floats * (int64_t)sizeof *at;
}

static size_t chunk_bytes(const Chunk *chunk) {
    return (size_t)(chunk->end - chunk->begin) * sizeof(float);
}

// The download runs after the operations that make the elements, which are on the same stream.
static void download_shares(GradSync *sync, Chunk *chunk) {
    sync->backend->download(sync->shares + chunk->begin, flat_window(sync->gradient, chunk->begin),
                            chunk_bytes(chunk));
    sync->backend->event_record(chunk->downloaded, STREAM_COMPUTE);
    chunk->state = SHARES_DOWNLOADED;
}

static void send_shares(GradSync *sync, Chunk *chunk) {
    int own = slice_floats(chunk, sync->comm->rank);
    for (int g = 0; g < chunk->ring.rounds; g++) {
        Transfer *in = &chunk->ring.transfer[g][INCOMING],
                 *out = &chunk->ring.transfer[g][OUTGOING];
        set_message(in, chunk->received + in->peer * chunk->slice, own);
        set_message(out, sync->shares + slice_begin(chunk, out->peer),
                    slice_floats(chunk, out->peer));
    }
    ring_transfer_post(&chunk->ring);
    chunk->state = SHARES_FLY;
}

// own slice = ((share of rank 0 + share of rank 1) + share of rank 2) + ...
static void add_in_rank_order(GradSync *sync, Chunk *chunk) {
    int rank = sync->comm->rank, floats = slice_floats(chunk, rank);
    float *sum = sync->shares + slice_begin(chunk, rank);
    if (floats == 0)
        return;
    memcpy(chunk->received + rank * chunk->slice, sum, (size_t)floats * sizeof *sum);
    memcpy(sum, chunk->received, (size_t)floats * sizeof *sum);
    for (int r = 1; r < sync->comm->size; r++)
        for (int i = 0; i < floats; i++)
            sum[i] += chunk->received[r * chunk->slice + i];
}

// The shares that the sums overwrite have been sent.
static void send_sums(GradSync *sync, Chunk *chunk) {
    int rank = sync->comm->rank;
    add_in_rank_order(sync, chunk);
    for (int g = 0; g < chunk->ring.rounds; g++) {
        Transfer *in = &chunk->ring.transfer[g][INCOMING],
                 *out = &chunk->ring.transfer[g][OUTGOING];
        set_message(in, sync->shares + slice_begin(chunk, in->peer), slice_floats(chunk, in->peer));
        set_message(out, sync->shares + slice_begin(chunk, rank), slice_floats(chunk, rank));
    }
    ring_transfer_post(&chunk->ring);
    chunk->state = SUMS_FLY;
}

static void land(GradSync *sync, Chunk *chunk) {
    sync->backend->upload(flat_window(sync->gradient, chunk->begin), sync->shares + chunk->begin,
                          chunk_bytes(chunk));
    chunk->state = SUMMED;
}

static void advance(GradSync *sync, Chunk *chunk) {
    if (chunk->state == SHARES_DOWNLOADED) {
        if (sync->backend->event_reached(chunk->downloaded))
            send_shares(sync, chunk);
        return;
    }
    ring_transfer_progress(&chunk->ring);
    if (!ring_transfer_over(&chunk->ring))
        return;
    if (chunk->state == SHARES_FLY)
        send_sums(sync, chunk);
    else
        land(sync, chunk);
}

// --- the door

void gradsync_progress(void *context) {
    GradSync *sync = context;
    comm_beat(sync->comm);
    for (int i = sync->chunks - 1; i >= sync->chunks - sync->flown; i--)
        if (sync->chunk[i].state != SUMMED)
            advance(sync, &sync->chunk[i]);
}

void gradsync_made(GradSync *sync, DeviceFloat *gradient, int64_t from) {
    assert(0 <= from && from <= sync->made); // more than made: the last sum was not finished
    assert(sync->flown == 0 || sync->gradient == gradient);
    sync->gradient = gradient;
    sync->shares = host_side(sync->backend, gradient, sync->pinned);
    sync->made = from;
    while (sync->flown < sync->chunks) {
        Chunk *next = &sync->chunk[sync->chunks - 1 - sync->flown];
        if (next->begin < from)
            break;
        download_shares(sync, next);
        sync->flown++;
    }
    gradsync_progress(sync);
}

// Each chunk is a wait of its own, so that the time limit tells a slow network from a hung rank.
typedef struct Arrival {
    GradSync *sync;
    const Chunk *chunk;
} Arrival;

static bool arrived(void *context) {
    Arrival *arrival = context;
    gradsync_progress(arrival->sync);
    return arrival->chunk->state == SUMMED;
}

void gradsync_finish(GradSync *sync, DeviceFloat *gradient) {
    gradsync_made(sync, gradient, 0);
    for (int i = sync->chunks - 1; i >= 0; i--) {
        sync->backend->event_wait(sync->chunk[i].downloaded, &(Poll){gradsync_progress, sync});
        comm_wait_until(sync->comm, arrived, &(Arrival){sync, &sync->chunk[i]},
                        "the sum of the weight gradients");
    }
    sync->flown = 0;
    sync->made = sync->count;
}

int64_t gradsync_bytes_of(int64_t count, int size, int rank) {
    int64_t floats = 0; // the shares of others, and the own sum to all of them
    for (int i = 0; i < chunks_of(count, size); i++) {
        Chunk chunk = chunk_of(count, size, i);
        int own = slice_floats(&chunk, rank);
        floats += chunk.end - chunk.begin - own + (int64_t)own * (size - 1);
    }
    return floats * (int64_t)sizeof(float);
}

int64_t gradsync_bytes(const GradSync *sync) {
    return gradsync_bytes_of(sync->count, sync->comm->size, sync->comm->rank);
}
