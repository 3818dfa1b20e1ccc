// If this failed, quantized messages would not be as codec.h draws them, or their bytes would
// depend on vectors or threads, or a row that cannot be written would go unnoticed.
#include "true_codes.h"

// ---- an independent message, a value at a time

// Fills `message` (zeroed) and the rows and ranges that must come of it.
static void true_trip(const RoundTrip *t, unsigned char *message, Rows back, float *range) {
    int64_t rows = t->shape.rows, columns = t->shape.columns, position = 0;
    int size = t->bf16 ? 2 : 4;
    unsigned char *payload = message + 2 * rows * size;
    for (int w = 0; w < KNOWN; w++)
        for (int64_t k = 0; k < rows; k++) {
            if (t->bits[k] != known[w])
                continue;
            int64_t r = t->row[k];
            float scale = t->source.scale != NULL ? t->scale[r] : 1;
            Truth g = true_grid(sent(t, k), columns, scale, known[w], t->bf16);
            memcpy(message + position * size, (char *)&g.zero + 4 - size, (size_t)size);
            memcpy(message + (rows + position) * size, (char *)&g.step + 4 - size, (size_t)size);
            for (int64_t c = 0; c < columns; c++) {
                int q = true_code(t, g, scale * sent(t, k)[c], known[w], r, c, false);
                true_pack(payload, q, known[w], c, columns);
                floats(back)[(BEFORE + k) * back.stride + c] = g.zero + (float)q * g.step;
            }
            range[k] = g.most * g.step;
            payload += true_bytes(columns, known[w]);
            position++;
        }
    assert_int_equal(payload - message, t->bytes);
}

static void try_all_ways(RoundTrip *t) {
    round_trip_ready(t);
    unsigned char *message = test_memory(t->bytes);
    float *range = TEST_ARRAY(float, t->shape.rows);
    Rows back = zeroed_rows(t->back.count, t->shape.columns);
    true_trip(t, message, back, range);
    round_trip_all_ways(t, message, back, range);
}

TEST(message_is_as_drawn) {
    static const int64_t columns[] = {1,  2,   5,   7,   16,  17,  31,   32,   41,   64,  65,
                                      96, 127, 128, 130, 256, 602, 1024, 1025, 1160, 2100};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            int64_t rows = columns[i] < 600 ? 3 * KINDS * KNOWN : 2 * KNOWN;
            OWNED(RoundTrip) t = round_trip_new(rows, columns[i], bf16, 8);
            t.source.random.kind = (RandomKind){.seven = bf16 == 1, .narrow = i / 2 % 2 == 1};
            for (int64_t r = 0; r < rows; r++) {
                round_trip_fill(&t, (Kind)(r % KINDS), r, r);
                t.bits[r] = (uint8_t)known[(r / 2) % KNOWN];
                t.row[r] = (int32_t)(r - r % 3); // gaps, and a row more than once
            }
            if (i % 2 == 1)
                t.source.scale = on_device(t.scale);
            try_all_ways(&t);
        }
}

// Enough rows of one width that threads share them.
TEST(threads_do_not_show) {
    for (int w = 1; w < KNOWN; w += 2) {
        OWNED(RoundTrip) t = round_trip_new(1500, 48, w > 4, known[w]);
        for (int64_t r = 0; r < t.shape.rows; r++) {
            round_trip_fill(&t, (Kind)(r % USUAL), r, r);
            t.bits[r] = r % 100 == 7 ? 2 : (uint8_t)known[w];
        }
        try_all_ways(&t);
    }
}
// ---- rows that cannot be written

static void expect_bad(RoundTrip *t, int64_t place) {
    for (Way way = {0}; way_next(&way);)
        assert_int_equal(round_trip_encode(t), place);
}

