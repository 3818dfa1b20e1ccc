// The weights that a training starts from. Only rank 0 reads the file: under the same path another
// machine may have a different one.
#include "internal.h"

static void look(void *context, Error *err) {
    FirstWeights *first = context;
    if (checkpoint_check_named(first->path, err))
        hash_file(first->path, first->hash, err);
}

// model.weights names the file of the section "model".
bool checkpoint_start(Training *t, Error *err) {
    FirstWeights *first = &t->first_weights;
    const StateSection *model = state_find(trainer_sections(t->trainer), "model");
    snprintf(first->path, sizeof first->path, "%s", t->config->model.weights);
    if (first->path[0] == 0)
        return true;
    return comm_on_root(t->comm, look, first, err) && state_read(model, t->comm, first->path, err);
}
