// If this failed, what is remembered of halo rows would follow them too far, so that it diverges,
// or less far than it could; or a config that diverges would be taken.
#include "../support.h"

#include "fringe/codec.h"

// The noise of rows of normal values: ALGORITHMS D.9 at 256 columns, measured at the others.
TEST(it_follows_as_far_as_the_noise_allows) {
    static const struct {
        int bits;
        int64_t columns;
        double noise;
    } known[] = {{1, 256, 6.8},  {2, 16, 0.21},  {2, 256, 0.60},
                 {2, 1024, .79}, {4, 256, .024}, {8, 256, 8.2e-5}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_near(residual_part(known[i].bits, known[i].columns), 1 / (1 + known[i].noise),
                    0.02 /* steps of 1/64 and a range of its mean */);
    assert_true(residual_part(8, 256) == 1);
    assert_true(residual_part(0, 256) == 1); // no widths: next to no noise
    assert_true(residual_part(2, 1) == 1);   // a single value is its own least and greatest
}

typedef struct Wanted {
    const char *codec, *memory;
    int initial_bits;
    const char *name; // NULL: refused
    double alpha;
} Wanted;

static const Wanted wanted[] = {{"integer", "difference", 1, "difference", 0.5},
                                {"integer", "ef21", 2, "difference", 1},
                                {"bf16", "anchor", 8, "anchor", 0.5},
                                {"integer", "feedback", 2, "feedback", 0.5},
                                {"integer", "feedback", 1, NULL, 0}, // diverges
                                {"bf16", "auto", 8, NULL, 0},        // has no widths
                                {"fp32", "ef21", 8, "none", 1}};

TEST(which_goes_with_what) {
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const Wanted *w = &wanted[i];
        static Config config;
        const Residual *of;
        MemberValues values = {0};
        assert_ok(config_load(&config, NULL, NULL, 0, &err));
        snprintf(config.quantization.codec, CONFIG_WORD, "%s", w->codec);
        snprintf(config.quantization.memory, CONFIG_WORD, "%s", w->memory);
        config.quantization.initial_bits = w->initial_bits;
        config.quantization.alpha = 0.5;
        if (w->name == NULL) {
            assert_refused(residual_configure(&config, &of, &values, &err), EXIT_CONFIG,
                           "quantization.memory: ");
            continue;
        }
        assert_ok(residual_configure(&config, &of, &values, &err));
        assert_string_equal(of->name, w->name);
        assert_true(residual_get(&values).alpha == w->alpha);
    }
}
