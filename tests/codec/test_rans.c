// If this failed, entropy-coded gradients would not come back as they were sent, would be longer
// than their codes' entropy allows, or a damaged message would be read beyond its end.
#include "codec/rans.h"
#include "slow_rans.h"

enum { GUARD = 64 };

typedef struct Codes {
    int bits;
    uint8_t zero;
    int64_t n;
    uint8_t *code; // in a block of that size, so that sanitizers see what is read behind it
} Codes;

typedef struct Message {
    unsigned char *byte; // as exact
    size_t bytes;
} Message;

static uint64_t seed;

static uint32_t draw(uint32_t limit) { // xorshift64*
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (uint32_t)((seed * 0x2545f4914f6cdd1dU >> 32) % limit);
}

static Codes codes_new(int bits, uint8_t zero, int64_t n) {
    return (Codes){bits, zero, n, test_memory((size_t)n)};
}

// As many of each code as counted, in any order.
static Codes codes_of_histogram(int bits, const int64_t count[256]) {
    int64_t n = 0;
    for (int s = 0; s < 256; s++)
        n += count[s];
    Codes codes = codes_new(bits, (uint8_t)draw(1U << bits), n);
    uint8_t *end = codes.code;
    for (int s = 0; s < 256; end += count[s++])
        memset(end, s, (size_t)count[s]);
    for (int64_t i = n - 1; i > 0; i--) {
        uint32_t other = draw((uint32_t)i + 1);
        uint8_t code = codes.code[i];
        codes.code[i] = codes.code[other];
        codes.code[other] = code;
    }
    return codes;
}

// The message, if it has fewer than `room` bytes; nothing is written outside of the room.
static Message encode_into(size_t room, const Codes *codes) {
    unsigned char *block = test_memory(room + 2 * GUARD);
    memset(block, 0xa5, room + 2 * GUARD);
    unsigned char *out = block + GUARD;
    size_t bytes = rans_encode(out, room, codes->code, codes->n, codes->bits, codes->zero);
    for (int g = 0; g < GUARD; g++)
        assert_true(block[g] == 0xa5 && out[room + (size_t)g] == 0xa5);
    Message message = {test_memory(bytes), bytes};
    memcpy(message.byte, out, bytes);
    return message;
}

static Message encode(const Codes *codes) {
    Message message = encode_into(1000 + 2 * (size_t)codes->n, codes);
    assert_true(message.bytes > 0);
    return message;
}

// Whatever comes of it, codes have their bits and nothing is written behind them.
static bool decode(uint8_t *code, const Codes *like, const unsigned char *byte, size_t bytes) {
    bool whole = rans_decode(code, like->n, like->bits, like->zero, byte, bytes);
    for (int64_t i = 0; whole && i < like->n; i++)
        assert_true(code[i] >> like->bits == 0);
    return whole;
}

static void assert_comes_back(const Codes *codes, const Message *message) {
    uint8_t *code = test_memory((size_t)codes->n);
    assert_true(decode(code, codes, message->byte, message->bytes));
    assert_memory_equal(code, codes->code, (size_t)codes->n);
}

// The frequencies that the counts must give.
static void assert_frequencies(const uint32_t frequency[257], const Codes *codes) {
    int64_t count[256] = {0}, present = 0, left = SUM, most = 0;
    for (int64_t i = 0; i < codes->n; i++)
        present += count[codes->code[i]]++ == 0;
    for (int s = 255; s >= 0; s--)
        most = count[s] >= count[most] ? s : most;
    for (int s = 0; s < 256; s++)
        left -= count[s] > 0 ? 1 + count[s] * (SUM - present) / codes->n : 0;
    for (int s = 0; s < 1 << codes->bits; s++) {
        int64_t share = count[s] > 0 ? 1 + count[s] * (SUM - present) / codes->n : 0;
        assert_int_equal(frequency[s], share + (s == most ? left : 0));
    }
}

