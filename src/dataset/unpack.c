// Unpacking with libdeflate, which inflates half as fast again as zlib or more, but only a whole
// stream into the whole of its output. So the input is mapped, and a thread gives back its pages
// while it is read: libdeflate looks at each only once, in order.

#include "unpack.h"

#include "fringe/base.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { PIECE = 4 << 20, FEW = 16 << 20, PAUSE = 2000000 }; // bytes; nanoseconds

static bool inflate_whole(const Packed *m) {
    size_t used = 0, got = 0;
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    bool ok = inflater != NULL &&
              libdeflate_deflate_decompress_ex(inflater, m->from, m->packed, m->to, m->bytes, &used,
                                               &got) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(inflater);
    return ok && used == m->packed && got == m->bytes;
}

// Faster than pages could be given back by another thread.
static bool copy_whole(const Packed *m) {
    for (size_t at = 0; m->packed == m->bytes && at < m->bytes; at += PIECE) {
        size_t piece = m->bytes - at < PIECE ? m->bytes - at : PIECE;
        memcpy(m->to + at, m->from + at, piece);
        file_map_release(m->from + at, piece);
    }
    return m->packed == m->bytes;
}

static void unpack(Packed *m) {
    m->sound = (m->deflated ? inflate_whole : copy_whole)(m) &&
               libdeflate_crc32(0, m->to, m->bytes) == m->crc;
}

// ---- giving pages back

typedef struct Releaser {
    const Packed *member;
    int count;
    bool started;
    atomic_bool over;
    pthread_t thread;
} Releaser;

static void release_all(const Releaser *r) {
    for (int i = 0; i < r->count; i++)
        file_map_release(r->member[i].from, r->member[i].packed);
}

static void *keep_releasing(void *context) {
    Releaser *r = context;
    while (!atomic_load(&r->over)) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
        release_all(r);
    }
    return NULL;
}

// Few pages may stay until the end; so may all of them if there can be no further thread.
static void releaser_start(Releaser *r, const Packed *member, int count) {
    size_t packed = 0;
    *r = (Releaser){.member = member, .count = count};
    for (int i = 0; i < count; i++)
        packed += member[i].packed;
    r->started = packed > FEW && pthread_create(&r->thread, NULL, keep_releasing, r) == 0;
}

static void releaser_end(Releaser *r) {
    atomic_store(&r->over, true);
    if (r->started)
        pthread_join(r->thread, NULL);
    release_all(r);
}

void unpack_all(Packed *member, int count) {
    Releaser releaser;
    releaser_start(&releaser, member, count);
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
    for (int i = 0; i < count; i++)
        unpack(&member[i]);
    releaser_end(&releaser);
}
