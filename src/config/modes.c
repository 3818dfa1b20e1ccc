// Modes: named presets of how messages are sent and which savings apply. A preset is a list of
// settings, so a new mode is one row here. An explicit key in the file or --set overrides it.

#include "internal.h"

#include <string.h>

#define SAVES_NOTHING                                                                              \
    "lossless.input_features=exchange", "lossless.order=aggregate-first",                          \
        "lossless.receptive_field=all", "lossless.cover=replicas"

// At equal bytes the gradient has less noise with all widths from 1 to 8 than with 2, 4, 8; with
// this lambda there are fewer bytes and less noise than with 2, 4, 8 and the published lambda
// (bench/run.sh noise, docs/results.md).
#define ASSIGNS_ALL_WIDTHS "quantization.bits=[1, 2, 3, 4, 5, 6, 7, 8]", "quantization.lambda=0.9"

static const Mode modes[] = {
    {"vanilla",
     "as the papers define it: fp32 rows, blocking exchanges, none of fringe's own savings",
     {"comm.schedule=blocking", SAVES_NOTHING}},
    {"lossless",
     "vanilla without sending or computing what training does not need",
     {"comm.schedule=blocking"}},
    {"overlap",
     "fp32 rows; computes what needs no message while messages are in flight",
     {"comm.schedule=overlap"}},
    {"quantize",
     "quantized rows with assigned bit widths, blocking exchanges",
     {"quantization.codec=integer", "comm.schedule=blocking", ASSIGNS_ALL_WIDTHS}},
    {"adaqp",
     "quantized rows with assigned bit widths; computes while messages are in flight",
     {"quantization.codec=integer", "comm.schedule=overlap", ASSIGNS_ALL_WIDTHS}},
    {"auto",
     "adaqp with fp32 rows in the exchanges in which the first epochs measure it to be no slower",
     {"quantization.codec=integer", "comm.schedule=overlap", "quantization.exchanges=measured",
      ASSIGNS_ALL_WIDTHS}},
    {"adaqp-published",
     "as AdaQP's paper has it: 2, 4 or 8 bits, and none of fringe's own savings",
     {"quantization.codec=integer", "comm.schedule=overlap", SAVES_NOTHING}},
};
const Family mode_family = FAMILY("mode", NULL, modes);

// The value in a setting of that key, or NULL.
static const char *value_in(const char *setting, const char *key) {
    size_t bytes = strlen(key);
    return setting != NULL && strncmp(setting, key, bytes) == 0 && setting[bytes] == '='
               ? setting + bytes + 1
               : NULL;
}

const char *mode_value(const Mode *mode, const char *key) {
    const char *value = NULL;
    for (int i = 0; i < MODE_SETTINGS && value == NULL; i++)
        value = value_in(mode->setting[i], key);
    return value;
}

bool mode_sets(const char *key) {
    for (int i = 0; i < mode_family.count; i++)
        if (mode_value(&modes[i], key) != NULL)
            return true;
    return false;
}

bool config_mode_implies(const char *name, const char *key, const char *value) {
    const Mode *mode = family_find(&mode_family, name, NULL, &(Error){0});
    const Key *row = mode_sets(key) && mode != NULL ? config_key_find(key) : NULL;
    if (row == NULL)
        return false;
    const char *implied = mode_value(mode, key);
    implied = implied != NULL ? implied : row->standard;
    size_t bytes = strlen(value), quoted = implied[0] == '"';
    return strncmp(implied + quoted, value, bytes) == 0 && strlen(implied) == bytes + 2 * quoted;
}
