// What the files of the sparse aggregate share: the kernel of rows, and a Csr on the device.
#pragma once

#include "device.h"

// Row k adds the edges begin[k] .. end[k] - 1 and is row `row[k]` of out (row NULL: k):
//   out[i] = left[i] * ( start + sum_e weight[e] * (right[column[e]] * x[column[e]]) )
// start is out[i] itself if `resume`, else right[i] x[i] if `self`, else 0. Each term is (right x)
// first, then the weight times it, and terms are added in the order of the edges: the CPU's bits.
struct AggregateTask {
    Rows out, x; // columns to make: out.stride
    int lanes;   // of a tile, at most (4 .. 32); 0: by the size of x
    const int64_t *begin, *end;
    const int32_t *row, *column;
    const int32_t *order; // the rows in the order in which they are done; NULL: as they are
    int64_t ordered;      // rows in it
    const float *weight, *left, *right; // NULL: all 1
    bool self, resume;
    int64_t longest; // rows of more edges are left out; 0: none is
};

// Of the result, whose type a kernel asks for once a row.
__device__ static inline float4 out_quad(const AggregateTask &task, int64_t at) {
    return task.out.type == ROWS_BF16 ? quad_of((const Bf16 *)task.out.at + at)
                                      : quad_of((const float *)task.out.at + at);
}
template <typename Sum> // a float, or four
__device__ static inline void put_out(const AggregateTask &task, int64_t at, Sum sum) {
    if (task.out.type == ROWS_BF16)
        put((Bf16 *)task.out.at + at, sum);
    else
        put((float *)task.out.at + at, sum);
}

// The order of rows is one inside windows of so many: wide enough that rows beside each other are
// of one length, narrow enough that neighbours in the graph stay near one another. Measured on one
// H100, on a look-alike of Reddit whose rows lie cluster by cluster: none 12.8 ms, of 256
// rows 11.2, of 4096 11.0, of 16384 11.9, of all 14.1.
enum { WINDOW = 4096 };

// Rows first .. last - 1 of the task, on STREAM_COMPUTE.
void aggregate_task_run(const AggregateTask *task, int64_t first, int64_t last);

// A Csr whose arrays lie on the device.
struct DeviceCsr {
    int64_t rows, entries;
    int64_t *offset;
    int32_t *column;
    float *weight; // NULL: all 1
};

// ---- aggregate_long.cu: rows with more edges than this are done by whole blocks.
enum { LONG_ROW = 4096 };
// The rows list[first] .. list[last - 1] of the task.
void aggregate_long_run(const AggregateTask *task, const int32_t *list, int64_t first,
                        int64_t last);

// ---- spmm.cu: the same by cuSPARSE. `offset` are the Csr's on the host; both are borrowed.
struct Spmm;
Spmm *spmm_new(const DeviceCsr *csr, const int64_t *offset, int64_t sources, int64_t stride);
size_t spmm_bytes(const Csr *csr, int64_t sources, int64_t stride); // at most, but for workspace
void spmm_free(Spmm *spmm);                                         // NULL is fine
void spmm_prepare(Spmm *spmm, const DeviceRows *x, const float *right);
// False where cuSPARSE cannot: a range has 2^31 entries or more.
bool spmm_rows(Spmm *spmm, const AggregateTask *task, Range range);
