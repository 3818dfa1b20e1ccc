// Rows of many edges: one lane group would wait for memory thousands of times in a row.
//
// The one idea: a block takes 32 columns of one row. All its threads fetch the terms of 256 edges
// into shared memory at once; then one thread a column adds them in the order of the list, so the
// sum is that of a short row, bit for bit. Splitting a row by columns needs no second sum.
#include "aggregate.h"

enum { COLUMNS = 32, LANES_OF_EDGE = COLUMNS / 4, THREADS = 256, EDGES = 256, PASSES = 8 };
static_assert(PASSES * THREADS / LANES_OF_EDGE == EDGES, "a pass fetches THREADS / 8 edges");

// The terms of the edges begin .. begin + count - 1 into shared memory [EDGES][COLUMNS]. X: a
// number of x.
template <typename X>
__device__ static inline void fetch_terms(float *term, const AggregateTask &task, int64_t begin,
                                          int64_t count, int64_t first_column) {
    const int lane = (int)threadIdx.x % LANES_OF_EDGE;
    const int64_t at = first_column + 4 * lane;
    for (int pass = 0; pass < PASSES; pass++) {
        const int e = pass * (THREADS / LANES_OF_EDGE) + (int)threadIdx.x / LANES_OF_EDGE;
        if (e >= count || at >= task.out.stride)
            continue;
        const int64_t j = task.column[begin + e];
        const float4 x = quad_of((const X *)task.x.at + j * task.x.stride + at);
        const float right = task.right != NULL ? task.right[j] : 1.0f;
        const float weight = task.weight != NULL ? task.weight[begin + e] : 1.0f;
        put(term + e * COLUMNS + 4 * lane, times(weight, times(right, x)));
    }
}

template <typename X>
__device__ static inline float start_of(const AggregateTask &task, int64_t i, int64_t column) {
    if (!task.self)
        return 0;
    float x = value_of(((const X *)task.x.at)[i * task.x.stride + column]);
    return task.right != NULL ? task.right[i] * x : x;
}

template <typename X>
__global__ __launch_bounds__(THREADS) static void long_kernel(AggregateTask task,
                                                              const int32_t *list, int64_t count,
                                                              int tiles) {
    SHARED(float, term);
    for (int64_t item = blockIdx.x; item < count * tiles; item += gridDim.x) {
        const int64_t i = list[item / tiles], first = item % tiles * COLUMNS;
        const int64_t end = task.end[i], column = first + threadIdx.x;
        const bool sums = threadIdx.x < COLUMNS && column < task.out.stride;
        float sum = sums ? start_of<X>(task, i, column) : 0.0f;
        for (int64_t edge = task.begin[i]; edge < end; edge += EDGES) {
            const int64_t here = least(EDGES, end - edge);
            fetch_terms<X>(term, task, edge, here, first);
            __syncthreads();
            if (sums)
                for (int64_t e = 0; e < here; e++)
                    sum += term[e * COLUMNS + threadIdx.x];
            __syncthreads();
        }
        if (sums)
            put_out(task, i * task.out.stride + column,
                    task.left != NULL ? task.left[i] * sum : sum);
    }
}

template <typename X>
static void run_long(const AggregateTask *task, const int32_t *list, int64_t first, int64_t last) {
    const int64_t tiles = divide_up(task->out.stride, COLUMNS);
    LAUNCH(long_kernel<X>, (last - first) * tiles, THREADS, EDGES * COLUMNS * sizeof(float),
           cuda_stream(STREAM_COMPUTE), *task, list + first, last - first, (int)tiles);
}

void aggregate_long_run(const AggregateTask *task, const int32_t *list, int64_t first,
                        int64_t last) {
    EACH_TYPE(task->x.type, run_long<Number>(task, list, first, last));
}
