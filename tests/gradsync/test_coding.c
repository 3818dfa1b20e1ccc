// ranks: 1 2 3
// If this failed, a compressor would blur sums that it codes without loss, ranks would hold other
// weights than each other or than before a resume, or a value that cannot be coded would be summed.
#include "../compressors.h"
#include "gradsync/internal.h"
#include "sums.h"

static const int64_t counts[] = {0, 1, 511, 512, 513, 100003};
enum { COUNTS = sizeof counts / sizeof counts[0], SPANS = 8, LONGEST = 100003, BUCKET = 512 };

static const char *const lossy[] = {"rounded", "few-bits", "refreshed", "entropy"};
enum { LOSSY = sizeof lossy / sizeof *lossy };

// ---- gradients

// Round 1 repeats round 0. Later an element is 0, what it was in round 0, or twice that, so that
// all differences from round to round are exact, also those of the sums.
static float changing(int rank, int64_t i, uint32_t round) {
    int64_t times = round < 2 ? 1 : (i * 5 + round * round) % 3;
    return times == 0 ? 0.0F : (float)times * element(rank, i, 0);
}

static float constant(int rank, int64_t i, uint32_t round) {
    (void)round;
    return element(rank, i, 0);
}

// ---- a sum that is coded

typedef struct Sum {
    GradForm form;
    GradSpan span[SPANS];
    GradSync *sync;
    float *gradient; // [count + 1]; the last one must stay
} Sum;

// Parameters of odd lengths; the last one has the rest.
static int fill_spans(GradSpan *span, int64_t count) {
    static const int64_t columns[] = {1, 7, 73, 512, 3, 40}, rows[] = {1, 73, 7, 1, 171, 25};
    int64_t begin = 0;
    int n = 0;
    for (; n < 6 && begin + rows[n] * columns[n] < count; n++) {
        span[n] = (GradSpan){"weights", begin, rows[n], columns[n]};
        begin += rows[n] * columns[n];
    }
    span[n] = (GradSpan){"bias", begin, 1, count - begin};
    return n + 1;
}

static GradForm form_of(const char *compressor, int64_t count, GradSpan *span) {
    return (GradForm){.count = count,
                      .options = options_of(compressor),
                      .bucket = BUCKET,
                      .spans = span,
                      .span_count = span != NULL ? fill_spans(span, count) : 0,
                      .seed = 5};
}

static void sum_open(Sum *s) {
    s->sync = gradsync_new(&test_comm, device(), &s->form);
    s->gradient = TEST_ARRAY(float, s->form.count + 1);
    s->gradient[s->form.count] = 42;
}

static void sum_init(Sum *s, const char *compressor, int64_t count, bool spans) {
    s->form = form_of(compressor, count, spans ? s->span : NULL);
    sum_open(s);
}

static void sum_clear(Sum *s) {
    assert_true(s->gradient[s->form.count] == 42);
    gradsync_free(s->sync);
}

static void sum_up(Sum *s, Element of, uint32_t round) {
    int64_t takes = memory_allocs();
    gradsync_begin(s->sync, 1 + round);
    make_and_sum(s->sync, s->gradient, of, s->form.count, round);
    assert_int_equal(memory_allocs(), takes);
}

static bool everywhere(bool here) {
    int64_t others = !here;
    comm_sum_int64(&test_comm, &others, 1);
    return others == 0;
}

static uint64_t hash_of(const Sum *s) {
    return hash_bytes(s->gradient, (size_t)s->form.count * sizeof(float));
}

static void assert_same_on_all_ranks(const Sum *s) {
    uint64_t mine = hash_of(s), first = mine;
    comm_broadcast(&test_comm, &first, sizeof first, 0);
    assert_true(everywhere(first == mine));
}

// ---- the tests

static void assert_lossless(const char *compressor, Element of, int64_t count, bool spans) {
    CLEARED(sum_clear) Sum s = {0};
    sum_init(&s, compressor, count, spans);
    for (uint32_t round = 0; round < 4; round++) {
        sum_up(&s, of, round);
        assert_summed(s.gradient, of, count, round);
    }
}

TEST(lossless_sums_are_those_of_fp32) {
    for (int k = 0; k < COUNTS; k++)
        for (int spans = 0; spans < 2; spans++) {
            assert_lossless("changes", changing, counts[k], spans);
            if (counts[k] < 1000 || spans)
                assert_lossless("sparse", element, counts[k], spans);
        }
}

