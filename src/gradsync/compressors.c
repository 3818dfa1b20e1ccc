// The members of gradients.codec, in a file of their own: a program that defines another
// compressor_family is linked with that one instead.

#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- memories

// noise: the most that the codec adds to the square of a row, times that square. 1 / (1 + noise) is
// as far as a memory may follow (ALGORITHMS D.3).
static bool remember(const Config *config, double noise, CodecOptions *options, Error *err) {
    double alpha = config->gradients.alpha;
    options->residual[1].of = family_find(&residual_family, config->gradients.memory, NULL, err);
    if (options->residual[1].of == NULL)
        return false;
    if (strcmp(config->gradients.memory, "feedback") == 0 && noise >= 1)
        return error_set(err, EXIT_CONFIG,
                         "gradients.memory: feedback diverges with random rounding in %lld bits, "
                         "which may add %.3g times the gradient; take more gradients.bits, or "
                         "gradients.memory=difference",
                         (long long)config->gradients.bits, noise);
    residual_set(&options->residual[1].values,
                 (ResidualOptions){alpha > 0 ? alpha : 1 / (1 + noise), config->gradients.refresh});
    return true;
}

// ---- codecs

static bool check_bits(const Config *config, Error *err) {
    int bits = (int)config->gradients.bits;
    return width_known(bits) ||
           error_set(err, EXIT_CONFIG, "gradients.bits: expected 1 to 8, or 16, found %d", bits);
}

static double noise_of(int64_t bits) {
    double steps = ldexp(1, (int)bits) - 1;
    return (GRADIENT_BUCKET - 2) / (2 * steps * steps);
}

static bool minmax(const Config *config, CodecOptions *options, Error *err) {
    Config halo = *config;
    snprintf(halo.quantization.scale_dtype, CONFIG_WORD, "%s", config->gradients.scale_dtype);
    options->codec = codec_find("integer", err);
    options->width = (int)config->gradients.bits;
    return check_bits(config, err) &&
           codec_configure(options->codec, &halo, &options->values, err) &&
           remember(config, noise_of(config->gradients.bits), options, err);
}

static const Compressor compressors[] = {{"none", NULL}, {"minmax", minmax}};
const Family compressor_family = FAMILY("gradients.codec", NULL, compressors);
