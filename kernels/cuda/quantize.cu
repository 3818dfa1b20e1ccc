// Quantized rows, one after the other (ALGORITHMS A.1; grid.h makes Z and S), with the bytes of
// kernels/cpu/quantize_lanes.c, which has the formulas.
//
// The one idea: eight neighbouring columns, an octet, are those of a block of random numbers, so a
// lane makes range, random numbers and codes of its octets by itself, but for the two ends of the
// range. A row is read from memory once, for its range; for its codes it is read from the first
// cache, an octet at a time, which keeps the code so short that it stays in the cache of
// instructions. Only packing needs other lanes, because a byte of the payload holds codes that lie
// 16 columns apart: codes go through shared memory.
#include "message.h"
#include "philox.h"
#include "planes.h"

#include "../grid.h"

// CELLS octets of all lanes of a row are a piece of it, whose codes lie in shared memory at once:
// at most 1024 columns, and a multiple of 128 where a row has several.
static constexpr int OCTET = 8;

// A row on its way.
struct QuantizedRow {
    const void *x; // of the numbers of its source
    unsigned char *payload;
    int64_t gid;
    float scale;
    int peer, columns;
    bool exists; // false: it stands in for a row behind the last
    bool sends;  // it exists, and has a grid
    Grid grid;
    float step, inverse; // S, or 1 for S = 0; 2^16 / S, or 2^16 after a division
    bool divide;         // (x - Z) / S, not times 1 / S
};

// ---- the range

// The scaled values of the octet from `column` on. Behind the last octet of the row it is that
// octet, and what is behind its last column becomes its first value: all are values of the row.
template <typename Number>
__device__ static inline void octet_load(float value[OCTET], const QuantizedRow &row, int column) {
    const int last = (row.columns - 1) / OCTET * OCTET, kept = row.columns - last;
    const Number *from = (const Number *)row.x + min(column, last);
    const float4 a = quad_of(from), b = quad_of(from + 4);
    value[0] = a.x, value[1] = a.y, value[2] = a.z, value[3] = a.w;
    value[4] = b.x, value[5] = b.y, value[6] = b.z, value[7] = b.w;
    if (kept < OCTET && column >= last)
#pragma unroll
        for (int j = 1; j < OCTET; j++)
            value[j] = j < kept ? value[j] : value[0];
#pragma unroll
    for (int j = 0; j < OCTET; j++)
        value[j] *= row.scale;
}

// Which of two zeros is left does not matter to grid_make.
struct Extent {
    float least, most;
    bool bad; // a value is not finite
};

__device__ static inline void extent_add(Extent &extent, const float value[OCTET]) {
#pragma unroll
    for (int j = 0; j < OCTET; j++) {
        extent.least = fminf(extent.least, value[j]);
        extent.most = fmaxf(extent.most, value[j]);
        extent.bad |= !(fabsf(value[j]) < INFINITY);
    }
}

template <typename Number>
__device__ static inline void row_grid(QuantizedRow &row, RowLanes lanes, int bits, bool bf16) {
    Extent extent = {INFINITY, -INFINITY, false};
    for (int first = row_lane(lanes) * OCTET; first < row.columns;
         first += CELLS * lanes.count * OCTET) {
        float value[CELLS][OCTET];
#pragma unroll
        for (int i = 0; i < CELLS; i++) // all are asked for before one is looked at
            octet_load<Number>(value[i], row, first + i * lanes.count * OCTET);
#pragma unroll
        for (int i = 0; i < CELLS; i++)
            extent_add(extent, value[i]);
    }
    if (extent.bad) // which passes through the maxima
        extent.most = INFINITY;
    for (int by = lanes.count / 2; by > 0; by /= 2) {
        extent.least = fminf(extent.least, __shfl_xor_sync(WHOLE_WARP, extent.least, by));
        extent.most = fmaxf(extent.most, __shfl_xor_sync(WHOLE_WARP, extent.most, by));
    }
    row.grid = Grid{0, 0, 0};
    row.sends = row.exists && extent.most < INFINITY &&
                grid_make(&row.grid, extent.least, extent.most, bits, bf16);
    row.step = row.grid.step == 0 ? 1 : row.grid.step; // all are Z: their codes become 0
    row.divide = grid_divides(&row.grid);
    row.inverse = row.divide ? 0x1p16f : 1.0f / row.step * 0x1p16f;
}

