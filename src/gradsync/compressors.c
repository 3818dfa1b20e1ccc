// The table of compressors, in a file of its own: a program that defines another compressor_family
// is linked with that one instead.

#include "internal.h"

static const Compressor compressors[] = {{.name = "fp32"}};
const Family compressor_family = FAMILY("compressor", NULL, compressors);

bool compressor_options(const Config *config, CodecOptions *options, Error *err) {
    const Compressor *used = family_member(&compressor_family, 0);
    *options = (CodecOptions){0};
    return used->configure == NULL || used->configure(config, options, err);
}
