// Finding keys, and what their kinds are; writing the value of one.

#include "internal.h"

#include <ctype.h>

enum { NUMBERS_MOST = CONFIG_TEXT / 2 }; // of a text: a digit and a comma each

#define LIST(of, List, entries)                                                                    \
    {                                                                                              \
        of, (int)(sizeof((List){0}.entries) / sizeof *(List){0}.entries), offsetof(List, entries), \
            sizeof *(List){0}.entries                                                              \
    }
const Kind config_kinds[] = {
    [KEY_WORD] = {"a word", "string", {0}},
    [KEY_TEXT] = {"a text", "string", {0}},
    [KEY_PATH] = {"a path", "string", {0}},
    [KEY_BOOL] = {"true or false", "boolean", {0}},
    [KEY_INT] = {"a whole number", "integer", {0}},
    [KEY_DOUBLE] = {"a number", "number", {0}},
    [KEY_WORDS] = {"a list of words", "string", LIST(KEY_WORD, ConfigWords, word)},
    [KEY_INTS] = {"a list of whole numbers", "integer", LIST(KEY_INT, ConfigInts, value)},
    [KEY_DOUBLES] = {"a list of numbers", "number", LIST(KEY_DOUBLE, ConfigDoubles, value)},
    [KEY_PATHS] = {"a list of names of arrays or files", "string",
                   LIST(KEY_TEXT, ConfigPaths, word)},
    [KEY_NUMBERS] = {"a list of numbers", "string", {0}},
    [KEY_MAP] = {"an object of names or numbers", "object", {0}},
};

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
        JSON_PUT_ARRAY(writer, name)
            for (; i < words->count && strncmp(words->word[i], name, length) == 0 &&
                   words->word[i][length] == '=';
                 i++)
                json_put_string(writer, NULL, words->word[i] + length + 1);
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

bool config_is_alike(const char *a, const char *b) {
    for (;; a++, b++) {
        while (*a == '-' || *a == '_')
            a++;
        while (*b == '-' || *b == '_')
            b++;
        bool ended = *b == 0 || *b == ' ';
        if (*a == 0 || ended)
            return *a == 0 && ended;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    }
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

static void put_value(JsonWriter *writer, const char *name, const void *at, KeyKind kind) {
    const ListKind *list = &config_kinds[kind].list;
    switch (kind) {
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
        JSON_PUT_OBJECT(writer, name)
            put_map(writer, at);
        break;
    default:
        if (config_is_list(kind)) {
            JSON_PUT_ARRAY(writer, name)
                for (int i = 0; i < *(const int *)at; i++) // all kinds begin with their count
                    put_value(writer, NULL,
                              (const char *)at + list->first + (size_t)i * list->bytes,
                              list->entry);
        } else if (kind == KEY_NUMBERS && *(const char *)at == '[') {
            put_numbers(writer, name, at);
        } else {
            json_put_string(writer, name, at);
        }
    }
}

void config_put(JsonWriter *writer, const char *name, const Config *config, const Key *key) {
    put_value(writer, name, (const char *)config + key->offset, key->kind);
}
