// The folder of a command on all ranks: rank 0 claims it, aside, for disks and other runs may take
// their time; the others learn which one it is.

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

bool folder_start_anew(Session *s) {
    if (s->comm.rank == 0)
        comm_aside(&s->comm, start_aside, s);
    return comm_agree(&s->comm, &s->err);
}
