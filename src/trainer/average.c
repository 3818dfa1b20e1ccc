// train.average: the mean of the weights of the last N evaluations, evaluated beside the weights
// themselves (stochastic weight averaging; Izmailov et al., UAI 2018). Training never reads it.
//
// The one idea: the weights of those evaluations are kept, and added up anew each time, from the
// oldest to the newest, in double. So nothing drifts, and the mean is a function of what is kept.
// Running statistics are of weights that the mean is not: where the model norms columns, they are
// made anew by one forward pass.
#include "internal.h"

void average_alloc(Trainer *t, const Allocator *allocator) {
    Average *a = &t->average;
    a->most = t->config->train.average;
    if (a->most == 0)
        return;
    a->kept =
        alloc_host(allocator, memory_product(a->most, trainer_flat_bytes(t)), "weights to average");
    a->mean = alloc_mirrored(allocator, &a->device, trainer_flat_bytes(t), "average of weights");
    if (allocator->forecast != NULL)
        return;
    memset(a->kept, 0, (size_t)a->most * trainer_flat_bytes(t));
    memset(a->mean, 0, trainer_flat_bytes(t));
}

static void keep(Trainer *t) {
    Average *a = &t->average;
    int64_t count = t->shape.state_count;
    t->backend->download(a->kept + a->seen % a->most * count, t->device.parameters,
                         trainer_flat_bytes(t));
    t->backend->finish(NULL);
    a->seen++;
}

static void add_up(Trainer *t) {
    Average *a = &t->average;
    int64_t count = t->shape.state_count, many = a->seen < a->most ? a->seen : a->most;
    for (int64_t k = 0; k < count; k++) {
        double sum = 0;
        for (int64_t i = a->seen - many; i < a->seen; i++)
            sum += (double)a->kept[i % a->most * count + k];
        a->mean[k] = (float)(sum / (double)many);
    }
    t->backend->upload(a->device, a->mean, trainer_flat_bytes(t));
    t->backend->finish(NULL);
}

void average_after(Trainer *t) {
    if (t->average.most == 0)
        return;
    keep(t);
    add_up(t);
    stream_timer_use(NULL);
    if (t->shape.columns)
        model_renew_statistics(t->model, t->average.device);
    model_metrics(t->model, model_infer(t->model, t->average.device), t->now.average_metrics);
    stream_timer_use(t->timer);
    t->backend->download(t->average.mean, t->average.device, trainer_flat_bytes(t));
    t->backend->finish(NULL);
}

// ---- checkpoints: the mean as others read it, and what the next one is made of

static bool walk_kept(void *owner, StateWalk *walk, Error *err) {
    Trainer *t = owner;
    Average *a = &t->average;
    return state_replicated(walk, "evaluations", TENSOR_I64, 1, &a->seen, err) &&
           state_replicated(walk, "weights", TENSOR_F32, a->most * t->shape.state_count, a->kept,
                            err);
}

StateSection average_section(Trainer *t) {
    return t->average.most > 0 ? (StateSection){"averaged", walk_kept, t} : (StateSection){0};
}
