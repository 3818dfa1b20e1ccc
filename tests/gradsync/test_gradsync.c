// ranks: 1 2 3 4 8
// If this failed, ranks would train with different weights, or with bits that depend on how MPI
// likes to add.
#include "device.h"
#include "support.h"

#include "fringe/gradsync.h"

#include <math.h>
#include <string.h>

static const int64_t counts[] = {0, 1, 3, 7, 1000, 100003, 700001};
enum { COUNTS = sizeof counts / sizeof counts[0], SUMS = 3 };

// Magnitudes from 2^-12 to 2^12, so that another order of adding gives other bits.
static float element(int rank, int64_t i, uint32_t round) {
    RandomStream stream = random_stream(9, RANDOM_GENERATE, round, 0, 0);
    double draw = random_uniform32(stream, i, 0, rank) - 0.5;
    return ldexpf((float)draw, (int)((i * 7 + rank * 11) % 25) - 12);
}

static void fill(float *gradient, int64_t begin, int64_t end, uint32_t round) {
    for (int64_t i = begin; i < end; i++)
        gradient[i] = element(test_comm.rank, i, round);
}

// From its end to its beginning in `steps` steps, saying so after each, or at once without a word;
// other messages of the same ranks pass by.
static void make(GradSync *sync, float *gradient, int64_t count, uint32_t round, int steps) {
    for (int step = steps - 1; step >= 0; step--) {
        int64_t from = count * step / steps;
        fill(gradient, from, count * (step + 1) / steps, round);
        gradsync_made(sync, on_device(gradient), from);
    }
    if (steps == 0)
        fill(gradient, 0, count, round);
    int64_t one = 1;
    comm_sum_int64(&test_comm, &one, 1);
    assert_int_equal(one, test_comm.size);
}

// Whatever the ranks say, and when: each makes its gradient in other steps.
static void sum_is_that_of_the_rank_order(void **state) {
    (void)state;
    for (int k = 0; k < COUNTS; k++) {
        GradSync *sync = gradsync_new(&test_comm, device(), &(GradForm){.count = counts[k]});
        float *gradient = ALLOC(float, counts[k] + 1, "test");
        gradient[counts[k]] = 42; // must stay
        for (uint32_t round = 0; round < SUMS; round++) {
            int64_t takes = memory_allocs();
            make(sync, gradient, counts[k], round, (test_comm.rank * 5 + (int)round) % 13);
            gradsync_finish(sync, on_device(gradient));
            assert_int_equal(memory_allocs(), takes);
            for (int64_t i = 0; i < counts[k]; i++) {
                float expected = element(0, i, round);
                for (int r = 1; r < test_comm.size; r++)
                    expected += element(r, i, round);
                assert_memory_equal(&gradient[i], &expected, sizeof expected);
            }
            assert_true(gradient[counts[k]] == 42);
        }
        memory_free(gradient);
        gradsync_free(sync);
    }
}

// What is made is summed while the rest is not: the last element, before the first is there.
typedef struct Early {
    GradSync *sync;
    const float *at;
    float sum;
} Early;

static bool early_sum(void *context) {
    Early *early = context;
    gradsync_progress(early->sync);
    return *early->at == early->sum;
}

static void chunks_leave_as_soon_as_they_are_made(void **state) {
    (void)state;
    int64_t count = counts[COUNTS - 1];
    GradSync *sync = gradsync_new(&test_comm, device(), &(GradForm){.count = count});
    float *gradient = ALLOC(float, count, "test");
    fill(gradient, count / 2, count, 0);
    gradsync_made(sync, on_device(gradient), count / 2);
    Early early = {sync, &gradient[count - 1], element(0, count - 1, 0)};
    for (int r = 1; r < test_comm.size; r++)
        early.sum += element(r, count - 1, 0);
    comm_wait_until(&test_comm, early_sum, &early, "the sum of what is made");
    fill(gradient, 0, count / 2, 0);
    gradsync_finish(sync, on_device(gradient));
    assert_true(gradient[count - 1] == early.sum);
    memory_free(gradient);
    gradsync_free(sync);
}

// The case must be able to fail: adding downwards gives other bits (from 3 ranks on).
static void order_matters_here(void **state) {
    (void)state;
    int different = 0;
    for (int64_t i = 0; i < 1000; i++) {
        float up = element(0, i, 0), down = element(test_comm.size - 1, i, 0);
        for (int r = 1; r < test_comm.size; r++) {
            up += element(r, i, 0);
            down += element(test_comm.size - 1 - r, i, 0);
        }
        different += memcmp(&up, &down, sizeof up) != 0;
    }
    assert_true(test_comm.size < 3 ? different == 0 : different > 0);
}

static void plan_and_bytes(void **state) {
    (void)state;
    for (int k = 0; k < COUNTS; k++) {
        MemoryPlan plan = {0};
        gradsync_plan(&plan, device(), &(GradForm){.count = counts[k]}, test_comm.size);
        size_t before = memory_in_use();
        GradSync *sync = gradsync_new(&test_comm, device(), &(GradForm){.count = counts[k]});
        size_t taken = memory_in_use() - before, planned = memory_plan_total(&plan);
        assert_true(taken <= planned + 1024 && planned <= taken + 1024);
        int64_t bytes = gradsync_bytes(sync); // of all ranks: every element goes and comes back
        comm_sum_int64(&test_comm, &bytes, 1);
        assert_int_equal(bytes, 8 * counts[k] * (test_comm.size - 1));
        gradsync_free(sync);
    }
}

// By arithmetic, for more ranks than there are here: all ranks own about the same, so none sends
// much more than its share, 2 (P-1)/P of the array.
static void no_rank_sends_much_more_than_its_share(void **state) {
    (void)state;
    static const int sizes[] = {2, 3, 4, 64, 1000, 1024, 4096};
    static const int64_t floats[] = {50000, 200000, 1000003, 8400000, 40000000};
    for (int s = 0; s < 7; s++)
        for (int k = 0; k < 5; k++) {
            int64_t all = 0, size = sizes[s];
            double share = 2.0 * (double)(size - 1) / (double)size * 4.0 * (double)floats[k];
            for (int r = 0; r < size; r++) {
                int64_t bytes = gradsync_bytes_of(floats[k], (int)size, r);
                assert_true((double)bytes <= 1.2 * share);
                all += bytes;
            }
            assert_int_equal(all, 8 * floats[k] * (size - 1));
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sum_is_that_of_the_rank_order),
    cmocka_unit_test(chunks_leave_as_soon_as_they_are_made),
    cmocka_unit_test(order_matters_here),
    cmocka_unit_test(plan_and_bytes),
    cmocka_unit_test(no_rank_sends_much_more_than_its_share),
};

TEST_MAIN(tests)
