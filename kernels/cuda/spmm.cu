// The sparse aggregate by cuSPARSE (run.spmm = cusparse).
//
// The one idea: cuSPARSE multiplies a matrix with dense rows and knows neither diagonals nor the
// self term. So the right diagonal is multiplied into a copy of x, and the left one and the self
// term are added to the product. The matrix is the stored transpose where one is meant, and the
// algorithm is the one that is documented to repeat its bits (TRAPS 21). A range of rows is a
// matrix of its own, whose offsets begin at 0; what cuSPARSE finds out about it (preprocess) holds
// for one width of rows. Ranges and widths are few, and the same in every epoch.
#include "aggregate.h"

#include <cusparse.h>

static constexpr int MATRICES = 16, FILL_THREADS = 256;

#define SPARSE_CALL(call) CHECKED_CALL(#call, call, CUSPARSE_STATUS_SUCCESS, cusparseGetErrorString)

static cusparseHandle_t library(void) {
    static cusparseHandle_t handle;
    if (handle == NULL) {
        SPARSE_CALL(cusparseCreate(&handle));
        SPARSE_CALL(cusparseSetStream(handle, cuda_stream(STREAM_COMPUTE)));
    }
    return handle;
}

// Rows of the Csr as a matrix to multiply with rows of one width.
struct RangeMatrix {
    Range range;
    int64_t stride;
    int32_t *offset; // [rows + 1], the first is 0
    cusparseSpMatDescr_t matrix;
    void *buffer; // NULL until it was multiplied for the first time; cuSPARSE keeps its plan there
};

struct Spmm {
    const DeviceCsr *csr; // borrowed, and the offsets of the host
    const int64_t *offset;
    int64_t sources;
    float *ones;   // [entries] where the Csr has no weights
    float *scaled; // [sources, stride] right x
    RangeMatrix matrix[MATRICES];
    int matrices;
};

// ---- making

__global__ static void fill(float *at, float value, int64_t count) {
    EACH_ITEM(i, count)
        at[i] = value;
}

Spmm *spmm_new(const DeviceCsr *csr, const int64_t *offset, int64_t sources, int64_t stride) {
    Spmm *s = (Spmm *)cuda_host->memory_alloc(sizeof *s, "sparse aggregate");
    s->csr = csr;
    s->offset = offset;
    s->sources = sources;
    s->scaled = (float *)cuda_alloc((size_t)(sources * stride) * sizeof(float), "scaled rows");
    if (csr->weight == NULL) {
        s->ones = (float *)cuda_alloc((size_t)csr->entries * sizeof(float), "weights of 1");
        LAUNCH_ITEMS(fill, csr->entries, FILL_THREADS, s->ones, 1.0f, csr->entries);
    }
    return s;
}

// Ranges that overlap are at most all rows once whole and once in parts, for two widths.
size_t spmm_bytes(const Csr *csr, int64_t sources, int64_t stride) {
    size_t scaled = (size_t)(sources * stride) * sizeof(float);
    size_t ones = csr->weight == NULL ? (size_t)csr_entries(csr) * sizeof(float) : 0;
    size_t offsets = 4 * (size_t)(csr->rows + MATRICES) * sizeof(int32_t);
    return sizeof(Spmm) + scaled + ones + offsets;
}

void spmm_free(Spmm *s) {
    if (s == NULL)
        return;
    cuda_finish(NULL);
    for (int i = 0; i < s->matrices; i++) {
        SPARSE_CALL(cusparseDestroySpMat(s->matrix[i].matrix));
        cuda_free(s->matrix[i].buffer);
        cuda_free(s->matrix[i].offset);
    }
    cuda_free(s->scaled);
    cuda_free(s->ones);
    cuda_host->memory_free(s);
}

__global__ static void rebase(int32_t *to, const int64_t *from, int64_t count) {
    EACH_ITEM(i, count)
        to[i] = (int32_t)(from[i] - from[0]);
}

