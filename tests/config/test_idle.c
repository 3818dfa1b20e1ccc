// If this failed, a key without effect would be accepted without a word, or one that has its effect
// would be warned of.

#include "load.h"

static char said[2048]; // by the last report
static void say(const char *sentence) {
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", sentence);
}

static const char *report(const IdleKeys *keys, const Config *config) {
    said[0] = 0;
    idle_keys_report(keys, config, say);
    return said;
}

static const char *report_one(const Config *config) {
    IdleKeys keys = {0};
    idle_keys_add(&keys, config);
    return report(&keys, config);
}

// ---- every condition of the table

static void *value_of(Config *config, const Key *key) { return (char *)config + key->offset; }

static void set_word(Config *config, const Key *key, const char *word, size_t length) {
    if (key->kind == KEY_WORDS)
        *(ConfigWords *)value_of(config, key) = (ConfigWords){.count = length > 0};
    char *at = key->kind == KEY_WORDS ? ((ConfigWords *)value_of(config, key))->word[0]
                                      : value_of(config, key);
    snprintf(at, CONFIG_WORD, "%.*s", (int)length, word);
}

static bool has_word(const char *words, const char *word) {
    for (const char *at = words; *at != 0; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == strlen(word) && strncmp(at, word, strlen(word)) == 0)
            return true;
    return false;
}

// A word that makes the term hold, or that breaks it.
static void settle(Config *config, const Term *term, bool holds) {
    Choices choice;
    int count = config_choices(term->key, choice), other = 0;
    if (holds != term->differs) {
        set_word(config, term->key, term->words, strcspn(term->words, "|"));
        return;
    }
    while (other < count && has_word(term->words, choice[other]))
        other++;
    assert_true(count == 0 || other < count);
    set_word(config, term->key, count > 0 ? choice[other] : "else", count > 0 ? 63 : 4);
}

// All terms hold but number `broken`.
static void settle_all(Config *config, const Key *key, int broken) {
    char member[CONFIG_CONDITION];
    Term term;
    int i = 0;
    for (const char *at = config_condition_of(key, member); config_next_term(&at, &term); i++)
        if (term.key != NULL)
            settle(config, &term, i != broken);
}

// The user gives the key a value that asks for something.
static void say_key(Config *config, const Key *key) {
    void *at = value_of(config, key);
    config->origin[key - config_keys] = CONFIG_OF_FILE;
    if (key->kind == KEY_BOOL)
        *(bool *)at = true;
    else if (config_is_list(key->kind))
        *(int *)at = 1;
    else if (config_is_text(key->kind))
        set_word(config, key, "some", 4);
}

static int walk_key(const Key *key) {
    char member[CONFIG_CONDITION], begin[128];
    Term term;
    int terms = 0;
    for (const char *at = config_condition_of(key, member); config_next_term(&at, &term); terms++) {
        Config config;
        config_set_defaults(&config);
        settle_all(&config, key, terms);
        assert_string_equal(report_one(&config), ""); // nobody said it
        say_key(&config, key);
        snprintf(begin, sizeof begin, "%s has no effect", key->path);
        assert_int_equal(strncmp(report_one(&config), begin, strlen(begin)), 0);
        assert_non_null(strstr(said, term.key != NULL ? term.key->path : term.words));
        settle_all(&config, key, -1);
        if (term.key != NULL)
            assert_string_equal(report_one(&config), "");
    }
    return terms > 0;
}

TEST(every_condition_is_told_where_it_is_broken) {
    int walked = 0;
    for (int i = 0; i < config_key_count; i++)
        walked += walk_key(&config_keys[i]);
    assert_true(walked > 40); // so that the walk is none over nothing
}

// ---- the sentences, and who is not told

static void tell(const char *const *settings, int count, const char *sentence) {
    Config config;
    load(&config, "{}", settings, count);
    assert_string_equal(report_one(&config), sentence);
}

TEST(a_sentence_says_what_why_and_where) {
    static const char *const momentum[] = {"train.momentum=0.5"},
                             *const bits[] = {"quantization.bits=[2]"},
                             *const said_codec[] = {"quantization.bits=[2]",
                                                    "quantization.codec=fp32"},
                             *const dropout[] = {"model.dropout=0.5", "model.post=[\"norm\"]"},
                             *const gain[] = {"model.gain=2", "model.weights=/w"},
                             *const snapshots[] = {"stream.snapshot_every=5"};
    tell(momentum, 1,
         "train.momentum has no effect, because train.optimizer is adam; it is used where "
         "train.optimizer is sgd\n");
    tell(bits, 1,
         "quantization.bits has no effect with mode=overlap, where quantization.codec is fp32; it "
         "is used with quantize, adaqp, auto, adaqp-published, pipeadaqp\n");
    tell(said_codec, 2,
         "quantization.bits has no effect, because quantization.codec is fp32; it is used where "
         "quantization.codec is integer\n");
    tell(dropout, 2,
         "model.dropout has no effect, because model.post is [\"norm\"]; it is used where "
         "model.post has dropout\n");
    tell(gain, 2,
         "model.gain has no effect, because model.weights is /w; it is used where model.weights is "
         "empty\n");
    tell(snapshots, 1, "stream.snapshot_every has no effect here; `fringe stream` alone uses it\n");
}

TEST(what_is_turned_off_needs_no_effect) {
    tell(SETTINGS("model.norm=none", "model.post=[]", "partition.balance=[]",
                  "partition.method=random", "run.device_messages=false"),
         "");
}

// A sweep over optimizers, or a comparison of modes: one config that uses the key is enough.
TEST(one_config_that_uses_a_key_is_enough) {
    static const char *const adam[] = {"train.momentum=0.5", "train.optimizer=adam",
                                       "train.lr_gamma=0.5"},
                             *const sgd[] = {"train.momentum=0.5", "train.optimizer=sgd",
                                             "train.lr_gamma=0.5"};
    Config config;
    IdleKeys keys = {0};
    load(&config, "{}", adam, 3);
    idle_keys_add(&keys, &config);
    load(&config, "{}", sgd, 3);
    idle_keys_add(&keys, &config);
    load(&config, "{}", adam, 3);
    idle_keys_add(&keys, &config);
    assert_string_equal(report(&keys, &config),
                        "train.lr_gamma has no effect, because train.lr_schedule is constant; it "
                        "is used where train.lr_schedule is step, plateau or exponential\n");
}
