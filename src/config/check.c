// Checks one value against one key: type, range, choices. For a value that does not fit, the error
// names the key's path, what was expected and what was found. Checking goes on with the next key,
// so that a person sees all mistakes at once.

#include "internal.h"

#include <stdarg.h>

bool config_count_only(Complaints *complaints) {
    complaints->count += complaints->err == NULL;
    return complaints->err == NULL;
}

void config_complain(Complaints *complaints, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    if (config_count_only(complaints))
        return;
    complaints->count++;
    va_start(arguments, format);
    text_fit(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    error_join(complaints->err, EXIT_CONFIG, "%s: %s", complaints->where, sentence);
}

const char *config_hint(char out[CONFIG_HINT], const char *meaning, const char *quote) {
    out[0] = 0;
    if (meaning != NULL && config_is_sentence(meaning))
        snprintf(out, CONFIG_HINT, "; %s", meaning);
    else if (meaning != NULL)
        snprintf(out, CONFIG_HINT, "; did you mean %s%s%s?", quote, meaning, quote);
    return out;
}

static bool in_range(const char *range, double value) {
    char open, close;
    double low, high;
    int read = sscanf(range, "%c%lf, %lf%c", &open, &low, &high, &close);
    assert(read == 4);
    (void)read;
    return (open == '[' ? value >= low : value > low) &&
           (close == ']' ? value <= high : value < high);
}

void config_expectation(const Key *key, char *out, size_t size) {
    Choices choice;
    bool numbers = key->kind == KEY_NUMBERS, list = config_is_list(key->kind) || numbers;
    int count = config_choices(key, choice);
    snprintf(out, size, "%s",
             count == 0 || numbers  ? config_kinds[key->kind].expected
             : list                 ? "a list of"
             : key->kind == KEY_MAP ? "an object with any of"
                                    : "one of");
    if (key->range != NULL)
        text_add(out, size, list ? ", each " : " ", "in %s", key->range);
    if (numbers)
        text_add(out, size, ", ", "or one of");
    if (key->unit != NULL)
        text_add(out, size, " ", "(%s)", key->unit);
    for (int i = 0; i < count; i++)
        text_add(out, size, i > 0 ? ", " : " ", "%s", choice[i]);
}

static void found(const Json *value, char *out, size_t size) {
    switch (json_type(value)) {
    case JSON_STRING:
        snprintf(out, size, "'%.80s'", SHOWN(json_string(value)));
        break;
    case JSON_NUMBER:
        snprintf(out, size, "%.17g", json_number(value));
        break;
    case JSON_BOOL:
        snprintf(out, size, "%s", json_bool(value) ? "true" : "false");
        break;
    case JSON_NULL:
        snprintf(out, size, "null");
        break;
    case JSON_ARRAY:
        snprintf(out, size, "a list of %ld", json_size(value));
        break;
    case JSON_OBJECT:
        snprintf(out, size, "an object");
        break;
    }
}

// The choice that the word means elsewhere, or the closest one, for "did you mean". May be a
// sentence.
static const char *suggest_choice(const Key *key, const char *word, Choices choice) {
    const char *words[CHOICES_MOST], *known = synonym_of_word(key, word, choice);
    int count = config_choices(key, choice);
    for (int i = 0; i < count; i++)
        words[i] = choice[i];
    return known != NULL ? known : family_closest(word, words, count);
}

const char *config_guess_word(const char *path, const char *word, Choices choice) {
    const Key *key = config_key_find(path);
    return key != NULL ? suggest_choice(key, word, choice) : NULL;
}

static bool misfit(const Key *key, const Json *value, Complaints *complaints) {
    char expected[512], is[160];
    Choices choice;
    if (config_count_only(complaints))
        return false;
    config_expectation(key, expected, sizeof expected);
    found(value, is, sizeof is);
    const char *closest =
        json_type(value) == JSON_STRING ? suggest_choice(key, json_string(value), choice) : NULL;
    config_complain(complaints, "%s: expected %s, found %s%s", key->path, expected, is,
                    config_hint((char[CONFIG_HINT]){0}, closest, "'"));
    return false;
}

static bool read_word(char *out, size_t size, const Key *key, const Json *value,
                      Complaints *complaints) {
    if (json_type(value) != JSON_STRING)
        return misfit(key, value, complaints);
    const char *word = json_string(value);
    if (!config_is_choice(key, word))
        return misfit(key, value, complaints);
    if (strlen(word) >= size) {
        config_complain(complaints, "%s: expected at most %zu characters, found %zu", key->path,
                        size - 1, strlen(word));
        return false;
    }
    snprintf(out, size, "%s", word);
    return true;
}

static bool read_int(int64_t *out, const Key *key, const Json *value, Complaints *complaints) {
    int64_t number;
    if (json_type(value) != JSON_NUMBER || !json_is_int64(value, &number) ||
        (key->range != NULL && !in_range(key->range, (double)number)))
        return misfit(key, value, complaints);
    *out = number;
    return true;
}

static bool read_double(double *out, const Key *key, const Json *value, Complaints *complaints) {
    double number = json_type(value) == JSON_NUMBER ? json_number(value) : NAN;
    if (!isfinite(number) || (key->range != NULL && !in_range(key->range, number)))
        return misfit(key, value, complaints);
    *out = number;
    return true;
}

// A word, or the text of a list of numbers.
static bool store_numbers(char *out, const Key *key, const Json *value, Complaints *complaints) {
    CLEARED(json_writer_clear) JsonWriter text = {0};
    double number;
    bool ok = true;
    if (json_type(value) != JSON_ARRAY)
        return read_word(out, CONFIG_TEXT, key, value, complaints);
    json_writer_init(&text, false);
    JSON_PUT_ARRAY(&text, NULL)
        for (const Json *entry = json_first(value); ok && entry != NULL; entry = json_next(entry))
            if ((ok = read_double(&number, key, entry, complaints)))
                json_put_double(&text, NULL, number);
    if (ok && (json_size(value) == 0 || text.bytes >= CONFIG_TEXT))
        ok = misfit(key, value, complaints);
    if (ok)
        memcpy(out, text.text, text.bytes + 1);
    return ok;
}

// A value that is no list, of the key or of an entry of its list. False: it does not fit.
static bool store_one(void *at, KeyKind kind, const Key *key, const Json *value,
                      Complaints *complaints) {
    switch (kind) {
    case KEY_WORD:
        return read_word(at, CONFIG_WORD, key, value, complaints);
    case KEY_NUMBERS:
        return store_numbers(at, key, value, complaints);
    case KEY_BOOL:
        if (json_type(value) != JSON_BOOL)
            return misfit(key, value, complaints);
        *(bool *)at = json_bool(value);
        return true;
    case KEY_INT:
        return read_int(at, key, value, complaints);
    case KEY_DOUBLE:
        return read_double(at, key, value, complaints);
    case KEY_MAP:
        return config_store_map(at, key, value) || misfit(key, value, complaints);
    default:
        return read_word(at, CONFIG_TEXT, key, value, complaints);
    }
}

// A list, or a single value that stands for a list of one.
static void store_list(void *list, const Key *key, const Json *value, Complaints *complaints) {
    union {
        int count; // all kinds begin with it
        ConfigWords words;
        ConfigPaths paths;
        ConfigInts ints;
        ConfigDoubles doubles;
    } read = {0};
    const ListKind *kind = &config_kinds[key->kind].list;
    bool ok = true, single = json_type(value) != JSON_ARRAY;
    if (!single && json_size(value) > kind->most) {
        config_complain(complaints, "%s: expected at most %d entries, found %ld", key->path,
                        kind->most, json_size(value));
        return;
    }
    for (const Json *entry = single ? value : json_first(value); entry != NULL;
         entry = single ? NULL : json_next(entry))
        ok &= store_one((char *)&read + kind->first + (size_t)read.count++ * kind->bytes,
                        kind->entry, key, entry, complaints);
    if (ok)
        memcpy(list, &read, kind->first + (size_t)kind->most * kind->bytes);
}

void config_store(void *values, const Key *key, const Json *value, Complaints *complaints) {
    void *at = (char *)values + key->offset;
    if (config_is_list(key->kind))
        store_list(at, key, value, complaints);
    else
        store_one(at, key->kind, key, value, complaints);
}

// The bit widths of the codec integer.
static bool is_width(int64_t bits) { return (bits >= 1 && bits <= 8) || bits == 16; }

static void check_quantization(const Config *config, Complaints *complaints) {
    const ConfigInts *widths = &config->quantization.bits;
    for (int i = 0; i < widths->count; i++)
        if (!is_width(widths->value[i]) || (i > 0 && widths->value[i] <= widths->value[i - 1]))
            config_complain(complaints,
                            "quantization.bits: expected ascending widths of 1 to 8 or 16 bits, "
                            "found %ld at place %d",
                            widths->value[i], i + 1);
    if (widths->count < 1 || widths->count > 8)
        config_complain(complaints, "quantization.bits: expected 1 to 8 widths, found %d",
                        widths->count);
    if (!is_width(config->quantization.initial_bits))
        config_complain(complaints,
                        "quantization.initial_bits: expected 1 to 8 or 16 bits, found %ld",
                        config->quantization.initial_bits);
    if (strcmp(config->quantization.before, "conv") == 0 &&
        strcmp(config->lossless.cover, "targets") == 0)
        config_complain(complaints,
                        "quantization.before: conv sends rows of sources, which readers complete, "
                        "but lossless.cover=targets asks for partial aggregates alone; use "
                        "lossless.cover=min or sources, or quantization.before=post");
    bool hidden = strcmp(config->quantization.time, "hidden") == 0;
    if (config->quantization.link.count != 0 && config->quantization.link.count != (hidden ? 3 : 2))
        config_complain(
            complaints,
            "quantization.link: expected no number, or seconds per byte and per message%s, "
            "found %d",
            hidden ? " and those that computation hides" : "", config->quantization.link.count);
}

static void check_run(const Config *config, Complaints *complaints) {
    if (config->run.random_bits != 8 && config->run.random_bits != 16)
        config_complain(complaints, "run.random_bits: expected 8 or 16, found %ld",
                        config->run.random_bits);
    if (strcmp(config->run.backend, "cpu") != 0 && strcmp(config->run.spmm, "cusparse") == 0 &&
        strcmp(config->run.precision, "bf16") == 0)
        config_complain(complaints, "run.spmm: cusparse adds up rows of fp32 alone; set own, or "
                                    "run.precision to fp32");
    if (strcmp(config->run.precision, "bf16x3") == 0 && strcmp(config->run.bf16_sums, "pairs") == 0)
        config_complain(complaints,
                        "run.bf16_sums: products of bf16x3 are added up by tiles alone; "
                        "set auto or tiles");
    const ConfigInts *trace = &config->run.trace;
    if (trace->count != 0 && (trace->count != 2 || trace->value[0] > trace->value[1]))
        config_complain(complaints, "run.trace: expected nothing, or a first and a last epoch");
}

// Steps after which few features are 0.
static void check_features(const Config *config, Complaints *complaints) {
    for (int i = 0; i < config->data.transforms.count; i++)
        if (strcmp(config->data.transforms.word[i], "standardize") == 0 &&
            strcmp(config->data.features_as, "sparse") == 0)
            config_complain(complaints,
                            "data.features_as: standardize (data.transforms) leaves no feature "
                            "0, so sparse would keep all of them; use auto or dense");
}

// Layers with weights: gcn2 has a linear one at both ends, model.jk one on top.
static int64_t convolutions(const Config *config) {
    return config->model.layers + 2 * (strcmp(config->model.layer, "gcn2") == 0) +
           (strcmp(config->model.jk, "none") != 0);
}

void config_check_together(const Config *config, Complaints *complaints) {
    bool jk = strcmp(config->model.jk, "none") != 0;
    int64_t widths = config->model.layers - !jk, all = convolutions(config);
    if (config->model.hidden.count != 1 && config->model.hidden.count != widths && widths > 0)
        config_complain(complaints,
                        "model.hidden: expected 1 width or %ld (model.layers%s), found %d", widths,
                        jk ? "" : " - 1", config->model.hidden.count);
    if (config->train.betas.count != 2)
        config_complain(complaints, "train.betas: expected 2 numbers, found %d",
                        config->train.betas.count);
    if (config->train.weight_decay.count < 1 || config->train.weight_decay.count > all)
        config_complain(
            complaints, "train.weight_decay: expected 1 to %ld numbers (%s), found %d", all,
            all > config->model.layers ? "model.layers and the linear ones" : "model.layers",
            config->train.weight_decay.count);
    if (config->data.split_keys.count != 3)
        config_complain(complaints,
                        "data.split_keys: expected 3 names (training, validation, test), found %d",
                        config->data.split_keys.count);
    const ConfigWords *post = &config->model.post;
    for (int i = 0; i < post->count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(post->word[i], post->word[j]) == 0)
                config_complain(complaints, "model.post: expected each step once, found '%s' twice",
                                post->word[i]);
    check_quantization(config, complaints);
    check_run(config, complaints);
    check_features(config, complaints);
    if (config->train.l1 > 0 && strcmp(config->train.optimizer, "sgd") != 0)
        config_complain(complaints,
                        "train.l1: its proximal step is that of sgd, and train.optimizer is %s; "
                        "set train.optimizer=sgd, or train.l1=0",
                        config->train.optimizer);
    if (strcmp(config->train.lr_schedule, "constant") != 0 &&
        config->train.warmup > config->train.epochs && config->train.epochs > 0)
        config_complain(complaints, "train.warmup: expected at most train.epochs (%ld), found %ld",
                        config->train.epochs, config->train.warmup);
}
