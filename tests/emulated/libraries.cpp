// cuBLAS as plain loops in double, and cuSPARSE in the order of the entries.
#include "cublas_v2.h"
#include "cusparse.h"
#include "emulated.h"

struct EmulatedBlas {
    cudaStream_t stream;
    cublasMath_t mode;
};

const char *cublasGetStatusString(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "success" : "invalid value";
}
cublasStatus_t cublasGetProperty(libraryPropertyType, int *value) {
    return *value = 0, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    return *handle = new EmulatedBlas{nullptr, CUBLAS_DEFAULT_MATH}, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    return handle->stream = stream, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes) {
    emulated::check_block(workspace, bytes, "cublasSetWorkspace");
    return handle->stream != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    return handle->mode = mode, CUBLAS_STATUS_SUCCESS;
}

struct Matrix {
    const float *at;
    int64_t leading;
    bool transposed;
    float get(int64_t row, int64_t column) const {
        return transposed ? at[row * leading + column] : at[column * leading + row];
    }
};

static void product(int64_t m, int64_t n, int64_t k, float alpha, Matrix a, Matrix b, float beta,
                    float *c, int64_t ldc) {
    for (int64_t column = 0; column < n; column++)
        for (int64_t row = 0; row < m; row++) {
            double sum = 0;
            for (int64_t i = 0; i < k; i++)
                sum += (double)a.get(row, i) * (double)b.get(i, column);
            float *at = c + column * ldc + row;
            *at = (float)(alpha * sum + (beta != 0 ? (double)(beta * *at) : 0.0));
        }
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t a_op,
                                            cublasOperation_t b_op, int64_t m, int64_t n, int64_t k,
                                            const float *alpha, const float *a, int64_t lda,
                                            int64_t a_step, const float *b, int64_t ldb,
                                            int64_t b_step, const float *beta, float *c,
                                            int64_t ldc, int64_t c_step, int64_t count) {
    const float factor = *alpha, keep = *beta; // the host's, read during the call
    if (handle->mode != CUBLAS_PEDANTIC_MATH || lda < (a_op == CUBLAS_OP_N ? m : k) ||
        ldb < (b_op == CUBLAS_OP_N ? k : n) || ldc < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    emulated::put(handle->stream, [=] {
        for (int64_t i = 0; i < count; i++)
            product(m, n, k, factor, Matrix{a + i * a_step, lda, a_op == CUBLAS_OP_T},
                    Matrix{b + i * b_step, ldb, b_op == CUBLAS_OP_T}, keep, c + i * c_step, ldc);
    });
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_64(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op,
                              int64_t m, int64_t n, int64_t k, const float *alpha, const float *a,
                              int64_t lda, const float *b, int64_t ldb, const float *beta, float *c,
                              int64_t ldc) {
    return cublasSgemmStridedBatched_64(handle, a_op, b_op, m, n, k, alpha, a, lda, 0, b, ldb, 0,
                                        beta, c, ldc, 0, 1);
}

// ---- cuSPARSE

struct EmulatedSparse {
    cudaStream_t stream;
};
struct EmulatedCsr {
    int64_t rows, columns, entries;
    const int32_t *offset, *column;
    const float *value;
};
struct EmulatedRows {
    int64_t rows, columns, stride;
    float *at;
};
static const size_t WORKSPACE = 64;

const char *cusparseGetErrorString(cusparseStatus_t status) {
    return status == CUSPARSE_STATUS_SUCCESS ? "success" : "invalid value";
}
cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) {
    return *handle = new EmulatedSparse{nullptr}, CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
    return handle->stream = stream, CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *matrix, int64_t rows, int64_t columns,
                                   int64_t entries, void *offset, void *column, void *value,
                                   cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t,
                                   cudaDataType) {
    emulated::check_block(offset, (size_t)(rows + 1) * 4, "cusparseCreateCsr: offsets");
    emulated::check_block(column, (size_t)entries * 4, "cusparseCreateCsr: columns");
    emulated::check_block(value, (size_t)entries * 4, "cusparseCreateCsr: values");
    *matrix = new EmulatedCsr{rows,
                              columns,
                              entries,
                              (const int32_t *)offset,
                              (const int32_t *)column,
                              (const float *)value};
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroySpMat(cusparseSpMatDescr_t matrix) {
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *matrix, int64_t rows, int64_t columns,
                                     int64_t stride, void *values, cudaDataType, cusparseOrder_t) {
    if (stride < columns)
        return CUSPARSE_STATUS_INVALID_VALUE;
    emulated::check_block(values, (size_t)(rows * stride) * 4, "cusparseCreateDnMat");
    return *matrix = new EmulatedRows{rows, columns, stride, (float *)values},
           CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyDnMat(cusparseDnMatDescr_t matrix) {
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t,
                                         const void *, cusparseSpMatDescr_t, cusparseDnMatDescr_t,
                                         const void *, cusparseDnMatDescr_t, cudaDataType,
                                         cusparseSpMMAlg_t, size_t *bytes) {
    return *bytes = WORKSPACE, CUSPARSE_STATUS_SUCCESS;
}

static void multiply(const EmulatedCsr &a, const EmulatedRows &b, const EmulatedRows &c) {
    if (a.offset[0] != 0 || a.offset[a.rows] != a.entries)
        emulated::stop("cusparseSpMM: the offsets do not begin at 0 and end at the entries");
    for (int64_t r = 0; r < a.rows; r++)
        for (int64_t column = 0; column < c.columns; column++) {
            float sum = 0;
            for (int64_t e = a.offset[r]; e < a.offset[r + 1]; e++)
                sum += a.value[e] * b.at[a.column[e] * b.stride + column];
            c.at[r * c.stride + column] = sum;
        }
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                              const void *alpha, cusparseSpMatDescr_t a, cusparseDnMatDescr_t b,
                              const void *beta, cusparseDnMatDescr_t c, cudaDataType,
                              cusparseSpMMAlg_t, void *buffer) {
    emulated::check_block(buffer, WORKSPACE, "cusparseSpMM");
    if (*(const float *)alpha != 1 || *(const float *)beta != 0 || a->columns != b->rows ||
        a->rows != c->rows || b->columns != c->columns)
        return CUSPARSE_STATUS_INVALID_VALUE;
    emulated::put(handle->stream, [a = *a, b = *b, c = *c] { multiply(a, b, c); });
    return CUSPARSE_STATUS_SUCCESS;
}
