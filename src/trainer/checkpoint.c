// Checkpoints (DESIGN 9). A checkpoint is a folder that appears whole or not at all:
//
//   <run>/checkpoints/epoch-N/model.safetensors      weights, PyG's names and layout
//                             best.safetensors       weights of the best validation so far
//                             optimizer.safetensors  flat moments
//                             messages.safetensors   widths and ranges, where messages have widths
//                             checkpoint.json        epoch, counters, binding, size and hash of the
//                             files above
//   <run>/checkpoints/LATEST                         "epoch-N"
//
// It is written under a temporary name, every file synced, then renamed; so the newest folder whose
// hashes agree is always the state after some epoch, whatever instant the writer died at. Rank 0
// writes: weights are replicated, and it gathers what is not.
#include "internal.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void checkpoint_path(char *out, const char *run_dir, int64_t epoch) {
    snprintf(out, CHECKPOINT_PATH, "%s/checkpoints/epoch-%lld", run_dir, (long long)epoch);
}

// ---- writing

static void file_path(char *out, const char *folder, int file) {
    path_join(out, CHECKPOINT_PATH, folder, checkpoint_files[file]);
}

static bool write_files(Trainer *t, const TrainerState *state, const char *folder, Error *err) {
    char model[CHECKPOINT_PATH], best[CHECKPOINT_PATH], optimizer[CHECKPOINT_PATH];
    file_path(model, folder, 0);
    file_path(best, folder, 1);
    file_path(optimizer, folder, 2);
    return file_remove(folder, err) && file_make_folder(folder, err) &&
           model_write(&t->shape, t->parameters, model, true, err) &&
           model_write(&t->shape, trainer_parameters(t, true), best, true, err) &&
           tensors_write(optimizer, state->tensor, 2, NULL, true, err);
}

// Does a whole checkpoint with the same contents lie there, by the hashes in its manifest?
static bool is_there(const char *folder, const char *temporary) {
    Error ignored = {0};
    TrainerState state;
    char binding[256], path[CHECKPOINT_PATH];
    if (!file_exists(folder) ||
        !checkpoint_manifest_read(folder, &state, binding, sizeof binding, &ignored))
        return false;
    char theirs[33], ours[33];
    path_join(path, sizeof path, folder, checkpoint_manifest);
    bool known = hash_file(path, theirs, &ignored);
    path_join(path, sizeof path, temporary, checkpoint_manifest);
    return known && hash_file(path, ours, &ignored) && strcmp(theirs, ours) == 0;
}

// A folder disappears under another name first, so that none is ever seen half removed.
static bool remove_checkpoint(const char *folder, Error *err) {
    char parent[CHECKPOINT_PATH], away[CHECKPOINT_PATH];
    if (!file_exists(folder))
        return true;
    path_folder(parent, sizeof parent, folder);
    path_join(away, sizeof away, parent, ".removing");
    return file_remove(away, err) && file_rename(folder, away, err) && file_remove(away, err);
}

// Another folder of that name, damaged or of other bits, makes room: the two change places at once,
// so that there is always one.
static bool put_in_place(const char *temporary, const char *folder, Error *err) {
    if (file_exists(folder) &&
        renameat2(AT_FDCWD, temporary, AT_FDCWD, folder, RENAME_EXCHANGE) == 0)
        return file_remove(temporary, err);
    return remove_checkpoint(folder, err) && file_rename(temporary, folder, err);
}

static bool write_latest(const char *run_dir, const char *folder, Error *err) {
    char latest[CHECKPOINT_PATH], line[64];
    snprintf(latest, sizeof latest, "%s/checkpoints/LATEST", run_dir);
    int bytes = snprintf(line, sizeof line, "%s\n", path_name(folder));
    return file_replace(latest, line, (size_t)bytes, err);
}

// ---- the folders there are

typedef struct EpochList {
    int count;
    int64_t *epoch; // [count] newest first; owned
} EpochList;

// The N of "epoch-N"; -1 where the name is another.
static int64_t epoch_of(const struct dirent *entry) {
    char name[64];
    long long epoch = -1;
    if (sscanf(entry->d_name, "epoch-%lld", &epoch) != 1 || epoch < 0)
        return -1;
    snprintf(name, sizeof name, "epoch-%lld", epoch);
    return strcmp(name, entry->d_name) == 0 ? epoch : -1;
}

static int is_epoch(const struct dirent *entry) { return epoch_of(entry) >= 0; }

static int newer_first(const struct dirent **a, const struct dirent **b) {
    int64_t x = epoch_of(*a), y = epoch_of(*b);
    return (x < y) - (x > y);
}

// No folder is an empty list; a folder that cannot be read is none.
static bool list_epochs(EpochList *list, const char *run_dir, Error *err) {
    char folder[CHECKPOINT_PATH];
    struct dirent **entry;
    *list = (EpochList){0};
    path_join(folder, sizeof folder, run_dir, "checkpoints");
    int count = scandir(folder, &entry, is_epoch, newer_first);
    if (count < 0)
        return errno == ENOENT ||
               error_set(err, EXIT_IO, "%s: cannot look into it: %s", folder, strerror(errno));
    list->epoch = TAKE(int64_t, count, "list of checkpoints");
    for (; list->count < count; list->count++) {
        list->epoch[list->count] = epoch_of(entry[list->count]);
        free(entry[list->count]);
    }
    free(entry);
    return true;
}

