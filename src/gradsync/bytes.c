// Bytes that a sum sends, foreseen.

#include "internal.h"

// Of a message that holds a slice, with its header; at most, where the codec varies.
static int64_t slice_bytes(const GradForm *form, const Codec *codec, const int32_t *length,
                           int64_t units) {
    MessageLayout layout = {
        .rows = units, .columns = form->bucket, .length = length, .values = form->options.values};
    return units == 0 ? 0 : MESSAGE_HEADER_BYTES + (int64_t)codec->bytes(&layout);
}

// Each slice goes from all others to its owner, and back to them.
static int64_t coded_bytes(const GradForm *form, const GradSync *sync, const int32_t *length) {
    const Codec *up = form->options.codec, *down = form->full_sums ? full_precision() : up;
    int size = sync->comm->size;
    int64_t bytes = 0;
    for (int i = 0; i < sync->chunks * size; i++) {
        const Chunk *chunk = &sync->chunk[i / size];
        int64_t units = slice_units(chunk, i % size);
        const int32_t *from = length + slice_begin(chunk, i % size);
        bytes += slice_bytes(form, up, from, units) + slice_bytes(form, down, from, units);
    }
    return bytes * (size - 1);
}

static int64_t full_bytes(int64_t count, int size) {
    int64_t bytes = 0;
    for (int rank = 0; rank < size; rank++)
        bytes += gradsync_bytes_of(count, size, rank);
    return bytes;
}

static int64_t low_rank_bytes_of(const GradForm *form, int size) {
    int64_t floats[2];
    low_rank_floats(form, floats);
    return full_bytes(floats[0], size) + full_bytes(floats[1], size);
}

int64_t gradsync_bytes_most_of(const GradForm *form, int size) {
    Comm comm = {.size = size};
    if (form->rank > 0 && size > 1)
        return low_rank_bytes_of(form, size);
    if (form->options.codec == NULL)
        return full_bytes(form->count, size);
    GradSync sync = sync_of(&comm, NULL, form);
    FREED int32_t *length = ALLOC(int32_t, sync.cut.units, "gradients");
    bucket_lengths(length, &sync.cut);
    int64_t bytes = coded_bytes(form, &sync, length);
    MEMORY_FREE(sync.chunk, sync.cut.bucket);
    return bytes;
}
