// Checks a config before anything is loaded, and reports all mistakes at once: in its values, and
// in the files and folders that a command will need.

#include "internal.h"

#include "fringe/gradsync.h"

#include <unistd.h>

typedef struct Early {
    const Config *config;
    const char *where; // name of the config in messages
    Error *err;
    Error found; // by the check that runs now
} Early;

// Adds what was found, if anything was.
static void join(Early *early) {
    if (early->found.code != 0)
        error_join(early->err, (ExitCode)early->found.code, "%s: %s", early->where,
                   early->found.text);
    early->found = (Error){0};
}

static void join_of(Early *early, const char *key) {
    error_prefix(&early->found, "%s", key);
    join(early);
}

// ---- values

static void check_names(Early *early) {
    const Config *c = early->config;
    if (c->data.path[0] == 0)
        error_config(&early->found, "data.path: expected the path of a graph, found nothing");
    join(early);
    for (int i = 0; i < c->data.transforms.count; i++) {
        dataset_step_fits(c->data.transforms.word[i], &early->found);
        join_of(early, "data.transforms");
    }
    partition_method_fits(c->partition.method, &early->found);
    join(early);
    for (int i = 0; i < c->data.split_keys.count; i++)
        if (c->data.split_keys.word[i][0] == 0) {
            error_config(&early->found, "data.split_keys: entry %d is not the name of an array", i);
            join(early);
        }
}

// Checks that involve several keys.
static void check_together(Early *early) {
    const Config *c = early->config;
    int64_t features = c->model.hidden.count > 0 ? c->model.hidden.value[0] : 1; // may be as wide
    ModelShape shape;
    GradForm form = {0};
    CodecOptions options = {0};
    const Schedule *schedule;
    model_shape(&shape, c, features, 2, false, &early->found);
    join(early);
    gradsync_configure(&form, c, &early->found);
    join(early);
    exchange_configure(c, &schedule, &options, &early->found);
    join(early);
}

static void check_layer(Early *early, const Options *options) {
    int last = (int)early->config->model.layers - 1;
    ModelShape shape;
    if (options->layer > last)
        error_usage(&early->found, "--layer: expected 1 to %d (model.layers - 1), found %d", last,
                    options->layer);
    else if (options->layer > 0 && model_shape(&shape, early->config, 1, 2, false, &(Error){0}) &&
             options->layer * shape.stages < shape.feature_layers - 1)
        error_usage(&early->found,
                    "--layer: expected %d to %d, found %d: the rows of lower layers are computed "
                    "at set-up and not stored (lossless.input_features=exchange computes them)",
                    shape.feature_layers - 1, last, options->layer);
    join(early);
}

// `words` is cut into texts up to `word`.
static bool came_before(const char *words, const char *word) {
    for (const char *at = words; at < word; at += strlen(at) + 1)
        if (strcmp(at, word) == 0)
            return true;
    return false;
}

// `compare` takes the modes of a config, and "alone", each once: its name is that of a folder.
static void check_modes(Early *early, const Options *options) {
    char words[512], list[FAMILY_WORDS], *rest = words;
    Choices choice;
    if (options->modes != NULL && options->modes[strspn(options->modes, ",")] == 0)
        error_join(early->err, EXIT_USAGE, "--modes: names no mode; there are %s, alone",
                   family_words(&mode_family, list));
    snprintf(words, sizeof words, "%s", options->modes != NULL ? options->modes : "");
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        if (word[0] != 0 && came_before(words, word))
            error_join(early->err, EXIT_USAGE,
                       "--modes: %s is named twice; --runs N trains each mode N times", word);
        if (word[0] == 0 || strcmp(word, "alone") == 0 ||
            family_knows(&mode_family, word, &(Error){0}))
            continue;
        const char *guess = config_guess_word("mode", word, choice);
        if (guess == NULL)
            error_join(early->err, EXIT_USAGE,
                       "--modes: there is no mode '%s'; there are %s, alone", word,
                       family_words(&mode_family, list));
        else
            error_join(early->err, EXIT_USAGE, "--modes: there is no mode '%s'%s", word,
                       HINT(guess));
    }
}

// ---- the disk

static bool can_be_made(const char *name) {
    for (int i = 0; dataset_generator_name(i) != NULL; i++)
        if (strcmp(dataset_generator_name(i), name) == 0)
            return true;
    return false;
}

// Says how to make the dataset; with -o if `fringe generate` would store it elsewhere.
static bool tell_how_to_make(const Config *config, const char *name, Error *err) {
    Config plain;
    char into[PATH_BYTES + 64] = "";
    if (config_load(&plain, NULL, NULL, 0, &(Error){0}) &&
        strcmp(plain.data.cache, config->data.cache) != 0)
        snprintf(into, sizeof into, " -o %s/%s", PATH_IN(config->data.cache, "generated"), name);
    return error_set(err, EXIT_NO_INPUT, "%s does not exist; make it with: fringe generate %s%s",
                     config->data.path, name, into);
}

