// If this failed, the mean or the deviation that several runs are reported with would be wrong.
#include "support.h"

TEST(deviation_is_that_of_the_sample) {
    static const double value[] = {2, 4, 4, 4, 5, 5, 7, 9}; // squares around 5 add up to 32
    MeanDeviation all = mean_deviation(value, 8), one = mean_deviation(value, 1);
    assert_near(all.mean, 5, 1e-12);
    assert_near(all.deviation * all.deviation, 32.0 / 7, 1e-12);
    assert_true(one.mean == 2 && one.deviation == 0 && one.count == 1);
}
