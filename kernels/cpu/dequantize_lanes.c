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

LANES_INLINE F16 value_of(F16 q, Grid16 grid, bool signs) {
    return signs ? f16_mul(f16_sub(q, grid.s), grid.step)
                 : f16_add(grid.zero, f16_mul(q, grid.step));
}

LANES_INLINE void values_make(float *out, const Piece *piece, int64_t count, Grid grid, bool halves,
                              bool stream, bool signs) {
    Grid16 all = {f16_set(grid.zero), f16_set(grid.step), f16_set(grid.most)};
    int64_t whole = count / 16 * 16;
    for (int64_t c = 0; c < whole; c += 16)
        put(out + c, value_of(q_at(piece, c, halves), all, signs), stream);
    if (whole < count) {
        F16 value = value_of(q_at(piece, whole, halves), all, signs);
        put(out + whole, f16_keep(value, mask_first(count - whole)), stream);
    }
}

LANES_INLINE void piece_decode(float *out, Piece *piece, const uint8_t *payload, int64_t columns,
                               int64_t first, int bits, int left_out, Grid grid, bool stream,
                               bool signs) {
    int64_t count = columns_here(columns, first);
    if (!signs && bits == 16) {
        memcpy(piece->half, payload + 2 * first, (size_t)(2 * count));
        values_make(out + first, piece, count, grid, true, stream, signs);
        return;
    }
    if (left_out > 0) // planes are added to what is there
        memset(piece->code, 0, sizeof piece->code);
    for (int width = 8, shift = left_out; width > 0; width /= 2)
        if (bits & width) {
            plane_unpack(piece->code, payload + first * width / 8, count, shift, width);
            payload += (columns * width + 7) / 8;
            shift += width;
        }
    values_make(out + first, piece, count, grid, false, stream, signs);
}

LANES_INLINE Grid grid_at(const Quantized *from, int64_t i, int left_out, bool signs) {
    float step = parameter_at(cpu_bytes(from->step), i, from->bf16);
    if (signs)
        return (Grid){.step = step, .most = grid_s(from->bits + left_out)};
    return (Grid){.zero = parameter_at(cpu_bytes(from->minimum), i, from->bf16), .step = step};
}

LANES_INLINE void rows_decode(const DequantizeCall *call, int64_t begin, int64_t end, bool stream,
                              bool signs) {
    const Quantized *from = &call->from;
    const CpuRows out = call->out;
    int left_out = signs ? bits_left_out(from->rule) : 0;
    Piece piece;
    for (int64_t i = begin; i < end; i++) {
        Grid grid = grid_at(from, i, left_out, signs);
        float *to = out.at + (call->begin + place_of(from, i)) * out.stride;
        for (int64_t first = 0; first < out.columns; first += BLOCK)
            piece_decode(to, &piece, cpu_bytes(from->payload) + i * call->row_bytes, out.columns,
                         first, from->bits, left_out, grid, stream, signs);
    }
}

void LANES_NAME(dequantize_rows)(const DequantizeCall *call, int64_t begin, int64_t end) {
    bool signs = call->from.rule != GRID_MINMAX;
    if (call->stream) {
        signs ? rows_decode(call, begin, end, true, true)
              : rows_decode(call, begin, end, true, false);
        f16_stream_end();
    } else
        signs ? rows_decode(call, begin, end, false, true)
              : rows_decode(call, begin, end, false, false);
}
