// Rows of a message back to floats; quantize_lanes.c has the formula.
#include "pieces_lanes.h"

LANES_INLINE void put(float *to, F16 value, bool stream) {
    if (stream)
        f16_stream(to, value);
    else
        f16_store(to, value);
}

// 16 codes of a piece as floats
LANES_INLINE F16 q_at(const Piece *piece, int64_t c, bool halves) {
    return halves ? i16_floats(i16_load_halves(piece->half + c)) : codes_load(piece->code + c);
}

// What a grid is made of, in every lane.
typedef struct Grid16 {
    F16 zero, step, s;
} Grid16;

// 0, or 2^(|d| - s) with the sign of d; d and s are whole, s at most 127.
LANES_INLINE F16 power_of(F16 d, F16 s) {
    I16 size = f16_floor(f16_abs(d)), least = f16_floor(s);
    F16 power;
    F16_EACH(i) {
        VecInt m = size.part[i], bits = (m - least.part[i] + 127) << 23 & (m > 0);
        power.part[i] = (Vec)(bits | ((VecInt)d.part[i] & INT32_MIN));
    }
    return power;
}

// The rule stands for others of its formula.
LANES_INLINE F16 value_of(F16 q, Grid16 grid, GridRule rule) {
    if (rule == GRID_MINMAX)
        return f16_add(grid.zero, f16_mul(q, grid.step));
    F16 d = f16_sub(q, grid.s);
    return f16_mul(rule == GRID_LOG ? power_of(d, grid.s) : d, grid.step);
}

LANES_INLINE void values_make(float *out, const Piece *piece, int64_t count, Grid grid, bool halves,
                              bool stream, GridRule rule) {
    Grid16 all = {f16_set(grid.zero), f16_set(grid.step), f16_set(grid.most)};
    int64_t whole = count / 16 * 16;
    for (int64_t c = 0; c < whole; c += 16)
        put(out + c, value_of(q_at(piece, c, halves), all, rule), stream);
    if (whole < count) {
        F16 value = value_of(q_at(piece, whole, halves), all, rule);
        put(out + whole, f16_keep(value, mask_first(count - whole)), stream);
    }
}

// The codes of columns first .. from the planes of a row's payload.
static __attribute__((noinline)) void codes_read(Piece *piece, const uint8_t *payload,
                                                 int64_t columns, int64_t first, int bits,
                                                 int left_out) {
    if (left_out > 0) // planes are added to what is there
        memset(piece->code, 0, sizeof piece->code);
    for (int width = 8, shift = left_out; width > 0; width /= 2)
        if (bits & width) {
            plane_unpack(piece->code, payload + first * width / 8, columns_here(columns, first),
                         shift, width);
            payload += (columns * width + 7) / 8;
            shift += width;
        }
}

LANES_INLINE void piece_decode(float *out, Piece *piece, const uint8_t *payload, int64_t columns,
                               int64_t first, int bits, int left_out, Grid grid, bool stream,
                               GridRule rule) {
    int64_t count = columns_here(columns, first);
    if (rule == GRID_MINMAX && bits == 16) {
        memcpy(piece->half, payload + 2 * first, (size_t)(2 * count));
        values_make(out + first, piece, count, grid, true, stream, rule);
        return;
    }
    codes_read(piece, payload, columns, first, bits, left_out);
    values_make(out + first, piece, count, grid, false, stream, rule);
}

LANES_INLINE Grid grid_at(const Quantized *from, int64_t i, int left_out, GridRule rule) {
    float step = parameter_at(bytes_of(from->step), i, from->bf16);
    if (rule != GRID_MINMAX)
        return (Grid){.step = step, .most = grid_s(from->bits + left_out)};
    return (Grid){.zero = parameter_at(bytes_of(from->minimum), i, from->bf16), .step = step};
}

LANES_INLINE void rows_decode(const DequantizeCall *call, int64_t begin, int64_t end, bool stream,
                              GridRule rule) {
    const Quantized *from = &call->from;
    const CpuRows out = call->out;
    int left_out = rule == GRID_MINMAX ? 0 : bits_left_out(from->rule);
    Piece piece;
    for (int64_t i = begin; i < end; i++) {
        Grid grid = grid_at(from, i, left_out, rule);
        float *to = out.at + (call->begin + place_of(from, i)) * out.stride;
        for (int64_t first = 0; first < out.columns; first += BLOCK)
            piece_decode(to, &piece, bytes_of(from->payload) + i * call->row_bytes, out.columns,
                         first, from->bits, left_out, grid, stream, rule);
    }
}

LANES_INLINE void rules_decode(const DequantizeCall *call, int64_t begin, int64_t end,
                               bool stream) {
    if (call->from.rule == GRID_MINMAX)
        rows_decode(call, begin, end, stream, GRID_MINMAX);
    else if (call->from.rule == GRID_LOG)
        rows_decode(call, begin, end, stream, GRID_LOG);
    else
        rows_decode(call, begin, end, stream, GRID_MAX);
}

void LANES_NAME(dequantize_rows)(const DequantizeCall *call, int64_t begin, int64_t end) {
    if (call->stream) {
        rules_decode(call, begin, end, true);
        f16_stream_end();
    } else
        rules_decode(call, begin, end, false);
}
