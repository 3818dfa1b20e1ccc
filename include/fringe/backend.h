// backend: one table of operations on rows of floats. The CPU's is in kernels/cpu.
//
// Shapes: N rows, F/D input/output width, E nonzeros. Rows are 64-byte aligned: their stride is the
// width rounded up to 16 floats, and the padding is zero and stays zero. A Range is half-open.
// Every operation is bit-identical for any number of threads and any vector width; work on a row
// does not depend on the range it is called in (dense products excepted). Long operations call
// `poll` (NULL allowed) from thread 0 about every millisecond.
#ifndef FRINGE_BACKEND_H
#define FRINGE_BACKEND_H

#include "fringe/base.h"

typedef struct Range {
    int64_t begin, end;
} Range;

typedef struct Rows {
    float *at;              // [count, stride], 64-byte aligned; padding columns are zero
    int64_t count, columns; // columns in use
    int64_t stride;         // floats from row to row: a multiple of 16
} Rows;

// Zeroed rows; rows_give frees. rows_bytes is what rows_take takes.
int64_t rows_stride(int64_t columns);
size_t rows_bytes(int64_t count, int64_t columns);
Rows rows_take(int64_t count, int64_t columns, const char *what);
void rows_give(Rows *rows);

// The sparse aggregate over one Csr, whose columns ascend inside a row, with its scratch for
// repacked column panels. Made once per Csr.
typedef struct Aggregate Aggregate;

// Pointwise work after a convolution, in any order (model.post). At most one of each.
typedef enum PostStep { POST_DROPOUT, POST_NORM, POST_ACTIVATION } PostStep;
typedef struct Post {
    int count;
    PostStep step[3];
    float keep;          // probability that dropout keeps an element; kept ones are divided by it
    RandomStream stream; // of dropout: row = global id, column
    bool training;       // false: dropout does nothing
    const float *gamma;  // [D] LayerNorm
    const float *beta;   // [D]
} Post;
typedef struct PostSaved { // what backward needs besides z; filled by forward when training
    float *mean;           // [N] of the norm's input
    float *inverse;        // [N] 1 / sqrt(variance + 1e-5)
    uint8_t *kept;         // [N, stride/8] dropout: bit c%8 of byte c/8
    uint8_t *positive;     // [N, stride/8] activation: input > 0
} PostSaved;

typedef struct AdamStep {
    float rate, beta1, beta2, epsilon;
    float correction1, correction2; // 1 - beta^t
} AdamStep;

// ---- rows of one width of a message: Z, S and payload as codec.h draws them

typedef struct Quantized {
    int bits;               // 1 .. 8 and 16
    bool bf16;              // Z and S are bf16, not fp32
    int64_t count;          // rows
    const int32_t *place;   // [count] in the send list
    unsigned char *minimum; // [count] Z
    unsigned char *step;    // [count] S
    unsigned char *payload; // [count, quantized_row_bytes]
} Quantized;

// ceil(columns b / 8) for b = 1, 2, 4, 8, 16; for other widths the sum over their planes.
int64_t quantized_row_bytes(int64_t columns, int bits);

// Where the rows of a message come from: own rows, and after them partial sums (halo.h, law 5).
typedef struct MessageSource {
    Rows x;              // row r < x.count is scale[r] * x[r]
    const float *scale;  // NULL: 1
    Rows sums;           // row r >= x.count is sums[r - x.count]
    const int32_t *row;  // the send list: which row, by place
    RandomStream stream; // of rounding: row = gid[r], peer, column
    const int64_t *gid;
    int peer;     // who reads the message
    int sum_peer; // in its place for sums: who sends them; their ids say who reads them
    float *range; // by place: (2^b - 1) S; NULL: not wanted
} MessageSource;

static inline const float *message_row(const MessageSource *source, int64_t r) {
    return r < source->x.count ? source->x.at + r * source->x.stride
                               : source->sums.at + (r - source->x.count) * source->sums.stride;
}
static inline float message_scale(const MessageSource *source, int64_t r) {
    return source->scale != NULL && r < source->x.count ? source->scale[r] : 1.0f;
}
static inline int message_peer(const MessageSource *source, int64_t r) {
    return r < source->x.count ? source->peer : source->sum_peer;
}