// "random:60,20,20", "stratified", "0.6/0.2/0.2"
static bool may_be_a_draw(const char *name) {
    return strpbrk(name, ":,") != NULL || (name[0] == '0' && name[1] == '.') ||
           text_lists("random per-class shchur stratified public", name);
}

static bool is_missing(const char *path, const char *key, Error *err) {
    const char *data = getenv("FRINGE_DATA");
    return error_set(err, EXIT_NO_INPUT,
                     "%s does not exist; fringe looks for %s beside the config, then in the folder "
                     "FRINGE_DATA (%s)%s",
                     path, strcmp(key, "data.path") == 0 ? key : "it",
                     data != NULL ? data : "which is not set",
                     strpbrk(path, "~$") != NULL   ? "; ~ and $NAME are not replaced"
                     : strstr(path, "://") != NULL ? "; it reads files, which you download first"
                     : strcmp(key, "data.splits") == 0 && may_be_a_draw(path_name(path))
                         ? "; data.splits=random:0.6,0.2 draws shares, per-class:20,500,1000 counts"
                         : "");
}

static bool is_file(const char *path, const char *key, Error *err) {
    int64_t bytes;
    if (file_is_denied(path, err))
        return false;
    if (!file_exists(path))
        return is_missing(path, key, err);
    CLEARED(descriptor_drop) int descriptor = file_open(path, &bytes, err);
    return descriptor >= 0;
}

static bool check_graph(const Config *config, Error *err) {
    const char *path = config->data.path, *name = path_name(path);
    if (file_is_denied(path, err))
        return false;
    if (file_is_folder(path))
        return dataset_is_foreign(path) || (dataset_format_fits("auto", path, err) &&
                                            is_file(PATH_IN(path, "dataset.json"), "", err));
    if (strpbrk(path, "*?[") != NULL && dataset_is_foreign(path)) // a pattern of parts
        return true;
    if (file_exists(path))
        return is_file(path, "data.path", err) &&
               dataset_format_fits(config->data.format, path, err);
    if (can_be_made(name))
        return tell_how_to_make(config, name, err);
    return is_missing(path, "data.path", err);
}

// Checks the file that a key names, if it names one.
static void check_file(Early *early, const char *key, const char *path) {
    if (path[0] != 0 && !is_file(path, key, &early->found))
        join_of(early, key);
}

static void check_data(Early *early, int ranks) {
    const Config *c = early->config;
    if (c->data.path[0] != 0)
        check_graph(c, &early->found);
    join(early);
    check_file(early, "data.features", c->data.features);
    check_file(early, "data.labels", c->data.labels);
    check_file(early, "data.nodes", c->data.nodes);
    check_file(early, "data.fitted", c->data.fitted);
    if (!config_splits_are_drawn(c))
        check_file(early, "data.splits", c->data.splits);
    if (config_names_file(c->data.weights))
        check_file(early, "data.weights", c->data.weights);
    for (int i = 0; i < c->data.split_keys.count; i++)
        if (config_names_file(c->data.split_keys.word[i]))
            check_file(early, "data.split_keys", c->data.split_keys.word[i]);
    partition_check_file(c, ranks, &early->found);
    join(early);
    partition_check_cache(c, &early->found);
    join(early);
    if (early->err->code == 0 && !launch_inside_job()) // there rank 0 counts them
        partition_check_ranks(c, ranks, &early->found);
    join(early);
}

// A resumed run does not need the weights that it started from. If there is nothing to resume, that
// is reported later.
static void check_start(Early *early, const Options *options) {
    const Config *c = early->config;
    CLEARED(replay_clear) Replay replay = {0};
    if (!options->resume)
        check_file(early, "model.weights", c->model.weights);
    replay_read_widths(&replay, c, &early->found);
    join(early);
    replay_read_exchanges(&replay, c, &early->found);
    join(early);
}

static void check_folder(Early *early, const char *key, const char *path) {
    if (!file_check_folder(path, &early->found))
        join_of(early, key);
}

// The folder that a file will lie in.
static void check_above(Early *early, const char *key, const char *path) {
    if (path == NULL)
        return;
    const char *folder = FOLDER_OF(path);
    if (!file_is_folder(folder))
        error_set(&early->found, EXIT_CANNOT_WRITE, "there is no folder %s", folder);
    join_of(early, key);
}

static void check_weights(Early *early, const Options *options) {
    const char *where = options->weights != NULL ? options->weights : early->config->run.dir;
    if (!file_is_denied(where, &early->found) && !file_exists(where))
        error_set(&early->found, EXIT_NO_INPUT, "%s: %s does not exist",
                  options->weights != NULL ? "--weights" : "run.dir", where);
    join(early);
}

