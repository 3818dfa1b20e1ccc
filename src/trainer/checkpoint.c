// Checkpoints (DESIGN 9). A checkpoint is a folder that appears whole or not at all:
//
//   <run>/checkpoints/epoch-N/model.safetensors      weights, PyG's names and layout
//                             best.safetensors       weights of the best validation so far
//                             optimizer.safetensors  flat moments
//                             messages.safetensors   widths and ranges, where messages have widths
//                             checkpoint.json        counters, which training it is of, and hashes
//                             of the files above and of itself
//   <run>/checkpoints/LATEST                         "epoch-N"
//
// It is written under a temporary name, every file synced, then renamed; so the newest folder whose
// hashes agree is always the state after some epoch, whatever instant the writer died at. Rank 0
// writes: weights are replicated, and it gathers what is not.
#include "internal.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void checkpoint_path(char out[CHECKPOINT_PATH], const char *run_dir, int64_t epoch) {
    char name[RUNFOLDER_NAME];
    snprintf(out, CHECKPOINT_PATH, "%s/checkpoints/%s", run_dir,
             runfolder_epoch_name(name, epoch, ""));
}

void checkpoint_file(char out[CHECKPOINT_PATH], const char *folder, int file) {
    path_join(out, CHECKPOINT_PATH, folder, checkpoint_files[file]);
}

// ---- writing

static bool write_files(Trainer *t, const TrainerState *state, const char *folder, Error *err) {
    char model[CHECKPOINT_PATH], best[CHECKPOINT_PATH], optimizer[CHECKPOINT_PATH];
    checkpoint_file(model, folder, 0);
    checkpoint_file(best, folder, 1);
    checkpoint_file(optimizer, folder, 2);
    return model_write(&t->shape, t->parameters, model, true, err) &&
           model_write(&t->shape, trainer_parameters(t, true), best, true, err) &&
           tensors_write(optimizer, state->tensor, 2, NULL, true, err);
}

// Does a whole checkpoint with the same contents lie there, by the hashes in its manifest?
static bool is_there(const char *folder, const char *temporary) {
    Manifest manifest;
    char theirs[33], ours[33], path[CHECKPOINT_PATH];
    if (!file_exists(folder) || !checkpoint_manifest_read(&manifest, folder, &(Error){0}))
        return false;
    checkpoint_manifest_clear(&manifest);
    path_join(path, sizeof path, folder, checkpoint_manifest);
    bool known = hash_file(path, theirs, &(Error){0});
    path_join(path, sizeof path, temporary, checkpoint_manifest);
    return known && hash_file(path, ours, &(Error){0}) && strcmp(theirs, ours) == 0;
}

// A folder disappears under another name first, so that none is ever seen half removed.
static bool remove_checkpoint(const char *folder, Error *err) {
    char parent[CHECKPOINT_PATH], plain[CHECKPOINT_PATH], away[CHECKPOINT_PATH];
    if (!file_exists(folder))
        return true;
    path_folder(parent, sizeof parent, folder);
    path_join(plain, sizeof plain, parent, ".removing");
    return file_temporary(away, sizeof away, plain, err) && file_rename(folder, away, err) &&
           file_remove(away, err);
}

// Another folder of that name, damaged or of other bits, makes room: the two change places at once,
// so that there is always one, and the old one goes once that is on the disk.
static bool put_in_place(const char *temporary, const char *folder, Error *err) {
    bool exchanged = false;
    if (!file_exchange(temporary, folder, &exchanged, err))
        return false;
    if (exchanged)
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

static int is_epoch(const struct dirent *entry) {
    return runfolder_epoch_of(entry->d_name, "") >= 0;
}

static int newer_first(const struct dirent **a, const struct dirent **b) {
    int64_t x = runfolder_epoch_of((*a)->d_name, ""), y = runfolder_epoch_of((*b)->d_name, "");
    return (x < y) - (x > y);
}

bool checkpoint_list(EpochList *list, const char *run_dir, Error *err) {
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
        list->epoch[list->count] = runfolder_epoch_of(entry[list->count]->d_name, "");
        free(entry[list->count]);
    }
    free(entry);
    return true;
}

// All but the `keep` newest up to the epoch just written; those of later epochs are damaged: the
// run was resumed before them.
static bool remove_old(const char *run_dir, int64_t epoch, int keep, Error *err) {
    EpochList list;
    bool ok = checkpoint_list(&list, run_dir, err);
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
    checkpoint_file(path, folder, 3);
    return t->assigner == NULL || assigner_write(t->assigner, writes ? path : NULL, err);
}

// What rank 0 writes aside: disks may take their time.
typedef struct Writing {
    Trainer *trainer;
    const char *run_dir;
    int keep;
    TrainerState state;
    char temporary[CHECKPOINT_PATH], folder[CHECKPOINT_PATH];
    bool ok;
    Error *err;
} Writing;

static bool make_temporary(Writing *w) {
    char parent[CHECKPOINT_PATH], plain[CHECKPOINT_PATH];
    path_folder(parent, sizeof parent, w->folder);
    path_join(plain, sizeof plain, parent, ".writing");
    file_sweep(parent);
    file_sweep(w->run_dir);
    return file_temporary(w->temporary, sizeof w->temporary, plain, w->err) &&
           file_remove(w->temporary, w->err) && file_make_folder(w->temporary, w->err);
}

static void write_aside(void *context) {
    Writing *w = context;
    w->ok = make_temporary(w) && write_files(w->trainer, &w->state, w->temporary, w->err);
}

// The manifest came last, and with it the temporary folder was flushed.
static bool put_down(const Writing *w) {
    if (is_there(w->folder, w->temporary))
        return file_remove(w->temporary, w->err);
    return put_in_place(w->temporary, w->folder, w->err);
}

static void finish_aside(void *context) {
    Writing *w = context;
    w->ok = checkpoint_manifest_write(w->trainer, &w->state, w->temporary, w->err) && put_down(w) &&
            write_latest(w->run_dir, w->folder, w->err) &&
            remove_old(w->run_dir, w->trainer->epoch, w->keep > 0 ? w->keep : 1, w->err);
}

bool checkpoint_write(Trainer *t, const char *run_dir, int keep, Error *err) {
    bool first = t->comm->rank == 0;
    Writing w = {.trainer = t, .run_dir = run_dir, .keep = keep, .err = err};
    if (!replicas_agree(t, err))
        return false;
    trainer_state(t, &w.state);
    checkpoint_path(w.folder, run_dir, t->epoch);
    if (first)
        comm_aside(t->comm, write_aside, &w);
    w.ok = write_messages(t, w.temporary, w.ok, err) && w.ok;
    if (first && w.ok)
        comm_aside(t->comm, finish_aside, &w);
    if (first && !w.ok)
        error_prefix(err, "checkpoint of epoch %lld", (long long)t->epoch);
    return comm_agree(t->comm, err);
}
