// Blocks of the device, in one large range of addresses that the host cannot touch: only while work
// of a stream runs are its pages there, and one call of the system makes them come and go.
//
// What belongs to no block is mapped from an empty file. Those pages can be made to come, too, but
// whoever touches them gets SIGBUS, because they lie behind the file's end. So a page of it stands
// between any two blocks, and where a block was freed there is never another one.
//
//   | guard | slack, block (from a multiple of 256 on), slack | guard | ...
#include "emulated.h"

#include <cstdlib>
#include <map>
#include <sys/mman.h>

#if EMULATED_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(at, bytes) __asan_poison_memory_region((at), (bytes))
#define UNPOISON(at, bytes) __asan_unpoison_memory_region((at), (bytes))
#else
#define POISON(at, bytes) ((void)(at), (void)(bytes))
#define UNPOISON(at, bytes) ((void)(at), (void)(bytes))
#endif

namespace emulated {

static const size_t page = 4096, huge_page = 2 << 20, alignment = 256;
static const unsigned char slack = 0xa5; // at both sides of a block

struct DeviceBlock {
    char *pages;
    size_t page_bytes, bytes;
};

static struct {
    int file; // empty
    char *mapped, *begin, *next, *end;
    bool is_open; // to the work that runs
    size_t used;
    // By address. It lives as long as the program, as the other one does.
    std::map<const char *, DeviceBlock> &block = *new std::map<const char *, DeviceBlock>;
} arena;

static std::map<void *, size_t> &pinned = *new std::map<void *, size_t>;

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t whole_memory() {
    const char *bytes = getenv("FRINGE_EMULATED_MEMORY");
    return bytes != nullptr ? strtoull(bytes, nullptr, 10) : (size_t)16 << 30;
}

// As many addresses as there are: sanitizers and limits leave fewer.
static void reserve() {
    arena.file = memfd_create("emulated device", MFD_CLOEXEC);
    for (size_t bytes = (size_t)1 << 40; arena.file >= 0 && bytes >= (size_t)1 << 30; bytes /= 2) {
        void *at = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, arena.file, 0);
        if (at == MAP_FAILED)
            continue;
        arena.mapped = (char *)at;
        arena.end = arena.mapped + bytes;
        arena.begin = (char *)round_up((size_t)at, huge_page); // and so are offsets of huge pages
        arena.next = arena.begin + page;
        return;
    }
    stop("the emulated device needs 1 GiB of addresses; raise ulimit -v");
}

static void protect(char *begin, const char *end, int rights) {
    if (begin < end && mprotect(begin, (size_t)(end - begin), rights) != 0)
        stop("the pages of the device cannot be protected; raise vm.max_map_count");
}

void device_begins() {
    if (!arena.is_open)
        protect(arena.begin, arena.next, PROT_READ | PROT_WRITE);
    arena.is_open = true;
}

void device_ends() {
    if (arena.is_open)
        protect(arena.begin, arena.next, PROT_NONE);
    arena.is_open = false;
}

bool is_of_device(const void *at) {
    return (const char *)at >= arena.begin && (const char *)at < arena.end;
}

void check_block(const void *at, size_t bytes, const char *what) {
    if (!is_of_device(at))
        stop("%s: %p is no address of the device", what, at);
    auto behind = arena.block.upper_bound((const char *)at);
    if (behind != arena.block.begin()) {
        const auto &found = *--behind;
        const size_t offset = (size_t)((const char *)at - found.first);
        if (offset <= found.second.bytes && bytes <= found.second.bytes - offset)
            return;
    }
    stop("%s: %zu bytes at %p do not lie in one living block of the device", what, bytes, at);
}

// ---- slack

static void check_slack(const char *at, const DeviceBlock &b) {
    for (const char *c = b.pages; c < b.pages + b.page_bytes; c++) {
        if (c == at)
            c += b.bytes;
        if (c < b.pages + b.page_bytes && (unsigned char)*c != slack)
            stop("cudaFree: somebody wrote %s the block of %zu bytes at %p",
                 c < at ? "before" : "behind", b.bytes, (const void *)at);
    }
}

