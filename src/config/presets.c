// Presets: a word of one key that stands for settings of others. Each has a row here; an explicit
// key in the file or --set overrides it. Modes say how messages are sent and which savings apply.

#include "internal.h"

#define SAVES_LITTLE                                                                               \
    "lossless.order=aggregate-first", "lossless.receptive_field=all", "lossless.cover=replicas"
#define SAVES_NOTHING "lossless.input_features=exchange", SAVES_LITTLE

// Of 4 bits between the least and the greatest weight gradient of a bucket no training was seen to
// lose (bench/run.sh gradient_accuracy), while 4 bits of the greatest magnitude cost a point with
// plain descent.
#define FEW_BITS_OF_GRADIENTS "gradients.method=minmax:4"

// At equal bytes the gradient has less noise with all widths from 1 to 8 than with 2, 4, 8; with
// this lambda there are fewer bytes and less noise than with 2, 4, 8 and the published lambda
// (bench/results/tables/noise.json).
#define ASSIGNS_ALL_WIDTHS "quantization.bits=[1, 2, 3, 4, 5, 6, 7, 8]", "quantization.lambda=0.9"

static const Preset modes[] = {
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
     "quantized rows with assigned bit widths; computes while messages are in flight; weight "
     "gradients in 4 bits",
     {"quantization.codec=integer", "comm.schedule=overlap", ASSIGNS_ALL_WIDTHS,
      FEW_BITS_OF_GRADIENTS}},
    {"auto",
     "adaqp with fp32 rows in the exchanges in which the first epochs measure it to be no slower",
     {"quantization.codec=integer", "comm.schedule=overlap", "quantization.exchanges=measured",
      ASSIGNS_ALL_WIDTHS, FEW_BITS_OF_GRADIENTS}},
    {"sancus",
     "after SANCUS: fp32 rows, none of fringe's own savings; a message whose rows hardly moved is "
     "left out (comm.skip). The paper's measure of staleness is not public: a reconstruction",
     {"comm.schedule=skip", "quantization.before=conv", "lossless.input_features=exchange",
      "lossless.order=aggregate-first", "lossless.receptive_field=all", "lossless.cover=sources"}},
    {"adaqp-published",
     "as AdaQP's paper has it: 2, 4 or 8 bits, and none of fringe's own savings",
     {"quantization.codec=integer", "comm.schedule=overlap", SAVES_NOTHING}},
    {"pipegcn",
     "fp32 rows of the epoch before: a whole epoch hides messages (of a layer that multiplies by "
     "its weights first these are the rows after that, with the weights of the epoch before)",
     {"comm.schedule=stale"}},
    {"pipegcn-published",
     "as PipeGCN's paper has it: zeros in the first epoch, smoothed features and gradients, and of "
     "fringe's own savings only the first aggregate, which is made once",
     {"comm.schedule=stale", "comm.first=zero", "comm.smooth=both", SAVES_LITTLE}},
    {"pipeadaqp",
     "pipegcn with quantized rows as adaqp has them",
     {"quantization.codec=integer", "comm.schedule=stale", ASSIGNS_ALL_WIDTHS}},
    {"bns",
     "as BNS-GCN's paper has it: a tenth of the rows travels and counts tenfold, fp32, blocking, "
     "none of fringe's own savings",
     {"comm.sample=0.1", "comm.schedule=blocking", SAVES_NOTHING}},
};
const Family mode_family = FAMILY("mode", NULL, modes);

