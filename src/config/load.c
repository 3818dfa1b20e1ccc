// Layers of configuration: defaults < presets < file < --set. Each layer overwrites values of the
// one below. A first pass for each family of presets finds the one in use, because it lies below
// the file that names it.

#include "internal.h"

static void store_text(void *values, const Key *key, const char *json, Complaints *complaints) {
    Error syntax = {0};
    CLEARED(json_drop) Json *value = json_parse(json, strlen(json), key->path, &syntax);
    if (value == NULL)
        config_complain(complaints, "%s: %s", key->path, syntax.text);
    else
        config_store(values, key, value, complaints);
}

void config_set_default(void *values, const Key *key) {
    Complaints complaints = {.err = &(Error){0}, .where = "default"};
    store_text(values, key, key->standard, &complaints);
    assert(complaints.count == 0);
}

// Their texts are parsed once for each table of keys: loading sets them twice.
void config_set_defaults(Config *config) {
    static Config standard;
    static const Key *keys;
    static int count;
    if (keys != config_keys || count != config_key_count) {
        memset(&standard, 0, sizeof standard);
        for (int i = 0; i < config_key_count; i++)
            config_set_default(&standard, &config_keys[i]);
        keys = config_keys;
        count = config_key_count;
    }
    *config = standard;
}

static void store_said(Config *config, const Key *key, const Json *value, Complaints *complaints) {
    config_store(config, key, value, complaints);
    config->origin[key - config_keys] = CONFIG_OF_FILE;
}

void config_store_object(Config *config, const Json *object, const char *section,
                         Complaints *complaints) {
    for (const Json *value = json_first(object); value != NULL; value = json_next(value)) {
        char path[256];
        if (section[0] == 0 && strcmp(json_key(value), "$schema") == 0)
            continue; // tells editors where the schema is
        snprintf(path, sizeof path, "%s%s%.100s", section, section[0] != 0 ? "." : "",
                 SHOWN(json_key(value)));
        const Key *key = config_key_find(path);
        if (key != NULL)
            store_said(config, key, value, complaints);
        else if (section[0] == 0 && json_type(value) == JSON_OBJECT &&
                 config_is_section(json_key(value)))
            config_store_object(config, value, json_key(value), complaints);
        else if (section[0] == 0 && json_type(value) == JSON_OBJECT)
            config_unknown_section(path, complaints);
        else
            config_unknown(path, complaints);
    }
}

// A number that people type and JSON does not know, as JSON writes it: .5, 5. or +1.
static bool is_number(char json[32], const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (*text == 0 || *end != 0 || text[strspn(text, "+-.0123456789eE")] != 0 || !isfinite(value))
        return false;
    snprintf(json, 32, "%.17g", value);
    return true;
}

// Stores "section.key=value". Keys of text accept bare text, all others JSON or a number.
static void store_setting(Config *config, const char *setting, Complaints *complaints) {
    const char *equals = strchr(setting, '=');
    if (equals == NULL) {
        config_complain(complaints, "%s: expected %s=VALUE", setting,
                        config_key_find(setting) != NULL ? setting : "section.key");
        return;
    }
    char path[256];
    snprintf(path, sizeof path, "%.*s", (int)(equals - setting), setting);
    const Key *key = config_key_find(path);
    if (key == NULL) {
        config_unknown(path, complaints);
        return;
    }
    const char *text = equals + 1;
    bool bare = config_is_text(key->kind) && text[0] != '"' && text[0] != '[';
    CLEARED(json_drop)
    Json *value = bare ? NULL : json_parse(text, strlen(text), path, &(Error){0});
    CLEARED(json_writer_clear) JsonWriter quoted = {0};
    char number[32];
    json_writer_init(&quoted, false);
    json_put_string(&quoted, NULL, text);
    config->origin[key - config_keys] = CONFIG_OF_SETTING;
    if (value != NULL)
        config_store(config, key, value, complaints);
    else // of a bare word config_store complains if the key wants a number
        store_text(config, key, !bare && is_number(number, text) ? number : quoted.text,
                   complaints);
}

// Presets also set keys of members, which are there once their families are learned.
static bool is_learned(const char *setting) {
    char path[256];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(setting, "="), setting);
    return config_key_count > config_own_key_count || config_key_find(path) != NULL;
}

// word: of the first `count` families.
static void store_presets(Config *config, char word[][CONFIG_WORD], int count,
                          Complaints *complaints) {
    for (int i = 0; i < count; i++) {
        const Family *family = preset_families[i];
        const char *argument;
        const Preset *preset = family_find(family, word[i], &argument, &(Error){0});
        char setting[2 * CONFIG_WORD];
        assert(preset != NULL);
        complaints->where = family->key;
        snprintf((char *)config + config_key_find(family->key)->offset, CONFIG_WORD, "%s", word[i]);
        for (int k = 0; preset_setting(setting, preset, argument, k); k++)
            if (is_learned(setting))
                store_setting(config, setting, complaints);
    }
    memset(config->origin, CONFIG_PRESET, sizeof config->origin);
}