TEST(no_bucket_holds_two_parameters) {
    for (int k = 0; k < COUNTS; k++) {
        GradSpan span[SPANS];
        GradForm form = form_of("sparse", counts[k], span);
        int64_t units = bucket_count(&form), b = 0;
        int64_t *bucket = TEST_ARRAY(int64_t, units + 1);
        buckets_fill(bucket, &form);
        for (int i = 0; i < form.span_count; i++) {
            int64_t end = span[i].begin + span[i].rows * span[i].columns;
            for (int64_t at = span[i].begin; at < end; at += BUCKET)
                assert_int_equal(bucket[b++], at);
        }
        assert_true(b == units && bucket[units] == counts[k]);
    }
}

TEST(coded_chunks_leave_as_soon_as_they_are_made) {
    GradSpan span[SPANS];
    GradForm form = form_of("changes", LONGEST, span);
    assert_summed_early(&form, changing);
}

// Gradients stay the same, so that their differences vanish and with them what rounding adds.
TEST(all_ranks_hold_the_same_and_the_error_vanishes) {
    float *exact = TEST_ARRAY(float, LONGEST);
    for (int64_t i = 0; i < LONGEST; i++)
        exact[i] = sum_at(constant, i, 0);
    for (int k = 0; k < LOSSY; k++) {
        CLEARED(sum_clear) Sum s = {0};
        sum_init(&s, lossy[k], LONGEST, true);
        for (uint32_t round = 0; round < UNDER_SANITIZERS(4, 12); round++) {
            sum_up(&s, constant, round);
            assert_same_on_all_ranks(&s);
            assert_true(test_comm.size == 1 || round > 0 ||
                        relative_error(s.gradient, exact, LONGEST) > 1e-4);
        }
        if (UNDER_SANITIZERS(false, true)) // floats are added to what is remembered
            assert_close(s.gradient, exact, LONGEST, 1e-6);
    }
}

// Every third sum goes as fp32, and what is remembered of it is what the next ones need.
TEST(refreshed_sums_are_those_of_fp32) {
    CLEARED(sum_clear) Sum s = {0};
    sum_init(&s, "refreshed", LONGEST, true);
    for (uint32_t round = 0; round < 6; round++) {
        sum_up(&s, element, round);
        assert_same_on_all_ranks(&s);
        if (round % 3 == 2) // the third, and the sixth
            assert_summed(s.gradient, element, LONGEST, round);
    }
}

static int64_t bytes_of_all(const Sum *s) {
    int64_t bytes = gradsync_bytes(s->sync);
    comm_sum_int64(&test_comm, &bytes, 1);
    return bytes;
}

static int64_t slices_of(const GradSync *sync) { // that hold something
    int64_t slices = 0;
    for (int i = 0; i < sync->chunks; i++)
        for (int r = 0; r < test_comm.size; r++)
            slices += slice_units(&sync->chunk[i], r) > 0;
    return slices;
}

// By arithmetic: every slice goes to its owner from all others, and its sum back to them.
TEST(bytes_are_those_that_were_sent) {
    for (int k = 0; k < COUNTS; k++) {
        CLEARED(sum_clear) Sum s = {0};
        sum_init(&s, "changes", counts[k], true);
        int64_t times = 2 * (test_comm.size - 1), headers = 64 * slices_of(s.sync) * times;
        sum_up(&s, changing, 0); // all is sent
        int64_t bitmaps = 64 * s.sync->cut.units * times, floats_sent = 4 * counts[k] * times;
        assert_int_equal(bytes_of_all(&s), headers + bitmaps + floats_sent);
        sum_up(&s, changing, 1); // nothing has changed
        assert_int_equal(bytes_of_all(&s), headers);
        sum_up(&s, changing, 2); // a part has
        int64_t part = bytes_of_all(&s);
        assert_true(part <= headers + bitmaps + floats_sent && part >= headers);
        if (counts[k] > 500 && test_comm.size > 1)
            assert_true(part > headers && part < headers + bitmaps + floats_sent);
    }
}