static const Preset gradient_methods[] = {
    {"fp32", "as floats", {NULL}},
    {"qsgd",
     "QSGD: steps of the 2-norm, without a memory",
     {"gradients.codec=l2", "gradients.bits=4", "gradients.wire=entropy"}},
    {"terngrad",
     "after TernGrad: 0 or the greatest magnitude with its sign; without clipping, which is "
     "biased, and with scales of each rank's rows; with SGD and dropout it loses 45 points on cora",
     {"gradients.codec=max", "gradients.bits=2", "gradients.wire=entropy"}},
    {"minmax:B",
     "B bits between the least and the greatest of each bucket, without a memory",
     {"gradients.codec=minmax", "gradients.bits=B"}},
    {"dq-sgd",
     "DQ-SGD: steps of the greatest magnitude, in bits that are chosen as it learns",
     {"gradients.codec=max", "gradients.bits=6", "gradients.bits_rule=dq"}},
    {"diana",
     "DIANA: differences from a memory that follows the gradient; sums in fp32; with SGD and "
     "dropout it loses 7 to 13 points on cora",
     {"gradients.codec=max", "gradients.bits=2", "gradients.memory=difference",
      "gradients.down=fp32"}},
    {"diana-both",
     "DIANA with a second memory, of the sum; with SGD and dropout it loses 48 points on cora",
     {"gradients.codec=max", "gradients.bits=2", "gradients.memory=difference"}},
    {"signsgd",
     "signs with the mean magnitude; what they lose is added to the next gradient; with SGD and "
     "dropout it loses 61 points on cora",
     {"gradients.codec=mean", "gradients.bits=1", "gradients.memory=feedback"}},
    {"ef21",
     "EF21: differences from what was sent last, rounded to the nearest value",
     {"gradients.codec=minmax", "gradients.bits=4", "gradients.rounding=nearest",
      "gradients.memory=difference", "gradients.alpha=1"}},
    {"zipml",
     "ZipML: steps between the least and the greatest value, without a memory",
     {"gradients.codec=minmax", "gradients.bits=8"}},
    {"sketchml",
     "SketchML: quantiles, and their numbers in MinMaxSketches where few values are not 0; what "
     "they lose is added to the next gradient; with SGD and dropout it loses 64 points on cora",
     {"gradients.codec=sketch", "gradients.memory=feedback"}},
    {"clpt",
     "after C-LPT: powers of two, of differences from the last gradient that was sent in fp32; "
     "with SGD and dropout it loses 10 points on cora",
     {"gradients.codec=log", "gradients.bits=5", "gradients.memory=anchor",
      "gradients.wire=entropy"}},
    {"topk:F",
     "the largest values, the part F of them, with their places; the others are added to the next "
     "gradient",
     {"gradients.codec=keys", "gradients.top=F", "gradients.memory=feedback"}},
    {"powersgd:R",
     "PowerSGD: two factors of R columns in the place of a matrix; what they leave out is added to "
     "the next gradient",
     {"gradients.codec=lowrank", "gradients.rank=R", "gradients.memory=feedback"}},
};
const Family gradient_method_family = FAMILY("gradients.method", NULL, gradient_methods);

const Family *const preset_families[PRESET_FAMILIES] = {&mode_family, &gradient_method_family};

// The value in a setting of that key, or NULL.
static const char *value_in(const char *setting, const char *key) {
    size_t bytes = strlen(key);
    return setting != NULL && strncmp(setting, key, bytes) == 0 && setting[bytes] == '='
               ? setting + bytes + 1
               : NULL;
}

// The argument where the value is its name.
static const char *filled_in(const Preset *preset, const char *argument, const char *value) {
    const char *name = family_argument(preset->name);
    return name != NULL && strcmp(value, name) == 0 ? argument : value;
}

const char *preset_value(const Preset *preset, const char *argument, const char *key) {
    const char *value = NULL;
    for (int i = 0; i < PRESET_SETTINGS && value == NULL; i++)
        value = value_in(preset->setting[i], key);
    return value != NULL ? filled_in(preset, argument, value) : NULL;
}

bool preset_setting(char out[2 * CONFIG_WORD], const Preset *preset, const char *argument, int i) {
    const char *setting = i < PRESET_SETTINGS ? preset->setting[i] : NULL;
    if (setting == NULL)
        return false;
    int key = (int)strcspn(setting, "=") + 1;
    snprintf(out, 2 * CONFIG_WORD, "%.*s%s", key, setting,
             filled_in(preset, argument, setting + key));
    return true;
}

static bool sets(const Family *presets, const char *key) {
    for (int i = 0; i < presets->count; i++)
        if (preset_value(family_member(presets, i), "", key) != NULL)
            return true;
    return false;
}

const Family *presets_of(const char *key) {
    for (int i = 0; i < PRESET_FAMILIES; i++)
        if (sets(preset_families[i], key))
            return preset_families[i];
    return NULL;
}

const char *preset_word(const Config *config, const Family *presets) {
    return (const char *)config + config_key_find(presets->key)->offset;
}

const char *config_preset_of(const char *key) {
    const Family *presets = presets_of(key);
    return presets != NULL ? presets->key : NULL;
}

bool config_preset_implies(const char *word, const char *key, const char *value) {
    const Family *presets = presets_of(key);
    const char *argument;
    const Preset *preset =
        presets != NULL ? family_find(presets, word, &argument, &(Error){0}) : NULL;
    const Key *row = preset != NULL ? config_key_find(key) : NULL;
    if (row == NULL)
        return false;
    const char *implied = preset_value(preset, argument, key);
    implied = implied != NULL ? implied : row->standard;
    size_t bytes = strlen(value), quoted = implied[0] == '"';
    return strncmp(implied + quoted, value, bytes) == 0 && strlen(implied) == bytes + 2 * quoted;
}
