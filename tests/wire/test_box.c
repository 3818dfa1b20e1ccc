// ranks: 1
// If this failed, the two ends of a message would not remember the same of its rows, hooks would
// come in another order than wire.h says, or a message that the reader takes for another one would
// go unseen. Both ends are boxes of this process.
#include "../codec_values.h"
#include "../difference.h"
#include "../refreshed.h"
#include "../smoothing.h"
#include "../sparse.h"
#include "support.h"

#include "fringe/wire.h"

// The second message has no rows; the last rows of the third are partial sums.
static const int64_t offsets[] = {0, 5, 5, 18};
enum { MESSAGES = 3, ROWS = 18, SUMS = 4, COLUMNS = 24, EXCHANGES = 7 };

static const char *const codecs[] = {"fp32", "bf16", "integer", "sparse"};
enum { CODECS = sizeof codecs / sizeof *codecs };

static const Codec *codec_named(const char *name) {
    Error err = {0};
    const Codec *codec = strcmp(name, "sparse") == 0 ? &sparse : codec_find(name, &err);
    assert_ok(codec, &err);
    return codec;
}

// Small integers, whose sums and differences are exact in any codec but integer.
static float value(int64_t row, int64_t column, int64_t exchange) {
    return (float)((row * 7 + column * 3 + exchange * exchange * 5) % 11 - 5);
}

// ---- two ends

typedef struct Pair {
    CodecOptions options[SIDES];
    MessageBlock block[SIDES];
    MessageBox box[SIDES];
    int64_t bytes[MESSAGES]; // of the last messages
    Rows sent, received;
    int32_t row[ROWS];
    int64_t id[2 * ROWS];
} Pair;

static int64_t id_of_row(int64_t place) { return place < ROWS - SUMS ? 100 + place : -1 - place; }

static int64_t id_at(const void *context, int64_t place) {
    (void)context;
    return id_of_row(place);
}

static CodecOptions options_of(const char *codec, const Residual *first, const Residual *second) {
    return (CodecOptions){.codec = codec_named(codec),
                          .values = integer_values(false),
                          .width = 4,
                          .residual = {{.of = first}, {.of = second}}};
}

static void end_init(Pair *p, int side, int64_t columns) {
    Allocator allocator = {.backend = device()};
    p->box[side] = (MessageBox){.backend = device(),
                                .options = &p->options[side],
                                .end = side == OUTGOING ? RESIDUAL_SENDER : RESIDUAL_READER,
                                .columns = columns,
                                .count = MESSAGES,
                                .offset = offsets,
                                .block = &p->block[side]};
    box_alloc(&p->box[side], &allocator);
    message_block_alloc(&p->block[side], &allocator, box_room(&p->box[side]));
    box_open(&p->box[side], id_at, NULL);
}

static void pair_init(Pair *p, CodecOptions sender, CodecOptions reader, int64_t columns) {
    *p = (Pair){.options = {[OUTGOING] = sender, [INCOMING] = reader},
                .sent = zeroed_rows(2 * ROWS, COLUMNS), // own rows, then room for sums
                .received = zeroed_rows(ROWS, columns)};
    for (int64_t k = 0; k < ROWS; k++) {
        p->row[k] = (int32_t)(k < ROWS - SUMS ? k : ROWS + k);
        p->id[p->row[k]] = id_of_row(k);
    }
    end_init(p, OUTGOING, COLUMNS);
    end_init(p, INCOMING, columns);
    box_encode_begin(&p->box[OUTGOING]);
}

static void pair_clear(Pair *p) {
    for (int side = 0; side < SIDES; side++) {
        box_clear(&p->box[side]);
        message_block_free(device(), &p->block[side]);
    }
    rows_free(device(), &p->received);
    rows_free(device(), &p->sent);
}

static void fill_rows(Pair *p, int64_t exchange) {
    for (int64_t k = 0; k < ROWS; k++)
        for (int64_t c = 0; c < COLUMNS; c++)
            floats(p->sent)[p->row[k] * p->sent.stride + c] = value(k, c, exchange);
}

static MessageSource source_of(const Pair *p, int i) {
    return (MessageSource){.x = rows_first(p->sent, ROWS),
                           .sums = rows_range(p->sent, (Range){ROWS, 2 * ROWS}),
                           .row = on_device(p->row + offsets[i]),
                           .gid = on_device(p->id),
                           .stream = random_stream(3, RANDOM_ROUNDING, 1, 0, 0),
                           .peer = 6,
                           .sum_peer = 7};
}

// A row of the third message is own, or a partial sum.
static int64_t own_rows(const Pair *p, int i) {
    int64_t own = 0;
    for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
        own += p->row[k] < ROWS;
    return own;
}

