// ranks: 1 2 3
// If this failed, a member of gradients.codec would not be what its keys say: take what does not go
// together, let a memory follow further than converges, count what fills up a bucket, or send other
// bytes than a plan foresees.
#include "gradsync/internal.h"
#include "sums.h"

enum { COUNT = 20001 };

static bool form_of(GradForm *form, const char *const *settings, int count, Error *said) {
    Config config;
    *form = (GradForm){.count = COUNT, .seed = 5};
    assert_ok(config_load(&config, NULL, settings, count, &err));
    return gradsync_configure(form, &config, said);
}

// ---- what does not go together

static const struct {
    const char *setting[4], *sentence;
} wrong[] = {
    {{"gradients.codec=max", "gradients.bits=1"}, "gradients.bits: expected 2 to 8"},
    {{"gradients.codec=l2", "gradients.bits=1"}, "gradients.bits: expected 2 to 8"},
    {{"gradients.codec=max", "gradients.bits=16"}, "gradients.bits: expected 2 to 8"},
    {{"gradients.codec=l2", "gradients.bits=16"}, "gradients.bits: expected 2 to 8"},
    {{"gradients.codec=minmax", "gradients.bits=9"}, "gradients.bits: expected 1 to 8, or 16"},
    {{"gradients.codec=mean", "gradients.bits=2"}, "gradients.bits: expected 1 with"},
    {{"gradients.codec=minmax", "gradients.bits=16", "gradients.wire=entropy"},
     "gradients.wire: entropy codes values of at most 8 bits"},
    {{"gradients.codec=mean", "gradients.bits=1", "gradients.memory=difference"},
     "gradients.alpha: the noise of gradients.codec=mean has no bound"},
    {{"gradients.codec=max", "gradients.bits=2", "gradients.memory=feedback"},
     "gradients.memory: feedback diverges"},
    {{"gradients.codec=max", "gradients.bits=8", "gradients.memory=feedback",
      "gradients.bits_rule=dq"},
     "gradients.memory: feedback diverges"}, // in the 2 bits that it may choose
    {{"gradients.codec=keys", "gradients.top=0.1"},
     "gradients.top: what is left out would be lost"},
    {{"gradients.codec=max", "gradients.top=0.1"}, "gradients.top: what is left out would be lost"},
    {{"gradients.codec=minmax", "gradients.top=0.1", "gradients.memory=difference"},
     "gradients.top: gradients.codec=minmax has no code of 0"},
    {{"gradients.codec=mean", "gradients.bits=1", "gradients.top=0.1", "gradients.memory=feedback"},
     "gradients.top: gradients.codec=mean has no code of 0"},
    {{"gradients.codec=log", "gradients.bits=2"}, "gradients.bits: expected 3 to 8"},
    {{"gradients.codec=log", "gradients.bits=16"}, "gradients.bits: expected 3 to 8"},
    {{"gradients.codec=log", "gradients.bits_rule=dq"},
     "gradients.bits_rule: dq chooses bits to be more precise"},
    {{"gradients.codec=log", "gradients.bits=3", "gradients.memory=feedback"},
     "gradients.memory: feedback diverges"},
    {{"gradients.codec=sketch", "gradients.memory=difference"},
     "gradients.memory: expected none or feedback with gradients.codec=sketch, whose noise has no "
     "bound, found difference"},
    {{"gradients.codec=sketch", "gradients.memory=anchor"},
     "gradients.memory: expected none or feedback with gradients.codec=sketch"},
    {{"gradients.codec=sketch", "gradients.top=0.1"},
     "gradients.top: what is left out would be lost"},
    {{"gradients.codec=sketch", "gradients.bits_rule=dq"},
     "gradients.bits_rule: dq chooses bits, and values of gradients.codec=sketch have none"},
    {{"gradients.codec=lowrank", "gradients.memory=difference"},
     "gradients.memory: expected feedback or none with gradients.codec=lowrank, found difference"},
    {{"gradients.codec=minmax", "gradients.bits=16", "gradients.bits_rule=dq"},
     "gradients.bits_rule: dq chooses from 2 to 8 bits"},
    {{"gradients.codec=keys", "gradients.bits_rule=dq"},
     "gradients.bits_rule: dq chooses bits, and values of gradients.codec=keys have none"},
    {{"gradients.bucket=100"}, "gradients.bucket: expected a multiple of 16, found 100"},
};

