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
cublasStatus_t cublasGetVersion(cublasHandle_t, int *version) {
    *version = 130000;
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
cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t mode) {
    return mode == CUBLAS_POINTER_MODE_HOST ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

// ---- products

// op(M) [rows, columns]; as it lies in memory it has `leading` floats from column to column.
struct Matrix {
    const float *at;
    int64_t leading, rows, columns;
    bool is_transposed;
    int64_t step_of_row() const { return is_transposed ? leading : 1; }
    int64_t step_of_column() const { return is_transposed ? 1 : leading; }
    int64_t stored_rows() const { return is_transposed ? columns : rows; }
    int64_t stored_columns() const { return is_transposed ? rows : columns; }
};

static void check_matrix(const Matrix &m, int64_t step, int64_t count, const char *what) {
    if (m.rows == 0 || m.columns == 0)
        return;
    const int64_t floats =
        (count - 1) * step + (m.stored_columns() - 1) * m.leading + m.stored_rows();
    check_block(m.at, (size_t)floats * sizeof(float), what);
}

// sum [m] = column `column` of the product
static void add_column(std::vector<double> &sum, const Matrix &a, const Matrix &b, int64_t column) {
    for (double &s : sum)
        s = 0;
    for (int64_t i = 0; i < a.columns; i++) {
        const double factor = b.at[i * b.step_of_row() + column * b.step_of_column()];
        const float *x = a.at + i * a.step_of_column();
        const int64_t step = a.step_of_row();
        for (int64_t row = 0; row < a.rows; row++)
            sum[(size_t)row] += (double)x[row * step] * factor;
    }
}

static void multiply(float alpha, const Matrix &a, const Matrix &b, float beta, float *c,
                     int64_t ldc) {
    std::vector<double> sum((size_t)a.rows);
    for (int64_t column = 0; column < b.columns; column++) {
        add_column(sum, a, b, column);
        for (int64_t row = 0; row < a.rows; row++) {
            float *at = c + column * ldc + row;
            const double kept = beta != 0 ? (double)beta * (double)*at : 0.0;
            *at = (float)((double)alpha * sum[(size_t)row] + kept);
        }
    }
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t a_op,
                                            cublasOperation_t b_op, int64_t m, int64_t n, int64_t k,
                                            const float *alpha, const float *a, int64_t lda,
                                            long long a_step, const float *b, int64_t ldb,
                                            long long b_step, const float *beta, float *c,
                                            int64_t ldc, long long c_step, int64_t count) {
    if (handle == nullptr)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const Matrix x = {a, lda, m, k, a_op != CUBLAS_OP_N}, y = {b, ldb, k, n, b_op != CUBLAS_OP_N};
    const Matrix out = {c, ldc, m, n, false};
    if (m < 0 || n < 0 || k < 0 || count < 0 || lda < 1 || ldb < 1 || lda < x.stored_rows() ||
        ldb < y.stored_rows() || ldc < (m > 1 ? m : 1))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0 || count == 0)
        return CUBLAS_STATUS_SUCCESS;
    check_matrix(x, a_step, count, "A of cublasSgemm");
    check_matrix(y, b_step, count, "B of cublasSgemm");
    check_matrix(out, c_step, count, "C of cublasSgemm");
    put(handle->stream, [=, factor = *alpha, keep = *beta] {
        for (int64_t i = 0; i < count; i++) {
            Matrix xi = x, yi = y;
            xi.at += i * a_step;
            yi.at += i * b_step;
            multiply(factor, xi, yi, keep, c + i * c_step, ldc);
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}
