// Text of numpy, letters of 4 bytes (U) or of one (S) filled up with zeros, as UTF-8.

#include "internal.h"

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
            bytes += utf8_put(out + bytes, letter_at(npy, at + i) & 0x1FFFFF);
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