// Stores the layers above presets. The keys of a run's config do not count as named by the user.
static void store_layers(Config *config, const Json *file, const char *name,
                         bool written_by_program, const char *const *settings, int count,
                         Complaints *complaints) {
    complaints->where = name;
    if (file != NULL && json_type(file) != JSON_OBJECT)
        config_complain(complaints, "expected an object of sections, found %s",
                        json_type_name(json_type(file)));
    else if (file != NULL)
        config_store_object(config, file, "", complaints);
    if (written_by_program)
        memset(config->origin, CONFIG_OF_RUN, sizeof config->origin);
    complaints->where = "--set";
    for (int i = 0; i < count; i++)
        store_setting(config, settings[i], complaints);
}

static bool load(Config *config, const Json *file, const char *name, bool written_by_program,
                 const char *const *settings, int count, Error *err) {
    char source[sizeof config->source], word[PRESET_FAMILIES][CONFIG_WORD];
    Error all = {0};
    Complaints complaints;
    snprintf(source, sizeof source, "%s", config->source);
    for (int known = 0; known <= PRESET_FAMILIES; known++) {
        complaints = (Complaints){.err = known < PRESET_FAMILIES ? NULL : &all};
        config_set_defaults(config);
        store_presets(config, word, known, &complaints);
        store_layers(config, file, name, written_by_program, settings, count, &complaints);
        if (known < PRESET_FAMILIES)
            snprintf(word[known], CONFIG_WORD, "%s", preset_word(config, preset_families[known]));
    }
    snprintf(config->source, sizeof config->source, "%s", source);
    complaints.where = name != NULL ? name : "config";
    if (complaints.count == 0)
        config_check_together(config, &complaints);
    config_resolve_paths(config, &complaints); // so that files can be checked beside wrong values
    return complaints.count == 0 ? config_check_cache(config, err)
                                 : error_config(err, "%s", all.text);
}

// The config inside run.json, or the file itself.
static const Json *config_inside(const Json *file) {
    const Json *inside = json_get_of(file, "config", JSON_OBJECT);
    return inside != NULL ? inside : file;
}

static const Json *json_at(const Json *object, const char *path) {
    char section[CONFIG_WORD];
    const char *dot = strchr(path, '.');
    snprintf(section, sizeof section, "%.*s", (int)strcspn(path, "."), path);
    const Json *inside = json_get(object, section);
    return dot == NULL || inside == NULL ? inside : json_get(inside, dot + 1);
}

// The config of a run names every key, also those that its presets set, so other presets could
// change none.
static bool check_presets_of_run(const Config *config, const Json *inside, const char *name,
                                 Error *err) {
    for (int i = 0; i < PRESET_FAMILIES; i++) {
        const char *key = preset_families[i]->key, *is = preset_word(config, preset_families[i]);
        const Json *was = json_at(inside, key);
        if (was != NULL && strcmp(json_string(was), is) != 0)
            return error_config(
                err,
                "%s: this is the config of a run with %s=%s, which sets every key that this "
                "presets; to use %s=%s, give the config file that the run was made from",
                name, key, json_string(was), key, is);
    }
    return true;
}

static bool refuse_missing(const char *path, Error *err) {
    char nearby[2048];
    if (config_nearby(path, nearby, sizeof nearby))
        return error_set(err, EXIT_NO_INPUT, "%s does not exist; did you mean %s?", path, nearby);
    return error_set(err, EXIT_NO_INPUT, "%s does not exist; give a config, or the folder of a run",
                     path);
}

static Json *read_file(const char *path, Error *err) {
    if (file_is_denied(path, err))
        return NULL;
    if (!file_exists(path))
        refuse_missing(path, err);
    return err->code == 0 ? json_read(path, err) : NULL;
}

static Json *open_file(Config *config, const char *path, Error *err) {
    if (config_is_input(path))
        return config_read_input(err);
    if (config_find(path, config->source, sizeof config->source))
        return read_file(config->source, err);
    error_config(err, "the path of the config is longer than %zu letters",
                 sizeof config->source - 1);
    return NULL;
}

bool config_load(Config *config, const char *path, const char *const *settings, int count,
                 Error *err) {
    const char *name = config_called(path);
    memset(config, 0, sizeof *config);
    Error read = {0};
    CLEARED(json_drop) Json *file = path != NULL ? open_file(config, path, &read) : NULL;
    if (read.code != 0) // invalid JSON is a bad config, not bad data
        return error_set(err, read.code == EXIT_DATA ? EXIT_CONFIG : (ExitCode)read.code, "%s",
                         read.text);
    const Json *layer = file != NULL ? config_inside(file) : NULL;
    return load(config, layer, name, layer != file, settings, count, err) &&
           (layer == file || check_presets_of_run(config, layer, name, err));
}
