// If this failed, a config would mean something else than its page says, or a mistake in it would
// be reported late, alone or without its place.

#include "load.h"

// --- the layers

TEST(file_stands_over_defaults_and_settings_over_the_file) {
    Config config;
    load(&config, "{\"train\": {\"lr\": 0.5, \"epochs\": 7}, \"model\": {\"hidden\": 64}}",
         SETTINGS("train.lr=0.25", "model.hidden=[8, 9]", "run.dir=here"));
    assert_true(config.train.lr == 0.25);
    assert_int_equal(config.train.epochs, 7);
    assert_int_equal(config.train.eval_every, 10);
    assert_int_equal(config.model.hidden.count, 2);
    assert_int_equal(config.model.hidden.value[1], 9);
    assert_string_equal(config.run.dir, "here");
}

// .5, 0. and +5 are no JSON.
TEST(settings_have_numbers_as_people_type_them) {
    Config config;
    load(&config, "{}", SETTINGS("train.lr=.25", "train.epochs=+5", "model.dropout=0."));
    assert_true(config.train.lr == 0.25 && config.train.epochs == 5 && config.model.dropout == 0);
}

// AdaQP's recipe (PEERS): 3 layers of 256, dropout, norm, activation, Adam at 0.01.
TEST(defaults_are_the_published_recipe) {
    Config config;
    load(&config, "{}", NULL, 0);
    assert_int_equal(config.model.layers, 3);
    assert_int_equal(config.model.hidden.value[0], 256);
    assert_string_equal(config.model.post.word[0], "dropout");
    assert_string_equal(config.model.post.word[1], "norm");
    assert_string_equal(config.model.post.word[2], "activation");
    assert_true(config.train.lr == 0.01 && config.train.betas.value[1] == 0.999);
    assert_true(config.train.eps == 1e-8 && config.model.dropout == 0.5);
    assert_string_equal(config.run.dir, "runs/some");
}

TEST(a_mode_presets_and_an_explicit_key_wins) {
    Config config;
    const char *const mode[] = {"mode=vanilla"};
    load(&config, "{}", NULL, 0);
    assert_string_equal(config.comm.schedule, "overlap");
    load(&config, "{}", mode, 1);
    assert_string_equal(config.comm.schedule, "blocking");
    load(&config, "{\"comm\": {\"schedule\": \"overlap\"}}", mode, 1);
    assert_string_equal(config.comm.schedule, "overlap");
    load(&config, "{\"comm\": {\"schedule\": \"blocking\"}, \"mode\": \"overlap\"}", NULL, 0);
    assert_string_equal(config.comm.schedule, "blocking");
}

// A mode may choose a method: methods lie above.
TEST(a_method_presets_above_the_mode_and_an_explicit_key_wins) {
    Config config;
    const char *const settings[] = {"gradients.method=zipml", "gradients.bits=4"};
    load(&config, "{}", NULL, 0);
    assert_string_equal(config.gradients.codec, "none");
    load(&config, "{\"mode\": \"adaqp\"}", settings, 1);
    assert_string_equal(config.gradients.codec, "minmax");
    assert_int_equal(config.gradients.bits, 8);
    assert_string_equal(config.quantization.codec, "integer");
    assert_false(config_is_said(&config, "gradients.bits"));
    load(&config, "{\"gradients\": {\"bits\": 5}}", settings, 1);
    assert_int_equal(config.gradients.bits, 5);
    load(&config, "{\"gradients\": {\"bits\": 5, \"method\": \"fp32\"}}", settings, 2);
    assert_int_equal(config.gradients.bits, 4);
    assert_string_equal(config.gradients.codec, "minmax");
}

static const struct Shape {
    const char *name;
} shapes[] = {{"gcn"}, {"round"}, {"square"}, {"file:PATH"}};
static const Family shape_family = FAMILY("model.layer", "auto", shapes);

TEST(families_say_what_keys_may_be) {
    static const Family *const families[] = {&shape_family};
    Config config;
    load(&config, "{\"model\": {\"layer\": \"anything\"}}", NULL, 0); // nobody has said yet
    config_learn_families(families, 1);
    refused("{\"model\": {\"layer\": \"squar\"}}",
            "model.layer: expected one of gcn, round, square, file:PATH, auto, found 'squar'; "
            "did you "
            "mean 'square'?");
    refused("{\"model\": {\"layer\": \"file:\"}}", "file:PATH");
    load(&config, "{\"model\": {\"layer\": \"file:a/b\"}}", NULL, 0);
    assert_string_equal(config.model.layer, "file:a/b");
    load(&config, "{\"model\": {\"layer\": \"auto\"}}", NULL, 0);
    config_learn_families(NULL, 0);
}

