// A row of people/outcomes.tsv: what a section data must do, and whether it does.
#pragma once

#include "loading.h"

#include "fringe/npy.h"

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
    dataset_clear(dataset);
    if (!config_load(&config, test_path("people.json"), NULL, 0, err) ||
        !dataset_load(dataset, &config, err))
        return false;
    bool can_train = dataset_can_train(dataset, err);
    if (!can_train)
        dataset_clear(dataset);
    return can_train;
}

static void people_begin(void) {
    people_path("");
    assert_ok(people_load(&people_base, "{\"path\": \"base.npz\"}", &err));
}

static void people_end(void) { dataset_clear(&people_base); }

static bool same_bytes(const void *a, const void *b, size_t bytes) {
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, bytes) == 0);
}

// The base's node of each node: where ids are numbers, cites_ids.npy has them.
static int64_t *base_nodes(const Dataset *d, const char **apart) {
    int64_t *ids = NULL, *node = TEST_ARRAY(int64_t, d->nodes);
    CLEARED(npy_clear) Npy npy = {0};
    if (d->ids.number == NULL || d->ids.count != people_base.nodes) {
        for (int64_t i = 0; i < d->nodes; i++)
            node[i] = i;
        return node;
    }
    assert_ok(npy_read(&npy, people_path("cites_ids.npy"), &err));
    assert_ok(npy_to_int64(&npy, &ids, &err));
    for (int64_t i = 0; i < d->nodes; i++) {
        node[i] = -1;
        for (int64_t k = 0; k < npy.elements; k++)
            node[i] = ids[k] == d->ids.number[i] ? k : node[i];
        if (node[i] < 0)
            *apart = "other ids";
    }
    memory_free(ids);
    return node;
}

// Ids of text are the lines of names_ids.txt.
static const char *other_names(const Dataset *d) {
    char line[64], id[NODE_ID_TEXT];
    bool same = true;
    if (d->ids.bytes == NULL)
        return NULL;
    FILE *file = fopen(people_path("names_ids.txt"), "r");
    assert_non_null(file);
    for (int64_t i = 0; i < d->ids.count; i++) {
        same = same && fgets(line, sizeof line, file) != NULL;
        line[strcspn(line, "\n")] = 0;
        same = same && strcmp(line, node_id_text(&d->ids, i, id)) == 0;
    }
    fclose(file);
    return same ? NULL : "other names";
}

// The rows of `d` in the order of the base's nodes.
static Dataset in_base_order(const Dataset *d, const int64_t *node) {
    size_t n = (size_t)d->nodes;
    Dataset out = {.nodes = d->nodes, .edges = d->edges, .features = d->features};
    int64_t *of = TEST_ARRAY(int64_t, n), place = 0;
    out.offset = test_memory((n + 1) * 8);
    out.target = test_memory((size_t)d->edges * 4);
    out.x = d->x != NULL ? test_memory(n * (size_t)d->features * 4) : NULL;
    out.label = d->label != NULL ? test_memory(n * 4) : NULL;
    out.split = test_memory(n);
    for (size_t i = 0; i < n; i++)
        of[node[i]] = (int64_t)i;
    for (size_t b = 0; b < n; b++) {
        int64_t i = of[b];
        for (int64_t e = d->offset[i]; e < d->offset[i + 1]; e++)
            out.target[place++] = (int32_t)node[d->target[e]];
        for (int64_t k = out.offset[b] + 1; k < place; k++) // few: by insertion
            for (int64_t m = k; m > out.offset[b] && out.target[m] < out.target[m - 1]; m--) {
                int32_t t = out.target[m];
                out.target[m] = out.target[m - 1];
                out.target[m - 1] = t;
            }
        out.offset[b + 1] = place;
        if (d->x != NULL)
            memcpy(out.x + b * (size_t)d->features, d->x + i * d->features,
                   (size_t)d->features * 4);
        if (d->label != NULL)
            out.label[b] = d->label[i];
        out.split[b] = d->split[i];
    }
    return out;
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

static const char *apart_from_base(const Dataset *d) {
    const char *apart = other_names(d);
    int64_t *node = base_nodes(d, &apart);
    if (apart == NULL && d->nodes == people_base.nodes) {
        Dataset named = in_base_order(d, node);
        apart = d->weight != NULL ? "weights" : difference(&named, &people_base);
    } else if (apart == NULL) {
        apart = "other nodes";
    }
    return apart;
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

// `warnings`: what is said of a row that is read as the base, words of it; "": nothing.
static bool row_is_met(const Row *row, const char *warnings, char why[4096]) {
    OWNED(Dataset) d = {0};
    Error err;
    bool loaded = people_load(&d, row->data, &err), said = has_words(err.text, row->words);
    const char *apart = loaded ? apart_from_base(&d) : "it is refused";
    bool warned = loaded && has_words(d.warnings.text, row->words);
    bool expected = loaded && (warnings[0] == 0) == (d.warnings.text[0] == 0) &&
                    has_words(d.warnings.text, warnings);
    bool met = strcmp(row->outcome, "same") == 0     ? apart == NULL && expected
               : strcmp(row->outcome, "warn") == 0   ? warned
               : strcmp(row->outcome, "refuse") == 0 ? !loaded && said
               : strcmp(row->outcome, "named") == 0  ? (loaded ? apart == NULL && warned : said)
               : loaded                              ? apart == NULL
                                                     : said;
    snprintf(why, 4096, "%s is not met: %s; %s; %s", row->outcome, apart != NULL ? apart : "equal",
             loaded ? d.warnings.text : "refused", err.text);
    return met;
}