typedef struct Backend {
    const char *name;

    // Chooses kernels: vectors auto | plain | avx2 | avx512 (the widest allowed that the CPU has);
    // false with a sentence if the CPU lacks what is asked for.
    bool (*start)(const char *vectors, Error *err);
    const char *(*describe)(void); // "avx512, oneDNN 2.6.3": for doctor, --version and run.json

    // ---- dense products: one-thread library calls over fixed panels of rows, in our parallel loop
    // (TRAPS 23). W is [a.columns, out.columns], tight, row-major. Panels are counted from
    // range.begin, and libraries compute the last rows of a panel differently: only here the bits
    // of a row depend on the range, so schedules call with the same ranges.
    // out[r] = a[r] W (+ out[r] if add) (+ bias if not NULL), r in range
    void (*dense)(Rows out, Range range, Rows a, const float *w, const float *bias, bool add,
                  const Poll *poll);
    // out[r] = g[r] Wᵀ (+ out[r] if add): W is [out.columns, g.columns]
    void (*dense_transposed)(Rows out, Range range, Rows g, const float *w, bool add,
                             const Poll *poll);
    // dw [a.columns, g.columns] = aᵀ g over all a.count rows: a fixed number of partial sums over
    // fixed row ranges, added in fixed order. scratch: dense_gradient_scratch floats.
    void (*dense_gradient)(float *dw, Rows a, Rows g, float *scratch, const Poll *poll);
    int64_t (*dense_gradient_scratch)(int64_t rows, int64_t a_columns, int64_t g_columns);
    // db [g.columns] = column sums of g over all rows, blockwise in fixed order.
    // scratch: column_sums_scratch floats.
    void (*column_sums)(float *db, Rows g, float *scratch);
    int64_t (*column_sums_scratch)(int64_t rows, int64_t columns);

    // ---- sparse aggregate. `columns` is the widest row it will see; `sources` the most rows of x.
    // panels: auto (aggregate_tune measures) | rows | 128 | 64 | 32 | 16.
    Aggregate *(*aggregate_new)(const Csr *csr, int64_t sources, int64_t columns,
                                const char *panels);
    size_t (*aggregate_bytes)(int64_t sources, int64_t columns,
                              const char *panels); // what it takes, at most
    // Measures the panel widths on this Csr for rows of `columns` floats and keeps the fastest for
    // that width (x and out are scratch, overwritten). The choice changes no bit.
    void (*aggregate_tune)(Aggregate *aggregate, Rows out, Rows x);
    void (*aggregate_free)(Aggregate *aggregate);
    const char *(*aggregate_describe)(const Aggregate *aggregate,
                                      int64_t columns); // "panels of 64"
    // Looks at x (may repack it); x and right must stay until the rows are done. right: [x.count]
    // or NULL (1). Rows that are asked for later name no column beyond x.count.
    void (*aggregate_prepare)(Aggregate *aggregate, Rows x, const float *right, const Poll *poll);
    // out[i] = left[i] * ( [self] right[i] x[i] + sum_j w[i,j] right[j] x[j] ), i in range; left
    // NULL: 1. Each term is (right[j] x[j]) first, then w times it, added in ascending j after the
    // self term.
    void (*aggregate_rows)(Aggregate *aggregate, Rows out, Range range, bool self,
                           const float *left, const Poll *poll);
    // Halo part, continued from the unscaled own sum: for each k with csr row k = row rows[k] of
    // out, adds the terms w * halo[c] from edge cursor[k] on while column c < column_end, and moves
    // cursor[k]; then out[rows[k]] *= left[rows[k]] if left is not NULL (the last call). Any
    // cutting into calls gives the same bits.
    void (*aggregate_halo)(Rows out, const Csr *csr, const int32_t *rows, int64_t *cursor,
                           Rows halo, int64_t column_end, const float *left, const Poll *poll);

    // ---- pointwise
    // h[r] = post(z[r]), r in range. gid: [N] global ids. In place (h.at == z.at) only if not
    // training.
    void (*post_forward)(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                         const int64_t *gid, const Poll *poll);
    // dz = d post/dz applied to dh, all rows (in place allowed: dz.at == dh.at); dgamma, dbeta [D]
    // (NULL without norm).
    void (*post_backward)(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                          float *dgamma, float *dbeta, float *scratch, const Poll *poll);
    int64_t (*post_scratch)(int64_t rows, int64_t columns);
    // out = dropout(x) in range with that stream and keep (input dropout); in place allowed.
    void (*dropout)(Rows out, Range range, Rows x, float keep, RandomStream stream,
                    const int64_t *gid, const Poll *poll);
    // out[r] += bias [D], in range.
    void (*add_bias)(Rows out, Range range, const float *bias, const Poll *poll);

    // out[r] = a[r] + *scalar x[r], in range, multiplied first, not fused; in place allowed (out.at
    // == a.at).
    void (*add_scaled)(Rows out, Range range, Rows a, Rows x, const float *scalar,
                       const Poll *poll);
    // *out = sum over all rows of x[r] · y[r], in double over fixed blocks in fixed order; 0 if
    // there are no rows. Padding must be zero.
    void (*dot)(float *out, Rows x, Rows y);

    // ---- loss over rows with split[r] == which; G gets the gradient (0 elsewhere; NULL at: only
    // the loss). Returns the sum (not the mean) in double over fixed blocks in fixed order;
    // gradients are times `weight` (1 / N_train).
    double (*softmax_loss)(Rows g, Rows logits, const int32_t *label, const uint8_t *split,
                           uint8_t which, float weight);
    double (*bce_loss)(Rows g, Rows logits, const uint8_t *labels, const uint8_t *split,
                       uint8_t which, float weight);

    // ---- messages
    // Stochastic rounding to 2^b values from the row's minimum up (ALGORITHMS A.1). Returns -1, or
    // the smallest place of a row that has a value that is not finite or a range that overflows.
    int64_t (*quantize)(const Quantized *to, const MessageSource *source, const Poll *poll);
    // out[begin + place[i]] = Z + q S, multiplied first, not fused; the rows' padding is zero,
    // whatever was there.
    void (*dequantize)(Rows out, int64_t begin, const Quantized *from, const Poll *poll);

    // ---- optimizer, on flat arrays of `count`; decay[i] is the L2 factor added to the gradient
    // (NULL: 0).
    void (*adam)(float *w, float *m, float *v, const float *g, const float *decay, int64_t count,
                 AdamStep step);
    void (*sgd)(float *w, float *velocity, const float *g, const float *decay, int64_t count,
                float rate, float momentum);
    // Sum of squares in double over fixed blocks in fixed order.
    double (*square_sum)(const float *x, int64_t count);
} Backend;

extern const Backend backend_cpu;

// By name; NULL with the list if there is none.
extern const Family backend_family;
const Backend *backend_find(const char *name, Error *err); // NULL with EXIT_CONFIG

#endif