typedef struct Spokes {
    int64_t count;
    char rim[CONFIG_WORD];
} Spokes;
static const Key spoke_keys[] = {
    {"model.spokes", KEY_INT, offsetof(Spokes, count), "7", "[1, 9]", NULL, "spokes",
     "Of a wheel."},
    {"model.rim", KEY_WORD, offsetof(Spokes, rim), "\"wood\"", NULL, "wood iron", NULL, "Its rim."},
};
static const Key bell_keys[] = {
    {"train.bell", KEY_DOUBLE, 0, "0.5", NULL, NULL, NULL, "How loud."},
};
static const struct Wheel {
    const char *name;
    MemberKeys keys;
} bicycle = {"bicycle", {bell_keys, 1, sizeof(double)}},
  cart = {"cart", {spoke_keys, 2, sizeof(Spokes)}};
static const struct Wheel *const wheels[] = {&bicycle, &cart};
static const Family wheel_family = FAMILY_WITH_KEYS("model.layer", wheels, struct Wheel);

TEST(members_bring_keys_along) {
    const char *text = "{\"model\": {\"spokes\": 8}, \"train\": {\"bell\": 0.25}}";
    Config config, again;
    Spokes values;
    double loud;
    int own = config_key_count;
    refused(text, "model.spokes: unknown key");
    config_set_defaults(&config);
    config_values(&config, &cart.keys, &values); // they are not registered
    assert_true(values.count == 7 && strcmp(values.rim, "wood") == 0);
    config_learn_keys((const Family *const[]){&wheel_family}, 1);
    assert_int_equal(config_key_count, own + 3);
    const char *setting = "model.rim=iron";
    load(&config, text, &setting, 1);
    config_values(&config, &cart.keys, &values);
    config_values(&config, &bicycle.keys, &loud);
    assert_true(values.count == 8 && strcmp(values.rim, "iron") == 0 && loud == 0.25);
    refused("{\"model\": {\"rim\": \"irn\"}}", "did you mean 'iron'?");
    refused("{\"model\": {\"spokes\": 10}}", "model.spokes: expected a whole number in [1, 9]");
    char where[CONFIG_CONDITION];
    assert_true(config_condition(config_key_find("model.rim"), where));
    assert_string_equal(where, "model.layer is cart");
    char *json = config_to_json(&config); // in their sections, and read back
    assert_non_null(strstr(json, "\"rim\": \"iron\""));
    assert_true(strstr(json, "spokes") < strstr(json, "\"train\""));
    load(&again, json, NULL, 0);
    config_values(&again, &cart.keys, &values);
    assert_int_equal(values.count, 8);
    memory_free(json);
    config_learn_keys(NULL, 0);
    assert_int_equal(config_key_count, own);
}

// What a file or a setting names; not what a mode presets, nor all that the config of a run has.
TEST(a_config_knows_what_was_said) {
    Config config;
    const char *settings[] = {"train.lr=0.5", "mode=vanilla"};
    load(&config, "{\"model\": {\"hidden\": 64}}", settings, 2);
    assert_true(config_is_said(&config, "model.hidden") && config_is_said(&config, "train.lr"));
    assert_false(config_is_said(&config, "model.post"));
    assert_false(config_is_said(&config, "comm.schedule"));
    load(&config, "{\"config\": {\"model\": {\"hidden\": 64}}, \"versions\": {}}", settings, 1);
    assert_int_equal(config.model.hidden.value[0], 64);
    assert_false(config_is_said(&config, "model.hidden"));
    assert_true(config_is_said(&config, "train.lr"));
}

TEST(a_preset_has_its_argument) {
    Config config;
    const char *settings[] = {"gradients.method=powersgd:3"};
    load(&config, "{}", settings, 1);
    assert_string_equal(config.gradients.codec, "lowrank");
    assert_int_equal(config.gradients.rank, 3);
    assert_true(config_preset_implies("powersgd:3", "gradients.rank", "3"));
    assert_false(config_preset_implies("powersgd:3", "gradients.rank", "4"));
    settings[0] = "gradients.method=powersgd:9";
    assert_refused(config_load(&config, NULL, settings, 1, &err), EXIT_CONFIG,
                   "gradients.method: gradients.rank: expected a whole number in [1, 8], found 9");
}