static bool make_matrix(Spmm *s, RangeMatrix *made, Range range, int64_t stride) {
    const int64_t rows = range.end - range.begin, first = s->offset[range.begin];
    const int64_t entries = s->offset[range.end] - first;
    if (entries > INT32_MAX)
        return false;
    *made = RangeMatrix{range, stride, NULL, NULL, NULL};
    made->offset = (int32_t *)cuda_alloc((size_t)(rows + 1) * sizeof(int32_t), "offsets");
    LAUNCH_ITEMS(rebase, rows + 1, FILL_THREADS, made->offset, s->csr->offset + range.begin,
                 rows + 1);
    float *values = s->ones != NULL ? s->ones : s->csr->weight;
    SPARSE_CALL(cusparseCreateCsr(&made->matrix, rows, s->sources, entries, made->offset,
                                  s->csr->column + first, values + first, CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    return true;
}

// NULL where a range has more entries than a matrix may have, or there are too many matrices.
static RangeMatrix *matrix_of(Spmm *s, Range range, int64_t stride) {
    for (int i = 0; i < s->matrices; i++) {
        const RangeMatrix *m = &s->matrix[i];
        if (m->range.begin == range.begin && m->range.end == range.end && m->stride == stride)
            return &s->matrix[i];
    }
    if (s->matrices == MATRICES || !make_matrix(s, &s->matrix[s->matrices], range, stride))
        return NULL;
    return &s->matrix[s->matrices++];
}

// ---- running

// to[r] = right[r] x[r]
__global__ static void scale_rows(float *to, const float *x, const float *right, int64_t rows,
                                  int64_t stride) {
    EACH_ITEM(i, rows * stride)
        to[i] = right[i / stride] * x[i];
}

// out[r] = left[r] (self term + out[r]), of a range of rows. x holds right x already.
__global__ static void finish_rows(float *out, const float *x, const float *left, bool self,
                                   int64_t begin, int64_t rows, int64_t stride) {
    EACH_ITEM(i, rows * stride) {
        float *at = out + begin * stride + i;
        float sum = self ? x[begin * stride + i] + *at : *at;
        *at = left != NULL ? left[begin + i / stride] * sum : sum;
    }
}

static cusparseDnMatDescr_t rows_as_matrix(const float *at, int64_t rows, int64_t stride) {
    cusparseDnMatDescr_t made;
    SPARSE_CALL(cusparseCreateDnMat(&made, rows, stride, stride, const_cast<float *>(at),
                                    CUDA_R_32F, CUSPARSE_ORDER_ROW));
    return made;
}

static void multiply(RangeMatrix *m, const float *x, float *out, int64_t sources) {
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const cusparseSpMMAlg_t algorithm = CUSPARSE_SPMM_CSR_ALG3;
    const float one = 1, zero = 0;
    const int64_t rows = m->range.end - m->range.begin, stride = m->stride;
    cusparseDnMatDescr_t from = rows_as_matrix(x, sources, stride);
    cusparseDnMatDescr_t to = rows_as_matrix(out + m->range.begin * stride, rows, stride);
    if (m->buffer == NULL) {
        size_t bytes = 0;
        SPARSE_CALL(cusparseSpMM_bufferSize(library(), plain, plain, &one, m->matrix, from, &zero,
                                            to, CUDA_R_32F, algorithm, &bytes));
        m->buffer = cuda_alloc(bytes > 0 ? bytes : 1, "workspace of cuSPARSE");
        SPARSE_CALL(cusparseSpMM_preprocess(library(), plain, plain, &one, m->matrix, from, &zero,
                                            to, CUDA_R_32F, algorithm, m->buffer));
    }
    SPARSE_CALL(cusparseSpMM(library(), plain, plain, &one, m->matrix, from, &zero, to, CUDA_R_32F,
                             algorithm, m->buffer));
    SPARSE_CALL(cusparseDestroyDnMat(to));
    SPARSE_CALL(cusparseDestroyDnMat(from));
}

void spmm_prepare(Spmm *s, const DeviceRows *x, const float *right) {
    if (right != NULL)
        LAUNCH_ITEMS(scale_rows, x->count * x->stride, FILL_THREADS, s->scaled, x->at, right,
                     x->count, x->stride);
}

bool spmm_rows(Spmm *s, const AggregateTask *task, Range range) {
    const int64_t rows = range.end - range.begin, stride = task->out.stride;
    RangeMatrix *matrix = matrix_of(s, range, stride);
    if (matrix == NULL)
        return false;
    const float *x = task->right != NULL ? s->scaled : floats_of(task->x.at);
    float *out = floats_of(task->out.at);
    multiply(matrix, x, out, s->sources);
    if (task->self || task->left != NULL)
        LAUNCH_ITEMS(finish_rows, rows * stride, FILL_THREADS, out, x, task->left, task->self,
                     range.begin, rows, stride);
    return true;
}
