// The table of codecs, and their own options.

#include "internal.h"

static const Codec *const codecs[] = {&codec_fp32, &codec_bf16, &codec_integer};
const Family codec_family = FAMILY_OF_POINTERS("quantization.codec", NULL, codecs);

const Codec *codec_find(const char *name, Error *err) {
    return family_find(&codec_family, name, NULL, err);
}

FamilyKeys codec_keys(void) {
    static_assert(FAMILY_COUNT(codecs) <= FAMILY_KEYS, "room for the keys");
    FamilyKeys keys = {.family = &codec_family};
    for (int i = 0; i < codec_family.count; i++)
        keys.of[i] = &codecs[i]->keys;
    return keys;
}

bool codec_configure(const Codec *codec, const Config *config, MemberValues *values, Error *err) {
    memset(values, 0, sizeof *values);
    return codec->configure == NULL || codec->configure(config, values, err);
}
