// What tests of the sum begin with: gradients by arithmetic, and ranks that report them in steps.
#pragma once

#include "../device.h"
#include "../mix.h"
#include "../support.h"

#include "fringe/gradsync.h"

// Element i of the gradient of a rank.
typedef float (*Element)(int rank, int64_t i, uint32_t round);

// Magnitudes from 2^-12 to 2^12, so that another order of adding gives other bits. Never 0.
static inline float element(int rank, int64_t i, uint32_t round) {
    uint32_t draw = test_mix((uint64_t)i << 8 | (uint64_t)rank, round);
    double unit = ((double)draw + 0.5) * 0x1p-32 - 0.5;
    return (float)unit * (float)(1 << (i * 7 + rank * 11) % 25) * 0x1p-12F;
}

static inline void fill(float *gradient, Element of, int64_t begin, int64_t end, uint32_t round) {
    for (int64_t i = begin; i < end; i++)
        gradient[i] = of(test_comm.rank, i, round);
}

// From its end to its beginning in `steps` steps, saying so after each, or at once without a word;
// other messages of the same ranks pass by.
static inline void make(GradSync *sync, float *gradient, Element of, int64_t count, uint32_t round,
                        int steps) {
    for (int step = steps - 1; step >= 0; step--) {
        int64_t from = count * step / steps;
        fill(gradient, of, from, count * (step + 1) / steps, round);
        gradsync_made(sync, on_device(gradient), from);
    }
    if (steps == 0)
        fill(gradient, of, 0, count, round);
    int64_t one = 1;
    comm_sum_int64(&test_comm, &one, 1);
    assert_int_equal(one, test_comm.size);
}

// Each rank makes its gradient in other steps.
static inline void make_and_sum(GradSync *sync, float *gradient, Element of, int64_t count,
                                uint32_t round) {
    make(sync, gradient, of, count, round, (test_comm.rank * 5 + (int)round) % 13);
    gradsync_finish(sync, on_device(gradient));
}

static inline float sum_at(Element of, int64_t i, uint32_t round) {
    float sum = of(0, i, round);
    for (int r = 1; r < test_comm.size; r++)
        sum += of(r, i, round);
    return sum;
}

// All ranks hold the same bits, of which each rank adds up its share again. Collective.
static inline void assert_summed(const float *gradient, Element of, int64_t count, uint32_t round) {
    uint64_t bits = 0, first;
    for (int64_t i = test_comm.rank; i < count; i += test_comm.size) {
        float expected = sum_at(of, i, round);
        assert_memory_equal(&gradient[i], &expected, sizeof expected);
    }
    for (int64_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &gradient[i], sizeof word);
        bits = (bits ^ word) * 0x9e3779b97f4a7c15U + (bits >> 29);
    }
    first = bits;
    comm_broadcast(&test_comm, &first, sizeof first, 0);
    assert_true(bits == first);
}

// What is made is summed while the rest is not: the last element, before the first is there.
typedef struct Early {
    GradSync *sync;
    const float *at;
    float sum;
} Early;

static inline bool early_sum(void *context) {
    Early *early = context;
    gradsync_progress(early->sync);
    return *early->at == early->sum;
}

static inline void assert_summed_early(const GradForm *form, Element of) {
    int64_t count = form->count;
    OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), form);
    float *gradient = TEST_ARRAY(float, count);
    gradsync_begin(sync, 1);
    fill(gradient, of, count / 2, count, 0);
    gradsync_made(sync, on_device(gradient), count / 2);
    Early early = {sync, &gradient[count - 1], sum_at(of, count - 1, 0)};
    comm_wait_until(&test_comm, early_sum, &early, "the sum of what is made");
    fill(gradient, of, 0, count / 2, 0);
    gradsync_finish(sync, on_device(gradient));
    assert_summed(gradient, of, count, 0);
}

// Of a new GradSync.
static inline void assert_plan_is_what_is_taken(const GradForm *form) {
    MemoryForecast forecast = {0};
    gradsync_forecast(&forecast, device(), form, &test_comm);
    size_t before = memory_in_use();
    GradSync *sync = gradsync_new(&test_comm, device(), form);
    size_t taken = memory_in_use() - before, planned = forecast_total(&forecast);
    gradsync_free(sync);
    if (taken > planned + 1024 || planned > taken + 1024)
        fail_msg("rank %d, %lld floats: takes %zu bytes, planned %zu", test_comm.rank,
                 (long long)form->count, taken, planned);
}