static void encode(Pair *p, int i, BoxStep step) {
    MessageBox *from = &p->box[OUTGOING];
    p->bytes[i] = box_encode(from, i, step, source_of(p, i), own_rows(p, i), NULL);
    box_download(from, i, p->bytes[i], NULL);
    box_wait_made(from, i, NULL);
    assert_int_equal(from->bad[i], 0);
}

static void decode(Pair *p, int i, BoxStep step) {
    memcpy(box_host_message(&p->box[INCOMING], i), box_host_message(&p->box[OUTGOING], i),
           (size_t)p->bytes[i]);
    box_decode(&p->box[INCOMING], i, step, p->received, offsets[i], p->bytes[i], NULL);
}

// Exchange number `exchange` of training; 0: one that is not coded.
static void pass(Pair *p, int64_t exchange) {
    BoxStep step = exchange > 0 ? box_step(&p->options[OUTGOING], exchange)
                                : (BoxStep){.codec = full_precision()};
    fill_rows(p, exchange);
    for (int i = 0; i < MESSAGES; i++)
        if (box_rows(&p->box[OUTGOING], i) > 0) {
            encode(p, i, step);
            decode(p, i, step);
        }
}

static void assert_received(const Pair *p, float (*want)(int64_t row, int64_t column, int64_t n),
                            int64_t exchange) {
    for (int64_t k = 0; k < ROWS; k++)
        for (int64_t c = 0; c < COLUMNS; c++)
            assert_true(floats(p->received)[k * p->received.stride + c] == want(k, c, exchange));
}

static bool ends_agree(const Pair *p, int residual) {
    const BoxResidual *sent = &p->box[OUTGOING].residual[residual],
                      *received = &p->box[INCOMING].residual[residual];
    size_t bytes = sent->place[MESSAGES];
    assert_true(bytes > 0 && bytes == received->place[MESSAGES]);
    return memcmp(sent->memory, received->memory, bytes) == 0;
}

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

