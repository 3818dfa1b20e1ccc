// The rule replay:RUN: applies the widths that another run used. Rank 0 reads them from that run's
// assignments/epoch-N.safetensors (written by report): one tensor per channel, one byte per row, in
// rank order.

#include "internal.h"

#include "fringe/runfolder.h"

#include <dirent.h>
#include <string.h>

enum { REPLAY_MOST = 100000 };

static const char *replayed_run(const Config *config) {
    return strchr(config->quantization.assign, ':') + 1;
}

static void replay_folder(const Config *config, char *out, size_t size) {
    path_join(out, size, replayed_run(config), "assignments");
}

// Lists the epochs that have an assignment, ascending; returns 0 with an error if there is none.
static int list_epochs(int64_t epochs[REPLAY_MOST], const char *folder, Error *err) {
    DIR *open_folder = opendir(folder);
    if (open_folder == NULL) {
        error_set(err, EXIT_NO_INPUT,
                  "%s does not exist; quantization.assign replay: needs the folder of a run that "
                  "assigned widths",
                  folder);
        return 0;
    }
    struct dirent *entry;
    int count = 0;
    while ((entry = readdir(open_folder)) != NULL && count < REPLAY_MOST) {
        int64_t epoch = runfolder_epoch_of(entry->d_name, ".safetensors");
        if (epoch > 0)
            epochs[count++] = epoch;
    }
    closedir(open_folder);
    sort_int64(epochs, count);
    if (count == 0)
        error_set(err, EXIT_NO_INPUT, "%s: that run assigned no widths; there is nothing to replay",
                  folder);
    return count;
}

static int find_epochs(const Config *config, int64_t epochs[REPLAY_MOST], Error *err) {
    char folder[PATH_BYTES];
    replay_folder(config, folder, sizeof folder);
    // A run that starts again moves the assignments of its folder away, and a resumed run would
    // read those that it writes.
    if (!runfolder_is_same(config->run.dir, replayed_run(config)))
        return list_epochs(epochs, folder, err);
    error_set(err, EXIT_CONFIG,
              "quantization.assign: %s is the folder of this run itself; give another run.dir",
              config->run.dir);
    return 0;
}

bool replay_check(const Config *config, Error *err) {
    int64_t *epochs = ALLOC(int64_t, REPLAY_MOST, "replayed assignments");
    int count = find_epochs(config, epochs, err);
    memory_free(epochs);
    return count > 0;
}

bool replay_open(Assigner *a, Error *err) {
    a->replay = ALLOC(int64_t, REPLAY_MOST, "replayed assignments");
    if (a->comm->rank == 0)
        a->replays = find_epochs(a->config, a->replay, err);
    if (!comm_agree(a->comm, err))
        return false;
    comm_broadcast(a->comm, &a->replays, sizeof a->replays, 0);
    comm_broadcast(a->comm, a->replay, (size_t)a->replays * sizeof *a->replay, 0);
    return true;
}

bool replay_due(const Assigner *a, int64_t epoch) {
    for (int64_t i = 0; i < a->replays; i++)
        if (a->replay[i] == epoch)
            return true;
    return false;
}

bool replay_decide(Assigner *a, Error *err) {
    char folder[PATH_BYTES], name[RUNFOLDER_NAME], path[PATH_BYTES];
    Tensors file = {0};
    const Tensor *tensor[ASSIGNED_CHANNELS] = {NULL};
    bool first = a->comm->rank == 0;
    replay_folder(a->config, folder, sizeof folder);
    path_join(path, sizeof path, folder, runfolder_epoch_name(name, a->requested, ".safetensors"));
    bool open = first && tensors_open(&file, path, err);
    for (int i = 0; open && i < a->channels && err->code == 0; i++) {
        int64_t shape[1] = {assigned_messages(&a->assigned[i], a->comm)};
        tensor[i] = tensors_need(&file, a->assigned[i].name, TENSOR_U8, 1, shape, err);
        if (tensor[i] != NULL)
            widths_check(tensor[i], path, err);
    }
    bool fine = comm_agree(a->comm, err);
    for (int i = 0; fine && i < a->channels; i++) {
        assigned_scatter_rows(&a->assigned[i], a->comm, first ? tensor[i]->data : NULL,
                              a->assigned[i].next, 1);
        if (a->assigned[i].asked)
            snprintf(a->assignment.part[i].by, sizeof a->assignment.part[i].by, "replay");
    }
    if (open)
        tensors_close(&file);
    return fine;
}
