// Counted memory. The idea: each block is preceded by 64 bytes that hold its size and name, so that
// freeing it needs no table. Large blocks come directly from the kernel, already zero, and with
// huge pages: a sparse aggregate reads rows at random and would otherwise miss the TLB.

#include "fringe/base/memory.h"
#include "internal.h"
#include "testing.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

typedef struct Block { // 64 bytes before the pointer that the caller sees
    size_t bytes;      // as requested
    size_t mapped;     // length of the mapping, or 0: from the heap
    const char *what;
    size_t unused[5];
} Block;
_Static_assert(sizeof(Block) == 64, "a block's head keeps its data aligned");

// AddressSanitizer checks only the heap, so with it all blocks come from there.
#ifdef __SANITIZE_ADDRESS__
static const size_t map_from = SIZE_MAX;
#else
static const size_t map_from = (size_t)4 << 20;
#endif
static const size_t page = 4096;

static atomic_int_least64_t takes;
static atomic_size_t in_use, peak;

static void count_taken(size_t bytes) {
    atomic_fetch_add(&takes, 1);
    size_t now = atomic_fetch_add(&in_use, bytes) + bytes;
    size_t most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        ;
}

// AddressSanitizer maps each of its large blocks anew: calloc touches none of its pages and aligns
// it.
static Block *block_of_heap(size_t all) {
    void *memory = NULL;
    if (map_from == SIZE_MAX && all >= (size_t)1 << 18) {
        memory = calloc(1, all);
        assert((uintptr_t)memory % 64 == 0);
        return memory;
    }
    return posix_memalign(&memory, 64, all) == 0 ? memset(memory, 0, all) : NULL;
}

// A new zeroed block with its head, or NULL.
static Block *block_new(size_t bytes) {
    if (bytes > SIZE_MAX - sizeof(Block) - page)
        return NULL;
    size_t all = bytes + sizeof(Block);
    if (all < map_from)
        return block_of_heap(all);
    all = (all + page - 1) / page * page;
    Block *block = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    madvise(block, all, MADV_HUGEPAGE); // a hint; without huge pages the kernel uses small ones
    block->mapped = all;
    return block;
}

static void *alloc(size_t bytes, const char *what) {
    Block *block = block_new(bytes);
    if (block == NULL)
        return NULL;
    block->bytes = bytes;
    block->what = what;
    count_taken(bytes);
    return block + 1;
}

#define IN_WORDS(bytes) quantity_memory((char[QUANTITY]){0}, (double)(bytes))

void *memory_alloc(size_t bytes, const char *what) {
    void *pointer = alloc(bytes, what);
    CHECK(pointer != NULL, EXIT_MEMORY,
          "%s: no memory for %s (%s in use by this rank); use more ranks or machines", what,
          IN_WORDS(bytes), IN_WORDS(memory_in_use()));
    return pointer;
}

void *memory_grown(void *old, size_t used, size_t bytes, const char *what) {
    void *larger = memory_alloc(bytes, what);
    if (used > 0)
        memcpy(larger, old, used);
    memory_free(old);
    return larger;
}

static bool needs_too_much(size_t bytes, size_t available, const char *what, Error *err) {
    return error_set(err, EXIT_MEMORY, "%s needs %s of memory but only %s are free", what,
                     IN_WORDS(bytes), IN_WORDS(available));
}

static atomic_size_t test_limit;

void memory_test_limit(size_t bytes) { atomic_store(&test_limit, bytes); }

// To ask the machine takes far longer than to make a small array, which malloc refuses by itself.
static size_t available_for(size_t bytes) {
    enum { SMALL = 1 << 16 };
    return bytes <= SMALL && atomic_load(&test_limit) == 0 ? SMALL : memory_available();
}

bool memory_is_there(size_t bytes, const char *what, Error *err) {
    size_t available = available_for(bytes);
    return bytes <= available || needs_too_much(bytes, available, what, err);
}

void *memory_try(size_t bytes, const char *what, Error *err) {
    size_t available = available_for(bytes);
    void *pointer = bytes <= available ? alloc(bytes, what) : NULL;
    if (pointer == NULL)
        needs_too_much(bytes, available, what, err);
    return pointer;
}

void memory_free(void *pointer) {
    if (pointer == NULL)
        return;
    Block *block = (Block *)pointer - 1;
    atomic_fetch_sub(&in_use, block->bytes);
    if (block->mapped != 0)
        munmap(block, block->mapped);
    else
        free(block);
}

size_t memory_product(int64_t count, size_t size) {
    size_t bytes;
    CHECK(count >= 0 && !__builtin_mul_overflow((size_t)count, size, &bytes), EXIT_BUG,
          "%ld elements of %zu bytes are more than memory can hold", count, size);
    return bytes;
}

int64_t memory_allocs(void) { return atomic_load(&takes); }
size_t memory_in_use(void) { return atomic_load(&in_use); }
size_t memory_peak(void) { return atomic_load(&peak); }

// --- available memory

// Bytes left under one cgroup folder; cached file pages do not count, the kernel drops them.
static size_t left_under(size_t limit, size_t usage, size_t cache) {
    if (limit == SIZE_MAX || usage == SIZE_MAX)
        return SIZE_MAX;
    if (cache != SIZE_MAX)
        usage = usage > cache ? usage - cache : 0;
    return limit > usage ? limit - usage : 0;
}