// ---- codes, in shared memory

// The integer nearest to x, below 2^24, in the low bits: a conversion takes the time of eight
// additions, and x + 2^23 is rounded to that integer; from 2^23 on x is one.
template <bool is_eight_bits> __device__ static inline uint32_t nearest_integer(float x) {
    const bool high = is_eight_bits && x >= 0x1p23f;
    return __float_as_uint(x + (high ? 0.0f : 0x1p23f)) + (high ? 0x800000u : 0u);
}

// Up to 8 bits: T 2^-16 is t, taken to the nearest; q = (T + k) >> 16, a byte. Four of them.
template <bool is_eight_bits>
__device__ static inline uint32_t codes_of(const QuantizedRow &row, const float above[4],
                                           const uint32_t random[2]) {
    const float most = row.grid.most * 0x1p16f;
    uint32_t sum[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        // the least, because a rounded quotient may be above 2^b - 1
        const float fixed = fminf(above[j] * row.inverse, most);
        sum[j] = nearest_integer<is_eight_bits>(fixed) + philox_half(random, j);
    }
    const uint32_t third_bytes = 0x62, halves = 0x5410;
    return __byte_perm(__byte_perm(sum[0], sum[1], third_bytes),
                       __byte_perm(sum[2], sum[3], third_bytes), halves);
}

// The bytes of four codes that are columns of the row; `left` of them and of those behind are.
__device__ static inline uint32_t codes_kept(uint32_t codes, int left) {
    return left >= 4 ? codes : left <= 0 ? 0 : codes & ((1u << (8 * left)) - 1);
}

template <bool nearest>
__device__ static inline void octet_codes(uint32_t *to, float above[OCTET], const QuantizedRow &row,
                                          RandomKey key, int column) {
    uint32_t random[4] = {0x80008000, 0x80008000, 0x80008000, 0x80008000}; // u = 1/2
    if (!nearest && key.kind.narrow)
        philox_narrow(random, key, row.gid, row.peer, column);
    else if (!nearest)
        philox_block(random, key, row.gid, row.peer, (uint32_t)(column / OCTET));
    if (row.divide)
#pragma unroll
        for (int j = 0; j < OCTET; j++)
            above[j] /= row.step;
    const bool is_eight_bits = row.grid.most > 127;
    const uint32_t low =
        is_eight_bits ? codes_of<true>(row, above, random) : codes_of<false>(row, above, random);
    const uint32_t high = is_eight_bits ? codes_of<true>(row, above + 4, random + 2)
                                        : codes_of<false>(row, above + 4, random + 2);
    *(uint2 *)to = make_uint2(codes_kept(low, row.columns - column),
                              codes_kept(high, row.columns - column - 4));
}

// 16 bits: q = floor(t) + floor(fraction(t) + u), by four columns of a block of random numbers.
__device__ static inline uint32_t wide_code(const QuantizedRow &row, float above, float u) {
    float t = above / row.step;
    t = t > 0.0f ? t : 0.0f;
    t = t < 65535.0f ? t : 65535.0f;
    const int whole = (int)t;
    return (uint32_t)(whole + (int)((t - (float)whole) + u));
}

template <bool nearest>
__device__ static inline void octet_wide_codes(uint32_t *to, const float above[OCTET],
                                               const QuantizedRow &row, RandomKey key, int column) {
    uint32_t random[OCTET], code[OCTET];
    philox_block(random, key, row.gid, row.peer, (uint32_t)(column / 4));
    philox_block(random + 4, key, row.gid, row.peer, (uint32_t)(column / 4 + 1));
#pragma unroll
    for (int j = 0; j < OCTET; j++)
        code[j] = wide_code(row, above[j],
                            nearest ? 0.5f : ((float)(int)(random[j] >> 9) + 0.5f) * 0x1p-23f);
    *(uint4 *)to = make_uint4(code[0] | code[1] << 16, code[2] | code[3] << 16,
                              code[4] | code[5] << 16, code[6] | code[7] << 16);
}

