// Reads the newest valid checkpoint. A damaged one is skipped with a warning; one that cannot be
// read is an error, so that a run is never started over by mistake.

#include "internal.h"

// The newest valid checkpoint of a run, if it has one.
typedef struct Newest {
    bool found;
    char folder[PATH_BYTES];
    Manifest manifest; // if found; checkpoint_manifest_clear
    int damaged;       // number of newer ones that are damaged
    Warnings warnings; // one for each of them
} Newest;

static bool cannot_tell(const char *folder, const Error *trouble, Error *err) {
    if (trouble->code == EXIT_CONFIG)
        return error_config(err, "%s", trouble->text);
    return error_set(err, (ExitCode)trouble->code,
                     "%s; is the checkpoint damaged? try again, or remove %s to ignore it",
                     trouble->text, folder);
}

static bool find_newest(Newest *newest, const char *run_dir, Error *err) {
    CLEARED(epoch_list_clear) EpochList list = {0};
    *newest = (Newest){0};
    bool ok = checkpoint_list(&list, run_dir, err);
    for (int i = list.count; i-- > 0 && ok && !newest->found;) {
        Error trouble = {0};
        checkpoint_path(newest->folder, run_dir, list.epoch[i]);
        newest->found = checkpoint_manifest_read(&newest->manifest, newest->folder, &trouble);
        if (error_is_damage(&trouble)) {
            warnings_add(&newest->warnings, "%.900s", trouble.text);
            newest->damaged++;
        } else if (trouble.code != 0) {
            ok = cannot_tell(newest->folder, &trouble, err);
        }
    }
    return ok;
}

// A run that has checkpoints starts from its first epoch only if the user asks for it.
static bool check_found(const Newest *newest, const char *run_dir, Error *err) {
    return newest->found || newest->damaged == 0 ||
           error_data(err,
                      "%s/checkpoints: all %d checkpoints are damaged (%.*s); restore a copy of "
                      "one, or start again without --resume",
                      run_dir, newest->damaged, (int)strcspn(newest->warnings.text, "\n"),
                      newest->warnings.text);
}

// True if it is the file of one of the sections.
static bool is_file_of(const char *file, const StateSections *sections) {
    for (int i = 0; i < sections->count; i++)
        if (strcmp(CHECKPOINT_FILE("", sections->section[i].name), file) == 0)
            return true;
    return false;
}

// Refuses files without a registered section, whose state would be lost, and missing files.
static bool check_sections(const Newest *newest, const StateSections *sections, Error *err) {
    const Manifest *m = &newest->manifest;
    for (int i = 0; i < m->files; i++)
        if (!is_file_of(m->file[i], sections))
            return error_config(
                err,
                "%s: holds %s, which a newer version of fringe wrote; continue with that version",
                newest->folder, m->file[i]);
    for (int i = 0; i < sections->count; i++)
        if (!checkpoint_manifest_needs(m, newest->folder, sections->section[i].name, err))
            return false;
    return true;
}

// What rank 0 reads; it checks the hash of every file.
typedef struct Reading {
    Training *training;
    const char *run_dir;
    Newest newest;
    TrainerCounters counters;
    Error *err;
} Reading;

static void read_newest(void *context, Error *err) {
    Reading *r = context;
    Newest *newest = &r->newest;
    Manifest *m = &newest->manifest;
    if (find_newest(newest, r->run_dir, err) && check_found(newest, r->run_dir, err) &&
        newest->found && identity_check(r->training, &m->identity, newest->folder, err) &&
        check_sections(newest, trainer_sections(r->training->trainer), err))
        r->training->first_weights = m->identity.first_weights;
    r->counters = m->counters;
    checkpoint_manifest_clear(m);
}

// Collective.
static bool read_sections(Reading *r) {
    const StateSections *sections = trainer_sections(r->training->trainer);
    for (int i = 0; i < sections->count; i++)
        if (!state_read(&sections->section[i], r->training->comm,
                        CHECKPOINT_FILE(r->newest.folder, sections->section[i].name), r->err))
            return error_prefix(r->err, "cannot resume");
    comm_broadcast(r->training->comm, &r->counters, sizeof r->counters, 0);
    trainer_set_counters(r->training->trainer, &r->counters);
    return true;
}

static bool warn_of_change(const Training *t, const char *what, const char *was, const char *now,
                           Warnings *warnings) {
    if (was[0] == 0 || strcmp(was, now) == 0)
        return false;
    warnings_add(
        warnings,
        "%s was '%s' until epoch %ld and is now '%s'; from here on, results may differ in rounding",
        what, was, trainer_epochs_done(t->trainer), now);
    return true;
}

// A change of kernels is the user's, who then gets other bits.
static void warn_of_kernels(const Training *t, const KernelChoice *was, Warnings *warnings) {
    KernelChoice now = trainer_kernel_choice(t->trainer);
    if (warn_of_change(t, "the backend", was->backend, now.backend, warnings))
        return;
    warn_of_change(t, "run.spmm", was->spmm, now.spmm, warnings);
    warn_of_change(t, "run.bf16_sums", was->sums, now.sums, warnings);
}

