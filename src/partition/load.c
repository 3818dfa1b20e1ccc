// Loads the shards of all ranks: all fill the cache (build.c), then every rank maps its own shard.
// A damaged shard is made again once.
#include "entry.h"

typedef struct Work { // of rank 0
    const Config *config;
    int parts;
    bool again; // the entry is damaged: make it again
    char folder[PATH_BYTES], name[DATASET_NAME];
    CacheHold *hold; // until every rank has opened its shard
    Warnings *warnings;
    Error *err;
} Work;

static void begin_build(void *context, UNUSED Error *err) {
    Work *work = context;
    if (work->again) {
        warnings_add(work->warnings, "%s was damaged and is made again", work->folder);
        file_discard(work->folder, &(Error){0});
    }
    cache_release(work->hold);
    work->hold = NULL;
}

static void end_build(void *context, Error *err) {
    Work *work = context;
    work->hold = cache_hold(work->folder);
    dataset_name(work->config, work->name, err);
}

// All ranks build, and all get the folder and the name. Collective.
static bool build(Work *work, const Comm *comm) {
    Warnings new;
    char held = 0;
    if (!comm_on_root(comm, begin_build, work, work->err))
        return false;
    // Without a hold a `fringe cache prune` may have removed the entry since: then it is made
    // again.
    for (int tries = 0; tries < 2 && !held; tries++) {
        if (!parts_build(work->config, work->parts, comm, work->folder, sizeof work->folder, &new,
                         work->err) ||
            !comm_on_root(comm, end_build, work, work->err))
            return false;
        held = work->hold != NULL;
        comm_broadcast(comm, &held, 1, 0);
    }
    warnings_add_all(work->warnings, &new);
    comm_broadcast(comm, work->name, sizeof work->name, 0);
    return true;
}

// A rank reads its whole shard for the hash, which takes a while on a slow disk.
typedef struct Opening {
    Shard *shard;
    const char *folder;
    int rank;
    Error err;
    bool opened;
} Opening;

static void open_mine(void *context) {
    Opening *opening = context;
    if (file_exists(opening->folder))
        opening->opened = shard_open(opening->shard, opening->folder, opening->rank, &opening->err);
    else
        error_set(&opening->err, EXIT_MISMATCH,
                  "%s, which rank 0 wrote, does not exist for this rank; data.cache must be one "
                  "folder that all machines see",
                  opening->folder);
}

// True if making the shard again can help, unlike a failing disk or too little memory.
static bool is_damaged(const Opening *opening) {
    return !opening->opened && error_is_damage(&opening->err);
}

// Opens this rank's shard. *damaged: making all again may help. Collective.
static bool open_shard(Shard *shard, const Comm *comm, const char *folder, bool *damaged,
                       Error *err) {
    Opening mine = {shard, folder, comm->rank, {0}, false};
    comm_on_helper(comm, open_mine, &mine);
    int64_t failed[2] = {!mine.opened, is_damaged(&mine)};
    comm_sum_int64(comm, failed, 2);
    *damaged = failed[1] > 0 && failed[0] == failed[1];
    if (failed[0] == 0)
        return true;
    *err = mine.err;
    shard_clear(shard);
    return comm_agree(comm, err);
}

// Checks that all ranks have shards of the same cut. Collective.
static bool same_partition(const Shard *shard, const Comm *comm, Error *err) {
    char first[33];
    memcpy(first, shard->partition_hash, sizeof first);
    comm_broadcast(comm, first, sizeof first, 0);
    if (strcmp(first, shard->partition_hash) != 0)
        error_set(err, EXIT_MISMATCH,
                  "the shard of this rank belongs to another partition than that of rank 0; is "
                  "data.cache the same folder on all machines?");
    return comm_agree(comm, err);
}

// Builds and opens; a damaged shard is made again once. Collective.
static bool build_and_open(Work *work, Shard *shard, const Comm *comm) {
    bool damaged;
    if (!build(work, comm))
        return false;
    if (open_shard(shard, comm, work->folder, &damaged, work->err))
        return true;
    if (!damaged)
        return false;
    *work->err = (Error){0};
    work->again = true;
    return build(work, comm) && open_shard(shard, comm, work->folder, &damaged, work->err);
}

bool partition_load(Shard *shard, const Config *config, const Comm *comm, Warnings *warnings,
                    Error *err) {
    Warnings unused = {0};
    Work work = {.config = config,
                 .parts = comm->size,
                 .warnings = comm->rank == 0 && warnings != NULL ? warnings : &unused,
                 .err = err};
    if (warnings != NULL)
        *warnings = (Warnings){0};
    *shard = (Shard){0};
    bool ok = build_and_open(&work, shard, comm);
    cache_release(work.hold);
    if (!ok)
        return false;
    snprintf(shard->dataset_name, sizeof shard->dataset_name, "%s", work.name);
    if (same_partition(shard, comm, err))
        return true;
    shard_clear(shard);
    return false;
}
