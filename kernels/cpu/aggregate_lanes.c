// The sparse aggregate on a block of rows (LIMITS 2): Y[i] += w[i,j] X[j].
//
// The one idea: a tile of up to 256 columns of one output row stays in registers over all edges of
// the row, while the lines of the row that is needed `ahead` edges later are already fetched. A
// loop that keeps the sums in memory is 2 to 4 times slower; without the prefetch the latency of
// the memory shows (1.5 times). Each column adds its edges in the order of the list whatever the
// tile or the vector width, so neither changes a bit.
//
// Sums of bf16 rows are kept by pairs of units, one with the even and one with the odd columns of
// both: halves that lie side by side become floats by one shift and one mask, where halves in order
// would have to be moved apart first. They change places once a row.
//
// One function is compiled per tile width and kind of edge (weights, factors of the source, lists
// with gaps); a table picks it.
#include "aggregate.h"
#include "rows_lanes.h"

// Units of 16 floats (one cache line) that fit the registers beside a factor and a product.
#if VEC_FLOATS == 16
#define UNITS 16
#elif VEC_FLOATS == 8
#define UNITS 6
#else
#define UNITS 3
#endif

enum { WEIGHT = 1, RIGHT = 2, GAPS = 4, KINDS = 8 };

#define EACH_UNIT(u) _Pragma("GCC unroll 16") for (int u = 0; u < units; u++)

// Where the prefetch stands in lists with gaps: `edge` of row `k`.
typedef struct Prefetch {
    int64_t k, edge;
} Prefetch;

LANES_INLINE void fetch(const AggregateTask *task, int64_t edge, int64_t at, const int units) {
    const Cell *x = (const Cell *)task->x.at + task->column[edge] * task->x.stride + at;
    _Pragma("GCC unroll 16") for (int c = 0; c < 16 * units; c += LINE_CELLS)
        __builtin_prefetch(x + c, 0, 3);
    if (LINE_CELLS > 16) // a row may begin inside a line
        __builtin_prefetch(x + 16 * units - 16, 0, 3);
}

// Fetches the next edge of the rows up to last, if there is one.
LANES_INLINE void prefetch_step(Prefetch *fetching, const AggregateTask *task, int64_t last,
                                int64_t at, const int units) {
    while (fetching->k < last && fetching->edge >= task->end[fetching->k])
        if (++fetching->k < last)
            fetching->edge = task->begin[fetching->k];
    if (fetching->k < last)
        fetch(task, fetching->edge++, at, units);
}

// ---- two units side by side

#define EACH_PAIR(u) _Pragma("GCC unroll 16") for (int u = 0; u + 1 < units; u += 2)

#if defined(ROWS)
typedef VecBits VecBitsLoose __attribute__((aligned(2)));

LANES_INLINE void pair_load(F16 *pair, const Cell *from) {
    F16_EACH(i) {
        VecBits both = ((const VecBitsLoose *)from)[i];
        pair[0].part[i] = (Vec)(both << 16);
        pair[1].part[i] = (Vec)(both & 0xffff0000u);
    }
}

// Lanes of two registers: every other one from `first` on, or those of their halves by turns.
LANES_INLINE Vec vec_other(Vec a, Vec b, int first) {
    VecInt from;
    for (int i = 0; i < VEC_FLOATS; i++)
        from[i] = 2 * i + first;
    return __builtin_shuffle(a, b, from);
}
LANES_INLINE Vec vec_turns(Vec a, Vec b, int half) {
    VecInt from;
    for (int i = 0; i < VEC_FLOATS; i++)
        from[i] = half * VEC_FLOATS / 2 + i / 2 + i % 2 * VEC_FLOATS;
    return __builtin_shuffle(a, b, from);
}

