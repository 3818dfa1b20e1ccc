// Codes <-> the payload of a row, by words of four bytes. kernels/cpu/planes_lanes.h draws the
// layout: planes of 1, 2, 4 or 8 bits of every code; in whole groups of 128 / width codes, 16 bytes
// each, a byte holds codes that lie 16 apart; in the tail of the row, one code after the other.
//
// The one idea: four neighbouring bytes of a group hold four neighbouring codes, 8 / width times.
// So codes that lie in shared memory as bytes are packed, and payload is unpacked, as words, by
// shifts and masks that stay in their byte; and neighbouring lanes write neighbouring words,
// wherever the row begins.
#pragma once

#include "device.h"

__host__ __device__ static inline int64_t plane_bytes(int64_t columns, int width) {
    return (columns * width + 7) / 8;
}

// The lowest `low` of every `every` bits of 32
__device__ static constexpr uint32_t mask_every(int every, int low) {
    return (uint32_t)(0xffffffffull / ((1ull << every) - 1) * ((1ull << low) - 1));
}

// 4 bytes of `width` bits -> 4 width bits, by pairs, and back.
template <int width> __device__ static inline uint32_t fold(uint32_t x) {
    x = (x | x >> (8 - width)) & mask_every(16, 2 * width);
    return (x | x >> 2 * (8 - width)) & mask_every(32, 4 * width);
}
template <int width> __device__ static inline uint32_t unfold(uint32_t x) {
    x = (x | x << 2 * (8 - width)) & mask_every(16, 2 * width);
    return (x | x << (8 - width)) & mask_every(8, width);
}

// ---- pack

// Word t of the plane of a piece of a row, of whose words the first `grouped` are whole groups. The
// codes behind the last, up to a multiple of 8, are zero; those behind are in no byte that is
// written.
template <int width>
__device__ static inline uint32_t plane_word(const uint32_t *code, int t, int grouped, int shift) {
    constexpr int parts = 8 / width;
    constexpr uint32_t mask = mask_every(8, width);
    uint32_t word = 0;
    if (t < grouped) {
        code += t / 4 * (4 * parts) + t % 4;
#pragma unroll
        for (int part = 0; part < parts; part++)
            word |= (code[4 * part] >> shift & mask) << (part * width);
    } else {
        code += t * parts;
#pragma unroll
        for (int part = 0; part < parts; part++)
            word |= fold<width>(code[part] >> shift & mask) << (4 * width * part);
    }
    return word;
}

// Writes `bytes` bytes, word_of(t) after word_of(t - 1), to anywhere; the lanes of a row together.
// Bytes beside them, which may be another row's, are not touched.
template <typename WordOf>
__device__ static inline void put_words(unsigned char *to, int bytes, int lane, int lanes,
                                        WordOf word_of) {
    const int before = (int)((uintptr_t)to & 3), end = before + bytes, words = (bytes + 3) / 4;
    uint32_t *aligned = (uint32_t *)(to - before);
    for (int t = lane; 4 * t < end; t += lanes) {
        uint32_t word = t < words ? word_of(t) : 0;
        if (before > 0)
            word = word << (8 * before) | (t > 0 ? word_of(t - 1) >> (32 - 8 * before) : 0);
        if (4 * t >= before && 4 * t + 4 <= end)
            aligned[t] = word;
        else
            for (int b = 0; b < 4; b++)
                if (4 * t + b >= before && 4 * t + b < end)
                    to[4 * t + b - before] = (unsigned char)(word >> (8 * b));
    }
}

// The plane of `count` codes of a row that begin at a multiple of 128.
template <int width>
__device__ static inline void plane_put(unsigned char *to, const uint32_t *code, int count,
                                        int shift, int lane, int lanes) {
    const int grouped = count * width / 128 * 4;
    put_words(to, (int)plane_bytes(count, width), lane, lanes,
              [=](int t) { return plane_word<width>(code, t, grouped, shift); });
}

// Codes first .. first + count - 1 of a row of `columns` codes of `bits` bits, `first` a multiple
// of 128: into all of its planes, the widest first and for the low bits.
__device__ static inline void codes_put(unsigned char *payload, const uint32_t *code, int first,
                                        int count, int columns, int bits, int lane, int lanes) {
    if (bits == 8) {
        plane_put<8>(payload + first, code, count, 0, lane, lanes);
        return;
    }
    if (bits & 4) {
        plane_put<4>(payload + first / 2, code, count, 0, lane, lanes);
        payload += plane_bytes(columns, 4);
    }
    if (bits & 2) {
        plane_put<2>(payload + first / 4, code, count, bits & 4, lane, lanes);
        payload += plane_bytes(columns, 2);
    }
    if (bits & 1)
        plane_put<1>(payload + first / 8, code, count, bits & 6, lane, lanes);
}

// ---- unpack

// 1 to 4 bytes from anywhere, the first in the low bits; no byte beside them is read.
__device__ static inline uint32_t get_bytes(const unsigned char *from, int bytes) {
    const int before = (int)((uintptr_t)from & 3);
    if (bytes == 4 && before == 0)
        return *(const uint32_t *)from;
    if (bytes == 4 && before == 2)
        return *(const uint16_t *)from | (uint32_t) * (const uint16_t *)(from + 2) << 16;
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < bytes)
            word |= (uint32_t)from[i] << (8 * i);
    return word;
}

// The plane's bits of codes c .. c + 3 of a row, c a multiple of 4 below `columns`: a byte each.
template <int width>
__device__ static inline uint32_t plane_quad(const unsigned char *plane, int c, int columns) {
    constexpr int group = 128 / width;
    constexpr uint32_t mask = mask_every(8, width);
    const int whole = columns / group * group;
    if (c < whole)
        return get_bytes(plane + c / group * 16 + c % 16, 4) >> (c % group / 16 * width) & mask;
    const int bit = (c - whole) * width, at = whole / 8 * width + bit / 8;
    const int bytes = (int)least((4 * width + 7) / 8, plane_bytes(columns, width) - at);
    return unfold<width>(get_bytes(plane + at, bytes) >> (bit % 8) & mask_every(32, 4 * width));
}

// The same of codes of `bits` bits, which may lie in several planes.
__device__ static inline uint32_t code_quad(const unsigned char *payload, int c, int columns,
                                            int bits) {
    if (bits == 8)
        return plane_quad<8>(payload, c, columns);
    uint32_t quad = 0;
    if (bits & 4) {
        quad = plane_quad<4>(payload, c, columns);
        payload += plane_bytes(columns, 4);
    }
    if (bits & 2) {
        quad |= plane_quad<2>(payload, c, columns) << (bits & 4);
        payload += plane_bytes(columns, 2);
    }
    if (bits & 1)
        quad |= plane_quad<1>(payload, c, columns) << (bits & 6);
    return quad;
}
