// The family of formats, and loading: the files in their order, then the steps of data.transforms.
// format_edges.c is the smallest member to copy.

#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The files of reddit are npz files; a list of edges is what looks like one, and a folder of our
// own format whatever others do not know.
static const Format *const formats[] = {
    &format_reddit, &format_npz, &format_metis,      &format_hgr,   &format_pins,  &format_events,
    &format_mtx,    &format_ogb, &format_graphsaint, &format_edges, &format_fringe};
const Family format_family = FAMILY_OF_POINTERS("data.format", "auto", formats);

// The first format that matches the path; NULL if none does.
static const Format *guess(const char *path) {
    for (int i = 0; i < format_family.count; i++)
        if (formats[i]->matches(path))
            return formats[i];
    return NULL;
}

const Format *format_find(const char *name, const char *path, Error *err) {
    bool automatic = name[0] == '\0' || strcmp(name, format_family.automatic) == 0;
    if (!automatic)
        return family_find(&format_family, name, NULL, err);
    if (format_is_refused(path, err))
        return NULL;
    const Format *format = guess(path);
    if (format == NULL)
        error_set(err, EXIT_CONFIG,
                  "%s: its name does not say what format it has; set data.format to one of %s",
                  path, family_words(&format_family, (char[FAMILY_WORDS]){0}));
    return format;
}

bool dataset_format_fits(const char *name, const char *path, Error *err) {
    return format_find(name, path, err) != NULL;
}

const char *dataset_format_name(const Config *config) {
    char path[PATH_BYTES];
    dataset_path(config, config->data.path, path);
    const Format *format = format_find(config->data.format, path, &(Error){0});
    return format != NULL ? format->name : NULL;
}

bool dataset_is_foreign(const char *path) {
    const Format *format = guess(path);
    return format != NULL && format != &format_fringe;
}

// --- loading

void dataset_name_of(char out[DATASET_NAME], const char *path) {
    char copy[PATH_BYTES];
    snprintf(copy, sizeof copy, "%s", path);
    size_t length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = '\0';
    const char *name = path_name(copy);
    size_t keep = strcspn(name, ".");
    if (keep == 0)
        keep = strlen(name);
    if (keep >= DATASET_NAME) // cut between UTF-8 characters
        for (keep = DATASET_NAME - 1; keep > 0 && (name[keep] & 0xC0) == 0x80;)
            keep--;
    snprintf(out, DATASET_NAME, "%.*s", (int)keep, name);
}

bool dataset_name(const Config *config, char out[DATASET_NAME], Error *err) {
    char path[PATH_BYTES];
    dataset_path(config, config->data.path, path);
    const Format *format = format_find(config->data.format, path, err);
    if (format == NULL)
        return false;
    dataset_name_of(out, path);
    return format->name_inside == NULL || format->name_inside(path, out, err);
}

static bool load(Dataset *dataset, const Config *config, const char *path, Beside *beside,
                 Error *err) {
    Request request = {config, path, beside_rows(beside), beside};
    const Format *format = format_find(config->data.format, path, err);
    if (format == NULL)
        return false;
    dataset_name_of(dataset->name, path);
    labels_are(dataset, config);
    if ((format->name_inside != NULL && !format->name_inside(path, dataset->name, err)) ||
        !format->read(dataset, &request, err) ||
        !beside_take(dataset, beside, format->holds_splits ? path : NULL, err) ||
        !dataset_check(dataset, path, err))
        return false;
    dataset_finish(dataset);
    warn_of_one_direction(dataset, config);
    int64_t nodes = dataset->nodes;
    if (!dataset_prepare(dataset, &config->data.transforms, 0, config->run.memory_limit, err))
        return error_prefix(err, "%s: data.transforms", path);
    if (dataset->nodes != nodes && dataset->ids.count > 0) {
        warnings_add(&dataset->warnings,
                     "the new nodes have no ids, so nodes are named by numbers");
        dataset_drop_ids(dataset);
    }
    dataset_warn_of_oddities(dataset);
    return true;
}

static bool format_is_stream(const Config *config, const char *path) {
    return format_find(config->data.format, path, &(Error){0}) == &format_events;
}

bool dataset_load(Dataset *dataset, const Config *config, Error *err) {
    char path[PATH_BYTES];
    *dataset = (Dataset){0};
    if (config->data.path[0] == '\0')
        return error_set(err, EXIT_CONFIG, "data.path: no dataset is named");
    dataset_path(config, config->data.path, path);
    if (file_is_denied(path, err))
        return false;
    if (!file_exists(path) && !parts_are(path))
        return error_set(err, EXIT_NO_INPUT,
                         "%s: there is no such file or folder (data.path '%s' is looked for beside "
                         "the config, then in the folder FRINGE_DATA)",
                         path, config->data.path);
    Beside *beside = beside_open(config, format_is_stream(config, path), err);
    bool ok = beside != NULL && load(dataset, config, path, beside, err);
    beside_close(beside);
    if (!ok)
        dataset_clear(dataset);
    return ok;
}

