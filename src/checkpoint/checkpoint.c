// Checkpoints (docs/files.md). A checkpoint is a folder that appears whole or not at all:
//
//   <run>/checkpoints/epoch-N/model.safetensors      weights, PyG's names and layout
//                             best.safetensors       weights of the best validation so far
//                             optimizer.safetensors  flat moments
//                             messages.safetensors   bit widths and ranges, if the codec has them
//                             NAME.safetensors       any further section of state
//                             checkpoint.json        counters, identity of the training, and hashes
//                             of the files above and of itself
//   <run>/checkpoints/LATEST                         "epoch-N"
//
// It is written under a temporary name, every file is synced, then the folder is renamed. So the
// newest folder whose hashes agree is always the state after some epoch, even if the writer
// crashed. Rank 0 writes: weights are replicated, and it gathers all other state.
#include "internal.h"

char *checkpoint_path(char out[PATH_BYTES], const char *run_dir, int64_t epoch) {
    char name[RUNFOLDER_NAME];
    snprintf(out, PATH_BYTES, "%s/checkpoints/%s", run_dir, runfolder_epoch_name(name, epoch, ""));
    return out;
}

// ---- writing

// True if a valid checkpoint with the same contents exists, by the hashes in its manifest.
static bool is_there(const char *folder, const char *temporary) {
    Manifest manifest;
    char theirs[33], ours[33], path[PATH_BYTES];
    if (!file_exists(folder) || !checkpoint_manifest_read(&manifest, folder, &(Error){0}))
        return false;
    checkpoint_manifest_clear(&manifest);
    path_join(path, sizeof path, folder, checkpoint_manifest);
    bool known = hash_file(path, theirs, &(Error){0});
    path_join(path, sizeof path, temporary, checkpoint_manifest);
    return known && hash_file(path, ours, &(Error){0}) && strcmp(theirs, ours) == 0;
}

static bool write_latest(const char *run_dir, const char *folder, Error *err) {
    char line[64];
    int bytes = snprintf(line, sizeof line, "%s\n", path_name(folder));
    return file_replace(PATH_IN(run_dir, "checkpoints/LATEST"), line, (size_t)bytes, err);
}

// ---- existing folders

bool checkpoint_list(EpochList *list, const char *run_dir, Error *err) {
    return runfolder_epochs(list, PATH_IN(run_dir, "checkpoints"), "", err);
}

// Removes all but the `keep` newest up to the epoch just written, and those of later epochs: these
// are damaged, because the run resumed from an earlier one.
static bool remove_old(const char *run_dir, int64_t epoch, int keep, Error *err) {
    CLEARED(epoch_list_clear) EpochList list = {0};
    bool ok = checkpoint_list(&list, run_dir, err);
    int kept = 0;
    for (int i = list.count; i-- > 0 && ok;)
        if (list.epoch[i] > epoch || kept++ >= keep)
            ok = file_discard(CHECKPOINT_PATH(run_dir, list.epoch[i]), err);
    return ok;
}

// What rank 0 writes.
typedef struct Writing {
    const Training *training;
    const char *run_dir;
    int64_t epoch;
    int keep;
    char temporary[PATH_BYTES], folder[PATH_BYTES];
    Error *err;
} Writing;

static void make_temporary(void *context, Error *err) {
    Writing *w = context;
    const char *parent = FOLDER_OF(w->folder);
    const char *plain = PATH_IN(parent, ".writing");
    file_sweep(parent);
    file_sweep(w->run_dir);
    if (file_temporary(w->temporary, sizeof w->temporary, plain, err) &&
        file_remove(w->temporary, err))
        file_make_folder(w->temporary, err);
}

// Writing the manifest, the last file, has also flushed the temporary folder. It replaces one of
// that name that is damaged or has other contents.
static bool put_down(const Writing *w, Error *err) {
    if (is_there(w->folder, w->temporary))
        return file_remove(w->temporary, err);
    return file_take_place(w->temporary, w->folder, err);
}

static void finish(void *context, Error *err) {
    Writing *w = context;
    if (checkpoint_manifest_write(w->training, w->temporary, err) && put_down(w, err) &&
        write_latest(w->run_dir, w->folder, err))
        remove_old(w->run_dir, w->epoch, w->keep > 0 ? w->keep : 1, err);
}

// Collective.
static bool on_first(Writing *w, void (*work)(void *context, Error *err)) {
    return comm_on_root(w->training->comm, work, w, w->err) ||
           error_prefix(w->err, "checkpoint of epoch %ld", w->epoch);
}

// All ranks provide their state; rank 0 writes it.
static bool write_sections(const Writing *w) {
    const StateSections *sections = trainer_sections(w->training->trainer);
    for (int i = 0; i < sections->count; i++) {
        const StateSection *section = &sections->section[i];
        state_write(section, w->training->comm, CHECKPOINT_FILE(w->temporary, section->name),
                    w->err);
        if (!comm_agree(w->training->comm, w->err))
            return error_prefix(w->err, "checkpoint of epoch %ld", w->epoch);
    }
    return true;
}

bool checkpoint_write(const Training *t, const char *run_dir, int keep, Error *err) {
    Writing w = {.training = t,
                 .run_dir = run_dir,
                 .epoch = trainer_epochs_done(t->trainer),
                 .keep = keep,
                 .err = err};
    checkpoint_path(w.folder, run_dir, w.epoch);
    return trainer_replicas_agree(t->trainer, err) && on_first(&w, make_temporary) &&
           write_sections(&w) && on_first(&w, finish);
}
