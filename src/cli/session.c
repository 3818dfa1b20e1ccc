// The begin and end of train, evaluate and predict: MPI, one config for all ranks, a shard for each
// rank, and at the end one sentence and one exit code.

#include "internal.h"

void say_lines(const char *before, const char *lines) {
    char text[sizeof((Error *)NULL)->text], *rest = text;
    snprintf(text, sizeof text, "%s", lines);
    for (const char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != 0)
            terminal_say("%s%s\n", before, SHOWN(line));
}

void print_error(const Error *err) {
    fflush(stdout);
    progress_end("");
    say_lines("fringe: ", err->text);
}

// --- begin and end

static void load(void *context, Error *err) {
    Session *s = context;
    if (load_config(&s->config, s->options, config_named(s->options), s->comm.size, err))
        add_idle_keys(&s->idle, &s->config);
}

bool session_config(Session *s, const Options *options) {
    s->options = options;
    if (!comm_on_root(&s->comm, load, s, &s->err))
        return false;
    comm_broadcast(&s->comm, &s->config, sizeof s->config, 0);
    comm_set_timeout(&s->comm, s->config.comm.timeout);
    s->threads = threads_set((int)s->config.run.threads, s->comm.node_size);
    return true;
}

static bool check_ranks(Session *s, const Options *options) {
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    // srun without PMI starts independent programs, which would all write to run.dir
    if (s->comm.size == 1 && getenv("OMPI_COMM_WORLD_SIZE") == NULL && tasks != NULL &&
        atoi(tasks) > 1)
        error_set(&s->err, EXIT_UNAVAILABLE,
                  "srun started %s tasks that are not connected; try srun --mpi=pmix, or "
                  "fringe with --ranks %s in the batch script",
                  tasks, tasks);
    else if (options->ranks != 0 && options->ranks != s->comm.size)
        error_usage(&s->err, "--ranks is %d, but this MPI job has %d ranks; drop --ranks or mpirun",
                    options->ranks, s->comm.size);
    else if (options->hosts != NULL && !launch_is_supervised())
        error_usage(&s->err,
                    "--hosts %s: this MPI job has its hosts already; drop --hosts or mpirun",
                    SHOWN(options->hosts));
    return comm_agree(&s->comm, &s->err);
}

// mpirun binds one or two ranks to a core each unless told otherwise; OpenMP then has one thread.
static void warn_of_binding(const Session *s) {
    int fair = threads_on_node() / s->comm.node_size, allowed = threads_allowed();
    if (s->comm.rank == 0 && allowed < fair)
        terminal_warn(
            "a rank may use %d of %d cores; more: mpirun --bind-to none, or srun --cpus-per-task",
            allowed, threads_on_node());
}

// Ranks that share cores wait for each other.
static void warn_of_crowding(const Session *s) {
    int threads = s->comm.node_size * s->threads, cores = threads_on_node();
    if (s->comm.rank == 0 && threads > cores)
        terminal_warn("%d rank%s x %d thread%s share %d core%s; fewer are faster",
                      s->comm.node_size, s->comm.node_size == 1 ? "" : "s", s->threads,
                      s->threads == 1 ? "" : "s", cores, cores == 1 ? "" : "s");
}

void session_warn_of_idle_keys(const Session *s) {
    if (s->comm.rank == 0)
        warn_of_idle_keys(&s->idle, &s->config);
}

void warn_of_omp_threads(void) {
    const char *wanted = getenv("OMP_NUM_THREADS");
    if (wanted == NULL || wanted[0] == 0)
        return;
    bool number = wanted[strspn(wanted, "0123456789")] == 0;
    terminal_warn("OMP_NUM_THREADS=%s has no effect here; use --set run.threads=%s", SHOWN(wanted),
                  number ? SHOWN(wanted) : "N");
}

// Rank 0 has the log of a job of the user's own mpirun, whose descriptors do not reach the ranks;
// else the first process of this program opened it.
static bool open_events(Session *s, const char *to) {
    bool has_it = to != NULL && s->comm.rank == 0 && !launch_is_supervised();
    if (has_it && to[strspn(to, "0123456789")] == 0)
        error_usage(&s->err,
                    "--events %s: mpirun passes no descriptors on; give the path of a file", to);
    else if (has_it)
        event_log_open(to, &s->err);
    else if (to != NULL && s->comm.rank == 0)
        event_log_is_elsewhere();
    return comm_agree(&s->comm, &s->err);
}

