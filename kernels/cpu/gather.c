// Rows of a send list one behind the other, tight, as floats or as bf16, and back; the checksum of
// such a message. All are bound by memory.
//
// The one idea: blocks of rows are spread over the threads, and rows of the gather are asked for
// some time before they are read (send lists ascend, invariant 5, but with gaps that the hardware
// does not guess).
#include "../checksum.h"
#include "cells.h"

enum {
    AHEAD = 8,         // rows asked for before they are read
    LINE = 64,         // bytes of a cache line
    BLOCK = 1 << 14,   // floats that a thread takes at a time
    PARALLEL = 1 << 15 // floats below which one thread is quicker than starting the others
};

// Asks for the row that will be read AHEAD places after place k of `count`.
static inline void ask_ahead(const MessageSource *source, int64_t k, int64_t count) {
    if (k + AHEAD >= count)
        return;
    const char *row = message_row(source, int32s_of(source->row)[k + AHEAD]);
    int64_t bytes = source->x.columns * (int64_t)rows_number(source->x.type);
    for (int64_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch(row + at);
}

// --- floats

// Rows [begin, end) of the list. A factor of 1 changes nothing.
CELLS_INLINE void pack_floats(float *out, const MessageSource *source, int64_t begin, int64_t end,
                              int64_t count, RowsType type) {
    const int64_t columns = source->x.columns;
    for (int64_t k = begin; k < end; k++) {
        int32_t row = int32s_of(source->row)[k];
        ask_ahead(source, k, count);
        const Cells from = {(void *)message_row(source, row), type};
        float *to = out + k * columns, scale = message_scale(source, row);
        if (source->scale == NULL && type == ROWS_FP32)
            memcpy(to, from.at, (size_t)columns * sizeof(float));
        else
            for (int64_t c = 0; c < columns; c++)
                to[c] = scale * cell(from, c);
    }
}

void cpu_pack_fp32(DeviceByte *out, const MessageSource *source, int64_t count, const Poll *poll) {
    const int64_t columns = source->x.columns, step = piece_rows(BLOCK, columns);
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static) if (count * columns > PARALLEL)
    for (int64_t k = 0; k < count; k += step) {
        EACH_TYPE(source->x.type, pack_floats, (float *)out, source, k, least(k + step, count),
                  count);
        pace_call(&pace);
    }
}

void cpu_unpack_fp32(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                     const Poll *poll) {
    const CpuRows rows = cpu_rows(out);
    const size_t bytes = (size_t)out.columns * sizeof(float);
    const size_t padding = (size_t)rows_stride(out.columns) * sizeof(float) - bytes;
    const int64_t step = piece_rows(BLOCK, out.columns);
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static) if (count * out.columns > PARALLEL)
    for (int64_t begin = 0; begin < count; begin += step) {
        for (int64_t k = begin; k < least(begin + step, count); k++) {
            float *row = rows.at + (first + k) * rows.stride;
            memcpy(row, bytes_of(in) + (size_t)k * bytes, bytes);
            memset(row + out.columns, 0, padding);
        }
        pace_call(&pace);
    }
}

// --- bf16: the upper half of a float, rounded to nearest, halves to even

// False if a value has no bf16.
CELLS_INLINE bool pack_row(unsigned char *to, Cells x, float scale, int64_t columns) {
    uint32_t bad = 0;
    for (int64_t c = 0; c < columns; c++) {
        uint32_t bits = float_bits(scale * cell(x, c));
        uint16_t half = (uint16_t)bf16_rounded(bits);
        bad |= bf16_is_bad(bits);
        memcpy(to + 2 * c, &half, sizeof half);
    }
    return bad == 0;
}

CELLS_INLINE void unpack_row(Cells out, const unsigned char *from, int64_t columns, RowsType type) {
    size_t number = rows_number(type);
    if (type == ROWS_BF16)
        memcpy(out.at, from, (size_t)columns * number);
    for (int64_t c = 0; type == ROWS_FP32 && c < columns; c++) {
        uint16_t half;
        memcpy(&half, from + 2 * c, sizeof half);
        uint32_t bits = (uint32_t)half << 16;
        memcpy((float *)out.at + c, &bits, sizeof bits);
    }
    memset((char *)out.at + (size_t)columns * number, 0,
           (size_t)(rows_stride(columns) - columns) * number);
}

// Rows [begin, end) of the message.
CELLS_INLINE void unpack_halves(CpuRows rows, int64_t first, const unsigned char *in, int64_t begin,
                                int64_t end, RowsType type) {
    for (int64_t k = begin; k < end; k++)
        unpack_row(row_cells(rows, first + k, type), in + 2 * k * rows.columns, rows.columns, type);
}

// Rows [begin, end) of the list; the first place that cannot be written, or `count`.
CELLS_INLINE int64_t pack_halves(unsigned char *out, const MessageSource *source, int64_t begin,
                                 int64_t end, int64_t count, bool as_they_are, RowsType type) {
    const int64_t columns = source->x.columns;
    int64_t bad = count;
    for (int64_t k = begin; k < end; k++) {
        int32_t row = int32s_of(source->row)[k];
        ask_ahead(source, k, count);
        Cells from = {(void *)message_row(source, row), type};
        unsigned char *to = out + 2 * k * columns;
        if (as_they_are)
            memcpy(to, from.at, (size_t)columns * sizeof(uint16_t));
        else if (!pack_row(to, from, message_scale(source, row), columns) && bad == count)
            bad = k;
    }
    return bad;
}

void cpu_pack_bf16(DeviceByte *out, const MessageSource *source, int64_t count,
                   DeviceInt64 *first_bad, const Poll *poll) {
    const int64_t columns = source->x.columns, step = piece_rows(BLOCK, columns);
    int64_t bad = count;
    const bool as_they_are = first_bad == NULL;
    assert(!as_they_are || (source->x.type == ROWS_BF16 && source->scale == NULL));
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static) reduction(min : bad) if (count * columns > PARALLEL)
    for (int64_t k = 0; k < count; k += step) {
        bad = least(bad, EACH_TYPE(source->x.type, pack_halves, bytes_of(out), source, k,
                                   least(k + step, count), count, as_they_are));
        pace_call(&pace);
    }
    if (!as_they_are)
        cpu_note_bad(first_bad, bad < count ? bad : -1);
}

void cpu_unpack_bf16(Rows out, int64_t first, const DeviceByte *in, int64_t count,
                     const Poll *poll) {
    const CpuRows rows = cpu_rows_of_any(out);
    const int64_t step = piece_rows(BLOCK, out.columns);
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static) if (count * out.columns > PARALLEL)
    for (int64_t k = 0; k < count; k += step) {
        EACH_TYPE(out.type, unpack_halves, rows, first, bytes_of(in), k, least(k + step, count));
        pace_call(&pace);
    }
}

void cpu_message_checksum(DeviceInt64 *sum, const DeviceByte *payload, size_t bytes,
                          const Poll *poll) {
    const int64_t words = divide_up((int64_t)bytes, CHECKSUM_WORD);
    uint64_t total = 0;
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(static) reduction(+ : total) if (words > PARALLEL)
    for (int64_t begin = 0; begin < words; begin += BLOCK) {
        for (int64_t w = begin; w < least(begin + BLOCK, words); w++)
            total +=
                checksum_term(checksum_word(bytes_of(payload), bytes, (uint64_t)w), (uint64_t)w);
        pace_call(&pace);
    }
    *int64s_of(sum) = (int64_t)total;
}
