// See differences.h.

#include "differences.h"

#include <assert.h>
#include <string.h>

void number_put(unsigned char *out, uint32_t number, int bytes) {
    for (int b = 0; b < bytes; b++)
        out[b] = (unsigned char)(number >> 8 * b);
}

uint32_t number_get(const unsigned char *in, int bytes) {
    uint32_t number = 0;
    for (int b = 0; b < bytes; b++)
        number |= (uint32_t)in[b] << 8 * b;
    return number;
}

static int bytes_of(uint32_t number) {
    return number < 1U << 8 ? 1 : number < 1U << 16 ? 2 : number < 1U << 24 ? 3 : 4;
}

// An additional byte of a difference stands for 256 numbers at least that are not in the list.
size_t differences_most(int64_t n, int64_t numbers, int64_t lists) {
    int64_t more = lists * (n / 256) < 3 * numbers ? lists * (n / 256) : 3 * numbers;
    return (size_t)(numbers + (numbers + 3 * lists) / 4 + more);
}

DifferenceWriter differences_write(unsigned char *out, int64_t count) {
    size_t sizes = (size_t)(count + 3) / 4;
    memset(out, 0, sizes);
    return (DifferenceWriter){.size = out, .at = out + sizes, .before = -1};
}

void differences_put(DifferenceWriter *w, int64_t number) {
    assert(number > w->before && number <= INT32_MAX);
    uint32_t difference = (uint32_t)(number - w->before - 1);
    int bytes = bytes_of(difference);
    w->size[w->count / 4] |= (unsigned char)((bytes - 1) << w->count % 4 * 2);
    number_put(w->at, difference, bytes);
    w->at += bytes;
    w->before = number;
    w->count++;
}

bool differences_read(DifferenceReader *r, const unsigned char *in, const unsigned char *end,
                      int64_t count) {
    if ((count + 3) / 4 > end - in)
        return false;
    *r = (DifferenceReader){
        .size = in, .at = in + (count + 3) / 4, .end = end, .before = -1, .count = count};
    return count % 4 == 0 || in[count / 4] >> count % 4 * 2 == 0;
}

bool differences_get(DifferenceReader *r, int64_t n, int64_t *number) {
    assert(r->read < r->count);
    int bytes = 1 + (r->size[r->read / 4] >> r->read % 4 * 2 & 3);
    if (bytes > r->end - r->at || bytes_of(number_get(r->at, bytes)) != bytes)
        return false;
    *number = r->before + 1 + (int64_t)number_get(r->at, bytes);
    r->at += bytes;
    r->before = *number;
    r->read++;
    return *number < n;
}
