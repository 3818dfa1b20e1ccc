// How codecs that treat every value alike walk over rows: blocks of them spread over the threads,
// rows of the gather asked for some time before they are read (send lists ascend, law 5, but with
// gaps that the hardware does not guess), and a Poll between blocks.
#ifndef FRINGE_SRC_CODEC_BLOCKS_H
#define FRINGE_SRC_CODEC_BLOCKS_H

#include "fringe/codec.h"

#include <omp.h>
#include <string.h>

enum {
    AHEAD = 8,         // rows asked for before they are read
    LINE = 16,         // floats of a cache line
    BLOCK = 1 << 14,   // floats that a thread takes at a time
    POLL_EVERY = 16,   // blocks between two calls of the Poll: about a tenth of a millisecond
    PARALLEL = 1 << 15 // floats below which one thread is quicker than starting the others
};

// Asks for the row that will be read AHEAD places after place k of `count`.
static inline void ask_ahead(const MessageSource *source, int64_t k, int64_t count) {
    if (k + AHEAD >= count)
        return;
    const float *row = message_row(source, source->row[k + AHEAD]);
    for (int64_t c = 0; c < source->x.columns; c += LINE)
        __builtin_prefetch(row + c);
}

// Rows are written whole, padding too.
static inline void clear_padding(float *row, int64_t columns) {
    memset(row + columns, 0, (size_t)(rows_stride(columns) - columns) * sizeof(float));
}

static inline int64_t rows_of_a_block(int64_t columns) {
    return columns >= BLOCK ? 1 : BLOCK / (columns > 0 ? columns : 1);
}

static inline void poll_sometimes(const Poll *poll, int64_t block) {
    if (block % POLL_EVERY == POLL_EVERY - 1 && omp_get_thread_num() == 0)
        poll_call(poll);
}

#endif
