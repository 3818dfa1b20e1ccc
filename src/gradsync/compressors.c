// The members of gradients.codec, in a file of their own: a program that defines another
// compressor_family is linked with that one instead. They are rules of the codec grid, and sums of
// low rank.

#include "internal.h"

#include <string.h>

typedef struct Rule {
    const char *name, *bits;
    GridRule rule;
} Rule;
static const Rule rules[] = {{"minmax", "1 to 8, or 16", GRID_MINMAX},
                             {"max", "2 to 8", GRID_MAX},
                             {"l2", "2 to 8", GRID_L2},
                             {"mean", "1", GRID_MEAN}};

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
static double noise_of(GridOptions grid) {
    return grid_omega(grid, GRADIENT_BUCKET) * (grid.bf16 ? 1.017 : 1);
}

static bool is_random(GridOptions grid) { return !grid.nearest && grid.rule != GRID_MEAN; }

double compressor_noise(const CodecOptions *options) {
    GridOptions grid = grid_get(&options->values);
    bool known = options->codec == &codec_grid || options->codec == &codec_grid_entropy;
    return known && is_random(grid) ? noise_of(grid) : 0;
}

// ---- memories

static bool check_feedback(GridOptions grid, Error *err) {
    return !is_random(grid) || noise_of(grid) < 1 ||
           error_set(err, EXIT_CONFIG,
                     "gradients.memory: feedback diverges where random rounding may add more (%.3g "
                     "times the gradient) than there is; set gradients.rounding=nearest, more "
                     "gradients.bits, or gradients.memory=difference",
                     noise_of(grid));
}

// 1 / (1 + noise) is as far as a memory may follow (ALGORITHMS D.3).
static bool choose_alpha(double *alpha, GridOptions grid, Error *err) {
    if (*alpha == 0 && grid.rule == GRID_MEAN)
        return error_set(err, EXIT_CONFIG,
                         "gradients.alpha: the noise of gradients.codec=mean has no bound to "
                         "choose it by; set it above 0, at most to 1");
    *alpha = *alpha == 0 ? 1 / (1 + noise_of(grid)) : *alpha;
    return true;
}

static bool remember(CodecOptions *options, const Config *config, GridOptions grid, Error *err) {
    const char *memory = config->gradients.memory;
    ResidualOptions values = {config->gradients.alpha, config->gradients.refresh};
    options->residual[GRADIENT_MEMORY].of = family_find(&residual_family, memory, NULL, err);
    if (err->code != 0 || (strcmp(memory, "feedback") == 0 && !check_feedback(grid, err)) ||
        (strcmp(memory, "difference") == 0 && !choose_alpha(&values.alpha, grid, err)))
        return false;
    residual_set(&options->residual[GRADIENT_MEMORY].values, values);
    return true;
}

// ---- the table

static bool check_entropy(GridOptions grid, Error *err) {
    return grid.bits <= 8 ||
           error_set(err, EXIT_CONFIG,
                     "gradients.wire: entropy codes values of at most 8 bits; set "
                     "gradients.bits to 8 or gradients.wire=packed");
}

static bool by_grid(GradForm *form, const Config *config, Error *err) {
    CodecOptions *options = &form->options;
    const Rule *rule = rule_of(config);
    GridOptions grid = grid_of(config);
    if (!grid_bits_known(grid))
        return error_set(err, EXIT_CONFIG,
                         "gradients.bits: expected %s with gradients.codec=%s, "
                         "found %d",
                         rule->bits, rule->name, grid.bits);
    if (is_entropy(config) && !check_entropy(grid, err))
        return false;
    options->codec = is_entropy(config) ? &codec_grid_entropy : &codec_grid;
    grid_set(&options->values, grid);
    if (strcmp(config->gradients.bits_rule, "fixed") != 0)
        grid.bits = 2; // the fewest that a rule may choose
    return remember(options, config, grid, err);
}

// What the sum leaves out can be given to the next gradient, but to no sum that is coded.
static bool by_rank(GradForm *form, const Config *config, Error *err) {
    const char *memory = config->gradients.memory;
    form->rank = (int)config->gradients.rank;
    form->remembers = strcmp(memory, "feedback") == 0;
    return form->remembers || strcmp(memory, "none") == 0 ||
           error_set(err, EXIT_CONFIG,
                     "gradients.memory: expected feedback or none with gradients.codec=lowrank, "
                     "found %s",
                     memory);
}

static const Compressor compressors[] = {{"none", NULL},    {"minmax", by_grid},
                                         {"max", by_grid},  {"l2", by_grid},
                                         {"mean", by_grid}, {"lowrank", by_rank}};
const Family compressor_family = FAMILY("gradients.codec", NULL, compressors);