TEST(every_preset_is_a_choice_and_sets_what_is_there) {
    for (int f = 0; f < PRESET_FAMILIES; f++)
        for (int i = 0; i < preset_families[f]->count; i++) {
            Config config;
            const char *word = test_word(family_word(preset_families[f], i));
            load(&config, "{}", SETTINGS(test_text("%s=%s", preset_families[f]->key, word)));
            assert_string_equal(preset_word(&config, preset_families[f]), word);
        }
}

// --- mistakes

TEST(all_mistakes_are_reported_at_once) {
    static const char text[] = "{\"train\": {\"epochs\": \"many\", \"lr\": -1, \"epoch\": 3},"
                               " \"trian\": {}, \"model\": {\"norm\": \"laer\", \"bias\": 1,"
                               " \"post\": [\"norm\", 5]}, \"comm\": 4}";
    static const char *const parts[] = {
        "some.json: train.epochs: expected a whole number in [0, 1000000000] (epochs), found "
        "'many'",
        "train.lr: expected a number in [0, 1000], found -1",
        "train.epoch: unknown key; did you mean train.epochs?",
        "trian: unknown section; did you mean train?",
        "model.norm: expected one of layer, batch, none, found 'laer'; did you mean 'layer'?",
        "model.bias: expected true or false, found 1",
        "model.post: expected a list of norm, activation, dropout, found 5",
        "comm: expected an object",
        "--set: train.clip_norm: expected a number in [0, 1e30], found 'x'",
        "--set: what: expected section.key=VALUE"};
    Config config;
    Error err = {0};
    test_write_text(test_path("some.json"), text);
    assert_false(
        config_load(&config, test_path("some.json"), SETTINGS("train.clip_norm=x", "what"), &err));
    assert_int_equal(err.code, EXIT_CONFIG);
    int lines = 1;
    for (const char *at = err.text; *at != 0; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 10);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        assert_error(&err, EXIT_CONFIG, parts[i]);
}

TEST(more_mistakes_than_fit_end_in_a_note) {
    char text[8000] = "{\"train\": {\"a\": 0";
    for (int i = 0; i < 90; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", \"wrong_key_%d\": 1", i);
    strcat(text, "}}");
    refused(text, "... and more");
}

TEST(lengths_must_fit_each_other) {
    refused("{\"model\": {\"layers\": 4, \"hidden\": [8, 8]}}", "model.hidden: expected 1 width");
    refused("{\"quantization\": {\"before\": \"conv\"}, \"lossless\": {\"cover\": \"targets\"}}",
            "quantization.before: conv sends rows of sources");
    refused("{\"train\": {\"betas\": [0.9]}}", "train.betas: expected 2");
    refused("{\"model\": {\"layers\": 1}, \"train\": {\"weight_decay\": [0, 0]}}",
            "train.weight_decay: expected 1 to 1");
    refused("{\"data\": {\"split_keys\": [\"a\"]}}", "data.split_keys: expected 3");
    refused("{\"model\": {\"post\": [\"norm\", \"norm\"]}}", "model.post");
    refused("{\"model\": {\"hidden\": "
            "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
            "1,1,1,1,1,1,1]}}",
            "at most 41");
}

TEST(bounds_are_open_or_closed_as_the_table_says) {
    Config config;
    load(&config, "{\"model\": {\"dropout\": 0}, \"run\": {\"keep_checkpoints\": 1}}", NULL, 0);
    refused("{\"model\": {\"dropout\": 1}}", "[0, 1)");
    refused("{\"model\": {\"gain\": 0}}", "(0, 100]");
    refused("{\"run\": {\"keep_checkpoints\": 0}}", "(checkpoints)");
    refused("{\"train\": {\"epochs\": 1.5}}", "found 1.5");
}

TEST(what_is_no_config_is_refused) {
    Config config;
    refused("[]", "expected an object of sections");
    refused("{\"train\": {\"epochs\": 1, \"epochs\": 2}}", "some.json");
    refused("{\"train\": ", "some.json");
    assert_refused(config_load(&config, test_path("none.json"), NULL, 0, &err), EXIT_NO_INPUT,
                   "none.json");
    char name[4200];
    memset(name, 'x', sizeof name);
    const char *text = test_text("{\"run\": {\"dir\": \"%.4100s\"}}", name);
    refused(text, "run.dir: expected at most 4095 characters, found 4100");
}

// --- the table, seen from its other sides

TEST(the_text_reads_back_as_the_same_config) {
    Config config, again;
    load(&config, "{}",
         SETTINGS("train.eps=1.25e-7", "model.post=[\"norm\"]", "data.path=a b\"c.npz",
                  "train.betas=[0.1, 0.2]"));
    FREED char *text = config_to_json(&config);
    load(&again, text, NULL, 0);
    FREED char *second = config_to_json(&again);
    assert_string_equal(text, second);
    assert_true(again.train.eps == 1.25e-7 && again.train.betas.value[1] == 0.2);
}

