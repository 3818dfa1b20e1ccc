// The hand-written aggregates of LIMITS 2, kept to be beaten. Included once per vector width
// by sparse.c, with V (a vector type), LANES (its floats) and VARIANT(name) defined and the compiler
// told of the target. No weights, no factors: out[i] = sum_j x[j].

// y[i][c] += x[j][c], as one would write it first; the compiler vectorises it.
static void VARIANT(naive)(const Job *job) {
    const int64_t width = job->width;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < job->rows; i++) {
        float *restrict y = job->out + i * width;
        for (int64_t c = 0; c < width; c++)
            y[c] = 0;
        for (int64_t e = job->offset[i]; e < job->offset[i + 1]; e++) {
            const float *restrict x = job->x + job->column[e] * width;
            for (int64_t c = 0; c < width; c++)
                y[c] += x[c];
        }
    }
}

// One output row of `floats` columns held in registers, the row `ahead` edges on being fetched.
static inline __attribute__((always_inline)) void
VARIANT(row)(float *y, const float *x, int64_t stride, const int32_t *column, int64_t begin,
             int64_t end, int64_t limit, const int floats, const int ahead) {
    V sum[256 / LANES];
#pragma GCC unroll 32
    for (int v = 0; v < floats / LANES; v++)
        sum[v] = (V){0};
    for (int64_t e = begin; e < end; e++) {
        if (ahead > 0 && e + ahead < limit) {
            const float *next = x + column[e + ahead] * stride;
#pragma GCC unroll 16
            for (int c = 0; c < floats; c += 16)
                __builtin_prefetch(next + c, 0, 3);
        }
        const float *from = x + column[e] * stride;
#pragma GCC unroll 32
        for (int v = 0; v < floats / LANES; v++)
            sum[v] += *(const V *)(from + v * LANES);
    }
#pragma GCC unroll 32
    for (int v = 0; v < floats / LANES; v++)
        *(V *)(y + v * LANES) = sum[v];
}

// All rows, one group of `floats` columns: in blocks of 64 rows.
#define PANEL(floats, ahead)                                                                       \
    static void VARIANT(panel_##floats##_##ahead)(const Job *job, float *y, const float *x,        \
                                                  int64_t stride) {                                \
        _Pragma("omp for schedule(dynamic, 64) nowait") for (int64_t i = 0; i < job->rows; i++)    \
            VARIANT(row)(y + i * job->width, x, stride, job->column, job->offset[i],               \
                         job->offset[i + 1], job->offset[job->rows], floats, ahead);               \
    }
PANEL(256, 0) PANEL(256, 8) PANEL(256, 16)
PANEL(128, 16) PANEL(64, 16) PANEL(32, 16) PANEL(16, 16) PANEL(64, 24) PANEL(32, 24)
#undef PANEL

// Whole rows of 256.
#define WHOLE_ROWS(ahead)                                                                          \
    static void VARIANT(rows_##ahead)(const Job *job) {                                            \
        _Pragma("omp parallel") VARIANT(panel_256_##ahead)(job, job->out, job->x, 256);            \
    }
WHOLE_ROWS(0) WHOLE_ROWS(8) WHOLE_ROWS(16)
#undef WHOLE_ROWS

// Groups of columns, each copied into a compact table first.
#define REPACK(floats, ahead)                                                                      \
    static void VARIANT(repack_##floats##_##ahead)(const Job *job) {                               \
        _Pragma("omp parallel") for (int64_t at = 0; at < job->width; at += floats) {              \
            _Pragma("omp for schedule(static)") for (int64_t j = 0; j < job->rows; j++)            \
                _Pragma("GCC unroll 16") for (int v = 0; v < floats / LANES; v++)                  \
                    *(V *)(job->scratch + j * floats + v * LANES) =                                \
                *(const V *)(job->x + j * job->width + at + v * LANES);                            \
            VARIANT(panel_##floats##_##ahead)(job, job->out + at, job->scratch, floats);           \
            _Pragma("omp barrier")                                                                 \
        }                                                                                          \
    }
REPACK(128, 16) REPACK(64, 16) REPACK(32, 16) REPACK(16, 16) REPACK(64, 24) REPACK(32, 24)
#undef REPACK

// x given as tiles [tile][rows][floats]: no copy, but no other kernel of a network wants this
// layout.
#define TILED(floats, ahead)                                                                       \
    static void VARIANT(tiled_##floats##_##ahead)(const Job *job) {                                \
        _Pragma("omp parallel") for (int64_t at = 0; at < job->width; at += floats)                \
            VARIANT(panel_##floats##_##ahead)(job, job->out + at, job->tiled_##floats + at * job->rows, \
                                              floats);                                             \
    }
TILED(64, 16) TILED(16, 16)
#undef TILED
