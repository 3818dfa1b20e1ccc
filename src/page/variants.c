// Gathers runs into variants and names each variant by what differs. The idea of the names: the
// variants are divided by their mode first, then by their ranks, then by their data, then by the
// other keys of the config; a key is part of a name only if it divides variants that had the same
// name so far.

#include "internal.h"

#include "fringe/config.h"

#include <ctype.h>

// --- what a variant is: the values of these keys

static void read_keys(Variants *variants, const RunRecords *records) {
    int count;
    variants->key = records_differing_keys(records, &count);
    for (int i = 0; i < count; i++)
        if (!text_lists("config.run.seed config.data.cache config.comm.timeout", variants->key[i]))
            memmove(variants->key[variants->keys++], variants->key[i], RECORD_KEY);
}

static const char *value_of(const RunRecord *run, const char *key, char out[RECORD_VALUE]) {
    return record_value(run, key, out) ? out : "";
}

static bool is_same_variant(const Variants *variants, const RunRecord *a, const RunRecord *b) {
    for (int i = 0; i < variants->keys; i++)
        if (!record_same_value(a, b, variants->key[i]))
            return false;
    return true;
}

// --- which runs are one variant

// Fills variant_of with -1 for folders that were named before, else with 0.
static void mark_repeated(Variants *variants, const RunRecords *records) {
    FREED char **real = ALLOC(char *, records->count, "folders of runs");
    for (int i = 0; i < records->count; i++) {
        real[i] = realpath(records->run[i].folder, NULL);
        for (int j = 0; j < i && real[i] != NULL && variants->variant_of[i] == 0; j++)
            if (real[j] != NULL && strcmp(real[i], real[j]) == 0)
                variants->variant_of[i] = -1;
    }
    for (int i = 0; i < records->count; i++)
        free(real[i]);
}

// Reads the number of "-N" and goes behind it; without one the number is 1.
static long number_at(const char **at) {
    char *end;
    long number = **at == '-' ? strtol(*at + 1, &end, 10) : 1;
    if (number > 1)
        *at = end;
    return number;
}

// True for NAME/run-1 and NAME-2/run-1: a run that starts again takes the next number.
static bool was_started_again(const char *older, const char *newer) {
    size_t same = 0;
    while (older[same] != 0 && older[same] == newer[same])
        same++;
    size_t first = same;
    while (first > 0 && isdigit((unsigned char)older[first - 1]))
        first--;
    if (first > 0 && older[first - 1] == '-')
        same = first - 1;
    older += same;
    newer += same;
    return number_at(&older) < number_at(&newer) && strcmp(older, newer) == 0 &&
           (*newer == 0 || *newer == '/');
}

// A run that was started again counts once, as the newest.
static void leave_out_older(Variants *variants, const RunRecords *records) {
    for (int i = 0; i < records->count; i++)
        for (int j = 0; j < records->count && variants->variant_of[i] >= 0; j++) {
            const RunRecord *a = &records->run[i], *b = &records->run[j];
            if (variants->variant_of[j] == variants->variant_of[i] &&
                was_started_again(a->folder, b->folder) &&
                record_same_value(a, b, "config.run.seed"))
                variants->variant_of[i] = -1;
        }
}

static int find_or_add(Variants *variants, const RunRecord *run) {
    for (int i = 0; i < variants->count; i++)
        if (is_same_variant(variants, variants->variant[i].first, run))
            return i;
    variants->variant[variants->count] = (Variant){.first = run};
    return variants->count++;
}

// --- their order

static int place_of_mode(const Variant *variant) {
    const char *mode = record_text(variant->first, "config.mode"), *word;
    int place = 0;
    while (mode != NULL && (word = family_word(&mode_family, place)) != NULL &&
           strcmp(word, mode) != 0)
        place++;
    return place;
}

// Modes in the order of their table, more ranks first; otherwise as the runs were named.
static bool comes_before(const Variant *a, const Variant *b) {
    int places = place_of_mode(a) - place_of_mode(b);
    return places != 0 ? places < 0
                       : record_number(a->first, "machine.ranks") >
                             record_number(b->first, "machine.ranks"); // false for NaN
}