TEST(a_run_stands_for_its_config) {
    Config config;
    load(&config, "{\"config\": {\"train\": {\"epochs\": 5}}, \"versions\": {}}", NULL, 0);
    assert_int_equal(config.train.epochs, 5);
    const char *text = "{\"config\": {\"mode\": \"adaqp\"}, \"versions\": {}}";
    const char *same = "mode=adaqp", *another = "mode=vanilla"; // would find every key said
    load(&config, text, &same, 1);
    assert_refused(config_load(&config, test_path("some.json"), &another, 1, &err), EXIT_CONFIG,
                   "the config of a run with mode=adaqp");
}

// Each default stands in the table as the writer would write it, and is within its own range.
TEST(defaults_fit_their_keys) {
    Config config;
    config_set_defaults(&config);
    for (int i = 0; i < config_key_count; i++) {
        CLEARED(json_writer_clear) JsonWriter writer = {0};
        json_writer_init(&writer, false);
        config_put(&writer, NULL, &config, &config_keys[i]);
        double wrote = strtod(writer.text, NULL), said = strtod(config_keys[i].standard, NULL);
        if (config_keys[i].kind == KEY_DOUBLE)
            assert_true(wrote == said);
        else
            assert_string_equal(writer.text, config_keys[i].standard);
    }
}

// What is published is compared without fringe's own savings, which every other mode has, and
// with gradients in fp32.
TEST(published_modes_save_nothing) {
    for (int i = 0; i < mode_family.count; i++) {
        const char *name = family_word(&mode_family, i);
        bool sancus = strcmp(name, "sancus") == 0, vanilla = strcmp(name, "vanilla") == 0;
        bool published =
            sancus || vanilla || strcmp(name, "bns") == 0 || strstr(name, "-published") != NULL;
        Config config;
        const char *mode = test_text("mode=%s", name);
        load(&config, "{}", SETTINGS(mode));
        bool exchanges = published && strncmp(name, "pipegcn", 7) != 0; // which has use_pp
        assert_string_equal(config.lossless.input_features, exchanges ? "exchange" : "auto");
        assert_string_equal(config.lossless.order, published ? "aggregate-first" : "auto");
        assert_string_equal(config.lossless.receptive_field, published ? "all" : "auto");
        assert_string_equal(config.quantization.before, sancus ? "conv" : "post");
        assert_string_equal(config.lossless.cover, sancus      ? "sources"
                                                   : published ? "replicas"
                                                               : "min");
        assert_true(!published || strcmp(config.gradients.codec, "none") == 0);
    }
}

static void keep(void *context, const char *sentence) { snprintf(context, 256, "%s", sentence); }

TEST(long_values_are_reported_where_they_differ) {
    Config config;
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    char reported[256] = "", *tail;
    config_set_defaults(&config);
    config.model.hidden.count = CONFIG_LIST;
    for (int i = 0; i < CONFIG_LIST; i++)
        config.model.hidden.value[i] = 60016;
    json_writer_init(&writer, false);
    config_put_learned(&writer, NULL, &config, NULL);
    OWNED(Json) *was = assert_ok(json_parse(writer.text, strlen(writer.text), "was", &err));
    assert_non_null(was);
    config.model.hidden.value[CONFIG_LIST - 1] = 60017;
    config_report_learned(was, &config, NULL, keep, reported);
    assert_non_null(tail = strstr(reported, "16], is "));
    assert_non_null(strstr(tail, "60017]"));
}

// "period" is a key that no mode sets.
TEST(a_preset_implies_its_preset_and_the_defaults_beside_it) {
    assert_true(config_preset_implies("adaqp", "quantization.codec", "integer"));
    assert_false(config_preset_implies("adaqp", "quantization.codec", "fp32"));
    assert_true(config_preset_implies("vanilla", "quantization.codec", "fp32"));
    assert_true(config_preset_implies("vanilla", "lossless.cover", "replicas"));
    assert_false(config_preset_implies("adaqp", "lossless.cover", "replicas"));
    assert_false(config_preset_implies("adaqp", "quantization.period", "100"));
    assert_true(config_preset_implies("zipml", "gradients.bits", "8"));
    assert_string_equal(config_preset_of("gradients.bits"), "gradients.method");
    assert_false(config_preset_implies("of an older version", "quantization.codec", "fp32"));
}