static size_t left_of_second(const char *folder) {
    return left_under(cgroup_number(folder, "memory.max", ""),
                      cgroup_number(folder, "memory.current", ""),
                      cgroup_number(folder, "memory.stat", "inactive_file"));
}

static size_t left_of_first(const char *folder) {
    return left_under(cgroup_number(folder, "memory.limit_in_bytes", ""),
                      cgroup_number(folder, "memory.usage_in_bytes", ""),
                      cgroup_number(folder, "memory.stat", "total_inactive_file"));
}

// Bytes left under `ulimit -v`.
static size_t address_space_left(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    size_t used = number_in("/proc/self/status", "VmSize:");
    used = used == SIZE_MAX ? 0 : used * 1024;
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

size_t memory_available(void) {
    size_t limit = atomic_load(&test_limit), used = memory_in_use();
    if (limit > 0)
        return limit > used ? limit - used : 0;
    size_t free_kib = number_in("/proc/meminfo", "MemAvailable:");
    size_t least = free_kib == SIZE_MAX ? SIZE_MAX : free_kib * 1024;
    size_t group = cgroup_least("memory", left_of_second, left_of_first),
           space = address_space_left();
    least = group < least ? group : least;
    return space < least ? space : least;
}

// --- the forecast

static void add(MemoryForecast *forecast, bool on_device, const char *what, size_t bytes) {
    int i = 0;
    while (i < forecast->count &&
           (forecast->item[i].on_device != on_device ||
            strncmp(forecast->item[i].what, what, sizeof forecast->item[i].what - 1) != 0))
        i++;
    if (i == forecast->count) {
        assert(forecast->count < FORECAST_ITEMS);
        forecast->count++;
        snprintf(forecast->item[i].what, sizeof forecast->item[i].what, "%s", what);
        forecast->item[i].on_device = on_device;
        forecast->item[i].bytes = 0;
    }
    forecast->item[i].bytes += bytes;
}

void forecast_add(MemoryForecast *forecast, const char *what, size_t bytes) {
    add(forecast, false, what, bytes);
}

void forecast_add_device(MemoryForecast *forecast, const char *what, size_t bytes) {
    add(forecast, true, what, bytes);
}

void *memory_or_forecast(MemoryForecast *forecast, size_t bytes, const char *what) {
    if (forecast == NULL)
        return memory_alloc(bytes, what);
    forecast_add(forecast, what, bytes);
    return NULL;
}

static size_t total_of(const MemoryForecast *forecast, bool on_device) {
    size_t total = 0;
    for (int i = 0; i < forecast->count; i++)
        if (forecast->item[i].on_device == on_device &&
            __builtin_add_overflow(total, forecast->item[i].bytes, &total))
            return SIZE_MAX;
    return total;
}

size_t forecast_total(const MemoryForecast *forecast) { return total_of(forecast, false); }
size_t forecast_device_total(const MemoryForecast *forecast) { return total_of(forecast, true); }

int forecast_largest(const MemoryForecast *forecast, bool on_device, const bool *marked) {
    int best = -1;
    for (int i = 0; i < forecast->count; i++)
        if (forecast->item[i].on_device == on_device && !marked[i] &&
            (best < 0 || forecast->item[i].bytes > forecast->item[best].bytes))
            best = i;
    return best;
}

static bool check(const MemoryForecast *forecast, bool on_device, size_t limit, const char *advice,
                  Error *err) {
    size_t total = total_of(forecast, on_device);
    if (total <= limit)
        return true;
    char items[512] = "";
    bool marked[FORECAST_ITEMS] = {false};
    for (int k = 0; k < 3; k++) {
        int i = forecast_largest(forecast, on_device, marked);
        if (i < 0)
            break;
        marked[i] = true;
        text_add(items, sizeof items, ", ", "%s %s", forecast->item[i].what,
                 IN_WORDS(forecast->item[i].bytes));
    }
    return error_set(err, EXIT_MEMORY,
                     "this rank needs %s%s but may use %s%s; the largest items are %s; %s",
                     IN_WORDS(total), on_device ? " of its device" : "", IN_WORDS(limit),
                     on_device ? " of it" : "", items, advice);
}

bool forecast_check(const MemoryForecast *forecast, size_t limit, const char *advice, Error *err) {
    return check(forecast, false, limit, advice, err);
}

bool forecast_check_device(const MemoryForecast *forecast, size_t limit, const char *advice,
                           Error *err) {
    return check(forecast, true, limit, advice, err);
}

static atomic_size_t foreseen;

size_t memory_foreseen(void) { return atomic_load(&foreseen); }

bool forecast_fits(const MemoryForecast *further, double limit, const char *advice, Error *err) {
    size_t used = memory_in_use(), left = memory_available(), total = forecast_total(further);
    size_t wanted = (size_t)(limit * 1024 * 1024 * 1024);
    if (limit > 0)
        left = wanted > used ? wanted - used : 0;
    if (total <= SIZE_MAX - used && used + total > atomic_load(&foreseen))
        atomic_store(&foreseen, used + total);
    return forecast_check(further, left, advice, err);
}

bool forecast_fits_one(const char *what, size_t bytes, double limit, const char *advice,
                       Error *err) {
    MemoryForecast forecast = {0};
    forecast_add(&forecast, what, bytes);
    return forecast_fits(&forecast, limit, advice, err);
}
