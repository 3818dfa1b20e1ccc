// Quantized rows, one after the other (ALGORITHMS A.1; grid.h makes Z and S):
//
//   encode   t = (x - Z) / S; q = floor(t + u), 0 .. 2^b - 1; u uniform in (0, 1), or 1/2
//   decode   x = Z + q S
//
// and where only S travels, with sign and magnitude:
//
//   encode   t = |x| / S; m = floor(t + u), 0 .. s; q = s + m, or s - m for x < 0
//   decode   x = (q - s) S
//
// or, by powers of two, with y = |x| / S, which is exact, and m0 = 2^(1 - s):
//
//   encode   y >= m0: the 23 bits below y's exponent plus k carry into it, or not; m is the
//            exponent plus s. y < m0: m = 1 if k < 2^23 y / m0, else 0. q = s + m, or s - m for x <
//            0
//   decode   x = 0 for q = s, else S 2^(|q - s| - s) with the sign of q - s
//
// where k is the upper 23 bits of a number of 32 (ALGORITHMS D.6).
//
// Up to 8 bits t is taken to the nearest multiple of 2^-16, T 2^-16, and u = (k + 1/2) 2^-16 with
// the 16-bit numbers k of random.h: then q = (T + k) >> 16 is the floor of the exact sum. For 16
// bits, where a float has no digits left for t + u, q = floor(t) + floor(fraction(t) + u) with u =
// (k + 1/2) 2^-23, k the upper 23 bits of the 32-bit number. Numbers of 8 bits (RandomKind) stand
// for 2^8 k + 2^7: u = (k + 1/2) 2^-8, so that the mean of a step moves by at most 2^-9.
#include "doubles_lanes.h"
#include "philox_lanes.h"
#include "pieces_lanes.h"
#include "powers_lanes.h"
#include "rows_lanes.h"

enum { AHEAD = 6 }; // rows asked for before they are read

typedef struct Extent {
    F16 least, most;
    F16 bad; // NaN where a value was not finite
} Extent;

LANES_INLINE void extent_add(Extent *extent, F16 x) {
    extent->least = f16_min(extent->least, x);
    extent->most = f16_max(extent->most, x);
    extent->bad = f16_add(extent->bad, f16_sub(x, x)); // 0, or NaN for good
}

// The last vector of a row, filled up with values of the row.
LANES_INLINE F16 last_16(const Cell *x, int64_t columns) {
    if (columns >= 16)
        return row_load_loose(x + columns - 16);
    Cell lane[16] __attribute__((aligned(64)));
    for (int64_t c = 0; c < 16; c++)
        lane[c] = x[c < columns ? c : 0];
    return row_load(lane);
}

LANES_INLINE F16 scaled(F16 x, F16 scale, bool scales) { return scales ? f16_mul(x, scale) : x; }

// The grid of scale x; false if there is none.
LANES_INLINE bool row_grid(Grid *grid, const Cell *x, const QuantizeCall *call, float factor,
                           bool scales) {
    int64_t columns = call->from.x.columns;
    F16 scale = f16_set(factor);
    Extent extent = {f16_set(INFINITY), f16_set(-INFINITY), f16_set(0)};
    for (int64_t c = 0; c + 16 <= columns; c += 16)
        extent_add(&extent, scaled(row_load(x + c), scale, scales));
    if (columns % 16 != 0)
        extent_add(&extent, scaled(last_16(x, columns), scale, scales));
    return f16_sum(extent.bad) == 0 &&
           grid_make(grid, f16_least(extent.least), f16_most(extent.most), call->to.bits,
                     call->to.bf16);
}

// The magnitudes of a row's values, as far as a rule wants to know them.
typedef struct Sizes {
    F16 most;
    F16 bad; // as above
    D16 sum; // of |x|, or of x²
} Sizes;

LANES_INLINE void sizes_add(Sizes *sizes, F16 x, GridRule rule) {
    F16 size = f16_abs(x);
    D16 wide = d16_of(size);
    sizes->most = f16_max(sizes->most, size);
    sizes->bad = f16_add(sizes->bad, f16_sub(x, x));
    if (rule != GRID_MAX)
        sizes->sum = d16_add(sizes->sum, rule == GRID_L2 ? d16_mul(wide, wide) : wide);
}

