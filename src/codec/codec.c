// The table of codecs, and their own options.

#include "internal.h"

static const Codec *const codecs[] = {&codec_fp32, &codec_bf16, &codec_integer};
const Family codec_family = FAMILY_WITH_KEYS("quantization.codec", codecs, Codec);

const Codec *codec_find(const char *name, Error *err) {
    return family_find(&codec_family, name, NULL, err);
}

bool codec_configure(const Codec *codec, const Config *config, MemberValues *values, Error *err) {
    memset(values, 0, sizeof *values);
    return codec->configure == NULL || codec->configure(config, values, err);
}
