// Finding keys, and what their kinds are; writing the value of one.

#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MOST = CONFIG_TEXT / 2 }; // of a text: a digit and a comma each

bool config_is_list(KeyKind kind) {
    return kind == KEY_WORDS || kind == KEY_INTS || kind == KEY_DOUBLES || kind == KEY_PATHS;
}

// "source=from" as a member of an object; several of one name become a list.
static void put_map(JsonWriter *writer, const ConfigWords *words) {
    for (int i = 0; i < words->count; i++) {
        char name[CONFIG_WORD];
        size_t length = strcspn(words->word[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)length, words->word[i]);
        bool again =
            i + 1 < words->count && strncmp(words->word[i + 1], words->word[i], length + 1) == 0;
        if (!again) {
            json_put_string(writer, name, words->word[i] + length + 1);
            continue;
        }
        json_begin_array(writer, name);
        for (; i < words->count && strncmp(words->word[i], name, length) == 0 &&
               words->word[i][length] == '=';
             i++)
            json_put_string(writer, NULL, words->word[i] + length + 1);
        json_end_array(writer);
        i--;
    }
}

bool config_is_text(KeyKind kind) {
    return kind == KEY_WORD || kind == KEY_TEXT || kind == KEY_PATH || kind == KEY_WORDS ||
           kind == KEY_PATHS || kind == KEY_NUMBERS;
}

int64_t config_numbers(const char *text, double *out, int64_t most) {
    int64_t count = 0;
    if (*text != '[')
        return 0;
    for (char *end; text[1] != 0 && text[1] != ']'; text = end, count++) {
        double number = strtod(text + 1, &end);
        if (count < most)
            out[count] = number;
    }
    return count;
}

static void put_numbers(JsonWriter *writer, const char *name, const char *text) {
    double value[NUMBERS_MOST];
    int64_t count = config_numbers(text, value, NUMBERS_MOST);
    json_put_list(writer, name, value, count);
}

const Key *config_key_find(const char *path) {
    for (int i = 0; i < config_key_count; i++)
        if (strcmp(config_keys[i].path, path) == 0)
            return &config_keys[i];
    return NULL;
}

bool config_in_section(const Key *key, const char *section) {
    size_t length = strlen(section);
    return strncmp(key->path, section, length) == 0 && key->path[length] == '.';
}

bool config_is_section(const char *name) {
    for (int i = 0; i < config_key_count; i++)
        if (config_in_section(&config_keys[i], name))
            return true;
    return false;
}

static void put_entries(JsonWriter *writer, const void *at, KeyKind kind) {
    const ConfigWords *words = at;
    const ConfigPaths *paths = at;
    const ConfigInts *ints = at;
    const ConfigDoubles *doubles = at;
    int count = *(const int *)at; // all kinds begin with it
    for (int i = 0; i < count; i++)
        if (kind == KEY_WORDS)
            json_put_string(writer, NULL, words->word[i]);
        else if (kind == KEY_PATHS)
            json_put_string(writer, NULL, paths->word[i]);
        else if (kind == KEY_INTS)
            json_put_int(writer, NULL, ints->value[i]);
        else
            json_put_double(writer, NULL, doubles->value[i]);
}

void config_put(JsonWriter *writer, const char *name, const Config *config, const Key *key) {
    const void *at = (const char *)config + key->offset;
    switch (key->kind) {
    case KEY_WORD:
    case KEY_TEXT:
    case KEY_PATH:
        json_put_string(writer, name, at);
        break;
    case KEY_NUMBERS:
        if (*(const char *)at == '[')
            put_numbers(writer, name, at);
        else
            json_put_string(writer, name, at);
        break;
    case KEY_BOOL:
        json_put_bool(writer, name, *(const bool *)at);
        break;
    case KEY_INT:
        json_put_int(writer, name, *(const int64_t *)at);
        break;
    case KEY_DOUBLE:
        json_put_double(writer, name, *(const double *)at);
        break;
    case KEY_MAP:
        json_begin_object(writer, name);
        put_map(writer, at);
        json_end_object(writer);
        break;
    default:
        json_begin_array(writer, name);
        put_entries(writer, at, key->kind);
        json_end_array(writer);
    }
}
