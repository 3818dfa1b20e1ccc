// Rows of a send list one behind the other, tight, as floats or as bf16, and back. All four are
// bound by memory.
//
// The one idea: what a row is moved in are cells, of four columns where rows of that many columns
// stay aligned when they lie tight, else of one. Four kinds of cells give two kernels.
#include "message.h"

// ---- cells: Value is a cell's numbers as floats, Tight is the cell in the message. What is stored
// in rows of the message's own numbers is stored as it is.

struct FloatCell {
    typedef float Value, Tight;
    static constexpr int columns = 1;
    template <typename Number> __device__ static Value load(const Number *at) {
        return value_of(*at);
    }
    __device__ static Tight pack(Value x, bool *) { return x; }
    __device__ static void store(float *to, Tight x) { *to = x; }
};

struct FloatQuad {
    typedef float4 Value, Tight;
    static constexpr int columns = 4;
    template <typename Number> __device__ static Value load(const Number *at) {
        return quad_of(at);
    }
    __device__ static Tight pack(Value x, bool *) { return x; }
    __device__ static void store(float *to, Tight x) { *(float4 *)to = x; }
};

// bf16: two bytes, little-endian
struct HalfCell : FloatCell {
    typedef unsigned short Tight;
    __device__ static Tight pack(Value x, bool *bad) {
        const uint32_t bits = __float_as_uint(x);
        *bad |= bf16_is_bad(bits);
        return (Tight)bf16_rounded(bits);
    }
    __device__ static void store(float *to, Tight x) { *to = value_of(Bf16{x}); }
    __device__ static void store(Bf16 *to, Tight x) { to->bits = x; }
};

struct HalfQuad : FloatQuad {
    typedef ushort4 Tight;
    __device__ static Tight pack(Value x, bool *bad) {
        const unsigned short a = HalfCell::pack(x.x, bad), b = HalfCell::pack(x.y, bad);
        const unsigned short c = HalfCell::pack(x.z, bad), d = HalfCell::pack(x.w, bad);
        return make_ushort4(a, b, c, d);
    }
    __device__ static void store(float *to, Tight x) { *(float4 *)to = quad_value(x); }
    __device__ static void store(Bf16 *to, Tight x) { *(ushort4 *)to = x; }
};

// ---- pack

// Rows without a scale are copied, not multiplied by 1, which could change a NaN.
template <typename Cell, typename Number>
__global__ static void __launch_bounds__(MESSAGE_THREADS)
    pack_rows(typename Cell::Tight *out, MessageSource source, int64_t count, RowLanes lanes,
              DeviceInt64 *first_bad) {
    const int cells = (int)(source.x.columns / Cell::columns);
    for (int64_t k = first_row(lanes); k < count; k += row_step(lanes)) {
        const int64_t r = int32s_of(source.row)[k];
        const Number *from = message_row<Number>(source, r);
        typename Cell::Tight *to = out + k * cells;
        const float factor = message_scale(&source, r);
        bool bad = false;
        for (int first = row_lane(lanes); first < cells; first += CELLS * lanes.count) {
            typename Cell::Value cell[CELLS];
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                if (first + i * lanes.count < cells)
                    cell[i] = Cell::load(from + (first + i * lanes.count) * Cell::columns);
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                if (first + i * lanes.count < cells)
                    to[first + i * lanes.count] =
                        Cell::pack(source.scale != NULL ? times(factor, cell[i]) : cell[i], &bad);
        }
        if (bad && first_bad != NULL)
            note_bad(first_bad, k);
    }
}

template <typename Number, typename Cell>
static void launch_pack(DeviceByte *out, const MessageSource *source, int64_t count,
                        DeviceInt64 *bad) {
    const RowLanes lanes = row_lanes(source->x.columns / Cell::columns);
    LAUNCH_ROWS((pack_rows<Cell, Number>), count, lanes, 0, (typename Cell::Tight *)out, *source,
                count, lanes, bad);
}

// Whether tight rows can be moved in cells of four columns.
template <typename Quad> static bool is_by_four(const DeviceByte *tight, int64_t columns) {
    return columns % 4 == 0 && (uintptr_t)tight % sizeof(typename Quad::Tight) == 0;
}

template <typename Number, typename Cell, typename Quad>
static void pack_as(DeviceByte *out, const MessageSource *source, int64_t count, DeviceInt64 *bad) {
    if (is_by_four<Quad>(out, source->x.columns))
        launch_pack<Number, Quad>(out, source, count, bad);
    else
        launch_pack<Number, Cell>(out, source, count, bad);
}

void cuda_pack_fp32(DeviceByte *out, const MessageSource *source, int64_t count, const Poll *) {
    EACH_TYPE(source->x.type, pack_as<Number, FloatCell, FloatQuad>(out, source, count, NULL));
}

void cuda_pack_bf16(DeviceByte *out, const MessageSource *source, int64_t count, DeviceInt64 *bad,
                    const Poll *) {
    EACH_TYPE(source->x.type, pack_as<Number, HalfCell, HalfQuad>(out, source, count, bad));
}

// ---- unpack

// Rows are written up to `padded` columns.
template <typename Cell, typename Number>
__global__ static void __launch_bounds__(MESSAGE_THREADS)
    unpack_rows(RowsOf<Number> out, const typename Cell::Tight *in, int64_t count, int padded,
                RowLanes lanes) {
    const int cells = (int)(out.columns / Cell::columns), all = padded / Cell::columns;
    for (int64_t k = first_row(lanes); k < count; k += row_step(lanes)) {
        const typename Cell::Tight *from = in + k * cells;
        Number *to = out.at + k * out.stride;
        for (int first = row_lane(lanes); first < all; first += CELLS * lanes.count) {
            typename Cell::Tight cell[CELLS];
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                cell[i] = first + i * lanes.count < cells ? from[first + i * lanes.count]
                                                          : typename Cell::Tight{};
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                if (first + i * lanes.count < all)
                    Cell::store(to + (first + i * lanes.count) * Cell::columns, cell[i]);
        }
    }
}

template <typename Number, typename Cell>
static void launch_unpack(Rows out, int64_t first, const DeviceByte *in, int64_t count) {
    const int padded = (int)rows_stride(out.columns);
    const RowLanes lanes = row_lanes(padded / Cell::columns);
    RowsOf<Number> rows = rows_of<Number>(out);
    rows.at += first * rows.stride;
    LAUNCH_ROWS((unpack_rows<Cell, Number>), count, lanes, 0, rows,
                (const typename Cell::Tight *)in, count, padded, lanes);
}

template <typename Number, typename Cell, typename Quad>
static void unpack_as(Rows out, int64_t first, const DeviceByte *in, int64_t count) {
    if (is_by_four<Quad>(in, out.columns))
        launch_unpack<Number, Quad>(out, first, in, count);
    else
        launch_unpack<Number, Cell>(out, first, in, count);
}

void cuda_unpack_fp32(Rows out, int64_t first, const DeviceByte *in, int64_t count, const Poll *) {
    unpack_as<float, FloatCell, FloatQuad>(out, first, in, count);
}

void cuda_unpack_bf16(Rows out, int64_t first, const DeviceByte *in, int64_t count, const Poll *) {
    EACH_TYPE(out.type, unpack_as<Number, HalfCell, HalfQuad>(out, first, in, count));
}
