// If this failed, the two ends of a message would not remember the same of its rows, or hooks would
// come in another order than wire.h says.
#include "../refreshed.h"
#include "../smoothing.h"
#include "ends.h"

// ---- the order of hooks

// The first residual doubles what is sent, the second one then adds 1; the reader goes back.
static struct {
    char order[256];
    float encoded[RESIDUALS]; // the first number that after_encode was given
} seen;

static void note(const char *what, ResidualStep step) {
    size_t used = strlen(seen.order);
    snprintf(seen.order + used, sizeof seen.order - used, "%s%d@%d ", what, step.values->values[0],
             (int)step.exchange);
}

static void change(Rows rows, float factor, float term) {
    for (int64_t k = 0; k < rows.count; k++)
        for (int64_t c = 0; c < rows.columns; c++) {
            float *at = &floats(rows)[k * rows.stride + c];
            *at = *at * factor + term;
        }
}

static size_t one_byte(int64_t rows, int64_t columns, ResidualEnd end) {
    (void)rows, (void)columns, (void)end;
    return 1;
}

static void noting_before(const Backend *backend, DeviceByte *memory, Rows rows, ResidualStep step,
                          const Poll *poll) {
    (void)backend, (void)memory, (void)poll;
    note("before", step);
    change(rows, step.values->values[0] == 0 ? 2 : 1, step.values->values[0] == 0 ? 0 : 1);
}

static void back_again(Rows rows, ResidualStep step) {
    change(rows, step.values->values[0] == 0 ? 0.5F : 1, step.values->values[0] == 0 ? 0 : -1);
}

static void noting_after(const Backend *backend, DeviceByte *memory, Rows rows, ResidualStep step,
                         const Poll *poll) {
    (void)backend, (void)memory, (void)poll;
    note("encoded", step);
    seen.encoded[step.values->values[0]] = floats(rows)[0];
    back_again(rows, step);
}

static void noting_decoded(const Backend *backend, DeviceByte *memory, Rows rows, ResidualStep step,
                           const Poll *poll) {
    (void)backend, (void)memory, (void)poll;
    note("decoded", step);
    back_again(rows, step);
}

static const Residual noting = {.name = "noting",
                                .bytes = one_byte,
                                .before_encode = noting_before,
                                .after_encode = noting_after,
                                .after_decode = noting_decoded};

TEST(hooks_come_in_order) {
    CLEARED(pair_clear) Pair p = {0};
    CodecOptions options = options_of("bf16", &noting, &noting);
    options.residual[CODING_MEMORY].values.values[0] = 1;
    pair_init(&p, options, options, COLUMNS);
    memset(&seen, 0, sizeof seen);
    fill_rows(&p, 3);
    encode(&p, 0, box_step(&options, 3));
    assert_string_equal(seen.order, "before0@3 before1@3 encoded1@3 encoded0@3 ");
    assert_true(seen.encoded[1] == 2 * value(0, 0, 3) + 1);
    assert_true(seen.encoded[0] == 2 * value(0, 0, 3)); // as the reader's second one leaves it
    seen.order[0] = 0;
    decode(&p, 0, box_step(&options, 3));
    assert_string_equal(seen.order, "decoded1@3 decoded0@3 ");
    pass(&p, 4);
    assert_received(&p, value, 4);
    seen.order[0] = 0;
    pass(&p, 0);
    assert_string_equal(seen.order, ""); // not coded, so nothing is remembered
    assert_received(&p, value, 0);
}

// ---- what both ends remember

static void assert_ends_agree(const Pair *p, int64_t exchange) {
    for (int r = 0; r < RESIDUALS; r++) {
        const Residual *of = p->options[0].residual[r].of;
        bool both = of != NULL && of->bytes != NULL && of->bytes(1, 1, RESIDUAL_SENDER) > 0 &&
                    of->bytes(1, 1, RESIDUAL_READER) > 0;
        if (both && !ends_agree(p, r))
            fail_msg("%s, residual %d (%s), exchange %d: the ends differ",
                     p->options[0].codec->name, r, of->name, (int)exchange);
    }
}

TEST(both_ends_agree) {
    static const Residual *const kinds[][RESIDUALS] = {
        {NULL, &difference}, {&difference, NULL}, {&difference, &difference}, {NULL, &refreshed}};
    for (int c = 0; c < CODECS; c++)
        for (int k = 0; k < 4; k++) {
            CLEARED(pair_clear) Pair p = {0};
            CodecOptions options = options_of(codecs[c], kinds[k][0], kinds[k][1]);
            pair_init(&p, options, options, COLUMNS);
            for (int64_t n = 1; n <= EXCHANGES; n++) {
                pass(&p, n);
                if (strcmp(codecs[c], "integer") != 0 || (kinds[k][1] == &refreshed && n % 3 == 0))
                    assert_received(&p, value, n);
                assert_ends_agree(&p, n);
            }
        }
}