TEST(plan_is_what_is_taken) {
    for (int k = 0; k <= COUNTS; k++)
        for (int i = 0; i < compressor_family.count; i++) {
            GradSpan span[SPANS];
            int64_t count = k < COUNTS ? counts[k] : 700001; // in many chunks
            GradForm form = form_of(family_word(&compressor_family, i), count, span);
            assert_plan_is_what_is_taken(&form);
        }
}

static void hand_over(GradSync *before, GradSync *after) {
    StateSection saved = gradsync_section(before), restored = gradsync_section(after);
    assert_true((saved.name == NULL) == (test_comm.size == 1));
    if (saved.name == NULL)
        return;
    const char *path = test_path("gradients.safetensors");
    assert_ok(state_write(&saved, &test_comm, path, &err));
    comm_barrier(&test_comm);
    assert_ok(state_read(&restored, &test_comm, path, &err));
}

static void assert_resumed(const char *compressor, uint32_t stop) {
    CLEARED(sum_clear) Sum whole = {0}, before = {0}, after = {0};
    sum_init(&whole, compressor, counts[4], true);
    sum_init(&before, compressor, counts[4], true);
    sum_init(&after, compressor, counts[4], true);
    for (uint32_t round = 0; round < stop; round++) {
        sum_up(&whole, element, round);
        sum_up(&before, element, round);
    }
    hand_over(before.sync, after.sync);
    for (uint32_t round = stop; round < stop + 3; round++) {
        sum_up(&whole, element, round);
        sum_up(&after, element, round);
        assert_true(hash_of(&after) == hash_of(&whole));
        assert_int_equal(gradsync_bytes(after.sync), gradsync_bytes(whole.sync));
    }
}

// After a refresh, and between two of them.
TEST(resumed_equals_never_stopped) {
    for (int k = 0; k < LOSSY; k++)
        for (uint32_t stop = 3; stop < 5; stop++)
            assert_resumed(lossy[k], stop);
}

TEST(fp32_remembers_nothing) {
    CLEARED(sum_clear) Sum s = {0};
    sum_init(&s, "none", 1000, true);
    assert_null(gradsync_section(s.sync).name);
    for (uint32_t round = 0; round < 2; round++) {
        sum_up(&s, element, round);
        assert_summed(s.gradient, element, 1000, round);
    }
}

// ---- a value that cannot be coded

static struct {
    bool expected;
    jmp_buf back;
    ExitCode code;
    char sentence[2048];
} end;

static void note_end(ExitCode code, const char *sentence) {
    end.code = code;
    snprintf(end.sentence, sizeof end.sentence, "%s", sentence);
    if (end.expected)
        longjmp(end.back, 1);
    fprintf(stderr, "%s\n", sentence);
    comm_abort(code);
}

// Every rank has it in the first share that it codes, before anything is sent: in the second bucket
// of the slice of its reader, one of equally long slices, where a parameter begins.
TEST(a_nan_ends_the_job) {
    static Sum s;
    static const char *const names[] = {"convs.0.lin.weight", "convs.1.lin.weight", "convs.2.bias"};
    int64_t slice = 16 * BUCKET, count = slice * test_comm.size;
    int64_t begin = ring_reader(test_comm.rank, 0, test_comm.size) * slice + BUCKET;
    if (test_comm.size == 1)
        return;
    s.form = form_of("changes", count, NULL);
    for (int i = 0; i < test_comm.size; i++) {
        s.span[2 * i] = (GradSpan){"first", i * slice, 1, BUCKET};
        s.span[2 * i + 1] = (GradSpan){names[i], i * slice + BUCKET, 1, slice - BUCKET};
    }
    s.form.spans = s.span;
    s.form.span_count = 2 * test_comm.size;
    sum_open(&s);
    assert_int_equal(s.sync->chunks, 1);
    fill(s.gradient, element, 0, count, 0);
    s.gradient[begin + 17] = NAN;
    const char *sentence =
        test_text("the gradient of %s is not finite in epoch 9; lower", names[begin / slice]);
    check_ends_with(note_end);
    gradsync_begin(s.sync, 9);
    end.expected = true;
    if (setjmp(end.back) == 0) {
        gradsync_made(s.sync, on_device(s.gradient), 0);
        fail_msg("it was coded");
    }
    end.expected = false;
    assert_int_equal(end.code, EXIT_DIVERGED);
    assert_non_null(strstr(end.sentence, sentence));
    s.sync->flown = 0; // nothing is in flight
    sum_clear(&s);
}
