// Rows of a type as vectors: the files of CMakeLists.txt's `rows_sources` are compiled once more
// for each width with -DROWS=1, and then read and write bf16 where they else do floats.
//
// A Cell is a number of a row. What is read becomes 16 floats, exactly; what is written is rounded
// as bf16_flushed of bf16.h has it, where the CPU can (LANES=native_bf16) by its own instruction.
#pragma once

#include "cpu.h"
#include "masks_lanes.h"

typedef uint16_t Half;
typedef Half VecCells __attribute__((vector_size(VEC_FLOATS * 2), may_alias));
typedef Half VecCellsLoose __attribute__((vector_size(VEC_FLOATS * 2), may_alias, aligned(2)));

// Halves as the upper halves of floats, which they are.
LANES_INLINE Vec vec_of_halves(VecCells halves) {
    return (Vec)(__builtin_convertvector(halves, VecBits) << 16);
}
LANES_INLINE F16 halves_load(const Half *from) { // 32-byte aligned
    F16 a;
    F16_EACH(i) a.part[i] = vec_of_halves(((const VecCells *)from)[i]);
    return a;
}
LANES_INLINE F16 halves_load_loose(const Half *from) {
    F16 a;
    F16_EACH(i) a.part[i] = vec_of_halves(((const VecCellsLoose *)from)[i]);
    return a;
}

#if defined(__AVX512BF16__)
LANES_INLINE __m256i halves_of(F16 x) { return (__m256i)_mm512_cvtneps_pbh((__m512)x.part[0]); }
#else
// bf16_flushed of each float, in the upper halves.
LANES_INLINE VecBits vec_rounded(Vec x) {
    VecBits bits = (VecBits)x, size = bits & 0x7fffffffu;
    VecBits finite = bits + 0x7fffu + (bits >> 16 & 1);
    VecBits nan = (VecBits)((VecInt)size > 0x7f800000), small = (VecBits)((VecInt)size < 0x800000);
    VecBits whole = (nan & (bits | 0x400000u)) | (~nan & finite);
    return ((small & bits & 0x80000000u) | (~small & whole)) & 0xffff0000u;
}
LANES_INLINE VecCells vec_halves(Vec x) {
    return __builtin_convertvector(vec_rounded(x) >> 16, VecCells);
}
#if defined(__AVX512F__)
LANES_INLINE __m256i halves_of(F16 x) { return (__m256i)vec_halves(x.part[0]); }
#endif
#endif

#if defined(__AVX512F__)
LANES_INLINE void halves_store(Half *to, F16 x) { *(__m256i *)(void *)to = halves_of(x); }
LANES_INLINE void halves_store_loose(Half *to, F16 x) {
    _mm256_storeu_si256((__m256i *)(void *)to, halves_of(x));
}
LANES_INLINE void halves_stream(Half *to, F16 x) {
    _mm256_stream_si256((__m256i *)(void *)to, halves_of(x));
}
#else
LANES_INLINE void halves_store(Half *to, F16 x) {
    F16_EACH(i)((VecCells *)to)[i] = vec_halves(x.part[i]);
}
LANES_INLINE void halves_store_loose(Half *to, F16 x) {
    F16_EACH(i)((VecCellsLoose *)to)[i] = vec_halves(x.part[i]);
}
LANES_INLINE void halves_stream(Half *to, F16 x) { halves_store(to, x); }
#endif

#if defined(ROWS)
typedef Half Cell;
#define ROW_NAMED(f) halves_##f
#else
typedef float Cell;
#define ROW_NAMED(f) f16_##f
#endif
LANES_INLINE F16 row_load(const Cell *from) { return ROW_NAMED(load)(from); }
LANES_INLINE F16 row_load_loose(const Cell *from) { return ROW_NAMED(load_loose)(from); }
LANES_INLINE void row_store(Cell *to, F16 x) { ROW_NAMED(store)(to, x); }
LANES_INLINE void row_stream(Cell *to, F16 x) { ROW_NAMED(stream)(to, x); }

// The numbers of row r.
LANES_INLINE Cell *cells_of(CpuRows rows, int64_t r) {
    return (Cell *)(void *)rows.at + r * rows.stride;
}

enum { LINE_CELLS = 64 / sizeof(Cell) }; // of a cache line
