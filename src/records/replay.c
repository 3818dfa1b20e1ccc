// What the rules replay:RUN of quantization.assign and quantization.exchanges repeat. That run's
// report wrote assignments/epoch-N.safetensors with one tensor for each channel, one byte for each
// row, in rank order; metrics.jsonl names the exchanges in full precision of every epoch.

#include "fringe/records.h"
#include "fringe/runfolder.h"

// The run that a rule names; NULL: the rule replays none.
static const char *run_of(const char *rule) {
    size_t head = strlen("replay:");
    return strncmp(rule, "replay:", head) == 0 ? rule + head : NULL;
}

// A run would read what it writes.
static bool is_another(const char *run, const char *key, const Config *config, Error *err) {
    return !runfolder_is_same(run, config->run.dir) ||
           error_config(err, "%s: %s is the folder of this run itself; give another run.dir", key,
                        config->run.dir);
}

// ---- the widths

// Lists the epochs that have an assignment.
static bool list_epochs(Replay *replay, const char *folder, Error *err) {
    EpochList list;
    if (!file_is_folder(folder))
        return error_set(err, EXIT_NO_INPUT,
                         "%s does not exist; quantization.assign replay: needs the folder of a run "
                         "that assigned widths",
                         folder);
    bool ok = runfolder_epochs(&list, folder, ".safetensors", err);
    replay->assigned = list.epoch;
    replay->assignments = list.count;
    return ok && (list.count > 0 ||
                  error_set(err, EXIT_NO_INPUT,
                            "%s: that run assigned no widths; there is nothing to replay", folder));
}

bool replay_read_widths(Replay *replay, const Config *config, Error *err) {
    const char *run = run_of(config->quantization.assign);
    if (run == NULL)
        return true;
    path_join(replay->folder, sizeof replay->folder, run, "assignments");
    return is_another(run, "quantization.assign", config, err) &&
           list_epochs(replay, replay->folder, err);
}

static bool open_widths(const Replay *replay, int64_t epoch, Tensors *file, Error *err) {
    char name[RUNFOLDER_NAME];
    runfolder_epoch_name(name, epoch, ".safetensors");
    return tensors_open(file, PATH_IN(replay->folder, name), err);
}

// ---- the exchanges in full precision

bool replay_read_exchanges(Replay *replay, const Config *config, Error *err) {
    const char *run = run_of(config->quantization.exchanges);
    int64_t most = config->train.epochs, read = 0;
    if (run == NULL)
        return true;
    if (!is_another(run, "quantization.exchanges", config, err))
        return false;
    FREED RecordedEpoch *epoch = ALLOC(RecordedEpoch, most, "replayed epochs");
    replay->full_precision = ALLOC(ExchangeSet, most, "replayed exchanges");
    if (record_history(run, NULL, epoch, most, &read, err))
        for (int64_t i = 0; i < read; i++)
            if (epoch[i].epoch > replay->epochs && epoch[i].epoch <= most) {
                replay->epochs = epoch[i].epoch;
                replay->full_precision[replay->epochs - 1] = epoch[i].fp32;
            }
    return err->code == 0;
}

// ---- both, for all ranks

// Gives every rank the list of rank 0.
static void *shared(const Comm *comm, void *list, int64_t *count, size_t bytes) {
    comm_broadcast(comm, count, sizeof *count, 0);
    if (comm->rank != 0)
        list = memory_alloc(memory_product(*count, bytes), "replayed epochs");
    comm_broadcast(comm, list, (size_t)*count * bytes, 0);
    return list;
}

bool replay_read(Replay *replay, const Config *config, const Comm *comm, Error *err) {
    *replay = (Replay){.open = open_widths};
    if (comm->rank == 0 && replay_read_exchanges(replay, config, err))
        replay_read_widths(replay, config, err);
    if (!comm_agree(comm, err))
        return false;
    replay->full_precision =
        shared(comm, replay->full_precision, &replay->epochs, sizeof *replay->full_precision);
    replay->assigned = shared(comm, replay->assigned, &replay->assignments, sizeof(int64_t));
    return true;
}

void replay_clear(Replay *replay) {
    MEMORY_FREE(replay->assigned, replay->full_precision);
    *replay = (Replay){0};
}
