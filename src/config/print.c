// The table of keys in four formats: JSON values, lines for people, JSON schema (draft
// 2020-12) and Markdown.

#include "internal.h"

// "train.epochs" -> "train", "epochs"; "mode" -> "", "mode".
static const char *split_path(const Key *key, char section[CONFIG_WORD]) {
    const char *dot = strchr(key->path, '.');
    snprintf(section, CONFIG_WORD, "%.*s", dot != NULL ? (int)(dot - key->path) : 0, key->path);
    return dot != NULL ? dot + 1 : key->path;
}

void config_walk(
    JsonWriter *writer, const void *context, bool (*wanted)(const Key *key, const void *context),
    void (*open)(JsonWriter *writer, const char *section), void (*close)(JsonWriter *writer),
    void (*visit)(JsonWriter *writer, const char *name, const Key *key, const void *context)) {
    char now[CONFIG_WORD] = "", section[CONFIG_WORD];
    for (int i = 0; i < config_key_count; i++) {
        if (!wanted(&config_keys[i], context))
            continue;
        const char *name = split_path(&config_keys[i], section);
        if (strcmp(section, now) != 0) {
            if (now[0] != 0)
                close(writer);
            open(writer, section);
            snprintf(now, sizeof now, "%s", section);
        }
        visit(writer, name, &config_keys[i], context);
    }
    close(writer);
}

static bool any(UNUSED const Key *key, UNUSED const void *context) { return true; }

static void put_value(JsonWriter *writer, const char *name, const Key *key, const void *config) {
    config_put(writer, name, config, key);
}

void config_put_all(JsonWriter *writer, const char *name, const Config *config) {
    JSON_PUT_OBJECT(writer, name)
        config_walk(writer, config, any, json_begin_object, json_end_object, put_value);
}

char *config_to_json(const Config *config) {
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    json_writer_init(&writer, true);
    config_put_all(&writer, NULL, config);
    char *text = ALLOC(char, writer.bytes + 1, "config as JSON");
    memcpy(text, writer.text, writer.bytes);
    return text;
}

// --- for people

static void print_choices(const Sink *out, const Key *key) {
    Choices choice;
    int count = config_choices(key, choice);
    for (int i = 0; i < count; i++)
        sink_print(out, "%s%s", i > 0 ? ", " : "                          One of: ", choice[i]);
    if (count > 0)
        sink_print(out, ".\n");
}

// The value as JSON, to be cleared; true if it is not the default.
static bool put_if_changed(JsonWriter *value, const Config *config, const Key *key) {
    static Config standard; // large for a stack
    CLEARED(json_writer_clear) JsonWriter normal = {0};
    config_set_defaults(&standard);
    json_writer_init(value, false);
    json_writer_init(&normal, false);
    config_put(value, NULL, config, key);
    config_put(&normal, NULL, &standard, key);
    return strcmp(value->text, normal.text) != 0;
}

// "train.epochs = 20 epochs", without the end of the line.
static void print_value(const Sink *out, const Key *key, const char *value) {
    sink_print(out, "%-22s = %s%s%s", key->path, value, key->unit != NULL ? " " : "",
               key->unit != NULL ? key->unit : "");
}

static void print_key(const Sink *out, const Config *config, const Key *key) {
    CLEARED(json_writer_clear) JsonWriter value = {0};
    bool changed = put_if_changed(&value, config, key);
    print_value(out, key, value.text);
    if (changed)
        sink_print(out, " (default %s)", key->standard);
    sink_print(out, "\n%26s%s\n", "", key->help);
    print_choices(out, key);
    char where[CONFIG_CONDITION];
    if (config_condition(key, where))
        sink_print(out, "%26sUsed where %s.\n", "", where);
}

void config_print(const Sink *out, const Config *config) {
    for (int i = 0; i < config_key_count; i++)
        print_key(out, config, &config_keys[i]);
}

// What gave the key its value: "mine.json", "--set", "mode=adaqp".
static void origin_of(char out[CONFIG_TEXT], const Config *config, const Key *key) {
    const Family *presets = presets_of(key->path);
    const char *const by[] = {"set up by fringe", "the run",
                              config->source[0] != 0 ? path_name(config->source) : "standard input",
                              "--set"};
    int origin = config->origin[key - config_keys];
    bool preset = origin == CONFIG_PRESET && presets != NULL;
    snprintf(out, CONFIG_TEXT, "%s%s%s", preset ? presets->key : by[origin], preset ? "=" : "",
             preset ? preset_word(config, presets) : "");
}

