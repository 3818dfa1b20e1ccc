// Keys whose value is an object of words, as data.columns: stored as words "name=word".

#include "internal.h"

#include <stdio.h>
#include <string.h>

// "name=word" of a member of an object; words may be numbers.
static bool store_member(ConfigWords *words, const Key *key, const char *name, const Json *value,
                         Complaints *complaints) {
    char word[CONFIG_WORD] = "";
    int64_t number;
    if (json_type(value) == JSON_STRING)
        snprintf(word, sizeof word, "%s", json_string(value));
    else if (json_type(value) == JSON_NUMBER && json_is_int64(value, &number))
        snprintf(word, sizeof word, "%lld", (long long)number);
    if (word[0] == 0)
        return config_misfit(key, value, complaints);
    if (words->count == CONFIG_LIST || strlen(name) + strlen(word) + 2 > CONFIG_WORD) {
        config_complain(complaints, "%s: expected at most %d names of at most %d letters",
                        key->path, CONFIG_LIST, CONFIG_WORD - 12);
        return false;
    }
    snprintf(words->word[words->count++], CONFIG_WORD, "%.20s=%.42s", name, word);
    return true;
}

// All or nothing. A member may be a list.
void config_store_map(ConfigWords *map, const Key *key, const Json *value, Complaints *complaints) {
    ConfigWords read = {0};
    bool ok = json_type(value) == JSON_OBJECT || config_misfit(key, value, complaints);
    for (const Json *m = ok ? json_first(value) : NULL; ok && m != NULL; m = json_next(m)) {
        if (!config_is_choice(key, json_key(m)))
            ok = config_misfit(key, m, complaints);
        else if (json_type(m) != JSON_ARRAY)
            ok = store_member(&read, key, json_key(m), m, complaints);
        else
            for (const Json *e = json_first(m); ok && e != NULL; e = json_next(e))
                ok = store_member(&read, key, json_key(m), e, complaints);
    }
    if (ok)
        *map = read;
}
