// If this failed, sketches of gradients would give values of another sign or larger ones than went
// in, lose the sum of what they code, take more bytes than a plan foresees, or take a damaged
// message for a gradient.
#include "../rows.h"
#include "codec/differences.h"
#include "codec/min_max.h"
#include "codec/quantiles.h"
#include "codec/sketch.h"

#include <float.h>

static double draw(int64_t i, int which) {
    return random_uniform32(random_key(11, RANDOM_GENERATE, 1, which, 0), i, 0, 0);
}

static const SketchOptions usual = {
    .buckets = 256, .groups = 8, .tables = 2, .bins = .3, .recalibrate = true, .part = 1};

// ---- MinMaxSketch

static uint32_t key_of(int64_t i) { return (uint32_t)(draw(i, 5) * 0x1p31); }

// How many of the numbers 0 .. 255 of n keys are found as they were put in. None is found larger.
static double exact_part(int64_t n, int tables, double bins) {
    enum { CELLS = 3 << 20 };
    static uint8_t cell[CELLS];
    int64_t exact = 0;
    MinMax sketch = min_max_open(77, tables, (int64_t)ceil(bins * (double)n), cell);
    assert_true(tables * sketch.bins <= CELLS);
    min_max_clear(&sketch, 255);
    for (int64_t i = 0; i < n; i++)
        min_max_put(&sketch, key_of(i), (uint8_t)(256 * draw(i, 0)));
    for (int64_t i = 0; i < n; i++) {
        int number = (uint8_t)(256 * draw(i, 0)), found = min_max_get(&sketch, key_of(i));
        if (found > number)
            fail_msg("key %d: %d was put in, and %d found", (int)key_of(i), number, found);
        exact += found == number;
    }
    return (double)exact / (double)n;
}

// The parts that are exact by ALGORITHMS D.5: the mean over p of 1 - (1 - e^(-l p))^s.
TEST(numbers_never_grow) {
    if (UNDER_SANITIZERS(false, true)) // half a minute
        assert_near(exact_part(1000000, 2, .3), .429, .02);
    assert_near(exact_part(100000, 2, 1), .83, .02);
    assert_near(exact_part(100000, 3, .3), .52, .02);
    assert_near(exact_part(1, 8, .3), 1, 0);
}

// ---- quantiles

TEST(buckets_are_quantiles) {
    enum { MANY = 40000, MOST = 127 };
    static uint32_t bin[QUANTILE_BINS], count[QUANTILE_BINS];
    int64_t in[MOST] = {0}, bucket = 0, largest = 0;
    for (int64_t i = 0; i < MANY; i++)
        count[quantile_bin((float)-log(draw(i, 1)))]++;
    memcpy(bin, count, sizeof bin);
    int buckets = quantiles_make(bin, MANY, MOST);
    for (int b = 0; b < QUANTILE_BINS; b++)
        if (count[b] > 0) {
            assert_true(bin[b] == bucket || bin[b] == bucket + 1);
            bucket = bin[b];
            in[bucket] += count[b];
            largest = count[b] > largest ? count[b] : largest;
        }
    assert_true(bucket == buckets - 1 && buckets <= MOST && buckets > MOST - 20);
    for (int b = 0; b < buckets; b++)
        assert_true(in[b] > 0 && in[b] <= MANY / MOST + 1 + largest);
}

// ---- messages

enum { MANY = 60000 };
static float x[MANY], back[MANY];

typedef struct Written {
    unsigned char *bytes; // as many as there are, so that one more is found
    size_t count;
} Written;

// Scratch for a message, which holds what the last one left in it, where it had as much.
static void *scratch;
static size_t held;
static void forget_scratch(void *of) { *(size_t *)of = 0; }
static void *scratch_for(const SketchOptions *options, int64_t n) {
    size_t bytes = sketch_scratch(options, n);
    if (bytes != held) {
        test_later(forget_scratch, &held);
        scratch = test_memory(bytes);
        memset(scratch, 0xff, bytes);
        held = bytes;
    }
    return scratch;
}

static Written write_message(const float *from, int64_t n, SketchOptions options) {
    size_t most = sketch_most(&options, n);
    unsigned char *out = test_memory(most);
    size_t bytes = sketch_write(out, from, n, &options, 1234567, scratch_for(&options, n));
    if (bytes > most)
        fail_msg("%d of %d bytes", (int)bytes, (int)most);
    Written written = {test_memory(bytes), bytes};
    memcpy(written.bytes, out, bytes);
    return written;
}

static bool read_message(float *to, int64_t n, SketchOptions options, const unsigned char *in,
                         size_t bytes) {
    return sketch_read(to, n, &options, in, bytes, scratch_for(&options, n));
}