void config_print_changed(const Sink *out, const Config *config) {
    int changed = 0;
    for (int i = 0; i < config_key_count; i++) {
        const Key *key = &config_keys[i];
        CLEARED(json_writer_clear) JsonWriter value = {0};
        char origin[CONFIG_TEXT];
        if (put_if_changed(&value, config, key)) {
            print_value(out, key, value.text);
            origin_of(origin, config, key);
            sink_print(out, " (default %s; %s)\n", key->standard, origin);
            changed++;
        }
    }
    sink_print(out, "\n%d of %d keys are not at their defaults\n", changed, config_key_count);
}

// --- JSON schema

static void put_limit(JsonWriter *writer, bool lower, bool closed, double limit) {
    static const char *const names[2][2] = {{"exclusiveMaximum", "maximum"},
                                            {"exclusiveMinimum", "minimum"}};
    json_put_double(writer, names[lower][closed], limit);
}

static void put_range(JsonWriter *writer, const char *range) {
    char open, close;
    double low, high;
    if (range == NULL || sscanf(range, "%c%lf, %lf%c", &open, &low, &high, &close) != 4)
        return;
    put_limit(writer, true, open == '[', low);
    put_limit(writer, false, close == ']', high);
}

static void put_enum(JsonWriter *writer, const Choices choice, int count) {
    JSON_PUT_ARRAY(writer, "enum")
        for (int i = 0; i < count; i++)
            if (family_argument(choice[i]) == NULL)
                json_put_string(writer, NULL, choice[i]);
}

// "file:PATH" becomes a pattern.
static void put_pattern(JsonWriter *writer, const char *choice) {
    char pattern[CONFIG_WORD + 8];
    snprintf(pattern, sizeof pattern, "^%.*s:.+", (int)strcspn(choice, ":"), choice);
    JSON_PUT_OBJECT(writer, NULL)
        json_put_string(writer, "pattern", pattern);
}

static void put_choices(JsonWriter *writer, const Key *key) {
    Choices choice;
    int count = config_choices(key, choice), patterns = 0;
    for (int i = 0; i < count; i++)
        patterns += family_argument(choice[i]) != NULL;
    if (count > 0 && patterns == 0)
        put_enum(writer, choice, count);
    if (patterns == 0)
        return;
    JSON_PUT_ARRAY(writer, "anyOf") {
        JSON_PUT_OBJECT(writer, NULL)
            put_enum(writer, choice, count);
        for (int i = 0; i < count; i++)
            if (family_argument(choice[i]) != NULL)
                put_pattern(writer, choice[i]);
    }
}

static void put_single(JsonWriter *writer, const Key *key) {
    json_put_string(writer, "type", config_kinds[key->kind].type);
    put_range(writer, key->kind == KEY_NUMBERS ? NULL : key->range);
    if (key->kind != KEY_MAP) {
        put_choices(writer, key);
        return;
    }
    JSON_PUT_OBJECT(writer, "propertyNames")
        put_choices(writer, key);
}

// A word, or a list of numbers.
static void put_numbers(JsonWriter *writer, const Key *key) {
    JSON_PUT_ARRAY(writer, "anyOf") {
        JSON_PUT_OBJECT(writer, NULL)
            put_single(writer, key);
        JSON_PUT_OBJECT(writer, NULL) {
            json_put_string(writer, "type", "array");
            JSON_PUT_OBJECT(writer, "items") {
                json_put_string(writer, "type", "number");
                put_range(writer, key->range);
            }
        }
    }
}

// A list of one value may be written as that value.
static void put_schema(JsonWriter *writer, const char *name, const Key *key, const void *standard) {
    JSON_PUT_OBJECT(writer, name) {
        json_put_string(writer, "description", key->help);
        config_put(writer, "default", standard, key);
        if (config_is_list(key->kind)) {
            JSON_PUT_ARRAY(writer, "anyOf") {
                JSON_PUT_OBJECT(writer, NULL) {
                    JSON_PUT(writer, PAIR("type", "array"),
                             PAIR("maxItems", config_kinds[key->kind].list.most));
                    JSON_PUT_OBJECT(writer, "items")
                        put_single(writer, key);
                }
                JSON_PUT_OBJECT(writer, NULL)
                    put_single(writer, key);
            }
        } else if (key->kind == KEY_NUMBERS) {
            put_numbers(writer, key);
        } else {
            put_single(writer, key);
        }
    }
}

