// Keys that members of families add: each follows the other keys of its section, and its value lies
// in its member's part of Config.member.

#include "internal.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS_MOST = 32 };

static Key all[CONFIG_KEYS];
static struct {
    const MemberKeys *keys;
    size_t at; // in Config.member
} member[MEMBERS_MOST];
static int member_count;

static size_t section_length(const Key *key) { return strcspn(key->path, "."); }

static bool same_section(const Key *a, const Key *b) {
    size_t length = section_length(a);
    return length == section_length(b) && strncmp(a->path, b->path, length) == 0;
}

// Inserts the key behind the last key of its section.
static void insert(const Key *key, size_t at) {
    int place = config_key_count;
    while (place > 0 && !same_section(&all[place - 1], key))
        place--;
    assert(place > 0 && config_key_count < CONFIG_KEYS);
    memmove(&all[place + 1], &all[place], (size_t)(config_key_count - place) * sizeof *all);
    all[place] = *key;
    all[place].offset = offsetof(Config, member) + at + key->offset;
    config_key_count++;
}

void config_learn_keys(const MemberKeys *const *members, int count) {
    size_t at = 0, grain = _Alignof(max_align_t);
    assert(count <= MEMBERS_MOST);
    memcpy(all, config_own_keys, (size_t)config_own_key_count * sizeof *all);
    config_keys = all;
    config_key_count = config_own_key_count;
    member_count = count;
    for (int i = 0; i < count; i++) {
        member[i].keys = members[i];
        member[i].at = at;
        for (int k = 0; k < members[i]->count; k++)
            insert(&members[i]->key[k], at);
        at += (members[i]->bytes + grain - 1) / grain * grain;
    }
    assert(at <= CONFIG_MEMBERS);
}

void config_values(const Config *config, const MemberKeys *keys, void *values) {
    memset(values, 0, keys->bytes);
    for (int i = 0; i < member_count; i++)
        if (member[i].keys == keys) {
            memcpy(values, config->member + member[i].at, keys->bytes);
            return;
        }
    for (int k = 0; k < keys->count; k++)
        config_set_default(values, &keys->key[k]);
}

const Key *config_key_find(const char *path) {
    for (int i = 0; i < config_key_count; i++)
        if (strcmp(config_keys[i].path, path) == 0)
            return &config_keys[i];
    return NULL;
}

bool config_is_said(const Config *config, const char *path) {
    const Key *key = config_key_find(path);
    return key != NULL && config->said[key - config_keys];
}
