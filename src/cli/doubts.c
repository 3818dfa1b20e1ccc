// What a config may say, but hardly means: warnings.

#include "internal.h"

#include "fringe/gradsync.h"

static void warn_of_late_trace(const Config *config) {
    const ConfigInts *trace = &config->run.trace;
    int64_t last = config->train.epochs;
    if (trace->count == 2 && trace->value[1] > last)
        terminal_warn("run.trace: epochs %ld to %ld are not traced, because train.epochs is %ld",
                      trace->value[0] > last ? trace->value[0] : last + 1, trace->value[1], last);
}

// Random rounding may add more than there is, and nothing makes up for it. Not of a method that is
// so by its name.
static void warn_of_noise(const Config *config) {
    static const char *const keys[] = {"gradients.codec", "gradients.bits", "gradients.memory",
                                       "gradients.down"};
    GradForm form = {0};
    bool said = false;
    for (int i = 0; i < 4; i++)
        said |= config_is_said(config, keys[i]);
    if (said && strcmp(config->gradients.memory, "none") == 0 &&
        gradsync_configure(&form, config, &(Error){0}) && !form.full_sums &&
        compressor_noise(&form) > 1)
        terminal_warn(
            "gradients: rounding may add %.3g times the sum of the gradients to it; "
            "gradients.memory=difference, gradients.down=fp32 or more gradients.bits makes it "
            "less",
            compressor_noise(&form));
}

void warn_of_doubts(const Config *config) {
    warn_of_late_trace(config);
    warn_of_noise(config);
}

// With the format that data.format=auto finds.
static Config with_format(const Config *config) {
    Config found = *config;
    const char *name = dataset_format_name(config);
    if (name != NULL)
        snprintf(found.data.format, sizeof found.data.format, "%s", name);
    return found;
}

void add_idle_keys(IdleKeys *keys, const Config *config) {
    Config found = with_format(config);
    idle_keys_add(keys, &found);
}

static void say_idle_key(const char *sentence) { terminal_warn("%s", SHOWN(sentence)); }

void warn_of_idle_keys(const IdleKeys *keys, const Config *config) {
    Config found = with_format(config);
    idle_keys_report(keys, &found, say_idle_key);
}
