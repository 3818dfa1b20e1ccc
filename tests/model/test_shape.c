// ranks: 1
// If this failed, layers would exchange wider rows than they need, or a published mode would not
// exchange what the papers do.
#include "../support.h"
#include "fringe/model.h"

#include <stdio.h>

typedef struct Recipe { // three layers of 256, as AdaQP and PipeGCN train them
    const char *name;
    int64_t features, classes;
    int64_t published, saved; // floats of a halo row in an epoch
} Recipe;

static const Recipe recipes[] = {
    {"Reddit", 602, 41, 1626, 594},
    {"ogbn-products", 100, 47, 1124, 606},
    {"Yelp", 300, 100, 1324, 712},
    {"Amazon", 200, 107, 1224, 726},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

static int64_t floats_of_a_row(const Recipe *recipe, const char *mode, const char *layer,
                               double input_dropout) {
    Config config;
    ModelShape shape;
    Error err = {0};
    char setting[64];
    snprintf(setting, sizeof setting, "mode=%s", mode);
    const char *settings[] = {setting, "model.layers=3", "model.hidden=[256]"};
    assert_ok(config_load(&config, NULL, settings, 3, &err), &err);
    snprintf(config.model.layer, CONFIG_WORD, "%s", layer);
    config.model.input_dropout = input_dropout;
    assert_ok(model_shape(&shape, &config, recipe->features, recipe->classes, false, &err), &err);
    int64_t floats = 0;
    for (int l = 0; l < shape.layers; l++)
        for (int d = 0; d < 2; d++)
            floats += model_exchanged(&shape, l, d);
    return floats;
}

static void published_modes_exchange_what_the_papers_do(void **state) {
    (void)state;
    for (int i = 0; i < RECIPES; i++) {
        assert_int_equal(floats_of_a_row(&recipes[i], "vanilla", "gcn", 0), recipes[i].published);
        assert_int_equal(floats_of_a_row(&recipes[i], "adaqp-published", "sage-mean", 0.5),
                         recipes[i].published);
    }
}

static void savings_narrow_what_is_exchanged(void **state) {
    (void)state;
    static const char *const modes[] = {"overlap", "quantize", "adaqp"};
    for (int i = 0; i < RECIPES; i++)
        for (int mode = 0; mode < 3; mode++) {
            assert_int_equal(floats_of_a_row(&recipes[i], modes[mode], "gcn", 0), recipes[i].saved);
            assert_int_equal(floats_of_a_row(&recipes[i], modes[mode], "sage-mean", 0.5),
                             recipes[i].saved);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(published_modes_exchange_what_the_papers_do),
    cmocka_unit_test(savings_narrow_what_is_exchanged),
};
TEST_MAIN(tests)
