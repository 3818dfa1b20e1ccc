// What the files of dense products share.
#pragma once

#include "device.h"

// The handle, which counts by columns, takes scalars of the host and puts its work on
// STREAM_COMPUTE. Its mode is pedantic: fp32 is multiplied in fp32.
cublasHandle_t blas(void);

#define BLAS_CALL(call) CHECKED_CALL(#call, call, CUBLAS_STATUS_SUCCESS, cublasGetStatusString)

// Partial sums of aT g: parts of equal height, and behind them one of the rows that are left.
struct Parts {
    int64_t count, rows, rest;
    int64_t all(void) const { return count + (rest > 0); }
};
Parts parts_of(int64_t rows);

// One product of a sum: a W, or a Wᵀ.
struct Factors {
    Rows a;
    const DeviceFloat *w;
    bool is_transposed;
};

// ---- dense_bf16.cu: where inputs are bf16
// out[r] = (out[r] if add) + the sum of `count` products + (bias if not NULL), r in range.
void bf16_product(Rows out, Range range, const Factors *factors, int count, const DeviceFloat *bias,
                  bool add);
// part [parts.all(), a.columns, g.columns]: aT g of each part.
void bf16_gradient_parts(float *part, const Parts &parts, Rows a, Rows g);