bool session_start(Session *session, const Options *options) {
    *session = (Session){.started = clock_seconds()};
    launch_die_with_parent();
    if (launch_is_supervised())
        screen_pass_records();
    comm_self(&session->comm);             // mistakes in a config are reported before MPI starts
    bool inside_job = launch_inside_job(); // MPI makes a process look like one
    if (!inside_job) {
        if (!load_config(&session->config, options, config_named(options), 1, &session->err))
            return false;
        spin_restart(threads_set((int)session->config.run.threads, 1), *options->argv);
    }
    comm_start(&session->comm, options->argc, options->argv);
    if (inside_job && !open_events(session, options->events))
        return false;
    if (session->comm.rank == 0)
        terminal_start(&session->comm);
    if (!check_ranks(session, options) || !session_config(session, options))
        return false;
    warn_of_binding(session);
    warn_of_crowding(session);
    if (session->comm.rank == 0 && !launch_is_supervised() && session->config.run.threads == 0)
        warn_of_omp_threads();
    if (session->comm.rank == 0 && (options->needs & NEEDS_RUN))
        warn_of_doubts(&session->config);
    return true;
}

bool session_load(Session *session) {
    Warnings warnings = {0};
    session->open =
        partition_load(&session->shard, &session->config, &session->comm, &warnings, &session->err);
    if (session->comm.rank == 0) {
        progress_end("");
        say_lines("warning    ", warnings.text);
    }
    return session->open;
}

bool session_begin(Session *session, const Options *options) {
    if (!session_start(session, options))
        return false;
    session_warn_of_idle_keys(session);
    return session_load(session);
}

void print_object(JsonWriter *writer, const Sink *sink) {
    json_end_object(writer);
    sink_print(sink, "%s\n", writer->text);
    json_writer_clear(writer);
}

void session_report(Session *s, void (*report)(void *context, Error *err), void *context) {
    Error ended = s->err;
    s->err = (Error){0};
    comm_on_root(&s->comm, report, context, &s->err);
    if (ended.code != 0)
        s->err = ended;
}

ExitCode session_end(Session *session) {
    Error err = session->err;
    bool first = session->comm.rank == 0;
    if (session->open)
        shard_clear(&session->shard);
    runfolder_release(&session->folder);
    if (first)
        progress_end("");
    if (first && err.code != 0)
        print_error(&err);
    bool reported = err.code != 0;
    if (!terminal_stop(&err) && !reported)
        print_error(&err);
    comm_stop(&session->comm);
    return (ExitCode)err.code;
}

// --- the folder, which rank 0 claims; that takes a while where disks are slow or others hold it

typedef struct Claim {
    RunFolder *folder;
    Config *config;
    RunClaim claim;
} Claim;

static void claim(void *context, Error *err) {
    Claim *c = context;
    runfolder_claim(c->folder, c->config, &c->claim, &terminal_sink, err);
}

bool folder_claim(Session *s, RunFolder *folder, Config *config, RunClaim how) {
    if (!comm_on_root(&s->comm, claim, &(Claim){folder, config, how}, &s->err))
        return false;
    comm_broadcast(&s->comm, config->run.dir, sizeof config->run.dir, 0);
    snprintf(folder->path, sizeof folder->path, "%s", config->run.dir);
    return true;
}

// --- shared by commands

// What rank 0 reads; it checks the hashes of a checkpoint's files.
typedef struct Weights {
    const ModelShape *shape;
    const char *where;
    bool best;
    float *parameters; // [state_count]
} Weights;

static void read_weights(void *context, Error *err) {
    const Weights *w = context;
    char path[PATH_BYTES];
    if (checkpoint_weights_path(w->where, w->best, path, sizeof path, err) &&
        model_read(w->shape, w->parameters, path, err))
        terminal_note("weights    %s\n", SHOWN(path));
}

float *load_weights(Session *s, const ModelShape *shape, const Options *options) {
    Weights w = {.shape = shape,
                 .where = options->weights != NULL ? options->weights : s->config.run.dir,
                 .best = options->best,
                 .parameters = ALLOC(float, shape->state_count, "weights to load")};
    if (comm_on_root(&s->comm, read_weights, &w, &s->err)) {
        comm_broadcast(&s->comm, w.parameters, (size_t)shape->state_count * sizeof(float), 0);
        return w.parameters;
    }
    memory_free(w.parameters);
    return NULL;
}
