// What is remembered of halo rows: what quantization.memory says.

#include "internal.h"

static bool may_have_one_bit(const Config *config) {
    const ConfigInts *bits = &config->quantization.bits;
    bool one = config->quantization.initial_bits == 1;
    for (int i = 0; i < bits->count && strcmp(config->quantization.assign, "uniform") != 0; i++)
        one = one || bits->value[i] == 1;
    return one && strcmp(config->quantization.codec, "integer") == 0;
}

static bool check_feedback(const Config *config, Error *err) {
    return !may_have_one_bit(config) ||
           error_config(err,
                        "quantization.memory: feedback diverges with rows of 1 bit, to which "
                        "rounding adds more than there is; take 1 out of quantization.bits and "
                        "quantization.initial_bits, or set quantization.memory=difference");
}

// Ranges and widths tell what pays.
static bool check_auto(const Config *config, Error *err) {
    return strcmp(config->quantization.codec, "integer") == 0 ||
           error_config(err,
                        "quantization.memory: auto compares what rounding adds, which it knows for "
                        "quantization.codec=integer; set that, or quantization.memory=difference");
}

// EF21 is `difference` with alpha 1; the codec rounds to the nearest then.
bool residual_configure(const Config *config, const Residual **of, MemberValues *values,
                        Error *err) {
    const char *memory = config->quantization.memory;
    bool ef21 = strcmp(memory, "ef21") == 0, chosen = strcmp(memory, "auto") == 0;
    residual_set(values, (ResidualOptions){ef21 ? 1 : config->quantization.alpha,
                                           config->quantization.refresh});
    *of = &residual_none;
    if (strcmp(config->quantization.codec, "fp32") == 0)
        return true;
    if ((chosen && !check_auto(config, err)) ||
        (strcmp(memory, "feedback") == 0 && !check_feedback(config, err)))
        return false;
    *of = family_find(&residual_family, ef21 || chosen ? "difference" : memory, NULL, err);
    return *of != NULL;
}