static const char *const right[][4] = {
    {"gradients.codec=max", "gradients.bits=8", "gradients.memory=feedback"},
    {"gradients.codec=max", "gradients.bits=2", "gradients.memory=feedback",
     "gradients.rounding=nearest"},
    {"gradients.codec=mean", "gradients.bits=1", "gradients.memory=feedback"},
    {"gradients.codec=mean", "gradients.bits=1", "gradients.memory=difference",
     "gradients.alpha=0.5"},
    {"gradients.codec=minmax", "gradients.bits=16", "gradients.memory=anchor"},
    {"gradients.codec=lowrank", "gradients.rank=8", "gradients.memory=feedback"},
    {"gradients.codec=log", "gradients.bits=5", "gradients.top=0.1", "gradients.memory=feedback"},
    {"gradients.codec=keys", "gradients.top=0.1", "gradients.memory=difference"},
    {"gradients.codec=l2", "gradients.bits=6", "gradients.top=0.5", "gradients.memory=anchor"},
    {"gradients.codec=sketch", "gradients.wire=entropy", "gradients.top=0.1",
     "gradients.memory=feedback"},
};

static int settings_in(const char *const setting[4]) {
    int count = 0;
    while (count < 4 && setting[count] != NULL)
        count++;
    return count;
}

TEST(what_does_not_go_together_is_refused) {
    GradForm form;
    for (int i = 0; i < FAMILY_COUNT(wrong); i++)
        assert_refused(form_of(&form, wrong[i].setting, settings_in(wrong[i].setting), &err),
                       EXIT_CONFIG, wrong[i].sentence);
    for (int i = 0; i < FAMILY_COUNT(right); i++)
        assert_ok(form_of(&form, right[i], settings_in(right[i]), &err));
}

// ---- how far a memory follows

static double alpha_of(const char *codec, const char *bits, const char *scale, const char *rule,
                       const char *bucket) {
    static const char *const keys[] = {"codec",     "bits",   "scale_dtype",
                                       "bits_rule", "bucket", "memory"};
    const char *const words[] = {codec, bits, scale, rule, bucket, "difference"};
    char setting[6][64];
    const char *settings[6];
    GradForm form;
    for (int i = 0; i < 6; i++) {
        snprintf(setting[i], sizeof setting[i], "gradients.%s=%s", keys[i], words[i]);
        settings[i] = setting[i];
    }
    assert_ok(form_of(&form, settings, 6, &err));
    return residual_get(&form.options.residual[CODING_MEMORY].values).alpha;
}

// 1 / (1 + w), by the worst noise w of a bucket.
TEST(a_memory_follows_as_far_as_converges) {
    double exact = 2 / (1 + sqrt(512)), rounded = alpha_of("max", "2", "bf16", "fixed", "512");
    assert_near(alpha_of("max", "2", "fp32", "fixed", "512"), exact, 1e-12);
    assert_near(alpha_of("max", "8", "fp32", "dq", "512"), exact, 1e-12); // it may choose 2 bits
    assert_near(alpha_of("l2", "2", "fp32", "fixed", "512"), 1 / sqrt(512), 1e-12);
    assert_near(alpha_of("l2", "6", "fp32", "fixed", "512"), 1 / (1 + 512.0 / (4 * 31 * 31)),
                1e-12);
    assert_near(alpha_of("minmax", "4", "fp32", "fixed", "512"), 1 / (1 + 510.0 / (2 * 225)),
                1e-12);
    assert_true(rounded < exact && rounded > 0.98 * exact);
    assert_near(alpha_of("l2", "2", "fp32", "fixed", "64"), 1 / sqrt(64), 1e-12);
}

