// ranks: 2 3
// If this failed, sums of the largest values would be others than their definition says, lose what
// they leave out, leave something out where a sum goes in full, or send more than plans foresee.
#include "gradsync/internal.h"
#include "sums.h"

enum { COUNT = 20001, RANKS_MOST = 3, ROUNDS = 4 };
static const double part = 0.1;

static GradForm form_of(const char *codec, const char *memory) {
    GradForm form = {.count = COUNT, .seed = 5};
    Config config =
        CONFIGURED(test_text("gradients.codec=%s", codec), test_text("gradients.memory=%s", memory),
                   "gradients.top=0.1", "gradients.bits=8");
    assert_ok(gradsync_configure(&form, &config, &err));
    return form;
}

// ---- the definition

static const float *sorted_by;

// Larger magnitudes first, then lower places.
static int larger_first(const void *a, const void *b) {
    int i = *(const int *)a, j = *(const int *)b;
    float x = fabsf(sorted_by[i]), y = fabsf(sorted_by[j]);
    return x > y ? -1 : x < y ? 1 : i - j;
}

// The largest of x [n] + rest stay, the others are the rest.
static void keep(float *x, float *rest, int n) {
    static int order[COUNT];
    for (int i = 0; i < n; i++) {
        x[i] += rest[i];
        order[i] = i;
        rest[i] = 0;
    }
    sorted_by = x;
    qsort(order, (size_t)n, sizeof *order, larger_first);
    for (int k = (int)ceil(part * n); k < n; k++) {
        rest[order[k]] = x[order[k]];
        x[order[k]] = 0;
    }
}

// What ranks and owners left out of each element.
static float left_of[RANKS_MOST][COUNT], left_of_sum[COUNT];

static void sum_of_slice(float *out, int owner, int64_t begin, int n, uint32_t round) {
    static float share[COUNT];
    for (int r = 0; r < test_comm.size; r++) {
        for (int i = 0; i < n; i++)
            share[i] = element(r, begin + i, round);
        if (r != owner)
            keep(share, left_of[r] + begin, n);
        for (int i = 0; i < n; i++)
            out[begin + i] = r == 0 ? share[i] : out[begin + i] + share[i];
    }
    keep(out + begin, left_of_sum + begin, n);
}

static void definition(float *out, const GradSync *sync, uint32_t round) {
    for (int i = 0; i < sync->chunks; i++)
        for (int owner = 0; owner < test_comm.size; owner++) {
            int64_t begin = unit_begin(&sync->cut, slice_begin(&sync->chunk[i], owner));
            int64_t end = unit_begin(&sync->cut, slice_begin(&sync->chunk[i], owner + 1));
            sum_of_slice(out, owner, begin, (int)(end - begin), round);
        }
}

// ---- the tests

TEST(sums_are_their_definition) {
    static float gradient[COUNT], want[COUNT];
    GradForm form = form_of("keys", "feedback");
    OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &form);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        int64_t takes = memory_allocs();
        gradsync_begin(sync, 1 + round);
        make_and_sum(sync, gradient, element, COUNT, round);
        assert_int_equal(memory_allocs(), takes);
        definition(want, sync, round);
        for (int i = 0; i < COUNT; i++)
            assert_true(gradient[i] == want[i]);
    }
    int64_t bytes = gradsync_bytes(sync), most = gradsync_bytes_most_of(&form, test_comm.size);
    comm_sum_int64(&test_comm, &bytes, 1);
    double share = (double)bytes / (8.0 * COUNT * (test_comm.size - 1));
    if (test_comm.rank == 0)
        print_message("a tenth of the values: %.4f of the bytes of fp32\n", share);
    assert_true(share > 0.125 && share < 0.145 && bytes <= most &&
                (double)most < 1.02 * (double)bytes);
}

static int64_t zeros_in(const float *x) {
    int64_t zeros = 0;
    for (int i = 0; i < COUNT; i++)
        zeros += x[i] == 0;
    return zeros;
}

// The first sum of anchor goes in full; a grid's codes are of the largest values.
TEST(a_refresh_leaves_nothing_out) {
    static const char *const codecs[] = {"keys", "max", "l2"};
    static float gradient[COUNT];
    for (int c = 0; c < 3; c++) {
        GradForm form = form_of(codecs[c], "anchor");
        OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &form);
        gradsync_begin(sync, 1);
        make_and_sum(sync, gradient, element, COUNT, 0);
        assert_summed(gradient, element, COUNT, 0);
    }
}

TEST(grids_leave_out_the_others) {
    static float gradient[COUNT];
    for (int c = 0; c < 2; c++) {
        GradForm form = form_of(c == 0 ? "max" : "l2", "feedback");
        OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &form);
        gradsync_begin(sync, 1);
        make_and_sum(sync, gradient, element, COUNT, 0);
        assert_true(zeros_in(gradient) >= (int64_t)(0.89 * COUNT) && zeros_in(gradient) < COUNT);
        assert_plan_is_what_is_taken(&form);
    }
}
