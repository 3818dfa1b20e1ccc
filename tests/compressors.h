// Compressors of weight gradients, in the place of those of the product: a program that includes
// this has them in its table. One source of a program only.
#pragma once

#include "codec_values.h"
#include "refreshed.h"
#include "sparse.h"

#include "fringe/gradsync.h"

// Exact.
static bool sparse_gradients(GradForm *form, const Config *config, Error *err) {
    (void)config, (void)err;
    form->options = (CodecOptions){.codec = &sparse};
    return true;
}

// What travels is what has changed, exactly if the differences are.
static bool sparse_differences(GradForm *form, const Config *config, Error *err) {
    (void)config, (void)err;
    form->options = (CodecOptions){.codec = &sparse, .residual = {{.of = &difference}}};
    return true;
}

// What rounding loses of a gradient travels with the next one.
static bool rounded_differences(GradForm *form, const Config *config, Error *err) {
    (void)config;
    form->options =
        (CodecOptions){.codec = codec_find("bf16", err), .residual = {{.of = &difference}}};
    return form->options.codec != NULL;
}

// Rounded at random, in 4 bits.
static bool few_bits_of(const Residual *residual, GradForm *form, Error *err) {
    form->options = (CodecOptions){.codec = codec_find("integer", err),
                                   .values = integer_values(false),
                                   .width = 4,
                                   .residual = {{.of = residual}}};
    return form->options.codec != NULL;
}

static bool few_bits(GradForm *form, const Config *config, Error *err) {
    (void)config;
    return few_bits_of(&difference, form, err);
}

static bool few_bits_refreshed(GradForm *form, const Config *config, Error *err) {
    (void)config;
    return few_bits_of(&refreshed, form, err);
}

// The same on a grid around zero, coded by how frequent codes are.
static bool few_bits_by_entropy(GradForm *form, const Config *config, Error *err) {
    (void)config, (void)err;
    form->options = (CodecOptions){.codec = &codec_grid_entropy, .residual = {{.of = &difference}}};
    grid_set(&form->options.values, (GridOptions){.rule = GRID_MAX, .bits = 4, .bf16 = true});
    return true;
}

// gradients.codec names the one in use.
static const Compressor compressors[] = {{"none", NULL},
                                         {"sparse", sparse_gradients},
                                         {"changes", sparse_differences},
                                         {"rounded", rounded_differences},
                                         {"few-bits", few_bits},
                                         {"refreshed", few_bits_refreshed},
                                         {"entropy", few_bits_by_entropy}};
const Family compressor_family = FAMILY("gradients.codec", NULL, compressors);

static inline CodecOptions options_of(const char *compressor) {
    static Config config;
    Error err = {0};
    GradForm form = {0};
    snprintf(config.gradients.codec, CONFIG_WORD, "%s", compressor);
    snprintf(config.gradients.bits_rule, CONFIG_WORD, "fixed");
    CHECK(gradsync_configure(&form, &config, &err), EXIT_CONFIG, "%s", err.text);
    return form.options;
}
