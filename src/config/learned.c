// The keys that change the results of a training. A resumed run must have the same values for them;
// all other keys (where it runs, where data lie, how long it trains) may change.

#include "internal.h"

// Data, parts, seed and the file of the first weights are compared by their contents, not by keys,
// and presets by what they set. A run may be made longer, unless its learning rates or the bits of
// its gradients depend on the last epoch.
typedef struct Learned {
    const Config *config;
    const char *also; // one more key, the word of a family, with those that its member brings
                      // along; NULL: none
} Learned;

// Whether the member that the key `also` names brings it along, and uses it.
static bool comes_with(const Key *key, const Learned *learned) {
    char member[CONFIG_CONDITION];
    size_t length = strlen(learned->also);
    return config_member_of(key, member) && strncmp(member, learned->also, length) == 0 &&
           member[length] == '=' && config_is_used(key, learned->config);
}

static bool counts(const Key *key, const void *context) {
    const Learned *learned = context;
    if (text_lists("model.weights gradients.method", key->path))
        return false;
    if (strcmp(key->path, "train.epochs") == 0)
        return strcmp(learned->config->train.lr_schedule, "cosine") == 0 ||
               strcmp(learned->config->gradients.bits_rule, "fixed") != 0;
    if (text_lists("comm.sample run.precision", key->path))
        return true;
    if (learned->also != NULL &&
        (strcmp(key->path, learned->also) == 0 || comes_with(key, learned)))
        return true;
    return text_begins("model. train. quantization. gradients. lossless.", key->path);
}

static void put_value(JsonWriter *writer, const char *name, const Key *key, const void *context) {
    const Learned *learned = context;
    config_put(writer, name, learned->config, key);
}

void config_put_learned(JsonWriter *writer, const char *name, const Config *config,
                        const char *also) {
    JSON_PUT_OBJECT(writer, name)
        config_walk(writer, &(Learned){config, also}, counts, json_begin_object, json_end_object,
                    put_value);
}

// Where to begin printing two long values: shortly before their first difference.
static int first_shown(const char *one, const char *other) {
    int same = 0;
    while (one[same] != 0 && one[same] == other[same])
        same++;
    return same < 60 ? 0 : same - 30;
}

static void report_key(const Key *key, const Config *was, const Config *is,
                       void (*report)(void *context, const char *sentence), void *context) {
    char sentence[256];
    CLEARED(json_writer_clear) JsonWriter old = {0}, new = {0};
    json_writer_init(&old, false);
    json_writer_init(&new, false);
    config_put(&old, NULL, was, key);
    config_put(&new, NULL, is, key);
    if (strcmp(old.text, new.text) != 0) {
        int from = first_shown(old.text, new.text);
        const char *cut = from > 0 ? "..." : "";
        snprintf(sentence, sizeof sentence, "%s was %s%.80s, is %s%.80s", key->path, cut,
                 old.text + from, cut, new.text + from);
        report(context, sentence);
    }
}

// A key that the object lacks has its default.
void config_report_learned(const Json *object, const Config *config, const char *also,
                           void (*report)(void *context, const char *sentence), void *context) {
    Config was;
    Error all = {0};
    Complaints complaints = {.err = &all, .where = "what was trained"};
    config_set_defaults(&was);
    config_store_object(&was, object, "", &complaints);
    if (complaints.count > 0) {
        all.text[strcspn(all.text, "\n")] = 0;
        report(context, all.text);
    }
    for (int i = 0; i < config_key_count; i++)
        if (counts(&config_keys[i], &(Learned){&was, also}) &&
            counts(&config_keys[i], &(Learned){config, also}))
            report_key(&config_keys[i], &was, config, report, context);
}
