// ranks: 1 2 3 4 8
// If this failed, ranks would train with different weights, or with bits that depend on how MPI
// likes to add.
#include "sums.h"

static const int64_t counts[] = {0, 1, 3, 7, 1000, 100003, 700001};
enum { COUNTS = sizeof counts / sizeof counts[0], SUMS = 3 };

// Whatever the ranks say, and when.
TEST(sum_is_that_of_the_rank_order) {
    for (int k = 0; k < COUNTS; k++) {
        OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &(GradForm){.count = counts[k]});
        float *gradient = TEST_ARRAY(float, counts[k] + 1);
        gradient[counts[k]] = 42; // must stay
        for (uint32_t round = 0; round < SUMS; round++) {
            int64_t takes = memory_allocs();
            make_and_sum(sync, gradient, element, counts[k], round);
            assert_int_equal(memory_allocs(), takes);
            assert_summed(gradient, element, counts[k], round);
            assert_true(gradient[counts[k]] == 42);
        }
    }
}

TEST(chunks_leave_as_soon_as_they_are_made) {
    assert_summed_early(&(GradForm){.count = counts[COUNTS - 1]}, element);
}

// The case must be able to fail: adding downwards gives other bits (from 3 ranks on).
TEST(order_matters_here) {
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

TEST(plan_and_bytes) {
    for (int k = 0; k < COUNTS; k++) {
        assert_plan_is_what_is_taken(&(GradForm){.count = counts[k]});
        OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &(GradForm){.count = counts[k]});
        int64_t bytes = gradsync_bytes(sync); // of all ranks: every element goes and comes back
        comm_sum_int64(&test_comm, &bytes, 1);
        assert_int_equal(bytes, 8 * counts[k] * (test_comm.size - 1));
    }
}

// By arithmetic, for more ranks than there are here: all ranks own about the same, so none sends
// much more than its share, 2 (P-1)/P of the array.
TEST(no_rank_sends_much_more_than_its_share) {
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
