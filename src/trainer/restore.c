// Reading checkpoints back: the newest one that is whole. What is damaged is told and passed over;
// what cannot be read is an error, for a run is never started over by mistake.

#include "internal.h"

#include <stdio.h>
#include <string.h>

static bool read_optimizer(Trainer *t, const char *folder, Error *err) {
    char path[CHECKPOINT_PATH];
    Tensors file;
    TrainerState mine;
    trainer_state(t, &mine);
    path_join(path, sizeof path, folder, checkpoint_files[2]);
    if (!tensors_open(&file, path, err))
        return false;
    for (int i = 0; i < 2 && err->code == 0; i++) {
        const Tensor *want = &mine.tensor[i];
        const Tensor *found = tensors_need(&file, want->name, want->type, 1, want->shape, err);
        if (found != NULL)
            memcpy((void *)want->data, found->data, tensor_bytes(found)); // the trainer's own array
    }
    tensors_close(&file);
    return err->code == 0;
}

// Rank 0 reads weights, moments and counters straight into its trainer.
static bool load(Trainer *t, const char *folder, const TrainerState *state, Error *err) {
    char model[CHECKPOINT_PATH], best[CHECKPOINT_PATH];
    path_join(model, sizeof model, folder, checkpoint_files[0]);
    path_join(best, sizeof best, folder, checkpoint_files[1]);
    if (!model_read(&t->shape, t->parameters, model, err) ||
        !model_read(&t->shape, t->best, best, err) || !read_optimizer(t, folder, err))
        return error_prefix(err, "cannot resume");
    TrainerState mine = {0};
    trainer_state(t, &mine);
    mine.counters = state->counters;
    trainer_restore(t, &mine, t->parameters);
    return true;
}

// The newest checkpoint of a run that is whole, if it has one.
typedef struct Newest {
    bool found;
    char folder[CHECKPOINT_PATH];
    Manifest manifest; // where it is found; checkpoint_manifest_clear
    int damaged;       // newer ones that are not whole
    Warnings warnings; // one for each of them
} Newest;

static bool cannot_tell(const char *folder, const Error *trouble, Error *err) {
    if (trouble->code == EXIT_CONFIG)
        return error_set(err, EXIT_CONFIG, "%s", trouble->text);
    return error_set(err, (ExitCode)trouble->code,
                     "%s; is the checkpoint whole? try again, or remove %s to do without it",
                     trouble->text, folder);
}