static void open_schema(JsonWriter *writer, const char *section) {
    json_begin_object(writer, section);
    JSON_PUT(writer, PAIR("type", "object"), pair_bool("additionalProperties", false));
    json_begin_object(writer, "properties");
}

static void close_schema(JsonWriter *writer) {
    json_end_object(writer);
    json_end_object(writer);
}

void config_print_schema(const Sink *out) {
    Config standard;
    config_set_defaults(&standard);
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    json_writer_begin(&writer, true);
    JSON_PUT(&writer, PAIR("$schema", "https://json-schema.org/draft/2020-12/schema"),
             PAIR("title", "fringe config"), PAIR("type", "object"),
             pair_bool("additionalProperties", false));
    JSON_PUT_OBJECT(&writer, "properties") {
        JSON_PUT_OBJECT(&writer, "$schema")
            JSON_PUT(&writer,
                     PAIR("description", "Path or URL of this schema, for editors; not read."),
                     PAIR("type", "string"));
        config_walk(&writer, &standard, any, open_schema, close_schema, put_schema);
    }
    json_end_object(&writer);
    sink_print(out, "%s", writer.text);
}

// --- Markdown

// Keys whose path begins with the same `length` letters as this one are called without these.
static void print_in_section(const Sink *out, const char *text, const char *path, int length) {
    for (const char *at = text; *at != 0; at++)
        if (length > 0 && strncmp(at, path, (size_t)length) == 0)
            at += length - 1;
        else
            sink_print(out, "%c", *at);
}

static void print_row(const Sink *out, const Key *key) {
    const char *name = strchr(key->path, '.') != NULL ? strchr(key->path, '.') + 1 : key->path;
    char expected[512];
    config_expectation(key, expected, sizeof expected);
    sink_print(out, "| `%s` | %s | `%s` | ", name, expected, key->standard);
    for (const char *letter = key->help; *letter != 0; letter++) // a bar would end the cell
        sink_print(out, *letter == '|' ? "\\%c" : "%c", *letter);
    char where[CONFIG_CONDITION];
    if (config_condition(key, where)) {
        sink_print(out, " *If ");
        print_in_section(out, where, key->path, (int)(name - key->path));
        sink_print(out, ".*");
    }
    sink_print(out, " |\n");
}

static void print_preset(const Sink *out, const Preset *preset) {
    sink_print(out, "| `%s` | %s | ", preset->name, preset->help);
    for (int i = 0; i < PRESET_SETTINGS && preset->setting[i] != NULL; i++)
        sink_print(out, "%s`%s`", i > 0 ? ", " : "", preset->setting[i]);
    sink_print(out, " |\n");
}

static void print_presets(const Sink *out, const Key *key) {
    for (int i = 0; i < PRESET_FAMILIES; i++) {
        if (strcmp(preset_families[i]->key, key->path) != 0)
            continue;
        sink_print(out, "\n| `%s` | what it does | sets |\n|---|---|---|\n", key->path);
        for (int k = 0; k < preset_families[i]->count; k++)
            print_preset(out, family_member(preset_families[i], k));
    }
}

void config_print_markdown(const Sink *out) {
    sink_print(
        out, "# Config\n\n"
             "One JSON file, checked as a whole; `--set section.key=value` overrides it. This page "
             "is generated by `fringe config markdown`.\n\n"
             "A config that does not exist is looked up among those that came with the program: "
             "`villages` is `configs/villages.json` there.\n\n"
             "Input paths are looked up beside the config, then in `$FRINGE_DATA`, then among the "
             "datasets that `fringe generate` made. A list of one value may be written as that "
             "value.\n\n"
             "`mode` and `gradients.method` are presets: they set the defaults of other keys. An "
             "*if* says where a key is used, by names of its own section.\n");
    char now[CONFIG_WORD] = "-", section[CONFIG_WORD];
    for (int i = 0; i < config_key_count; i++) {
        split_path(&config_keys[i], section);
        if (strcmp(section, now) != 0) {
            sink_print(out, "\n## %s\n", section[0] != 0 ? section : "at the top");
            print_presets(out, &config_keys[i]); // its key is the first of the section
            sink_print(out, "\n| key | value | default | |\n|---|---|---|---|\n");
        }
        snprintf(now, sizeof now, "%s", section);
        print_row(out, &config_keys[i]);
    }
}
