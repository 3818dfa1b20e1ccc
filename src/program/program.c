// The table of programs, and what is common to all: the checks, the components that every report
// names, iterations that may be stopped, and the result.
#include "internal.h"

static const Program *const programs[] = {
    &program_components,        &program_random_walk, &program_harmonic,
    &program_label_propagation, &program_spectral,
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

const Program *program_find(const char *name, Error *err) {
    const char *names[PROGRAMS];
    char all[256] = "";
    for (int i = 0; i < PROGRAMS; i++) {
        names[i] = programs[i]->name;
        text_add(all, sizeof all, ", ", "%s", names[i]);
        if (strcmp(name, names[i]) == 0 ||
            (programs[i]->also != NULL && strcmp(name, programs[i]->also) == 0))
            return programs[i];
    }
    const char *closest = family_closest(name, names, PROGRAMS);
    if (closest != NULL)
        error_usage(err, "no program '%s'; did you mean %s?", name, closest);
    else
        error_usage(err, "no program '%s'; there are %s", name, all);
    return NULL;
}

bool program_fits(const char *name, const Config *config, Error *err) {
    static const char section[] = "program.";
    const Program *program = program_find(name, err);
    if (program == NULL)
        return false;
    for (int i = 0; config_key_at(i) != NULL; i++) {
        const char *path = config_key_at(i)->path;
        if (strncmp(path, section, sizeof section - 1) == 0 && config_is_said(config, path) &&
            !text_lists(program->keys, path + sizeof section - 1))
            error_join(err, EXIT_CONFIG, "%s: %s does not read it%s%s; remove it", path,
                       program->name, program->keys[0] != 0 ? "; it reads " : "", program->keys);
    }
    return err->code == 0;
}

// ---- the data

bool program_suits(const Program *program, const ProgramParts *parts, Error *err) {
    const Shard *shard = parts->shard;
    const char *name = shard->dataset_name;
    const char *start = program_start(parts, program);
    bool by_labels =
        program->labels || strcmp(start, "labels") == 0 || strcmp(start, "classes") == 0;
    if (shard->edges == 0)
        return error_data(err, "%s has no edges, so %s has nothing to do", name, program->name);
    if (program->undirected && !shard_is_symmetric(shard))
        return error_data(
            err,
            "%s is directed, and %s needs %s; random-walk and label-propagation take it as it is",
            name, program->name,
            shard_is_hypergraph(shard)
                ? "pins that are source and target"
                : "a symmetric graph, which data.transforms 'symmetrize' makes");
    if (by_labels && (shard->classes == 0 || shard->train_nodes == 0))
        return error_data(err,
                          "%s has no labelled training nodes, which %s starts from; give "
                          "data.labels and data.splits",
                          name, program->name);
    if (by_labels && shard->numeric)
        return error_data(err,
                          "%s has labels that are numbers, and %s starts from classes; give "
                          "data.labels that are classes",
                          name, program->name);
    if (by_labels && shard->multilabel && !program->several)
        return error_data(
            err, "%s has several labels a node, and %s needs one; random-walk takes several", name,
            program->name);
    return true;
}

// ---- a run

static void report_components(ProgramRun *run, const Components *c) {
    program_count(run, "components", c->count);
    program_count(run, "largest component", c->largest);
    program_count(run, "covered nodes", c->nodes);
    program_count(run, "uncovered nodes", nodes_of(run->parts)->total - c->nodes);
}

// Of an iteration, on the rank where it is most; 0: the program has none.
static void report_seconds(ProgramRun *run, const char *name, double seconds) {
    double most = comm_max_double(run->parts->comm, seconds);
    if (most > 0)
        program_figure(run, name, most / (double)(run->iterations > 0 ? run->iterations : 1));
}

static void report_costs(ProgramRun *run, const Timers *timers) {
    int64_t count = run->iterations > 0 ? run->iterations : 1;
    program_count(run, "iterations", run->iterations);
    program_figure(run, "seconds per iteration",
                   comm_max_double(run->parts->comm, run->seconds) / (double)count);
    report_seconds(run, "seconds of its aggregates", run->aggregates);
    report_seconds(run, "seconds of its dense products", timers->seconds[TIMER_DENSE]);
    report_seconds(run, "seconds of its eigenproblem", run->eigenproblem);
    program_figure(run, "bytes per iteration",
                   (double)program_sum(run->parts, run->bytes) / (double)count);
}

// The program, with the time of its operations on the device.
static void run_timed(const Program *program, ProgramRun *run, Timers *timers) {
    StreamTimer *timer = stream_timer_new(run->parts->backend, timers);
    stream_timer_use(timer);
    program->run(run);
    stream_timer_finish(timer);
    stream_timer_free(timer);
}

bool program_run(const char *name, const ProgramParts *parts, ProgramResult *result, Error *err) {
    const Program *program = program_find(name, err);
    *result = (ProgramResult){0};
    if (program == NULL || !program_suits(program, parts, err))
        return false;
    Components components;
    components_find(&components, parts, program->ignores_zeros);
    ProgramRun run = {.parts = parts, .components = &components, .result = result, .err = err};
    report_components(&run, &components);
    ids_report(&run);
    Timers timers = {.layer = -1, .direction = -1};
    if (err->code == 0)
        run_timed(program, &run, &timers);
    components_clear(&components);
    if (!comm_agree(parts->comm, err))
        return false;
    report_costs(&run, &timers);
    return true;
}
