// fringe predict --data: the config of a run with another graph in place of its own.

#include "internal.h"

#include <limits.h>

// A file of the new data is looked for where the command is given, not in the folder of the run.
static const char *in_full(const char *setting, char out[PATH_BYTES + 64]) {
    char full[PATH_MAX];
    int key = (int)strcspn(setting, "=") + 1;
    if (!text_begins("data.features= data.labels= data.nodes= data.splits= data.weights= "
                     "data.fitted=",
                     setting) ||
        realpath(setting + key, full) == NULL)
        return setting;
    snprintf(out, PATH_BYTES + 64, "%.*s%s", key, setting, full);
    return out;
}

void new_data_settings(Settings *settings, const Options *options, const char *first) {
    static const char *const empty[] = {
        "data.format=auto", "data.features=", "data.labels=",    "data.nodes=",
        "data.splits=",     "data.weights=",  "data.columns={}", "data.hyperedges=auto"};
    char full[PATH_MAX];
    settings->count = 0;
    if (first != NULL)
        settings->setting[settings->count++] = first;
    if (options->data != NULL) {
        bool there = realpath(options->data, full) != NULL;
        snprintf(settings->path, sizeof settings->path, "data.path=%s",
                 there ? full : options->data);
        settings->setting[settings->count++] = settings->path;
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
            settings->setting[settings->count++] = empty[i];
    }
    for (int i = 0; i < options->settings; i++)
        settings->setting[settings->count++] = options->data != NULL
                                                   ? in_full(options->setting[i], settings->full[i])
                                                   : options->setting[i];
}

// Features that are drawn for each node have no meaning for others.
static bool steps_serve_new_nodes(const ConfigWords *steps, Error *err) {
    for (int i = 0; i < steps->count; i++)
        if (strncmp(steps->word[i], "random:", 7) == 0)
            return error_config(
                err, "--data: features of random:D are drawn for each node of the training, so "
                     "they say nothing of new nodes; train with features, or with degree");
    return true;
}

bool new_data_fits(Config *config, Error *err) {
    if (!steps_serve_new_nodes(&config->data.transforms, err))
        return false;
    if (config->data.fitted[0] != '\0' || !dataset_steps_fit(&config->data.transforms) ||
        !file_exists(config->run.dir)) // which is said elsewhere
        return true;
    const char *path = PATH_IN(config->run.dir, RUN_FITTED);
    if (!file_exists(path))
        return error_data(err,
                          "--data: %s, which an older version trained, does not hold the means, "
                          "deviations or values that data.transforms took from its data (%s); "
                          "resume it with --resume auto, which adds them, or train again",
                          config->run.dir, RUN_FITTED);
    snprintf(config->data.fitted, sizeof config->data.fitted, "%s", path);
    return true;
}

// What run.json says of the data of the training.
typedef struct Trained {
    const char *folder;
    int64_t features, classes, multilabel, numeric;
} Trained;

static void read_trained(void *context, Error *err) {
    Trained *trained = context;
    const char *path = PATH_IN(trained->folder, "run.json");
    CLEARED(json_drop) Json *run = json_read(path, err);
    const Json *data = json_get_of(run, "data", JSON_OBJECT);
    trained->numeric = json_get_bool(data, "numeric");
    trained->multilabel = json_get_bool(data, "multilabel");
    if (err->code == 0 && (data == NULL || !json_get_int(data, "features", &trained->features) ||
                           !json_get_int(data, "classes", &trained->classes)))
        error_data(err, "%s: it does not say what data the run was trained on", path);
}

bool new_data_take(Session *s) {
    Shard *shard = &s->shard;
    Trained trained = {.folder = s->config.run.dir};
    if (!comm_on_root(&s->comm, read_trained, &trained, &s->err))
        return false;
    comm_broadcast(&s->comm, &trained, sizeof trained, 0);
    if (shard->features != trained.features)
        return error_data(&s->err,
                          "%s has %ld features of a node, but the run was trained with %ld; give "
                          "the same columns in --set data.features=PATH or data.nodes=PATH",
                          shard->dataset_name, shard->features, trained.features);
    shard->classes = trained.classes; // labels of the new graph are not looked at
    shard->multilabel = trained.multilabel != 0;
    shard->numeric = trained.numeric != 0;
    shard->label = NULL;
    shard->labels = NULL;
    shard->numbers = NULL;
    return true;
}