static void check_disk(Early *early, const Options *options, int ranks) {
    const char *predictions = PATH_IN(early->config->run.dir, "predictions");
    if (options->needs & NEEDS_DATA)
        check_data(early, ranks);
    if (options->needs & NEEDS_START)
        check_start(early, options);
    if (options->needs & NEEDS_RUN)
        check_folder(early, "run.dir", early->config->run.dir);
    if (options->needs & NEEDS_WEIGHTS)
        check_weights(early, options);
    check_above(early, "--csv", options->csv);
    check_above(early, "--npz", options->npz);
    if (options->needs & NEEDS_OUTPUT)
        check_folder(early, "--output", options->output != NULL ? options->output : predictions);
}

// ---- loading

// "run-1, run-2, ..."
static void list_names(char *out, size_t size, const RunRecords *records, const char *folder) {
    int i = 0;
    for (out[0] = 0; i < records->count && strlen(out) < size - 128; i++) {
        const char *name = records->run[i].folder + strlen(folder);
        text_add(out, size, ", ", "%.100s", name + strspn(name, "/"));
    }
    if (i < records->count)
        text_add(out, size, ", ", "...");
}

// Explains a folder that is not that of one run.
static bool tell_what_folder(const char *folder, Error *err) {
    char names[512];
    CLEARED(records_clear) RunRecords records = {0};
    if (file_exists(PATH_IN(folder, "dataset.json")))
        return error_set(err, EXIT_NO_INPUT,
                         "%s is a dataset; give a config that names it: "
                         "{\"data\": {\"path\": \"%s\"}}",
                         folder, folder);
    if (!records_add(&records, folder, &terminal_sink, &(Error){0}))
        return error_set(err, EXIT_NO_INPUT,
                         "%s is a folder without run.json; give a config, or the folder of a run",
                         folder);
    list_names(names, sizeof names, &records, folder);
    error_set(err, EXIT_NO_INPUT, "%s holds %d run%s (%s); name one of them", folder, records.count,
              records.count == 1 ? "" : "s", names);
    return false;
}

// Loads the config in the run.json of a run's folder, with that folder as run.dir.
static bool load_run(Config *config, const char *folder, const Options *options, Error *err) {
    static Settings settings;
    char own_folder[PATH_BYTES + 16];
    *config = (Config){0};
    const char *path = PATH_IN(folder, "run.json");
    if (file_is_denied(folder, err) || (!file_exists(path) && !tell_what_folder(folder, err)))
        return false;
    snprintf(own_folder, sizeof own_folder, "run.dir=%s", folder);
    new_data_settings(&settings, options, own_folder);
    return config_load(config, path, settings.setting, settings.count, err);
}

// A graph in place of a config is no JSON, and has a name that says so.
static bool is_graph(const Config *config, const char *path) {
    size_t length = path != NULL ? strlen(path) : 0;
    bool json = length > 5 && strcmp(path + length - 5, ".json") == 0;
    return config->mode[0] == 0 && length > 0 && !json && file_exists(path) &&
           dataset_format_fits("auto", path, &(Error){0});
}

bool read_config(Config *config, const Options *options, const char *path, Error *err) {
    if (path != NULL && file_is_folder(path))
        return load_run(config, path, options, err);
    static Settings settings;
    new_data_settings(&settings, options, NULL);
    if (config_load(config, path, settings.setting, settings.count, err))
        return true;
    if (!is_graph(config, path))
        return false;
    *err = (Error){0};
    return error_config(
        err, "%s is a graph; give a config that names it: {\"data\": {\"path\": \"%s\"}}", path,
        path);
}

bool load_config(Config *config, const Options *options, const char *path, int ranks, Error *err) {
    bool whole = read_config(config, options, path, err);
    Early early = {.config = config, .where = config_called(path), .err = err};
    if (config->mode[0] != 0) // wrong keys have their defaults
        check_names(&early);
    if (whole && (options->needs & NEEDS_WEIGHTS) && options->weights == NULL &&
        !file_is_folder(path))
        runfolder_find_newest(config);
    whole = whole && (options->data == NULL || new_data_fits(config, err));
    if (whole && err->code == 0)
        check_together(&early);
    if (whole)
        check_layer(&early, options);
    check_modes(&early, options);
    if (config->mode[0] != 0)
        check_disk(&early, options, ranks);
    return err->code == 0;
}

bool load_config_aloud(Config *config, const Options *options, const char *path, int ranks,
                       Error *err) {
    IdleKeys idle = {0};
    if (!load_config(config, options, path, ranks, err))
        return false;
    add_idle_keys(&idle, config);
    warn_of_idle_keys(&idle, config);
    return true;
}
