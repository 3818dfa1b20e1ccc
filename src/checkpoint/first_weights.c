// The weights that a training starts from. Only rank 0 reads the file: under the same path another
// machine may have a different one.
#include "internal.h"
#include <stdio.h>

typedef struct Looking {
    Training *training;
    Error *err;
} Looking;

static void look_aside(void *context) {
    Looking *l = context;
    FirstWeights *first = &l->training->first_weights;
    if (checkpoint_check_named(first->path, l->err))
        hash_file(first->path, first->hash, l->err);
}

// model.weights names the file of the section "model".
bool checkpoint_start(Training *t, Error *err) {
    FirstWeights *first = &t->first_weights;
    const StateSection *model = state_find(trainer_sections(t->trainer), "model");
    snprintf(first->path, sizeof first->path, "%s", t->config->model.weights);
    if (first->path[0] == 0)
        return true;
    if (t->comm->rank == 0)
        comm_aside(t->comm, look_aside, &(Looking){t, err});
    return comm_agree(t->comm, err) && state_read(model, t->comm, first->path, err);
}