LANES_INLINE Sizes sizes_of(const Cell *x, int64_t columns, float factor, GridRule rule) {
    int64_t whole = columns / 16 * 16;
    F16 scale = f16_set(factor);
    Sizes sizes = {f16_set(0), f16_set(0), d16_of(f16_set(0))};
    for (int64_t c = 0; c < whole; c += 16)
        sizes_add(&sizes, f16_mul(row_load(x + c), scale), rule);
    if (whole < columns) { // what lies behind the row is not of it
        F16 last = f16_mul(row_load(x + whole), scale);
        sizes_add(&sizes, f16_keep(last, mask_first(columns - whole)), rule);
    }
    return sizes;
}

// The grid of scale x in which 0 is a value; false if there is none. A 2-norm as it is rounded is
// not below any |x|, because no step of making it is.
LANES_INLINE bool row_grid_signs(Grid *grid, const Cell *x, const QuantizeCall *call,
                                 float factor) {
    int64_t columns = call->from.x.columns;
    const Quantized *to = &call->to;
    if (to->rule == GRID_MEAN) {
        Sizes sizes = sizes_of(x, columns, factor, GRID_MEAN);
        return f16_sum(sizes.bad) == 0 &&
               grid_mean(grid, d16_sum(sizes.sum) / (double)columns, to->bf16);
    }
    if (to->rule == GRID_L2) {
        Sizes sizes = sizes_of(x, columns, factor, GRID_L2);
        return f16_sum(sizes.bad) == 0 &&
               grid_cover(grid, __builtin_sqrt(d16_sum(sizes.sum)), to->bits, to->bf16);
    }
    Sizes sizes = sizes_of(x, columns, factor, GRID_MAX);
    float most = f16_most(sizes.most);
    return f16_sum(sizes.bad) == 0 &&
           (to->rule == GRID_LOG ? grid_power(grid, most, to->bits, to->bf16)
                                 : grid_cover(grid, (double)most, to->bits, to->bf16));
}

// A row on its way.
typedef struct Row {
    const Cell *x;
    float scale;
    Grid grid;
    bool bad;      // has no grid
    bool divide;   // (x - Z) / S, not times 1 / S
    float inverse; // 2^16 / S, or 2^16 after a division
    int64_t gid;
    int peer;
    uint8_t *payload;
} Row;

// What its values are measured in.
typedef struct Measure {
    F16 scale, zero, step, inverse, most; // most: the largest T
} Measure;

LANES_INLINE Measure measure_of(const Row *row) {
    return (Measure){f16_set(row->scale), f16_set(row->grid.zero), f16_set(row->grid.step),
                     f16_set(row->inverse), f16_set(row->grid.most * 0x1p16f)};
}

LANES_INLINE F16 above_zero(const Measure *in, const Cell *x, bool scales) {
    return f16_sub(scaled(row_load(x), in->scale, scales), in->zero);
}

// T, not yet an integer. With signs it is not above s 2^16, which is below 2^23: |x| / S is not
// above s, and the two roundings of |x| times 1 / S add less than 1/2 to that.
LANES_INLINE F16 fixed_of(const Measure *in, const Cell *x, bool scales, GridRule rule,
                          bool divide) {
    F16 value = rule == GRID_MINMAX ? above_zero(in, x, scales) : f16_mul(row_load(x), in->scale);
    if (rule == GRID_MEAN)
        return f16_signs(value, 0x1p16f);
    F16 fixed = f16_mul(divide ? f16_div(value, in->step) : value, in->inverse);
    return rule == GRID_MINMAX ? f16_min(fixed, in->most) // a rounded quotient may be above 2^b - 1
                               : fixed;
}

LANES_INLINE void codes_make(Piece *piece, const Row *row, int64_t first, int64_t count,
                             bool scales, GridRule rule, bool divide, Coins k) {
    const Cell *x = row->x + first;
    Measure in = measure_of(row);
    int s = (int)row->grid.most;
#pragma GCC unroll 2
    for (int64_t c = 0; c < count; c += 16)
        codes_store(piece->code + c, fixed_of(&in, x + c, scales, rule, divide), k, c,
                    rule != GRID_MINMAX, s);
    memset(piece->code + count, 0, 8); // not the codes of the padding
}

