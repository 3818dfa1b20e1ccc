// Codes of up to 8 bits, a byte each, <-> the payload of a row. A plane holds `width` (1, 2, 4, 8)
// bits of every code, from bit `shift` on:
//
//   groups of 128 / width codes, 16 bytes each: byte l holds codes l, l + 16, l + 32, ...
//   then the tail of the row, 8 codes in `width` bytes: one code after the other
//
// The first code lies in the low bits. A width that is not a power of two has a plane for each of
// its binary digits, the widest first and for the low bits.
//
// The one idea: 16 codes are shifted and masked as two integers of 64 bits, and so never leave
// their byte; no operation crosses bytes except in tails.
#pragma once

#include "lanes.h"

typedef uint64_t Bytes16 __attribute__((vector_size(16)));

LANES_INLINE Bytes16 bytes_load(const uint8_t *from) {
    Bytes16 all;
    __builtin_memcpy(&all, from, sizeof all);
    return all;
}
LANES_INLINE void bytes_store(uint8_t *to, Bytes16 all) { __builtin_memcpy(to, &all, sizeof all); }

// The lowest `low` of every `every` bits of 64
LANES_INLINE uint64_t mask_low(int low) { return low == 64 ? ~0ull : (1ull << low) - 1; }
LANES_INLINE uint64_t mask_every(int every, int low) {
    return ~0ull / mask_low(every) * mask_low(low);
}

// 8 bytes of `width` bits -> 8 width bits, by pairs, and back.
LANES_INLINE uint64_t fold(uint64_t x, int width) {
    x = (x | x >> (8 - width)) & mask_every(16, 2 * width);
    x = (x | x >> 2 * (8 - width)) & mask_every(32, 4 * width);
    return (x | x >> 4 * (8 - width)) & mask_every(64, 8 * width);
}
LANES_INLINE uint64_t unfold(uint64_t x, int width) {
    x = (x | x << 4 * (8 - width)) & mask_every(32, 4 * width);
    x = (x | x << 2 * (8 - width)) & mask_every(16, 2 * width);
    return (x | x << (8 - width)) & mask_every(8, width);
}

// The codes behind the last, up to a multiple of 8, are zero.
LANES_INLINE void plane_pack_width(uint8_t *to, const uint8_t *code, int64_t count, int shift,
                                   int width) {
    const uint64_t mask = mask_every(8, width);
    const int64_t group = 128 / width;
    int64_t c = 0;
    for (; c + group <= count; c += group, to += 16) {
        Bytes16 all = {0};
        for (int part = 0; part < 8 / width; part++)
            all |= ((bytes_load(code + c + 16 * part) >> shift) & mask) << (part * width);
        bytes_store(to, all);
    }
    for (; c < count; c += 8, to += width) {
        uint64_t some;
        __builtin_memcpy(&some, code + c, 8);
        some = fold(some >> shift & mask, width);
        if (c + 8 <= count)
            __builtin_memcpy(to, &some, (size_t)width);
        else
            __builtin_memcpy(to, &some, (size_t)((count - c) * width + 7) / 8);
    }
}

// Writes (shift 0) or adds the plane's bits; up to 7 codes behind the last are written too.
LANES_INLINE void plane_unpack_width(uint8_t *code, const uint8_t *from, int64_t count, int shift,
                                     int width) {
    const uint64_t mask = mask_every(8, width);
    const int64_t group = 128 / width;
    int64_t c = 0;
    for (; c + group <= count; c += group, from += 16) {
        Bytes16 all = bytes_load(from);
        for (int part = 0; part < 8 / width; part++) {
            Bytes16 some = ((all >> (part * width)) & mask) << shift;
            uint8_t *to = code + c + 16 * part;
            bytes_store(to, shift > 0 ? bytes_load(to) | some : some);
        }
    }
    for (; c < count; c += 8, from += width) {
        uint64_t some = 0, others = 0;
        if (c + 8 <= count)
            __builtin_memcpy(&some, from, (size_t)width);
        else
            __builtin_memcpy(&some, from, (size_t)((count - c) * width + 7) / 8);
        if (shift > 0)
            __builtin_memcpy(&others, code + c, 8);
        some = unfold(some, width) << shift | others;
        __builtin_memcpy(code + c, &some, 8);
    }
}

#define PLANE_WIDTHS(X) X(1) X(2) X(4) X(8)

LANES_INLINE void plane_pack(uint8_t *to, const uint8_t *code, int64_t count, int shift,
                             int width) {
#define PACK(w)                                                                                    \
    case w:                                                                                        \
        plane_pack_width(to, code, count, shift, w);                                               \
        return;
    switch (width) { PLANE_WIDTHS(PACK) }
#undef PACK
}
LANES_INLINE void plane_unpack(uint8_t *code, const uint8_t *from, int64_t count, int shift,
                               int width) {
#define UNPACK(w)                                                                                  \
    case w:                                                                                        \
        plane_unpack_width(code, from, count, shift, w);                                           \
        return;
    switch (width) { PLANE_WIDTHS(UNPACK) }
#undef UNPACK
}
