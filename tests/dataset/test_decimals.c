// If this failed, features of a text file would differ from those that other programs read from it.
#include "dataset/internal.h"
#include "support.h"

#include <float.h>

static void assert_as_strtof(const char *text) {
    Scan scan = {text, text + strlen(text), 1, "text"};
    float found, wanted = strtof(text, NULL);
    assert_ok(scan_float(&scan, &found, "a number", &err));
    if (memcmp(&found, &wanted, sizeof found) != 0)
        fail_msg("'%s' is read as %a, not %a", text, (double)found, (double)wanted);
}

static uint64_t state = 88172645463325252u; // xorshift64

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

// Numbers of all magnitudes and lengths, and floats as other programs print them.
TEST(random_decimals_are_those_of_strtof) {
    char text[96];
    const char *count = getenv("FRINGE_DECIMALS");
    long numbers = count != NULL ? atol(count) : 100000;
    for (long i = 0; i < numbers; i++) {
        uint32_t bits = (uint32_t)next() & 0xff7fffff;
        float value;
        memcpy(&value, &bits, sizeof value);
        snprintf(text, sizeof text, "%.*g", (int)(next() % 20 + 1), (double)value);
        if (strtof(text, NULL) <= FLT_MAX && strtof(text, NULL) >= -FLT_MAX)
            assert_as_strtof(text);
        snprintf(text, sizeof text, "%lld.%0*llu", (long long)(next() % 2000) - 1000,
                 (int)(next() % 18 + 1), (unsigned long long)(next() >> (next() % 60)));
        assert_as_strtof(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(next() >> next() % 64),
                 (int)(next() % 56) - 45);
        if (strtof(text, NULL) <= FLT_MAX)
            assert_as_strtof(text);
    }
}

// Halfway between two floats, a little above and a little below: two roundings go astray there.
TEST(halfway_decimals_are_those_of_strtof) {
    char text[96];
    for (int i = 0; i < 20000; i++) {
        uint32_t bits = (uint32_t)(next() % 0x7f000000);
        float low, high;
        memcpy(&low, &bits, sizeof low);
        bits++;
        memcpy(&high, &bits, sizeof high);
        double middle = ((double)low + (double)high) / 2;
        for (int digits = 8; digits < 26; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, middle);
            assert_as_strtof(text);
        }
    }
    static const char *const hard[] = {"1.00000017881393432617187499",
                                       "1.00000017881393432617187500",
                                       "1.00000017881393432617187501",
                                       "7.00649232162408535461864791644958e-46",
                                       "1.4e-45",
                                       "1.17549428e-38",
                                       "3.4028235e38",
                                       "16777217",
                                       "16777219",
                                       "0.0000000000000000000000000000001",
                                       "-0.0",
                                       "0e99999",
                                       "+5"};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        assert_as_strtof(hard[i]);
}