// Returns the bytes. Twice, so that what scratch held does not show.
static size_t trip(float *to, const float *from, int64_t n, SketchOptions options) {
    Written written = write_message(from, n, options), again = write_message(from, n, options);
    assert_int_equal(written.count, again.count);
    assert_memory_equal(written.bytes, again.bytes, written.count);
    assert_true(read_message(to, n, options, written.bytes, written.count));
    return written.count;
}

// Magnitudes of a double exponential, and which of them have the other sign or are there at all.
static float size_of[MANY], sign_of[MANY], chance_of[MANY];

static void draw_all(void) {
    for (int64_t i = 0; i < MANY; i++) {
        size_of[i] = (float)(-log(draw(i, 2)) * 1e-3);
        sign_of[i] = draw(i, 3) < .4 ? -1 : 1;
        chance_of[i] = (float)draw(i, 4);
    }
}

// Of a density: both signs, or the positive one.
static int64_t fill(double density, bool both) {
    int64_t values = 0;
    if (size_of[0] == 0)
        draw_all();
    for (int64_t i = 0; i < MANY; i++) {
        x[i] = (double)chance_of[i] < density ? size_of[i] * (both ? sign_of[i] : 1) : 0;
        values += x[i] != 0;
    }
    return values;
}

static double sum_of(const float *of, int sign) {
    double sum = 0;
    for (int64_t i = 0; i < MANY; i++)
        sum += (float)sign * of[i] > 0 ? (double)of[i] : 0;
    return sum;
}

static double squared(const float *a, const float *b) {
    double sum = 0;
    for (int64_t i = 0; i < MANY; i++)
        sum += pow((double)a[i] - (b != NULL ? (double)b[i] : 0), 2);
    return sum;
}

static const double densities[] = {1, .6, .4, .1, .02, .001};
enum { DENSITIES = sizeof densities / sizeof *densities };

static SketchOptions form(double density, int kind) {
    SketchOptions options = usual;
    static const int buckets[] = {256, 16, 2, 254}, groups[] = {8, 1, 3, 128},
                     tables[] = {2, 1, 3, 8};
    static const double bins[] = {.3, 1, .05, 4};
    options.buckets = buckets[kind % 4];
    options.groups = groups[kind / 4 % 4];
    options.tables = tables[kind % 4];
    options.bins = bins[kind / 4 % 4];
    options.entropy = kind % 2 == 1;
    options.part = density <= .4 && kind % 3 == 0 ? density + .01 : 1;
    return options;
}

// Signs and zeros stay, and so does the sum of each sign: what decodes to a level has it as mean. A
// mean makes no square larger.
TEST(sums_are_right_and_signs_stay) {
    for (int d = 0; d < DENSITIES; d++)
        for (int kind = 0; kind < 16; kind++) {
            if (UNDER_SANITIZERS((d + kind) % 3 != 0, false))
                continue;
            fill(densities[d], kind != 5);
            trip(back, x, MANY, form(densities[d], kind));
            for (int64_t i = 0; i < MANY; i++)
                assert_true((x[i] > 0) == (back[i] > 0) && (x[i] < 0) == (back[i] < 0));
            for (int sign = -1; sign <= 1; sign += 2) {
                double sum = sum_of(x, sign);
                assert_near(sum_of(back, sign), sum, 1e-6 * fabs(sum));
            }
            assert_true(squared(x, back) <= squared(x, NULL));
        }
}

// The same values with a bucket to a group are in their own buckets. With fewer groups none is in
// a higher one of its sign, nor in one of another group.
TEST(buckets_never_grow_or_leave_their_group) {
    static float own[MANY], level[128];
    fill(.2, true);
    SketchOptions options = usual;
    options.recalibrate = false;
    options.groups = 128;
    trip(own, x, MANY, options);
    options.groups = 8;
    trip(back, x, MANY, options);
    for (int sign = -1; sign <= 1; sign += 2) {
        int levels = 0;
        for (int64_t i = 0; i < MANY; i++) { // ascending, by insertion
            float size = own[i] * (float)sign;
            int at = 0;
            while (at < levels && level[at] < size)
                at++;
            if (size <= 0 || (at < levels && level[at] == size))
                continue;
            memmove(level + at + 1, level + at, (size_t)(levels++ - at) * sizeof *level);
            level[at] = size;
        }
        int width = (levels + 7) / 8;
        assert_true(levels > 100 && levels <= 127);
        for (int64_t i = 0; i < MANY; i++) {
            int was = 0, is = 0;
            if (own[i] * (float)sign <= 0)
                continue;
            while (level[was] < own[i] * (float)sign)
                was++;
            while (is < levels && level[is] < back[i] * (float)sign)
                is++;
            assert_true(is <= was && is / width == was / width);
        }
    }
}

