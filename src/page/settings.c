// The config of a run as a flat list of keys and values, so that configs can be compared key by
// key.

#include "internal.h"

#include <stdio.h>
#include <string.h>

// Keys of the section run that change what is trained or how fast; the others do not.
static const char *const kept_of_run[] = {"run.threads", "run.backend", "run.simd", "run.panels"};
static const char *const left_out[] = {"data.cache", "comm.timeout"};

static bool is_one_of(const char *key, const char *const *list, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(key, list[i]) == 0)
            return true;
    return false;
}

static bool makes_another_training(const char *key) {
    if (strncmp(key, "run.", 4) == 0)
        return is_one_of(key, kept_of_run, FAMILY_COUNT(kept_of_run));
    return !is_one_of(key, left_out, FAMILY_COUNT(left_out));
}

// Appends a value to the text; the entries of a list are separated by commas.
static void append(char text[SETTING_VALUE], const Json *value) {
    size_t used = strlen(text);
    char *at = text + used;
    size_t room = SETTING_VALUE - used;
    switch (json_type(value)) {
    case JSON_STRING:
        snprintf(at, room, "%s", json_string(value));
        break;
    case JSON_NUMBER:
        snprintf(at, room, "%.10g", json_number(value));
        break;
    case JSON_BOOL:
        snprintf(at, room, "%s", json_bool(value) ? "true" : "false");
        break;
    case JSON_NULL:
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        for (const Json *each = json_first(value); each != NULL; each = json_next(each)) {
            append(text, each);
            if (json_next(each) != NULL)
                strncat(text, ", ", SETTING_VALUE - 1 - strlen(text));
        }
    }
}

static void add(Settings *settings, const char *section, const Json *value) {
    if (settings->count == SETTINGS_MOST)
        return;
    Setting *row = &settings->row[settings->count];
    *row = (Setting){0};
    snprintf(row->key, sizeof row->key, "%s%s%s", section, section[0] != 0 ? "." : "",
             json_key(value));
    append(row->value, value);
    settings->count += makes_another_training(row->key);
}

static void add_ranks(Settings *settings, const RunRecord *run) {
    Setting *row = &settings->row[settings->count++];
    double ranks = record_number(run, "machine.ranks");
    snprintf(row->key, sizeof row->key, "ranks");
    snprintf(row->value, sizeof row->value, "%.0f", ranks > 0 ? ranks : 1);
}

void settings_read(Settings *settings, const RunRecord *run) {
    const Json *config = record_member(run, "config");
    settings->count = 0;
    add_ranks(settings, run);
    if (config == NULL || json_type(config) != JSON_OBJECT)
        return;
    for (const Json *at = json_first(config); at != NULL; at = json_next(at))
        if (json_type(at) != JSON_OBJECT)
            add(settings, "", at);
        else
            for (const Json *key = json_first(at); key != NULL; key = json_next(key))
                add(settings, json_key(at), key);
}

const char *settings_value(const Settings *settings, const char *key) {
    for (int i = 0; i < settings->count; i++)
        if (strcmp(settings->row[i].key, key) == 0)
            return settings->row[i].value;
    return "";
}
