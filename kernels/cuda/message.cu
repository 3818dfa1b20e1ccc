// Rows of a send list one behind the other, tight, as floats or as bf16, and back. All four are
// bound by memory.
//
// The one idea: what a row is moved in are cells, of four columns where rows of that many columns
// stay aligned when they lie tight, else of one. Four kinds of cells give two kernels.
#include "message.h"

#include "../bf16.h"

// ---- cells: Wide is a cell in rows of floats, Tight in the message

struct FloatCell {
    typedef float Wide, Tight;
    static constexpr int columns = 1;
    __device__ static Tight pack(Wide x, bool *) { return x; }
    __device__ static Wide unpack(Tight x) { return x; }
    __device__ static Wide scaled(float factor, Wide x) { return factor * x; }
    __device__ static Wide zero(void) { return 0; }
};

struct FloatQuad {
    typedef float4 Wide, Tight;
    static constexpr int columns = 4;
    __device__ static Tight pack(Wide x, bool *) { return x; }
    __device__ static Wide unpack(Tight x) { return x; }
    __device__ static Wide scaled(float factor, Wide x) {
        return make_float4(factor * x.x, factor * x.y, factor * x.z, factor * x.w);
    }
    __device__ static Wide zero(void) { return make_float4(0, 0, 0, 0); }
};

// bf16: two bytes, little-endian
struct HalfCell {
    typedef float Wide;
    typedef unsigned short Tight;
    static constexpr int columns = 1;
    __device__ static Tight pack(Wide x, bool *bad) {
        const uint32_t bits = __float_as_uint(x);
        *bad |= bf16_is_bad(bits);
        return (Tight)bf16_rounded(bits);
    }
    __device__ static Wide unpack(Tight x) { return __uint_as_float((uint32_t)x << 16); }
    __device__ static Wide scaled(float factor, Wide x) { return factor * x; }
    __device__ static Wide zero(void) { return 0; }
};

struct HalfQuad {
    typedef float4 Wide;
    typedef ushort4 Tight;
    static constexpr int columns = 4;
    __device__ static Tight pack(Wide x, bool *bad) {
        const unsigned short a = HalfCell::pack(x.x, bad), b = HalfCell::pack(x.y, bad);
        const unsigned short c = HalfCell::pack(x.z, bad), d = HalfCell::pack(x.w, bad);
        return make_ushort4(a, b, c, d);
    }
    __device__ static Wide unpack(Tight x) {
        return make_float4(HalfCell::unpack(x.x), HalfCell::unpack(x.y), HalfCell::unpack(x.z),
                           HalfCell::unpack(x.w));
    }
    __device__ static Wide scaled(float factor, Wide x) { return FloatQuad::scaled(factor, x); }
    __device__ static Wide zero(void) { return FloatQuad::zero(); }
};

// ---- pack

// Rows without a scale are copied, not multiplied by 1, which could change a NaN.
template <typename Cell>
__global__ static void __launch_bounds__(MESSAGE_THREADS)
    pack_rows(typename Cell::Tight *out, MessageSource source, int64_t count, RowLanes lanes,
              DeviceInt64 *first_bad) {
    const int cells = (int)(source.x.columns / Cell::columns);
    for (int64_t k = first_row(lanes); k < count; k += row_step(lanes)) {
        const int64_t r = int32s_of(source.row)[k];
        const typename Cell::Wide *from = (const typename Cell::Wide *)message_row(source, r);
        typename Cell::Tight *to = out + k * cells;
        const float factor = message_scale(source, r);
        bool bad = false;
        for (int first = row_lane(lanes); first < cells; first += CELLS * lanes.count) {
            typename Cell::Wide cell[CELLS];
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                if (first + i * lanes.count < cells)
                    cell[i] = from[first + i * lanes.count];
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                if (first + i * lanes.count < cells)
                    to[first + i * lanes.count] = Cell::pack(
                        source.scale != NULL ? Cell::scaled(factor, cell[i]) : cell[i], &bad);
        }
        if (bad)
            note_bad(first_bad, k);
    }
}

template <typename Cell>
static void launch_pack(DeviceByte *out, const MessageSource *source, int64_t count,
                        DeviceInt64 *bad) {
    const RowLanes lanes = row_lanes(source->x.columns / Cell::columns);
    LAUNCH_ROWS(pack_rows<Cell>, count, lanes, 0, (typename Cell::Tight *)out, *source, count,
                lanes, bad);
}

// Whether tight rows can be moved in cells of four columns.
template <typename Quad> static bool is_by_four(const DeviceByte *tight, int64_t columns) {
    return columns % 4 == 0 && (uintptr_t)tight % sizeof(typename Quad::Tight) == 0;
}

void cuda_pack_fp32(DeviceByte *out, const MessageSource *source, int64_t count, const Poll *) {
    if (is_by_four<FloatQuad>(out, source->x.columns))
        launch_pack<FloatQuad>(out, source, count, NULL);
    else
        launch_pack<FloatCell>(out, source, count, NULL);
}

void cuda_pack_bf16(DeviceByte *out, const MessageSource *source, int64_t count, DeviceInt64 *bad,
                    const Poll *) {
    if (is_by_four<HalfQuad>(out, source->x.columns))
        launch_pack<HalfQuad>(out, source, count, bad);
    else
        launch_pack<HalfCell>(out, source, count, bad);
}

// ---- unpack

// Rows are written up to `padded` columns.
template <typename Cell>
__global__ static void __launch_bounds__(MESSAGE_THREADS)
    unpack_rows(DeviceRows out, const typename Cell::Tight *in, int64_t count, int padded,
                RowLanes lanes) {
    const int cells = (int)(out.columns / Cell::columns), all = padded / Cell::columns;
    for (int64_t k = first_row(lanes); k < count; k += row_step(lanes)) {
        const typename Cell::Tight *from = in + k * cells;
        typename Cell::Wide *to = (typename Cell::Wide *)(out.at + k * out.stride);
        for (int first = row_lane(lanes); first < all; first += CELLS * lanes.count) {
            typename Cell::Wide cell[CELLS];
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                cell[i] = first + i * lanes.count < cells
                              ? Cell::unpack(from[first + i * lanes.count])
                              : Cell::zero();
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                if (first + i * lanes.count < all)
                    to[first + i * lanes.count] = cell[i];
        }
    }
}

template <typename Cell>
static void launch_unpack(Rows out, int64_t first, const DeviceByte *in, int64_t count) {
    const int padded = (int)rows_stride(out.columns);
    const RowLanes lanes = row_lanes(padded / Cell::columns);
    DeviceRows rows = device_rows(out);
    rows.at += first * rows.stride;
    LAUNCH_ROWS(unpack_rows<Cell>, count, lanes, 0, rows, (const typename Cell::Tight *)in, count,
                padded, lanes);
}

void cuda_unpack_fp32(Rows out, int64_t first, const DeviceByte *in, int64_t count, const Poll *) {
    if (is_by_four<FloatQuad>(in, out.columns))
        launch_unpack<FloatQuad>(out, first, in, count);
    else
        launch_unpack<FloatCell>(out, first, in, count);
}

void cuda_unpack_bf16(Rows out, int64_t first, const DeviceByte *in, int64_t count, const Poll *) {
    if (is_by_four<HalfQuad>(in, out.columns))
        launch_unpack<HalfQuad>(out, first, in, count);
    else
        launch_unpack<HalfCell>(out, first, in, count);
}
