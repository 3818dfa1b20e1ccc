// cuBLAS (cublas_v2.h).
#include "cublas_v2.h"
#include "emulated.h"

#include <vector>

using namespace emulated;

struct cublasContext {
    cudaStream_t stream;
    cublasMath_t mode;
};

const char *cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "the operation completed successfully";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "the library was not initialized";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "an unsupported value or parameter was passed to the function";
    default:
        return "the functionality requested is not supported";
    }
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value) {
    *value = type == MAJOR_VERSION ? 13 : 0;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    *handle = new cublasContext{nullptr, CUBLAS_DEFAULT_MATH};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    if (handle == nullptr)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    if (!is_stream(stream))
        return CUBLAS_STATUS_INVALID_VALUE;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *workspace, size_t bytes) {
    check_block(workspace, bytes, "cublasSetWorkspace");
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

// ---- products

struct Bf16 {
    uint16_t bits;
};
static double number_of(float x) { return x; }
static double number_of(Bf16 x) { return same_bits<float>((uint32_t)x.bits << 16); }

// op(M) [rows, columns]; as it lies in memory it has `leading` numbers from column to column.
template <typename Number> struct Matrix {
    const Number *at;
    int64_t leading, rows, columns;
    bool is_transposed;
    int64_t step_of_row() const { return is_transposed ? leading : 1; }
    int64_t step_of_column() const { return is_transposed ? 1 : leading; }
    int64_t stored_rows() const { return is_transposed ? columns : rows; }
    int64_t stored_columns() const { return is_transposed ? rows : columns; }
    bool is_valid() const { return leading >= 1 && leading >= stored_rows(); }
};

template <typename Number>
static void check_matrix(const Matrix<Number> &m, int64_t step, int64_t count, const char *what) {
    if (m.rows == 0 || m.columns == 0)
        return;
    const int64_t numbers =
        (count - 1) * step + (m.stored_columns() - 1) * m.leading + m.stored_rows();
    check_block(m.at, (size_t)numbers * sizeof(Number), what);
}

// sum [m] = column `column` of the product
template <typename Number>
static void add_column(std::vector<double> &sum, const Matrix<Number> &a, const Matrix<Number> &b,
                       int64_t column) {
    for (double &s : sum)
        s = 0;
    for (int64_t i = 0; i < a.columns; i++) {
        const double factor = number_of(b.at[i * b.step_of_row() + column * b.step_of_column()]);
        const Number *x = a.at + i * a.step_of_column();
        const int64_t step = a.step_of_row();
        for (int64_t row = 0; row < a.rows; row++)
            sum[(size_t)row] += number_of(x[row * step]) * factor;
    }
}

static void store(float *at, double value) { *at = (float)value; }
static void store(Bf16 *at, double value) { // to nearest, halves to even
    const uint32_t bits = same_bits<uint32_t>((float)value);
    at->bits = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename Number, typename Out>
static void multiply(float alpha, const Matrix<Number> &a, const Matrix<Number> &b, float beta,
                     Out *c, int64_t ldc) {
    std::vector<double> sum((size_t)a.rows);
    for (int64_t column = 0; column < b.columns; column++) {
        add_column(sum, a, b, column);
        for (int64_t row = 0; row < a.rows; row++) {
            Out *at = c + column * ldc + row;
            const double kept = beta != 0 ? (double)beta * number_of(*at) : 0.0;
            store(at, (double)alpha * sum[(size_t)row] + kept);
        }
    }
}

// `count` products, whose matrices lie so many numbers apart.
template <typename Number, typename Out> struct Products {
    Matrix<Number> a, b;
    Out *c;
    int64_t ldc;
    long long a_step, b_step, c_step;
    int64_t count;
    float alpha, beta;
};

template <typename Number, typename Out>
static cublasStatus_t put_products(cublasHandle_t handle, const Products<Number, Out> &p) {
    if (handle == nullptr)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const int64_t m = p.a.rows, n = p.b.columns, k = p.a.columns;
    const Matrix<Out> out = {p.c, p.ldc, m, n, false};
    if (m < 0 || n < 0 || k < 0 || p.count < 0 || !p.a.is_valid() || !p.b.is_valid() ||
        p.ldc < (m > 1 ? m : 1))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0 || p.count == 0)
        return CUBLAS_STATUS_SUCCESS;
    check_matrix(p.a, p.a_step, p.count, "A of a product of cuBLAS");
    check_matrix(p.b, p.b_step, p.count, "B of a product of cuBLAS");
    check_matrix(out, p.c_step, p.count, "C of a product of cuBLAS");
    put(handle->stream, [=] {
        for (int64_t i = 0; i < p.count; i++) {
            Matrix<Number> a = p.a, b = p.b;
            a.at += i * p.a_step;
            b.at += i * p.b_step;
            multiply(p.alpha, a, b, p.beta, p.c + i * p.c_step, p.ldc);
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t a_op,
                                            cublasOperation_t b_op, int64_t m, int64_t n, int64_t k,
                                            const float *alpha, const float *a, int64_t lda,
                                            long long a_step, const float *b, int64_t ldb,
                                            long long b_step, const float *beta, float *c,
                                            int64_t ldc, long long c_step, int64_t count) {
    if (handle != nullptr && handle->mode != CUBLAS_PEDANTIC_MATH) // another may take TF32
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const Matrix<float> x = {a, lda, m, k, a_op != CUBLAS_OP_N};
    const Matrix<float> y = {b, ldb, k, n, b_op != CUBLAS_OP_N};
    return put_products(
        handle, Products<float, float>{x, y, c, ldc, a_step, b_step, c_step, count, *alpha, *beta});
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int64_t m, int64_t n,
    int64_t k, const void *alpha, const void *a, cudaDataType_t a_type, int64_t lda,
    long long a_step, const void *b, cudaDataType_t b_type, int64_t ldb, long long b_step,
    const void *beta, void *c, cudaDataType_t c_type, int64_t ldc, long long c_step, int64_t count,
    cublasComputeType_t compute, cublasGemmAlgo_t) {
    const bool to_bf16 = c_type == CUDA_R_16BF;
    const int mode = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    if (handle != nullptr &&
        (int)handle->mode != mode) // another adds in bf16, or not by matrix units
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (a_type != CUDA_R_16BF || b_type != CUDA_R_16BF || compute != CUBLAS_COMPUTE_32F ||
        (!to_bf16 && c_type != CUDA_R_32F))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const Matrix<Bf16> x = {(const Bf16 *)a, lda, m, k, a_op != CUBLAS_OP_N};
    const Matrix<Bf16> y = {(const Bf16 *)b, ldb, k, n, b_op != CUBLAS_OP_N};
    const float factor = *(const float *)alpha, keep = *(const float *)beta;
    if (to_bf16)
        return put_products(handle, Products<Bf16, Bf16>{x, y, (Bf16 *)c, ldc, a_step, b_step,
                                                         c_step, count, factor, keep});
    return put_products(handle, Products<Bf16, float>{x, y, (float *)c, ldc, a_step, b_step, c_step,
                                                      count, factor, keep});
}