// A pair becomes two units in order, and back.
LANES_INLINE void pair_to_units(F16 *pair) {
    Vec in_order[2 * VEC_COUNT];
    F16_EACH(i) {
        in_order[2 * i] = vec_turns(pair[0].part[i], pair[1].part[i], 0);
        in_order[2 * i + 1] = vec_turns(pair[0].part[i], pair[1].part[i], 1);
    }
    __builtin_memcpy(pair, in_order, sizeof in_order);
}
LANES_INLINE void pair_of_units(F16 *pair) {
    Vec in_order[2 * VEC_COUNT];
    __builtin_memcpy(in_order, pair, sizeof in_order);
    F16_EACH(i) {
        pair[0].part[i] = vec_other(in_order[2 * i], in_order[2 * i + 1], 0);
        pair[1].part[i] = vec_other(in_order[2 * i], in_order[2 * i + 1], 1);
    }
}
#else
LANES_INLINE void pair_load(F16 *pair, const Cell *from) {
    pair[0] = row_load(from);
    pair[1] = row_load(from + 16);
}
LANES_INLINE void pair_to_units(F16 *pair) { (void)pair; }
LANES_INLINE void pair_of_units(F16 *pair) { (void)pair; }
#endif

// ---- a row

// sum = what row i of the task starts from.
LANES_INLINE void start_row(F16 *sum, const AggregateTask *task, int64_t i, int64_t at,
                            const int units, const bool righted) {
    if (task->resume) { // floats
        const float *out = task->out.at + i * task->out.stride + at;
        EACH_UNIT(u) sum[u] = f16_load(out + 16 * u);
        EACH_PAIR(u) pair_of_units(sum + u);
    } else if (task->self) {
        const Cell *x = (const Cell *)task->x.at + i * task->x.stride + at;
        EACH_PAIR(u) pair_load(sum + u, x + 16 * u);
        if (units % 2 == 1)
            sum[units - 1] = row_load(x + 16 * (units - 1));
        if (righted)
            EACH_UNIT(u) sum[u] = f16_mul(f16_set(task->right[i]), sum[u]);
    } else {
        EACH_UNIT(u) sum[u] = f16_set(0);
    }
}

LANES_INLINE void add_term(F16 *sum, F16 term, F16 right, F16 weight, const int kind) {
    if (kind & RIGHT)
        term = f16_mul(right, term);
    if (kind & WEIGHT)
        term = f16_mul(weight, term);
    *sum = f16_add(*sum, term);
}

LANES_INLINE void add_edge(F16 *sum, const AggregateTask *task, int64_t edge, int64_t at,
                           const int units, const int kind) {
    int64_t j = task->column[edge];
    const Cell *x = (const Cell *)task->x.at + j * task->x.stride + at;
    F16 right = f16_set(kind & RIGHT ? task->right[j] : 1);
    F16 weight = f16_set(kind & WEIGHT ? task->weight[edge] : 1);
    EACH_PAIR(u) {
        F16 term[2];
        pair_load(term, x + 16 * u);
        add_term(sum + u, term[0], right, weight, kind);
        add_term(sum + u + 1, term[1], right, weight, kind);
    }
    if (units % 2 == 1)
        add_term(sum + units - 1, row_load(x + 16 * (units - 1)), right, weight, kind);
}

// Apart, because in line it would be most of a tile's instructions.
__attribute__((noinline)) static void round_row(Half *to, const F16 *sum, int units) {
    for (int u = 0; u < units; u++)
        halves_store(to + 16 * u, sum[u]);
}

