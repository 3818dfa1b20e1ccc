// The sparse aggregate, row by row (LIMITS 2): Y[i] += w[i,j] X[j].
//
// The one idea: a lane holds four columns of one row of the result over all edges of the row, so no
// sum leaves its register, no two lanes add to one number, and a column adds its edges in the order
// of the list. What is waited for is memory: a lane asks for the rows of AHEAD edges at once before
// it adds the first. Neighbouring lanes read neighbouring columns, so a request is one line. A row
// of x is read once for each of its edges: all rows are done in some columns before the next ones
// begin, so that the slice of x that is read meanwhile stays in the device's second cache. Lanes of
// a warp that do several rows wait for the longest of them, so rows are done in the order of their
// lengths (AggregateTask.order).
#include "aggregate.h"

enum { THREADS = 128, AHEAD = 8, BLOCKS = 6, WEIGHT = 1, RIGHT = 2 };

__device__ static inline float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// What row i of the task starts from, in the four columns from `at` on. X: a number of x.
template <typename X>
__device__ static inline float4 start_of(const AggregateTask &task, int64_t i, int64_t at) {
    if (task.resume)
        return out_quad(task, i * task.out.stride + at);
    if (!task.self)
        return make_float4(0, 0, 0, 0);
    float4 x = quad_of((const X *)task.x.at + i * task.x.stride + at);
    return task.right != NULL ? times(task.right[i], x) : x;
}

template <int KIND>
__device__ static inline float4 term_of(const AggregateTask &task, int64_t edge, int32_t j,
                                        float4 x) {
    if (KIND & RIGHT)
        x = times(task.right[j], x);
    if (KIND & WEIGHT)
        x = times(task.weight[edge], x);
    return x;
}

template <int KIND, typename X>
__device__ static inline float4 add_edges(const AggregateTask &task, float4 sum, int64_t begin,
                                          int64_t end, int64_t at) {
    const X *column = (const X *)task.x.at + at;
    int64_t edge = begin;
    for (; edge + AHEAD <= end; edge += AHEAD) {
        int32_t j[AHEAD];
        RawQuad<X> x[AHEAD];
        for (int a = 0; a < AHEAD; a++)
            j[a] = task.column[edge + a];
        for (int a = 0; a < AHEAD; a++)
            x[a] = *(const RawQuad<X> *)(column + j[a] * task.x.stride);
        for (int a = 0; a < AHEAD; a++)
            sum = plus(sum, term_of<KIND>(task, edge + a, j[a], quad_value(x[a])));
    }
    for (; edge < end; edge++) {
        int32_t j = task.column[edge];
        sum = plus(sum, term_of<KIND>(task, edge, j, quad_of(column + j * task.x.stride)));
    }
    return sum;
}

// The rows that a call asks for, and the places in the order among which they are.
struct RowPlaces {
    int64_t first, last;
    int64_t begin, end;
};

// `lanes` neighbouring threads take a tile of 4 lanes columns of one row; all rows of a tile come
// before the next tile. BLOCKS a multiprocessor leave a thread the registers for AHEAD rows.
template <int KIND, typename X>
__global__ __launch_bounds__(THREADS, BLOCKS) static void rows_kernel(AggregateTask task,
                                                                      RowPlaces at, int lanes,
                                                                      int tiles) {
    const int groups = (int)blockDim.x / lanes;
    const int64_t places = at.end - at.begin, items = places * tiles;
    const int64_t step = (int64_t)gridDim.x * groups;
    for (int64_t item = (int64_t)blockIdx.x * groups + threadIdx.x / lanes; item < items;
         item += step) {
        const int64_t place = at.begin + item % places;
        const int64_t k = task.order != NULL ? task.order[place] : place;
        const int64_t column = 4 * (item / places * lanes + threadIdx.x % lanes);
        if (column >= task.out.stride || k < at.first || k >= at.last)
            continue;
        const int64_t begin = task.begin[k], end = task.end[k];
        const bool unchanged = task.resume && task.left == NULL && begin == end;
        if (unchanged || (task.longest > 0 && end - begin > task.longest))
            continue;
        const int64_t i = task.row != NULL ? task.row[k] : k;
        float4 sum = add_edges<KIND, X>(task, start_of<X>(task, i, column), begin, end, column);
        if (task.left != NULL)
            sum = times(task.left[i], sum);
        put_out(task, i * task.out.stride + column, sum);
    }
}

// Unmeasured: so few that a slice of x as wide as a tile fits into the second cache; a line of
// memory at least. Only rows whose neighbours are near one another do as well with wider tiles.
static int lanes_by_size(int64_t sources, RowsType type) {
    const size_t columns =
        cuda_cache_bytes() / rows_number(type) / (size_t)(sources > 0 ? sources : 1);
    return columns >= 128 ? 32 : columns >= 64 ? 16 : 8;
}

// Lanes of a tile, a power of two: no more than a row's columns need.
static int lanes_for(const AggregateTask *task) {
    const int most = task->lanes > 0 ? task->lanes : lanes_by_size(task->x.count, task->x.type);
    int lanes = 4;
    while (lanes < most && 4 * lanes < task->out.stride)
        lanes *= 2;
    return lanes;
}

// Whole windows, of which rows outside of the call's are passed over.
static RowPlaces places_of(const AggregateTask *task, int64_t first, int64_t last) {
    if (task->order == NULL)
        return RowPlaces{first, last, first, last};
    const int64_t end = least(divide_up(last, WINDOW) * WINDOW, task->ordered);
    return RowPlaces{first, last, first / WINDOW * WINDOW, end};
}

template <typename X> static void run_task(const AggregateTask *task, int64_t first, int64_t last) {
    static void (*const kernels[])(AggregateTask, RowPlaces, int,
                                   int) = {rows_kernel<0, X>, rows_kernel<WEIGHT, X>,
                                           rows_kernel<RIGHT, X>, rows_kernel<WEIGHT | RIGHT, X>};
    const int lanes = lanes_for(task);
    const RowPlaces at = places_of(task, first, last);
    const int64_t tiles = divide_up(task->out.stride, 4 * lanes);
    const int kind = (task->weight != NULL ? WEIGHT : 0) | (task->right != NULL ? RIGHT : 0);
    // one item a group: the device hands out blocks as others end, which evens out long rows
    LAUNCH(kernels[kind], divide_up((at.end - at.begin) * tiles * lanes, THREADS), THREADS, 0,
           cuda_stream(STREAM_COMPUTE), *task, at, lanes, (int)tiles);
}

void aggregate_task_run(const AggregateTask *task, int64_t first, int64_t last) {
    EACH_TYPE(task->x.type, run_task<Number>(task, first, last));
}
