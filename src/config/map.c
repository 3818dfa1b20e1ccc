// Keys whose value is an object of words, as data.columns: stored as words "name=word".

#include "internal.h"

// Words may be numbers.
static bool add_word(ConfigWords *words, const char *name, const Json *value) {
    char word[CONFIG_WORD] = "";
    int64_t number;
    if (json_type(value) == JSON_STRING && strlen(json_string(value)) < sizeof word)
        snprintf(word, sizeof word, "%s", json_string(value));
    else if (json_type(value) == JSON_NUMBER && json_is_int64(value, &number))
        snprintf(word, sizeof word, "%ld", number);
    if (word[0] == 0 || words->count == CONFIG_LIST ||
        strlen(name) + strlen(word) + 2 > CONFIG_WORD)
        return false;
    snprintf(words->word[words->count++], CONFIG_WORD, "%.20s=%.42s", name, word);
    return true;
}

// A member may be a list.
static bool add_member(ConfigWords *words, const Key *key, const Json *value) {
    bool ok = config_is_choice(key, json_key(value));
    if (!ok || json_type(value) != JSON_ARRAY)
        return ok && add_word(words, json_key(value), value);
    for (const Json *e = json_first(value); ok && e != NULL; e = json_next(e))
        ok = add_word(words, json_key(value), e);
    return ok;
}

bool config_store_map(ConfigWords *map, const Key *key, const Json *value) {
    ConfigWords read = {0};
    bool ok = json_type(value) == JSON_OBJECT;
    for (const Json *m = ok ? json_first(value) : NULL; ok && m != NULL; m = json_next(m))
        ok = add_member(&read, key, m);
    if (ok)
        *map = read;
    return ok;
}
