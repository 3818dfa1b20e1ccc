// If this fails, the times of events that `fringe stream` reports are others than they were.
#include "stream/internal.h"
#include "support.h"

TEST(quantiles_are_those_of_the_sorted_times) {
    enum { COUNT = 20000 };
    static double time[COUNT];
    RandomKey key = random_key(1, RANDOM_GENERATE, 0, 0, 0);
    for (int spread = 0; spread < 3; spread++) {
        Latency *latency = calloc(1, sizeof *latency);
        double total = 0;
        for (int64_t i = 0; i < COUNT; i++) {
            time[i] = 1e-9 * exp((5 + 5 * spread) * random_uniform32(key, i, spread, 0));
            latency_add(latency, time[i]);
            total += time[i];
        }
        sort_double(time, COUNT);
        static const double shares[] = {0.001, 0.5, 0.99, 0.999, 1};
        for (int k = 0; k < 5; k++) {
            double exact = time[(int64_t)ceil(shares[k] * COUNT) - 1];
            double found = latency_quantile(latency, shares[k]);
            assert_true(found >= exact && found <= exact * 1.07 + 1e-9);
        }
        assert_true(latency->longest == time[COUNT - 1]);
        assert_near(latency->total, total, 1e-12);
        free(latency);
    }
}

TEST(odd_times_are_counted) {
    Latency *latency = calloc(1, sizeof *latency);
    assert_true(latency_quantile(latency, 0.5) == 0);
    latency_add(latency, 0);
    latency_add(latency, -1); // a clock that was set back
    latency_add(latency, 1e9);
    assert_int_equal(latency->count, 3);
    assert_true(latency_quantile(latency, 1) == 1e9);
    free(latency);
}
