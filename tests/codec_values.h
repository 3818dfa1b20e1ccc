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