static void swap(Variants *variants, int runs, int a, int b) {
    Variant kept = variants->variant[a];
    variants->variant[a] = variants->variant[b];
    variants->variant[b] = kept;
    for (int run = 0; run < runs; run++)
        if (variants->variant_of[run] == a || variants->variant_of[run] == b)
            variants->variant_of[run] = a + b - variants->variant_of[run];
}

static void put_in_order(Variants *variants,
                         int runs) { // by insertion, which keeps the order of equals
    for (int i = 1; i < variants->count; i++)
        for (int j = i; j > 0 && comes_before(&variants->variant[j], &variants->variant[j - 1]);
             j--)
            swap(variants, runs, j, j - 1);
}

// --- their names

// True if two data sets have the same last part of their path.
static bool data_share_a_name(const Variants *variants) {
    static const char key[] = "config.data.path";
    char one[RECORD_VALUE], other[RECORD_VALUE];
    for (int i = 0; i < variants->count; i++)
        for (int j = 0; j < i; j++) {
            const RunRecord *a = variants->variant[i].first, *b = variants->variant[j].first;
            if (!record_same_value(a, b, key) &&
                strcmp(path_name(value_of(a, key, one)), path_name(value_of(b, key, other))) == 0)
                return true;
        }
    return false;
}

// "adaqp", "4 ranks", "reddit-small", "lr=0.01"
static void add_to_label(Variant *variant, const char *key, const char *name, bool same_name) {
    char value[RECORD_VALUE], word[256];
    value_of(variant->first, key, value);
    if (strcmp(key, "config.mode") == 0)
        snprintf(word, sizeof word, "%s", value);
    else if (strcmp(key, "machine.ranks") == 0)
        snprintf(word, sizeof word, "%s rank%s", value, strcmp(value, "1") == 0 ? "" : "s");
    else if (strcmp(key, "config.data.path") == 0)
        snprintf(word, sizeof word, "%s", same_name ? value : path_name(value));
    else
        snprintf(word, sizeof word, "%s=%s", name, value);
    text_add(variant->label, sizeof variant->label, ", ", "%s", word);
}

// Adds the key to the names of those variants that it divides. `namesake[i]`: the first variant
// that had the same name before this key.
static void divide(Variants *variants, int *namesake, const char *key, const char *name) {
    FREED int *before = ALLOC(int, variants->count, "names of variants");
    bool same_name = data_share_a_name(variants);
    memcpy(before, namesake, (size_t)variants->count * sizeof *namesake);
    for (int i = 0; i < variants->count; i++) {
        bool divided = false;
        for (int j = variants->count - 1; j >= 0; j--)
            if (before[j] == before[i]) {
                bool same =
                    record_same_value(variants->variant[i].first, variants->variant[j].first, key);
                namesake[i] = same ? j : namesake[i];
                divided |= !same;
            }
        if (divided)
            add_to_label(&variants->variant[i], key, name, same_name);
    }
}

static void name_variants(Variants *variants) {
    static const char *const first[] = {"config.mode", "machine.ranks", "config.data.path"};
    FREED int *namesake = ALLOC(int, variants->count, "names of variants");
    for (int i = 0; i < FAMILY_COUNT(first); i++)
        divide(variants, namesake, first[i], "");
    for (int i = 0; i < variants->keys; i++)
        divide(variants, namesake, variants->key[i],
               record_short_key((const char(*)[RECORD_KEY])variants->key, variants->keys, i));
    for (int i = 0; i < variants->count; i++)
        if (variants->variant[i].label[0] == 0)
            add_to_label(&variants->variant[i], "config.mode", "", false);
}

void variants_gather(Variants *variants, const RunRecords *records) {
    *variants = (Variants){.variant = ALLOC(Variant, records->count, "variants"),
                           .variant_of = ALLOC(int, records->count, "variants of runs")};
    read_keys(variants, records);
    mark_repeated(variants, records);
    for (int run = 0; run < records->count; run++)
        if (variants->variant_of[run] == 0)
            variants->variant_of[run] = find_or_add(variants, &records->run[run]);
    leave_out_older(variants, records);
    put_in_order(variants, records->count);
    name_variants(variants);
}

void variants_clear(Variants *variants) {
    MEMORY_FREE(variants->key, variants->variant, variants->variant_of);
    *variants = (Variants){0};
}
