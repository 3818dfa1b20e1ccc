// If this failed, what a device must hold would be planned as memory of the host, or the other way
// round: a training that fits neither would start. Or tests would read lucky zeros where nobody has
// written.
#include "device.h"
#include "fenced/fenced.h"
#include "support.h"

static size_t free_bytes;
static size_t free_of_device(void) { return free_bytes; }

// The bytes of every kind of block that go to the host or to the device.
static MemoryForecast plan_on(const Backend *backend) {
    MemoryForecast forecast = {0};
    Allocator allocator = {.backend = backend, .forecast = &forecast};
    alloc_host(&allocator, 1000, "lists");
    assert_null(alloc_device(&allocator, 20000, "rows"));
    alloc_pinned(&allocator, 300000, "messages");
    alloc_pinned_mirror(&allocator, NULL, 4000000, "rows");
    alloc_mirror(&allocator, &forecast, 50000000, "ids");
    alloc_mirror(&allocator, NULL, 1, "nothing");
    assert_int_equal(alloc_rows(&allocator, 1000000, 7, "rows").stride, 16);
    return forecast;
}

TEST(a_block_is_planned_where_it_lies) {
    Backend device = backend_fenced;
    device.device_free = free_of_device;
    MemoryForecast cpu = plan_on(&backend_cpu), fenced = plan_on(&backend_fenced),
                   apart = plan_on(&device);
    assert_int_equal(forecast_total(&cpu), 1000 + 20000 + 300000 + 64000000);
    assert_int_equal(forecast_device_total(&cpu), 0);
    assert_int_equal(forecast_total(&fenced), 118321000);
    assert_int_equal(forecast_device_total(&fenced), 0);
    assert_int_equal(forecast_total(&apart), 1000 + 300000 + 4000000);
    assert_int_equal(forecast_device_total(&apart), 20000 + 50000000 + 64000000);
}

TEST(a_plan_that_the_device_cannot_hold_is_refused) {
    Backend device = backend_fenced;
    device.device_free = free_of_device;
    MemoryForecast forecast = plan_on(&device);
    Error ok = {0};
    free_bytes = forecast_device_total(&forecast);
    assert_true(device_fits(&forecast, &device, &ok));
    free_bytes--;
    assert_refused(device_fits(&forecast, &device, &err), EXIT_MEMORY,
                   "this rank needs 108.7 MiB of its device but may use 108.7 MiB of it; the "
                   "largest items are rows 61.1 MiB, ids 47.7 MiB; use more ranks on more devices");
    assert_true(device_fits(&forecast, &backend_fenced, &ok));
}

static void *freed[8];
static int frees;
static void free_noted(void *block) {
    freed[frees++] = block;
    backend_fenced.free(block);
}
static void free_pinned_noted(void *block) {
    freed[frees++] = block;
    backend_fenced.free_pinned(block);
}

TEST(what_was_taken_is_freed_once_the_last_first) {
    Backend device = backend_fenced;
    device.free = free_noted;
    device.free_pinned = free_pinned_noted;
    Taken *taken = NULL;
    Allocator noted = {.backend = &device, .taken = &taken}, apart = {.backend = &device};
    size_t before = memory_in_use();
    void *list = alloc_host(&noted, 100, "lists"), *block = alloc_device(&noted, 100, "rows");
    void *pinned = alloc_pinned_mirror(&noted, block, 100, "rows");
    void *kept = alloc_device(&apart, 100, "rows");
    const void *mirror = alloc_mirror(&noted, list, 100, "ids");
    assert_null(alloc_mirror(&noted, NULL, 100, "nothing"));
    Rows rows = alloc_rows(&noted, 3, 5, "rows");
    taken_free(&taken);
    assert_null(taken);
    assert_int_equal(frees, 4);
    assert_true(freed[0] == rows.at && freed[1] == mirror);
    assert_true(freed[2] == pinned && freed[3] == block);
    backend_fenced.free(kept);
    assert_int_equal(memory_in_use(), before);
}

// Where the host may read the device's memory, a mirror is no block of its own.
TEST(what_is_lent_is_not_freed) {
    Taken *taken = NULL;
    Allocator cpu = {.backend = &backend_cpu, .taken = &taken};
    size_t before = memory_in_use();
    int32_t list[10] = {0};
    assert_true(alloc_mirror(&cpu, list, sizeof list, "ids") == list);
    void *block = alloc_device(&cpu, 100, "rows");
    assert_true(alloc_pinned_mirror(&cpu, block, 100, "rows") == block);
    taken_free(&taken);
    assert_int_equal(memory_in_use(), before);
}

// The bytes of a block, all alike; else -1.
static int byte_of(const Backend *b, const void *device, size_t bytes) {
    unsigned char *host = memory_alloc(bytes, "test");
    b->download(host, device, bytes);
    b->finish(NULL);
    int first = host[0];
    for (size_t i = 1; i < bytes; i++)
        first = host[i] == first ? first : -1;
    memory_free(host);
    return first;
}

static void expect_fresh(const Backend *b, int byte) {
    enum { BYTES = 1000, ROWS = 3, COLUMNS = 5, STRIDE = 16 };
    float all[ROWS * STRIDE];
    void *block = b->alloc(BYTES, "test"), *zeroed = b->alloc_zeroed(BYTES, "test");
    Rows rows = rows_alloc(b, ROWS, COLUMNS, "test");
    assert_int_equal(byte_of(b, block, BYTES), byte);
    assert_int_equal(byte_of(b, zeroed, BYTES), 0);
    b->download(all, rows.at, sizeof all);
    b->finish(NULL);
    for (int i = 0; i < ROWS * STRIDE; i++) // padding is zero
        assert_int_equal(isnan(all[i]), byte != 0 && i % STRIDE < COLUMNS);
    rows_free(b, &rows);
    b->free(zeroed);
    b->free(block);
}

TEST(tests_have_poisoned_memory) {
    const Backend *emulated = emulated_device(&(Error){0});
    assert_true(memory_is_poisoned()); // CMake says so for all tests
    expect_fresh(&backend_cpu, 255);
    expect_fresh(&backend_fenced, 255);
    if (emulated != NULL)
        expect_fresh(emulated, 255);
    unsetenv("FRINGE_POISON");
    expect_fresh(&backend_cpu, 0);
}
