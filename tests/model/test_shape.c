// If this failed, layers would exchange wider rows than they need, or a published mode would not
// exchange what the papers do.
#include "../support.h"
#include "fringe/model.h"

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
    ModelShape shape;
    char setting[64];
    snprintf(setting, sizeof setting, "mode=%s", mode);
    Config config = CONFIGURED(setting, "model.layers=3", "model.hidden=[256]");
    snprintf(config.model.layer, CONFIG_WORD, "%s", layer);
    config.model.input_dropout = input_dropout;
    assert_ok(model_shape(&shape, &config, recipe->features, recipe->classes, false, &err));
    int64_t floats = 0;
    for (int l = 0; l < shape.layers; l++)
        for (int d = 0; d < 2; d++)
            floats += model_exchanged(&shape, l, d);
    return floats;
}

TEST(published_modes_exchange_what_the_papers_do) {
    for (int i = 0; i < RECIPES; i++) {
        assert_int_equal(floats_of_a_row(&recipes[i], "vanilla", "gcn", 0), recipes[i].published);
        assert_int_equal(floats_of_a_row(&recipes[i], "adaqp-published", "sage-mean", 0.5),
                         recipes[i].published);
    }
}

TEST(savings_narrow_what_is_exchanged) {
    static const char *const modes[] = {"overlap", "quantize", "adaqp"};
    for (int i = 0; i < RECIPES; i++)
        for (int mode = 0; mode < 3; mode++) {
            assert_int_equal(floats_of_a_row(&recipes[i], modes[mode], "gcn", 0), recipes[i].saved);
            assert_int_equal(floats_of_a_row(&recipes[i], modes[mode], "sage-mean", 0.5),
                             recipes[i].saved);
        }
}

// What does not go together is refused, with the cure.
TEST(what_cannot_be_is_refused) {
    static const char *const cases[][4] = {
        {"model.jk=max", "model.hidden=[8,8,9]", "",
         "found 8 and 9 in model.hidden; use one width"},
        {"model.jk=cat", "model.layer=sgc", "", "use model.jk=none, or another model.layer"},
        {"model.skip=residual", "model.hidden=[8,9]", "", "give all hidden layers one width"},
        {"model.norm=batch", "quantization.before=conv", "", "use quantization.before=post, or"},
        {"model.skip=residual", "quantization.before=conv", "", "use quantization.before=post, or"},
        {"model.layer=sgc", "model.mix=[1,2]", "", "expected 4 numbers"},
        {"train.label_input=masked:0.5", "model.layer=mlp", "", "use gcn, sage-mean or sage-gcn"},
        {"train.label_input=masked:0.5", "model.layer=gin", "", "use gcn, sage-mean or sage-gcn"},
        {"train.label_input=masked:0.5", "model.layer=hgnn", "", "use gcn, sage-mean or sage-gcn"},
        {"train.label_input=masked:0.5", "model.layer=sgc", "", "use gcn, sage-mean or sage-gcn"},
        {"train.label_input=masked:0.5", "train.sample=uniform:9", "", "use train.sample=all"},
        {"train.label_input=masked:0", "", "", "a share between 0 and 1"},
        {"model.layer=gcn2", "model.post=[\"dropout\",\"activation\"]", "model.hidden=[8]",
         "write model.post=[norm, activation, dropout]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Config config;
        ModelShape shape;
        const char *settings[4] = {"model.layers=3"};
        int count = 1;
        for (int k = 0; k < 3; k++)
            if (cases[i][k][0] != 0)
                settings[count++] = cases[i][k];
        assert_ok(config_load(&config, NULL, settings, count, &err));
        assert_refused(model_shape(&shape, &config, 13, 5, LABEL_CLASS, &err), EXIT_CONFIG,
                       cases[i][3]);
    }
    ModelShape shape;
    Config config = CONFIGURED("train.label_input=masked:0.5");
    assert_refused(model_shape(&shape, &config, 13, 5, LABEL_NUMBERS, &err), EXIT_CONFIG,
                   "these are numbers; use train.label_input=none");
}

TEST(one_node_has_no_variance) {
    ModelShape shape;
    Shard shard = {.sets = 1, .dataset_name = "alone"};
    Config config = CONFIGURED("model.norm=batch", "model.layers=2");
    assert_ok(model_shape(&shape, &config, 13, 5, LABEL_CLASS, &err));
    shard.set[NODES].total = 2;
    assert_ok(model_fits(&shape, &shard, &err));
    shard.set[NODES].total = 1;
    assert_refused(model_fits(&shape, &shard, &err), EXIT_DATA,
                   "has no variance; use model.norm=layer or none");
}
