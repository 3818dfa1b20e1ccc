// The backend of a resumed run: the one that its checkpoint was written on, so that its bits go on,
// unless the command line names another. Also one that a config file has changed to waits for that.
// Likewise the order in which products of bf16 are added up. And the precision that
// run.precision=auto stands for: that of the run, or what is measured once.

#include "internal.h"

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

static void take_word(char word[CONFIG_WORD], const char *found) {
    snprintf(word, CONFIG_WORD, "%s", found != NULL ? found : "");
}

static void find_kernels(void *context, UNUSED Error *err) {
    Asking *asking = context;
    CLEARED(record_clear) RunRecord record = {0};
    if (checkpoint_kernels(&asking->was, asking->run_dir) ||
        !record_read(&record, asking->run_dir, &(Error){0}))
        return;
    // it has no checkpoint yet
    take_word(asking->was.precision, record_text(&record, "backend.precision"));
    take_word(asking->was.sums, record_text(&record, "backend.bf16_sums"));
}

// What the run's checkpoint was written on, or what the run began with. Collective.
static KernelChoice ask(Session *s, const Config *config) {
    Asking asking = {.run_dir = config->run.dir};
    comm_on_root(&s->comm, find_kernels, &asking, &s->err);
    comm_broadcast(&s->comm, &asking.was, sizeof asking.was, 0);
    return asking.was;
}

// The order in which the run's products of bf16 are added up, unless the user names one, or a
// precision that has another.
static void take_sums(Config *config, const KernelChoice *was) {
    bool has_its_own = strcmp(config->run.precision, "bf16x3") == 0;
    if (was->sums[0] != 0 && !has_its_own && strcmp(config->run.bf16_sums, "auto") == 0)
        take_word(config->run.bf16_sums, was->sums);
}

void resume_backend(Session *s, Config *config, const Options *options) {
    KernelChoice was = ask(s, config);
    bool named = names_key(options->setting, options->settings) ||
                 names_key(options->sweep, options->sweeps);
    if (was.spmm[0] != 0 && strcmp(config->run.spmm, "auto") == 0) // measured once, for good
        snprintf(config->run.spmm, sizeof config->run.spmm, "%s", was.spmm);
    take_sums(config, &was);
    if (named || was.backend[0] == 0 || strcmp(was.backend, config->run.backend) == 0)
        return;
    if (s->comm.rank == 0 && strcmp(config->run.backend, backend_family.automatic) != 0)
        terminal_warn(
            "the run goes on with its backend '%s'; add --set run.backend=%s to change it",
            SHOWN(was.backend), SHOWN(config->run.backend));
    snprintf(config->run.backend, sizeof config->run.backend, "%s", was.backend);
}

// ---- run.precision=auto

static void recall(Session *s, const KernelChoice *was) {
    if (was->precision[0] == 0 || strcmp(was->precision, s->precision.taken) == 0)
        return;
    s->precision = (PrecisionChoice){0};
    take_word(s->precision.taken, was->precision);
}
void recall_precision(Session *s, const Config *config) {
    KernelChoice was = ask(s, config);
    recall(s, &was);
}

static void take(const Session *s, Config *config) {
    snprintf(config->run.precision, CONFIG_WORD, "%s", s->precision.taken);
}

bool settle_precision(Session *s, Config *config, const Options *options) {
    PrecisionChoice *choice = &s->precision;
    if (strcmp(config->run.precision, "auto") != 0)
        return true;
    if (options->resume)
        recall_precision(s, config);
    if (choice->taken[0] == 0 &&
        (!precision_measure(choice, config, &s->shard, &s->comm, &s->err) ||
         !precision_take(choice, config->run.precision_error, &s->err)))
        return false;
    take(s, config);
    return true;
}

bool find_precision(Session *s) {
    KernelChoice was = ask(s, &s->config);
    take_sums(&s->config, &was);
    if (strcmp(s->config.run.precision, "auto") != 0)
        return true;
    recall(s, &was);
    if (s->precision.taken[0] == 0)
        return error_config(
            &s->err,
            "run.precision=auto is measured when a training begins, and there is none in %s; name "
            "the folder of the run in run.dir, or set run.precision to fp32, bf16 or bf16x3",
            s->config.run.dir);
    take(s, &s->config);
    return true;
}