bool checkpoint_restore(Training *t, const char *run_dir, bool *found, Warnings *warnings,
                        Error *err) {
    Reading r = {.training = t, .run_dir = run_dir, .err = err};
    bool ok = comm_on_root(t->comm, read_newest, &r, err);
    *found = r.newest.found;
    *warnings = r.newest.warnings;
    if (!ok)
        return false;
    comm_broadcast(t->comm, found, sizeof *found, 0);
    if (*found && !read_sections(&r))
        return false;
    if (*found)
        warn_of_kernels(t, &r.counters.kernels, warnings);
    return true;
}

bool checkpoint_kernels(KernelChoice *choice, const char *run_dir) {
    CLEARED(epoch_list_clear) EpochList list = {0};
    bool found = false;
    *choice = (KernelChoice){0};
    if (!checkpoint_list(&list, run_dir, &(Error){0}))
        return false;
    for (int i = list.count; i-- > 0 && !found;) {
        Json *document = json_read(
            PATH_IN(CHECKPOINT_PATH(run_dir, list.epoch[i]), checkpoint_manifest), &(Error){0});
        found = document != NULL;
        if (found)
            checkpoint_read_kernels(choice, document);
        json_free(document);
    }
    return found;
}

// ---- for evaluate, predict and inspect

bool checkpoint_check_named(const char *file, Error *err) {
    CLEARED(checkpoint_manifest_clear) Manifest manifest = {0};
    const char *folder = FOLDER_OF(file);
    if (!file_exists(PATH_IN(folder, checkpoint_manifest)))
        return true;
    return checkpoint_manifest_read(&manifest, folder, err);
}

bool checkpoint_weights_path(const char *where, bool best, char *path, size_t size, Error *err) {
    const char *section = best ? "best" : "model";
    if (!file_exists(where))
        return error_set(
            err, EXIT_NO_INPUT,
            "%s does not exist; give a run folder, a checkpoint or a .safetensors file", where);
    const char *named = file_is_folder(where) ? CHECKPOINT_FILE(where, section) : where;
    if (file_exists(named)) {
        snprintf(path, size, "%s", named);
        return checkpoint_check_named(path, err);
    }
    Newest newest;
    if (!find_newest(&newest, where, err))
        return false;
    if (!newest.found)
        return error_set(err, EXIT_NO_INPUT, "%s has no undamaged checkpoint%s%s", where,
                         newest.damaged > 0 ? ": " : "", newest.warnings.text);
    checkpoint_manifest_clear(&newest.manifest);
    snprintf(path, size, "%s", CHECKPOINT_FILE(newest.folder, section));
    return true;
}

static bool print_tensors(const Sink *out, const char *folder, const char *name, Error *err) {
    CLEARED(tensors_close) Tensors file = {0};
    if (!tensors_open(&file, PATH_IN(folder, name), err))
        return false;
    tensors_print(out, &file, name);
    return true;
}

static void print_manifest(const Sink *out, const Manifest *m, const char *folder) {
    const Metrics *last = &m->counters.last_metrics[SPLIT_TEST];
    const Metrics *best = &m->counters.best_metrics[SPLIT_TEST];
    const Identity *of = &m->identity;
    sink_print(out, "checkpoint %s\nepoch      epoch %ld; best validation at epoch %ld\n",
               SHOWN(folder), m->counters.epoch, m->counters.best_epoch);
    sink_print(out, "seed       %ld\ndata       hash %.8s\nparts      %ld, hash %.8s\n", of->seed,
               SHOWN(of->data), of->parts, SHOWN(of->cut));
    if (of->first_weights.path[0] != 0)
        sink_print(out, "began      from the weights %s\n", SHOWN(of->first_weights.path));
    sink_print(out, "test       last evaluation");
    for (int k = 0; k < last->count; k++)
        if (score_row(last->score[k].of)->brief)
            sink_print(out, " %s %.4f", score_row(last->score[k].of)->title, last->score[k].value);
    for (int k = 0, shown = 0; k < best->count; k++)
        if (score_row(best->score[k].of)->brief)
            sink_print(out, "%s %.4f", shown++ == 0 ? "; best" : ",", best->score[k].value);
    sink_print(out, "\n");
}

bool checkpoint_inspect(const Sink *out, const char *where, Error *err) {
    char weights[PATH_BYTES];
    CLEARED(checkpoint_manifest_clear) Manifest manifest = {0};
    if (!checkpoint_weights_path(where, false, weights, sizeof weights, err))
        return false;
    const char *folder = FOLDER_OF(weights);
    if (!checkpoint_manifest_read(&manifest, folder, err))
        return false;
    print_manifest(out, &manifest, folder);
    bool ok = true;
    for (int i = 0; i < manifest.files && ok; i++)
        ok = print_tensors(out, folder, manifest.file[i], err);
    return ok;
}
