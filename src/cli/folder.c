// The folder of a command. Rank 0 claims it in a helper thread, because disks may be slow and other
// runs may hold it; then the other ranks learn its path.

#include "internal.h"

typedef struct Claim {
    RunFolder *folder;
    Config *config;
    RunClaim claim;
    Error *err;
} Claim;

static void claim_aside(void *context) {
    Claim *c = context;
    runfolder_claim(c->folder, c->config, &c->claim, c->err);
}

bool folder_claim(Session *s, RunFolder *folder, Config *config, RunClaim how) {
    Claim claim = {folder, config, how, &s->err};
    if (s->comm.rank == 0)
        comm_aside(&s->comm, claim_aside, &claim);
    if (!comm_agree(&s->comm, &s->err))
        return false;
    comm_broadcast(&s->comm, config->run.dir, sizeof config->run.dir, 0);
    snprintf(folder->path, sizeof folder->path, "%s", config->run.dir);
    return true;
}
