// Quantized rows, one after the other (ALGORITHMS A.1; grid.h makes Z and S), with the bytes of
// kernels/cpu/quantize_lanes.c, which has the formulas, and planes_lanes.h, which has the layout.
//
// The one idea: a warp does a row in one pass over memory: the first look at the row, for its
// range, brings it into the cache where the second one finds it. Codes go through shared memory,
// because a byte of the payload holds codes that lie 16 columns apart.
#include "message.h"
#include "philox.h"

#include "../grid.h"

static constexpr int PIECE = 1024; // columns in shared memory: a multiple of 128, as the CPU's
static constexpr int OCTET = 8;    // columns of a block of random numbers

// A row on its way.
struct QuantizedRow {
    const float *x;
    float scale, inverse; // inverse: 2^16 / S, or 2^16 after a division
    Grid grid;
    bool divide; // (x - Z) / S, not times 1 / S
    int64_t gid;
    int peer;
    unsigned char *payload;
};

// ---- the range

// The same in all lanes: the grid of the scaled row; false if there is none.
__device__ static bool row_grid(Grid *grid, const float *x, float scale, int64_t columns, int bits,
                                bool bf16) {
    float low = INFINITY, high = -INFINITY;
    bool bad = false;
    for (int64_t c = threadIdx.x % WARP; c < columns; c += WARP) {
        const float value = scale * x[c];
        low = value < low ? value : low;
        high = value > high ? value : high;
        bad |= !isfinite(value);
    }
    for (int by = WARP / 2; by > 0; by /= 2) {
        const float other_low = __shfl_xor_sync(WHOLE_WARP, low, by);
        const float other_high = __shfl_xor_sync(WHOLE_WARP, high, by);
        low = other_low < low ? other_low : low;
        high = other_high > high ? other_high : high;
    }
    return !__any_sync(WHOLE_WARP, bad) && grid_make(grid, low, high, bits, bf16);
}

// Bytes may lie anywhere, so none of more than one is written at a time.
__device__ static inline void put_bytes(unsigned char *to, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}
__device__ static inline uint32_t get_bytes(const unsigned char *from, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)from[i] << (8 * i);
    return value;
}

__device__ static inline void put_parameter(DeviceByte *array, int64_t i, float value, bool bf16) {
    if (bf16)
        put_bytes(bytes_of(array) + 2 * i, __float_as_uint(value) >> 16, 2);
    else
        put_bytes(bytes_of(array) + 4 * i, __float_as_uint(value), 4);
}

// ---- codes

// Up to 8 bits: T 2^-16 is t, taken to the nearest; q = (T + k) >> 16.
__device__ static inline unsigned code_of(const QuantizedRow &row, float x, uint32_t k) {
    const float above = row.scale * x - row.grid.zero, most = row.grid.most * 65536.0f;
    float fixed = (row.divide ? above / row.grid.step : above) * row.inverse;
    fixed = fixed < most ? fixed : most; // a rounded quotient may be above 2^b - 1
    return ((uint32_t)__float2int_rn(fixed) + k) >> 16;
}

// The codes of the columns first .. first + count - 1, and zeros up to the next octet.
__device__ static inline void make_codes(unsigned char *code, const QuantizedRow &row,
                                         RandomStream stream, int64_t first, int count) {
    for (int at = (int)(threadIdx.x % WARP) * OCTET; at < count; at += WARP * OCTET) {
        uint32_t word[4];
        philox_block(word, stream, row.gid, row.peer, (uint32_t)((first + at) / OCTET));
        for (int i = 0; i < OCTET; i++)
            code[at + i] = at + i < count ? (unsigned char)code_of(row, row.x[first + at + i],
                                                                   philox_half(word, i))
                                          : 0;
    }
}