// Any member of the table beside any other.
TEST(members_agree_beside_each_other) {
    int members = residual_family.count;
    for (int k = 0; k < members * members * CODECS; k++) {
        CLEARED(pair_clear) Pair p = {0};
        CodecOptions options =
            options_of(codecs[k % CODECS], family_member(&residual_family, k / CODECS % members),
                       family_member(&residual_family, k / CODECS / members));
        for (int r = 0; r < RESIDUALS; r++)
            residual_set(&options.residual[r].values,
                         (ResidualOptions){.alpha = 0.5, .refresh = 3});
        pair_init(&p, options, options, COLUMNS);
        for (int64_t n = 1; n <= EXCHANGES; n++) {
            pass(&p, n);
            assert_ends_agree(&p, n);
        }
    }
}

// At first both remember zeros, so the rows that are encoded in the place of the others are the
// same, and so are their ids, which rounding depends on.
TEST(the_first_message_is_that_without_a_residual) {
    for (int c = 0; c < CODECS; c++) {
        CLEARED(pair_clear) Pair with = {0}, without = {0};
        CodecOptions plain = options_of(codecs[c], NULL, NULL),
                     coded = options_of(codecs[c], NULL, &difference);
        pair_init(&with, coded, coded, COLUMNS);
        pair_init(&without, plain, plain, COLUMNS);
        pass(&with, 1);
        pass(&without, 1);
        for (int i = 0; i < MESSAGES; i++) {
            assert_int_equal(with.bytes[i], without.bytes[i]);
            assert_memory_equal(box_host_message(&with.box[OUTGOING], i),
                                box_host_message(&without.box[OUTGOING], i), (size_t)with.bytes[i]);
        }
    }
}

// value(1) / 2^n + value(2) / 2^(n-1) + ...: halves of small integers are exact.
static float smoothed(int64_t row, int64_t column, int64_t exchange) {
    float mean = 0;
    for (int64_t n = 1; n <= exchange; n++)
        mean = 0.5F * mean + 0.5F * value(row, column, n);
    return mean;
}

// NodeFiles one that both ends have, as the schedule's: it comes last at the reader.
TEST(a_reader_alone_may_remember) {
    static const Residual *const beside[] = {NULL, &difference};
    for (int k = 0; k < 2; k++) {
        CLEARED(pair_clear) Pair p = {0};
        CodecOptions options = options_of("sparse", &smoothing, beside[k]);
        pair_init(&p, options, options, COLUMNS);
        assert_true(box_remembers(&options));
        assert_int_equal(p.box[OUTGOING].residual[SCHEDULE_MEMORY].place[MESSAGES], 0);
        for (int64_t n = 1; n <= EXCHANGES; n++) {
            pass(&p, n);
            assert_received(&p, smoothed, n);
            assert_true(beside[k] == NULL || ends_agree(&p, 1));
        }
        pass(&p, 0);
        assert_received(&p, value, 0);
        pass(&p, EXCHANGES + 1);
        assert_received(&p, smoothed, EXCHANGES + 1);
    }
}

// The first message is that of the rows, since both remember zeros.
TEST(a_memory_follows_by_the_bits_of_the_row) {
    CLEARED(pair_clear) Pair p = {0};
    CodecOptions options =
        options_of("integer", NULL, family_find(&residual_family, "difference", NULL, &(Error){0}));
    uint8_t bits[ROWS];
    residual_set(&options.residual[CODING_MEMORY].values, (ResidualOptions){.alpha = 0});
    pair_init(&p, options, options, COLUMNS);
    for (int k = 0; k < ROWS; k++)
        bits[k] = (uint8_t)(1 + k % 4);
    for (int end = 0; end < FLOWS; end++)
        box_set_widths(&p.box[end], bits);
    pass(&p, 1);
    for (int64_t k = 0; k < box_rows(&p.box[INCOMING], 0); k++) {
        const float *memory = (const float *)p.box[INCOMING].residual[CODING_MEMORY].memory;
        float read = floats(p.received)[k * p.received.stride],
              part = residual_part(bits[k], COLUMNS);
        assert_true(part == 1 || memory[k * p.received.stride] != read);
        assert_true(memory[k * p.received.stride] == part * read);
    }
    assert_true(ends_agree(&p, 1));
}

TEST(refreshes_go_as_fp32) {
    CLEARED(pair_clear) Pair p = {0};
    CodecOptions options = options_of("bf16", NULL, &refreshed);
    pair_init(&p, options, options, COLUMNS);
    for (int64_t n = 1; n <= EXCHANGES; n++) {
        pass(&p, n);
        assert_int_equal(p.bytes[0], 5 * COLUMNS * (n % 3 == 0 ? 4 : 2));
    }
}
