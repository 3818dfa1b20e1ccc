// Dense products whose inputs are bf16 and whose sums are fp32, by cuBLAS.
//
// The one idea: a sum is rounded once, behind its last term. A product that is the whole sum is
// rounded by cuBLAS. Of others cuBLAS adds up in floats, into a strip of rows so small that it
// stays in the device's second cache; a kernel then adds what belongs to the sum (the bias, rows
// that are there) and rounds it into the rows of the result. Inputs that lie in floats, weights
// above all, are rounded before.
#include "dense.h"

enum { STRIP_THREADS = 256, STRIP_BYTES = 24 << 20 };

// ---- inputs

// A matrix of bf16, row-major.
struct Input {
    const Bf16 *at;
    int64_t stride;
};

// [count, columns] of floats, as bf16 in scratch; rows begin at whole requests.
static Input rounded(const float *from, int64_t count, int64_t columns, int64_t stride,
                     ScratchSlot slot) {
    const int64_t padded = rows_stride(columns);
    Bf16 *to = (Bf16 *)cuda_scratch(slot, (size_t)(count * padded) * sizeof(Bf16));
    LAUNCH_ITEMS(pad_floats<Bf16>, count * padded, STRIP_THREADS,
                 RowsOf<Bf16>{to, count, columns, padded}, from, stride);
    return Input{to, padded};
}

static Input input_of(Rows rows, Range range, ScratchSlot slot) {
    const int64_t first = range.begin * rows.stride;
    if (rows.type == ROWS_BF16)
        return Input{rows_of<Bf16>(rows).at + first, rows.stride};
    return rounded(device_rows(rows).at + first, range.end - range.begin, rows.columns, rows.stride,
                   slot);
}

// Rows of a strip, whose floats fill half of the second cache, at most STRIP_BYTES.
static int64_t strip_rows(int64_t columns) {
    const int64_t bytes = least((int64_t)cuda_cache_bytes() / 2, STRIP_BYTES);
    const int64_t rows = bytes / (int64_t)sizeof(float) / rows_stride(columns);
    return rows > 0 ? rows : 1;
}

// ---- products

// C = op(A) op(B) (+ C if add) by columns, [m, k] [k, n], `count` times.
struct Product {
    cublasOperation_t a_op, b_op;
    int64_t m, n, k;
    Input a, b;
    int64_t a_step, b_step, count;
    void *c;
    RowsType c_type;
    int64_t ldc;
    bool add;
};

