// Errors about unknown keys, with a suggestion.

#include "internal.h"

// The words of a section's keys, for family_closest; 0 if there is no such section.
static int words_of(const char *section, const char *words[64]) {
    int count = 0;
    for (int i = 0; i < config_key_count; i++)
        if (config_in_section(&config_keys[i], section) && count < 64)
            words[count++] = config_keys[i].path + strlen(section) + 1;
    return count;
}

// What follows the section's name, or the whole name.
static const char *last_part(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

// A key with this name: of the same section, or of another one, of streams last. NULL: there is
// none.
static const char *same_name(const char *path) {
    const char *found = NULL;
    int best = 0;
    for (int i = 0; i < config_key_count; i++) {
        const Key *key = &config_keys[i];
        size_t section = strcspn(key->path, ".");
        int fits = strncmp(path, key->path, section + 1) == 0 ? 3
                   : config_in_section(key, "stream")         ? 1
                                                              : 2;
        if (fits > best && config_is_alike(last_part(path), last_part(key->path))) {
            found = key->path;
            best = fits;
        }
    }
    return found;
}

// The answer of the table of synonyms, or a key of this very name in any section.
static const char *meant(const char *path) {
    const char *known = config_meaning("key", path);
    if (known == NULL)
        known = config_meaning("key", last_part(path));
    return known != NULL ? known : same_name(path);
}

const char *config_guess_key(const char *name) {
    const char *known = config_key_find(name) != NULL ? name : meant(name);
    return known != NULL && !config_is_sentence(known) ? known : NULL;
}

static bool complain_meant(const char *path, Complaints *complaints) {
    const char *known = meant(path);
    if (known != NULL)
        config_complain(complaints, "%s: unknown key%s", path, HINT(known));
    return known != NULL;
}

static const char *const sections[] = {"data",  "partition",    "stream",    "model",
                                       "train", "quantization", "gradients", "lossless",
                                       "comm",  "program",      "run"};
enum { SECTIONS = sizeof sections / sizeof sections[0] };

void config_unknown_section(const char *section, Complaints *complaints) {
    const char *known = config_meaning("section", section);
    const char *closest = known == NULL ? family_closest(section, sections, SECTIONS) : known;
    if (config_count_only(complaints))
        return;
    config_complain(
        complaints, "%s: unknown section%s", section,
        closest != NULL
            ? HINT(closest)
            : "; there are data, partition, stream, model, train, quantization, gradients, "
              "lossless, comm, program, run");
}

// A section that is no object, or a name without a section.
static void unknown_at_top(const char *name, Complaints *complaints) {
    const char *known = config_meaning("key", name);
    if (!config_is_section(name)) {
        if (!complain_meant(name, complaints))
            config_unknown_section(name, complaints);
    } else {
        bool word = known != NULL && !config_is_sentence(known);
        config_complain(complaints, "%s: expected an object with the keys of this section%s", name,
                        word ? HINT(known) : "");
    }
}

// Suggests a synonym, the same name in another section, the closest name of this section, or all
// its names.
void config_unknown(const char *path, Complaints *complaints) {
    const char *dot = strchr(path, '.'), *words[64];
    char section[CONFIG_WORD], list[640] = "";
    if (config_count_only(complaints))
        return;
    snprintf(section, sizeof section, "%.*s", (int)strcspn(path, "."), path);
    int count = words_of(section, words);
    if (dot == NULL) {
        unknown_at_top(path, complaints);
        return;
    }
    if (complain_meant(path, complaints))
        return;
    if (count == 0) {
        config_unknown_section(section, complaints);
        return;
    }
    const char *closest = family_closest(dot + 1, words, count);
    if (closest != NULL) {
        config_complain(complaints, "%s: unknown key; did you mean %s.%s?", path, section, closest);
    } else {
        for (int i = 0; i < count; i++)
            text_add(list, sizeof list, ", ", "%s", words[i]);
        config_complain(complaints, "%s: unknown key; expected one of %s", path, list);
    }
}
