// The table of codecs.

#include "internal.h"

static const Codec *const codecs[] = {&codec_fp32, &codec_bf16, &codec_integer};
const Family codec_family = FAMILY_OF_POINTERS("quantization.codec", NULL, codecs);

const Codec *codec_find(const char *name, Error *err) {
    return family_find(&codec_family, name, NULL, err);
}
