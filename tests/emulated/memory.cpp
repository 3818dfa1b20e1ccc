// Blocks of the device: one range of addresses that the host may not touch, but while work of a
// stream runs.
//
// Between blocks lie gaps whose contents are checked when the block before is freed, and which
// AddressSanitizer knows of: a kernel that goes too far is noticed.
#include "emulated.h"

#include <cstdlib>
#include <map>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(at, bytes) __asan_poison_memory_region((at), (bytes))
#define UNPOISON(at, bytes) __asan_unpoison_memory_region((at), (bytes))
#else
#define POISON(at, bytes) ((void)0)
#define UNPOISON(at, bytes) ((void)0)
#endif

namespace emulated {

static constexpr size_t ARENA = (size_t)64 << 30, PAGE = 4096, ALIGNED = 256, GAP = 4096;
static constexpr unsigned char NOTHING = 0xff; // as a float or a double it is not a number

static char *arena, *next_block;        // blocks lie below next_block
static std::map<char *, size_t> blocks; // bytes, by where they begin
static std::map<char *, size_t> pinned;
static size_t in_use;
static bool device_runs;

static size_t whole_memory() {
    const char *bytes = getenv("FRINGE_EMULATED_MEMORY");
    return bytes != nullptr ? strtoull(bytes, nullptr, 10) : (size_t)16 << 30;
}

// The pages of these bytes.
static void protect(const char *at, size_t bytes, int rights) {
    const size_t first = (size_t)(at - arena) / PAGE * PAGE;
    const size_t end = ((size_t)(at - arena) + bytes + PAGE - 1) / PAGE * PAGE;
    if (end > first)
        mprotect(arena + first, end - first, rights);
}
static void protect_all(int rights) { protect(arena, (size_t)(next_block - arena), rights); }

void device_begins() {
    if (!device_runs)
        protect_all(PROT_READ | PROT_WRITE);
    device_runs = true;
}

void device_ends() {
    if (device_runs)
        protect_all(PROT_NONE);
    device_runs = false;
}

void check_block(const void *at, size_t bytes, const char *what) {
    auto next = blocks.upper_bound((char *)at);
    if (next == blocks.begin())
        stop("%s: %p is no address of the device", what, at);
    const auto &entry = *--next;
    size_t offset = (size_t)((const char *)at - entry.first);
    if (offset > entry.second || bytes > entry.second - offset)
        stop("%s: %zu bytes at %p do not lie in one block of the device", what, bytes, at);
}

// What a copy to the host will write holds nothing of use before.
static void spoil(void *host, size_t bytes) {
    const uint32_t nothing = 0x7fffffff;
    for (size_t i = 0; i < bytes; i += sizeof nothing)
        memcpy((char *)host + i, &nothing, bytes - i < sizeof nothing ? bytes - i : sizeof nothing);
}

} // namespace emulated

using namespace emulated;

// From a block's begin to that of the next.
static size_t span_of(size_t bytes) { return (bytes + GAP + ALIGNED - 1) / ALIGNED * ALIGNED; }

static void reserve_arena() {
    void *all = mmap(nullptr, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        stop("there are no addresses for the memory of the device");
    arena = next_block = (char *)all;
}

cudaError_t emulated_malloc(void **block, size_t bytes) {
    if (arena == nullptr)
        reserve_arena();
    const size_t span = span_of(bytes);
    if (bytes > whole_memory() - in_use || span > (size_t)(arena + ARENA - next_block))
        return cudaErrorMemoryAllocation;
    char *at = next_block;
    next_block += span;
    device_ends();
    protect(at, span, PROT_READ | PROT_WRITE);
    UNPOISON(at, span);
    memset(at, NOTHING, span);
    POISON(at + bytes, span - bytes);
    protect(at, span, PROT_NONE);
    blocks[at] = bytes;
    in_use += bytes;
    *block = at;
    return cudaSuccess;
}

static void check_gap(char *at, size_t bytes) {
    device_ends();
    protect(at + bytes, span_of(bytes) - bytes, PROT_READ);
    UNPOISON(at + bytes, span_of(bytes) - bytes);
    for (size_t i = bytes; i < span_of(bytes); i++)
        if ((unsigned char)at[i] != NOTHING)
            stop("something was written %zu bytes behind the end of a block", i - bytes);
    protect(at + bytes, span_of(bytes) - bytes, PROT_NONE);
}

cudaError_t cudaFree(void *block) {
    if (block == nullptr)
        return cudaSuccess;
    auto found = blocks.find((char *)block);
    if (found == blocks.end())
        stop("cudaFree: %p is no block, or was freed before", block);
    finish_all();
    check_gap(found->first, found->second);
    in_use -= found->second;
    blocks.erase(found);
    // addresses behind the last block that lives are used again
    next_block = blocks.empty() ? arena : blocks.rbegin()->first + span_of(blocks.rbegin()->second);
    return cudaSuccess;
}

cudaError_t emulated_malloc_host(void **block, size_t bytes) {
    *block = calloc(bytes + 64, 1);
    pinned[(char *)*block] = bytes;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *block) {
    if (pinned.erase((char *)block) == 0)
        stop("cudaFreeHost: %p is no block, or was freed before", block);
    finish_all();
    free(block);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all_bytes) {
    *all_bytes = whole_memory();
    *free_bytes = whole_memory() - in_use;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    if (kind != cudaMemcpyDeviceToHost)
        check_block(to, bytes, "a copy to the device");
    else
        spoil(to, bytes);
    if (kind != cudaMemcpyHostToDevice)
        check_block(from, bytes, "a copy from the device");
    put(stream, [=] { memcpy(to, from, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    if (width > to_pitch || width > from_pitch)
        return cudaErrorInvalidValue;
    if (kind == cudaMemcpyDeviceToHost) {
        check_block(from, from_pitch * (height - 1) + width, "a copy from the device");
        for (size_t r = 0; r < height; r++)
            spoil((char *)to + r * to_pitch, width);
    } else
        check_block(to, to_pitch * (height - 1) + width, "a copy to the device");
    put(stream, [=] {
        for (size_t r = 0; r < height; r++)
            memcpy((char *)to + r * to_pitch, (const char *)from + r * from_pitch, width);
    });
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    check_block(to, bytes, "cudaMemsetAsync");
    put(stream, [=] { memset(to, value, bytes); });
    return cudaSuccess;
}

// ---- the device

cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
    *properties = cudaDeviceProp{"emulated", 9, 0, 2, whole_memory()};
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int *low, int *high) {
    return *low = 0, *high = -1, cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *) {
    return attributes->maxThreadsPerBlock = 1024, cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t status) {
    switch (status) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorNotReady:
        return "device not ready";
    default:
        return "invalid argument";
    }
}