// ---- sums

static float ones(int rank, int64_t i, uint32_t round) {
    (void)rank, (void)i, (void)round;
    return 1;
}

// The mean of ones is one, also of the 33 in the last bucket.
TEST(nothing_fills_up_a_mean) {
    GradForm form;
    assert_ok(form_of(&form, SETTINGS("gradients.codec=mean", "gradients.bits=1"), &err));
    OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &form);
    float *gradient = TEST_ARRAY(float, COUNT);
    gradsync_begin(sync, 1);
    make_and_sum(sync, gradient, ones, COUNT, 0);
    for (int64_t i = 0; i < COUNT; i++)
        assert_true(gradient[i] == (float)test_comm.size);
}

// ---- what is measured

enum { EVEN = 20000 }; // no bucket has an odd number of values

// As long as this factor an epoch, and exact as mean.
static float growing(int rank, int64_t i, uint32_t round) {
    (void)i;
    return (float)(rank + 1) * (float)(1 << round);
}

// The mean of the magnitudes is 2: one less and one more.
static float uneven(int rank, int64_t i, uint32_t round) {
    (void)rank, (void)round;
    return i % 2 == 0 ? 1 : 3;
}

static float steady(int rank, int64_t i, uint32_t round) {
    (void)i, (void)round;
    return (float)(rank + 1);
}

// What is measured in sums 1, 2, ..., added over ranks.
static void measure(GradMoments *moments, int sums, const char *const *settings, int count,
                    Element of) {
    GradForm form;
    assert_ok(form_of(&form, settings, count, &err));
    form.count = EVEN;
    OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &form);
    float *gradient = TEST_ARRAY(float, EVEN);
    assert_true(gradsync_measures(sync) == (test_comm.size > 1));
    for (int k = 0; k < sums; k++) {
        gradsync_begin(sync, (uint32_t)k + 1);
        make_and_sum(sync, gradient, of, EVEN, (uint32_t)k);
        moments[k] = gradsync_moments(sync);
        comm_sum_double(&test_comm, (double *)&moments[k], GRADIENT_MOMENTS);
    }
}

static void assert_left(const char *const *settings, int count, Element of, const double left[4]) {
    GradMoments moments[4];
    measure(moments, 4, settings, count, of);
    for (int k = 0; k < 4; k++) {
        double memory = gradsync_memory(&moments[k]);
        assert_true(test_comm.size > 1 ? fabs(memory - left[k]) <= 1e-14 : isnan(memory));
        assert_true(moments[k].sum == 0 && moments[k].square == 0); // no rule asks for them
    }
}

// By hand. A difference follows by half of what is left; an anchor follows in sums 1 and 3 alone;
// feedback adds what was lost: -1 and 1, then (of 0 and 4) -2 and 2, (of -1 and 5) 2 and 2.
TEST(what_a_memory_leaves_is_measured) {
    assert_left(SETTINGS("gradients.codec=mean", "gradients.bits=1", "gradients.memory=difference",
                         "gradients.alpha=0.5"),
                steady, (const double[]){1, 0.5, 0.25, 0.125});
    assert_left(SETTINGS("gradients.codec=mean", "gradients.bits=1", "gradients.memory=anchor",
                         "gradients.refresh=2"),
                growing, (const double[]){1, 0.5, 0.75, 0.5});
    assert_left(SETTINGS("gradients.codec=mean", "gradients.bits=1", "gradients.memory=feedback"),
                uneven, (const double[]){0, sqrt(0.2), sqrt(0.8), sqrt(0.8)});
}

TEST(moments_are_those_of_the_gradients) {
    GradMoments moments[2];
    int ranks = test_comm.size > 1 ? test_comm.size : 0;
    double values = ranks * (ranks + 1) / 2, squares = values * (2 * ranks + 1) / 3;
    measure(moments, 2,
            SETTINGS("gradients.codec=max", "gradients.bits=4", "gradients.bits_rule=dq"), growing);
    for (int k = 0; k < 2; k++) {
        assert_true(moments[k].sum == EVEN * values * (1 << k));
        assert_true(moments[k].square == EVEN * squares * (1 << 2 * k));
        assert_true(isnan(gradsync_memory(&moments[k])));
    }
}