static bool find_newest(Newest *newest, const char *run_dir, Error *err) {
    EpochList list;
    *newest = (Newest){0};
    bool ok = checkpoint_list(&list, run_dir, err);
    for (int i = 0; i < list.count && ok && !newest->found; i++) {
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
    memory_give(list.epoch);
    return ok;
}

// A run that has checkpoints never starts again from its first epoch unless it is told so.
static bool check_found(const Newest *newest, const char *run_dir, Error *err) {
    return newest->found || newest->damaged == 0 ||
           error_set(err, EXIT_DATA,
                     "%s/checkpoints: none of its %d checkpoints is whole (%.*s); put a copy "
                     "of one back, or start anew without --resume",
                     run_dir, newest->damaged, (int)strcspn(newest->warnings.text, "\n"),
                     newest->warnings.text);
}

// Whole, but is it known what it holds, and all of it?
static bool check_known(const Newest *newest, Error *err) {
    const Manifest *m = &newest->manifest;
    if (m->version == 1)
        return error_set(err, EXIT_CONFIG,
                         "%s: an older fringe wrote it (version 1), which did not note what was "
                         "trained, so it cannot be resumed; start anew without --resume, or in "
                         "another run.dir from its weights: model.weights=%s/%s",
                         newest->folder, newest->folder, checkpoint_files[0]);
    return m->unknown[0] == 0 ||
           error_set(err, EXIT_CONFIG,
                     "%s: holds %s, which a newer fringe wrote and this one does not know; go on "
                     "with the newer one",
                     newest->folder, m->unknown);
}

// What rank 0 reads aside: every file is hashed before it is believed.
typedef struct Reading {
    Trainer *trainer;
    const char *run_dir;
    Newest newest;
    Error *err;
} Reading;

static void read_aside(void *context) {
    Reading *r = context;
    Newest *newest = &r->newest;
    Manifest *m = &newest->manifest;
    if (find_newest(newest, r->run_dir, r->err) && check_found(newest, r->run_dir, r->err) &&
        newest->found && check_known(newest, r->err) &&
        identity_check(r->trainer, &m->identity, newest->folder, r->err) &&
        load(r->trainer, newest->folder, &m->state, r->err))
        r->trainer->first_weights = m->identity.first_weights;
    checkpoint_manifest_clear(m);
}

bool checkpoint_restore(Trainer *t, const char *run_dir, bool *found, Warnings *warnings,
                        Error *err) {
    char messages[CHECKPOINT_PATH];
    Reading r = {.trainer = t, .run_dir = run_dir, .err = err};
    if (t->comm->rank == 0)
        comm_aside(t->comm, read_aside, &r);
    *found = r.newest.found;
    *warnings = r.newest.warnings;
    if (!comm_agree(t->comm, err))
        return false;
    comm_broadcast(t->comm, found, sizeof *found, 0);
    if (!*found)
        return true;
    TrainerState state;
    trainer_state(t, &state);
    size_t bytes = (size_t)t->shape.parameter_count * sizeof(float);
    comm_broadcast(t->comm, t->parameters, bytes, 0);
    for (int i = 0; i < state.tensors; i++)
        comm_broadcast(t->comm, (void *)state.tensor[i].data, bytes, 0);
    comm_broadcast(t->comm, &state.counters, sizeof state.counters, 0);
    trainer_restore(t, &state, t->parameters);
    checkpoint_file(messages, r.newest.folder, 3);
    return t->assigner == NULL || assigner_read(t->assigner, messages, err);
}

// ---- for evaluate, predict and inspect

bool checkpoint_check_named(const char *file, Error *err) {
    Manifest manifest;
    char folder[CHECKPOINT_PATH], path[CHECKPOINT_PATH];
    path_folder(folder, sizeof folder, file);
    path_join(path, sizeof path, folder, checkpoint_manifest);
    if (!file_exists(path))
        return true;
    if (!checkpoint_manifest_read(&manifest, folder, err))
        return false;
    checkpoint_manifest_clear(&manifest);
    return true;
}

bool checkpoint_weights_path(const char *where, bool best, char *path, size_t size, Error *err) {
    const char *name = checkpoint_files[best ? 1 : 0];
    if (!file_exists(where))
        return error_set(err, EXIT_NO_INPUT,
                         "%s is not there; give a run folder, a checkpoint or a .safetensors file",
                         where);
    if (!file_is_folder(where)) {
        snprintf(path, size, "%s", where);
        return checkpoint_check_named(path, err);
    }
    path_join(path, size, where, name);
    if (file_exists(path))
        return checkpoint_check_named(path, err);
    Newest newest;
    if (!find_newest(&newest, where, err))
        return false;
    if (!newest.found)
        return error_set(err, EXIT_NO_INPUT, "%s holds no whole checkpoint%s%s", where,
                         newest.damaged > 0 ? ": " : "", newest.warnings.text);
    checkpoint_manifest_clear(&newest.manifest);
    path_join(path, size, newest.folder, name);
    return true;
}

static bool holds(const char *folder, const char *name) {
    char path[CHECKPOINT_PATH];
    path_join(path, sizeof path, folder, name);
    return file_exists(path);
}

static bool print_tensors(const char *folder, const char *name, Error *err) {
    char path[CHECKPOINT_PATH];
    Tensors file;
    path_join(path, sizeof path, folder, name);
    if (!tensors_open(&file, path, err))
        return false;
    tensors_print(&file, name);
    tensors_close(&file);
    return true;
}

static void print_manifest(const Manifest *m, const char *folder) {
    const Metrics *last = &m->state.counters.last_metrics[SPLIT_TEST];
    const Metrics *best = &m->state.counters.best_metrics[SPLIT_TEST];
    const Identity *of = &m->identity;
    printf("checkpoint %s\nepoch %lld, best validation at epoch %lld\n", SHOWN(folder),
           (long long)m->state.counters.epoch, (long long)m->state.counters.best_epoch);
    if (m->version > 1)
        printf("of a training with seed %lld on data %s in %lld parts %s%s%s\n",
               (long long)of->seed, SHOWN(of->data), (long long)of->parts, SHOWN(of->cut),
               of->first_weights.path[0] != 0 ? ", from the weights " : "",
               SHOWN(of->first_weights.path));
    printf("test: last evaluation accuracy %.4f micro-F1 %.4f; at the best accuracy %.4f micro-F1 "
           "%.4f\n",
           last->accuracy, last->micro_f1, best->accuracy, best->micro_f1);
}

bool checkpoint_inspect(const char *where, Error *err) {
    char weights[CHECKPOINT_PATH], folder[CHECKPOINT_PATH];
    Manifest manifest;
    if (!checkpoint_weights_path(where, false, weights, sizeof weights, err))
        return false;
    path_folder(folder, sizeof folder, weights);
    if (!checkpoint_manifest_read(&manifest, folder, err))
        return false;
    print_manifest(&manifest, folder);
    checkpoint_manifest_clear(&manifest);
    for (int i = 0; i < CHECKPOINT_FILES; i++)
        if (holds(folder, checkpoint_files[i]) && !print_tensors(folder, checkpoint_files[i], err))
            return false;
    return true;
}
