// If this failed, nobody could tell whether the epoch loop takes memory, or a run that does not fit
// would start.

#include "support.h"

TEST(memory_is_zeroed_aligned_and_counted) {
    static const size_t sizes[] = {0, 1, 63, 4096, (size_t)4 << 20, ((size_t)9 << 20) + 5};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    void *block[SIZES];
    int64_t takes = memory_allocs();
    size_t before = memory_in_use(), sum = 0;
    for (int i = 0; i < SIZES; i++) {
        block[i] = memory_alloc(sizes[i], "test");
        sum += sizes[i];
        assert_int_equal((uintptr_t)block[i] % 64, 0);
        for (size_t b = 0; b < sizes[i]; b += 61)
            assert_int_equal(((char *)block[i])[b], 0);
        memset(block[i], 0xff, sizes[i]);
    }
    assert_int_equal(memory_allocs(), takes + SIZES);
    assert_int_equal(memory_in_use(), before + sum);
    assert_true(memory_peak() >= before + sum);
    for (int i = 0; i < SIZES; i++)
        memory_free(block[i]);
    memory_free(NULL);
    assert_int_equal(memory_in_use(), before);
    for (int i = 1; i < SIZES; i++) { // zeroed also where it was used before
        FREED char *again = memory_alloc(sizes[i], "test");
        assert_int_equal(again[0] | again[sizes[i] - 1] | again[sizes[i] / 2], 0);
    }
}

TEST(what_is_too_large_is_refused_with_a_sentence) {
    size_t available = memory_available();
    assert_in_range(available, (size_t)1 << 20, (size_t)1 << 50);
    assert_refused(memory_try(available * 2, "features", &err), EXIT_MEMORY, "features needs");
    assert_refused(memory_try(SIZE_MAX, "features", &err), EXIT_MEMORY, "TiB of memory");
    FREED void *pointer = assert_ok(memory_try(100, "little", &err));
}

TEST(the_plan_names_the_three_largest) {
    const size_t mib = (size_t)1 << 20;
    MemoryForecast forecast = {0};
    forecast_add(&forecast, "features", 300 * mib);
    forecast_add(&forecast, "halo rows", 50 * mib);
    forecast_add(&forecast, "graph", 200 * mib);
    forecast_add(&forecast, "halo rows", 60 * mib);
    forecast_add(&forecast, "weights", 1 * mib);
    assert_int_equal(forecast.count, 4);
    assert_int_equal(forecast_total(&forecast), 611 * mib);
    assert_ok(forecast_check(&forecast, 611 * mib, "buy some", &err));
    assert_refused(forecast_check(&forecast, 611 * mib - 1, "buy some", &err), EXIT_MEMORY,
                   "features 300.0 MiB, graph 200.0 MiB, halo rows 110.0 MiB;");
    MemoryForecast little = {0}; // sizes have a unit that fits
    forecast_add(&little, "labels", 700);
    forecast_add(&little, "features", 5 << 10);
    assert_refused(forecast_check(&little, 300, "buy some", &err), EXIT_MEMORY,
                   "this rank needs 5.7 KiB but may use 300 B; the largest items are features 5.0 "
                   "KiB, labels 700 B; buy some");
    MemoryForecast endless = {0};
    forecast_add(&endless, "a", SIZE_MAX - 5);
    forecast_add(&endless, "b", SIZE_MAX - 5);
    assert_true(forecast_total(&endless) == SIZE_MAX);
}

TEST(errors_keep_the_first_cause) {
    Error err = {0};
    assert_false(error_prefix(&err, "nothing"));
    assert_string_equal(err.text, "");
    assert_false(error_set(&err, EXIT_DATA, "%s: has %d rows", "a.npz", 3));
    assert_false(error_set(&err, EXIT_IO, "later"));
    assert_int_equal(err.code, EXIT_DATA);
    error_prefix(&err, "rank %d", 2);
    assert_string_equal(err.text, "rank 2: a.npz: has 3 rows");
    char lengthy[3000];
    memset(lengthy, 'x', sizeof lengthy);
    lengthy[2999] = 0;
    Error large = {0};
    error_set(&large, EXIT_DATA, "%s", lengthy);
    error_prefix(&large, "%s", "front");
    assert_int_equal(strlen(large.text), sizeof large.text - 1);
    assert_memory_equal(large.text, "front: xxx", 10);
}
