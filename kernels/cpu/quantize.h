// What quantize.c hands to the loops of quantize_lanes.c and dequantize_lanes.c. Only these open
// it.
#pragma once

#include "cpu.h"
#include "philox.h"

typedef struct QuantizeCall {
    Quantized to;
    MessageSource from;
    PhiloxKey key;
    int64_t row_bytes; // of the payload
} QuantizeCall;

typedef struct DequantizeCall {
    Quantized from;
    CpuRows out;
    int64_t begin;
    int64_t row_bytes;
    bool stream; // results go around the cache: too many to be found there later
} DequantizeCall;

static inline int32_t place_of(const Quantized *rows, int64_t i) {
    return rows->place != NULL ? int32s_of(rows->place)[i] : (int32_t)(rows->first + i);
}

typedef void DequantizeRows(const DequantizeCall *call, int64_t begin, int64_t end);
DequantizeRows dequantize_rows_plain, dequantize_rows_avx2, dequantize_rows_avx512;

// A row that cannot be written has a place below this.
enum { NO_PLACE = INT32_MAX };

#define QUANTIZE_LANES(lanes)                                                                      \
    int64_t quantize_rows_##lanes(const QuantizeCall *call, int64_t begin, int64_t end);
EACH_ROWS_LANES(QUANTIZE_LANES)
#undef QUANTIZE_LANES