TEST(bad_rows_are_reported) {
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static const int64_t columns[] = {1, 15, 16, 40, 1100};
    for (int i = 0; i < 5; i++)
        for (int b = 0; b < 3; b++) {
            int64_t width = columns[i];
            OWNED(RoundTrip) t = round_trip_new(KNOWN + 1, width, b == 1, 8);
            for (int64_t k = 0; k < KNOWN; k++) {
                round_trip_fill(&t, GAUSS, k, k);
                // the first place is the first written, or the last
                t.bits[k] = (uint8_t)known[b == 0 ? k : KNOWN - 1 - k];
            }
            round_trip_ready(&t);
            expect_bad(&t, -1);
            float *x = floats(t.source.x);
            x[7 * t.source.x.stride + width - 1] = bad[b];
            expect_bad(&t, 7);
            x[2 * t.source.x.stride + width / 2] = bad[b];
            expect_bad(&t, 2);
            x[0] = bad[b];
            expect_bad(&t, 0);
        }
}

TEST(overflowing_ranges_are_reported) {
    for (int bf16 = 0; bf16 < 2; bf16++) {
        OWNED(RoundTrip) t = round_trip_new(2000, 20, bf16, 4);
        for (int64_t k = 0; k < t.shape.rows; k++)
            round_trip_fill(&t, GAUSS, k, k);
        round_trip_ready(&t);
        float *row = floats(t.source.x) + 1234 * t.source.x.stride;
        row[3] = FLT_MAX; // alone it is no trouble to fp32; bf16 has no such number
        expect_bad(&t, bf16 ? 1234 : -1);
        row[17] = -FLT_MAX;
        expect_bad(&t, 1234);
        row[3] = row[17] = 1e30F;
        expect_bad(&t, -1);
        t.scale[1234] = 1e30F, t.source.scale = on_device(t.scale);
        expect_bad(&t, 1234);
    }
}

// ---- random numbers

// The stream, the receiver and the id all change the rounding; nothing else does.
TEST(rounding_depends_on_its_key_alone) {
    OWNED(RoundTrip) t = round_trip_new(4, 200, false, 4);
    for (int64_t k = 0; k < 4; k++)
        round_trip_fill(&t, GAUSS, k, 0);
    round_trip_ready(&t);
    size_t parameters = 4 * 8;
    unsigned char *first = test_memory(t.bytes);
    round_trip_encode(&t);
    memcpy(first, t.message, t.bytes);
    round_trip_encode(&t);
    assert_memory_equal(t.message, first, t.bytes);
    for (int change = 0; change < 4; change++) {
        RoundTrip other = t;
        int64_t gid[4] = {100, 101, 102, 103};
        if (change == 0)
            other.source.peer = 6;
        else if (change == 1)
            other.source.random.epoch++;
        else if (change == 2)
            other.source.random.seed++;
        else
            other.source.gid = on_device(gid);
        round_trip_encode(&other);
        assert_memory_equal(t.message, first, parameters);
        for (int64_t k = 0; k < 4; k++)
            assert_true(
                memcmp(t.message + parameters + k * 100, first + parameters + k * 100, 100) != 0);
    }
}

static void count_call(void *context) { ++*(int *)context; }

TEST(empty_messages_and_polls) {
    OWNED(RoundTrip) t = round_trip_new(0, 5, true, 8);
    round_trip_ready(&t);
    assert_int_equal(t.bytes, 0);
    assert_int_equal(round_trip_encode(&t), -1);
    round_trip_decode(&t);
    round_trip_clear(&t);
    t = round_trip_new(3000, 64, true, 8);
    round_trip_ready(&t);
    int calls = 0;
    Poll poll = {count_call, &calls};
    int64_t takes = memory_allocs(), bad = 0;
    integer()->encode(device(), on_device(t.message), &t.shape, &t.source, on_device(&bad), &poll);
    integer()->decode(device(), t.back, BEFORE, &t.shape, on_device(t.message), &poll);
    assert_int_equal(memory_allocs(), takes);
    assert_true(calls >= 2);
}
