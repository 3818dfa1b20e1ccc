// Dense products by cuBLAS, in fp32 and nothing less: pedantic mode takes no TF32 and no emulation
// of fp32 by narrower numbers.
//
// The one idea: cuBLAS repeats its bits as long as one stream calls it with one workspace of its
// own. The long thin product aT g is a fixed number of partial sums over fixed ranges of rows,
// added in order, because one product of that shape would leave most of the device idle.
//
// cuBLAS counts by columns: a row-major matrix is its transposed one. So out = a W is
// outT = WT aT, and the strides of rows are its leading dimensions.
#include "dense.h"

#include <cstdio>

enum {
    WEIGHT_PARTS = 32, // partial sums of aT g, at most
    PART_ROWS = 512,   // rows of a part, at least
    THREADS = 256,     // of a block of the kernels here
    WORKSPACE = 32 << 20
};

static cublasHandle_t library;

cublasHandle_t blas(void) { return library; }

void cuda_dense_start(void) {
    BLAS_CALL(cublasCreate(&library));
    BLAS_CALL(cublasSetStream(library, cuda_stream(STREAM_COMPUTE)));
    BLAS_CALL(cublasSetWorkspace(library, cuda_scratch(SCRATCH_BLAS, WORKSPACE), WORKSPACE));
    BLAS_CALL(cublasSetMathMode(library, CUBLAS_PEDANTIC_MATH));
}

const char *cuda_dense_describe(void) {
    static char text[64];
    int major = 0, minor = 0, patch = 0;
    cublasGetProperty(MAJOR_VERSION, &major);
    cublasGetProperty(MINOR_VERSION, &minor);
    cublasGetProperty(PATCH_LEVEL, &patch);
    snprintf(text, sizeof text, "cuBLAS %d.%d.%d", major, minor, patch);
    return text;
}

// ---- out = a op(W), of a range of rows

// out[r] += bias where there is one; padding becomes zero.
__global__ static void finish_rows(DeviceRows out, int64_t begin, int64_t count,
                                   const float *bias) {
    EACH_ITEM(i, count * out.stride) {
        int64_t column = i % out.stride;
        float *at = out.at + begin * out.stride + i;
        if (column >= out.columns)
            *at = 0;
        else if (bias != NULL)
            *at += bias[column];
    }
}

static void fp32_product(Rows out, Range range, const Factors &f, const DeviceFloat *bias,
                         bool add) {
    const DeviceRows to = device_rows(out), from = device_rows(f.a);
    const cublasOperation_t w_op = f.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int64_t rows = range.end - range.begin;
    if (rows <= 0 || to.columns == 0)
        return;
    const float one = 1, beta = add ? 1.0f : 0.0f;
    const int64_t ldw = f.is_transposed ? from.columns : to.columns;
    BLAS_CALL(cublasSgemm_64(library, w_op, CUBLAS_OP_N, to.columns, rows, from.columns, &one,
                             floats_of(f.w), ldw, from.at + range.begin * from.stride, from.stride,
                             &beta, to.at + range.begin * to.stride, to.stride));
    if (bias != NULL || to.stride != to.columns)
        LAUNCH_ITEMS(finish_rows, rows * to.stride, THREADS, to, range.begin, rows,
                     floats_of(bias));
}

static void products(Rows out, Range range, const Factors *factors, int count,
                     const DeviceFloat *bias, bool add) {
    if (cuda_is_bf16)
        return bf16_product(out, range, factors, count, bias, add);
    for (int i = 0; i < count; i++)
        fp32_product(out, range, factors[i], i == 0 ? bias : NULL, add || i > 0);
}

void cuda_dense(Rows out, Range range, Rows a, const DeviceFloat *w, const DeviceFloat *bias,
                bool add, const Poll *) {
    const Factors one = {a, w, false};
    products(out, range, &one, 1, bias, add);
}

void cuda_dense_sum(Rows out, Range range, Rows a, const DeviceFloat *w, Rows b,
                    const DeviceFloat *w_b, const DeviceFloat *bias, const Poll *) {
    const Factors both[] = {{a, w, false}, {b, w_b, false}};
    products(out, range, both, 2, bias, false);
}

void cuda_dense_transposed(Rows out, Range range, Rows g, const DeviceFloat *w, bool add,
                           const Poll *) {
    const Factors one = {g, w, true};
    products(out, range, &one, 1, NULL, add);
}

// ---- the weight gradient

Parts parts_of(int64_t rows) {
    int64_t count = least(rows / PART_ROWS, WEIGHT_PARTS);
    if (count == 0)
        return Parts{0, 0, rows};
    return Parts{count, rows / count, rows % (rows / count)};
}

int64_t cuda_dense_gradient_scratch(int64_t rows, int64_t a_columns, int64_t g_columns) {
    return (parts_of(rows).count + 1) * a_columns * g_columns;
}

static void gradient_parts(float *part, const Parts &parts, Rows a, Rows g) {
    const DeviceRows x = device_rows(a), y = device_rows(g);
    const int64_t count = x.columns * y.columns, whole = parts.count * parts.rows;
    const float one = 1, zero = 0;
    if (parts.count > 0)
        BLAS_CALL(cublasSgemmStridedBatched_64(
            library, CUBLAS_OP_N, CUBLAS_OP_T, y.columns, x.columns, parts.rows, &one, y.at,
            y.stride, parts.rows * y.stride, x.at, x.stride, parts.rows * x.stride, &zero, part,
            y.columns, count, parts.count));
    if (parts.rest > 0)
        BLAS_CALL(cublasSgemm_64(library, CUBLAS_OP_N, CUBLAS_OP_T, y.columns, x.columns,
                                 parts.rest, &one, y.at + whole * y.stride, y.stride,
                                 x.at + whole * x.stride, x.stride, &zero,
                                 part + parts.count * count, y.columns));
}

void cuda_dense_gradient(DeviceFloat *dw, Rows a, Rows g, DeviceFloat *scratch, const Poll *) {
    const Parts parts = parts_of(a.count);
    const int64_t count = a.columns * g.columns;
    float *part = floats_of(scratch);
    if (count == 0)
        return;
    if (cuda_is_bf16)
        bf16_gradient_parts(part, parts, a, g);
    else
        gradient_parts(part, parts, a, g);
    LAUNCH_ITEMS(add_in_turn<float>, count, THREADS, floats_of(dw), part, parts.all(), count);
}