// The matrix units take bf16 in the default mode alone. Partial sums stay floats.
static void multiply(const Product &p) {
    const int mode = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    const float one = 1, kept = p.add ? 1.0f : 0.0f;
    if (p.m == 0 || p.n == 0 || p.count == 0)
        return;
    BLAS_CALL(cublasSetMathMode(blas(), (cublasMath_t)mode));
    BLAS_CALL(cublasGemmStridedBatchedEx_64(
        blas(), p.a_op, p.b_op, p.m, p.n, p.k, &one, p.a.at, CUDA_R_16BF, p.a.stride, p.a_step,
        p.b.at, CUDA_R_16BF, p.b.stride, p.b_step, &kept, p.c,
        p.c_type == ROWS_BF16 ? CUDA_R_16BF : CUDA_R_32F, p.ldc, p.m * p.n, p.count,
        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    BLAS_CALL(cublasSetMathMode(blas(), CUBLAS_PEDANTIC_MATH));
}

// out[r] = (out[r] if add) + sum[r] + bias; padding becomes zero.
template <typename Number>
__global__ static void finish_strip(RowsOf<Number> out, const float *sum, int64_t pitch,
                                    const float *bias, bool add) {
    const int64_t quads = out.stride / 4;
    EACH_ITEM(i, out.count * quads) {
        const int64_t r = i / quads, first = i % quads * 4;
        Number *to = out.at + r * out.stride + first;
        const float4 from = *(const float4 *)(sum + r * pitch + first);
        const float4 kept = add ? quad_of(to) : make_float4(0, 0, 0, 0);
        const float term[] = {from.x, from.y, from.z, from.w},
                    old[] = {kept.x, kept.y, kept.z, kept.w};
        float value[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int64_t c = first + j;
            value[j] =
                c < out.columns ? old[j] + (term[j] + (bias != NULL ? bias[c] : 0.0f)) : 0.0f;
        }
        put(to, make_float4(value[0], value[1], value[2], value[3]));
    }
}

template <typename Number>
static void finish(Rows out, Range range, const float *sum, int64_t pitch, const DeviceFloat *bias,
                   bool add) {
    RowsOf<Number> to = rows_of<Number>(out);
    to.at += range.begin * to.stride;
    to.count = range.end - range.begin;
    LAUNCH_ITEMS(finish_strip<Number>, to.count * to.stride / 4, STRIP_THREADS, to, sum, pitch,
                 floats_of(bias), add);
}

// Of W, [a.columns, out.columns] or, where it is transposed, [out.columns, a.columns].
static Input weights_of(const Factors &f, int64_t out_columns, ScratchSlot slot) {
    const int64_t rows = f.is_transposed ? out_columns : f.a.columns;
    const int64_t columns = f.is_transposed ? f.a.columns : out_columns;
    return rounded(floats_of(f.w), rows, columns, columns, slot);
}

// The `columns` first ones of a[r] W, r in range, into `to`, whose rows are `pitch` numbers apart.
static void product(const Factors &f, Input w, int64_t columns, Range range, void *to,
                    RowsType type, int64_t pitch, bool add) {
    multiply(Product{f.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, columns,
                     range.end - range.begin, f.a.columns, w, input_of(f.a, range, SCRATCH_INPUT),
                     0, 0, 1, to, type, pitch, add});
}

// Padding columns of W make those of the result, where W has them.
static bool is_whole(const Rows &out, const Factors *factors, int count, const DeviceFloat *bias,
                     bool add) {
    return count == 1 && bias == NULL && !add && factors->a.type == ROWS_BF16 &&
           (!factors->is_transposed || out.columns == out.stride);
}

void bf16_product(Rows out, Range range, const Factors *factors, int count, const DeviceFloat *bias,
                  bool add) {
    static const ScratchSlot slots[] = {SCRATCH_WEIGHTS, SCRATCH_OTHER_WEIGHTS};
    const int64_t pitch = rows_stride(out.columns);
    assert(out.stride == pitch); // padding is written
    int64_t widest = out.columns;
    Input w[2];
    for (int i = 0; i < count; i++) {
        w[i] = weights_of(factors[i], out.columns, slots[i]);
        widest = factors[i].a.columns > widest ? factors[i].a.columns : widest;
    }
    if (is_whole(out, factors, count, bias, add)) {
        const int64_t first = range.begin * out.stride * (int64_t)rows_number(out.type);
        product(*factors, w[0], out.stride, range, (char *)out.at + first, out.type, out.stride,
                false);
        return;
    }
    const int64_t step = strip_rows(widest);
    float *sum = (float *)cuda_scratch(SCRATCH_STRIP, (size_t)(step * pitch) * sizeof(float));
    for (int64_t begin = range.begin; begin < range.end; begin += step) {
        const Range strip = {begin, least(begin + step, range.end)};
        for (int i = 0; i < count; i++)
            product(factors[i], w[i], out.columns, strip, sum, ROWS_FP32, pitch, i > 0);
        EACH_TYPE(out.type, finish<Number>(out, strip, sum, pitch, bias, add));
    }
}

// ---- the weight gradient

// Parts first .. first + count - 1, of `rows` rows each.
static void multiply_parts(float *part, int64_t begin, int64_t rows, int64_t count, Rows a,
                           Rows g) {
    const Range range = {begin, begin + rows * count};
    const Input x = input_of(a, range, SCRATCH_INPUT), y = input_of(g, range, SCRATCH_OTHER_INPUT);
    multiply(Product{CUBLAS_OP_N, CUBLAS_OP_T, g.columns, a.columns, rows, y, x, rows * y.stride,
                     rows * x.stride, count, part, ROWS_FP32, g.columns, false});
}

// So many parts at once that inputs which are rounded fit into a strip, but one at least; all where
// none is.
void bf16_gradient_parts(float *part, const Parts &parts, Rows a, Rows g) {
    const int64_t size = a.columns * g.columns,
                  widest = a.columns > g.columns ? a.columns : g.columns;
    const bool as_they_are = a.type == ROWS_BF16 && g.type == ROWS_BF16;
    int64_t together =
        as_they_are ? parts.count : strip_rows(widest) / (parts.rows > 0 ? parts.rows : 1);
    together = together > 0 ? together : 1;
    for (int64_t p = 0; p < parts.count; p += together)
        multiply_parts(part + p * size, p * parts.rows, parts.rows,
                       least(together, parts.count - p), a, g);
    if (parts.rest > 0)
        multiply_parts(part + parts.count * size, parts.count * parts.rows, parts.rest, 1, a, g);
}
