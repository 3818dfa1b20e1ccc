// Fenced memory. The idea: handles are addresses of one large reserved range that is never mapped,
// so that any access faults: a host's read or write at once, and MPI's or the system's with EFAULT.
// The twin of a block is ordinary counted memory, and a table says where it lies. A handle is not
// used again after its block was freed, so a handle that outlives its block is noticed, too.
#include "fenced.h"

#include <string.h>
#include <sys/mman.h>

typedef struct Block {
    uintptr_t handle; // a page's begin; its end is inside the same block's last page
    size_t bytes;
    void *twin; // owned
} Block;

static struct {
    Block *block; // [room] owned; the first `count` are alive, by ascending handle
    int count, room;
    uintptr_t next, end; // of the reserved addresses: those that no block has had
} fence;

static const size_t page = 4096;

// As many addresses as there are: sanitizers and limits leave fewer.
static void reserve(void) {
    for (size_t bytes = (size_t)16 << 40; bytes >= (size_t)1 << 30; bytes /= 2) {
        void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            continue;
        fence.next = (uintptr_t)at;
        fence.end = fence.next + bytes;
        return;
    }
    CHECK(false, EXIT_MEMORY, "the backend 'fenced' needs 1 GiB of addresses; raise ulimit -v");
}

static void make_room(void) {
    if (fence.count < fence.room)
        return;
    int room = fence.room == 0 ? 256 : 2 * fence.room;
    Block *block = ALLOC(Block, room, "table of fenced blocks");
    if (fence.count > 0)
        memcpy(block, fence.block, (size_t)fence.count * sizeof *block);
    memory_free(fence.block);
    fence.block = block;
    fence.room = room;
}

void *fenced_alloc_zeroed(size_t bytes, const char *what) {
    if (fence.end == 0)
        reserve();
    make_room();
    size_t span = (bytes / page + 1) * page; // the end of a block is no other block's begin
    CHECK(span <= fence.end - fence.next, EXIT_MEMORY,
          "%s: the backend 'fenced' has no addresses left", what);
    uintptr_t handle = fence.next;
    fence.next += span;
    fence.block[fence.count++] = (Block){handle, bytes, memory_alloc(bytes, what)};
    return (void *)handle;
}

void *fenced_alloc(size_t bytes, const char *what) {
    void *handle = fenced_alloc_zeroed(bytes, what);
    memory_poisoned(fenced_twin(handle), bytes);
    return handle;
}

// The last block that begins at or before the address, or NULL.
static Block *find(uintptr_t address) {
    int low = 0, high = fence.count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (fence.block[middle].handle <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &fence.block[low - 1] : NULL;
}

void fenced_free(void *handle) {
    if (handle == NULL)
        return;
    fenced_finish(NULL);
    Block *block = find((uintptr_t)handle);
    assert(block != NULL && block->handle == (uintptr_t)handle);
    memory_free(block->twin);
    fence.count--;
    ptrdiff_t behind = fence.block + fence.count - block;
    memmove(block, block + 1, (size_t)behind * sizeof *block);
    if (fence.count > 0)
        return;
    memory_free(fence.block);
    fence.block = NULL;
    fence.room = 0;
}

void *fenced_twin(const void *handle) {
    if (handle == NULL)
        return NULL;
    const Block *block = find((uintptr_t)handle);
    assert(block != NULL && "an operation was given memory that is no living block of the device");
    size_t offset = (uintptr_t)handle - block->handle;
    assert(offset <= block->bytes && "an operation was given an address behind a block's end");
    return (char *)block->twin + offset;
}

Rows fenced_rows(Rows rows) {
    rows.at = fenced_twin(rows.at);
    return rows;
}

// ---- copies

typedef struct Copy {
    void *to;
    const void *from;
    size_t bytes;
} Copy;

static void run_copy(const void *arguments, const Poll *poll) {
    const Copy *c = arguments;
    (void)poll;
    if (c->bytes > 0)
        memcpy(c->to, c->from, c->bytes);
}

static void put_copy(DeviceStream stream, void *to, const void *from, size_t bytes) {
    FENCED_PUT(stream, run_copy, Copy, to, from, bytes);
}

// What a download will write holds nothing of use before: as float and double it is not a number,
// as an integer it is beyond every count. So a host that reads too early is noticed.
static void spoil(void *host, size_t bytes) {
    const uint32_t nothing = 0x7fffffff;
    for (size_t i = 0; i < bytes; i += sizeof nothing)
        memcpy((char *)host + i, &nothing, bytes - i < sizeof nothing ? bytes - i : sizeof nothing);
}

void fenced_upload(void *device, const void *host, size_t bytes) {
    put_copy(STREAM_COMPUTE, fenced_twin(device), host, bytes);
}

void fenced_download(void *host, const void *device, size_t bytes) {
    spoil(host, bytes);
    put_copy(STREAM_COMPUTE, host, fenced_twin(device), bytes);
}

void fenced_copy(void *to, const void *from, size_t bytes) {
    put_copy(STREAM_COMPUTE, fenced_twin(to), fenced_twin(from), bytes);
}

void fenced_message_upload(void *device, const void *pinned, size_t bytes) {
    put_copy(STREAM_MESSAGE, fenced_twin(device), pinned, bytes);
}

void fenced_message_download(void *pinned, const void *device, size_t bytes) {
    spoil(pinned, bytes);
    put_copy(STREAM_MESSAGE, pinned, fenced_twin(device), bytes);
}

static void run_zero(const void *arguments, const Poll *poll) {
    const Copy *c = arguments;
    (void)poll;
    memset(c->to, 0, c->bytes);
}

void fenced_zero(void *device, size_t bytes) {
    FENCED_PUT(STREAM_COMPUTE, run_zero, Copy, fenced_twin(device), NULL, bytes);
}

void fenced_message_zero(void *device, size_t bytes) {
    FENCED_PUT(STREAM_MESSAGE, run_zero, Copy, fenced_twin(device), NULL, bytes);
}

// ---- rows

typedef struct RowsCopy {
    Rows device;
    float *to;
    const float *from;
} RowsCopy;

static void run_upload_rows(const void *arguments, const Poll *poll) {
    const RowsCopy *c = arguments;
    (void)poll;
    backend_cpu.upload_rows(c->device, c->from);
}

void fenced_upload_rows(Rows to, const float *from) {
    FENCED_PUT(STREAM_COMPUTE, run_upload_rows, RowsCopy, fenced_rows(to), NULL, from);
}

static void run_download_rows(const void *arguments, const Poll *poll) {
    const RowsCopy *c = arguments;
    (void)poll;
    backend_cpu.download_rows(c->to, c->device);
}

void fenced_download_rows(float *to, Rows from) {
    spoil(to, (size_t)(from.count * from.columns) * sizeof *to);
    FENCED_PUT(STREAM_COMPUTE, run_download_rows, RowsCopy, fenced_rows(from), to, NULL);
}
