// The part of cuSPARSE that kernels/cuda uses.
#ifndef FRINGE_EMULATED_CUSPARSE_H
#define FRINGE_EMULATED_CUSPARSE_H

#include "cuda_runtime.h"

enum cusparseStatus_t { CUSPARSE_STATUS_SUCCESS, CUSPARSE_STATUS_INVALID_VALUE = 3 };
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE };
enum cusparseIndexType_t { CUSPARSE_INDEX_32I = 2 };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO };
enum cusparseOrder_t { CUSPARSE_ORDER_ROW = 2 };
enum cusparseSpMMAlg_t { CUSPARSE_SPMM_CSR_ALG3 = 12 };
enum cudaDataType { CUDA_R_32F };
typedef struct EmulatedSparse *cusparseHandle_t;
typedef struct EmulatedCsr *cusparseSpMatDescr_t;
typedef struct EmulatedRows *cusparseDnMatDescr_t;

const char *cusparseGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseCreate(cusparseHandle_t *handle);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *matrix, int64_t rows, int64_t columns,
                                   int64_t entries, void *offset, void *column, void *value,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t column_type,
                                   cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseDestroySpMat(cusparseSpMatDescr_t matrix);
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *matrix, int64_t rows, int64_t columns,
                                     int64_t stride, void *values, cudaDataType type,
                                     cusparseOrder_t order);
cusparseStatus_t cusparseDestroyDnMat(cusparseDnMatDescr_t matrix);
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t a_op,
                                         cusparseOperation_t b_op, const void *alpha,
                                         cusparseSpMatDescr_t a, cusparseDnMatDescr_t b,
                                         const void *beta, cusparseDnMatDescr_t c,
                                         cudaDataType type, cusparseSpMMAlg_t algorithm,
                                         size_t *bytes);
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t a_op,
                              cusparseOperation_t b_op, const void *alpha, cusparseSpMatDescr_t a,
                              cusparseDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c,
                              cudaDataType type, cusparseSpMMAlg_t algorithm, void *buffer);

#endif
