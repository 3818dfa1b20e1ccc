// The words that a key may have: those in its row of the table of keys, or the names of a family.

#include "internal.h"

static const Family *const *families; // [family_count]; borrowed
static int family_count;

void config_learn_families(const Family *const *list, int count) {
    families = list;
    family_count = count;
}

static const Family *family_of(const Key *key) {
    for (int i = 0; i < PRESET_FAMILIES; i++)
        if (strcmp(preset_families[i]->key, key->path) == 0)
            return preset_families[i];
    for (int i = 0; i < family_count; i++)
        if (strcmp(families[i]->key, key->path) == 0)
            return families[i];
    return NULL;
}

static int words_of_row(const char *choices, Choices out) {
    int count = 0;
    while (choices != NULL && *choices != 0 && count < CHOICES_MOST) {
        size_t length = strcspn(choices, " ");
        snprintf(out[count++], CONFIG_WORD, "%.*s", (int)length, choices);
        choices += length + (choices[length] == ' ');
    }
    return count;
}

const Key *config_key_at(int i) { return i < config_key_count ? &config_keys[i] : NULL; }

int config_choices(const Key *key, Choices out) {
    const Family *family = family_of(key);
    int count = 0;
    if (family == NULL)
        return words_of_row(key->choices, out);
    for (; count < CHOICES_MOST && family_word(family, count) != NULL; count++)
        snprintf(out[count], CONFIG_WORD, "%s", family_word(family, count));
    return count;
}

bool config_is_choice(const Key *key, const char *word) {
    Choices choice;
    const Family *family = family_of(key);
    if (family != NULL)
        return family_knows(family, word, &(Error){0});
    int count = config_choices(key, choice);
    for (int i = 0; i < count; i++)
        if (strcmp(choice[i], word) == 0)
            return true;
    return count == 0;
}
