// What train, evaluate and predict begin and end with: MPI, one config for all ranks, a shard each,
// and at the end one sentence and one exit code.

#include "cli.h"

#include <stdlib.h>
#include <string.h>

void print_error(const Error *err) {
    char text[sizeof err->text], *rest = text;
    snprintf(text, sizeof text, "%s", err->text);
    fflush(stdout);
    for (const char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != 0)
            terminal_say("fringe: %s\n", SHOWN(line));
}

// --- the config

// Adds one more line to *err.
static void join(Error *err, const char *where, const Error *more) {
    if (more->code == 0)
        return;
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "%s%s: %s", used > 0 ? "\n" : "", where,
             more->text);
    err->code = EXIT_CONFIG;
}

// Names that belong to families are checked by the rooms that own them.
static void check_families(const Config *config, const char *where, Error *err) {
    ModelShape shape;
    Error model = {0}, codec = {0}, schedule = {0}, rule = {0};
    model_shape(&shape, config, 1, 2, false, &model);
    codec_find(config->messages.codec, &codec);
    schedule_find(config->comm.schedule, &schedule);
    join(err, where, &model);
    join(err, where, &codec);
    join(err, where, &schedule);
    assigner_known(config->messages.assign, &rule);
    join(err, where, &rule);
}

// Is it a word of "reddit-small, reddit-medium, ..."?
static bool can_be_made(const char *name) {
    const char *list = dataset_generator_list(), *at = strstr(list, name);
    return at != NULL && (at == list || at[-1] == ' ') && strchr(", ", at[strlen(name)]) != NULL;
}

// Where `fringe generate` puts it, and with which words, if that is not where we look.
static bool tell_how_to_make(const Config *config, const char *name, Error *err) {
    Config plain;
    char folder[2048], into[2100] = "";
    if (config_load(&plain, NULL, NULL, 0, &(Error){0}) &&
        strcmp(plain.data.cache, config->data.cache) != 0) {
        path_join(folder, sizeof folder, config->data.cache, "generated");
        snprintf(into, sizeof into, " -o %s/%s", folder, name);
    }
    return error_set(err, EXIT_NO_INPUT, "%s is not there; make it with: fringe generate %s%s",
                     config->data.path, name, into);
}

static bool check_data(const Config *config, Error *err) {
    const char *name = path_name(config->data.path);
    if (name[0] == 0)
        return error_set(err, EXIT_CONFIG,
                         "%s: data.path: expected the path of a graph, found nothing",
                         config->source);
    if (file_exists(config->data.path))
        return true;
    if (can_be_made(name))
        return tell_how_to_make(config, name, err);
    const char *data = getenv("FRINGE_DATA");
    return error_set(err, EXIT_NO_INPUT,
                     "%s is not there; data.path is looked for beside the config, then in the "
                     "folder FRINGE_DATA (%s)",
                     config->data.path, data != NULL ? data : "which is not set");
}

// A run's folder stands for the config in its run.json, with that folder as run.dir.
static bool load_run(Config *config, const char *folder, const Options *options, Error *err) {
    const char *setting[CLI_SETTINGS + 1];
    char path[1100], own_folder[1100];
    path_join(path, sizeof path, folder, "run.json");
    snprintf(own_folder, sizeof own_folder, "run.dir=%s", folder);
    setting[0] = own_folder;
    memcpy(setting + 1, options->setting, sizeof options->setting);
    return config_load(config, path, setting, options->settings + 1, err);
}

bool load_config(Config *config, const char *path, const Options *options, Error *err) {
    bool fine = file_is_folder(path)
                    ? load_run(config, path, options, err)
                    : config_load(config, path, options->setting, options->settings, err);
    if (!fine)
        return false;
    check_families(config, path, err);
    return err->code == 0 && check_data(config, err);
}

// --- begin and end

bool session_config(Session *s, const Options *options) {
    if (s->comm.rank == 0)
        load_config(&s->config, options->argument[0], options, &s->err);
    if (!comm_agree(&s->comm, &s->err))
        return false;
    comm_broadcast(&s->comm, &s->config, sizeof s->config, 0);
    comm_set_timeout(&s->comm, s->config.comm.timeout);
    threads_set((int)s->config.run.threads, s->comm.node_size);
    return true;
}

static bool check_ranks(Session *s, const Options *options) {
    if (options->ranks != 0 && options->ranks != s->comm.size)
        error_set(&s->err, EXIT_USAGE,
                  "--ranks says %d, but the MPI job around us has %d; drop --ranks or mpirun",
                  options->ranks, s->comm.size);
    return comm_agree(&s->comm, &s->err);
}

