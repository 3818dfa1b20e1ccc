// What kernels call on the emulated device. cuda_runtime.h includes it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

using std::isfinite;
using std::isinf;
using std::isnan;

// ---- vectors

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
#define EMULATED_VECTORS(type, name)                                                               \
    struct alignas(2 * sizeof(type)) name##2 {                                                     \
        type x, y;                                                                                 \
    };                                                                                             \
    struct alignas(4 * sizeof(type) < 16 ? 4 * sizeof(type) : 16) name##4 {                        \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                        \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
EMULATED_VECTORS(float, float)
EMULATED_VECTORS(unsigned, uint)
EMULATED_VECTORS(unsigned short, ushort)
#undef EMULATED_VECTORS

// ---- which thread this is

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
static const int warpSize = 32;

// ---- calls at which threads meet

namespace emulated {

struct Where { // the line of the source that calls
    const char *file;
    int line;
};
enum class Call { SYNC, SHFL, SHFL_UP, SHFL_DOWN, SHFL_XOR, BALLOT, ANY, ALL };

void *shared_memory(); // of this block
void meet_block(Where where);
// Waits until exactly the lanes of the mask are at this call with this mask. A shuffle returns the
// value of lane `from`, the others a word with the bits of the lanes whose value is not zero.
uint64_t meet(Call call, unsigned mask, uint64_t value, int from, Where where);

static inline int lane() { return (int)(threadIdx.x % 32); }

template <typename T> T shuffle(Call call, unsigned mask, T value, int from, Where where) {
    static_assert(std::is_arithmetic<T>::value && sizeof(T) <= 8, "a shuffle takes a number");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = meet(call, mask, bits, from, where);
    memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace emulated

#define SHARED(type, name) type *name = static_cast<type *>(emulated::shared_memory())

#define EMULATED_WHERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

static inline void __syncthreads(EMULATED_WHERE) { emulated::meet_block({file, line}); }
static inline void __syncwarp(unsigned mask = 0xffffffffu, EMULATED_WHERE) {
    emulated::meet(emulated::Call::SYNC, mask, 0, 0, {file, line});
}

// A warp falls into segments of `width` lanes. Who asks beyond its segment gets its own value.
template <typename T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32, EMULATED_WHERE) {
    from = emulated::lane() / width * width + (from & (width - 1));
    return emulated::shuffle(emulated::Call::SHFL, mask, value, from, {file, line});
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, EMULATED_WHERE) {
    const int lane = emulated::lane(), from = lane - (int)by;
    return emulated::shuffle(emulated::Call::SHFL_UP, mask, value,
                             from >= lane / width * width ? from : lane, {file, line});
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, EMULATED_WHERE) {
    const int lane = emulated::lane(), from = lane + (int)by;
    return emulated::shuffle(emulated::Call::SHFL_DOWN, mask, value,
                             from < lane / width * width + width ? from : lane, {file, line});
}
// Unlike the others, this one may ask earlier segments.
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32, EMULATED_WHERE) {
    const int lane = emulated::lane(), from = lane ^ by;
    return emulated::shuffle(emulated::Call::SHFL_XOR, mask, value,
                             from < lane / width * width + width ? from : lane, {file, line});
}

static inline unsigned __ballot_sync(unsigned mask, int predicate, EMULATED_WHERE) {
    return (unsigned)emulated::meet(emulated::Call::BALLOT, mask, predicate != 0, 0, {file, line});
}
static inline int __any_sync(unsigned mask, int predicate, EMULATED_WHERE) {
    return emulated::meet(emulated::Call::ANY, mask, predicate != 0, 0, {file, line}) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, EMULATED_WHERE) {
    return emulated::meet(emulated::Call::ALL, mask, predicate != 0, 0, {file, line}) == mask;
}
#undef EMULATED_WHERE

// ---- atomics of integers: one thread runs at a time, so each is what it says.

#define EMULATED_ATOMICS(type)                                                                     \
    static inline type atomicAdd(type *at, type value) {                                           \
        const type old = *at;                                                                      \
        *at = (type)((unsigned long long)old + (unsigned long long)value);                         \
        return old;                                                                                \
    }                                                                                              \
    static inline type atomicCAS(type *at, type compare, type value) {                             \
        const type old = *at;                                                                      \
        *at = old == compare ? value : old;                                                        \
        return old;                                                                                \
    }
EMULATED_ATOMICS(int)
EMULATED_ATOMICS(unsigned)
EMULATED_ATOMICS(long long)
EMULATED_ATOMICS(unsigned long long)
#undef EMULATED_ATOMICS

// ---- numbers

namespace emulated {
template <typename To, typename From> To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace emulated

static inline unsigned __float_as_uint(float x) { return emulated::same_bits<unsigned>(x); }
static inline float __uint_as_float(unsigned x) { return emulated::same_bits<float>(x); }
// Byte i is that byte of y:x which nibble i of `which` names.
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned which) {
    const uint64_t both = (uint64_t)y << 32 | x;
    unsigned bytes = 0;
    for (int i = 0; i < 4; i++)
        bytes |= (unsigned)(both >> (which >> (4 * i) & 7) * 8 & 0xff) << (8 * i);
    return bytes;
}
template <typename T> constexpr T min(T a, T b) { return b < a ? b : a; }
template <typename T> constexpr T max(T a, T b) { return a < b ? b : a; }
