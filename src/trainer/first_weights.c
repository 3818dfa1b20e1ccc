// What training starts from. Only rank 0's file counts: what lies under that name on another
// machine may be another one.
#include "internal.h"
#include <stdio.h>

typedef struct Reading {
    Trainer *trainer;
    Error *err;
} Reading;

static void read_aside(void *context) {
    Reading *r = context;
    Trainer *t = r->trainer;
    const char *path = t->config->model.weights;
    if (checkpoint_check_named(path, r->err) && model_read(&t->shape, t->parameters, path, r->err))
        hash_file(path, t->first_weights.hash, r->err);
}

bool trainer_start(Trainer *t, Error *err) {
    FirstWeights *first = &t->first_weights;
    snprintf(first->path, sizeof first->path, "%s", t->config->model.weights);
    if (first->path[0] == 0)
        return true;
    if (t->comm->rank == 0)
        comm_aside(t->comm, read_aside, &(Reading){t, err});
    if (!comm_agree(t->comm, err))
        return false;
    comm_broadcast(t->comm, t->parameters, (size_t)t->shape.parameter_count * sizeof(float), 0);
    trainer_upload(t);
    return true;
}