// All but the `keep` newest up to the epoch just written; those of later epochs are damaged: the
// run was resumed before them.
static bool remove_old(const char *run_dir, int64_t epoch, int keep, Error *err) {
    EpochList list;
    bool ok = list_epochs(&list, run_dir, err);
    int kept = 0;
    for (int i = 0; i < list.count && ok; i++) {
        char path[CHECKPOINT_PATH];
        checkpoint_path(path, run_dir, list.epoch[i]);
        if (list.epoch[i] > epoch || kept++ >= keep)
            ok = remove_checkpoint(path, err);
    }
    memory_give(list.epoch);
    return ok;
}

// Widths and ranges are with all ranks, so all ranks come here; rank 0 says whether it writes.
static bool write_messages(Trainer *t, const char *folder, bool writes, Error *err) {
    char path[CHECKPOINT_PATH];
    file_path(path, folder, 3);
    return t->assigner == NULL || assigner_write(t->assigner, writes ? path : NULL, err);
}

// What rank 0 writes aside: disks may take their time.
typedef struct Writing {
    Trainer *trainer;
    const char *run_dir, *binding;
    int keep;
    TrainerState state;
    char temporary[CHECKPOINT_PATH], folder[CHECKPOINT_PATH];
    bool ok;
    Error *err;
} Writing;

static void write_aside(void *context) {
    Writing *w = context;
    w->ok = write_files(w->trainer, &w->state, w->temporary, w->err);
}

static bool put_down(const Writing *w) {
    if (is_there(w->folder, w->temporary))
        return file_remove(w->temporary, w->err);
    return file_sync(w->temporary, w->err) && put_in_place(w->temporary, w->folder, w->err);
}

static void finish_aside(void *context) {
    Writing *w = context;
    w->ok = checkpoint_manifest_write(&w->state, w->temporary, w->binding, w->err) && put_down(w) &&
            write_latest(w->run_dir, w->folder, w->err) &&
            remove_old(w->run_dir, w->trainer->epoch, w->keep > 0 ? w->keep : 1, w->err);
}

bool checkpoint_write(Trainer *t, const char *run_dir, const char *binding, int keep, Error *err) {
    bool first = t->comm->rank == 0;
    Writing w = {.trainer = t, .run_dir = run_dir, .binding = binding, .keep = keep, .err = err};
    trainer_state(t, &w.state);
    checkpoint_path(w.folder, run_dir, t->epoch);
    snprintf(w.temporary, sizeof w.temporary, "%s/checkpoints/.writing", run_dir);
    if (first)
        comm_aside(t->comm, write_aside, &w);
    w.ok = write_messages(t, w.temporary, w.ok, err) && w.ok;
    if (first && w.ok)
        comm_aside(t->comm, finish_aside, &w);
    if (first && !w.ok)
        error_prefix(err, "checkpoint of epoch %lld", (long long)t->epoch);
    return comm_agree(t->comm, err);
}

// One rename, so that all of them are gone at once; what a killed writer left may stay.
bool checkpoint_put_aside(const char *run_dir, bool *found, Error *err) {
    char folder[CHECKPOINT_PATH], aside[CHECKPOINT_PATH];
    EpochList list;
    bool ok = list_epochs(&list, run_dir, err);
    *found = list.count > 0;
    memory_give(list.epoch);
    path_join(folder, sizeof folder, run_dir, "checkpoints");
    path_join(aside, sizeof aside, run_dir, "checkpoints.before");
    return ok && (!*found || (file_remove(aside, err) && file_rename(folder, aside, err)));
}

// ---- reading

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
    TrainerState mine;
    trainer_state(t, &mine);
    mine.counters = state->counters;
    trainer_restore(t, &mine, t->parameters);
    return true;
}

static void remark(char remarks[1024], const char *text) {
    size_t used = strlen(remarks);
    snprintf(remarks + used, 1024 - used, "%s%.900s", used > 0 ? "\n" : "", text);
}

// The newest checkpoint of a run that is whole, if it has one.
typedef struct Newest {
    bool found;
    char folder[CHECKPOINT_PATH], binding[256];
    TrainerState state;
    int damaged;        // newer ones that are not whole
    char remarks[1024]; // a line for each of them
} Newest;