static void hooks_come_in_order(void **state) {
    (void)state;
    Pair p;
    CodecOptions options = options_of("bf16", &noting, &noting);
    options.residual[1].values.values[0] = 1;
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
    pair_clear(&p);
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

static void both_ends_agree(void **state) {
    (void)state;
    static const Residual *const kinds[][RESIDUALS] = {
        {NULL, &difference}, {&difference, NULL}, {&difference, &difference}, {NULL, &refreshed}};
    for (int c = 0; c < CODECS; c++)
        for (int k = 0; k < 4; k++) {
            Pair p;
            CodecOptions options = options_of(codecs[c], kinds[k][0], kinds[k][1]);
            pair_init(&p, options, options, COLUMNS);
            for (int64_t n = 1; n <= EXCHANGES; n++) {
                pass(&p, n);
                if (strcmp(codecs[c], "integer") != 0 || (kinds[k][1] == &refreshed && n % 3 == 0))
                    assert_received(&p, value, n);
                assert_ends_agree(&p, n);
            }
            pair_clear(&p);
        }
}

// Any member of the table beside any other.
static void members_agree_beside_each_other(void **state) {
    (void)state;
    int members = residual_family.count;
    for (int k = 0; k < members * members * CODECS; k++) {
        Pair p;
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
        pair_clear(&p);
    }
}

// At first both remember zeros, so the rows that are encoded in the place of the others are the
// same, and so are their ids, which rounding depends on.
static void the_first_message_is_that_without_a_residual(void **state) {
    (void)state;
    for (int c = 0; c < CODECS; c++) {
        Pair with, without;
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
        pair_clear(&without);
        pair_clear(&with);
    }
}

// value(1) / 2^n + value(2) / 2^(n-1) + ...: halves of small integers are exact.
static float smoothed(int64_t row, int64_t column, int64_t exchange) {
    float mean = 0;
    for (int64_t n = 1; n <= exchange; n++)
        mean = 0.5F * mean + 0.5F * value(row, column, n);
    return mean;
}

// Beside one that both ends have, as the schedule's: it comes last at the reader.
static void a_reader_alone_may_remember(void **state) {
    (void)state;
    static const Residual *const beside[] = {NULL, &difference};
    for (int k = 0; k < 2; k++) {
        Pair p;
        CodecOptions options = options_of("sparse", &smoothing, beside[k]);
        pair_init(&p, options, options, COLUMNS);
        assert_true(box_remembers(&options));
        assert_int_equal(p.box[OUTGOING].residual[0].place[MESSAGES], 0);
        for (int64_t n = 1; n <= EXCHANGES; n++) {
            pass(&p, n);
            assert_received(&p, smoothed, n);
            assert_true(beside[k] == NULL || ends_agree(&p, 1));
        }
        pass(&p, 0);
        assert_received(&p, value, 0);
        pass(&p, EXCHANGES + 1);
        assert_received(&p, smoothed, EXCHANGES + 1);
        pair_clear(&p);
    }
}

static void refreshes_go_as_fp32(void **state) {
    (void)state;
    Pair p;
    CodecOptions options = options_of("bf16", NULL, &refreshed);
    pair_init(&p, options, options, COLUMNS);
    for (int64_t n = 1; n <= EXCHANGES; n++) {
        pass(&p, n);
        assert_int_equal(p.bytes[0], 5 * COLUMNS * (n % 3 == 0 ? 4 : 2));
    }
    pair_clear(&p);
}

// ---- faults that must be seen

static MessageHeader header_of(const MessageBox *box, int i, int64_t bytes) {
    return (MessageHeader){.columns = (uint32_t)box->columns,
                           .rows = (uint64_t)box_rows(box, i),
                           .bytes = (uint64_t)bytes};
}

static bool header_is_right(const Pair *p, int i, Error *err) {
    const MessageBox *to = &p->box[INCOMING];
    MessageHeader sent = header_of(&p->box[OUTGOING], i, p->bytes[i]),
                  expected = header_of(to, i, box_bytes(to, to->options->codec, i));
    message_seal(&sent);
    return to->options->codec->varies ? message_check_varying(&sent, &expected, err)
                                      : message_check(&sent, &expected, NULL, err);
}

static void other_columns_are_seen(void **state) {
    (void)state;
    for (int c = 0; c < CODECS; c++) {
        Error err = {0}, none = {0};
        Pair right, wrong;
        CodecOptions options = options_of(codecs[c], NULL, NULL);
        pair_init(&right, options, options, COLUMNS);
        pair_init(&wrong, options, options, COLUMNS + 1);
        pass(&right, 1);
        fill_rows(&wrong, 1);
        encode(&wrong, 0, box_step(&options, 1));
        assert_ok(header_is_right(&right, 0, &none), &none);
        assert_refused(header_is_right(&wrong, 0, &err), &err, EXIT_INTEGRITY, "wrong columns");
        pair_clear(&wrong);
        pair_clear(&right);
    }
}

static void other_widths_are_seen(void **state) {
    (void)state;
    Error err = {0};
    Pair p;
    CodecOptions reader = options_of("integer", NULL, NULL), sender = reader;
    sender.width = 2;
    pair_init(&p, sender, reader, COLUMNS);
    fill_rows(&p, 1);
    encode(&p, 0, box_step(&sender, 1));
    assert_refused(header_is_right(&p, 0, &err), &err, EXIT_INTEGRITY, "wrong bytes");
    pair_clear(&p);
}

// Two rows of the reader have each other's width: the length is right, what is remembered is not.
static void exchanged_widths_are_seen(void **state) {
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        Error err = {0};
        Pair p;
        uint8_t bits[SIDES][ROWS];
        CodecOptions options = options_of("integer", NULL, &difference);
        pair_init(&p, options, options, COLUMNS);
        memset(bits, 2, sizeof bits);
        bits[OUTGOING][0] = bits[INCOMING][wrong] = 8;
        for (int side = 0; side < SIDES; side++)
            box_set_widths(&p.box[side], bits[side]);
        pass(&p, 1);
        assert_ok(header_is_right(&p, 0, &err), &err);
        assert_int_equal(ends_agree(&p, 1), !wrong);
        pair_clear(&p);
    }
}

// At the sender, or at the reader.
static void a_hook_left_out_is_seen(void **state) {
    (void)state;
    for (int side = 0; side < SIDES; side++) {
        Pair p;
        Residual without = difference;
        CodecOptions options[SIDES] = {options_of("sparse", NULL, &difference),
                                       options_of("sparse", NULL, &difference)};
        options[side].residual[1].of = &without;
        *(side == OUTGOING ? &without.after_encode : &without.after_decode) = NULL;
        pair_init(&p, options[OUTGOING], options[INCOMING], COLUMNS);
        pass(&p, 1);
        assert_false(ends_agree(&p, 1));
        pair_clear(&p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(hooks_come_in_order),
    cmocka_unit_test(both_ends_agree),
    cmocka_unit_test(members_agree_beside_each_other),
    cmocka_unit_test(the_first_message_is_that_without_a_residual),
    cmocka_unit_test(a_reader_alone_may_remember),
    cmocka_unit_test(refreshes_go_as_fp32),
    cmocka_unit_test(other_columns_are_seen),
    cmocka_unit_test(other_widths_are_seen),
    cmocka_unit_test(exchanged_widths_are_seen),
    cmocka_unit_test(a_hook_left_out_is_seen),
};

TEST_MAIN(tests)