// An eighth of the levels for a 64th of the squares: 16 of 127, which take 6 bits.
TEST(bits_are_those_of_what_a_memory_leaves) {
    static const char *const settings[] = {"gradients.codec=max",         "gradients.bits=8",
                                           "gradients.bits_rule=rms",     "gradients.bits_period=1",
                                           "gradients.memory=difference", "gradients.alpha=0.5"};
    const GradMoments first = {.square = 8, .coded = 8, .left = 8},
                      next = {.square = 8, .coded = 8, .left = 0.125};
    GradForm form;
    for (int count = 4; count <= 6; count += 2) { // without the memory, and with it
        assert_ok(form_of(&form, settings, count, &err));
        OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &form);
        gradsync_after(sync, 1, 1, &first);
        gradsync_after(sync, 2, 1, &next);
        assert_int_equal(gradsync_bits(sync), test_comm.size == 1 ? 0 : count == 4 ? 8 : 6);
    }
}

// ---- what both ends remember

// Of all messages of a box: as a sum, so that ends on several ranks can be compared.
static int64_t memories(const MessageBox *box) {
    const BoxResidual *of = &box->residual[CODING_MEMORY];
    uint64_t sum = 0;
    for (int i = 0; i < box->count; i++)
        sum += hash_bytes((const unsigned char *)of->memory + of->place[i],
                          of->place[i + 1] - of->place[i]) >>
               16;
    return (int64_t)sum;
}

// Shares have one reader each, and sums all ranks.
static void assert_ends_agree(const GradSync *sync) {
    const MessageBox(*box)[FLOWS] = sync->coding->box;
    int64_t differ[] = {memories(&box[UP][OUTGOING]) - memories(&box[UP][INCOMING]),
                        memories(&box[DOWN][OUTGOING])};
    int64_t received = memories(&box[DOWN][INCOMING]);
    comm_sum_int64(&test_comm, differ, 2);
    assert_true(differ[0] == 0 && differ[1] != 0);
    assert_true(received == differ[1]);
}

TEST(ends_agree_after_1000_sums) {
    enum { FLOATS = 1100 }; // three buckets
    static const char *const setting = "gradients.method=diana-both";
    GradForm form;
    float gradient[FLOATS];
    if (test_comm.size != 2)
        return;
    assert_ok(form_of(&form, &setting, 1, &err));
    form.count = FLOATS;
    OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), &form);
    for (uint32_t epoch = 1; epoch <= 1000; epoch++) {
        gradsync_begin(sync, epoch);
        fill(gradient, element, 0, FLOATS, epoch);
        gradsync_finish(sync, on_device(gradient));
    }
    assert_ends_agree(sync);
}

// ---- bytes

// By all ranks, in the second sum, which is no refresh.
static int64_t sent_by(const GradForm *form) {
    OWNED(GradSync) *sync = gradsync_new(&test_comm, device(), form);
    float *gradient = TEST_ARRAY(float, COUNT);
    for (uint32_t epoch = 1; epoch <= 2; epoch++) {
        gradsync_begin(sync, epoch);
        make_and_sum(sync, gradient, element, COUNT, epoch);
    }
    int64_t bytes = gradsync_bytes(sync);
    comm_sum_int64(&test_comm, &bytes, 1);
    return bytes;
}

// Two parameters, neither of which is whole buckets.
static GradForm two_spans(const char *method, const char *bucket) {
    static const GradSpan span[] = {{"weight", 0, 100, 150}, {"bias", 15000, 1, COUNT - 15000}};
    GradForm form;
    assert_ok(form_of(&form, SETTINGS(method, bucket), &err));
    form.spans = span;
    form.span_count = 2;
    return form;
}