// Bytes that are not those that were written, or a file that is gone: no other try helps. Whatever
// else keeps a checkpoint from being read says nothing of the checkpoint.
static bool is_damage(const Error *err) {
    return err->code == EXIT_DATA || err->code == EXIT_NO_INPUT;
}

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
    bool ok = list_epochs(&list, run_dir, err);
    for (int i = 0; i < list.count && ok && !newest->found; i++) {
        Error trouble = {0};
        checkpoint_path(newest->folder, run_dir, list.epoch[i]);
        newest->found = checkpoint_manifest_read(newest->folder, &newest->state, newest->binding,
                                                 sizeof newest->binding, &trouble);
        if (is_damage(&trouble)) {
            remark(newest->remarks, trouble.text);
            newest->damaged++;
        } else if (trouble.code != 0) {
            ok = cannot_tell(newest->folder, &trouble, err);
        }
    }
    memory_give(list.epoch);
    return ok;
}

// A run that has checkpoints never starts again from its first epoch unless it is told so.
static bool check_newest(const Newest *newest, const char *run_dir, const char *binding,
                         Error *err) {
    if (!newest->found && newest->damaged > 0)
        return error_set(err, EXIT_DATA,
                         "%s/checkpoints: none of its %d checkpoints is whole (%.*s); put a copy "
                         "of one back, or start anew without --resume",
                         run_dir, newest->damaged, (int)strcspn(newest->remarks, "\n"),
                         newest->remarks);
    if (newest->found && strcmp(newest->binding, binding) != 0)
        return error_set(err, EXIT_CONFIG,
                         "%s was written for other data, another model or other parts (%s, now "
                         "%s); give another run.dir, or start anew without --resume",
                         newest->folder, newest->binding, binding);
    return true;
}

// What rank 0 reads aside: every file is hashed before it is believed.
typedef struct Reading {
    Trainer *trainer;
    const char *run_dir, *binding;
    Newest newest;
    Error *err;
} Reading;

static void read_aside(void *context) {
    Reading *r = context;
    Newest *newest = &r->newest;
    if (find_newest(newest, r->run_dir, r->err) &&
        check_newest(newest, r->run_dir, r->binding, r->err) && newest->found)
        load(r->trainer, newest->folder, &newest->state, r->err);
}

bool checkpoint_restore(Trainer *t, const char *run_dir, const char *binding, bool *found,
                        char remarks[1024], Error *err) {
    char messages[CHECKPOINT_PATH];
    Reading r = {.trainer = t, .run_dir = run_dir, .binding = binding, .err = err};
    if (t->comm->rank == 0)
        comm_aside(t->comm, read_aside, &r);
    *found = r.newest.found;
    memcpy(remarks, r.newest.remarks, sizeof r.newest.remarks);
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
    file_path(messages, r.newest.folder, 3);
    return t->assigner == NULL || assigner_read(t->assigner, messages, err);
}

// ---- for evaluate, predict and inspect

bool checkpoint_weights_path(const char *where, bool best, char *path, size_t size, Error *err) {
    const char *name = checkpoint_files[best ? 1 : 0];
    if (!file_exists(where))
        return error_set(err, EXIT_NO_INPUT,
                         "%s is not there; give a run folder, a checkpoint or a .safetensors file",
                         where);
    if (!file_is_folder(where)) {
        snprintf(path, size, "%s", where);
        return true;
    }
    path_join(path, size, where, name);
    if (file_exists(path))
        return true;
    Newest newest;
    if (!find_newest(&newest, where, err))
        return false;
    if (!newest.found)
        return error_set(err, EXIT_NO_INPUT, "%s holds no whole checkpoint%s%s", where,
                         newest.damaged > 0 ? ": " : "", newest.remarks);
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
    printf("%s: %d tensors, %zu bytes\n", name, file.count, file.bytes);
    for (int i = 0; i < file.count; i++) {
        const Tensor *t = &file.tensor[i];
        printf("  %-32s %s [", t->name, tensor_type_names[t->type]);
        for (int d = 0; d < t->rank; d++)
            printf("%s%lld", d > 0 ? ", " : "", (long long)t->shape[d]);
        printf("]\n");
    }
    tensors_close(&file);
    return true;
}

bool checkpoint_inspect(const char *where, Error *err) {
    char weights[CHECKPOINT_PATH], folder[CHECKPOINT_PATH], binding[256];
    TrainerState state;
    if (!checkpoint_weights_path(where, false, weights, sizeof weights, err))
        return false;
    path_folder(folder, sizeof folder, weights);
    if (!checkpoint_manifest_read(folder, &state, binding, sizeof binding, err))
        return false;
    const Metrics *last = &state.counters.last_metrics[SPLIT_TEST];
    const Metrics *best = &state.counters.best_metrics[SPLIT_TEST];
    printf("checkpoint %s\nepoch %lld, best validation at epoch %lld, bound to %s\n", folder,
           (long long)state.counters.epoch, (long long)state.counters.best_epoch, binding);
    printf("test: last evaluation accuracy %.4f micro-F1 %.4f; at the best accuracy %.4f micro-F1 "
           "%.4f\n",
           last->accuracy, last->micro_f1, best->accuracy, best->micro_f1);
    for (int i = 0; i < CHECKPOINT_FILES; i++)
        if (holds(folder, checkpoint_files[i]) && !print_tensors(folder, checkpoint_files[i], err))
            return false;
    return true;
}
