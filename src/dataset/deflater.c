// The idea (pigz, Adler): each block is deflated on its own, with the 32 KiB before it as its
// dictionary, and ends at a whole byte, so that the blocks make one stream. Where blocks end does
// not depend on threads, so neither do the bytes.
//
//   room   | 32 KiB before the batch | block 0 | block 1 | ... | block 15 |

#include "deflater.h"

#include <zlib.h>

enum { WINDOW = 1 << 15, MARK = 16 }; // bytes; of what ends a block, at most

typedef struct Block {
    z_stream stream;
    bool open;
    unsigned char *out; // [room]
    size_t bytes;
} Block;

struct Deflater {
    unsigned char *in; // [WINDOW + DEFLATER_BATCH]
    size_t before;     // bytes of the window that belong to the stream
    Block block[DEFLATER_BLOCKS];
    size_t room;
    int count;       // blocks of the batch that was compressed last
    int current;     // the one that is being taken
    size_t taken;    // of it
    uint64_t passed; // bytes taken of the stream
    uint32_t crc;
};

static bool block_open(Block *block, int level, size_t *room, Error *err) {
    block->open =
        deflateInit2(&block->stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!block->open)
        return error_set(err, EXIT_MEMORY, "no memory to compress arrays");
    *room = deflateBound(&block->stream, DEFLATER_BLOCK) + MARK;
    block->out = memory_try(*room, "compressed arrays", err);
    return block->out != NULL;
}

Deflater *deflater_new(int level, Error *err) {
    Deflater *d = ALLOC(Deflater, 1, "compressing arrays");
    d->in = memory_try(WINDOW + DEFLATER_BATCH, "arrays to compress", err);
    bool ok = d->in != NULL;
    for (int i = 0; ok && i < DEFLATER_BLOCKS; i++)
        ok = block_open(&d->block[i], level, &d->room, err);
    if (ok)
        return d;
    deflater_free(d);
    return NULL;
}

void deflater_free(Deflater *d) {
    if (d == NULL)
        return;
    for (int i = 0; i < DEFLATER_BLOCKS; i++) {
        if (d->block[i].open)
            deflateEnd(&d->block[i].stream);
        memory_free(d->block[i].out);
    }
    memory_free(d->in);
    memory_free(d);
}

void deflater_begin(Deflater *d) {
    d->before = 0;
    d->count = d->current = 0;
    d->taken = 0;
    d->passed = 0;
    d->crc = (uint32_t)crc32(0, NULL, 0);
}

char *deflater_room(Deflater *d) { return (char *)d->in + WINDOW; }

// The output has room for all, so one call is enough.
static void compress_block(Deflater *d, int index, size_t bytes, bool last) {
    Block *block = &d->block[index];
    const unsigned char *begin = d->in + WINDOW + (size_t)index * DEFLATER_BLOCK;
    size_t before = index > 0 ? WINDOW : d->before;
    deflateReset(&block->stream);
    if (before > 0)
        deflateSetDictionary(&block->stream, begin - before, (uInt)before);
    block->stream.next_in = (Bytef *)(uintptr_t)begin;
    block->stream.avail_in = (uInt)bytes;
    block->stream.next_out = block->out;
    block->stream.avail_out = (uInt)d->room;
    int status = deflate(&block->stream, last ? Z_FINISH : Z_SYNC_FLUSH);
    assert(status == (last ? Z_STREAM_END : Z_OK) && block->stream.avail_in == 0);
    (void)status;
    block->bytes = d->room - block->stream.avail_out;
}

void deflater_compress(Deflater *d, size_t bytes, bool last) {
    assert(bytes == DEFLATER_BATCH || (last && bytes > 0 && bytes < DEFLATER_BATCH));
    d->count = (int)((bytes + DEFLATER_BLOCK - 1) / DEFLATER_BLOCK);
    d->current = 0;
    d->taken = 0;
#pragma omp parallel for schedule(dynamic) if (d->count > 1)
    for (int i = 0; i < d->count; i++) {
        size_t left = bytes - (size_t)i * DEFLATER_BLOCK;
        compress_block(d, i, left < DEFLATER_BLOCK ? left : DEFLATER_BLOCK,
                       last && i == d->count - 1);
    }
    d->crc = (uint32_t)crc32_z(d->crc, d->in + WINDOW, bytes);
    if (!last)
        memcpy(d->in, d->in + DEFLATER_BATCH, WINDOW);
    d->before = WINDOW;
}

size_t deflater_take(Deflater *d, char *out, size_t room) {
    size_t done = 0;
    while (done < room && d->current < d->count) {
        const Block *block = &d->block[d->current];
        size_t left = block->bytes - d->taken, take = left < room - done ? left : room - done;
        memcpy(out + done, block->out + d->taken, take);
        done += take;
        d->taken += take;
        if (d->taken == block->bytes) {
            d->current++;
            d->taken = 0;
        }
    }
    d->passed += done;
    return done;
}

uint32_t deflater_crc(const Deflater *d) { return d->crc; }
uint64_t deflater_out_bytes(const Deflater *d) { return d->passed; }