// What is left of the magnitudes without recalibration, by ALGORITHMS D.5.
TEST(magnitudes_shrink_as_published) {
    static const struct {
        int groups;
        double left;
    } known[] = {{1, .43}, {4, .79}, {8, .88}, {16, .93}};
    fill(.4, true);
    for (int k = 0; k < 4; k++) {
        SketchOptions options = usual;
        options.recalibrate = false;
        options.groups = known[k].groups;
        trip(back, x, MANY, options);
        double left = (sum_of(back, 1) - sum_of(back, -1)) / (sum_of(x, 1) - sum_of(x, -1));
        assert_near(left, known[k].left, .02);
    }
}

// 254 buckets with a mean each: as noisy as the table of quantiles of ALGORITHMS D.5 says.
TEST(dense_values_are_close) {
    fill(1, true);
    size_t packed = trip(back, x, MANY, usual);
    double error = squared(x, back) / squared(x, NULL);
    SketchOptions entropy = usual;
    entropy.entropy = true;
    assert_true(trip(back, x, MANY, entropy) <= packed);
    assert_true(packed == 3 + 4 * 254 + 1 + MANY && error < .004);
    assert_true(squared(x, back) / squared(x, NULL) == error);
}

// ---- bytes

// What keys take of a message whose cells are not shared.
static double key_bytes(int64_t values, int groups, const unsigned char *message, size_t bytes) {
    int buckets[] = {message[1], message[2]}, lists = 0;
    size_t others = 3 + 4 * (size_t)(buckets[0] + buckets[1]) + 4;
    double cells = 0;
    for (int s = 0; s < 2; s++)
        lists += buckets[s] > 0 ? groups : 0;
    const unsigned char *count = message + others;
    for (int i = 0; i < lists; i++)
        cells += 2 * ceil(.3 * number_get(count + 4 * i, 4));
    int width = ((buckets[0] > buckets[1] ? buckets[0] : buckets[1]) + groups - 1) / groups;
    others += 4 * (size_t)lists + 1 + (size_t)ceil(cells * ceil(log2(width)) / 8);
    return (double)(bytes - others) / (double)values;
}

TEST(keys_take_the_published_bytes) {
    static const struct {
        double density, least, most; // of a key
        int groups;
        bool both;
    } lists[] = {{.1, 1.25, 1.30, 1, false},  {.05, 1.25, 1.30, 1, false},
                 {.02, 1.25, 1.30, 1, false}, {.01, 1.28, 1.35, 1, false},
                 {.2, 1.25, 1.33, 8, true},   {.1, 1.4, 1.5, 8, true},
                 {.05, 1.6, 1.8, 8, true}};
    for (int l = 0; l < 7; l++) {
        int64_t values = fill(lists[l].density, lists[l].both);
        SketchOptions options = usual;
        options.groups = lists[l].groups;
        Written written = write_message(x, MANY, options);
        double bytes = key_bytes(values, options.groups, written.bytes, written.count);
        print_message("%g of the values, %d lists: %.3f bytes a key, %.2f bytes a value\n",
                      lists[l].density, options.groups * (lists[l].both ? 2 : 1), bytes,
                      (double)written.count / (double)values);
        assert_true(bytes >= lists[l].least && bytes <= lists[l].most);
    }
}

// ---- odd values

TEST(odd_values_come_back) {
    static const float odd[] = {FLT_MAX, -FLT_MAX, FLT_MIN, 0x1p-149F, -0x1p-149F, 1, 0, -0.0F};
    for (int n = 0; n < 40; n += UNDER_SANITIZERS(n < 4 ? 1 : 7, 1))
        for (int kind = 0; kind < 16; kind++)
            for (int shift = 0; shift < 8; shift++) {
                for (int i = 0; i < n; i++)
                    x[i] = shift == 7 ? 0 : odd[(i * (kind % 3 + 1) + shift) % 8];
                size_t bytes = trip(back, x, n, form(1, kind));
                for (int i = 0; i < n; i++)
                    assert_true((x[i] > 0) == (back[i] > 0) && (x[i] < 0) == (back[i] < 0));
                assert_true(shift < 7 || bytes <= (n > 0 ? 7 : 0));
            }
}

