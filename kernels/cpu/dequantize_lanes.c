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

LANES_INLINE void values_make(float *out, const Piece *piece, int64_t count, Grid grid, bool halves,
                              bool stream) {
    F16 zero = f16_set(grid.zero), step = f16_set(grid.step);
    int64_t whole = count / 16 * 16;
    for (int64_t c = 0; c < whole; c += 16)
        put(out + c, f16_add(zero, f16_mul(q_at(piece, c, halves), step)), stream);
    if (whole < count) {
        F16 value = f16_add(zero, f16_mul(q_at(piece, whole, halves), step));
        put(out + whole, f16_keep(value, mask_first(count - whole)), stream);
    }
}

LANES_INLINE void piece_decode(float *out, Piece *piece, const uint8_t *payload, int64_t columns,
                               int64_t first, int bits, Grid grid, bool stream) {
    int64_t count = columns_here(columns, first);
    if (bits == 16) {
        memcpy(piece->half, payload + 2 * first, (size_t)(2 * count));
        values_make(out + first, piece, count, grid, true, stream);
        return;
    }
    for (int width = 8, shift = 0; width > 0; width /= 2)
        if (bits & width) {
            plane_unpack(piece->code, payload + first * width / 8, count, shift, width);
            payload += (columns * width + 7) / 8;
            shift += width;
        }
    values_make(out + first, piece, count, grid, false, stream);
}

LANES_INLINE void rows_decode(const DequantizeCall *call, int64_t begin, int64_t end, bool stream) {
    const Quantized *from = &call->from;
    const CpuRows out = call->out;
    Piece piece;
    for (int64_t i = begin; i < end; i++) {
        Grid grid = {.zero = parameter_at(cpu_bytes(from->minimum), i, from->bf16),
                     .step = parameter_at(cpu_bytes(from->step), i, from->bf16)};
        for (int64_t first = 0; first < out.columns; first += BLOCK)
            piece_decode(out.at + (call->begin + cpu_int32s(from->place)[i]) * out.stride, &piece,
                         cpu_bytes(from->payload) + i * call->row_bytes, out.columns, first,
                         from->bits, grid, stream);
    }
}

void LANES_NAME(dequantize_rows)(const DequantizeCall *call, int64_t begin, int64_t end) {
    if (call->stream) {
        rows_decode(call, begin, end, true);
        f16_stream_end();
    } else
        rows_decode(call, begin, end, false);
}