static void assert_foreseen(const char *setting, const char *bucket) {
    GradForm form = two_spans(setting, bucket);
    int64_t most = gradsync_bytes_most_of(&form, test_comm.size), sent = sent_by(&form);
    bool varies = form.options.codec != NULL && form.options.codec->varies;
    if (sent > most || (!varies && sent < most))
        fail_msg("%s: %lld bytes were sent, %lld foreseen", setting, (long long)sent,
                 (long long)most);
}

TEST(plans_foresee_what_is_sent) {
    for (int i = 0; i < gradient_method_family.count; i++) {
        const char *setting =
            test_text("gradients.method=%s", test_word(family_word(&gradient_method_family, i)));
        assert_foreseen(setting, "gradients.bucket=512");
        assert_foreseen(setting, "gradients.bucket=128");
    }
}

// By arithmetic: 15,000 and 5,001 values of 2 bits in 118 and 40 buckets of 128, which have a scale
// of 2 bytes each; a slice has a header, and goes to its owner from all others and back.
TEST(a_bucket_has_one_scale) {
    GradForm form = two_spans("gradients.method=diana-both", "gradients.bucket=128");
    int64_t slices = test_comm.size == 2 ? 4 : 3, times = 2 * (test_comm.size - 1);
    int64_t bytes = slices * MESSAGE_HEADER_BYTES + 15000 / 4 + (5001 + 3) / 4 + 158 * 2;
    assert_int_equal(gradsync_bytes_most_of(&form, test_comm.size), times * bytes);
}

// A stack of dense layers, with biases and, between layers, norms.
static int64_t layers_of(GradSpan *span, const int64_t *width, int layers, bool norms, int *spans) {
    int64_t end = 0;
    *spans = 0;
    for (int l = 0; l < layers; l++) {
        const int64_t rows[] = {width[l], 1, 1, 1};
        for (int i = 0; i < (norms && l + 1 < layers ? 4 : 2); i++) {
            span[(*spans)++] = (GradSpan){"parameter", end, rows[i], width[l + 1]};
            end += rows[i] * width[l + 1];
        }
    }
    return end;
}

// All buckets as one message, without a header.
static double payload_of(const GradForm *form) {
    Cut cut = {.units = bucket_count(form)};
    MessageLayout layout = {
        .rows = cut.units, .columns = form->bucket, .values = form->options.values};
    int32_t *length = TEST_ARRAY(int32_t, cut.units);
    cut.bucket = TEST_ARRAY(int64_t, cut.units + 1);
    buckets_fill(cut.bucket, form);
    bucket_lengths(length, &cut);
    layout.length = length;
    double bytes = (double)form->options.codec->bytes(&layout);
    return bytes;
}

static void assert_fewer(const int64_t *width, int layers, bool norms, const char *bits,
                         double payload, double sent) {
    GradSpan span[16];
    GradForm form;
    assert_ok(form_of(&form, SETTINGS("gradients.codec=max", bits), &err));
    form.count = layers_of(span, width, layers, norms, &form.span_count);
    form.spans = span;
    GradForm exact = {.count = form.count};
    double full = (double)gradsync_bytes_most_of(&exact, 4);
    assert_true((double)(4 * form.count) >= payload * payload_of(&form));
    assert_true(full >= sent * (double)gradsync_bytes_most_of(&form, 4));
}

// The models of reddit-small and coauthor_physics: fewer bytes than fp32, without and with headers.
TEST(few_bits_are_few_bytes) {
    static const int64_t reddit[] = {602, 256, 256, 41}, physics[] = {8415, 64, 5};
    assert_fewer(reddit, 3, true, "gradients.bits=4", 7.9, 7.7);
    assert_fewer(reddit, 3, true, "gradients.bits=8", 3.95, 3.9);
    assert_fewer(physics, 2, false, "gradients.bits=4", 7.9, 7.7);
    assert_fewer(physics, 2, false, "gradients.bits=8", 3.95, 3.9);
}