// srun without PMI starts programs that do not know of each other: they would all write to run.dir.
static bool check_lonely(Session *s) {
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    if (s->comm.size == 1 && getenv("OMPI_COMM_WORLD_SIZE") == NULL && tasks != NULL &&
        atoi(tasks) > 1)
        error_set(&s->err, EXIT_UNAVAILABLE,
                  "srun started %s tasks that do not know of each other; try srun --mpi=pmix, or "
                  "fringe with --ranks %s in the batch script",
                  tasks, tasks);
    return comm_agree(&s->comm, &s->err);
}

// mpirun binds one or two ranks to a core each unless told otherwise; OpenMP then has one thread.
static void warn_of_binding(const Session *s) {
    int fair = threads_on_node() / s->comm.node_size, allowed = threads_allowed();
    if (s->comm.rank == 0 && allowed < fair)
        terminal_say("remark     a rank may use %d of %d cores; more: mpirun --bind-to none, or "
                     "srun --cpus-per-task\n",
                     allowed, threads_on_node());
}

bool session_begin(Session *session, const Options *options, int *argc, char ***argv) {
    *session = (Session){.started = clock_seconds()};
    launch_die_with_parent();
    comm_start(&session->comm, argc, argv);
    if (session->comm.rank == 0)
        terminal_start(&session->comm);
    if (!check_lonely(session) || !check_ranks(session, options) ||
        !session_config(session, options))
        return false;
    warn_of_binding(session);
    char remarks[1024] = "";
    session->open =
        partition_load(&session->shard, &session->config, &session->comm, remarks, &session->err);
    if (session->comm.rank == 0 && remarks[0] != 0)
        terminal_say("remark     %s\n", SHOWN(remarks));
    return session->open;
}

ExitCode session_end(Session *session) {
    Error err = session->err;
    bool first = session->comm.rank == 0;
    if (session->open)
        shard_clear(&session->shard);
    if (first && err.code != 0)
        print_error(&err);
    bool told = err.code != 0;
    if (!terminal_stop(&err) && !told)
        print_error(&err);
    comm_stop(&session->comm);
    return (ExitCode)err.code;
}

// --- shared by commands

const char *metric_name(const Shard *shard) { return shard->multilabel ? "micro-F1" : "accuracy"; }

// Everything that changes what is learned, except where the learning ends: a run may be made
// longer.
static Config what_is_learned(const Config *config) {
    Config learned = *config;
    memset(learned.mode, 0, sizeof learned.mode);
    memset(&learned.data, 0, sizeof learned.data);
    memset(&learned.partition, 0, sizeof learned.partition);
    memset(&learned.comm, 0, sizeof learned.comm);
    memset(&learned.run, 0, sizeof learned.run);
    memset(learned.model.weights, 0, sizeof learned.model.weights);
    if (strcmp(learned.train.schedule, "cosine") != 0)
        learned.train.epochs = 0;
    return learned;
}

bool session_binding(Session *s, int64_t seed, char *out, size_t size) {
    Config learned = what_is_learned(&s->config);
    char *text = config_to_json(&learned), key[33], weights[33] = "";
    if (s->comm.rank == 0 && s->config.model.weights[0] != 0)
        hash_file(s->config.model.weights, weights, &s->err);
    Hash *hash = hash_new();
    hash_add(hash, text, strlen(text));
    hash_add(hash, &seed, sizeof seed);
    hash_add(hash, weights, strlen(weights));
    hash_text(hash, key);
    hash_free(hash);
    memory_give(text);
    snprintf(out, size, "model %s data %s parts %d %s", key, s->shard.dataset_hash, s->shard.parts,
             s->shard.partition_hash);
    return comm_agree(&s->comm, &s->err);
}

// What rank 0 reads aside: the files of a checkpoint are hashed before they are believed.
typedef struct Weights {
    Session *session;
    const ModelShape *shape;
    const char *where;
    bool best;
    float *parameters; // [parameter_count]
} Weights;

static void read_weights(void *context) {
    Weights *w = context;
    Error *err = &w->session->err;
    char path[2048];
    if (checkpoint_weights_path(w->where, w->best, path, sizeof path, err) &&
        model_read(w->shape, w->parameters, path, err))
        terminal_say("weights    %s\n", SHOWN(path));
}

bool load_weights(Session *s, Trainer *trainer, const Options *options) {
    const ModelShape *shape = trainer_shape(trainer);
    Weights w = {.session = s,
                 .shape = shape,
                 .where = options->weights != NULL ? options->weights : s->config.run.dir,
                 .best = options->best,
                 .parameters = TAKE(float, shape->parameter_count, "weights to load")};
    if (s->comm.rank == 0)
        comm_aside(&s->comm, read_weights, &w);
    bool fine = comm_agree(&s->comm, &s->err);
    if (fine) {
        comm_broadcast(&s->comm, w.parameters, (size_t)shape->parameter_count * sizeof(float), 0);
        trainer_set_parameters(trainer, w.parameters);
    }
    memory_give(w.parameters);
    return fine;
}