static void assert_as_described(const Codes *codes, const Message *message) {
    const unsigned char *at = message->byte + 1;
    uint32_t frequency[257], state[STATES];
    if (message->byte[0] == RANS_ZERO)
        return;
    slow_table(frequency, 1 << codes->bits, &at);
    assert_frequencies(frequency, codes);
    for (int k = 0; k < STATES; k++, at += 4)
        state[k] = at[0] + 256U * (at[1] + 256U * (at[2] + 256U * at[3]));
    for (int64_t i = 0; i < codes->n; i++)
        assert_int_equal(slow_code(&state[i % STATES], frequency, &at), codes->code[i]);
    for (int k = 0; k < STATES; k++)
        assert_int_equal(state[k], LEAST);
    assert_ptr_equal(at, message->byte + message->bytes);
}

// ---- what comes back

static void assert_too_long(size_t room, const Codes *codes) {
    Message none = encode_into(room, codes);
    assert_int_equal(none.bytes, 0);
}

// It is written if and only if it is shorter than the room, and needs no more than that.
static void assert_room_decides(const Codes *codes, const Message *message) {
    Message same = encode_into(message->bytes + 1, codes);
    assert_int_equal(same.bytes, message->bytes);
    assert_memory_equal(same.byte, message->byte, message->bytes);
    assert_too_long(message->bytes, codes);
    assert_too_long(message->bytes / 2, codes);
}

static void check(Codes codes) {
    Message message = encode(&codes);
    assert_comes_back(&codes, &message);
    assert_as_described(&codes, &message);
    assert_room_decides(&codes, &message);
}

TEST(random_histograms_come_back) {
    seed = 1;
    for (int turn = test_turns(2000, 100000); turn > 0; turn--) {
        int64_t count[256] = {0};
        int bits = 1 + (int)draw(8);
        for (uint32_t present = draw((1U << bits) + 1); present > 0; present--)
            count[draw(1U << bits)] = 1 + draw(1U << draw(7));
        check(codes_of_histogram(bits, count));
    }
}

// The share of each code rounded down, with at least 1, has a sum of 4,270.
TEST(many_rare_codes_come_back) {
    int64_t count[256] = {0};
    for (int s = 0; s < 255; s++)
        count[s] = s < 55 ? 2000 : 1;
    check(codes_of_histogram(8, count));
}

TEST(few_codes_come_back) {
    for (int64_t n = 0; n < 40; n++)
        for (int bits = 1; bits <= 8; bits++) {
            Codes codes = codes_new(bits, 0, n);
            for (int64_t i = 0; i < n; i++)
                codes.code[i] = (uint8_t)draw(1U << bits);
            check(codes);
        }
}

TEST(equal_codes_come_back) {
    for (int64_t n = 1; n < 3000; n += 333) {
        Codes codes = codes_new(4, 7, n);
        memset(codes.code, 9, (size_t)n);
        Message message = encode(&codes);
        assert_int_equal(message.bytes, 1 + 2 + 2 + 2 + 16); // 0 0 ..., 4096, 0 0 ..., states
        check(codes);
    }
}

TEST(zeros_take_one_byte) {
    for (int64_t n = 0; n < 300; n += 99) {
        Codes codes = codes_new(4, 7, n);
        memset(codes.code, 7, (size_t)n);
        Message message = encode(&codes);
        assert_int_equal(message.bytes, 1);
        assert_int_equal(message.byte[0], RANS_ZERO);
        check(codes);
    }
}

// ---- bytes that were computed by hand

static void assert_bytes(const Codes *codes, const unsigned char *expected, size_t bytes) {
    Message message = encode(codes);
    assert_int_equal(message.bytes, bytes);
    assert_memory_equal(message.byte, expected, bytes);
}

