// Finds what differs between the configs of several runs.

#include "fringe/records.h"

typedef struct Keys {
    char (*key)[RECORD_KEY]; // [room]
    int count, room;
} Keys;

static bool is_there(const Keys *keys, const char *path) {
    for (int i = 0; i < keys->count; i++)
        if (strcmp(keys->key[i], path) == 0)
            return true;
    return false;
}

static void add(Keys *keys, const char *path) {
    if (is_there(keys, path))
        return;
    if (keys->count == keys->room) {
        keys->room = keys->room > 0 ? 2 * keys->room : 64;
        keys->key = memory_grown(keys->key, (size_t)keys->count * RECORD_KEY,
                                 (size_t)keys->room * RECORD_KEY, "keys of runs");
    }
    snprintf(keys->key[keys->count++], RECORD_KEY, "%s", path);
}

// Adds all keys inside a value of run.json; a list is one value.
static void add_keys(Keys *keys, const char *path, const Json *value) {
    if (value == NULL)
        return;
    if (json_type(value) != JSON_OBJECT) {
        add(keys, path);
        return;
    }
    for (const Json *at = json_first(value); at != NULL; at = json_next(at)) {
        char inner[RECORD_KEY];
        if (snprintf(inner, sizeof inner, "%s.%s", path, json_key(at)) < (int)sizeof inner)
            add_keys(keys, inner, at);
    }
}

// The whole value as text, to be cleared.
static JsonWriter text_of(const Json *value) {
    JsonWriter writer;
    json_writer_init(&writer, false);
    json_put_value(&writer, NULL, value);
    return writer;
}

bool record_has_value(const RunRecord *record, const char *key, const Json *value) {
    const Json *own = record_member(record, key);
    if (own == NULL || value == NULL)
        return own == value;
    CLEARED(json_writer_clear) JsonWriter one = text_of(own), other = text_of(value);
    return strcmp(one.text, other.text) == 0;
}

bool record_same_value(const RunRecord *a, const RunRecord *b, const char *key) {
    return record_has_value(a, key, record_member(b, key));
}

bool record_value(const RunRecord *record, const char *key, char out[RECORD_VALUE]) {
    const Json *value = record_member(record, key);
    if (value == NULL)
        return false;
    if (json_type(value) == JSON_STRING) {
        snprintf(out, RECORD_VALUE, "%s", json_string(value));
        return true;
    }
    CLEARED(json_writer_clear) JsonWriter writer = text_of(value);
    snprintf(out, RECORD_VALUE, "%s", writer.text);
    return true;
}

// A key that a run lacks does not count as a difference.
static bool differs(const RunRecords *records, const char *key) {
    const RunRecord *first = NULL;
    for (int i = 0; i < records->count; i++) {
        const RunRecord *run = &records->run[i];
        if (record_member(run, key) == NULL)
            continue;
        if (first != NULL && !record_same_value(first, run, key))
            return true;
        first = run;
    }
    return false;
}

// Says where a run writes, when it prints or saves, and when it stops.
static bool counts(const char *key) {
    static const char section[] = "config.run.";
    return strncmp(key, section, strlen(section)) != 0 ||
           !text_lists("dir log_every checkpoint_every checkpoint_minutes keep_checkpoints "
                       "stop_after lock_wait memory_limit trace",
                       key + strlen(section));
}

char (*records_differing_keys(const RunRecords *records, int *count))[RECORD_KEY] {
    Keys all = {0}, found = {0};
    for (int i = 0; i < records->count; i++) {
        add_keys(&all, "config", record_member(&records->run[i], "config"));
        add_keys(&all, "machine.ranks", record_member(&records->run[i], "machine.ranks"));
    }
    for (int i = 0; i < all.count; i++)
        if (counts(all.key[i]) && differs(records, all.key[i]))
            add(&found, all.key[i]);
    memory_free(all.key);
    *count = found.count;
    return found.key;
}

static const char *behind_points(const char *key, int points) {
    const char *at = key + strlen(key);
    for (; at > key; at--)
        if (at[-1] == '.' && points-- == 0)
            break;
    return at;
}

const char *record_short_key(const char (*key)[RECORD_KEY], int count, int which) {
    const char *last = behind_points(key[which], 0);
    for (int i = 0; i < count; i++)
        if (i != which && strcmp(behind_points(key[i], 0), last) == 0)
            return behind_points(key[which], 1);
    return last;
}