LANES_INLINE void codes_make_powers(Piece *piece, const Row *row, int64_t first, int64_t count) {
    Powers in = powers_of(&row->grid, row->scale);
    for (int64_t c = 0; c < count; c += 16)
        i16_store_bytes(piece->code + c,
                        codes_of_powers(&in, row_load(row->x + first + c), piece->random.word + c));
    memset(piece->code + count, 0, 8);
}

// Of a rule, of a row: which loop.
LANES_INLINE void codes_choose(Piece *piece, const Row *row, int64_t first, int64_t count,
                               bool scales, GridRule rule, Coins k) {
    if (rule == GRID_LOG)
        codes_make_powers(piece, row, first, count);
    else if (rule == GRID_MEAN)
        codes_make(piece, row, first, count, true, GRID_MEAN, false, k);
    else if (rule != GRID_MINMAX && row->divide)
        codes_make(piece, row, first, count, true, GRID_MAX, true, k);
    else if (rule != GRID_MINMAX)
        codes_make(piece, row, first, count, true, GRID_MAX, false, k);
    else if (row->divide)
        codes_make(piece, row, first, count, scales, GRID_MINMAX, true, k);
    else
        codes_make(piece, row, first, count, scales, GRID_MINMAX, false, k);
}

LANES_INLINE void halves_choose(Piece *piece, const Row *row, int64_t first, int64_t count,
                                bool scales, bool random) {
    const Cell *x = row->x + first;
    Measure in = measure_of(row);
    for (int64_t c = 0; c < count; c += 16) {
        F16 t = f16_div(above_zero(&in, x + c, scales), in.step);
        t = f16_min(f16_max(t, f16_set(0)), f16_set(65535)); // padding may lie anywhere
        I16 whole = f16_floor(t), k;
        F16_EACH(i) {
            Vec number;
            memcpy(&number, piece->random.word + c + i * VEC_FLOATS, sizeof number);
            k.part[i] = (VecInt)number >> 9 & 0x7fffff;
        }
        F16 u = random ? f16_mul(f16_add(i16_floats(k), f16_set(0.5f)), f16_set(0x1p-23f))
                       : f16_set(0.5f);
        I16 up = f16_floor(f16_add(f16_sub(t, i16_floats(whole)), u));
        F16_EACH(i) whole.part[i] += up.part[i];
        i16_store_halves(piece->half + c, whole);
    }
}

// Called once a piece, as planes_make is: inlined for every kind of rows the two would be most of
// what there is to compile.
static __attribute__((noinline)) void halves_make(Piece *piece, const Row *row, int64_t first,
                                                  int64_t count, bool scales, bool random) {
    if (!random)
        halves_choose(piece, row, first, count, scales, false);
    else if (scales)
        halves_choose(piece, row, first, count, true, true);
    else
        halves_choose(piece, row, first, count, false, true);
}

// Random numbers of `count` columns from `first` on, `each` of them in a block.
LANES_INLINE void random_make(Piece *piece, const QuantizeCall *call, const Row *row, int64_t first,
                              int64_t count, int each) {
    int64_t bytes = count * (16 / each);
    for (int64_t at = 0; at < bytes; at += 16 * PHILOX_BLOCKS)
        philox_store((unsigned char *)&piece->random + at, &call->key, row->gid, row->peer,
                     (uint32_t)(first / each + at / 16));
}

// The codes of columns first .. as planes of the row's payload.
static __attribute__((noinline)) void planes_make(uint8_t *payload, const Piece *piece,
                                                  const QuantizeCall *call, int64_t first,
                                                  int64_t count, int shift) {
    for (int width = 8; width > 0; width /= 2)
        if (call->to.bits & width) {
            plane_pack(payload + first * width / 8, piece->code, count, shift, width);
            payload += (call->from.x.columns * width + 7) / 8;
            shift += width;
        }
}

// Columns first .. of a row into its payload.
LANES_INLINE void piece_encode(Piece *piece, const QuantizeCall *call, const Row *row,
                               int64_t first, bool scales, bool random, bool signs) {
    int64_t count = columns_here(call->from.x.columns, first);
    int bits = call->to.bits;
    GridRule rule = signs ? call->to.rule : GRID_MINMAX;
    bool words = bits == 16 || rule == GRID_LOG;
    bool bytes = random && !words && call->key.kind.narrow;
    if (random)
        random_make(piece, call, row, first, count, words ? 4 : bytes ? 16 : 8);
    if (!signs && bits == 16) {
        halves_make(piece, row, first, count, scales, random);
        memcpy(row->payload + 2 * first, piece->half, (size_t)(2 * count));
        return;
    }
    if (bytes && rule != GRID_MEAN) // which is not random
        codes_choose(piece, row, first, count, scales, rule, (Coins){.byte = piece->random.byte});
    else
        codes_choose(piece, row, first, count, scales, rule, (Coins){.half = piece->random.half});
    planes_make(row->payload, piece, call, first, count, signs ? bits_left_out(call->to.rule) : 0);
}