// --- the memory that loading takes, from the headers of the files: every reader has a `plan` that
// follows its steps and only adds sizes; then come the steps behind the reader

// Rows that do not ascend are transposed twice; assume that, since it is not known yet.
static void plan_sorting(Tally *tally) {
    size_t rows =
        tally_rows(tally, tally->edges) + memory_product(tally->hyperedges, sizeof(int64_t));
    if (tally->mapped)
        return;
    tally->copied = true;
    tally_add(tally, 2 * rows);
    tally_sub(tally, 2 * rows);
}

// New rows beside the old ones. How many edges the cliques have is not known: that step checks it.
static void plan_expansion(Tally *tally, const char *step) {
    int64_t more = strncmp(step, "singletons:", 11) == 0 ? tally->nodes : 0;
    size_t old = tally_rows(tally, tally->edges);
    if (more == 0) {
        tally->nodes += strcmp(step, "star") == 0 ? tally->hyperedges : 0;
        more = tally->edges;
        tally->weight = sizeof(float);
        tally_add(tally, memory_product(tally->nodes * tally->features, sizeof(float)));
    }
    tally->edges += more;
    tally_add(tally, tally_rows(tally, tally->edges));
    tally_sub(tally, old);
}

static bool is_expansion(const char *step) {
    return strncmp(step, "singletons:", 11) == 0 || strcmp(step, "clique") == 0 ||
           strcmp(step, "star") == 0;
}

static void plan_no_edges(Tally *tally) {
    size_t old = tally_rows(tally, tally->edges);
    tally->edges = tally->hyperedges = 0;
    tally->weight = 0;
    tally_add(tally, tally_rows(tally, 0));
    tally_sub(tally, old);
}

static void plan_step(Tally *tally, const char *step) {
    if (is_expansion(step)) {
        plan_expansion(tally, step);
        return;
    }
    if (strcmp(step, "drop-edges") == 0) {
        plan_no_edges(tally);
        return;
    }
    int64_t made = strncmp(step, "random:", 7) == 0 ? atoll(step + 7)
                   : strcmp(step, "degree") == 0    ? 18
                                                    : 0;
    bool graph = strcmp(step, "symmetrize") == 0 || strncmp(step, "drop-", 5) == 0;
    if (made > 0) {
        tally->features = made;
        tally_add(tally, memory_product(tally->nodes * made, sizeof(float)));
    } else if (graph) { // the transposed rows, and the new rows beside the old
        size_t old = tally_rows(tally, tally->edges);
        bool doubles = strcmp(step, "symmetrize") == 0 && !tally->symmetric;
        tally->edges *= doubles ? 2 : 1;
        tally->symmetric |= doubles;
        size_t rows = tally_rows(tally, tally->edges);
        tally_add(tally, old + rows);
        tally_sub(tally, 2 * old);
    } else if (strncmp(step, "one-hot", 7) == 0) { // more columns are checked by that step
        tally_add(tally, memory_product(tally->nodes * tally->features, sizeof(float)));
    } else if (tally->mapped) { // a writable copy
        tally_add(tally, memory_product(tally->nodes * tally->features, sizeof(float)));
        tally->mapped = false;
    }
}

static const size_t libraries = 2 << 20; // buffers of libzip, zlib and stdio

static void plan_all(Tally *tally, const Config *config, const Format *format, const char *path,
                     Beside *beside) {
    Request request = {config, path, beside_rows(beside), beside};
    tally_add(tally, beside_bytes(beside));
    format->plan(tally, &request);
    beside_plan(tally, beside);
    plan_sorting(tally);
    for (int i = 0; i < config->data.transforms.count; i++)
        plan_step(tally, config->data.transforms.word[i]);
}

void dataset_plan(MemoryPlan *plan, const Config *config) {
    char path[PATH_BYTES];
    Tally tally = {0};
    dataset_path(config, config->data.path, path);
    const Format *format = format_find(config->data.format, path, &(Error){0});
    Beside *beside =
        format != NULL && (file_exists(path) || parts_are(path)) ? beside_look(config) : NULL;
    if (beside == NULL)
        return;
    plan_all(&tally, config, format, path, beside);
    beside_close(beside);
    memory_plan_add(plan, "loading the dataset", tally.most + (tally.copied ? libraries : 0));
}
