// The part of cuBLAS that kernels/cuda uses, as plain loops in double.
#ifndef FRINGE_EMULATED_CUBLAS_H
#define FRINGE_EMULATED_CUBLAS_H

#include "cuda_runtime.h"

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_PEDANTIC_MATH = 2 };
enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
typedef struct EmulatedBlas *cublasHandle_t;

const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value);
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasSgemm_64(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op,
                              int64_t m, int64_t n, int64_t k, const float *alpha, const float *a,
                              int64_t lda, const float *b, int64_t ldb, const float *beta, float *c,
                              int64_t ldc);
cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t a_op,
                                            cublasOperation_t b_op, int64_t m, int64_t n, int64_t k,
                                            const float *alpha, const float *a, int64_t lda,
                                            int64_t a_step, const float *b, int64_t ldb,
                                            int64_t b_step, const float *beta, float *c,
                                            int64_t ldc, int64_t c_step, int64_t count);

#endif
