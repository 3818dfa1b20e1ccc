// Text of numpy, letters of 4 bytes (U) or of one (S) filled up with zeros, as UTF-8.

#include "internal.h"

static size_t put_utf8(char *out, uint32_t point) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t bytes = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = bytes; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)(lead[bytes] | point);
    return bytes;
}

static uint32_t letter_at(const Npy *npy, const unsigned char *at) {
    if (!npy->wide)
        return *at;
    return npy->big_endian
               ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
               : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

// S holds bytes of any encoding, which stay; U is Unicode.
static size_t put_element(const Npy *npy, const unsigned char *at, char *out) {
    int step = npy->wide ? 4 : 1;
    size_t bytes = 0;
    for (int i = 0; i + step <= npy->item && letter_at(npy, at + i) != 0; i += step)
        if (npy->wide)
            bytes += put_utf8(out + bytes, letter_at(npy, at + i) & 0x1FFFFF);
        else
            out[bytes++] = (char)at[i];
    return bytes;
}

bool npy_to_text(const Npy *npy, char **text, int64_t **span, Error *err) {
    size_t used = 0;
    *text = TRY(char, npy->elements * npy->item + 1, "text of an array", err);
    *span = TRY(int64_t, npy->elements, "text of an array", err);
    for (int64_t e = 0; err->code == 0 && e < npy->elements; e++) {
        size_t bytes = put_element(npy, npy->data + e * npy->item, *text + used);
        (*span)[e] = span_of((int64_t)used, (int64_t)bytes);
        used += bytes;
    }
    return err->code == 0;
}
