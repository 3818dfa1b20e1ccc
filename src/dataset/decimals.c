// Numbers as decimal text, as short as reading them back allows.

#include "writers.h"

char *put_int(char *out, int64_t value) {
    char digits[DECIMAL_INT];
    int count = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0)
        *out++ = '-';
    do
        digits[count++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    while (count > 0)
        *out++ = digits[--count];
    return out;
}

// Most numbers in files have six digits or fewer; nine are enough for every float.
static int print_shortest(char out[32], float value) {
    for (int digits = 6; digits < 9; digits++) {
        int length = snprintf(out, 32, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value)
            return length;
    }
    return snprintf(out, 32, "%.9g", (double)value);
}

char *put_weight(char *out, float value) {
    enum { EXACT = 1 << 24 }; // whole numbers below it are floats
    char text[32];
    if (value >= 0 && value < EXACT && value == (float)(int32_t)value)
        return put_int(out, (int32_t)value);
    int length = print_shortest(text, value);
    memcpy(out, text, (size_t)length);
    return out + length;
}

char *put_float(char *out, float value) {
    char text[32];
    int length = print_shortest(text, value);
    memcpy(out, text, (size_t)length);
    out += length;
    if (strcspn(text, ".e") == (size_t)length) {
        memcpy(out, ".0", 2);
        out += 2;
    }
    return out;
}
