// What a resumed run needs of a trainer: three sections (the weights, the best of them, what the
// optimizer keeps) and a few counters. All of it is the same on all ranks, so rank 0's is written.
#include "internal.h"

// Files hold matrices as PyG has them, transposed.
static bool save_weights(Trainer *t, const float *weights, StateWalk *walk, Error *err) {
    Tensor tensor[MODEL_TENSORS];
    if (t->comm->rank != 0)
        return true;
    FREED float *turned = memory_try(trainer_flat_bytes(t), "weights to write", err);
    int count = turned != NULL ? model_tensors(&t->shape, weights, turned, tensor) : 0;
    for (int i = 0; i < count; i++)
        state_put_tensor(walk, &tensor[i]);
    return turned != NULL;
}

static bool restore_weights(Trainer *t, float *weights, DeviceFloat *device, const StateWalk *walk,
                            Error *err) {
    if (walk->from != NULL)
        model_restore_tensors(&t->shape, weights, walk->from, err);
    if (!comm_agree(t->comm, err))
        return false;
    comm_broadcast(t->comm, weights, trainer_flat_bytes(t), 0);
    t->backend->upload(device, weights, trainer_flat_bytes(t));
    t->backend->finish(NULL);
    return true;
}

static bool walk_model(void *owner, StateWalk *walk, Error *err) {
    Trainer *t = owner;
    return walk->restores ? restore_weights(t, t->parameters, t->device.parameters, walk, err)
                          : save_weights(t, trainer_parameters(t, false), walk, err);
}

static bool walk_best(void *owner, StateWalk *walk, Error *err) {
    Trainer *t = owner;
    return walk->restores ? restore_weights(t, t->best, t->device.best, walk, err)
                          : save_weights(t, trainer_parameters(t, true), walk, err);
}

static bool walk_average(void *owner, StateWalk *walk, Error *err) {
    Trainer *t = owner;
    return walk->restores ? restore_weights(t, t->average.mean, t->average.device, walk, err)
                          : save_weights(t, t->average.mean, walk, err);
}

static bool walk_optimizer(void *owner, StateWalk *walk, Error *err) {
    Trainer *t = owner;
    int64_t count = t->shape.parameter_count;
    size_t bytes = (size_t)count * sizeof(float);
    if (!walk->restores)
        trainer_download(t);
    if (!state_replicated(walk, "moment1", TENSOR_F32, count, t->moment1, err) ||
        !state_replicated(walk, "moment2", TENSOR_F32, count, t->moment2, err))
        return false;
    if (walk->restores) {
        t->backend->upload(t->device.moment1, t->moment1, bytes);
        t->backend->upload(t->device.moment2, t->moment2, bytes);
        t->backend->finish(NULL);
    }
    return true;
}

void register_sections(Trainer *t) {
    state_register(&t->sections, (StateSection){"model", walk_model, t});
    state_register(&t->sections, (StateSection){"best", walk_best, t});
    state_register(&t->sections, (StateSection){"optimizer", walk_optimizer, t});
    if (t->average.most > 0)
        state_register(&t->sections, (StateSection){"average", walk_average, t});
    state_register(&t->sections, average_section(t));
    if (t->assigner != NULL)
        state_register(&t->sections, assigner_section(t->assigner));
    state_register(&t->sections, sampler_section(t));
    if (t->chooser != NULL)
        state_register(&t->sections, chooser_section(t->chooser));
    state_register(&t->sections, model_exchanges(t->model));
    state_register(&t->sections, gradsync_section(t->sync));
}

StateSections *trainer_sections(Trainer *t) { return &t->sections; }

// ---- counters

KernelChoice trainer_kernel_choice(const Trainer *t) {
    KernelChoice choice = {0};
    snprintf(choice.backend, CONFIG_WORD, "%s", t->backend->name);
    if (t->backend->spmm != NULL)
        snprintf(choice.spmm, CONFIG_WORD, "%s", t->backend->spmm());
    snprintf(choice.precision, CONFIG_WORD, "%s", t->config->run.precision);
    if (t->backend->sums != NULL && t->backend->sums() != NULL)
        snprintf(choice.sums, CONFIG_WORD, "%s", t->backend->sums());
    return choice;
}

TrainerCounters trainer_counters(const Trainer *t) {
    TrainerCounters counters = t->now;
    counters.kernels = trainer_kernel_choice(t);
    return counters;
}

void trainer_set_counters(Trainer *t, const TrainerCounters *counters) {
    t->now = *counters;
    t->evaluated = -1;
    t->stopped = patience_is_over(t);
}
