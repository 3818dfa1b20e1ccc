// A row of people/outcomes.tsv: what a section data must do, and whether it does.
#ifndef FRINGE_TESTS_PEOPLE_H
#define FRINGE_TESTS_PEOPLE_H

#include "loading.h"

#include "fringe/npy.h"

#include <stdlib.h>
#include <string.h>

typedef struct Row {
    const char *input, *outcome, *words, *data;
} Row;

static Dataset people_base;

static const char *people_path(const char *name) {
    static char path[4096], folder[2048];
    if (folder[0] == 0) // FRINGE_DATA is that folder from then on
        snprintf(folder, sizeof folder, "%s", data_path_or_skip("people"));
    setenv("FRINGE_DATA", folder, 1);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static Row row_of(char *line) {
    line[strcspn(line, "\n")] = 0;
    Row row = {0};
    row.input = strsep(&line, "\t");
    row.outcome = strsep(&line, "\t");
    row.words = strsep(&line, "\t");
    row.data = strsep(&line, "\t");
    assert_non_null(row.data);
    return row;
}

// Loads what the section names; paths are those of the folder of people.
static bool people_load(Dataset *dataset, const char *data, Error *err) {
    static Config config;
    static char text[4096];
    snprintf(text, sizeof text, "{\"data\": %s}", data);
    test_write_text(test_path("people.json"), text);
    *err = (Error){0};
    *dataset = (Dataset){0};
    return config_load(&config, test_path("people.json"), NULL, 0, err) &&
           dataset_load(dataset, &config, err);
}

static void people_begin(void) {
    Error err = {0};
    people_path("");
    assert_ok(people_load(&people_base, "{\"path\": \"base.npz\"}", &err), &err);
}

static void people_end(void) { dataset_clear(&people_base); }

static bool same_bytes(const void *a, const void *b, size_t bytes) {
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, bytes) == 0);
}

// Bit for bit, where the nodes have the same order.
static const char *difference(const Dataset *d, const Dataset *b) {
    size_t n = (size_t)b->nodes, e = (size_t)b->edges;
    return d->nodes != b->nodes                                   ? "other nodes"
           : d->edges != b->edges                                 ? "other edges"
           : !same_bytes(d->offset, b->offset, (n + 1) * 8)       ? "other rows of edges"
           : !same_bytes(d->target, b->target, e * 4)             ? "other targets"
           : !same_bytes(d->weight, b->weight, e * 4)             ? "other weights"
           : d->features != b->features                           ? "other columns"
           : !same_bytes(d->x, b->x, n * (size_t)b->features * 4) ? "other features"
           : !same_bytes(d->label, b->label, n * 4)               ? "other labels"
           : !same_bytes(d->split, b->split, n)                   ? "another split"
                                                                  : NULL;
}

static bool has_words(const char *text, const char *words) {
    char copy[256], *rest = copy;
    bool all = true;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        all = all && (word[0] == 0 || strcasestr(text, word) != NULL);
    return all;
}

static bool is_one_of(const char *word, const char *const *list, const char *end) {
    for (; *list != end; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static bool row_is_met(const Row *row, char why[4096]) {
    Dataset d;
    Error err;
    bool loaded = people_load(&d, row->data, &err), said = has_words(err.text, row->words);
    const char *apart = loaded ? difference(&d, &people_base) : "it is refused";
    bool warned = loaded && has_words(d.warnings.text, row->words);
    bool met = strcmp(row->outcome, "same") == 0     ? apart == NULL
               : strcmp(row->outcome, "warn") == 0   ? warned
               : strcmp(row->outcome, "refuse") == 0 ? !loaded && said
               : strcmp(row->outcome, "named") == 0  ? (loaded ? apart == NULL && warned : said)
               : loaded                              ? apart == NULL
                                                     : said;
    snprintf(why, 4096, "%s is not met: %s; %s; %s", row->outcome, apart != NULL ? apart : "equal",
             loaded ? d.warnings.text : "refused", err.text);
    if (loaded)
        dataset_clear(&d);
    return met;
}

#endif
