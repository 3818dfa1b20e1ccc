// If this failed, a message that was damaged on its way between two devices would be taken for a
// good one.
#include "../../kernels/checksum.h"
#include "cpu.h"
#include "support.h"

enum { BYTES = 203 };

static uint64_t checksum(const unsigned char *payload, size_t bytes) {
    int64_t sum = 0;
    backend_cpu.message_checksum((DeviceInt64 *)&sum, (const DeviceByte *)payload, bytes, NULL);
    return (uint64_t)sum;
}

// Its first word is the one that its place mixes to zero.
static void fill(unsigned char payload[BYTES]) {
    const uint64_t first = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < BYTES; i++)
        payload[i] = (unsigned char)(i * i % 251);
    memcpy(payload, &first, sizeof first);
}

TEST(every_bit_counts) {
    _Alignas(8) unsigned char payload[BYTES];
    fill(payload);
    const uint64_t good = checksum(payload, BYTES);
    for (int bit = 0; bit < 8 * BYTES; bit++) {
        payload[bit / 8] ^= (unsigned char)(1U << bit % 8);
        assert_true(checksum(payload, BYTES) != good);
        payload[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    assert_true(checksum(payload, BYTES) == good);
}

TEST(places_count) {
    _Alignas(8) unsigned char payload[BYTES], moved[BYTES];
    fill(payload);
    const uint64_t good = checksum(payload, BYTES);
    for (int a = 0; a + CHECKSUM_WORD <= BYTES; a += CHECKSUM_WORD)
        for (int b = 0; b < a; b += CHECKSUM_WORD) {
            memcpy(moved, payload, BYTES);
            memcpy(moved + a, payload + b, CHECKSUM_WORD);
            memcpy(moved + b, payload + a, CHECKSUM_WORD);
            assert_true(checksum(moved, BYTES) != good);
        }
}

TEST(what_follows_the_end_does_not_count) {
    _Alignas(8) unsigned char payload[BYTES];
    fill(payload);
    for (size_t bytes = 0; bytes + 1 < BYTES; bytes++) {
        const uint64_t good = checksum(payload, bytes);
        payload[bytes] ^= 255;
        assert_true(checksum(payload, bytes) == good);
        payload[bytes] ^= 255;
    }
}
