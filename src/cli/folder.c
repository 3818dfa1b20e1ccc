// The folder of a command. Rank 0 claims it, which takes a while where disks are slow or other runs
// hold it; then the other ranks learn its path.

#include "internal.h"

typedef struct Claim {
    RunFolder *folder;
    Config *config;
    RunClaim claim;
} Claim;

static void claim(void *context, Error *err) {
    Claim *c = context;
    runfolder_claim(c->folder, c->config, &c->claim, &terminal_sink, err);
}

bool folder_claim(Session *s, RunFolder *folder, Config *config, RunClaim how) {
    if (!comm_on_root(&s->comm, claim, &(Claim){folder, config, how}, &s->err))
        return false;
    comm_broadcast(&s->comm, config->run.dir, sizeof config->run.dir, 0);
    snprintf(folder->path, sizeof folder->path, "%s", config->run.dir);
    return true;
}
