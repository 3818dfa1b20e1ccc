// What the config says of a sum.

#include "internal.h"

// Rules choose 2 to GRADIENT_BITS_MOST bits, of codecs that have them.
static bool configure_bits(GradForm *form, const Config *config, Error *err) {
    const BitsRule *rule = family_find(&bits_rule_family, config->gradients.bits_rule, NULL, err);
    int64_t bits = config->gradients.bits;
    if (rule == NULL || rule->levels == NULL || form->options.codec == NULL)
        return rule != NULL;
    if (form->options.codec->set_bits == NULL)
        return error_config(
            err,
            "gradients.bits_rule: %s chooses bits, and values of gradients.codec=%s have none to "
            "choose; set gradients.bits_rule=fixed, or another gradients.codec",
            rule->name, config->gradients.codec);
    if (bits < 2 || bits > GRADIENT_BITS_MOST)
        return error_config(
            err,
            "gradients.bits_rule: %s chooses from 2 to %d bits, but gradients.codec=%s has %ld; "
            "set gradients.bits, or gradients.bits_rule=fixed",
            rule->name, GRADIENT_BITS_MOST, config->gradients.codec, bits);
    form->bits.rule = rule;
    form->bits.first = bits;
    form->bits.period = config->gradients.bits_period;
    form->bits.epochs = config->train.epochs;
    return true;
}

bool gradsync_configure(GradForm *form, const Config *config, Error *err) {
    const Compressor *used = family_find(&compressor_family, config->gradients.codec, NULL, err);
    form->full_sums = strcmp(config->gradients.down, "fp32") == 0;
    form->bucket = config->gradients.bucket;
    form->random = config_random(config);
    if (used != NULL && form->bucket % 16 != 0) // rows begin at whole cache lines
        return error_config(err, "gradients.bucket: expected a multiple of 16, found %ld",
                            form->bucket);
    return used != NULL && (used->configure == NULL || used->configure(form, config, err)) &&
           configure_bits(form, config, err);
}
