// If this failed, random numbers would not be philox4x32-10, or would move when the counter's
// layout does: no run could be repeated on another machine or backend.

#include "../rounding.h"
#include "support.h"

// Known answers of Random123 (Salmon et al., kat_vectors, philox4x32 of 10 and 7 rounds).
TEST(philox_gives_the_published_vectors) {
    static const struct {
        uint32_t counter[4], key[2];
        int rounds;
        uint32_t out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, 10, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, 10, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         10,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
        {{0, 0, 0, 0}, {0, 0}, 7, {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, 7, {0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         7,
         {0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t out[4];
        random_philox(out, known[i].counter, known[i].key, known[i].rounds);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

// ALGORITHMS 0: the counter, word by word.
TEST(the_counter_is_laid_out_as_documented) {
    RandomKey random = random_key(0x1122334455667788u, RANDOM_ROUNDING, 77, 5, 1);
    int64_t row = 0x123456789abc;
    uint32_t counter[4] = {0x56789abc, 0x1234 | 9u << 16, 77, 2u << 28 | 5u << 20 | 1u << 19 | 321};
    uint32_t key[2] = {0x55667788, 0x11223344}, expected[4], out[4];
    random_philox(expected, counter, key, 10);
    random_block(out, random, row, 9, 321);
    assert_memory_equal(out, expected, sizeof out);
    for (int column = 0; column < 8; column++) { // low half of word 0 first
        uint32_t k = column % 2 == 0 ? expected[column / 2] & 0xffff : expected[column / 2] >> 16;
        float u = random_uniform16(random, row, 9, 8 * 321 + column);
        assert_true(u == ((float)k + 0.5f) / 65536.0f);
    }
    RandomKey narrow = random_of_kind(random, (RandomKind){.narrow = true});
    for (int column = 0; column < 16; column++) { // low byte of word 0 first
        uint32_t k = expected[column / 4] >> (column % 4 * 8) & 0xff;
        assert_true(random_rounding(narrow, row, 9, 16 * 321 + column) == ((float)k + 0.5f) / 256);
        assert_true(random_rounding(random, row, 9, column) ==
                    random_uniform16(random, row, 9, column));
    }
    random_philox(expected, counter, key, 7);
    random_block(out, random_of_kind(random, (RandomKind){.seven = true}), row, 9, 321);
    assert_memory_equal(out, expected, sizeof out);
    random_philox(expected, counter, key, 10);
    for (int column = 0; column < 4; column++)
        assert_true(random_uniform32(random, row, 9, 4 * 321 + column) ==
                    ((double)expected[column] + 0.5) / 4294967296.0);
}

// Mean and variance within 5 standard errors of those of the distributions.
TEST(numbers_have_the_moments_of_their_distribution) {
    enum { ROWS = 1000, COLUMNS = 200 };
    const double n = (double)ROWS * COLUMNS;
    RandomKey key = random_key(1, RANDOM_FEATURES, 0, 0, 0);
    double uniform = 0, normal = 0, squares = 0;
    for (int64_t row = 0; row < ROWS; row++)
        for (int64_t column = 0; column < COLUMNS; column++) {
            double u = (double)random_uniform16(key, row, 0, column);
            double z = random_normal(key, row, 0, column);
            assert_true(u > 0 && u < 1 && isfinite(z));
            uniform += u, normal += z, squares += z * z;
        }
    assert_near(uniform / n, 0.5, 5 * sqrt(1.0 / 12 / n));
    assert_near(normal / n, 0.0, 5 * sqrt(1 / n));
    assert_near(squares / n, 1.0, 5 * sqrt(2 / n));
}