LANES_INLINE void ask_for(const Cell *row, int64_t columns) {
    for (int64_t c = 0; c < columns; c += LINE_CELLS)
        __builtin_prefetch(row + c);
}

// The grid of row i of the message, into the message too.
LANES_INLINE Row row_begin(const QuantizeCall *call, int64_t i, bool scales, bool signs) {
    const Quantized *to = &call->to;
    const MessageSource *from = &call->from;
    int32_t place = place_of(to, i), r = int32s_of(from->row)[place];
    Row row = {.x = message_row(from, r),
               .gid = int64s_of(from->gid)[r],
               .peer = message_peer(from, r),
               .payload = bytes_of(to->payload) + i * call->row_bytes};
    row.scale = scales ? message_scale(from, r) : 1.0f;
    row.bad = !(signs ? row_grid_signs(&row.grid, row.x, call, row.scale)
                      : row_grid(&row.grid, row.x, call, row.scale, scales));
    if (row.bad)
        return row;
    parameter_put(bytes_of(to->step), i, row.grid.step, to->bf16);
    if (signs && row.grid.step == 0) // all become zero, in any unit
        row.scale = 0, row.grid.step = 1;
    row.divide = grid_divides(&row.grid);
    row.inverse = row.divide ? 0x1p16f : 1.0f / row.grid.step * 0x1p16f;
    if (signs)
        return row;
    parameter_put(bytes_of(to->minimum), i, row.grid.zero, to->bf16);
    if (from->range != NULL)
        floats_of(from->range)[place] = row.grid.most * row.grid.step;
    return row;
}

LANES_INLINE void row_encode(const QuantizeCall *call, const Row *row, Piece *piece, bool scales,
                             bool random, bool signs) {
    if (row->grid.step == 0)
        memset(row->payload, 0, (size_t)call->row_bytes);
    else
        for (int64_t first = 0; first < call->from.x.columns; first += BLOCK)
            piece_encode(piece, call, row, first, scales, random, signs);
}

// Numbers k with which values are rounded as with u = 1/2.
LANES_INLINE void halfway(Piece *piece, GridRule rule) {
    for (int64_t c = 0; c < BLOCK; c++)
        if (rule == GRID_LOG)
            piece->random.word[c] = 1u << 31;
        else
            piece->random.half[c] = 0x8000;
}

// The grid of a row is a long chain of short operations: it is made while the row before it is
// encoded.
LANES_INLINE int64_t rows_encode(const QuantizeCall *call, int64_t begin, int64_t end, bool random,
                                 bool scales, bool signs) {
    Piece piece;
    if (!random)
        halfway(&piece, call->to.rule);
    const int32_t *list = int32s_of(call->from.row);
    int64_t bad = NO_PLACE;
    Row row = {.bad = false}, next = row;
    for (int64_t i = begin - 1; i < end; i++, row = next) { // begin - 1: only what is next
        if (i + AHEAD < call->to.count)
            ask_for(message_row(&call->from, list[place_of(&call->to, i + AHEAD)]),
                    call->from.x.columns);
        if (i + 1 < end)
            next = row_begin(call, i + 1, scales, signs);
        if (i < begin)
            continue;
        if (!row.bad)
            row_encode(call, &row, &piece, scales, random, signs);
        else if (place_of(&call->to, i) < bad)
            bad = place_of(&call->to, i);
    }
    return bad;
}

int64_t LANES_NAME(quantize_rows)(const QuantizeCall *call, int64_t begin, int64_t end) {
    bool random = !call->to.nearest && call->to.rule != GRID_MEAN;
    if (call->to.rule != GRID_MINMAX) // always scaled, if by 1
        return rows_encode(call, begin, end, random, true, true);
    return call->from.scale != NULL ? rows_encode(call, begin, end, random, true, false)
                                    : rows_encode(call, begin, end, random, false, false);
}