// Words of shared memory that a row takes. The four behind its codes keep rows of a warp apart.
__host__ __device__ static inline int staging_words(bool is_wide, int lanes) {
    return CELLS * lanes * (is_wide ? 4 : 2) + 4;
}

// Of the `count` columns from `first` on.
template <bool is_wide, bool nearest, typename Number>
__device__ static inline void piece_codes(uint32_t *staging, const QuantizedRow &row,
                                          RowLanes lanes, RandomKey key, int first, int count) {
#pragma unroll 1
    for (int at = row_lane(lanes) * OCTET; at < count; at += lanes.count * OCTET) {
        float above[OCTET];
        octet_load<Number>(above, row, first + at);
#pragma unroll
        for (int j = 0; j < OCTET; j++)
            above[j] -= row.grid.zero;
        if (is_wide)
            octet_wide_codes<nearest>(staging + at / 2, above, row, key, first + at);
        else
            octet_codes<nearest>(staging + at / 4, above, row, key, first + at);
    }
}

// ---- encode

template <typename Number>
__device__ static inline QuantizedRow row_at(const Quantized &to, const MessageSource &from,
                                             int64_t i, int64_t row_bytes) {
    QuantizedRow row;
    row.exists = i < to.count;
    i = least(i, to.count - 1);
    const int32_t r = int32s_of(from.row)[int32s_of(to.place)[i]];
    row.x = message_row<Number>(from, r);
    row.payload = bytes_of(to.payload) + i * row_bytes;
    row.gid = int64s_of(from.gid)[r];
    row.scale = message_scale(&from, r);
    row.peer = message_peer(&from, r);
    row.columns = (int)from.x.columns;
    return row;
}

__device__ static inline void parameter_put(DeviceByte *array, int64_t i, float value, bool bf16) {
    if (bf16)
        ((uint16_t *)array)[i] = (uint16_t)(__float_as_uint(value) >> 16);
    else
        ((float *)array)[i] = value;
}

// What is sent of a row besides its payload, or that it cannot be: by its first lane.
__device__ static inline void row_note(const Quantized &to, const MessageSource &from,
                                       const QuantizedRow &row, int64_t i, DeviceInt64 *bad) {
    if (!row.exists)
        return;
    const int32_t place = int32s_of(to.place)[i];
    if (!row.sends) {
        note_bad(bad, place);
        return;
    }
    parameter_put(to.minimum, i, row.grid.zero, to.bf16);
    parameter_put(to.step, i, row.grid.step, to.bf16);
    if (from.range != NULL)
        floats_of(from.range)[place] = row.grid.most * row.grid.step;
}

template <bool is_wide>
__device__ static inline void piece_put(const uint32_t *staging, const QuantizedRow &row,
                                        RowLanes lanes, int first, int count, int bits) {
    const int lane = row_lane(lanes);
    if (is_wide)
        put_words(row.payload + 2 * first, 2 * count, lane, lanes.count,
                  [=](int t) { return staging[t]; });
    else
        codes_put(row.payload, staging, first, count, row.columns, bits, lane, lanes.count);
}

// All lanes of a warp stay together, whatever their rows are: they meet in shuffles.
template <bool is_wide, bool nearest, typename Number>
__global__ static void __launch_bounds__(MESSAGE_THREADS, 8)
    quantize_rows(Quantized to, MessageSource from, int64_t row_bytes, RowLanes lanes,
                  DeviceInt64 *bad) {
    SHARED(uint32_t, staging_rows);
    uint32_t *staging = staging_rows + row_of_block(lanes) * staging_words(is_wide, lanes.count);
    const int columns = (int)from.x.columns, piece = CELLS * lanes.count * OCTET;
    for (int64_t i = first_row(lanes); i - row_of_block(lanes) < to.count; i += row_step(lanes)) {
        QuantizedRow row = row_at<Number>(to, from, i, row_bytes);
        row_grid<Number>(row, lanes, to.bits, to.bf16);
        if (row_lane(lanes) == 0)
            row_note(to, from, row, i, bad);
        for (int first = 0; first < columns; first += piece) {
            const int count = min(piece, columns - first);
            __syncwarp(); // the last codes have been read
            piece_codes<is_wide, nearest, Number>(staging, row, lanes, from.random, first, count);
            __syncwarp();
            if (row.sends)
                piece_put<is_wide>(staging, row, lanes, first, count, to.bits);
        }
    }
}

