// Keys that members of families add: each follows the other keys of its section, and its value lies
// in its member's part of Config.member.

#include "internal.h"

enum { MEMBERS_MOST = 32 };

static Key all[CONFIG_KEYS];
static struct Member {
    const MemberKeys *keys;
    size_t at; // in Config.member
    const Family *family;
    int place; // in the family
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

// The values of a member lie at `at`; returns where those of the next one do.
static size_t learn(const Family *family, int place, size_t at) {
    const void *of = (const char *)family_member(family, place) + family->keys;
    const MemberKeys *keys = of;
    size_t grain = _Alignof(max_align_t);
    assert(member_count < MEMBERS_MOST);
    member[member_count++] = (struct Member){keys, at, family, place};
    for (int k = 0; k < keys->count; k++)
        insert(&keys->key[k], at);
    return at + (keys->bytes + grain - 1) / grain * grain;
}

void config_learn_keys(const Family *const *families, int count) {
    size_t at = 0;
    memcpy(all, config_own_keys, (size_t)config_own_key_count * sizeof *all);
    config_keys = all;
    config_key_count = config_own_key_count;
    member_count = 0;
    for (int i = 0; i < count; i++)
        for (int place = 0; families[i]->keys > 0 && place < families[i]->count; place++)
            at = learn(families[i], place, at);
    assert(at <= CONFIG_MEMBERS);
}

bool config_member_of(const Key *key, char out[CONFIG_CONDITION]) {
    for (int i = 0; i < member_count; i++)
        for (int k = 0; k < member[i].keys->count; k++)
            if (strcmp(member[i].keys->key[k].path, key->path) == 0) {
                snprintf(out, CONFIG_CONDITION, "%s=%s", member[i].family->key,
                         family_word(member[i].family, member[i].place));
                return true;
            }
    return false;
}

RandomKind config_random(const Config *config) {
    return (RandomKind){.seven = strcmp(config->run.random, "philox7") == 0,
                        .narrow = config->run.random_bits == 8};
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

bool config_is_said(const Config *config, const char *path) {
    const Key *key = config_key_find(path);
    return key != NULL && config->origin[key - config_keys] > CONFIG_OF_RUN;
}
