// The members of gradients.codec, in a file of their own: a program that defines another
// compressor_family is linked with that one instead. They are rules of the codec grid, values
// with keys, quantiles, and sums of low rank.

#include "internal.h"

typedef struct Rule {
    const char *name, *bits;
    GridRule rule;
} Rule;
static const Rule rules[] = {{"minmax", "1 to 8, or 16", GRID_MINMAX},
                             {"max", "2 to 8", GRID_MAX},
                             {"l2", "2 to 8", GRID_L2},
                             {"mean", "1", GRID_MEAN},
                             {"log", "3 to 8", GRID_LOG}};

static const Rule *rule_of(const Config *config) {
    int i = 0;
    while (strcmp(rules[i].name, config->gradients.codec) != 0)
        i++;
    return &rules[i];
}

static GridOptions grid_of(const Config *config) {
    return (GridOptions){.rule = rule_of(config)->rule,
                         .bits = (int)config->gradients.bits,
                         .nearest = strcmp(config->gradients.rounding, "nearest") == 0,
                         .bf16 = strcmp(config->gradients.scale_dtype, "bf16") == 0};
}

static bool is_entropy(const Config *config) {
    return strcmp(config->gradients.wire, "entropy") == 0;
}

// ---- noise

// A scale that is rounded up to bf16 makes it a little more.
static double noise_of(GridOptions grid, int64_t bucket) {
    return grid_omega(grid, bucket) * (grid.bf16 ? 1.017 : 1);
}

static bool is_random(GridOptions grid) { return !grid.nearest && grid.rule != GRID_MEAN; }

double compressor_noise(const GradForm *form) {
    const Codec *codec = form->options.codec;
    GridOptions grid = grid_get(&form->options.values);
    bool known = codec == &codec_grid || codec == &codec_grid_entropy;
    return known && is_random(grid) ? noise_of(grid, form->bucket) : 0;
}

// ---- memories

// What random rounding may add to what a codec codes, relative to it.
typedef struct Noise {
    double most; // infinite: nobody knows
    bool random;
} Noise;

static bool check_feedback(Noise noise, Error *err) {
    return !noise.random || noise.most < 1 ||
           error_config(err,
                        "gradients.memory: feedback diverges where random rounding may add more "
                        "(%.3g times the gradient) than there is; set gradients.rounding=nearest, "
                        "more gradients.bits, or gradients.memory=difference",
                        noise.most);
}

// 1 / (1 + noise) is as far as a memory may follow (ALGORITHMS D.3).
static bool choose_alpha(double *alpha, Noise noise, Error *err) {
    if (*alpha == 0 && isinf(noise.most))
        return error_config(err, "gradients.alpha: the noise of gradients.codec=mean has no bound "
                                 "to choose it by; set it above 0, at most to 1");
    *alpha = *alpha == 0 ? 1 / (1 + noise.most) : *alpha;
    return true;
}

static bool remember(CodecOptions *options, const Config *config, Noise noise, Error *err) {
    const char *memory = config->gradients.memory;
    ResidualOptions values = {config->gradients.alpha, config->gradients.refresh};
    options->residual[CODING_MEMORY].of = family_find(&residual_family, memory, NULL, err);
    if (err->code != 0 || (strcmp(memory, "feedback") == 0 && !check_feedback(noise, err)) ||
        (strcmp(memory, "difference") == 0 && !choose_alpha(&values.alpha, noise, err)))
        return false;
    residual_set(&options->residual[CODING_MEMORY].values, values);
    return true;
}

// ---- the largest values

static bool keep_top(CodecOptions *options, const Config *config, bool codes_zero, Error *err) {
    options->top = config->gradients.top;
    if (options->top == 1)
        return true;
    if (!codes_zero)
        return error_config(
            err,
            "gradients.top: gradients.codec=%s has no code of 0, which the smaller values become; "
            "set gradients.top=1, or gradients.codec to max, l2, log, keys or sketch",
            config->gradients.codec);
    return strcmp(config->gradients.memory, "none") != 0 ||
           error_config(err, "gradients.top: what is left out would be lost for good; set "
                             "gradients.memory=feedback, or gradients.top=1");
}

// ---- the table

