// ranks: 1
// If this failed, what a device must hold would be planned as memory of the host, or the other way
// round: a training that fits neither would start.
#include "internal.h"
#include "support.h"

static size_t free_bytes;
static size_t free_of_device(void) { return free_bytes; }

// The bytes of every kind of block that go to either side.
static MemoryPlan plan_on(const Backend *backend) {
    MemoryPlan plan = {0};
    Allocator allocator = {.backend = backend, .plan = &plan};
    alloc_host(&allocator, 1000, "lists");
    assert_null(alloc_device(&allocator, 20000, "rows"));
    alloc_pinned(&allocator, 300000, "messages");
    alloc_pinned_side(&allocator, NULL, 4000000, "rows");
    alloc_mirror(&allocator, &plan, 50000000, "ids");
    alloc_mirror(&allocator, NULL, 1, "nothing");
    assert_int_equal(alloc_rows(&allocator, 1000000, 7, "rows").stride, 16);
    return plan;
}

static void a_block_is_planned_where_it_lies(void **state) {
    (void)state;
    Backend device = backend_fenced;
    device.device_free = free_of_device;
    MemoryPlan cpu = plan_on(&backend_cpu), fenced = plan_on(&backend_fenced),
               apart = plan_on(&device);
    assert_int_equal(memory_plan_total(&cpu), 1000 + 20000 + 300000 + 64000000);
    assert_int_equal(memory_plan_device_total(&cpu), 0);
    assert_int_equal(memory_plan_total(&fenced), 118321000);
    assert_int_equal(memory_plan_device_total(&fenced), 0);
    assert_int_equal(memory_plan_total(&apart), 1000 + 300000 + 4000000);
    assert_int_equal(memory_plan_device_total(&apart), 20000 + 50000000 + 64000000);
}

static void a_plan_that_the_device_cannot_hold_is_refused(void **state) {
    (void)state;
    Backend device = backend_fenced;
    device.device_free = free_of_device;
    MemoryPlan plan = plan_on(&device);
    Error ok = {0}, err = {0};
    free_bytes = memory_plan_device_total(&plan);
    assert_true(device_fits(&plan, &device, &ok));
    free_bytes--;
    assert_refused(device_fits(&plan, &device, &err), &err, EXIT_MEMORY,
                   "this rank needs 108.7 MiB of its device but may use 108.7 MiB of it; the "
                   "largest items are rows 61.1 MiB, ids 47.7 MiB; use more ranks on more devices");
    assert_true(device_fits(&plan, &backend_fenced, &ok));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_block_is_planned_where_it_lies),
    cmocka_unit_test(a_plan_that_the_device_cannot_hold_is_refused),
};

TEST_MAIN(tests)
