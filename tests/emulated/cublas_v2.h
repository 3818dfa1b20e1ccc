// The part of cuBLAS that kernels/cuda uses, as plain loops in double that round once. Scalars are
// the host's.
#pragma once

#include "cuda_runtime.h"

enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_NOT_SUPPORTED = 15
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
typedef struct cublasContext *cublasHandle_t;

const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value);
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
// Forgets the workspace, as cuBLAS does.
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);

// C = alpha op(A) op(B) + beta C: all by columns, [m, k] [k, n]. C is not read where beta is 0.
cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t a_op,
                                            cublasOperation_t b_op, int64_t m, int64_t n, int64_t k,
                                            const float *alpha, const float *a, int64_t lda,
                                            long long a_step, const float *b, int64_t ldb,
                                            long long b_step, const float *beta, float *c,
                                            int64_t ldc, long long c_step, int64_t count);

// The same of A and B of bf16 and C of floats or bf16; CUBLAS_STATUS_NOT_SUPPORTED for other types.
cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int64_t m, int64_t n,
    int64_t k, const void *alpha, const void *a, cudaDataType_t a_type, int64_t lda,
    long long a_step, const void *b, cudaDataType_t b_type, int64_t ldb, long long b_step,
    const void *beta, void *c, cudaDataType_t c_type, int64_t ldc, long long c_step, int64_t count,
    cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

static inline cublasStatus_t cublasSgemm_64(cublasHandle_t handle, cublasOperation_t a_op,
                                            cublasOperation_t b_op, int64_t m, int64_t n, int64_t k,
                                            const float *alpha, const float *a, int64_t lda,
                                            const float *b, int64_t ldb, const float *beta,
                                            float *c, int64_t ldc) {
    return cublasSgemmStridedBatched_64(handle, a_op, b_op, m, n, k, alpha, a, lda, 0, b, ldb, 0,
                                        beta, c, ldc, 0, 1);
}
static inline cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t a_op,
                                         cublasOperation_t b_op, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         const float *b, int ldb, const float *beta, float *c,
                                         int ldc) {
    return cublasSgemm_64(handle, a_op, b_op, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
