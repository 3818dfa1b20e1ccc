// The backend of a resumed run: the one that its checkpoint was written on, so that its bits go on,
// unless the command line names another. Also one that a config file has changed to waits for that.

#include "internal.h"

#include <string.h>

static const char key[] = "run.backend";

static bool names_key(const char *const *settings, int count) {
    for (int i = 0; i < count; i++)
        if (strncmp(settings[i], key, strlen(key)) == 0 && settings[i][strlen(key)] == '=')
            return true;
    return false;
}

typedef struct Asking {
    KernelChoice was;
    const char *run_dir;
} Asking;

static void find_kernels(void *context, Error *err) {
    Asking *asking = context;
    (void)err;
    checkpoint_kernels(&asking->was, asking->run_dir);
}

// What the checkpoint of the run was written on. Collective.
static KernelChoice ask(Session *s, const Config *config) {
    Asking asking = {.run_dir = config->run.dir};
    comm_on_root(&s->comm, find_kernels, &asking, &s->err);
    comm_broadcast(&s->comm, &asking.was, sizeof asking.was, 0);
    return asking.was;
}

void resume_backend(Session *s, Config *config, const Options *options) {
    KernelChoice was = ask(s, config);
    bool named = names_key(options->setting, options->settings) ||
                 names_key(options->sweep, options->sweeps);
    if (was.spmm[0] != 0 && strcmp(config->run.spmm, "auto") == 0) // measured once, for good
        snprintf(config->run.spmm, sizeof config->run.spmm, "%s", was.spmm);
    if (named || was.backend[0] == 0 || strcmp(was.backend, config->run.backend) == 0)
        return;
    if (s->comm.rank == 0 && strcmp(config->run.backend, backend_family.automatic) != 0)
        terminal_warn(
            "the run goes on with its backend '%s'; add --set run.backend=%s to change it",
            SHOWN(was.backend), SHOWN(config->run.backend));
    snprintf(config->run.backend, sizeof config->run.backend, "%s", was.backend);
}
