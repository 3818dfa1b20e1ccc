// If this failed, entropy-coded gradients would be other values than packed ones, or longer, or a
// message whose codes are damaged would be taken for a gradient.
#include "codec/rans.h"
#include "grid_trip.h"

enum { COLUMNS = 512, ROWS = 24 };

// ---- a message in both forms

// Room for the message `most` that is asked for beforehand, and the codec's scratch, to the byte.
static RoundTrip entropy_trip(const RoundTrip *packed) {
    RoundTrip t = *packed;
    t.codec = &codec_grid_entropy;
    t.back = zeroed_rows(t.back.count, t.back.columns);
    t.bytes = t.codec->bytes(&t.shape);
    t.message = test_memory(t.bytes + 1);
    t.message[t.bytes] = GUARD;
    size_t scratch = t.codec->scratch(&t.shape);
    t.shape.scratch = on_device(test_memory(scratch));
    memset(t.shape.scratch, 0xff, scratch);
    assert_int_equal(t.codec->bytes_most(&t.shape), t.bytes);
    return t;
}

// Writes it, and what was written again to a block of just that size. Returns 1 + the bad place.
static int64_t entropy_write(RoundTrip *t) {
    int64_t bad = 0;
    t->shape.bytes = t->codec->encode(device(), on_device(t->message), &t->shape, &t->source,
                                      on_device(&bad), NULL);
    assert_true(t->shape.bytes <= t->bytes && t->message[t->bytes] == GUARD);
    unsigned char *exact = test_memory(t->shape.bytes);
    memcpy(exact, t->message, t->shape.bytes);
    t->message = exact;
    return bad;
}

static size_t parameters_bytes(const RoundTrip *t) {
    size_t arrays = has_minimum(grid_get(&t->shape.values)) ? 2 : 1;
    return (size_t)t->shape.rows * arrays * (t->bf16 ? 2 : 4);
}

// Z, S and all values are those of planes, bit for bit; never more than a byte more is sent, and
// that only with the same planes. Returns the header byte.
static RansHeader assert_same(RoundTrip *packed) {
    RoundTrip t = entropy_trip(packed);
    size_t head = parameters_bytes(&t);
    assert_int_equal(round_trip_encode(packed), -1);
    round_trip_decode(packed);
    assert_int_equal(entropy_write(&t), 0);
    RansHeader header = t.message[head];
    assert_memory_equal(t.message, packed->message, head);
    if (header == RANS_PACKED) {
        assert_int_equal(t.shape.bytes, packed->bytes + 1);
        assert_memory_equal(t.message + head + 1, packed->message + head, packed->bytes - head);
    } else {
        assert_true(t.shape.bytes <= packed->bytes);
    }
    round_trip_decode(&t);
    assert_true(rows_equal(t.back, packed->back));
    return header;
}

// ---- rows

static void fill_all(RoundTrip *t, Kind kind) {
    for (int64_t k = 0; k < t->shape.rows; k++)
        round_trip_fill(t, kind, k, k);
}

TEST(every_grid_says_the_same) {
    static const int32_t lengths[] = {512, 512, 1, 130, 511, 3, 512, 16};
    int32_t length[ROWS];
    for (int k = 0; k < ROWS; k++)
        length[k] = lengths[k % 8];
    for (GridOptions options = {0}; grid_next(&options);) {
        OWNED(RoundTrip) t = grid_trip_new(ROWS, COLUMNS, options);
        t.shape.length = options.nearest ? length : NULL;
        for (int64_t k = 0; k < ROWS; k++)
            round_trip_fill(&t, kind_of(options.rule, k), k, k);
        round_trip_ready(&t);
        assert_same(&t);
        fill_all(&t, LAPLACE);
        RansHeader header = assert_same(&t);
        assert_true(header == RANS_CODED || options.bits <= 2); // ternary, or signs
    }
}

