// Compressors of weight gradients, in the place of those of the product: a program that includes
// this has them in its table. One source of a program only.
#ifndef FRINGE_TESTS_COMPRESSORS_H
#define FRINGE_TESTS_COMPRESSORS_H

#include "codec_values.h"
#include "difference.h"
#include "refreshed.h"
#include "sparse.h"

#include "fringe/gradsync.h"

// Exact.
static bool sparse_gradients(const Config *config, CodecOptions *options, Error *err) {
    (void)config, (void)err;
    *options = (CodecOptions){.codec = &sparse};
    return true;
}

// What travels is what has changed, exactly if the differences are.
static bool sparse_differences(const Config *config, CodecOptions *options, Error *err) {
    (void)config, (void)err;
    *options = (CodecOptions){.codec = &sparse, .residual = {{.of = &difference}}};
    return true;
}

// What rounding loses of a gradient travels with the next one.
static bool rounded_differences(const Config *config, CodecOptions *options, Error *err) {
    (void)config;
    *options = (CodecOptions){.codec = codec_find("bf16", err), .residual = {{.of = &difference}}};
    return options->codec != NULL;
}

// Rounded at random, in 4 bits.
static bool few_bits_of(const Residual *residual, CodecOptions *options, Error *err) {
    *options = (CodecOptions){.codec = codec_find("integer", err),
                              .values = integer_values(false),
                              .width = 4,
                              .residual = {{.of = residual}}};
    return options->codec != NULL;
}

static bool few_bits(const Config *config, CodecOptions *options, Error *err) {
    (void)config;
    return few_bits_of(&difference, options, err);
}

static bool few_bits_refreshed(const Config *config, CodecOptions *options, Error *err) {
    (void)config;
    return few_bits_of(&refreshed, options, err);
}

// The first member is the one in use: the one that a test names here.
static const char *compressor_in_use = "fp32";
static bool as_in_use(const Config *config, CodecOptions *options, Error *err);

static const Compressor compressors[] = {{"in use", as_in_use},
                                         {"sparse", sparse_gradients},
                                         {"changes", sparse_differences},
                                         {"rounded", rounded_differences},
                                         {"few-bits", few_bits},
                                         {"refreshed", few_bits_refreshed},
                                         {.name = "fp32"}};
const Family compressor_family = FAMILY("compressor", NULL, compressors);

static bool as_in_use(const Config *config, CodecOptions *options, Error *err) {
    const Compressor *used = family_find(&compressor_family, compressor_in_use, NULL, err);
    return used != NULL && (used->configure == NULL || used->configure(config, options, err));
}

static inline CodecOptions options_of(const char *compressor) {
    Error err = {0};
    CodecOptions options;
    compressor_in_use = compressor;
    CHECK(compressor_options(NULL, &options, &err), EXIT_CONFIG, "%s", err.text);
    return options;
}

#endif
