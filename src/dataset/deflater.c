// The idea (pigz, Adler): each block is deflated on its own, with the 32 KiB before it as its
// dictionary, and ends at a whole byte, so that the blocks make one stream. Where blocks end does
// not depend on threads, so neither do the bytes.
//
//   room   | 32 KiB before the batch | block 0 | block 1 | ... | block 15 |

#include "deflater.h"

enum { WINDOW = 1 << 15, MARK = 16 }; // bytes; of what ends a block, at most

struct Deflater {
    unsigned char *in; // [WINDOW + DEFLATER_BATCH]
    size_t before;     // bytes of the window that belong to the stream
    Press block[DEFLATER_BLOCKS];
    int count;       // blocks of the batch that was compressed last
    int current;     // the one that is being taken
    size_t taken;    // of it
    uint64_t passed; // bytes taken of the stream
    uint32_t crc;
};

// ---- one block

bool press_open(Press *p, int level, int window, size_t most, Error *err) {
    p->open = deflateInit2(&p->stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!p->open)
        return error_set(err, EXIT_MEMORY, "no memory to compress what is written");
    p->room = deflateBound(&p->stream, most) + MARK;
    p->out = memory_try(p->room, "compressed blocks", err);
    return p->out != NULL;
}

void press_close(Press *p) {
    if (p->open)
        deflateEnd(&p->stream);
    memory_free(p->out);
}

// The output has room for all, so one call is enough.
void press(Press *p, const void *block, size_t bytes, size_t before, bool last) {
    Bytef *begin = (Bytef *)(uintptr_t)block;
    deflateReset(&p->stream);
    if (before > 0)
        deflateSetDictionary(&p->stream, begin - before, (uInt)before);
    p->stream.next_in = begin;
    p->stream.avail_in = (uInt)bytes;
    p->stream.next_out = p->out;
    p->stream.avail_out = (uInt)p->room;
    int status = deflate(&p->stream, last ? Z_FINISH : Z_SYNC_FLUSH);
    assert(status == (last ? Z_STREAM_END : Z_OK) && p->stream.avail_in == 0);
    (void)status;
    p->bytes = p->room - p->stream.avail_out;
}

// ---- all of them

Deflater *deflater_new(int level, Error *err) {
    Deflater *d = ALLOC(Deflater, 1, "compressing arrays");
    d->in = memory_try(WINDOW + DEFLATER_BATCH, "arrays to compress", err);
    bool ok = d->in != NULL;
    for (int i = 0; ok && i < DEFLATER_BLOCKS; i++)
        ok = press_open(&d->block[i], level, -15, DEFLATER_BLOCK, err);
    if (ok)
        return d;
    deflater_free(d);
    return NULL;
}

void deflater_free(Deflater *d) {
    if (d == NULL)
        return;
    for (int i = 0; i < DEFLATER_BLOCKS; i++)
        press_close(&d->block[i]);
    MEMORY_FREE(d->in, d);
}

void deflater_begin(Deflater *d) {
    d->before = 0;
    d->count = d->current = 0;
    d->taken = 0;
    d->passed = 0;
    d->crc = (uint32_t)crc32(0, NULL, 0);
}

char *deflater_room(Deflater *d) { return (char *)d->in + WINDOW; }

void deflater_compress(Deflater *d, size_t bytes, bool last) {
    assert(bytes == DEFLATER_BATCH || (last && bytes > 0 && bytes < DEFLATER_BATCH));
    d->count = (int)((bytes + DEFLATER_BLOCK - 1) / DEFLATER_BLOCK);
    d->current = 0;
    d->taken = 0;
#pragma omp parallel for schedule(dynamic) if (d->count > 1)
    for (int i = 0; i < d->count; i++) {
        size_t left = bytes - (size_t)i * DEFLATER_BLOCK;
        press(&d->block[i], d->in + WINDOW + (size_t)i * DEFLATER_BLOCK,
              left < DEFLATER_BLOCK ? left : DEFLATER_BLOCK, i > 0 ? WINDOW : d->before,
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
        const Press *block = &d->block[d->current];
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
