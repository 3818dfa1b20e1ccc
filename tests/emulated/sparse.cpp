// cuSPARSE (cusparse.h).
#include "cusparse.h"
#include "emulated.h"

#include <vector>

using namespace emulated;

struct cusparseContext {
    cudaStream_t stream;
};
struct cusparseSpMatDescr {
    int64_t rows, columns, entries;
    const int32_t *offset, *column;
    const float *value;
    mutable const void *plan;     // by cusparseSpMM_preprocess: its workspace,
    mutable int64_t plan_columns; // and the width that it is for
};
struct cusparseDnMatDescr {
    int64_t rows, columns, stride;
    float *at;
};
static const size_t workspace_bytes = 64;

const char *cusparseGetErrorString(cusparseStatus_t status) {
    switch (status) {
    case CUSPARSE_STATUS_SUCCESS:
        return "success";
    case CUSPARSE_STATUS_NOT_INITIALIZED:
        return "initialization error";
    case CUSPARSE_STATUS_INVALID_VALUE:
        return "invalid value";
    default:
        return "operation not supported";
    }
}
cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) {
    *handle = new cusparseContext{nullptr};
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
    delete handle;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
    if (!is_stream(stream))
        return CUSPARSE_STATUS_INVALID_VALUE;
    handle->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}

// ---- matrices

static void check_matrix(const cusparseSpMatDescr &a) {
    check_block(a.offset, (size_t)(a.rows + 1) * sizeof *a.offset,
                "the offsets of a sparse matrix");
    if (a.entries == 0)
        return;
    check_block(a.column, (size_t)a.entries * sizeof *a.column, "the columns of a sparse matrix");
    check_block(a.value, (size_t)a.entries * sizeof *a.value, "the values of a sparse matrix");
}

static void check_rows(const cusparseDnMatDescr &rows) {
    if (rows.rows > 0 && rows.columns > 0)
        check_block(rows.at,
                    (size_t)((rows.rows - 1) * rows.stride + rows.columns) * sizeof *rows.at,
                    "a dense matrix of cuSPARSE");
}

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *matrix, int64_t rows, int64_t columns,
                                   int64_t entries, void *offset, void *column, void *value,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t column_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
    if (rows < 0 || columns < 0 || entries < 0)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (offset_type != CUSPARSE_INDEX_32I || column_type != CUSPARSE_INDEX_32I ||
        base != CUSPARSE_INDEX_BASE_ZERO || type != CUDA_R_32F)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    cusparseSpMatDescr made = {
        rows, columns, entries, (int32_t *)offset, (int32_t *)column, (float *)value, nullptr, 0};
    check_matrix(made);
    *matrix = new cusparseSpMatDescr(made);
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *matrix, int64_t rows, int64_t columns,
                                     int64_t stride, void *values, cudaDataType type,
                                     cusparseOrder_t order) {
    if (rows < 0 || columns < 0 || stride < columns)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (type != CUDA_R_32F || order != CUSPARSE_ORDER_ROW)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    cusparseDnMatDescr made = {rows, columns, stride, (float *)values};
    check_rows(made);
    *matrix = new cusparseDnMatDescr(made);
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}

// ---- products

static void add_row(std::vector<double> &sum, const cusparseSpMatDescr &a,
                    const cusparseDnMatDescr &b, int64_t row) {
    for (double &s : sum)
        s = 0;
    for (int64_t e = a.offset[row]; e < a.offset[row + 1]; e++) {
        const int64_t column = a.column[e];
        if (column < 0 || column >= a.columns)
            stop("cusparseSpMM: row %lld has an entry in column %lld of %lld", (long long)row,
                 (long long)column, (long long)a.columns);
        const float *x = b.at + column * b.stride;
        for (int64_t c = 0; c < b.columns; c++)
            sum[(size_t)c] += (double)a.value[e] * (double)x[c];
    }
}

static void multiply(float alpha, const cusparseSpMatDescr &a, const cusparseDnMatDescr &b,
                     float beta, const cusparseDnMatDescr &c) {
    if (a.offset[0] != 0 || a.offset[a.rows] != a.entries)
        stop("cusparseSpMM: the offsets do not begin at 0 and end at the entries");
    std::vector<double> sum((size_t)b.columns);
    for (int64_t row = 0; row < a.rows; row++) {
        add_row(sum, a, b, row);
        for (int64_t column = 0; column < c.columns; column++) {
            float *at = c.at + row * c.stride + column;
            const double kept = beta != 0 ? (double)beta * (double)*at : 0.0;
            *at = (float)((double)alpha * sum[(size_t)column] + kept);
        }
    }
}

static cusparseStatus_t check_product(cusparseOperation_t a_op, cusparseOperation_t b_op,
                                      const cusparseSpMatDescr &a, const cusparseDnMatDescr &b,
                                      const cusparseDnMatDescr &c, cudaDataType type) {
    if (a_op != CUSPARSE_OPERATION_NON_TRANSPOSE || b_op != CUSPARSE_OPERATION_NON_TRANSPOSE ||
        type != CUDA_R_32F)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t a_op,
                                         cusparseOperation_t b_op, const void *,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void *, cusparseDnMatDescr_t c, cudaDataType type,
                                         cusparseSpMMAlg_t, size_t *bytes) {
    *bytes = workspace_bytes;
    return check_product(a_op, b_op, *a, *b, *c, type);
}

cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t, cusparseOperation_t a_op,
                                         cusparseOperation_t b_op, const void *,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void *, cusparseDnMatDescr_t c, cudaDataType type,
                                         cusparseSpMMAlg_t, void *buffer) {
    check_block(buffer, workspace_bytes, "the workspace of cusparseSpMM_preprocess");
    a->plan = buffer;
    a->plan_columns = b->columns;
    return check_product(a_op, b_op, *a, *b, *c, type);
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t a_op,
                              cusparseOperation_t b_op, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void *beta, cusparseDnMatDescr_t c, cudaDataType type,
                              cusparseSpMMAlg_t, void *buffer) {
    const cusparseStatus_t status = check_product(a_op, b_op, *a, *b, *c, type);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    check_block(buffer, workspace_bytes, "the workspace of cusparseSpMM");
    if (a->plan != buffer || a->plan_columns != b->columns)
        stop("cusparseSpMM: the workspace has no plan of this matrix for rows of %lld columns",
             (long long)b->columns);
    check_matrix(*a);
    check_rows(*b);
    check_rows(*c);
    const float factor = *(const float *)alpha, keep = *(const float *)beta;
    put(handle->stream,
        [factor, a = *a, b = *b, keep, c = *c] { multiply(factor, a, b, keep, c); });
    return CUSPARSE_STATUS_SUCCESS;
}