static bool check_entropy(GridOptions grid, Error *err) {
    return grid.bits <= 8 ||
           error_config(err, "gradients.wire: entropy codes values of at most 8 bits; set "
                             "gradients.bits to 8 or gradients.wire=packed");
}

static bool check_bits(const Rule *rule, GridOptions grid, Error *err) {
    return grid_bits_known(grid) ||
           error_config(err, "gradients.bits: expected %s with gradients.codec=%s, found %d",
                        rule->bits, rule->name, grid.bits);
}

// Powers of two are no closer to each other for more bits.
static bool check_rule(const Config *config, GridOptions grid, Error *err) {
    return grid.rule != GRID_LOG || strcmp(config->gradients.bits_rule, "fixed") == 0 ||
           error_config(err,
                        "gradients.bits_rule: %s chooses bits to be more precise, and more bits of "
                        "gradients.codec=log reach smaller values alone; set "
                        "gradients.bits_rule=fixed, or gradients.codec=max",
                        config->gradients.bits_rule);
}

static bool by_grid(GradForm *form, const Config *config, Error *err) {
    CodecOptions *options = &form->options;
    GridOptions grid = grid_of(config);
    bool codes_zero = grid.rule != GRID_MINMAX && grid.rule != GRID_MEAN;
    if (!check_bits(rule_of(config), grid, err) || !check_rule(config, grid, err) ||
        (is_entropy(config) && !check_entropy(grid, err)))
        return false;
    options->codec = is_entropy(config) ? &codec_grid_entropy : &codec_grid;
    grid_set(&options->values, grid);
    if (strcmp(config->gradients.bits_rule, "fixed") != 0)
        grid.bits = 2; // the fewest that a rule may choose
    return keep_top(options, config, codes_zero, err) &&
           remember(options, config, (Noise){noise_of(grid, form->bucket), is_random(grid)}, err);
}

// Values as they are.
static bool by_keys(GradForm *form, const Config *config, Error *err) {
    form->options.codec = &codec_key_values;
    keys_set(&form->options.values, config->gradients.top);
    return keep_top(&form->options, config, true, err) &&
           remember(&form->options, config, (Noise){0}, err);
}

static SketchOptions sketch_of(const Config *config) {
    return (SketchOptions){.buckets = (int)config->gradients.sketch_buckets,
                           .groups = (int)config->gradients.sketch_groups,
                           .tables = (int)config->gradients.sketch_tables,
                           .bins = config->gradients.sketch_bins,
                           .recalibrate = config->gradients.recalibrate,
                           .entropy = is_entropy(config),
                           .part = config->gradients.top};
}

// A sketch shrinks what it codes, so that feedback holds what is lost; how much nobody knows.
static bool check_sketch(const Config *config, Error *err) {
    const char *memory = config->gradients.memory;
    return strcmp(memory, "none") == 0 || strcmp(memory, "feedback") == 0 ||
           error_config(err,
                        "gradients.memory: expected none or feedback with gradients.codec=sketch, "
                        "whose noise has no bound, found %s",
                        memory);
}

static bool by_sketch(GradForm *form, const Config *config, Error *err) {
    form->options.codec = &codec_sketch;
    sketch_set(&form->options.values, sketch_of(config));
    return check_sketch(config, err) && keep_top(&form->options, config, true, err) &&
           remember(&form->options, config, (Noise){0}, err);
}

// What the sum leaves out can be given to the next gradient, but to no sum that is coded.
static bool by_rank(GradForm *form, const Config *config, Error *err) {
    const char *memory = config->gradients.memory;
    form->rank = (int)config->gradients.rank;
    form->remembers = strcmp(memory, "feedback") == 0;
    return form->remembers || strcmp(memory, "none") == 0 ||
           error_config(
               err,
               "gradients.memory: expected feedback or none with gradients.codec=lowrank, found %s",
               memory);
}

static const Compressor compressors[] = {
    {"none", NULL},    {"minmax", by_grid},   {"max", by_grid},
    {"l2", by_grid},   {"mean", by_grid},     {"log", by_grid},
    {"keys", by_keys}, {"sketch", by_sketch}, {"lowrank", by_rank}};
const Family compressor_family = FAMILY("gradients.codec", NULL, compressors);