TEST(zero_gradients_take_one_byte) {
    for (GridOptions options = {0}; grid_next(&options);) {
        OWNED(RoundTrip) t = grid_trip_new(ROWS, COLUMNS, options);
        fill_all(&t, ZEROS);
        round_trip_ready(&t);
        RansHeader header = assert_same(&t);
        assert_int_equal(header, options.rule == GRID_MEAN ? RANS_CODED : RANS_ZERO);
    }
}

// Codes that are all equally frequent: of c mod 2^b, in whole groups of them.
TEST(what_is_not_shorter_is_sent_as_planes) {
    for (int bits = 1; bits <= 8; bits++) {
        GridOptions options = {.bits = bits, .nearest = true, .bf16 = bits % 2 == 0};
        OWNED(RoundTrip) t = grid_trip_new(ROWS, COLUMNS, options);
        for (int64_t i = 0; i < ROWS * COLUMNS; i++)
            floats(t.source.x)[i] = (float)(i % (1 << bits));
        round_trip_ready(&t);
        assert_int_equal(assert_same(&t), RANS_PACKED);
    }
}

TEST(no_rows_take_no_byte) {
    OWNED(RoundTrip) t = grid_trip_new(0, COLUMNS, (GridOptions){.rule = GRID_MAX, .bits = 4});
    round_trip_ready(&t);
    RoundTrip none = entropy_trip(&t);
    assert_int_equal(entropy_write(&none), 0);
    assert_int_equal(none.bytes + none.shape.bytes, 0);
    round_trip_decode(&none);
}

TEST(bad_rows_are_reported_too) {
    for (GridOptions options = {0}; grid_next(&options);) {
        OWNED(RoundTrip) t = grid_trip_new(ROWS, COLUMNS, options);
        fill_all(&t, GAUSS);
        floats(t.source.x)[7 * COLUMNS + 100] = NAN;
        round_trip_ready(&t);
        RoundTrip other = entropy_trip(&t);
        assert_int_equal(entropy_write(&other), 1 + 7);
    }
}

TEST(bits_can_be_set) {
    const Codec *codecs[] = {&codec_grid, &codec_grid_entropy};
    for (int i = 0; i < 2; i++) {
        MemberValues values;
        grid_set(&values, (GridOptions){.rule = GRID_L2, .bits = 4, .bf16 = true});
        codecs[i]->set_bits(&values, 7);
        GridOptions options = grid_get(&values);
        assert_int_equal(options.bits, 7);
        assert_true(options.rule == GRID_L2 && options.bf16);
    }
}

// ---- what does not decode ends the job

static jmp_buf back;
static ExitCode ended_with;

static void note_end(ExitCode code, const char *sentence) {
    assert_non_null(strstr(sentence, "do not decode"));
    ended_with = code;
    longjmp(back, 1);
}

static bool decodes(RoundTrip *t) {
    ended_with = EXIT_OK;
    if (setjmp(back) == 0)
        round_trip_decode(t);
    return ended_with == EXIT_OK;
}

TEST(damaged_codes_end_the_job) {
    static RoundTrip t, other;
    t = grid_trip_new(ROWS, COLUMNS, (GridOptions){.rule = GRID_MAX, .bits = 4});
    fill_all(&t, GAUSS);
    round_trip_ready(&t);
    other = entropy_trip(&t);
    entropy_write(&other);
    check_ends_with(note_end);
    assert_true(decodes(&other));
    other.message[parameters_bytes(&other)] = RANS_PACKED; // but not as long as planes
    assert_false(decodes(&other));
    assert_int_equal(ended_with, EXIT_INTEGRITY);
    other.message[parameters_bytes(&other)] = RANS_CODED;
    other.message[parameters_bytes(&other) + 40] ^= 1;
    assert_false(decodes(&other));
    other.message[parameters_bytes(&other) + 40] ^= 1;
    for (size_t missing = 0; missing < 2; missing++) { // the header, and more
        other.shape.bytes = parameters_bytes(&other) - missing;
        assert_false(decodes(&other));
    }
    check_ends_with(NULL);
    round_trip_clear(&t);
}