template <bool is_wide, bool nearest, typename Number>
static void launch_quantize(const Quantized *to, const MessageSource *source, DeviceInt64 *bad) {
    const RowLanes lanes = row_lanes(divide_up(source->x.columns, OCTET));
    const size_t words =
        (size_t)(MESSAGE_THREADS >> lanes.shift) * staging_words(is_wide, lanes.count);
    LAUNCH_ROWS((quantize_rows<is_wide, nearest, Number>), to->count, lanes,
                words * sizeof(uint32_t), *to, *source,
                quantized_row_bytes(source->x.columns, to->bits), lanes, bad);
}

template <typename Number>
static void quantize(const Quantized *to, const MessageSource *source, DeviceInt64 *bad) {
    const auto launch = to->bits == 16 ? (to->nearest ? launch_quantize<true, true, Number>
                                                      : launch_quantize<true, false, Number>)
                                       : (to->nearest ? launch_quantize<false, true, Number>
                                                      : launch_quantize<false, false, Number>);
    launch(to, source, bad);
}

void cuda_quantize(const Quantized *to, const MessageSource *source, DeviceInt64 *bad,
                   const Poll *) {
    assert(to->count == 0 || (to->rule == GRID_MINMAX && to->place != NULL));
    EACH_TYPE(source->x.type, quantize<Number>(to, source, bad));
}

// ---- decode

__device__ static inline float parameter_at(const DeviceByte *array, int64_t i, bool bf16) {
    return bf16 ? __uint_as_float((uint32_t)((const uint16_t *)array)[i] << 16)
                : ((const float *)array)[i];
}

// The values of columns c .. c + 3, those behind the last zero.
__device__ static inline float4 values_at(const unsigned char *payload, int c, int columns,
                                          int bits, Grid grid) {
    float value[4];
    const int left = columns - c;
    if (bits == 16) {
        const uint32_t low = get_bytes(payload + 2 * c, min(4, 2 * left));
        const uint32_t high = left > 2 ? get_bytes(payload + 2 * c + 4, min(4, 2 * left - 4)) : 0;
        value[0] = (float)(low & 0xffff), value[1] = (float)(low >> 16);
        value[2] = (float)(high & 0xffff), value[3] = (float)(high >> 16);
    } else {
        const uint32_t codes = code_quad(payload, c, columns, bits);
#pragma unroll
        for (int j = 0; j < 4; j++)
            value[j] = (float)(codes >> (8 * j) & 0xff);
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
        value[j] = j < left ? grid.zero + value[j] * grid.step : 0;
    return make_float4(value[0], value[1], value[2], value[3]);
}

__global__ static void __launch_bounds__(MESSAGE_THREADS)
    dequantize_rows(DeviceRows out, int padded, Quantized from, int64_t row_bytes, RowLanes lanes) {
    const int columns = (int)out.columns;
    for (int64_t i = first_row(lanes); i < from.count; i += row_step(lanes)) {
        const Grid grid = {parameter_at(from.minimum, i, from.bf16),
                           parameter_at(from.step, i, from.bf16), 0};
        const unsigned char *payload = bytes_of(from.payload) + i * row_bytes;
        float *to = out.at + int32s_of(from.place)[i] * out.stride;
        for (int c = 4 * row_lane(lanes); c < padded; c += 4 * lanes.count)
            *(float4 *)(to + c) = c < columns ? values_at(payload, c, columns, from.bits, grid)
                                              : make_float4(0, 0, 0, 0);
    }
}

void cuda_dequantize(Rows out, int64_t begin, const Quantized *from, const Poll *) {
    assert(from->count == 0 || (from->rule == GRID_MINMAX && from->place != NULL));
    const int padded = (int)rows_stride(out.columns);
    const RowLanes lanes = row_lanes(padded / 4);
    DeviceRows rows = device_rows(out);
    rows.at += begin * rows.stride;
    LAUNCH_ROWS(dequantize_rows, from->count, lanes, 0, rows, padded, *from,
                quantized_row_bytes(out.columns, from->bits), lanes);
}
