// codec: rows of floats <-> bytes. A family as a table; fp32 is the smallest member and the one to
// copy. A message holds the rows of one send list (law 5), tight, without ids (law 6).
#ifndef FRINGE_CODEC_H
#define FRINGE_CODEC_H

#include "fringe/backend.h"

typedef struct Codec {
    const char *name;
    // Bytes of `count` rows of `columns` floats.
    size_t (*bytes)(int64_t count, int64_t columns);
    // out = for each k: scale[row[k]] * x[row[k]] (scale NULL: 1). `out` is 64-byte aligned.
    void (*encode)(unsigned char *out, Rows x, const float *scale, const int32_t *row,
                   int64_t count, const Poll *poll);
    // rows [begin, begin + count) of `out` = what `in` holds.
    void (*decode)(Rows out, int64_t begin, const unsigned char *in, int64_t count,
                   const Poll *poll);
} Codec;

const Codec *codec_find(const char *name, Error *err);

#endif
