// Pointwise work on rows: dropout, LayerNorm, ReLU in any order (pointwise_lanes.c does a row),
// input dropout, scaling, and sums over rows.
//
// The one idea: rows are independent, so the chunks that threads take do not show in the result;
// only sums over rows could, and they are made of partial sums over blocks whose size is a function
// of the number of rows alone, added in order.
#include "pointwise.h"

// Floats of one piece of a loop: some ten microseconds, well below the pace of a Poll.
enum { CHUNK = 1 << 15 };

DropoutKey dropout_key(float keep, RandomKey key) {
    assert(keep > 0 && keep <= 1);
    return (DropoutKey){.philox = philox_key(key),
                        .threshold = (uint32_t)lroundf(keep * 65536.0f),
                        .scale = 1.0f / keep};
}

typedef void RowsLoop(const PointwiseCall *call, int64_t begin, int64_t end);

// The rows of a range in chunks, spread over the threads.
static void each_chunk(RowsLoop *rows, const PointwiseCall *call, Range range, int64_t chunk,
                       const Poll *poll) {
    Pace pace = pace_start(poll);
#pragma omp parallel for schedule(dynamic)
    for (int64_t r = range.begin; r < range.end; r += chunk) {
        rows(call, r, least(r + chunk, range.end));
        pace_call(&pace);
    }
}

// --- after a convolution

static PointwiseCall post_call(Rows out, Rows z, const Post *post, PostSaved saved) {
    assert(out.columns == z.columns && out.stride == z.stride && out.type == z.type);
    PointwiseCall call = {.order = post_order(post),
                          .save = post->training,
                          .out = cpu_rows_of_any(out),
                          .z = cpu_rows_of_any(z),
                          .saved = {floats_of(saved.mean), floats_of(saved.inverse),
                                    bytes_of(saved.kept), bytes_of(saved.positive)},
                          .gamma = floats_of(post->gamma),
                          .beta = floats_of(post->beta)};
    if (order_has(call.order, DO_DROPOUT))
        call.key = dropout_key(post->keep, post->random);
    return call;
}

void cpu_post_forward(Rows h, Range range, Rows z, const Post *post, PostSaved saved,
                      const DeviceInt64 *gid, const Poll *poll) {
    assert(h.at != z.at || !post->training);
    PointwiseCall call = post_call(h, z, post, saved);
    call.gid = int64s_of(gid);
    call.stream = h.at != z.at && cpu_beyond_cache(range.end - range.begin, call.out);
    each_chunk(ROWS_PICK(post_forward_rows, z.type), &call, range, piece_rows(CHUNK, z.stride),
               poll);
}

// --- sums over rows

static float *aligned(DeviceFloat *scratch) {
    return (float *)(((uintptr_t)scratch + 63) / 64 * 64);
}

// sum[0 .. columns) = the partial sums at + i * stride, i = 0 .. blocks - 1, in order.
static void add_partials(float *sum, float *at, int64_t blocks, int64_t stride, int64_t columns) {
    RowsLoop *rows = LANES_PICK(sum_rows);
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < columns; c += 16) {
        float total[16] __attribute__((aligned(64)));
        PointwiseCall call = {
            .z = {at + c, blocks, 16, stride}, .partial = total, .block = blocks + 1};
        rows(&call, 0, blocks);
        for (int64_t i = 0; i < 16 && c + i < columns; i++)
            sum[c + i] = total[i];
    }
}

// scratch: for each block a row of dgamma, then a row of dbeta.
int64_t cpu_post_scratch(int64_t rows, int64_t columns) {
    return 2 * column_blocks(rows) * rows_stride(columns) + 16; // 16: to align it
}

void cpu_post_backward(Rows dz, Rows dh, Rows z, const Post *post, PostSaved saved,
                       DeviceFloat *dgamma, DeviceFloat *dbeta, DeviceFloat *scratch,
                       const Poll *poll) {
    assert(post->training && dh.columns == z.columns && dh.stride == z.stride);
    assert(dh.type == z.type);
    PointwiseCall call = post_call(dz, z, post, saved);
    call.dh = cpu_rows_of_any(dh);
    call.stream = dz.at != dh.at && cpu_beyond_cache(dz.count, call.out);
    call.block = column_block(z.count);
    call.partial = aligned(scratch);
    each_chunk(ROWS_PICK(post_backward_rows, z.type), &call, (Range){0, z.count}, call.block, poll);
    if (!order_has(call.order, DO_NORM))
        return;
    int64_t blocks = column_blocks(z.count), stride = z.stride;
    add_partials(floats_of(dgamma), call.partial, blocks, 2 * stride, z.columns);
    add_partials(floats_of(dbeta), call.partial + stride, blocks, 2 * stride, z.columns);
}

int64_t cpu_column_sums_scratch(int64_t rows, int64_t columns) {
    return column_blocks(rows) * rows_stride(columns) + 16;
}

void cpu_column_sums(DeviceFloat *db, Rows g, DeviceFloat *scratch) {
    PointwiseCall call = {
        .z = cpu_rows_of_any(g), .partial = aligned(scratch), .block = column_block(g.count)};
    each_chunk(ROWS_PICK(sum_rows, g.type), &call, (Range){0, g.count}, call.block, NULL);
    add_partials(floats_of(db), call.partial, column_blocks(g.count), g.stride, g.columns);
}

// --- rows by themselves

void cpu_dropout(Rows out, Range range, Rows x, float keep, RandomKey key, const DeviceInt64 *gid,
                 const Poll *poll) {
    assert(out.columns == x.columns && out.type == x.type);
    if (keep >= 1) { // nothing is dropped
        cpu_copy(rows_range(out, range).at, rows_range(x, range).at,
                 rows_size(rows_range(x, range)));
        return;
    }
    PointwiseCall call = {.out = cpu_rows_of_any(out),
                          .z = cpu_rows_of_any(x),
                          .gid = int64s_of(gid),
                          .key = dropout_key(keep, key)};
    call.stream = out.at != x.at && cpu_beyond_cache(range.end - range.begin, call.out);
    each_chunk(ROWS_PICK(dropout_rows, x.type), &call, range, piece_rows(CHUNK, x.stride), poll);
}