TEST(bytes_are_those_of_the_drawing) {
    // 4096, one zero; a code of frequency 4096 leaves its state
    static const unsigned char one[] = {RANS_CODED, 0x80, 0x20, 0, 1,    0, 0, 0x80, 0,    0, 0,
                                        0x80,       0,    0,    0, 0x80, 0, 0, 0,    0x80, 0};
    // 2048 twice; 2^23 becomes 2^24 and 2^24 + 2048
    static const unsigned char two[] = {RANS_CODED, 0x80, 0x10, 0x80, 0x10, 0, 0, 0, 1,    0, 8,
                                        0,          1,    0,    0,    0x80, 0, 0, 0, 0x80, 0};
    assert_bytes(&(Codes){1, 1, 1, (uint8_t[]){0}}, one, sizeof one);
    assert_bytes(&(Codes){1, 1, 2, (uint8_t[]){0, 1}}, two, sizeof two);
}

// ---- lengths

// Sign and magnitude of values against the largest of their 512.
static Codes codes_of_values(int bits, bool laplace, int64_t n) {
    uint8_t s = (uint8_t)((1 << (bits - 1)) - 1);
    Codes codes = codes_new(bits, s, n);
    RandomKey key = random_key(3, RANDOM_FEATURES, 0, 0, 0);
    double value[512];
    for (int64_t i = 0; i < n; i += 512) {
        double most = 0;
        for (int c = 0; c < 512; c++) {
            double u = random_uniform32(key, i, 1, c);
            value[c] = !laplace  ? random_normal(key, i, 0, c)
                       : u < 0.5 ? log(2 * u)
                                 : -log(2 - 2 * u);
            most = fmax(most, fabs(value[c]));
        }
        for (int c = 0; c < 512 && i + c < n; c++) {
            double m = floor(fabs(value[c]) / most * s + random_uniform16(key, i, 2, c));
            codes.code[i + c] = (uint8_t)(value[c] < 0 ? s - m : s + m);
        }
    }
    return codes;
}

static double entropy(const Codes *codes) { // bits of all
    int64_t count[256] = {0};
    double sum = 0;
    for (int64_t i = 0; i < codes->n; i++)
        count[codes->code[i]]++;
    for (int s = 0; s < 256; s++)
        sum -= count[s] > 0 ? (double)count[s] * log2((double)count[s] / (double)codes->n) : 0;
    return sum;
}

// Elias' recursive code of k >= 1 (QSGD, Alistarh et al. 2017).
static int elias(int64_t k) {
    int bits = 1;
    while (k > 1) {
        int length = 64 - __builtin_clzll((uint64_t)k);
        bits += length;
        k = length - 1;
    }
    return bits;
}

// QSGD's wire: the gap to each non-zero, its sign and magnitude; or, dense, every magnitude + 1.
static double elias_bits(const Codes *codes) {
    int64_t sparse = 0, dense = 0, last = -1;
    for (int64_t i = 0; i < codes->n; i++) {
        int m = abs(codes->code[i] - codes->zero);
        dense += elias(m + 1) + (m > 0);
        if (m == 0)
            continue;
        sparse += elias(i - last) + 1 + elias(m);
        last = i;
    }
    return (double)(sparse < dense ? sparse : dense);
}

TEST(lengths_are_those_of_the_entropy) {
    enum { N = 100003 };
    for (int bits = 2; bits <= 8; bits += 2)
        for (int laplace = 0; laplace < 2; laplace++) {
            Codes codes = codes_of_values(bits, laplace, N);
            Message message = encode(&codes);
            double least = entropy(&codes), length = 8 * (double)message.bytes;
            printf("%d bits, %s: entropy %.3f, rANS %.3f, Elias %.3f bits a value\n", bits,
                   laplace ? "Laplace" : "normal", least / N, length / N, elias_bits(&codes) / N);
            const unsigned char *table = message.byte + 1;
            uint32_t frequency[257];
            slow_table(frequency, 1 << bits, &table);
            double head = 8 * (double)(table - message.byte + 4 * STATES);
            assert_true(length >= least && length <= 1.01 * least + head);
            check(codes);
        }
}

// ---- bytes that are not those of an encoder