// 16 bits: q = floor(t) + floor(fraction(t) + u), four columns of a block of random numbers at
// once.
__device__ static inline unsigned wide_code_of(const QuantizedRow &row, float x, uint32_t word) {
    float t = (row.scale * x - row.grid.zero) / row.grid.step;
    t = t > 0.0f ? t : 0.0f;
    t = t < 65535.0f ? t : 65535.0f;
    const int whole = (int)t;
    const float u = ((float)(int)(word >> 9) + 0.5f) * 0x1p-23f;
    return (unsigned)(whole + (int)((t - (float)whole) + u));
}

__device__ static void put_wide_codes(const QuantizedRow &row, RandomStream stream,
                                      int64_t columns) {
    for (int64_t at = 4 * (threadIdx.x % WARP); at < columns; at += 4 * WARP) {
        uint32_t word[4];
        philox_block(word, stream, row.gid, row.peer, (uint32_t)(at / 4));
        for (int i = 0; i < 4 && at + i < columns; i++)
            put_bytes(row.payload + 2 * (at + i), wide_code_of(row, row.x[at + i], word[i]), 2);
    }
}

// ---- planes: `width` bits of every code, from bit `shift` on

__device__ static inline unsigned bits_of(const unsigned char *code, int shift, int width) {
    return *code >> shift & ((1u << width) - 1);
}

__device__ static inline void pack_plane(unsigned char *to, const unsigned char *code, int count,
                                         int shift, int width) {
    const int group = 128 / width, grouped = count / group * 16; // bytes of whole groups
    const int tail = count % group, bytes = grouped + (tail * width + 7) / 8;
    for (int b = (int)(threadIdx.x % WARP); b < bytes; b += WARP) {
        // neighbours in a byte lie 16 codes apart in a group, side by side in the tail
        const bool whole = b < grouped;
        const int first =
            whole ? b / 16 * group + b % 16 : grouped / 16 * group + (b - grouped) * (8 / width);
        unsigned byte = 0;
        for (int part = 0; part < 8 / width; part++)
            byte |= bits_of(code + first + part * (whole ? 16 : 1), shift, width) << (part * width);
        to[b] = (unsigned char)byte;
    }
}

__device__ static void put_codes(unsigned char *code, const QuantizedRow &row, RandomStream stream,
                                 int64_t columns, int bits) {
    for (int64_t first = 0; first < columns; first += PIECE) {
        const int count = (int)least(PIECE, columns - first);
        __syncwarp(); // the codes of the last piece have been read
        make_codes(code, row, stream, first, count);
        __syncwarp();
        unsigned char *plane = row.payload;
        for (int width = 8, shift = 0; width > 0; width /= 2)
            if (bits & width) {
                pack_plane(plane + first * width / 8, code, count, shift, width);
                plane += (columns * width + 7) / 8;
                shift += width;
            }
    }
}

// ---- encode

__device__ static void put_row(unsigned char *code, const QuantizedRow &row, RandomStream stream,
                               int64_t columns, int bits, int64_t row_bytes) {
    if (row.grid.step == 0)
        for (int64_t b = threadIdx.x % WARP; b < row_bytes; b += WARP)
            row.payload[b] = 0;
    else if (bits == 16)
        put_wide_codes(row, stream, columns);
    else
        put_codes(code, row, stream, columns, bits);
}

__device__ static void put_parameters(const Quantized &to, const MessageSource &from, int64_t i,
                                      int64_t place, const Grid &grid) {
    put_parameter(to.minimum, i, grid.zero, to.bf16);
    put_parameter(to.step, i, grid.step, to.bf16);
    if (from.range != NULL)
        floats_of(from.range)[place] = grid.most * grid.step;
}

