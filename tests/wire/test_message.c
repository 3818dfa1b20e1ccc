// If this failed, a damaged or misplaced message would be taken for a good one.
#include "support.h"

#include "fringe/wire.h"

static const MessageHeader good = {.layer = 2,
                                   .direction = 1,
                                   .epoch = 17,
                                   .source = 3,
                                   .target = 1,
                                   .columns = 5,
                                   .sequence = 40,
                                   .rows = 3,
                                   .bytes = 60};

static MessageHeader sealed(const unsigned char *payload) {
    MessageHeader header = good;
    header.payload = message_payload_checksum(payload, (size_t)good.bytes, NULL);
    message_seal(&header);
    return header;
}

static bool checked(const MessageHeader *found, const MessageHeader *expected,
                    const unsigned char *payload, Error *err) {
    uint64_t checksum = message_payload_checksum(payload, (size_t)expected->bytes, NULL);
    return message_check(found, expected, &checksum, err);
}

static void fill(unsigned char *payload, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        payload[i] = (unsigned char)(i * 37 + i / 251);
}

TEST(good_message_passes) {
    unsigned char payload[60];
    fill(payload, sizeof payload);
    MessageHeader header = sealed(payload);
    assert_ok(checked(&header, &good, payload, &err));
    const unsigned char *bytes = (const unsigned char *)&header;
    assert_memory_equal(bytes, "FRNG\1\0\2\1\21\0\0\0\3\0\0\0\1\0\0\0\5\0\0\0", 24); // wire.h
}

TEST(every_flipped_bit_is_seen) {
    unsigned char payload[60];
    fill(payload, sizeof payload);
    MessageHeader header = sealed(payload);
    for (size_t bit = 0; bit < 8 * sizeof header; bit++) {
        ((unsigned char *)&header)[bit / 8] ^= (unsigned char)(1U << bit % 8);
        assert_refused(checked(&header, &good, payload, &err), EXIT_INTEGRITY,
                       "layer 2, backward, epoch 17 from rank 3 to rank 1");
        ((unsigned char *)&header)[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof payload; bit++) {
        payload[bit / 8] ^= (unsigned char)(1U << bit % 8);
        assert_refused(checked(&header, &good, payload, &err), EXIT_INTEGRITY,
                       "wrong payload checksum");
        payload[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
}

// A whole, well sealed message of another place or time is refused, too.
TEST(misplaced_message_is_refused) {
    unsigned char payload[60];
    fill(payload, sizeof payload);
    MessageHeader header = sealed(payload);
    const struct {
        const char *name;
        MessageHeader expected;
    } cases[] = {
        {"wrong layer", {.layer = 1}},
        {"wrong direction", {.layer = 2}},
        {"wrong source", {.layer = 2, .direction = 1, .source = 2}},
        {"wrong target", {.layer = 2, .direction = 1, .source = 3, .target = 2}},
        {"wrong epoch", {.layer = 2, .direction = 1, .source = 3, .target = 1, .epoch = 16}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        MessageHeader expected = cases[i].expected;
        expected.bytes = good.bytes;
        assert_refused(checked(&header, &expected, payload, &err), EXIT_INTEGRITY, cases[i].name);
    }
}

// One that may be left out has all of its bytes or none; one that varies at most all.
TEST(lengths_that_vary_are_bounded) {
    static const struct {
        uint64_t bytes;
        bool whole, varying;
    } cases[] = {
        {0, true, true}, {1, false, true}, {59, false, true}, {60, true, true}, {61, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Error said = {0};
        MessageHeader header = good;
        header.bytes = cases[i].bytes;
        message_seal(&header);
        assert_int_equal(message_check_varying(&header, &good, true, &said), cases[i].whole);
        assert_int_equal(message_check_varying(&header, &good, false, &said), cases[i].varying);
        header.epoch--;
        message_seal(&header);
        assert_refused(message_check_varying(&header, &good, true, &err), EXIT_INTEGRITY,
                       cases[i].whole ? "wrong epoch" : "wrong");
    }
}

// Blocks are told apart by place: two that change seats change the sum.
TEST(long_payloads_count_every_block) {
    enum { BLOCK = 1 << 18, BYTES = 9 * BLOCK + 7 };
    unsigned char *payload = test_memory(BYTES);
    fill(payload, BYTES);
    uint64_t sum = message_payload_checksum(payload, BYTES, NULL);
    assert_true(sum == message_payload_checksum(payload, BYTES, NULL));
    for (size_t at = 5; at < BYTES; at += BLOCK / 2) {
        payload[at] ^= 4;
        assert_true(sum != message_payload_checksum(payload, BYTES, NULL));
        payload[at] ^= 4;
    }
    memset(payload, 1, BLOCK);
    memset(payload + BLOCK, 2, BLOCK);
    sum = message_payload_checksum(payload, BYTES, NULL);
    memset(payload, 2, BLOCK);
    memset(payload + BLOCK, 1, BLOCK);
    assert_true(sum != message_payload_checksum(payload, BYTES, NULL));
}
