// A model that only looks: evaluation and prediction need no gradients, no optimizer and no widths
// of messages, so nothing of those is made, planned or asked for.
#include "internal.h"

static bool find_parts(Inference *inference, ModelParts *parts, const Config *config, Error *err) {
    const Shard *shard = parts->shard;
    parts->backend = backend_of(config, parts->comm, err);
    parts->options = (CodecOptions){.codec = codec_find("fp32", err), .chunk = config->comm.chunk};
    parts->schedule = schedule_find("blocking", err);
    if (err->code == 0 && model_shape_of_shard(&inference->shape, config, shard, err))
        model_shape_for_inference(&inference->shape);
    return comm_agree(parts->comm, err);
}

// The caller has them on the host, and mirrors them.
static void plan_parameters(MemoryForecast *forecast, const Backend *backend,
                            const ModelShape *shape) {
    size_t bytes = (size_t)shape->state_count * sizeof(float);
    Allocator allocator = {.backend = backend, .forecast = forecast};
    alloc_host(&allocator, bytes, "parameters");
    if (!backend->host_is_device)
        alloc_device(&allocator, bytes, "parameters");
}

bool inference_open(Inference *inference, const Config *config, const Shard *shard,
                    const Comm *comm, const MemoryForecast *beside, Error *err) {
    ModelParts parts = {.shard = shard, .comm = comm, .patterns = &inference->patterns};
    *inference = (Inference){.forecast = *beside};
    if (!find_parts(inference, &parts, config, err))
        return false;
    ModelShape *shape = &inference->shape;
    inference->backend = parts.backend;
    threads_set((int)config->run.threads, comm->node_size);
    if (!patterns_build(&inference->patterns, shape, shard, config, comm, err))
        return false;
    model_patterns_forecast(&inference->forecast, &inference->patterns);
    plan_parameters(&inference->forecast, parts.backend, shape);
    model_forecast(&inference->forecast, shape, &parts, config);
    if (memory_fits(&inference->forecast, inference->backend, config, comm, err))
        inference->model = model_new(shape, &parts, config, err);
    if (comm_agree(comm, err))
        return true;
    inference_close(inference);
    return false;
}

void inference_close(Inference *inference) {
    model_free(inference->model);
    model_patterns_clear(&inference->patterns);
    *inference = (Inference){0};
}
