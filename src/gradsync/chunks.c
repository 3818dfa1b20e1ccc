// How the flat gradient is cut: into chunks, and these into slices, one of each rank.

#include "internal.h"

// All messages of a chunk are posted at once. With many ranks there are few chunks, at last one.
enum { CHUNKS = 32 }; // at most

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Units of a slice of all chunks but the last.
static int64_t slice_of(int64_t units, int64_t least, int size) {
    int64_t slice = ceil_div(ceil_div(units, CHUNKS), size);
    return slice < least ? least : slice;
}

// Chunks of so many units; `least` units of a slice. None on one rank.
static int chunks_of(int64_t units, int64_t least, int size) {
    return size == 1 ? 0 : (int)ceil_div(units, slice_of(units, least, size) * size);
}

// Which units the i-th chunk holds, and how many of them a rank owns.
static Chunk chunk_of(int64_t units, int64_t least, int size, int i) {
    int64_t whole = slice_of(units, least, size) * size, begin = i * whole;
    int64_t end = begin + whole < units ? begin + whole : units;
    return (Chunk){
        .state = SUMMED, .begin = begin, .end = end, .slice = ceil_div(end - begin, size)};
}

static Cut cut_of(const GradForm *form) {
    Cut cut = {.floats = form->count, .units = form->count};
    if (form->options.codec == NULL)
        return cut;
    cut.units = bucket_count(form);
    cut.bucket = ALLOC(int64_t, cut.units + 1, "gradients");
    buckets_fill(cut.bucket, form);
    return cut;
}

GradSync sync_of(const Comm *comm, const Backend *backend, const GradForm *form) {
    GradSync sync = {.comm = comm,
                     .backend = backend,
                     .cut = cut_of(form),
                     .seed = form->seed,
                     .random = form->random};
    int64_t least = form->options.codec == NULL ? SLICE : ceil_div(SLICE, form->bucket);
    sync.made = form->count;
    sync.chunks = form->rank > 0 ? 0 : chunks_of(sync.cut.units, least, comm->size);
    sync.chunk = ALLOC(Chunk, sync.chunks, "gradients");
    for (int i = 0; i < sync.chunks; i++)
        sync.chunk[i] = chunk_of(sync.cut.units, least, comm->size, i);
    return sync;
}

int64_t gradsync_bytes_of(int64_t count, int size, int rank) {
    int64_t floats = 0; // the shares of others, and the own sum to all of them
    for (int i = 0; i < chunks_of(count, SLICE, size); i++) {
        Chunk chunk = chunk_of(count, SLICE, size, i);
        int64_t own = slice_units(&chunk, rank);
        floats += chunk.end - chunk.begin - own + own * (size - 1);
    }
    return floats * (int64_t)sizeof(float);
}
