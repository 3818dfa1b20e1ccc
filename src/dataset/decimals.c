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
static char *put_shortest(char *out, float value) {
    char text[32];
    int length, digits = 6;
    do
        length = snprintf(text, sizeof text, "%.*g", digits, (double)value);
    while (digits++ < 9 && strtof(text, NULL) != value);
    return (char *)memcpy(out, text, (size_t)length) + length;
}

char *put_weight(char *out, float value) {
    enum { EXACT = 1 << 24 }; // whole numbers below it are floats
    bool whole = value >= 0 && value < EXACT && value == (float)(int32_t)value;
    return whole ? put_int(out, (int32_t)value) : put_shortest(out, value);
}

char *put_float(char *out, float value) {
    char *end = put_shortest(out, value);
    bool whole = memchr(out, '.', (size_t)(end - out)) == NULL &&
                 memchr(out, 'e', (size_t)(end - out)) == NULL;
    return whole ? (char *)memcpy(end, ".0", 2) + 2 : end;
}
