// The folder of a command. Rank 0 claims it in a helper thread, because disks may be slow and other
// runs may hold it; then the other ranks learn its path.

#include "internal.h"

typedef struct Claim {
    RunFolder *folder;
    char *path;
    RunClaim claim;
    Error *err;
} Claim;

static void claim_aside(void *context) {
    Claim *c = context;
    runfolder_claim(c->folder, c->path, &c->claim, c->err);
}

bool folder_claim(Session *s, RunFolder *folder, Config *config, RunKind kind, bool resume) {
    double wait = config->run.lock_wait * (resume ? 4 : 1);
    Claim claim = {.folder = folder,
                   .path = config->run.dir,
                   .claim = {.kind = kind,
                             .resume = resume,
                             .may_number = !resume && !config->own_dir,
                             .wait = wait},
                   .err = &s->err};
    if (s->comm.rank == 0)
        comm_aside(&s->comm, claim_aside, &claim);
    if (!comm_agree(&s->comm, &s->err))
        return false;
    comm_broadcast(&s->comm, config->run.dir, sizeof config->run.dir, 0);
    snprintf(folder->path, sizeof folder->path, "%s", config->run.dir);
    return true;
}

static void start_aside(void *context) {
    Session *s = context;
    runfolder_start_anew(&s->folder, &s->config, &s->err);
}

bool folder_start_again(Session *s) {
    if (s->comm.rank == 0)
        comm_aside(&s->comm, start_aside, s);
    return comm_agree(&s->comm, &s->err);
}
