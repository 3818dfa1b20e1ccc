// Gathers runs into arms and names each arm by what differs. The idea of the names: the arms are
// divided by their mode first, then by their ranks, then by their data, then by the other keys of
// the config; a key is part of a name only if it divides arms that had the same name so far.

#include "internal.h"

#include "fringe/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- which runs are one arm

// True if each key of `a` has the same value in `b`.
static bool holds_all(const Settings *a, const Settings *b) {
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->row[i].value, settings_value(b, a->row[i].key)) != 0)
            return false;
    return true;
}

static bool is_same(const Settings *a, const Settings *b) {
    return holds_all(a, b) && holds_all(b, a);
}

// Fills arm_of with -1 for folders that were named before, else with 0.
static void mark_repeated(Arms *arms, const RunRecords *records) {
    char **real = ALLOC(char *, records->count, "folders of runs");
    for (int i = 0; i < records->count; i++) {
        real[i] = realpath(records->run[i].folder, NULL);
        for (int j = 0; j < i && real[i] != NULL && arms->arm_of[i] == 0; j++)
            if (real[j] != NULL && strcmp(real[i], real[j]) == 0)
                arms->arm_of[i] = -1;
    }
    for (int i = 0; i < records->count; i++)
        free(real[i]);
    memory_free(real);
}

static int find_or_add(Arms *arms, const RunRecord *run) {
    Arm *new = ALLOC(Arm, 1, "an arm");
    new->first = run;
    settings_read(&new->settings, run);
    for (int i = 0; i < arms->count; i++)
        if (is_same(&arms->arm[i]->settings, &new->settings)) {
            memory_free(new);
            return i;
        }
    arms->arm[arms->count] = new;
    return arms->count++;
}

// --- their order

static int place_of_mode(const Arm *arm) {
    const char *mode = settings_value(&arm->settings, "mode"), *word;
    int place = 0;
    while ((word = family_word(&mode_family, place)) != NULL && strcmp(word, mode) != 0)
        place++;
    return place;
}

// Modes in the order of their table, more ranks first; otherwise as the runs were named.
static bool comes_before(const Arm *a, const Arm *b) {
    int places = place_of_mode(a) - place_of_mode(b);
    int ranks =
        atoi(settings_value(&a->settings, "ranks")) - atoi(settings_value(&b->settings, "ranks"));
    return places != 0 ? places < 0 : ranks > 0;
}

static void swap(Arms *arms, int runs, int a, int b) {
    Arm *kept = arms->arm[a];
    arms->arm[a] = arms->arm[b];
    arms->arm[b] = kept;
    for (int run = 0; run < runs; run++)
        if (arms->arm_of[run] == a || arms->arm_of[run] == b)
            arms->arm_of[run] = a + b - arms->arm_of[run];
}

static void put_in_order(Arms *arms, int runs) { // by insertion, which keeps the order of equals
    for (int i = 1; i < arms->count; i++)
        for (int j = i; j > 0 && comes_before(arms->arm[j], arms->arm[j - 1]); j--)
            swap(arms, runs, j, j - 1);
}

// --- their names

bool arms_differ(const Arms *arms, const char *key) {
    const char *value = settings_value(&arms->arm[0]->settings, key);
    for (int i = 1; i < arms->count; i++)
        if (strcmp(value, settings_value(&arms->arm[i]->settings, key)) != 0)
            return true;
    return false;
}

static void add_to_label(Arm *arm, const char *key, const char *value) {
    char word[200];
    if (strcmp(key, "mode") == 0)
        snprintf(word, sizeof word, "%.60s", value);
    else if (strcmp(key, "ranks") == 0)
        snprintf(word, sizeof word, "%.20s rank%s", value, strcmp(value, "1") == 0 ? "" : "s");
    else if (strcmp(key, "data.path") == 0)
        snprintf(word, sizeof word, "%.60s", path_name(value));
    else
        snprintf(word, sizeof word, "%s=%.60s", key, value);
    size_t used = strlen(arm->label);
    snprintf(arm->label + used, sizeof arm->label - used, "%s%s", used > 0 ? ", " : "", word);
}

// Adds the key to the names of those arms that it divides. `group[i]`: the first arm that had the
// same name before this key.
static void divide(Arms *arms, int *group, const char *key) {
    int *before = ALLOC(int, arms->count, "groups of arms");
    memcpy(before, group, (size_t)arms->count * sizeof *group);
    for (int i = 0; i < arms->count; i++) {
        const char *value = settings_value(&arms->arm[i]->settings, key);
        bool divided = false;
        for (int j = arms->count - 1; j >= 0; j--)
            if (before[j] == before[i]) {
                bool same = strcmp(value, settings_value(&arms->arm[j]->settings, key)) == 0;
                group[i] = same ? j : group[i];
                divided |= !same;
            }
        if (divided)
            add_to_label(arms->arm[i], key, value);
    }
    memory_free(before);
}

static void divide_by_keys_of(Arms *arms, int *group, const Settings *settings) {
    for (int i = 0; i < settings->count; i++)
        if (arms_differ(arms, settings->row[i].key))
            divide(arms, group, settings->row[i].key);
}

static void name_arms(Arms *arms) {
    static const char *const first[] = {"mode", "ranks", "data.path"};
    int *group = ALLOC(int, arms->count, "groups of arms");
    for (int i = 0; i < FAMILY_COUNT(first); i++)
        divide(arms, group, first[i]);
    divide_by_keys_of(arms, group, &arms->arm[0]->settings);
    divide_by_keys_of(arms, group, &arms->arm[arms->count - 1]->settings); // of another model
    for (int i = 0; i < arms->count; i++)
        if (arms->arm[i]->label[0] == 0)
            add_to_label(arms->arm[i], "mode", settings_value(&arms->arm[i]->settings, "mode"));
    memory_free(group);
}

void arms_gather(Arms *arms, const RunRecords *records) {
    *arms = (Arms){.arm = ALLOC(Arm *, records->count, "arms"),
                   .arm_of = ALLOC(int, records->count, "arms of runs")};
    mark_repeated(arms, records);
    for (int run = 0; run < records->count; run++)
        if (arms->arm_of[run] == 0)
            arms->arm_of[run] = find_or_add(arms, &records->run[run]);
    put_in_order(arms, records->count);
    if (arms->count > 0)
        name_arms(arms);
}

void arms_clear(Arms *arms) {
    for (int i = 0; i < arms->count; i++)
        memory_free(arms->arm[i]);
    memory_free(arms->arm);
    memory_free(arms->arm_of);
    *arms = (Arms){0};
}