__global__ __launch_bounds__(MESSAGE_THREADS) static void quantize_rows(Quantized to,
                                                                        MessageSource from,
                                                                        int64_t row_bytes,
                                                                        DeviceInt64 *bad) {
    SHARED(unsigned char, codes);
    unsigned char *code = codes + threadIdx.x / WARP * PIECE;
    for (int64_t i = first_row(); i < to.count; i += row_step()) {
        const int64_t place = int32s_of(to.place)[i], r = int32s_of(from.row)[place];
        QuantizedRow row;
        row.x = message_row(from, r);
        row.scale = message_scale(from, r);
        row.gid = int64s_of(from.gid)[r];
        row.peer = message_peer(from, r);
        row.payload = bytes_of(to.payload) + i * row_bytes;
        if (row_grid(&row.grid, row.x, row.scale, from.x.columns, to.bits, to.bf16)) {
            row.divide = grid_divides(&row.grid);
            row.inverse = row.divide ? 65536.0f : 1.0f / row.grid.step * 65536.0f;
            if (threadIdx.x % WARP == 0)
                put_parameters(to, from, i, place, row.grid);
            put_row(code, row, from.stream, from.x.columns, to.bits, row_bytes);
        } else if (threadIdx.x % WARP == 0)
            note_bad(bad, place);
    }
}

// quantized_row_bytes of the door, which a plug-in cannot call.
static int64_t row_bytes_of(int64_t columns, int bits) {
    int64_t bytes = 0;
    for (int plane = 16; plane > 0; plane /= 2)
        if (bits & plane)
            bytes += (columns * plane + 7) / 8;
    return bytes;
}

void cuda_quantize(const Quantized *to, const MessageSource *source, DeviceInt64 *bad,
                   const Poll *poll) {
    (void)poll;
    LAUNCH_ROWS(quantize_rows, to->count, MESSAGE_WARPS * PIECE, *to, *source,
                row_bytes_of(source->x.columns, to->bits), bad);
}

// ---- decode

__device__ static inline float parameter_at(const DeviceByte *array, int64_t i, bool bf16) {
    return bf16 ? __uint_as_float(get_bytes(bytes_of(array) + 2 * i, 2) << 16)
                : __uint_as_float(get_bytes(bytes_of(array) + 4 * i, 4));
}

// The code of column c of a row with `columns` of them.
__device__ static inline unsigned code_at(const unsigned char *payload, int64_t c, int64_t columns,
                                          int bits) {
    if (bits == 16)
        return get_bytes(payload + 2 * c, 2);
    unsigned code = 0;
    for (int width = 8, shift = 0; width > 0; width /= 2) {
        if (!(bits & width))
            continue;
        const int64_t group = 128 / width, whole = columns / group * group, t = c - whole;
        const unsigned byte = c < whole ? payload[c / group * 16 + c % 16]
                                        : payload[whole / group * 16 + t * width / 8];
        const int from = (int)(c < whole ? c % group / 16 : t % (8 / width)) * width;
        code |= (byte >> from & ((1u << width) - 1)) << shift;
        payload += (columns * width + 7) / 8;
        shift += width;
    }
    return code;
}

__global__ __launch_bounds__(MESSAGE_THREADS) static void dequantize_rows(DeviceRows out,
                                                                          Quantized from,
                                                                          int64_t row_bytes) {
    for (int64_t i = first_row(); i < from.count; i += row_step()) {
        const float zero = parameter_at(from.minimum, i, from.bf16);
        const float step = parameter_at(from.step, i, from.bf16);
        const unsigned char *payload = bytes_of(from.payload) + i * row_bytes;
        float *to = out.at + int32s_of(from.place)[i] * out.stride;
        for (int64_t c = threadIdx.x % WARP; c < out.stride; c += WARP) {
            float value = 0;
            if (c < out.columns)
                value = zero + (float)(int)code_at(payload, c, out.columns, from.bits) * step;
            to[c] = value;
        }
    }
}

void cuda_dequantize(Rows out, int64_t begin, const Quantized *from, const Poll *poll) {
    (void)poll;
    DeviceRows rows = device_rows(out);
    rows.at += begin * rows.stride;
    LAUNCH_ROWS(dequantize_rows, from->count, 0, rows, *from,
                row_bytes_of(out.columns, from->bits));
}