// The block's begin. It ends as close to the guard as its alignment lets it.
static char *fill(const DeviceBlock &b) {
    char *at = b.pages + b.page_bytes - round_up(b.bytes, alignment);
    memset(b.pages, slack, b.page_bytes);
    memset(at, 0xff, b.bytes); // floats that are not numbers
    POISON(b.pages, b.page_bytes);
    UNPOISON(at, b.bytes);
    return at;
}

} // namespace emulated

using namespace emulated;

// Large blocks lie in huge pages, of which fewer must come and go.
static bool place_block(DeviceBlock *b) {
    const bool is_large = b->bytes >= huge_page;
    const size_t offset = round_up((size_t)(arena.next - arena.begin), is_large ? huge_page : page);
    b->pages = arena.begin + offset;
    b->page_bytes = round_up(b->bytes > 0 ? b->bytes : 1, page);
    if (offset + b->page_bytes + page > (size_t)(arena.end - arena.begin) ||
        mmap(b->pages, b->page_bytes, PROT_READ | PROT_WRITE,
             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        return false;
    if (is_large)
        madvise(b->pages, b->page_bytes, MADV_HUGEPAGE);
    arena.next = b->pages + b->page_bytes + page;
    return true;
}

cudaError_t cudaMalloc(void **block, size_t bytes) {
    if (arena.begin == nullptr)
        reserve();
    DeviceBlock b = {nullptr, 0, bytes};
    const size_t whole = whole_memory();
    if (arena.used > whole || bytes > whole - arena.used || !place_block(&b))
        return failed(cudaErrorMemoryAllocation);
    arena.used += bytes;
    char *at = fill(b);
    protect(b.pages, b.pages + b.page_bytes, PROT_NONE);
    arena.block[at] = b;
    *block = at;
    return cudaSuccess;
}

// All pages before the block `next` that belong to none, in one piece: so their page tables go,
// too, which every call that makes pages come and go would walk through.
static void give_back(std::map<const char *, DeviceBlock>::const_iterator next) {
    const char *end = next == arena.block.end() ? arena.next : next->second.pages;
    char *begin = arena.begin;
    if (next != arena.block.begin()) {
        const DeviceBlock &b = std::prev(next)->second;
        begin = b.pages + b.page_bytes;
    }
    if (mmap(begin, (size_t)(end - begin), PROT_NONE, MAP_FIXED | MAP_SHARED | MAP_NORESERVE,
             arena.file, begin - arena.mapped) == MAP_FAILED)
        stop("cudaFree: the pages of a block cannot be given back");
}

// Waits for all streams, as a device does.
cudaError_t cudaFree(void *block) {
    if (block == nullptr)
        return cudaSuccess;
    auto found = arena.block.find((char *)block);
    if (found == arena.block.end())
        stop("cudaFree: %p is no block of the device, or was freed before", block);
    finish_all();
    const DeviceBlock b = found->second;
    UNPOISON(b.pages, b.page_bytes);
    protect(b.pages, b.pages + b.page_bytes, PROT_READ);
    check_slack((char *)block, b);
    give_back(arena.block.erase(found));
    arena.used -= b.bytes;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all_bytes) {
    *all_bytes = whole_memory();
    *free_bytes = arena.used < *all_bytes ? *all_bytes - arena.used : 0;
    return cudaSuccess;
}

// ---- pinned memory: ordinary memory of the host

cudaError_t cudaMallocHost(void **block, size_t bytes) {
    if (posix_memalign(block, alignment, bytes) != 0)
        return failed(cudaErrorMemoryAllocation);
    memset(*block, 0xff, bytes);
    pinned[*block] = bytes;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *block) {
    if (block == nullptr)
        return cudaSuccess;
    if (pinned.erase(block) == 0)
        stop("cudaFreeHost: %p is no block of pinned memory, or was freed before", block);
    finish_all();
    free(block);
    return cudaSuccess;
}