static Codes some_codes(int which) {
    int64_t count[256] = {0};
    int bits = 1 + which % 8;
    for (int s = 0; s < 1 << bits; s += 1 + which % 3)
        count[s] = 1 + draw(which % 2 == 0 ? 4 : 20);
    return codes_of_histogram(bits, count);
}

TEST(cut_and_longer_messages_are_refused) {
    for (int which = 0; which < 16; which++) {
        Codes codes = some_codes(which);
        Message message = encode(&codes);
        uint8_t *code = test_memory((size_t)codes.n);
        for (size_t bytes = 0; bytes <= message.bytes + 40; bytes++) {
            unsigned char *other = test_memory(bytes);
            memset(other, 0, bytes);
            memcpy(other, message.byte, bytes < message.bytes ? bytes : message.bytes);
            assert_int_equal(decode(code, &codes, other, bytes), bytes == message.bytes);
        }
    }
}

// A flipped bit may make another message; what it never does is lead outside.
TEST(flipped_bits_are_refused_or_decode) {
    int64_t flips = 0, decoded = 0;
    for (int which = 0; which < 8; which++) {
        Codes codes = some_codes(which);
        Message message = encode(&codes);
        uint8_t *code = test_memory((size_t)codes.n);
        for (size_t bit = 0; bit < 8 * message.bytes; bit++) {
            message.byte[bit / 8] ^= (unsigned char)(1 << bit % 8);
            decoded += decode(code, &codes, message.byte, message.bytes);
            flips++;
            message.byte[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        assert_comes_back(&codes, &message);
    }
    printf("%lld of %lld flipped bits decode to something\n", (long long)decoded, (long long)flips);
    assert_true(decoded < flips / 100); // all four states must end as 2^23 again
}

static void assert_no_message(const char *why, const unsigned char *byte, size_t bytes) {
    uint8_t code[2];
    if (rans_decode(code, 2, 1, 0, byte, bytes))
        fail_msg("%s was not refused", why);
}
#define NO_MESSAGE(why, ...)                                                                       \
    assert_no_message((why), (const unsigned char[]){__VA_ARGS__},                                 \
                      sizeof((const unsigned char[]){__VA_ARGS__}))

TEST(wrong_heads_are_refused) {
#define TABLE 0x80, 0x20, 0, 1 // 4096, one zero: a code leaves its state
#define LAST 0, 0, 0x80, 0, 0, 0, 0x80, 0
    uint8_t code[2];
    assert_true(rans_decode(code, 2, 1, 0, (unsigned char[]){1, TABLE, LAST, LAST}, 21));
    NO_MESSAGE("planes", 0, TABLE, LAST, LAST);
    NO_MESSAGE("an unknown header", 3, TABLE, LAST, LAST);
    NO_MESSAGE("zeros and more", 2, 0);
    NO_MESSAGE("a sum of 4095", 1, 0xff, 0x1f, 0, 1, 0, 8, 0x80, 0, 0, 8, 0x80, 0, LAST);
    NO_MESSAGE("a sum of 4097", 1, 0x80, 0x20, 1, LAST, LAST);
    NO_MESSAGE("a frequency of 16383", 1, 0xff, 0x7f, 0, 1, LAST, LAST);
    NO_MESSAGE("a number of three bytes", 1, 0x80, 0xa0, 0, 0, 1, LAST, LAST);
    NO_MESSAGE("a run of no zeros", 1, 0, 0, TABLE, LAST, LAST);
    NO_MESSAGE("a run beyond the codes", 1, 0x80, 0x20, 0, 2, LAST, LAST);
    NO_MESSAGE("a state of 2^15", 1, TABLE, 0, 0x80, 0, 0, 0, 0, 0x80, 0, LAST, 0);
    NO_MESSAGE("a state of 2^31", 1, TABLE, 0, 0, 0, 0x80, 0, 0, 0x80, 0, LAST);
    NO_MESSAGE("an end in another state", 1, TABLE, LAST, 1, 0, 0x80, 0, 0, 0, 0x80, 0);
}