// As many groups as buckets: each value in its own. Of equal values the level is the value.
TEST(equal_values_are_exact) {
    memset(x, 0, sizeof x);
    for (int i = 0; i < MANY / 10; i++)
        x[7 * i] = (float)((i % 5 + 1) * (i % 2 ? 1 : -1));
    SketchOptions options = usual;
    options.groups = 128;
    trip(back, x, MANY, options);
    assert_memory_equal(back, x, sizeof x);
}

// ---- damage

TEST(damaged_messages_are_refused) {
    enum { N = 700 };
    static const double density[] = {1, .3};
    for (int f = 0; f < 2; f++)
        for (int kind = 0; kind < 16; kind++) {
            fill(density[f], true);
            SketchOptions options = form(1, kind);
            Written written = write_message(x, N, options);
            for (size_t cut = 0; cut < written.count; cut++)
                assert_false(read_message(back, N, options, written.bytes, cut));
            for (size_t i = 0; i < 8 * written.count; i += kind == 0 ? 1 : 7) {
                written.bytes[i / 8] ^= (unsigned char)(1 << i % 8);
                if (read_message(back, N, options, written.bytes, written.count))
                    for (int k = 0; k < N; k++)
                        assert_true(isfinite(back[k]));
                written.bytes[i / 8] ^= (unsigned char)(1 << i % 8);
            }
        }
}

// Levels -1 and 1, and a list of each with one key, the same one.
TEST(a_place_has_one_value) {
    unsigned char message[] = {SKETCH_KEYS, 1, 1, 0, 0, 0x80, 0xbf, 0, 0, 0x80, 0x3f, // levels
                               0,           0, 0, 0, 1, 0,    0,    0, 1, 0,    0,
                               0, // seed and counts
                               0,           3, 0, 4};
    assert_true(read_message(back, 10, usual, message, sizeof message));
    assert_true(back[3] == -1 && back[4] == 1 && back[5] == 0);
    message[sizeof message - 1] = 3;
    assert_false(read_message(back, 10, usual, message, sizeof message));
}

// ---- the codec

enum { ROWS = 40, COLUMNS = 64 };

static jmp_buf ended;
static ExitCode ended_with;

static void note_end(ExitCode code, const char *sentence) {
    assert_non_null(strstr(sentence, "the sketch of a message of 40 rows does not decode"));
    ended_with = code;
    longjmp(ended, 1);
}

TEST(rows_come_back_and_bad_ones_are_reported) {
    int32_t length[ROWS], row[ROWS];
    int64_t id[ROWS], bad = 0;
    static MessageLayout layout;
    static Rows out;
    static unsigned char *message;
    Rows rows = zeroed_rows(ROWS, COLUMNS);
    out = zeroed_rows(ROWS, COLUMNS);
    layout = (MessageLayout){.rows = ROWS, .columns = COLUMNS, .length = length};
    sketch_set(&layout.values, usual);
    for (int i = 0; i < ROWS; i++) {
        length[i] = i % 4 == 0 ? 5 : COLUMNS;
        row[i] = i, id[i] = i;
        for (int c = 0; c < length[i]; c++)
            floats(rows)[i * rows.stride + c] = c % 3 == 0 ? -2 : 3;
        for (int c = length[i]; c < COLUMNS; c++)
            floats(rows)[i * rows.stride + c] = NAN;
    }
    MessageSource source = {.x = rows,
                            .partials = {.columns = COLUMNS, .stride = rows.stride},
                            .row = on_device(row),
                            .gid = on_device(id)};
    message = test_memory(codec_sketch.bytes(&layout));
    layout.scratch = on_device(test_memory(codec_sketch.scratch(&layout)));
    layout.bytes =
        codec_sketch.encode(device(), on_device(message), &layout, &source, on_device(&bad), NULL);
    assert_int_equal(bad, 0);
    memset(floats(out), 0xff, rows_bytes(ROWS, COLUMNS));
    codec_sketch.decode(device(), out, 0, &layout, on_device(message), NULL);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < COLUMNS; c++)
            assert_true(floats(out)[i * out.stride + c] ==
                        (c >= length[i] ? 0 : floats(rows)[i * rows.stride + c]));
    check_ends_with(note_end);
    layout.bytes--;
    if (setjmp(ended) == 0)
        codec_sketch.decode(device(), out, 0, &layout, on_device(message), NULL);
    check_ends_with(NULL);
    assert_int_equal(ended_with, EXIT_INTEGRITY);
    floats(rows)[9 * rows.stride + 2] = NAN;
    layout.bytes =
        codec_sketch.encode(device(), on_device(message), &layout, &source, on_device(&bad), NULL);
    assert_int_equal(bad, 1 + 9);
    codec_sketch.decode(device(), out, 0, &layout, on_device(message),
                        NULL); // nothing is ended yet
}