// `units` units from column `at` on, of rows first .. last - 1.
LANES_INLINE void tile(const AggregateTask *task, int64_t first, int64_t last, int64_t at,
                       const int units, const int kind) {
    const int64_t ahead = task->ahead, limit = task->end[last - 1];
    Prefetch fetching = {first, task->begin[first]};
    if (kind & GAPS)
        for (int64_t n = 0; n < ahead; n++)
            prefetch_step(&fetching, task, last, at, units);
    for (int64_t k = first; k < last; k++) {
        int64_t i = task->row != NULL ? task->row[k] : k;
        if (task->resume && task->left == NULL && task->begin[k] == task->end[k])
            continue;
        F16 sum[UNITS], rounded[UNITS];
        start_row(sum, task, i, at, units, kind & RIGHT);
        for (int64_t edge = task->begin[k]; edge < task->end[k]; edge++) {
            if (kind & GAPS)
                prefetch_step(&fetching, task, last, at, units);
            else if (edge + ahead < limit)
                fetch(task, edge + ahead, at, units);
            add_edge(sum, task, edge, at, units, kind);
        }
        if (task->left != NULL)
            EACH_UNIT(u) sum[u] = f16_mul(f16_set(task->left[i]), sum[u]);
        EACH_PAIR(u) pair_to_units(sum + u);
        int64_t to = i * task->out.stride + at;
        float *out = task->out.type == ROWS_BF16 ? (float *)rounded : (float *)task->out.at + to;
        EACH_UNIT(u) f16_store(out + 16 * u, sum[u]);
        if (task->out.type == ROWS_BF16)
            round_row((Half *)task->out.at + to, rounded, units);
    }
}

typedef void Tile(const AggregateTask *task, int64_t first, int64_t last, int64_t at);

#define TILE(units, kind)                                                                          \
    static void tile_##units##_##kind(const AggregateTask *task, int64_t first, int64_t last,      \
                                      int64_t at) {                                                \
        tile(task, first, last, at, units, kind);                                                  \
    }
#define TILE_KINDS(units)                                                                          \
    TILE(units, 0)                                                                                 \
    TILE(units, 1)                                                                                 \
    TILE(units, 2) TILE(units, 3) TILE(units, 4) TILE(units, 5) TILE(units, 6) TILE(units, 7)
#define TILE_ROW(units)                                                                            \
    {tile_##units##_0, tile_##units##_1, tile_##units##_2, tile_##units##_3,                       \
     tile_##units##_4, tile_##units##_5, tile_##units##_6, tile_##units##_7},

#if UNITS == 16
#define FOR_UNITS(X)                                                                               \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
#elif UNITS == 6
#define FOR_UNITS(X) X(1) X(2) X(3) X(4) X(5) X(6)
#else
#define FOR_UNITS(X) X(1) X(2) X(3)
#endif

FOR_UNITS(TILE_KINDS)
static Tile *const tiles[UNITS][KINDS] = {FOR_UNITS(TILE_ROW)};

void LANES_NAME(aggregate_block)(const AggregateTask *task, int64_t first, int64_t last) {
    const int64_t units = task->columns / 16, count = (units + UNITS - 1) / UNITS;
    const int kind = (task->weight != NULL ? WEIGHT : 0) | (task->right != NULL ? RIGHT : 0) |
                     (task->resume ? GAPS : 0);
    if (first >= last)
        return;
    // tiles of nearly equal width: a narrow last one would fetch little and wait long
    for (int64_t t = 0; t < count; t++) {
        int64_t begin = units * t / count, end = units * (t + 1) / count;
        tiles[end - begin - 1][kind](task, first, last, 16 * begin);
    }
}

// 16 numbers of a row into its panel.
LANES_INLINE void copy_16(Cell *to, const Cell *from, const float *scale) {
    if (sizeof(Cell) == sizeof(Half)) // not rounded twice
        memcpy(to, from, 16 * sizeof *to);
    else
        row_store(to, scale != NULL ? f16_mul(f16_set(*scale), row_load(from)) : row_load(from));
}

void LANES_NAME(aggregate_copy)(void *to, int64_t width, const void *from, int64_t stride,
                                const float *scale, int64_t begin, int64_t end) {
    enum { AHEAD = 24 }; // rows: hardware does not follow strides of a KiB far enough
    for (int64_t r = begin; r < end; r++) {
        const Cell *row = (const Cell *)from + r * stride;
        for (int64_t c = 0; c < width; c += 16) {
            if (r + AHEAD < end)
                __builtin_prefetch(row + AHEAD * stride + c, 0, 3);
            copy_16((Cell *)to + r * width + c, row + c, scale != NULL ? scale + r : NULL);
        }
    }
}
