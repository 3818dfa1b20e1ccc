// The integer codec's own options, as a config gives them.
#pragma once

#include "fringe/codec.h"

static inline MemberValues integer_values(bool bf16) {
    Config config = {0};
    MemberValues values;
    Error err = {0};
    snprintf(config.quantization.scale_dtype, CONFIG_WORD, "%s", bf16 ? "bf16" : "fp32");
    const Codec *codec = codec_find("integer", &err);
    CHECK(codec_configure(codec, &config, &values, &err), EXIT_CONFIG, "%s", err.text);
    return values;
}

// Of the integers of a row: a width is one plane, or planes of 1, 2 and 4 bits (codec.h).
static inline int64_t true_bytes(int64_t columns, int bits) {
    int64_t bytes = 0;
    for (int plane = 1; plane <= 16; plane *= 2)
        bytes += bits & plane ? (columns * plane + 7) / 8 : 0;
    return bytes;
}
