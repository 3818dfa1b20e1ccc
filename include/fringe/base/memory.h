// Counted memory. Every array of fringe is allocated here, 64-byte aligned. So tests can prove that
// the epoch loop allocates none and compare the plan with the actual use.
#pragma once

#include "fringe/base/error.h"

// Allocates `bytes` of zeroed memory, 64-byte aligned; 0 bytes give a valid pointer. `what` names
// it in messages ("halo rows of layer 1") and must outlive the memory (a literal). Aborts all ranks
// if the machine has none left; use memory_try for sizes that come from outside.
void *memory_alloc(size_t bytes, const char *what);
// The same in place of `old`, which it frees, with its first `used` bytes; old may be NULL.
void *memory_grown(void *old, size_t used, size_t bytes, const char *what);

// The same for sizes read from a file: NULL and an EXIT_MEMORY error instead of an abort.
void *memory_try(size_t bytes, const char *what, Error *err);
// Checks beforehand that so much is free for allocations to come: false with the same error if not.
bool memory_is_there(size_t bytes, const char *what, Error *err);

// Tests have FRINGE_POISON in their environment: then memory of which nobody says that it is zero
// is full of bytes 255 before it is written, as floats no numbers, so that a read of it shows.
static inline bool memory_is_poisoned(void) { return getenv("FRINGE_POISON") != NULL; }
static inline void *memory_poisoned(void *block, size_t bytes) {
    return memory_is_poisoned() ? memset(block, 255, bytes) : block;
}

// Frees memory; NULL is allowed.
void memory_free(void *pointer);
// Frees several, of any types, also of constants.
#define MEMORY_FREE(...)                                                                           \
    memory_free_some((const void *const[]){__VA_ARGS__},                                           \
                     sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))
static inline void memory_free_some(const void *const *pointer, size_t count) {
    for (size_t i = 0; i < count; i++)
        memory_free((void *)(uintptr_t)pointer[i]);
}

// CLEARED(dataset_clear) Dataset d = {0}; is cleared where its block ends, whichever way it is
// left, the last declared first; so it is declared with a value that can be cleared.
#define CLEARED(clear) __attribute__((cleanup(clear)))
// Makes of what frees a pointer something for CLEARED.
#define CLEARED_POINTER(clear, Type, free_it)                                                      \
    static inline void clear(Type **pointer) { free_it(*pointer); }
static inline void memory_drop(void *pointer) { memory_free(*(void **)pointer); } // of any type
#define FREED CLEARED(memory_drop) // FREED int64_t *offset = ALLOC(int64_t, count + 1, "offsets");
static inline void malloc_drop(void *pointer) { free(*(void **)pointer); } // the C library's own

// count * size; aborts if the product overflows. For sizes computed inside the program.
size_t memory_product(int64_t count, size_t size);

#define ALLOC(type, count, what)                                                                   \
    ((type *)memory_alloc(memory_product((int64_t)(count), sizeof(type)), (what)))

size_t memory_in_use(void);    // bytes
size_t memory_peak(void);      // bytes, the most ever in use
size_t memory_available(void); // bytes this process may still use: cgroup limit or MemAvailable

// The memory that a rank will need, item by item, known before anything large is allocated: that of
// the host, and, apart from it, that of a device with its own memory.
enum { FORECAST_ITEMS = 96 };
typedef struct MemoryForecast {
    int count;
    struct {
        char what[64];
        bool on_device;
        size_t bytes;
    } item[FORECAST_ITEMS];
} MemoryForecast;

// Adds an item of the host or of the device; those of either with the same `what` are added up.
void forecast_add(MemoryForecast *forecast, const char *what, size_t bytes);
void forecast_add_device(MemoryForecast *forecast, const char *what, size_t bytes);
// Plans a block where there is a plan (and returns NULL), else allocates it.
void *memory_or_forecast(MemoryForecast *forecast, size_t bytes, const char *what);
size_t forecast_total(const MemoryForecast *forecast); // of the host
size_t forecast_device_total(const MemoryForecast *forecast);
// The largest unmarked item of the host, or of the device; -1 if there is none.
int forecast_largest(const MemoryForecast *forecast, bool on_device, const bool *marked);

// False with EXIT_MEMORY, the three largest items and `advice` if the total exceeds `limit` bytes.
bool forecast_check(const MemoryForecast *forecast, size_t limit, const char *advice, Error *err);
bool forecast_check_device(const MemoryForecast *forecast, size_t limit, const char *advice,
                           Error *err);
// forecast_check for memory in addition to the memory in use. Together they may use `limit` GiB;
// if `limit` is 0, the plan is checked against memory_available.
bool forecast_fits(const MemoryForecast *further, double limit, const char *advice, Error *err);
// The same of one item.
bool forecast_fits_one(const char *what, size_t bytes, double limit, const char *advice,
                       Error *err);
